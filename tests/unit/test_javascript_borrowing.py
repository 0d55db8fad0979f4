"""Assertions that JavaScript's tests borrow of other test files."""

from __future__ import annotations

import pytest

from miner.languages.base import Mode
from miner.languages.javascript.language import JAVASCRIPT
from miner.languages.javascript.stripping.source import StrippedSource

TEST = "test/a/x.test.js"
HELPER = "test/helpers.js"


def borrowed(source: str, **files: str) -> str:
    """A test file with what it borrows, of a tree that holds these test modules, `/` in a name written `__`."""
    contents = {
        TEST: source.encode(),
        **{name.replace("__", "/") + ".js": text.encode() for name, text in files.items()},
    }

    def read(paths):
        return {path: contents[path] for path in paths if path in contents}

    return JAVASCRIPT.test_sources([TEST], read, lambda path: path.startswith("test/"))[TEST].decode()


def test_a_function_that_asserts_is_copied_with_what_it_needs():
    helper = (
        "import assert from 'assert';\nimport parse from '../src/index';\nexport const shared = new Map();\n"
        "const SIGN = '$';\nfunction signed(text) { return SIGN + text; }\n"
        "export function check(text, want) { assert.equal(parse(signed(text), shared), want); }\n"
        "export function other() { return 1; }\n"
    )
    source = "import { check, other } from '../helpers';\nit('a', () => { check('x', 3); other(); });\n"
    text = borrowed(source, test__helpers=helper)
    assert text.splitlines() == [
        'import "../helpers"; import { other } from "../helpers";',
        'import assert from "assert";',
        'import parse from "../../src/index";',
        "const SIGN = '$';",
        "function signed(text) { return SIGN + text; }",
        'import { shared } from "../helpers";',
        "function check(text, want) { assert.equal(parse(signed(text), shared), want); }",
        "",
        "it('a', () => { check('x', 3); other(); });",
    ]
    stripped = StrippedSource(text.encode(), path=TEST, first=0, framework="mocha")
    assert [slot.assertion.modes[0] for slot in stripped.slots] == [Mode.EXPECTED]
    assert "check('x', undefined);" in stripped.stripped({0: Mode.EXPECTED})


@pytest.mark.parametrize(
    ("helper", "imported", "copy"),
    [
        (
            "module.exports = { check };\nfunction check(x) { expect(x).toBe(1); }\n",
            "const { check } = require('../helpers');",
            "function check(x) { expect(x).toBe(1); }",
        ),
        (
            "exports.check = check;\nconst check = (x) => expect(x).toBe(1);\n",
            "const { check } = require('../helpers');",
            "const check = (x) => expect(x).toBe(1);",
        ),
        (
            "module.exports = function (x) { expect(x).toBe(1); };\n",
            "const check = require('../helpers');",
            "const check = function (x) { expect(x).toBe(1); };",
        ),
        (
            "export default function verify(x) { expect(x).toBe(1); }\n",
            "import check from '../helpers';",
            "function verify(x) { expect(x).toBe(1); }\nconst check = verify;",
        ),
        (
            "export const verify = (x) => { expect(x).toBe(1); };\n",
            "import { verify as check } from '../helpers';",
            "const verify = (x) => { expect(x).toBe(1); };\nconst check = verify;",
        ),
        (
            "export function check(x) { if (x !== 1) { throw new Error('no'); } }\n",
            "import { check } from '../helpers';",
            "function check(x) { if (x !== 1) { throw new Error('no'); } }",
        ),
    ],
)
def test_functions_are_copied_however_they_are_exported(helper, imported, copy):
    assert copy in borrowed(f"{imported}\nit('a', () => {{ check(f()); }});\n", test__helpers=helper)


@pytest.mark.parametrize(
    "helper",
    [
        "export function check(x) { return x + 1; }\n",
        "export function check(x) { expect(require('./x')).toBe(x); }\n",
        "export function check(x) { expect(this.y).toBe(x); }\n",
        "let count = 0;\nexport function check(x) { count += 1; expect(count).toBe(x); }\n",
        "const own = new Map();\nexport function check(x) { expect(own.get(x)).toBe(x); }\n",
        "export function check(x) { expect(there).toBe(x); }\n",
        "export { check } from './other';\n",
        "export function check(x) { expect(x).toBe(1; }\n",
    ],
)
def test_what_would_be_another_function_elsewhere_stays(helper):
    source = "import { check } from '../helpers';\nconst there = 1;\nit('a', () => { check(f()); });\n"
    assert borrowed(source, test__helpers=helper) == source


@pytest.mark.parametrize(
    ("helper", "imported"),
    [
        (
            "const { N } = require('../src/n');\nmodule.exports = [['x', 1], [`y${N}`, 2]];\n",
            "const rows = require('../helpers');",
        ),
        (
            "import { N } from '../src/n';\nexport const all = [['x', 1], [N, 2]];\n",
            "import { all as rows } from '../helpers';",
        ),
    ],
)
def test_a_table_of_rows_is_copied_and_loses_what_is_expected(helper, imported):
    test = "test('a', (t) => { t.plan(rows.length); rows.forEach(([x, want]) => t.equal(f(x), want)); });"
    head = 'const { test } = require("tap");' if "require" in imported else 'import { test } from "tap";'
    text = borrowed(f"{head}\n{imported}\n{test}\n", test__helpers=helper)
    source = StrippedSource(text.encode(), path=TEST, first=0, framework="tap")
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]
    stripped = source.stripped({0: Mode.EXPECTED})
    assert "const rows = [['x', undefined], [" in stripped
    assert "../../src/n" in stripped


def test_a_table_with_functions_stays():
    source = "const rows = require('../helpers');\nit('a', () => { rows.forEach((row) => expect(f(row)).toBe(1)); });\n"
    assert borrowed(source, test__helpers="module.exports = [[() => 1, 2]];\n") == source


@pytest.mark.parametrize("head", ["const h = require('../helpers');", "import * as h from '../helpers';"])
def test_a_function_that_is_called_as_one_of_its_module_is_copied(head):
    is_old = head.startswith("const")
    helper = "function check(x) { expect(x).toBe(1); }\nfunction other(x) { return x; }\n"
    helper += "module.exports = { check, other };\n" if is_old else "export { check, other };\n"
    text = borrowed(f"{head}\nit('a', () => {{ h.check(h.other(f())); h.check(2); }});\n", test__helpers=helper)
    assert text.splitlines() == [
        head,
        "function check(x) { expect(x).toBe(1); }",
        "const check_of_h = check;",
        "",
        "it('a', () => { check_of_h(h.other(f())); check_of_h(2); });",
    ]


def test_of_the_product_nothing_is_copied():
    source = "import { check } from '../../src/check';\nit('a', () => { check(f()); });\n"
    assert borrowed(source, src__check="export function check(x) { expect(x).toBe(1); }\n") == source


def test_a_name_that_the_test_file_has_gets_another_in_the_copy():
    helper = "export const it_is = new Map();\nexport function check(x) { expect({ it_is }).toBe(x); }\n"
    source = "import { check } from '../helpers';\nit('a', () => { const it_is = 1; check(it_is); });\n"
    text = borrowed(source, test__helpers=helper)
    assert 'import { it_is as it_is_of_helper } from "../helpers";' in text
    assert "expect({ it_is: it_is_of_helper }).toBe(x);" in text


def test_what_several_helpers_need_is_copied_once_and_never_under_a_name_of_another():
    steps = "export function steps(all) { for (const one of all) expect(one()).toBe(1); }\n"
    one, other = (
        f"import {{ steps }} from './steps';\nconst N = {n};\nexport default (f) => {{ steps([f, N]); }};\n"
        for n in (1, 2)
    )
    source = "import one from '../one';\nimport other from '../other';\nit('a', () => { one(f); other(f); });\n"
    text = borrowed(source, test__one=one, test__other=other, test__steps=steps)
    assert text.count("function steps(all)") == 1
    assert text.splitlines()[3:] == [
        "const one = (f) => { steps([f, N]); };",
        "",
        'import "../other";',
        "const N_of_helper = 2;",
        "const other = (f) => { steps([f, N_of_helper]); };",
        "",
        "it('a', () => { one(f); other(f); });",
    ]


def test_a_helper_of_a_helper_is_copied_as_well():
    inner = "export function same(x, y) { expect(x).toBe(y); }\n"
    outer = "import { same } from './inner';\nexport function check(x) { same(f(x), 1); }\n"
    source = "import { check } from '../helpers';\nit('a', () => { check(2); });\n"
    text = borrowed(source, test__helpers=outer, test__inner=inner)
    assert "function same(x, y) { expect(x).toBe(y); }" in text
    assert "function check(x) { same(f(x), 1); }" in text

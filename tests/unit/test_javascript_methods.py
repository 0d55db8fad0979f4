"""Methods of objects that tests of JavaScript are given: what is written out where they are called."""

from __future__ import annotations

import pytest

from miner.languages.javascript.language import JAVASCRIPT
from miner.languages.javascript.stripping.methods import written_out

SETUP = """\
global.bench = (text) => new Bench(text);
class Bench {
  constructor(text) { this.text = text; }
  with(more) { this.more = more; return this; }
  gives(want) { expect(this.run()).toBe(want); }
  %s
}
Bench.prototype.says = function (want) {
  // all that it does
  expect(this.run().message).toMatch(want);
};
"""
TEST = "it('x', () => {\n  %s\n});\n"


def out(statement: str, more: str = "", head: str = "", setup: str = SETUP) -> str:
    """The statement of a test as it is written out."""
    text = head + TEST % statement
    written = written_out(
        text.encode(), "spec/a.js", [("spec/env.js", (setup % more).encode())], lambda _path, _name: None
    )
    return written.decode().removeprefix(head).removeprefix("it('x', () => {\n  ").removesuffix("\n});\n")


def test_a_method_that_only_asserts_is_written_out_on_what_it_is_called_of():
    assert out("bench('a').with({ b: 1 }).gives('c');") == "expect(bench('a').with({ b: 1 }).run()).toBe('c');"
    assert out("bench('a')\n.says(/c/);") == "expect(bench('a').run().message).toMatch(/c/);"
    assert out("bench('a').gives('c');", head="import { expect } from 'vitest';\n").startswith("expect(bench('a')")


@pytest.mark.parametrize(
    "statement",
    [
        "const kept = bench('a').gives('c');",
        "bench('a').gives(f('c'));",
        "bench('a').gives();",
        "bench('a').gives(...all);",
        "other('a').gives('c');",
        "bench('a').with('c');",
    ],
)
def test_a_call_that_may_mean_something_else_stays(statement):
    assert out(statement) == statement


@pytest.mark.parametrize(
    "more",
    [
        "gives(want) { expect(this).toBe(want); }",
        "twice(want) { expect(this.run(want)).toBe(want); }",
        "twice(want) { expect(this.run()).toBe(want); this.ran = true; }",
        "twice(want = 1) { expect(this.run()).toBe(want); }",
        "async twice(want) { expect(await this.run()).toBe(want); }",
        "twice(want) { expect(this.run()).toBe(Bench.of(want)); }",
        "twice(want) { [1].forEach(() => expect(this.run()).toBe(want)); }",
        "twice(want) { this.wanted(want); }",
    ],
)
def test_a_method_that_does_more_or_needs_more_is_not_written_out(more):
    name = more.removeprefix("async ").partition("(")[0]
    assert out(f"bench('a').{name}('c');", more) == f"bench('a').{name}('c');"


def test_a_name_that_the_test_file_has_for_something_else_keeps_a_method_where_it_is():
    assert out("bench('a').gives('c');", head="const expect = mine;\n") == "bench('a').gives('c');"


def test_what_the_runner_loads_before_a_test_and_what_that_imports_is_found_by_its_configuration():
    tree = {
        "pkg/vitest.config.js": b"export default { test: { setupFiles: ['./spec/env/node.js'] } };",
        "pkg/spec/env/node.js": b"import './common';\n",
        "pkg/spec/env/common.js": (SETUP % "").encode(),
        "pkg/spec/a.js": (TEST % "bench('a').gives('c');").encode(),
    }

    def sources(is_test: bool) -> str:
        read = JAVASCRIPT.test_sources(
            ["pkg/spec/a.js"], lambda paths: {path: tree[path] for path in paths if path in tree}, lambda _path: is_test
        )
        return read["pkg/spec/a.js"].decode()

    assert "expect(bench('a').run()).toBe('c');" in sources(is_test=True)
    assert sources(is_test=False) == TEST % "bench('a').gives('c');"


def test_a_method_of_what_is_imported_of_a_test_module_is_written_out_as_well():
    lender = ("spec/bench.js", (SETUP % "").encode())
    text = f"import {{ bench }} from './bench';\n{TEST % 'bench(1).gives(2);'}"
    written = written_out(text.encode(), "spec/a.js", [], lambda _path, name: lender if name == "./bench" else None)
    assert b"expect(bench(1).run()).toBe(2);" in written


def test_what_a_method_needs_of_a_package_has_to_be_there_under_the_same_name():
    setup = 'const assert = require("assert");\n' + SETUP.replace(
        "expect(this.run()).toBe(want)", "assert(this.is(want))"
    )
    head = "const assert = require('assert');\n"
    assert out("bench('a').gives('c');", setup=setup, head=head) == "assert(bench('a').is('c'));"
    for other in ("", head.replace("('assert')", "('assert/strict')"), head.replace("assert =", "{ ok: assert } =")):
        assert out("bench('a').gives('c');", setup=setup, head=other) == "bench('a').gives('c');"

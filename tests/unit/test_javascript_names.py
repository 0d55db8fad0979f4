"""What JavaScript's code names: what a fix brings, what tests ask for and were in want of; leaks and sizes from it."""

from __future__ import annotations

import pytest

from harness.languages.base import TestReport
from harness.quality.difficulty import measure
from harness.quality.leaks import leaks
from miner.languages import LANGUAGES
from miner.proof import names_of_fix
from tests import tiny
from tests.quality_parts import subject

CODE = LANGUAGES["javascript"].code
LIB, TESTS = "lib/cart.js", "test/cart.test.js"
OLD = """\
class Cart {
  total(items) {
    return items.length;
  }
}
exports.Cart = Cart;
"""
OLD_TESTS = """\
const { Cart } = require("../lib/cart");
test("total", () => expect(new Cart().total([1])).toBe(1));
"""


def introduced(text: str, path: str = "a.js") -> frozenset[str]:
    return CODE.names(path, text.encode(), range(1, 99)).introduced


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("function one() { const two = 3; }", {"one"}),
        ("class One { two() {} three = 4; }", {"One", "two", "three"}),
        ("exports.one = two;", {"one"}),
        ("module.exports = { one, two: 3, 'four': 5 };", {"exports", "one", "two", "four"}),
        ("export const one = (two) => two;", {"one"}),
        ("export { one as two } from './one';", {"two"}),
        ("const { one, two: three } = four;", {"one", "two", "three"}),
        ("f = function ({ one, two: three }) {};", {"one", "two"}),
        ("if (options.one || this.opts.two) a.three();", {"one", "two"}),
        ("this.one = 2;", {"one"}),
    ],
)
def test_what_other_files_can_ask_for_is_introduced(text, found):
    assert introduced(text) >= found
    assert not introduced(text) & {"three"} - found


def test_in_typescript_members_and_enumerations_are_introduced_and_types_are_not():
    found = introduced("enum One { Two }\nclass A { private three: B = c; }\ntype Four = string;", "a.ts")
    assert found >= {"One", "Two", "A", "three"}
    assert not found & {"B", "Four"}


def leaked(old: str, new: str, tests: str, statement: str = "The total of a cart is wrong."):
    gold, hidden = {LIB: (old, new)}, {TESTS: (OLD_TESTS, OLD_TESTS + tests)}
    tree = {"src/shop/__init__.py": "", LIB: old}
    return leaks(subject(gold, hidden, statement=statement, reader=CODE, tree=tree))


def test_a_name_that_only_fix_and_test_have_is_unshown():
    new = OLD.replace("class Cart {\n", "class Cart {\n  cheapestItem() {}\n")
    tests = 'test("least", () => expect(new Cart().cheapestItem()).toBe(undefined));\n'

    assert leaked(OLD, new, tests).unshown_names == ("cheapestItem",)
    assert leaked(OLD, new, tests, "Add `cheapestItem`.").unshown_names == ()
    assert leaked(OLD, new, tests, "Add `cheapestItem`.").told_names == ("cheapestItem",)


def test_an_option_that_only_fix_and_test_have_is_unshown_though_the_word_is_elsewhere():
    new = OLD.replace("total(items) {", "total(items, { items: given }) {")

    assert leaked(OLD, new, 'test("x", () => new Cart().total([], { items: 2 }));\n').unshown_names == ("items",)


def test_a_text_that_only_fix_and_test_have_is_unshown():
    new = OLD.replace("return", "if (!items) throw new Error(`no items given: ${items}`);\n    return")
    tests = 'test("none", () => expect(() => new Cart().total()).toThrow("no items given"));\n'

    assert leaked(OLD, new, tests).unshown_texts == ("no items given",)


def test_an_ordinary_word_is_shown_by_code_and_not_by_a_comment():
    new = OLD.replace("class Cart {\n", "class Cart {\n  sum() {}\n")
    tests = 'test("sum", () => new Cart().sum());\n'

    assert leaked(f"// a sum\n{OLD}", f"// a sum\n{new}", tests).unshown_names == ("sum",)
    assert leaked(f"a.sum;\n{OLD}", f"a.sum;\n{new}", tests).unshown_names == ()


def test_a_file_that_cannot_be_read_tells_no_names():
    assert leaked(OLD, OLD + "function (\n", "x\n").unshown_names is None


def test_sizes_and_distances_are_told_by_functions_and_imports():
    new = OLD.replace("items.length", "items.size").replace("exports.Cart", "const add = (a) => a;\nexports.Cart")
    tests = {TESTS: (None, 'import { x } from "../lib/more.js";\n')}
    tree = {"lib/more.ts": 'export * from "./cart";\n', LIB: OLD}

    found = measure(subject({LIB: (OLD, new)}, tests, reader=CODE, tree=tree))

    assert (found.functions, found.new_functions, found.import_distance) == (1, 1, 2)


# -- files that could not be loaded


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("SyntaxError: The requested module '../lib/a.js' does not provide an export named 'one'", "one"),
        ("Error: Cannot find module '../lib/new'\nRequire stack:\n- /testbed/test/a.js", "module lib/new"),
        ("Error: Cannot find module './b'\nRequire stack:\n- /testbed/lib/a.js\n- /testbed/test/a.js", "module lib/b"),
        ("Cannot find module '/testbed/lib/new.mjs' imported from /testbed/test/a.mjs", "module lib/new.mjs"),
        ("Cannot find module '../lib/new' from 'test/a.js'", "module lib/new"),
        ('Failed to resolve import "../lib/new" from "test/a.js". Does the file exist?', "module lib/new"),
        ("Failed to load url ../lib/b (resolved id: ../lib/b) in /testbed/test/a.js. Does it exist?", "module lib/b"),
        ("Error: Cannot find module 'left-pad'\nRequire stack:\n- /testbed/test/a.js", "module left-pad"),
        ("TypeError: cart.one is not a function\n    at …", "one"),
        ("TypeError: Class is not a constructor", "Class"),
        ("TypeError: Cannot read properties of undefined (reading 'one')", "one"),
        ("TypeError: Cannot read property 'one' of undefined", "one"),
        ("ReferenceError: one is not defined", "one"),
        ("test/a.ts(1,9): error TS2305: Module '\"../lib/a\"' has no exported member 'one'.", "one"),
        ("SyntaxError: Unexpected token '<'", ""),
        ("AssertionError: 'one' is not defined", ""),
    ],
)  # fmt: skip
def test_the_name_that_a_file_wants_is_told_by_what_is_printed(text, name):
    report = TestReport(collect_errors={"test/a.js": f"the file could not be loaded\n{text}\n"})

    assert CODE.missing_names(report) == {"test/a.js": name}


def test_a_fix_brings_its_new_modules_with_and_without_their_endings_and_what_they_export():
    data = tiny.diff("lib/new/index.js", None, "export const one = 1;\n") + tiny.diff("a.md", None, "two\n")

    found = names_of_fix(data.encode(), {}.get, CODE)

    assert found >= {"module lib/new/index.js", "module lib/new/index", "module lib/new", "one"}
    assert "two" not in found


@pytest.mark.parametrize(("path", "asked"), [("src/a.ts", "a.js"), ("src/a.mts", "a.mjs"), ("src/a.tsx", "a.jsx")])
def test_a_fix_in_typescript_brings_modules_by_what_they_are_compiled_to(path, asked):
    found = names_of_fix(tiny.diff(path, None, "export const one = 1;\n").encode(), {}.get, CODE)
    text = f"Failed to load url ./{asked} (resolved id: ./{asked}) in /testbed/src/b.spec.ts. Does the file exist?"
    [missing] = CODE.missing_names(TestReport(collect_errors={"src/b.spec.ts": text})).values()
    assert missing in found


def test_a_fix_brings_what_it_exports_under_another_name_and_no_line_that_stays():
    data = tiny.diff("lib/a.js", "let one, two;\n", "let one, two;\nexport { one as three };\n").encode()

    found = names_of_fix(data, {"lib/a.js": b"let one, two;\n"}.get, CODE)

    assert "three" in found
    assert "two" not in found

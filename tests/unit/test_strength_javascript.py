"""Mutants and parts of fixes in JavaScript and TypeScript: by the names that Python's have, on changed lines alone."""

from __future__ import annotations

import pytest

from miner.languages import LANGUAGES
from miner.quality.strength.mutants import mutants, subsets
from tests.unit.test_strength_pieces import applied, fix_of

CODE = LANGUAGES["javascript"].code
FILLER = "".join(f"// line {number}\n" for number in range(12))
OLD = "function clamp(value, low, high) {\n  return value;\n}\n\nexports.other = (x) => x + 1;\n"
NEW = OLD.replace("  return value;\n", "  if (value < low) return low + 0;\n  return Math.min(value, high);\n")


def made(old: str | None, new: str, *, path: str = "a.js"):
    return mutants(fix_of({path: (old, new)}, CODE), most=100, seed="s")


def after(line: str, path: str = "a.js") -> dict[str, str]:
    """By what a changed line becomes: the operator that made it so."""
    old, new = "function f(x) {\n  for (;;) {\n  }\n}\n", f"function f(x) {{\n  for (;;) {{\n    {line}\n  }}\n}}\n"
    return {one.after.strip(): one.operator for one in made(old, new, path=path)}


def test_a_mutant_is_a_patch_that_applies_and_differs_from_the_fix_on_the_line_it_names(tmp_path):
    found = made(OLD, NEW)

    assert {one.line for one in found} == {2, 3}
    for number, one in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        now = applied(folder, {"a.js": (OLD, NEW)}, one.patch)["a.js"].splitlines()
        different = [line for line, pair in enumerate(zip(NEW.splitlines(), now, strict=True), 1) if len({*pair}) > 1]
        assert different == [one.line]
        assert CODE.form("a.js", "\n".join(now).encode()) is not None


@pytest.mark.parametrize(
    ("line", "becomes", "operator"),
    [
        ("g(x > 1);", "g(x > 2);", "number"),
        ("g(x > 1);", "g(x >= 1);", "swap_op"),
        ("g(x ?? y);", "g(x && y);", "swap_op"),
        ("x += 2;", "x -= 2;", "swap_op"),
        ("x += 2;", "x = 2;", "augmented_assignment"),
        ("x++;", "x--;", "swap_op"),
        ("if (!x) g();", "if (x) g();", "remove_unary_ops"),
        ("const y = g;", "const y = undefined;", "assignment"),
        ("g(x, 'A');", "g('A');", "arg_removal"),
        ("g(x);", "g(undefined);", "arg_removal"),
        ("x = 'Ab\\n';", "x = 'XXAb\\nXX';", "string"),
        ("x = 'Ab\\n';", "x = 'AB\\n';", "string"),
        ("x = `a${y}`;", "x = `XXa${y}XX`;", "string"),
        ("return true;", "return false;", "name"),
        ("x.trimStart();", "x.trimEnd();", "symmetric_string_methods_swap"),
        ("g((y) => y.a);", "g((y) => undefined);", "lambda"),
        ("break;", "return;", "keywords"),
        ("continue;", "break;", "keywords"),
        ("if (y in x) g();", "if (!(y in x)) g();", "keywords"),
        ("g(x ? 1 : 2);", "g(((x) && false) ? 1 : 2);", "if_exp"),
        ("switch (x) { case 1: g(); default: h(); }", "switch (x) {  default: h(); }", "match"),
    ],
)
def test_operators_bear_the_names_of_pythons(line, becomes, operator):
    every = CODE.faulty("a.js", f"function f(x) {{ for (;;) {{ {line} }} }}".encode(), {1})
    text = every.text

    assert (f"function f(x) {{ for (;;) {{ {becomes} }} }}", operator) in {
        (text[: one.start] + one.text + text[one.end :], one.operator) for one in every.faults
    }


@pytest.mark.parametrize(
    "line",
    [
        "'use strict';",
        "const { a } = require('./a');",
        "throw new TypeError('x' + 1);",
        "console.warn('old', x + 1);",
        "process.emitWarning('old');",
        "// x + 1",
    ],
)
def test_what_is_told_to_people_or_names_a_module_is_left_alone(line):
    assert after(line) == {}


def test_types_are_left_alone_and_code_beside_them_is_not():
    assert after("let y: 1 | 'a';", "a.ts") == {}
    assert after("interface A { b: 'c' }", "a.ts") == {}
    assert set(after("let y: 1 | 2 = z as 3;", "a.ts")) == {"let y: 1 | 2 = undefined;"}


def test_another_case_of_an_encoding_is_no_mutant():
    assert not any("UTF8" in text for text in after("x.toString('utf8');"))


def test_text_that_is_not_ascii_and_lines_of_windows_stay_as_they_are():
    old = "// größer\r\nlet x = 'ä';\r\n"

    found = made(old, old + "x = 'ö' + 1;\r\n")

    assert found
    assert all("größer".encode() in one.patch and one.after.endswith("\r\n") for one in found)
    assert any(one.after == "x = 'ö' - 1;\r\n" for one in found)


@pytest.mark.parametrize("path", ["a.py", "a.d.ts", "docs/a.js"])
def test_what_runs_nowhere_has_no_mutants(path):
    assert made("x = 1;\n", "x = 2;\n", path=path) == ()


def test_what_no_grammar_reads_has_no_mutants():
    assert made("x = 1;\n", "x = 1;\nfunction (\n") == ()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("a.js", "x = 'a'", 'x = "a"; // words'),
        ("a.ts", "let x = f(y)", "let x: A = f<B>(y as C)!;"),
        ("a.ts", "function f(a) {}", "function f(private a?: string): void {}"),
        ("a.ts", "g()", "import type { A } from './a'\ninterface B {}\ng()"),
        ("a.js", "f({ a, b })", "f({\n  a,\n  b,\n})"),
    ],
)
def test_layout_comments_and_types_change_nothing_that_runs(path, old, new):
    assert CODE.form(path, old.encode()) == CODE.form(path, new.encode()) is not None


@pytest.mark.parametrize(
    ("old", "new"), [("return_: { return\nx }", "return_: { return x }"), ("a = [,1]", "a = [1,]"), ("f(a)", "f(b)")]
)
def test_what_runs_otherwise_has_another_form(old, new):
    assert CODE.form("a.js", f"() => {{ {old} }}".encode()) != CODE.form("a.js", f"() => {{ {new} }}".encode())


def test_a_part_that_can_no_longer_be_read_is_none_and_comments_are_in_every_part():
    old = f"x = 1;\n{FILLER}y = 2;\n"

    assert subsets(fix_of({"a.js": (old, f"x = [\n1\n{FILLER}];\ny = 2;\n")}, CODE), most=8, seed="s") == ()
    files = {"a.js": (f"// a\n{FILLER}{old}", f"// b\n{FILLER}{old.replace('1', '3').replace('2;', '4;')}")}
    assert len(subsets(fix_of(files, CODE), most=8, seed="s")) == 2

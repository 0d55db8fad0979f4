"""Mutants, parts and names in compiled languages, by the names that Python's have."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from miner.languages import LANGUAGES
from miner.quality.strength.mutants import mutants, subsets
from tests.unit.test_strength_pieces import fix_of


@dataclass(frozen=True)
class Case:
    """A language with a file of it."""

    language: str
    path: str
    around: str
    """Where a statement stands."""
    source: str
    functions: frozenset[str]
    introduced: frozenset[str]

    @property
    def code(self):
        return LANGUAGES[self.language].code

    def faults(self, line: str) -> set[tuple[str, str]]:
        """By what becomes of a statement: operator and text."""
        head, tail = self.around.split("…")
        faulty = self.code.faulty(self.path, f"{head}{line}{tail}".encode(), {1 + head.count("\n")})
        texts = (
            (fault.operator, faulty.text[: fault.start] + fault.text + faulty.text[fault.end :])
            for fault in faulty.faults
        )
        return {(operator, text.removeprefix(head).removesuffix(tail)) for operator, text in texts}


GO = Case(
    "go",
    "a.go",
    "package a\n\nfunc f(x int, ok bool) int {\n\tfor {\n\t\t…\n\t}\n}\n",
    'package a\n\nimport "strings"\n\nconst Max = 3\n\ntype T struct {\n\tName string\n}\n\n'
    'func (t *T) Get(key string) string {\n\tinner := "tail of it"\n\treturn strings.ToLower(inner)\n}\n\n'
    "func New() T { return T{} }\n",
    frozenset({"T.Get", "New"}),
    frozenset({"Max", "T", "Name", "Get", "New"}),
)
RUST = Case(
    "rust",
    "src/a.rs",
    "fn f(x: i32, ok: bool) -> i32 {\n    loop {\n        …\n    }\n}\n",
    "use std::fmt;\n\npub const MAX: usize = 3;\n\npub struct T {\n    pub name: String,\n}\n\nimpl T {\n"
    '    pub fn get(&self, key: &str) -> String {\n        let inner = "tail of it";\n'
    "        inner.to_lowercase()\n    }\n}\n\n"
    "mod inside {\n    pub fn new() -> u8 { 1 }\n}\n",
    frozenset({"T.get", "inside.new"}),
    frozenset({"MAX", "T", "name", "get", "inside", "new"}),
)
JAVA = Case(
    "java",
    "src/main/java/a/A.java",
    "class A {\n  int f(int x, boolean ok) {\n    for (;;) {\n      …\n    }\n  }\n}\n",
    "package a;\n\nimport b.C;\n\npublic class T {\n  static final int MAX = 3;\n\n  T(int key) { this.key = key; }\n\n"
    '  String get(String key) {\n    String inner = "tail of it";\n    return inner.trim();\n  }\n\n'
    "  enum E { P }\n}\n",
    frozenset({"T.T", "T.get"}),
    frozenset({"MAX", "T", "get", "E", "P"}),
)
CASES = [GO, RUST, JAVA]


@pytest.mark.parametrize(
    ("case", "line", "operator", "becomes"),
    [
        (GO, "g(x > 1)", "number", "g(x > 2)"),
        (GO, "g(0x1F)", "number", "g((0x1F + 1))"),
        (GO, "g(x > 1)", "swap_op", "g(x >= 1)"),
        (GO, "x += 2", "swap_op", "x -= 2"),
        (GO, "x += 2", "augmented_assignment", "x = 2"),
        (GO, "x++", "swap_op", "x--"),
        (GO, "if !ok && x == 1 { continue }", "remove_unary_ops", "if ok && x == 1 { continue }"),
        (GO, "if !ok && x == 1 { continue }", "swap_op", "if !ok || x == 1 { continue }"),
        (GO, "if !ok && x == 1 { continue }", "keywords", "if !ok && x == 1 { break }"),
        (GO, 'g("A")', "string", 'g("XXAXX")'),
        (GO, "g(`A`)", "string", "g(`XXAXX`)"),
        (GO, "g(true)", "name", "g(false)"),
        (GO, 'g(strings.HasPrefix(s, "A"))', "symmetric_string_methods_swap", 'g(strings.HasSuffix(s, "A"))'),
        (GO, "switch x { case 1: g(); default: h() }", "match", "switch x { case 1: g();  }"),
        (RUST, "g(x > 1);", "number", "g(x > 2);"),
        (RUST, "g(1u8);", "number", "g((1u8 + 1));"),
        (RUST, "x += 2;", "swap_op", "x -= 2;"),
        (RUST, "x += 2;", "augmented_assignment", "x = 2;"),
        (RUST, "if !ok { continue; }", "remove_unary_ops", "if ok { continue; }"),
        (RUST, "if !ok { continue; }", "keywords", "if !ok { break; }"),
        (RUST, 'g(b"A");', "string", 'g(b"XXAXX");'),
        (RUST, "g(true);", "name", "g(false);"),
        (RUST, "s.trim_start();", "symmetric_string_methods_swap", "s.trim_end();"),
        (JAVA, "g(x > 1);", "number", "g(x > 2);"),
        (JAVA, "g(1L);", "number", "g((1L + 1));"),
        (JAVA, "x += 2;", "swap_op", "x -= 2;"),
        (JAVA, "--x;", "swap_op", "++x;"),
        (JAVA, "if (!ok) continue;", "remove_unary_ops", "if (ok) continue;"),
        (JAVA, "g(ok ? 1 : 2);", "if_exp", "g(((ok) && false) ? 1 : 2);"),
        (JAVA, 'g("A");', "string", 'g("XXAXX");'),
        (JAVA, "s.toLowerCase();", "symmetric_string_methods_swap", "s.toUpperCase();"),
        (JAVA, "switch (x) { case 1: g(); break; default: h(); }", "match", "switch (x) {  default: h(); }"),
    ],
)
def test_operators_bear_the_names_of_pythons(case, line, operator, becomes):
    assert (operator, becomes) in case.faults(line)


@pytest.mark.parametrize(
    ("case", "line"),
    [
        (GO, 'panic("x" + 1)'),
        (GO, 'return fmt.Errorf("x %d", 1)'),
        (GO, 'logger.Info("x", 1)'),
        (GO, "// x + 1"),
        (RUST, 'panic!("x {}", 1);'),
        (RUST, "debug_assert_eq!(x, 1);"),
        (RUST, 'log::warn!("x");'),
        (RUST, "let y: [u8; 4];"),
        (RUST, '#[cfg(feature = "a")] x();'),
        (RUST, "x.0;"),
        (JAVA, 'throw new IllegalStateException("x" + 1);'),
        (JAVA, 'LOGGER.info("x" + 1);'),
        (JAVA, "assert x > 1;"),
    ],
)  # fmt: skip
def test_what_is_told_to_people_is_left_alone(case, line):
    assert case.faults(line) == set()


@pytest.mark.parametrize(("case", "line"), [(GO, 's = s + "a"'), (GO, 's += "a"'), (RUST, 's += "a";')])
def test_texts_are_not_subtracted(case, line):
    assert not any(operator == "swap_op" for operator, _ in case.faults(line))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.language)
def test_functions_and_names_are_those_that_others_can_ask_for(case):
    source = case.source.encode()
    lines = range(1, 2 + case.source.count("\n"))

    names = case.code.names(case.path, source, lines)

    assert case.code.functions(case.path, source).keys() == case.functions
    assert names.introduced == case.introduced
    assert names.texts == {"tail of it"}
    assert {"inner", *case.introduced} <= case.code.identifiers(case.path, source)
    assert not case.code.names(case.path, source, {2}).introduced


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.language)
def test_comments_and_layout_make_no_other_form(case):
    form = case.code.form(case.path, case.source.encode())

    assert case.code.form(case.path, case.source.replace("\n\n", "\n\n// said\n\n").encode()) == form
    assert case.code.form(case.path, case.source.replace("3", "4").encode()) != form
    assert case.code.form(case.path, b"{ (") is None
    assert case.code.faulty(case.path, b"{ (", {1}) is None


def test_parts_of_a_fix_that_do_nothing_or_break_the_file_are_none():
    filler = "".join(f"// line {number}\n" for number in range(12))
    old = f"package a\n\n{filler}\nvar A = 1\n{filler}\nvar B = 1\n{filler}"
    new = old.replace("package a\n", "package a\n\n// Said.\n").replace("A = 1", "A = 2").replace("B = 1", "B = 2")

    parts = subsets(fix_of({"a.go": (old, new)}, GO.code), most=8, seed="s")

    assert sorted(part.description for part in parts) == [
        "without 1 of 2 pieces: a.go:13",
        "without 1 of 2 pieces: a.go:27",
    ]
    assert {one.operator for one in mutants(fix_of({"a.go": (old, new)}, GO.code), most=9, seed="s")} == {"number"}

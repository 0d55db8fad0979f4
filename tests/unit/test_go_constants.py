"""Which constants of a product in Go a fix leaves alone."""

from __future__ import annotations

import pytest

from harness.patches import patch
from miner.languages.base import Mode
from miner.languages.go.stripping.constants import Constants
from miner.languages.go.stripping.source import StrippedSource

CODES = b"""\
package web

import "example.com/shop/money"

const (
	OK      = 200
	Missing = 2 * OK + 4
	Name    = "a" + money.Unit
	First   = iota
	Second
	Long int = len(Name)
)

const Twice = 1

var Open = 3

func f() { const Inner = 1 }
"""
TREE = {
    "go.mod": b"module example.com/shop\n\ngo 1.21\n",
    "web/codes.go": CODES,
    "web/codes_linux.go": b"package web\n\nconst Twice = 2\n",
    "web/codes_test.go": b"package web\n\nconst Tested = 2\n",
    "money/unit.go": b'package money\n\nconst Unit = "EUR"\n',
}


def fix(old: str, new: str, path: str = "web/codes.go") -> bytes:
    lines = TREE[path].decode().split("\n")
    at = lines.index(old) + 1
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{at},1 +{at},1 @@\n"
    return f"{head}-{old}\n+{new}\n".encode()


NOTHING = fix("func f() { const Inner = 1 }", "func f() { const Inner = 2 }")


@pytest.mark.parametrize(
    ("path", "name", "settled"),
    [
        ("", "OK", True),
        ("", "Missing", True),
        ("", "Name", True),
        ("example.com/shop/money", "Unit", True),
        ("example.com/shop/other", "Unit", False),
        ("example.com/money", "Unit", False),
        ("", "First", False),
        ("", "Second", False),
        ("", "Long", False),
        ("", "Twice", False),
        ("", "Open", False),
        ("", "Inner", False),
        ("", "Tested", False),
        ("", "None", False),
    ],
)
def test_a_constant_is_settled_that_is_written_out_once_as_a_number_or_a_text(path, name, settled):
    constants = Constants(patch.parse(NOTHING, trusted=True).files, TREE)
    assert constants.are_settled("web", path, name) is settled


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (fix("	OK      = 200", "	OK      = 201"), {"Name"}),
        (fix('const Unit = "EUR"', 'const Unit = "USD"', "money/unit.go"), {"OK", "Missing"}),
        (fix("const Twice = 1", "const Thrice = 1"), {"OK", "Missing", "Name"}),
    ],
)
def test_a_constant_that_a_fix_changes_or_one_that_it_is_made_of_is_not_settled(change, left):
    constants = Constants(patch.parse(change, trusted=True).files, TREE)
    names = {name for name in ("OK", "Missing", "Name", "Twice") if constants.are_settled("web", "", name)}
    assert names == left


OTHERS = ("other", "fmt.Sprint(OK)", "fmt.Sprint(money.Unit)", "fmt.Sprint(OK + 1)")
"""Among these what a method of a constant's type may say."""


@pytest.mark.parametrize("want", ["OK", "money.Unit", "OK + 1", "tt.want", "fmt.Sprint(1 + int64(2))", *OTHERS])
def test_what_is_settled_is_expected_and_goes(want):
    text = (
        'package web\n\nimport (\n\t"fmt"\n\t"testing"\n\n\t"example.com/shop/money"\n)\n\nfunc TestA(t *testing.T) {\n'
        "\tfor _, tt := range []struct{ want int }{{OK}} {\n"
        f"\t\tif f(tt.in) != {want} {{ t.Error() }}\n\t}}\n}}\n"
    )
    source = StrippedSource(
        text.encode(),
        path="web/a_test.go",
        first=0,
        settled=lambda path, name: (path, name) in {("", "OK"), ("example.com/shop/money", "Unit")},
    )
    [slot] = source.slots
    assert slot.assertion.modes[0] is (Mode.OPERANDS if want in OTHERS else Mode.EXPECTED)
    if want == "tt.want":
        assert "OK" not in source.stripped({0: Mode.EXPECTED})


@pytest.mark.parametrize(
    ("declared", "is_iterator"),
    [
        ("func (l *List[T]) Each() iter.Seq2[int, T] {", True),
        ("func Each(n int) func(yield func(int, string) bool) {", True),
        ("func Each[T any](n []T) map[int]T {", True),
        ("func Each(n int) (<-chan int, error) {", True),
        ("func Each(n map[int]int, f func(int) bool) []int { return by(func() {}) }", False),
        ("func Each(f func()) {", False),
    ],
)
def test_functions_are_known_over_whose_results_a_loop_may_count_otherwise(declared, is_iterator):
    constants = Constants([], {**TREE, "web/each.go": f"package web\n\n{declared}\n}}\n".encode()})
    assert constants.iterating == ({"Each"} if is_iterator else frozenset())


def test_fields_and_types_are_known_that_a_loop_may_go_over_otherwise():
    text = (
        "package web\n\ntype Set map[int]string\n\ntype (\n\tQueue chan int\n\tList []int\n)\n\n"
        "type Page struct {\n\tItems  map[int]string\n\tNames []string\n\tSet Set\n}\n\n"
        "type Row struct{ Cells map[int]string }\n\n"
        "func All() *Set {\n\treturn nil\n}\n\nfunc Some() List {\n\treturn nil\n}\n"
    )
    constants = Constants([], {**TREE, "web/each.go": text.encode()})
    assert constants.iterating == {"Set", "Queue", "Items", "Cells", "All"}


def test_types_are_those_that_packages_declare_after_the_fix_but_for_other_names():
    tree = {
        "a/a.go": b"package ast\n\ntype Add struct{}\n\ntype (\n\tSub struct{}\n\tMinus = Sub\n)\n",
        "b/b.go": b"package other\n\ntype Mul struct{}\n",
        "a/broken.go": b"package ast\n\ntype Broken struct{}\n\nfunc (",
    }
    tests = [b"package ast\n\nfunc f() { type Local int }\n"]
    constants = Constants(patch.parse(NOTHING, trusted=True).files, {**TREE, **tree})
    assert constants.types_of({"ast"}, tests) == {"ast.Add", "ast.Sub", "ast.Local"}

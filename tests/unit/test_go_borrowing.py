"""Functions of other test files of a package in Go, copied into the file that calls them."""

from __future__ import annotations

import pytest

from miner.languages.go.stripping.borrowing import borrowed
from miner.languages.go.stripping.source import StrippedSource

HELPERS = """\
package money

import (
	str "strings"
	"testing"
)

func runCases(t *testing.T, f func(string) string, want string) {
	t.Helper()
	hasNone(t, f("a"))
	if got := str.TrimSpace(f(unit())); got != want {
		t.Errorf("got %s", got)
	}
}

func hasNone(t testing.TB, text string) {
	if len(text) == 0 {
		t.Fatal("none")
	}
	t.Log(text)
}

func same(t *testing.T, got, want int) {
	if got != want {
		t.Fatal(got)
	}
}

func unit() string { return "EUR" }

func TestUnit(t *testing.T) { hasNone(t, unit()) }
"""
TEST = """\
package money

import "testing"

func TestFormat(t *testing.T) {
	runCases(t, Format, "5 EUR")
	same(t, 3, Count())
}
"""


def of_test(test: str, helpers: str = HELPERS) -> str:
    files = {"a_test.go": test.encode(), "helpers_test.go": helpers.encode()}
    return borrowed(files)["a_test.go"].decode()


def test_a_file_has_the_functions_that_fail_its_tests_and_those_they_call_under_names_of_its_own():
    text = of_test(TEST)
    suffix = text.partition("runCases_")[2][:8]
    assert text.startswith('package money; import str "strings"\n\nimport "testing"\n')
    assert f'\trunCases_{suffix}(t, Format, "5 EUR")\n' in text
    assert f"func runCases_{suffix}(t *testing.T, f func(string) string" in text
    assert f'\thasNone_{suffix}(t, f("a"))\n' in text
    assert f"func hasNone_{suffix}(t testing.TB" in text
    assert "f(unit())" in text
    assert "func unit" not in text
    assert "func same" not in text


def test_what_is_expected_goes_as_in_a_function_of_the_file():
    source = StrippedSource(of_test(TEST).encode(), path="a_test.go", first=0)
    text = source.stripped({slot.number: slot.assertion.modes[0] for slot in source.slots})
    assert "5 EUR" not in text
    assert "Format, *new(string))" in text
    assert [slot.assertion.op for slot in source.slots] == ["go.==", "go.=="]


def test_a_file_that_lends_stays_as_it_is_and_two_that_borrow_have_copies_of_other_names():
    files = {"a_test.go": TEST.encode(), "b_test.go": TEST.replace("TestF", "TestG").encode()}
    texts = borrowed({**files, "helpers_test.go": HELPERS.encode()})
    assert texts["helpers_test.go"] == HELPERS.encode()
    names = {texts[path].partition(b"func runCases_")[2][:8] for path in files}
    assert len(names) == 2


@pytest.mark.parametrize(
    ("test", "helpers"),
    [
        (TEST.replace('import "testing"', 'import ("testing"; str "mine.org/strings")\nvar _ = str.F'), HELPERS),
        (TEST, HELPERS.replace("testing.T", "mine.T")),
        (TEST, HELPERS.replace('str "strings"', '. "strings"').replace("str.", "")),
        (TEST, HELPERS.replace('str "strings"', '"mine.org/go-str/v2/strings.v1"')),
        (TEST, "//go:build linux\n\n" + HELPERS),
        (TEST, HELPERS.replace('str "strings"', 'str "strings"; "C"').replace('f("a")', "C.f()")),
        (TEST + "func runCases(t *testing.T, f func(string) string, want string) { }\n", HELPERS),
        (TEST.replace("runCases(t, ", "runCases := mine; runCases(t, "), HELPERS),
        (TEST, HELPERS + "func runCases(t *testing.T) { }\n"),
        (TEST, "package money\n\nfunc ("),
        ("package money\n\nfunc (", HELPERS),
    ],
    ids=[
        *("another package of the name", "given no test", "a package without a name", "an import of an unknown name"),
        *("for one system alone", "code of C", "one of its own", "a name of its own", "two of the name"),
        *("not read", "not read itself"),
    ],
)
def test_what_would_mean_something_else_in_the_file_stays_where_it_is(test, helpers):
    assert of_test(test, helpers) == test


def test_a_field_that_is_called_like_a_function_keeps_its_name():
    test = TEST.replace("runCases(t", "_ = Table{runCases: 1}\n\trunCases(t")
    assert "Table{runCases: 1}" in of_test(test)


def test_of_two_functions_whose_imports_have_one_name_one_is_copied():
    more = 'package money\n\nimport (str "mine.org/strings"; "testing")\n\nfunc more(t *testing.T) { str.F(t) }\n'
    files = {"a_test.go": TEST.replace("\tsame", "\tmore(t)\n\tsame").encode(), "more_test.go": more.encode()}
    text = borrowed({**files, "helpers_test.go": HELPERS.encode()})["a_test.go"].decode()
    assert text.count("import str ") == 1
    assert (text.count("func more_"), text.count("func runCases_")) in ((0, 1), (1, 0))

"""What is left of a test file in Go, and what is taken out of it."""

from __future__ import annotations

import re

import pytest

from miner.languages.base import Mode
from miner.languages.go.stripping import literals
from miner.languages.go.stripping.package import named_by_others, package_of
from miner.languages.go.stripping.scopes import parse
from miner.languages.go.stripping.source import StrippedSource

HEAD = """\
package money

import (
	"errors"; "io"; "os"; "github.com/google/go-cmp/cmp/cmpopts"; "strings"; "testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
	"github.com/stretchr/testify/assert"; "encoding/hex"; "math/big"; "sync/atomic"
)

"""


TRY = "testing.GoldseamTry(func() interface{} { goldseam1 := "


def parsed(text: str) -> StrippedSource:
    return StrippedSource(text.encode(), path="a_test.go", first=0)


def best(source: StrippedSource) -> dict[int, Mode]:
    return {slot.number: slot.assertion.modes[0] for slot in source.slots}


def function(body: str) -> str:
    return f"{HEAD}func TestA(t *testing.T) {{\n{body}\n}}\n"


def stripped(body: str) -> str:
    """The body of a function with every assertion in its best mode; each hand-out is `<SLOT: OPERANDS>`."""
    source = parsed(function(body))
    text = source.stripped(best(source)).partition("TestA(t *testing.T) {\n")[2].rpartition("\n}\n")[0]
    return shortened(text)


def shortened(text: str) -> str:
    text = re.sub(r"testing\.GoldseamTry\(func\(\) interface\{} \{ \w+ := (.*?); return &\w+ }\)", r"\1", text)
    parts = text.split("testing.Goldseam(t, ")
    short = [parts[0]]
    for part in parts[1:]:
        slot, _, rest = part.partition(", ")
        values, _, after = rest.partition("}, nil)") if rest.startswith("func() []interface{} {") else ("", "", rest)
        operands = [word.partition(" := ")[2] for word in values.rpartition("return")[0].split("; ")[:-1]]
        operands[:1] = [one.partition(" := ")[2] or one for one in operands[:1]]
        short.append(f"<{slot}: {', '.join(operands)}>{after}" if values else f"<{slot}: {after}")
    return "".join(short)


@pytest.mark.parametrize(
    ("body", "left", "modes"),
    [
        ("assert.Equal(t, new(3), f(1))", "<0: f(1)>", [Mode.EXPECTED]),
        ('assert.Equal(t, f(new("a)")), new(int64(4)))', '<0: f(new("a)"))>', [Mode.EXPECTED]),
        ("x := g(); assert.Equal(t, new(x), f(1))", "x := g(); <0: new(x), f(1)>", [Mode.OPERANDS]),
        ("x := g(); assert.Equal(t, new(x.y), f(1))", "x := g(); <0: new(x.y), f(1)>", [Mode.OPERANDS]),
        ("assert.Equal(t, new(big.Int), f(1))", "<0: f(1)>", [Mode.EXPECTED]),
        ('f("new(3)", new(3)); assert.Equal(t, g(), 1)', 'f("new(3)", new(3)); <0: g()>', [Mode.EXPECTED]),
        (
            "want := new(3); f(want); assert.Equal(t, want, g())",
            "want := new(3); f(want); <0: want, g()>",
            [Mode.OPERANDS],
        ),
    ],
)
def test_new_of_a_value_is_read_beside_that_of_a_type(body, left, modes):
    assert stripped(body) == left
    assert list(best(parsed(function(body))).values()) == modes


def test_what_a_text_or_a_comment_says_of_new_stays():
    root = parse(
        b'package a\n// new(3)\nvar a, b = "new(4)", new(5) /* new(6) */\nvar c = `new(7)` + `'
        + b"long" * 1000
        + b" new(8)`\n"
    )
    assert root.text.decode().count("neW(") == 1


@pytest.mark.parametrize(
    ("body", "left", "op"),
    [
        ("if f(1) != 3 { t.Error(1) }", "if <0: f(1)> { }", "go.=="),
        ("if got := f(1); got != 3 { t.Fatalf(`%d`, got) }", "if got := f(1); <0: got> { }", "go.=="),
        ("if f(1) == 3 { t.Fail() }", "if <0: f(1)> { }", "go.=="),
        ("if f(1) <= 3 { t.FailNow() }", "if <0: f(1)> { }", "go.>"),
        ("if !f(1) { t.Error() }", "if <0: f(1)> { }", "go.truth"),
        ("if len(f(1)) != 2 { t.Error() }", "if <0: len(f(1))> { }", "go.=="),
        ("if (f(1) != nil) != true { t.Error() }", "if <0: (f(1) != nil)> { }", "go.=="),
        ('if diff := cmp.Diff(f(1), "a"); diff != "" { t.Error(diff) }', "if  <0: f(1)> { }", "go.cmp"),
        ('if !cmp.Equal(f(1), "a") { t.Error() }', "if <0: f(1)> { }", "go.cmp"),
        ('if !cmp.Equal(f(1), "a", cmpopts.EquateEmpty()) { t.Error() }', "if <0: f(1)> { }", "go.cmp"),
        ("if !errors.Is(f(1), io.EOF) { t.Error() }", "if <0: testing.GoldseamChain(f(1))> { }", "go.is"),
        ("if f(1) != g(2) { t.Error() }", "if <0: f(1), g(2)> { }", "go.=="),
        (
            "if f(1) != 3 { if long { t.Error(1) } else if all { t.Error(2) } else { t.Error() } }",
            "if <0: f(1)> { }",
            "go.==",
        ),
        ("if f(1) > 1 && f(2) > 2 { t.Error() }", "if <0: f(1), f(2)> { }", "go.of"),
        ("if got != nil && got.A != 3 { t.Error() }", "if got != nil && <0: got.A> { }", "go.=="),
        ('assert.Equal(t, "a", f(1), "message")', "<0: f(1)>", "go.deep"),
        ('assert.Equalf(t, "a", f(1), "%d", 1)', "<0: f(1)>", "go.deep"),
        ("assert.True(t, f(1) == 3)", "<0: f(1)>", "go.=="),
        ("assert.Len(t, f(1), 3)", "<0: f(1)>", "go.len"),
        ("assert.NoError(t, f(1))", "<0: error(f(1))>", "go.nil"),
        ('assert.EqualError(t, f(1), "no")', "<0: (f(1)).Error()>", "go.=="),
        ("assert.Panics(t, func() { f(1) })", "<0: nil, func() { (func() { f(1) })() })", "go.panics"),
        ("a := assert.New(t)\n\ta.Contains(f(1), 3)", "a := assert.New(t)\n\t<0: f(1)>; _ = a", "go.in"),
        ("is := is.New(t)\n\tis.Equal(f(1), 3)", "is := is.New(t)\n\t<0: f(1)>; _ = is", "go.deep"),
    ],
)
def test_an_assertion_hands_out_what_depends_on_the_product(body, left, op):
    assert stripped(f"\t{body}") == f"\t{left}"
    assert [slot.assertion.op for slot in parsed(function(body)).slots] == [op]


@pytest.mark.parametrize(
    "body",
    [
        "if f(1) != 3 { t.Log(1) }",
        "switch f(1) { case 3: t.Error() }",
        "defer func() { if recover() == nil { t.Error() } }()",
        "if f(1) != 3 { if quiet { return }; cleanUp() }",
        "if f(1) != 3 { if quiet { return } else if all { cleanUp() } }",
        "assert.Eventually(t, func() bool { return f(1) }, 1, 1)",
    ],
)
def test_what_is_not_read_stays(body):
    assert parsed(function(body)).slots == ()


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("if assert.NoError(t, f(1)) { g() }", "if !<0: error(f(1))> { g() }"),
        ("if !assert.Equal(t, 3, f(1)) { return }", "if !!<0: f(1)> { return }"),
        ("if !assert.Equal(t, 3, f(1)) { t.FailNow() }", "if !!<0: f(1)> { }"),
        ("return assert.Len(t, f(1), 3) && assert.NotNil(t, f(2))", "return !<0: f(1)> && !<1: f(2)>"),
        ("want, n := 3, g()\n\tuse(assert.Equal(t, want, n))", "want, n := 0, g(); _ = want\n\tuse(!<0: n>)"),
        (
            "if v, ok := f(1).(int); ok { use(v) } else { t.Error() }",
            "if v, ok := f(1).(int); !<0: ok> { use(v) } else { }",
        ),
        (
            "if f(1) == 3 { if f(2) != 4 { t.Error() } } else { t.Fatal() }",
            "if !<0: f(1)> { if <1: f(2)> { } } else { }",
        ),
        ("checker := quicktest.Equals(f(1), 3)", "checker := quicktest.Equals(f(1), 3)"),
        ("defer assert.NoError(t, f(1))", "defer assert.NoError(t, f(1))"),
        ("use(assert.Equal(new(testing.T), f(1), 3))", "use(assert.Equal(new(testing.T), f(1), 3))"),
    ],
)
def test_a_test_goes_on_as_if_what_it_asks_for_held(body, left):
    text = function(f"\t{body}").replace('"strings";', '"strings"; "github.com/frankban/quicktest";')
    source = parsed(text)
    written = source.stripped(best(source)).partition("TestA(t *testing.T) {\n")[2].rpartition("\n}\n")[0]
    assert shortened(written) == f"\t{left}"


def test_a_result_of_what_only_an_else_fails_is_that_of_the_condition():
    source = parsed(function("\tif f(1) == 3 { g() } else { t.Fatal() }"))
    left = source.stripped({0: Mode.RESULT})
    assert "goldseamHolds := f(1) == 3; return []interface{}{&goldseam0, &goldseam1, goldseamHolds}" in left


def test_each_part_of_an_or_is_an_assertion_of_its_own():
    assert stripped("\tif err := f(1); err != nil || g(2) != 4 {\n\t\tt.Fatal(err)\n\t}") == (
        "\tif err := f(1); <0: err> || <1: g(2)> { \n\n}"
    )


def test_a_column_of_a_table_goes_with_what_it_was_expected_for():
    body = """\
	tests := []struct {
		in   string
		want int
		name string
	}{
		{"a", 11, "x"},
		{in: "b", want: 22},
	}
	for i, tt := range tests {
		tt := tt
		t.Run(tt.name, func(t *testing.T) {
			if got := f(tt.in); got != tt.want {
				t.Errorf("%d: %d", i, tt.want)
			}
		})
	}"""
    left = stripped(body)
    assert '{"a", *new(int), "x"},' in left
    assert '{in: "b", want: *new(int)},' in left
    assert "if got := f(tt.in); <0: got> { _ = i" in left


@pytest.mark.parametrize(
    "body",
    [
        "assert.Equal(\n\t\tt,\n\t\t3,\n\t\tf(1),\n\t)",
        "if f(1) !=\n\t\t3 {\n\t\tt.Error()\n\t}",
        "assert.Panics(t,\n\t\tf)",
    ],
)
def test_what_comes_after_an_assertion_keeps_its_line(body):
    text = function(f"\t{body}\n\tlast()")
    source = parsed(text)
    assert [text.split("\n")[line - 1].strip()[:2] for line in (source.slots[0].lines[0],)] == [body[:2]]
    for written in (source.stripped(best(source)), source.recording(best(source))):
        assert written.partition("last()")[0].count("\n") == text.partition("last()")[0].count("\n")


def test_what_is_expected_may_be_set_to_what_is_made_of_it():
    body = """\
	trim := func(text string) string {
		parts := strings.Split(text, "|")
		return parts[0]
	}
	for _, tt := range []struct{ in, want string }{{"a", "one|"}, {"b", "two|"}} {
		tt.want = trim(tt.want)
		if got := f(tt.in); got != tt.want {
			t.Error(got)
		}
	}
	want := "three "
	want = strings.TrimSpace(want)
	if f("c") != want {
		t.Error()
	}"""
    left = stripped(body)
    assert [word for word in ("one", "two", "three") if word in left] == []
    assert "tt.want = tt.want\n" in left
    assert 'want := ""\n\twant = want\n\tif <1: f("c")>' in left


@pytest.mark.parametrize(
    ("condition", "mode"),
    [("want[i] != v", Mode.EXPECTED), ("want[v] != `a`", Mode.EXPECTED), ("want[v] != want[i]", Mode.EXPECTED)],
)
def test_what_is_expected_may_be_an_item_that_a_loop_over_the_product_counts_to(condition, mode):
    loop = f"\tfor i, v := range f(1) {{\n\t\tif {condition} {{ t.Error() }}\n\t}}"
    source = parsed(function(f"\twant := []string{{`a`, `b`}}\n{loop}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]
    handed = [not operand.static for operand in source.slots[0].assertion.operands]
    assert any(handed)


@pytest.mark.parametrize(
    ("made", "over", "condition", "mode"),
    [
        ('want := map[string]int{"a": 1, "b": 2}', "k, v := range f(1)", "want[k] != v", Mode.OPERANDS),
        ('want := map[string]int{"a": 1, "b": 2}', "k, v := range f(1)", "v != 3", Mode.EXPECTED),
        ('want := map[string]int{"a": 1}', "k, v := range f(1)", "want[k] != v", Mode.OPERANDS),
        ('rows := map[string]int{"a": 1, "b": 2}', "k, v := range rows", "f(k) != v", Mode.EXPECTED),
        ("rows := map[string]int{A: 1, B: 2}", "k, v := range rows", "f(k) != v", Mode.OPERANDS),
        ("rows := map[Kind]int{1: 1, 2: 2}", "k, v := range rows", "f(k) != v", Mode.OPERANDS),
        ('rows := map[string]int{"a": 1}', "k, v := range rows", "f(k) != v", Mode.EXPECTED),
        ("rows := []int{1, 2}", "i, v := range rows", "f(i) != v", Mode.EXPECTED),
        ("want := make(map[int]int)", "i, v := range want", "f(i) != v", Mode.OPERANDS),
    ],
)
def test_what_a_loop_over_a_map_is_to_give_is_no_expectation_unless_its_keys_are_written_out_and_have_an_order(
    made, over, condition, mode
):
    for guard in (f"if {condition} {{ t.Error() }}", f"func() {{ if {condition} {{ t.Error() }} }}()"):
        source = parsed(function(f"\t{made}\n\tfor {over} {{\n\t\t{guard}\n\t}}"))
        assert [slot.assertion.modes[0] for slot in source.slots] == [mode]
    subtest = f"t.Run(k, func(t *testing.T) {{ if {condition} {{ t.Error() }} }})"
    inside = parsed(function(f"\t{made}\n\tfor {over} {{\n\t\t{subtest}\n\t}}"))
    assert Mode.OPERANDS not in [slot.assertion.modes[0] for slot in inside.slots] or "make" in made


@pytest.mark.parametrize(
    ("over", "loop"),
    [
        ("k, v := range rows", " k := goldseamRows.Key.(string); _ = k; v := goldseamMap[k]; _ = v;"),
        (
            "_, v := range rows",
            " goldseamKey := goldseamRows.Key.(string); _ = goldseamKey; v := goldseamMap[goldseamKey]; _ = v;",
        ),
        ("k := range rows", " k := goldseamRows.Key.(string); _ = k;"),
    ],
)
def test_a_map_that_is_written_out_is_gone_over_in_one_order(over, loop):
    head = "for goldseamMap, goldseamRows := {}, new(testing.GoldseamRows); goldseamRows.Next(goldseamMap);  {{"
    body = "\n\t\tif f() != 1 {\n\t\t\tt.Error()\n\t\t}\n"
    rows = 'map[string]int{"b": 1, "a": 2}'
    text = stripped(f"\trows := {rows}\n\tfor {over} {{{body}\t}}\n\tfor {over.replace('rows', rows)} {{{body}\t}}")
    assert head.format("rows") + loop in text
    assert re.search(
        re.escape(head).replace(r"\{\}", r"map\[string\]int\{.*\}").replace(r"\{\{", r"\{") + re.escape(loop), text
    )


def test_a_map_is_gone_over_in_one_order_in_a_file_that_does_not_import_testing_too():
    text = 'package a\n\nimport "github.com/stretchr/testify/suite"\n\ntype S struct{ suite.Suite }\n\n'
    text += 'func (s *S) TestA() {\n\tfor k, v := range map[string]int{"b": 1, "a": 2} { s.Equal(v, f(k)) }\n}\n'
    source = StrippedSource(text.encode(), path="a_test.go", first=0, package=package_of([text.encode()]))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]
    assert "new(goldseamTesting.GoldseamRows)" in source.stripped(best(source))


@pytest.mark.parametrize("made", ["if g() { want = `b` }", "want = g(want)", "want += `b`", "want, n = `b`, 1"])
def test_what_is_expected_is_read_with_the_test_where_the_product_may_have_set_it(made):
    source = parsed(function(f"\twant := `a`\n\t{made}\n\tif f(1) != want {{ t.Error() }}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "body",
    [
        "want := []int{1}\n\tgot := want\n\tsort(got)",
        "want := []int{1}\n\tin := In{Items: want}\n\tsort(in)",
        "want := []int{1}\n\tin := In{}\n\tin.Items = want\n\tsort(in)",
        "want := &In{}\n\tsort(want)",
        "want := &In{}\n\tin := want\n\tin.Items = g()",
        "want := []*In{{}}\n\tfor _, in := range want {\n\t\tsort(in)\n\t}",
        "want := Set{}\n\twant.Add(1)",
        "r := g()\n\twant := []byte{1}\n\tr.Read(want)",
        "want := []byte{1}\n\tio.ReadFull(g(), want)",
        "want := &In{}\n\tsteps := []func() error{func() error { return g(want) }}\n\tsteps[0]()",
        "switch g() {\n\tcase 1:\n\t\twant = 2\n\t}",
        "set(func() { want = 2 })",
        "want := []int{1, 2}\n\tgot := append(want[:1], g()...)",
        "want := big.NewInt(1)\n\twant.SetInt64(g())",
        "want := make([]byte, 4)\n\thex.Encode(want, g())",
        "want := []int32{1}\n\tatomic.AddInt32(want, 1)",
        "want := []Failure{{}}\n\terrors.As(g(), want)",
    ],
)
def test_what_the_product_may_change_is_no_expectation(body):
    set_before = "" if "want :=" in body else "want := 1\n\tcheck := func() { if f(2) != want { t.Error() } }\n\t"
    source = parsed(function(f"\t{set_before}{body}\n\tassert.Equal(t, want, f(1))"))
    assert {slot.assertion.modes[0] for slot in source.slots} == {Mode.OPERANDS}


@pytest.mark.parametrize(
    "body",
    [
        "want := []int{1}\n\tgot := want\n\tif len(got) > 3 { return }",
        "want := errors.New(`a`)\n\tset(func() error { return want })",
        "want := []int{1}\n\t_ = want[0] == 1 && strings.Contains(g(), `a`)",
        "want := In{}\n\tif want.Equal(g()) { return }",
        "want := []string{`a`}\n\tfor _, name := range want {\n\t\tg(name)\n\t}",
        "for want := 1; want < 3; want = want + 1 { assert.Equal(t, want, f(2)) }\n\twant := 3",
        "want := []int{1, 2}\n\tgot := append(want[:0:0], g()...)",
        "want := big.NewInt(1)\n\tif want.Sign() < g() { return }",
        "want := []byte{1}\n\tg(hex.EncodeToString(want))",
    ],
)
def test_what_is_only_looked_at_is_expected(body):
    source = parsed(function(f"\t{body}\n\tassert.Equal(t, want, f(1))"))
    assert source.slots[-1].assertion.modes[0] is Mode.EXPECTED


def test_what_a_method_of_a_helpers_argument_is_given_is_no_expectation():
    check = "func check(t *testing.T, s *S, want []int) {\n\ts.Fill(want)\n\tassert.Equal(t, want, f(1))\n}\n"
    [slot] = parsed(function("\tcheck(t, g(), []int{1})") + check).slots
    assert slot.assertion.modes[0] is Mode.OPERANDS


@pytest.mark.parametrize(
    ("rows", "body"),
    [
        ("[]*row{{want: 1}}", "bind(tt)"),
        ("[]struct{ want []int }{{[]int{1}}}", "tt := tt\n\t\tsort(tt.want)"),
        ("[]struct{ want Set }{{Set{}}}", "tt.want.Add(1)"),
        ("[]row{{want: 1}}", "tt.fill()"),
        ("[]struct{ Base; in int }{{Base: g(1), in: 2}}", ""),
    ],
)
def test_a_column_that_the_product_may_change_or_makes_is_no_expectation(rows, body):
    kind = "type row struct{ want int }\nfunc (r *row) fill() { r.want = g() }\n"
    loop = f"\tfor _, tt := range {rows} {{\n\t\t{body}\n\t\tassert.Equal(t, tt.want, f(1))\n\t}}"
    [slot] = parsed(function(loop) + kind).slots
    assert slot.assertion.modes[0] is Mode.OPERANDS


def test_a_method_that_gets_a_copy_of_a_row_leaves_its_columns():
    text = function("\tfor _, tt := range []row{{want: 1}} {\n\t\ttt.log()\n\t\tif f(1) != tt.want { t.Error() }\n\t}")
    kind = "type row struct{ want int }\nfunc (r row) log() { r.want = 2 }\n"
    assert [slot.assertion.modes[0] for slot in parsed(text + kind).slots] == [Mode.EXPECTED]


@pytest.mark.parametrize("name", ["cmp", "is", "assert"])
def test_a_package_of_the_product_may_be_called_like_a_library(name):
    text = f'package a\n\nimport (\n\t"reflect"\n\t"testing"\n\n\t"example.com/shop/{name}"\n)\n\n'
    body = f"want := []int{{1}}\n\tgot := {name}.Fill(want)\n\tif !reflect.DeepEqual(got, want) {{ t.Error() }}"
    [slot] = parsed(f"{text}func TestA(t *testing.T) {{\n\t{body}\n}}\n").slots
    assert slot.assertion.modes[0] is Mode.OPERANDS


def test_a_row_that_is_handed_on_by_its_value_keeps_its_columns():
    body = "g(tt)\n\t\ttt.check(t)\n\t\tif f(1) != tt.want { t.Error() }"
    loop = f"\tfor i := range rows {{\n\t\ttt := rows[i]\n\t\t{body}\n\t}}"
    rows = "\trows := []struct{ want int; check func(*testing.T) }{{1, nil}}\n"
    assert [slot.assertion.modes[0] for slot in parsed(function(rows + loop)).slots] == [Mode.EXPECTED]


@pytest.mark.parametrize(
    "loop",
    [
        "for i := First; i < Last; i++",
        "for i := 0; i < 3; i += g()",
        "for i := range g()",
        "for i := 0; i < 3; {\n\ti = g(i)\n",
    ],
)
def test_what_the_product_counts_is_no_expectation(loop):
    brace = "" if loop.endswith("\n") else " {"
    source = parsed(function(f"\twant := []int{{1, 2}}\n\t{loop}{brace}\n\t\tif f(i) != want[i] {{ t.Error() }}\n\t}}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("want := `w1`\n\tif 1 < 2 { want = `w2` }", Mode.EXPECTED),
        ("want := ``\n\tif want == `` { if 1 > 2 { want = `w1` } else if 2 > 3 { want = `w2` } }", Mode.EXPECTED),
        ("var want string\n\tif 1 < 2 { want = `w1` } else { want = `w2` }", Mode.EXPECTED),
        ("want := `w1`\n\tif 1 > 2 { h() } else if g() { want = `w2` }", Mode.OPERANDS),
        ("want := `w1`\n\tif g() { if 1 < 2 { want = `w2` } }", Mode.OPERANDS),
        ("want := `w1`\n\tfor range g() { if 1 < 2 { want = `w2` } }", Mode.OPERANDS),
        ("want := `w1`\n\tset(func() { if 1 < 2 { want = `w2` } })", Mode.OPERANDS),
        ("var want string", Mode.OPERANDS),
    ],
)
def test_what_the_test_alone_sets_in_one_way_or_another_is_expected(body, mode):
    source = parsed(function(f"\t{body}\n\tif f(1) != want {{ t.Error() }}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]
    left = source.stripped(best(source))
    assert re.findall(r"w\d", left) == (re.findall(r"w\d", body) if mode is Mode.OPERANDS or "==" in body else [])


def test_what_the_product_has_set_for_the_next_turn_of_a_loop_is_no_expectation():
    loop = "\tfor range 3 {\n\t\tif f(1) != want { t.Error() }\n\t\tif g() { want = 2 }\n\t}"
    source = parsed(function(f"\twant := 1\n{loop}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    ("leaves", "mode"),
    [
        ("if g() { continue }", Mode.OPERANDS),
        ("switch { case g(): continue }", Mode.OPERANDS),
        ("if 1 < 2 { continue }", Mode.EXPECTED),
        ("", Mode.EXPECTED),
    ],
)
def test_what_a_turn_of_a_loop_has_set_is_expected_in_the_next_one_where_each_comes_to_it(leaves, mode):
    loop = f"\tfor range 3 {{\n\t\tif f(1) != want {{ t.Error() }}\n\t\t{leaves}\n\t\twant = 2\n\t}}"
    source = parsed(function(f"\twant := 1\n{loop}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]


@pytest.mark.parametrize(
    ("over", "mode"),
    [("p.All()", Mode.OPERANDS), ("all", Mode.OPERANDS), ("p.List()", Mode.EXPECTED), ("list", Mode.EXPECTED)],
)
def test_what_an_iterator_of_the_product_counts_is_no_expectation(over, mode):
    loop = f"\tfor i, v := range {over} {{\n\t\tif want[i] != v {{ t.Error() }}\n\t}}"
    text = function(f"\twant := []int{{1, 2}}\n\tall, list := p.All(), p.List()\n{loop}")
    source = StrippedSource(text.encode(), path="a_test.go", first=0, iterating={"All"})
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]


@pytest.mark.parametrize(
    ("declared", "calls", "further"),
    [
        ("var seen int", "run(hook)", "func hook() { seen = 1 }"),
        ("var seen = 0", "run(hook)", "func hook() { seen = seen | 1 }"),
        ("var seen int", "run(mock{})", "type mock struct{}\n\nfunc (mock) Do() { seen = 1 }"),
    ],
)
def test_what_a_function_further_down_sets_is_no_expectation_as_the_product_may_call_it(declared, calls, further):
    test = f"func TestA(t *testing.T) {{\n\t{calls}\n\tif f(1) != seen {{ t.Error() }}\n}}"
    text = f"{declared}\n\n{test}\n\n{further}\n"
    assert [slot.assertion.modes[0] for slot in parsed(HEAD + text).slots] == [Mode.OPERANDS]


def test_a_name_of_the_file_that_other_files_have_too_is_no_expectation():
    text = f"{HEAD}var seen = 1\n\nfunc TestA(t *testing.T) {{\n\tif f(1) != seen {{ t.Error() }}\n}}\n"
    modes = [
        StrippedSource(text.encode(), path="a_test.go", first=0, shared=shared).slots[0].assertion.modes[0]
        for shared in ([], ["seen"])
    ]
    assert modes == [Mode.EXPECTED, Mode.OPERANDS]
    loop = "for _, row := range rows {\n\t\tif f(1) != row.want { t.Error() }\n\t}"
    table = f"{HEAD}var rows = []struct{{ want int }}{{{{1}}}}\n\nfunc TestA(t *testing.T) {{\n\t{loop}\n}}\n"
    modes = [
        StrippedSource(table.encode(), path="a_test.go", first=0, shared=shared).slots[0].assertion.modes[0]
        for shared in ([], ["rows"])
    ]
    assert modes == [Mode.EXPECTED, Mode.OPERANDS]


@pytest.mark.parametrize(
    "body",
    [
        "assert.Equal(t, 3, len([]int{1}))",
        "if want := 3; want != 4 { t.Error() }",
        "var none error\n\tassert.NoError(t, none)",
        "if want := true; !want { t.Error() }",
    ],
)
def test_what_seems_to_be_the_tests_own_altogether_comes_out_as_else_nothing_would(body):
    source = parsed(function(f"\t{body}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]
    assert not any(operand.static for operand in source.slots[0].assertion.operands)


@pytest.mark.parametrize("begun", ["go func() {", "wg.Go(func() {"])
def test_what_goroutines_of_a_loop_are_to_give_is_no_expectation_as_their_order_may_be_another(begun):
    body = f"\tfor i, want := range []int{{1, 2}} {{\n\t\t{begun} if f(i) != want {{ t.Error() }} }}"
    source = parsed(function(f"{body}{'()' if begun[0] == 'g' else ')'}\n\t}}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(("asked", "mode"), [("g()", Mode.OPERANDS), ("1 < 2", Mode.EXPECTED)])
def test_an_argument_is_no_expectation_where_the_product_says_which_call_is_made(asked, mode):
    check = "func check(t *testing.T, want int) {\n\tcalls++\n\tif f(1) != want { t.Error() }\n}\n"
    source = parsed(function(f"\tif {asked} {{ check(t, 1) }} else {{ check(t, 2) }}") + check)
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]


ROWS = "for _, tt := range []struct{ in, want int; ok bool }{{1, 2, true}, {3, 4, false}} {"
"""A loop over rows, whose turns begin."""
LEFT_OUT, ASKED = f"{ROWS} if g() {{ continue }};", "func(t *testing.T) { if f(1) != tt.want { t.Error() } }"


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        (f"{ROWS} if g() {{ continue }}; if f(tt.in) != tt.want {{ t.Error() }} }}", Mode.OPERANDS),
        (f"{ROWS} if g() {{ if f(tt.in) != tt.want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"{ROWS} for _, v := range g() {{ if v != tt.want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"{ROWS} for i := 0; i < n(); i++ {{ if f(i) != tt.want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"{ROWS} each(func() {{ if f(tt.in) != tt.want {{ t.Error() }} }}) }}", Mode.OPERANDS),
        (f"{ROWS} check := func(v int) {{ if v != tt.want {{ t.Error() }} }}; each(check) }}", Mode.OPERANDS),
        (
            "want := 1; check := func(v int) { if v != want { t.Error() } }; each(check); want = 2; g(check)",
            Mode.OPERANDS,
        ),
        (f"{ROWS} check := func(v int) {{ if v != tt.want {{ t.Error() }} }}; check(f(tt.in)) }}", Mode.EXPECTED),
        (f"{ROWS} switch {{ case g(): if f(tt.in) != tt.want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"{ROWS} select {{ case v := <-c: if v != tt.want {{ t.Error() }}; default: }} }}", Mode.OPERANDS),
        (f"{ROWS} want := tt.want; if g() {{ if f(tt.in) != want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"outer:\n{ROWS} for range g() {{ continue outer }}; if f(1) != tt.want {{ t.Error() }} }}", Mode.OPERANDS),
        (
            "want := []int{1}; for i, v := range g() { if v.s { continue }; if v.n != want[i] { t.Error() } }",
            Mode.OPERANDS,
        ),
        (
            f"{ROWS} for _, v := range g() {{ if v < 0 {{ break }} }}; if f(1) != tt.want {{ t.Error() }} }}",
            Mode.EXPECTED,
        ),
        (f"{ROWS} if g() {{ return }}; if f(tt.in) != tt.want {{ t.Error() }} }}", Mode.EXPECTED),
        (f"{ROWS} if g() {{ break }}; if f(tt.in) != tt.want {{ t.Error() }} }}", Mode.EXPECTED),
        (f"{ROWS} if tt.ok {{ continue }}; if f(tt.in) != tt.want {{ t.Error() }} }}", Mode.EXPECTED),
        (f"{ROWS} for range 2 {{ if f(tt.in) != tt.want {{ t.Error() }} }} }}", Mode.EXPECTED),
        (f"{ROWS} func() {{ if f(tt.in) != tt.want {{ t.Error() }} }}() }}", Mode.EXPECTED),
        (
            f"{ROWS} t.Run(`a`, func(t *testing.T) {{ if g() {{ if f(1) != tt.want {{ t.Error() }} }} }}) }}",
            Mode.EXPECTED,
        ),
        (f"{LEFT_OUT} t.Run(`a`, {ASKED}) }}", Mode.OPERANDS),
        (f"{LEFT_OUT} t.Run(tt.in, {ASKED}) }}", Mode.EXPECTED),
        (f"{LEFT_OUT} t.Run(1, func(t *testing.T) {{ t.Run(tt.in, {ASKED}) }}) }}", Mode.EXPECTED),
        (f"{LEFT_OUT} t.Run(tt.in, {ASKED}) }}".replace("3", "1"), Mode.OPERANDS),
        (f"for range 2 {{ {ROWS} if g() {{ break }}; if f(tt.in) != tt.want {{ t.Error() }} }} }}", Mode.OPERANDS),
        (f"for range 2 {{ {ROWS} if g() {{ return }}; if f(tt.in) != tt.want {{ t.Error() }} }} }}", Mode.EXPECTED),
        (f"{ROWS} t.Cleanup(func() {{ if f(tt.in) != tt.want {{ t.Error() }} }}) }}", Mode.EXPECTED),
        (f"{ROWS} select {{ case v := <-c: if v != tt.want {{ t.Error() }}; default: t.Fatal() }} }}", Mode.EXPECTED),
    ],
)
def test_a_row_that_the_product_may_have_the_test_leave_out_or_take_again_is_no_expectation(body, mode):
    assert parsed(function(f"\t{body}")).slots[0].assertion.modes[0] is mode


@pytest.mark.parametrize("leaves", ["return", "break"])
def test_a_row_behind_which_a_helper_that_is_called_again_leaves_its_loop_is_no_expectation(leaves):
    helper = (
        f"func all(t *testing.T) {{\n\t{ROWS} if g() {{ {leaves} }}; if f(tt.in) != tt.want {{ t.Error() }} }}\n}}\n"
    )
    source = parsed(function("\tall(t)\n\tall(t)") + helper)
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "before",
    [
        "if g() { t.Error(); continue }",
        "if g() { if tt.ok { t.Error() }; continue }",
        "if (err != nil) != tt.ok { t.Error() }\n\t\tif err != nil { continue }",
        "if ok != tt.ok { t.Error() }\n\t\tif !ok { continue }",
        "if !assert.NoError(t, err) { continue }",
    ],
)
def test_a_row_that_fails_where_it_is_left_out_is_expected(before):
    source = parsed(function(f"\t{ROWS}\n\t\t{before}\n\t\tif f(tt.in) != tt.want {{ t.Error() }}\n\t}}"))
    assert source.slots[-1].assertion.modes[0] is Mode.EXPECTED


@pytest.mark.parametrize(("length", "mode"), [("len(got)", Mode.EXPECTED), ("len(all)", Mode.OPERANDS)])
def test_items_of_a_row_are_expected_where_their_number_is(length, mode):
    loop = f"if {length} != len(tt.want) {{ t.Fatal() }}\n\t\t"
    loop += "for i, v := range got { if v != tt.want[i] { t.Error() } }"
    rows = "for _, tt := range []struct{ in int; want []int }{{1, []int{2}}, {3, []int{4}}} {"
    source = parsed(function(f"\t{rows}\n\t\tgot := f(tt.in)\n\t\t{loop}\n\t}}"))
    assert source.slots[-1].assertion.modes[0] is mode


@pytest.mark.parametrize(
    ("calls", "mode"),
    [
        ("for _, v := range g() { check(t, v, 1) }\n\tfor _, v := range h() { check(t, v, 2) }", Mode.OPERANDS),
        ("switch { case g(): check(t, f(), 1)\n\tdefault: check(t, f(), 2) }", Mode.OPERANDS),
        ("each(func(v int) { check(t, v, 1) })\n\tcheck(t, f(), 2)", Mode.OPERANDS),
        ("for _, want := range []int{1, 2} { if g() { check(t, f(), want) } }", Mode.OPERANDS),
        ("for _, want := range []int{1, 2} { check(t, f(), want) }", Mode.EXPECTED),
        ("check(t, f(), 1)\n\tif g() { return }\n\tcheck(t, f(), 2)", Mode.EXPECTED),
    ],
)
def test_an_argument_is_no_expectation_where_the_product_says_how_often_a_call_is_made(calls, mode):
    check = "func check(t *testing.T, v, want int) {\n\tcalls++\n\tif v != want { t.Error() }\n}\n"
    assert parsed(function(f"\t{calls}") + check).slots[-1].assertion.modes[0] is mode


def test_an_argument_is_no_expectation_where_the_product_says_if_its_function_comes_to_it():
    check = "func check(t *testing.T, v, want int) {\n\tif v < g() { return }\n\tif v != want { t.Error() }\n}\n"
    source = parsed(function("\tcheck(t, f(), 1)\n\tcheck(t, f(), 2)") + check)
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "want",
    [
        "map[Kind]string{Near: `a`, Far: `b`}",
        "[]map[Kind]string{{Near: `a`}}",
        "[]string{Near: `a`, Far: `b`}",
        "names{Near: `a`}",
        "Names{Near: `a`}",
        "map[Kind]Point{0: {1, 2}, Far: {3, 4}}",
    ],
)
def test_what_has_the_products_constants_for_keys_is_no_expectation(want):
    text = function(f"\tif !reflect.DeepEqual(f(1), {want}) {{ t.Error() }}").replace('"errors"', '"reflect"')
    text += "type names map[Kind]string\n"
    source = StrippedSource(text.encode(), path="a_test.go", first=0, iterating={"Names"})
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "want", ["Point{X: 1}", "[]Point{{X: 1}}", "map[string]Point{`a`: {X: 1}}", "pair{X: Point{Y: 1}}"]
)
def test_what_has_fields_is_expected(want):
    text = function(f"\tif !reflect.DeepEqual(f(1), {want}) {{ t.Error() }}").replace('"errors"', '"reflect"')
    assert parsed(text + "type pair struct { X Point }\n").slots[0].assertion.modes[0] is Mode.EXPECTED


def test_rows_whose_order_the_products_constants_say_are_no_expectation():
    loop = "\tfor i, want := range []string{Near: `a`, Far: `b`} {\n\t\tif f(i) != want { t.Error() }\n\t}"
    assert parsed(function(loop)).slots[0].assertion.modes[0] is Mode.OPERANDS


@pytest.mark.parametrize(
    "given",
    [
        "all := append([][]string{}, want); g(all)",
        "g(append(all, want))",
        "g(context.WithValue(ctx, key, want))",
        "part := bytes.TrimSpace(want); g(part)",
        "g(http.Header(want))",
        "h := url.Values(want); h.Set(`a`, f(2))",
    ],
)
def test_what_is_in_what_the_product_gets_is_no_expectation(given):
    packages = '"bytes"; "context"; "net/http"; "net/url"; "reflect"'
    body = f"\twant := []string{{`a`}}\n\t{given}\n\tif !reflect.DeepEqual(f(1), want) {{ t.Error() }}"
    source = parsed(function(body).replace('"errors"', packages))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "given", ["g(append(all, want...))", "g(append([]byte{}, want...))", "_ = bytes.TrimSpace(want)"]
)
def test_what_is_copied_for_the_product_is_expected(given):
    body = f"\twant := []byte{{1}}\n\t{given}\n\tif !bytes.Equal(f(1), want) {{ t.Error() }}"
    source = parsed(function(body).replace('"errors"', '"bytes"'))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]


def test_what_a_method_of_a_parameter_is_given_is_no_expectation_unless_it_is_what_the_test_is_of():
    helper = "func check(t *testing.T, s *Store, want []int) {\n\ts.Contains(want)\n"
    helper += "\tif s.First() != want[0] { t.Error() }\n}\n"
    assert parsed(function("\tcheck(t, f(), []int{1})") + helper).slots[0].assertion.modes[0] is Mode.OPERANDS


@pytest.mark.parametrize("shown", ["P{1}", "given"])
def test_what_a_function_of_the_file_shows_of_the_products_types_is_no_expectation(shown):
    text = function(f"\tif f(1) != show({shown}) {{ t.Error() }}").replace('"errors"', '"fmt"')
    for kind in ("P", "any"):
        helpers = f"func show(p {kind}) string {{ return fmt.Sprint(p) }}\n\nconst given Kind = 3\n"
        assert parsed(text + helpers).slots[0].assertion.modes[0] is Mode.OPERANDS
    named_helper = "func show(n int) string { return fmt.Sprint(n) }\n"
    assert parsed(text.replace(shown, "3") + named_helper).slots[0].assertion.modes[0] is Mode.EXPECTED


@pytest.mark.parametrize(
    ("target", "guarded", "asserted", "op"),
    [
        ("io.EOF", "testing.GoldseamChain(f(1))", "testing.GoldseamChain(f(1))", "go.is"),
        ("os.ErrExist", "testing.GoldseamChain(f(1))", "testing.GoldseamChain(f(1))", "go.is"),
        (
            "ErrNone",
            "testing.GoldseamChain(f(1)), ErrNone, testing.GoldseamIn(goldseam0, goldseam1)",
            "testing.GoldseamChain(f(1)), ErrNone, testing.GoldseamIn(goldseam0, goldseam1)",
            "go.is",
        ),
        ("&Error{3}", "errors.Is(f(1), &Error{3})", "testing.GoldseamIs(f(1), &Error{3})", "go.truth"),
    ],
)
def test_an_error_that_a_test_makes_of_the_products_type_is_asked_for_inside(target, guarded, asserted, op):
    assert stripped(f"\tif !errors.Is(f(1), {target}) {{ t.Error() }}") == f"\tif <0: {guarded}> {{ }}"
    body = f"\tassert.ErrorIs(t, f(1), {target})"
    assert [slot.assertion.op for slot in parsed(function(body)).slots] == [op]
    assert stripped(body) == f"\t<0: {asserted}>"


@pytest.mark.parametrize("asked", ["e := g(); e != nil", "1 < 2"])
def test_an_argument_is_expected_where_a_test_comes_to_its_call_or_fails(asked):
    check = "func check(t *testing.T, want int) {\n\tcalls++\n\tif f(1) != want { t.Error() }\n}\n"
    more = f"func TestB(t *testing.T) {{\n\tif {asked} {{ t.Fatal() }} else {{ check(t, 2) }}\n}}\n"
    source = parsed(function("\tcheck(t, 1)") + more + check)
    assert [slot.assertion.modes[0] for slot in source.slots if slot.function == ("check",)] == [Mode.EXPECTED]


@pytest.mark.parametrize(
    ("given", "further", "mode"),
    [
        ("return []row{{1, 2}}", "", Mode.EXPECTED),
        ("return []row{{1, g()}}", "", Mode.OPERANDS),
        ("n++; return []row{{1, 2}}", "", Mode.OPERANDS),
        ("return []row{{1, 2}}", "func TestB(t *testing.T) { use(rows()) }\n", Mode.OPERANDS),
    ],
)
def test_rows_that_a_function_of_the_file_gives_to_loops_are_read(given, further, mode):
    declared = f"type row struct{{ in, want int }}\n\nfunc rows() []row {{ {given} }}\n\n{further}"
    source = parsed(function("\tfor _, r := range rows() {\n\t\tif f(r.in) != r.want { t.Error() }\n\t}") + declared)
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]
    assert ("*new(int)" in source.stripped(best(source))) == (mode is Mode.EXPECTED)


@pytest.mark.parametrize(
    ("path", "name", "mode"),
    [
        ("example.org/tags", "English", Mode.EXPECTED),
        ("example.org/tags", "ErrNone", Mode.OPERANDS),
        ("acme.dev/a/tags", "English", Mode.OPERANDS),
    ],
)
def test_what_another_module_has_is_expected_but_for_errors_which_are_told_by_who_they_are(path, name, mode):
    text = f'package a\n\nimport (\n\t"testing"\n\n\t"{path}"\n)\n\n'
    text += f"func TestA(t *testing.T) {{\n\tif f(1) != tags.{name} {{ t.Error() }}\n}}\n"
    source = StrippedSource(
        text.encode(), path="a_test.go", first=0, is_own=lambda package: package.startswith("acme.dev/a/")
    )
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]


def test_a_loop_over_a_map_in_a_row_names_what_is_expected_by_keys():
    rows = "for _, tt := range []struct{ want map[int]string }{{map[int]string{1: `a`, 2: `b`}}} {"
    loop = "for k, v := range f(1) { if v != tt.want[k] { t.Error() } }"
    assert parsed(function(f"\t{rows}\n\t\t{loop}\n\t}}")).slots[0].assertion.modes[0] is Mode.OPERANDS


def test_a_loop_over_a_row_of_what_another_goes_over_is_read():
    loops = "for i := range want { for j := range want[i] { if f(i, j) != want[i][j] { t.Error() } } }"
    source = parsed(function(f"\twant := [][]int{{{{1}}, {{2, 3}}}}\n\t{loops}"))
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]


@pytest.mark.parametrize("over", ["r.Items", "f(1)"])
def test_what_fields_and_named_types_of_the_product_count_is_no_expectation(over):
    text = function(f"\twant := []string{{`a`}}\n\tfor i, v := range {over} {{ if v != want[i] {{ t.Error() }} }}")
    sources = [
        StrippedSource(text.encode(), path="a_test.go", first=0, iterating=names) for names in ((), ("Items", "f"))
    ]
    assert [source.slots[0].assertion.modes[0] for source in sources] == [Mode.EXPECTED, Mode.OPERANDS]


@pytest.mark.parametrize(
    "want",
    [
        "max(1, 2)",
        "money.Limit",
        "fmt.Sprint(Point{1, 2})",
        "fmt.Sprint(given)",
        "own(3).String()",
        "point().String()",
        "reflect.TypeOf(Point{}).NumField()",
        "len(Digest{})",
        "len(digest)",
        "len(filepath.Glob(`a/*`))",
        "rated(3)",
    ],
)
def test_what_the_product_may_say_is_no_expectation(want):
    imports = 'package money\n\nimport (\n\t"calc/money"\n\t"fmt"\n\t"path/filepath"\n\t"reflect"\n\t"testing"\n)\n\n'
    imports += "type own int\n\n"
    imports += "var digest = money.Digest{}\n\nfunc rated(n int) int { return n * money.Rate }\n\n"
    text = f"{imports}func point() Point {{ return Point{{1}} }}\n\nconst given Kind = 3\n\n"
    source = parsed(f"{text}func TestA(t *testing.T) {{\n\tif f(1) != {want} {{ t.Error() }}\n}}\n")
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "want", ["len([]Point{{1}})", "len(list{1})", "len(map[Point]int{})", "filepath.Join(`a`, `b`)", "upper(`a`)"]
)
def test_what_the_test_alone_says_is_expected(want):
    text = 'package money\n\nimport (\n\t"path/filepath"\n\t"strings"\n\t"testing"\n)\n\ntype list []int\n\n'
    text += "func upper(s string) string { return strings.ToUpper(s) }\n\n"
    source = parsed(f"{text}func TestA(t *testing.T) {{\n\tif f(1) != {want} {{ t.Error() }}\n}}\n")
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]


@pytest.mark.parametrize("want", ["fmt.Sprint(3, `a`, []int{1})", "fmt.Sprint(3 * time.Second)", "fmt.Sprint(tt.want)"])
def test_what_gos_own_types_say_is_expected(want):
    text = 'package money\n\nimport (\n\t"fmt"\n\t"testing"\n\t"time"\n)\n\n'
    loop = f"for _, tt := range []struct{{ in Point; want int }}{{{{Point{{1}}, 3}}}} {{\n\t\tif f(tt.in) != {want}"
    source = parsed(f"{text}func TestA(t *testing.T) {{\n\t{loop} {{ t.Error() }}\n\t}}\n}}\n")
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("want := 3\n\tif f(1) != want { t.Error() }", {"not": False, "types": "=="}),
        ("if f(1) < int64(3) { t.Error() }", {"not": True, "types": "=="}),
        ("if f(1) != 3 { t.Error() }", {"untyped": [1]}),
        ("if f(1) != http.StatusOK { t.Error() }", {}),
        ("if f(1) != 2*time.Second { t.Error() }", {"types": "=="}),
        ("if f(1) != 1<<want { t.Error() }", {}),
        ("if !strings.Contains(f(1), `a`) { t.Error() }", {"types": "=="}),
        ("assert.Greater(t, f(1), 3)", {"types": "kinds", "untyped": [1]}),
        ("assert.NoError(t, f(1))", {"by": "=="}),
    ],
)
def test_types_are_compared_where_a_wrong_one_would_not_compile(body, options):
    text = function(f"\t{body}").replace('"io";', '"io"; "net/http"; "time";')
    [slot] = parsed(text).slots
    settings = {name: value for name, value in slot.assertion.options.items() if name != "not"}
    assert settings == {name: value for name, value in options.items() if name != "not"}


def test_a_difference_that_a_method_of_the_product_may_tell_comes_out_with_the_result():
    source = parsed(function('\tif diff := cmp.Diff(f(1), "a"); diff != "" { t.Error(diff) }'))
    assert source.slots[0].assertion.modes == (Mode.EXPECTED, Mode.RESULT, Mode.INSIDE)
    assert 'goldseamHolds := cmp.Diff(f(1), "a") == "";' in source.stripped({0: Mode.RESULT})


def test_a_name_that_only_expectations_read_goes_and_one_that_the_message_reads_is_used():
    body = (
        '\twant, n := 31, g()\n\tonly := "x"\n\tif f(1) != want {\n\t\tt.Error(n)\n\t}\n\tassert.Equal(t, only, f(2))'
    )
    left = stripped(body)
    assert '"x"' not in left
    assert "_ = n, want" in left or "_, _ = n, want" in left


def test_an_argument_of_a_function_of_the_file_goes_where_all_that_it_is_given_is_written_out():
    text = f"""{HEAD}func TestA(t *testing.T) {{
	check(t, f(1), 77)
	check(t, f(2), 88)
}}

func check(t *testing.T, got, want int) {{
	calls++
	if got != want {{
		t.Error(got)
	}}
}}
"""
    source = parsed(text)
    left = source.stripped(best(source))
    assert "check(t, f(1), *new(int))" in left
    assert "88" not in left


@pytest.mark.parametrize(
    ("function_of_check", "call", "left", "op"),
    [
        ("a, b interface{}) {\n\tt.Helper()\n\tif a != b {", "check(t, 3, f(1))", "<0: interface{}(f(1))>", "go.=="),
        ("e error) {\n\tif e != nil {", "check(t, f(1))", "<0: error(f(1))>", "go.=="),
        (
            "s, p string) {\n\tif strings.Contains(s, p) {",
            'check(t, f(1), "a")',
            "<0: (func(goldseam string) string { return goldseam })(f(1))>",
            "go.contains",
        ),
        ("a, b []int) {\n\tif diff := cmp.Diff(a, b); diff != `` {", "check(t, f(1), []int{3})",
         "<0: (func(goldseam []int) []int { return goldseam })(f(1))>", "go.cmp"),
        ("a, b Sum) {\n\tif a != b {", "check(t, f(1), 3)", "<0: (func(goldseam Sum) Sum { return goldseam })(f(1))>",
         "go.=="),
        ("a, b io.Writer) {\n\tif a != b {", "check(t, f(1), nil)",
         "<0: (func(goldseam io.Writer) io.Writer { return goldseam })(f(1))>", "go.=="),
        ("a, b time.Duration) {\n\tif a != b {", "check(t, f(1), 3)", "check(t, f(1), 3)", None),
        ("a, b Sum) {\n\tif a != b {", "type Sum int\n\tcheck(t, f(1), 3)", "type Sum int\n\tcheck(t, f(1), 3)", None),
        ("a, b int) {\n\tif b := g(b); a != b {", "check(t, f(1), 3)", "check(t, f(1), 3)", None),
        ("holds bool) {\n\tif holds {", "check(t, f(1) == 3)", "<0: f(1)>", "go.=="),
        ("a int) {\n\tif a != calls {", "check(t, f(1))", "check(t, f(1))", None),
        ("a, b int) {\n\tcalls++\n\tif a != b {", "check(t, f(1), 3)", "check(t, f(1), 3)", None),
    ],
)  # fmt: skip
def test_a_call_of_what_only_compares_in_another_file_of_the_package_is_an_assertion(function_of_check, call, left, op):
    imports = 'import ("io"; "strings"; "testing"; "time"; "github.com/google/go-cmp/cmp")\n'
    check = f"package money\n{imports}func check(t testing.TB, {function_of_check}\n\t\tt.Error()\n\t}}\n}}\n"
    text = function(f"\t{call}")
    source = StrippedSource(text.encode(), path="a_test.go", first=0, package=package_of([check.encode()]))
    body = source.stripped(best(source)).partition("TestA(t *testing.T) {\n")[2].rpartition("\n}\n")[0]
    assert shortened(body) == f"\t{left}"
    assert [slot.assertion.op for slot in source.slots] == ([op] if op else [])


def test_what_two_files_of_a_package_have_for_different_systems_is_no_check():
    checks = ["package money\nimport `testing`\nfunc check(t *testing.T, a, b int) { if a %s b { t.Error() } }\n"] * 2
    package = package_of([text.replace("%s", sign).encode() for text, sign in zip(checks, ("!=", "<"), strict=True)])
    assert package.checks == {}
    assert list(package_of([checks[0].replace("%s", "!=").encode()]).checks) == ["check"]


def test_a_type_of_a_parameter_that_the_calls_say_is_not_asked_for():
    check = b"package money\nimport `testing`\nfunc check[T any](t *testing.T, a, b []T) { if a != b { t.Error() } }\n"
    source = StrippedSource(
        function("\tcheck(t, f(1), []int{3})").encode(), path="a_test.go", first=0, package=package_of([check])
    )
    assert "= f(1); " in source.stripped(best(source))


@pytest.mark.parametrize(
    ("imports", "kind", "count"),
    [
        ('import "testing"', "*C", 0),
        ('import . "gopkg.in/check.v1"', "*C", 1),
        ('import "example.com/shop/check"', "*check.C", 0),
        ('import "gopkg.in/check.v1"', "*check.C", 1),
    ],
)
def test_a_type_of_the_product_may_be_called_like_that_of_a_test(imports, kind, count):
    text = f"package money\n\n{imports}\n\nfunc touch(c {kind}) {{\n\tif c.N != 3 {{\n\t\tc.Fail()\n\t}}\n}}\n"
    assert len(parsed(text).slots) == count


@pytest.mark.parametrize(
    ("call", "options"),
    [
        ("assert.True(t, f(1))", {"types": "=="}),
        ("assert.False(t, !f(1))", {"types": "=="}),
        ("check(t, f(1))", {"types": "=="}),
        ("if !f(1) { t.Error() }", {}),
        ("assert.True(t, f(1) == g(1))", {"types": "=="}),
    ],
)
def test_what_is_given_to_what_takes_a_boolean_has_to_be_one(call, options):
    check = b"package money\nimport `testing`\nfunc check(t *testing.T, holds bool) { if !holds { t.Error() } }\n"
    text = function(f"\t{call}").encode()
    [slot] = StrippedSource(text, path="a_test.go", first=0, package=package_of([check])).slots
    assert slot.assertion.options == options


SUITES = b"package money\nimport `github.com/stretchr/testify/suite`\ntype Base struct { suite.Suite; n int }\n"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("s.Equal(3, f(1))", "<s.T() 0: f(1)>"),
        ("s.Require().NoError(f(1))", "<s.T() 0: error(f(1))>"),
        ("r := s.Require()\n\tr.Lenf(f(1), 3, `%d`, 1)", "r := s.Require()\n\t<s.T() 0: f(1)>; _ = r"),
        ("if f(1) != 3 {\n\t\ts.T().Fatal()\n\t}", "if <s.T() 0: f(1)> { \n\n}"),
        ("s.prepare(f(1))", "s.prepare(f(1))"),
        ("s.NoError(f(1))", "s.NoError(f(1))"),
    ],
)
def test_methods_of_a_suite_are_assertions_of_the_test_that_runs_them(body, left):
    own = "func (s *Own) NoError(err error) { count(err) }\n"
    text = f"package money\n\ntype Own struct {{ Base }}\n\n{own}func (s *Own) TestA() {{\n\t{body}\n}}\n"
    source = StrippedSource(text.encode(), path="a_test.go", first=0, package=package_of([SUITES, text.encode()]))
    written = source.stripped(best(source))
    short = re.sub(
        r"goldseamTesting\.Goldseam\((\S+), (\d+), func.*?:= (.*?); return .*?}, nil\)", r"<\1 \2: \3>", written
    )
    head = 'package money; import goldseamTesting "testing"' if source.slots else "package money"
    assert short == text.replace(body, left).replace("package money", head)


@pytest.mark.parametrize(
    ("imported", "body", "op", "left"),
    [
        ("github.com/alecthomas/assert/v2", "assert.Equal(t, 3, f(1))", "go.deep", "<0: f(1)>"),
        ("gotest.tools/v3/assert", "assert.Equal(t, f(1), 3)", "go.==", "<0: interface{}(f(1))>"),
        ("gotest.tools/v3/assert", "assert.DeepEqual(t, f(1), 3, opts)", None, "assert.DeepEqual(t, f(1), 3, opts)"),
        ("gotest.tools/v3/assert", "assert.Assert(t, f(1) == 3, `no`)", "go.==", "<0: f(1)>"),
        ("gotest.tools/v3/assert/cmp", "a.Check(t, cmp.Len(f(1), 3))", "go.len", "<0: f(1)>"),
        ("github.com/frankban/quicktest", "c := quicktest.New(t)\n\tc.Assert(f(1), quicktest.Equals, 3)", "go.==",
         "c := quicktest.New(t)\n\t<0: interface{}(f(1))>; _ = c"),
        ("github.com/go-quicktest/qt", "qt.Check(t, own.IsNil(f(1)))", None, "qt.Check(t, own.IsNil(f(1)))"),
        ("github.com/go-quicktest/qt", "qt.Check(t, qt.IsNotNil(f(1)))", "go.nil", "<0: f(1)>"),
        ("github.com/frankban/quicktest", "quicktest.Assert(t, f(1), quicktest.Not(quicktest.HasLen), 3)",
         "go.len", "<0: f(1)>"),
        ("github.com/stretchr/testify/require", "require.ErrorIs(t, f(1), io.EOF)", "go.is",
         "<0: testing.GoldseamChain(f(1))>"),
        ("github.com/stretchr/testify/require", "require.IsType(t, 1, f(1))", "go.type", "<0: interface{}(f(1))>"),
        ("github.com/stretchr/testify/require", "require.Zero(t, f(1))", "go.zero", "<0: f(1)>"),
        ("github.com/stretchr/testify/require", "require.Regexp(t, regexp.MustCompile(`a+`), f(1))", "go.matches",
         "<0: f(1)>"),
        ("github.com/stretchr/testify/require", "require.ErrorAs(t, f(1), &e)", "go.truth",
         "<0: testing.GoldseamAs(f(1), &e)>"),
        ("github.com/go-quicktest/qt", "qt.Assert(t, qt.ErrorMatches(f(1), `a.*`))", "go.matches",
         "<0: (f(1)).Error()>"),
        ("github.com/go-quicktest/qt", "qt.Assert(t, qt.Not(qt.IsNil(f(1))))", "go.nil", "<0: f(1)>"),
    ],
)  # fmt: skip
def test_functions_of_libraries_are_assertions(imported, body, op, left):
    imports = f'import (\n\t"io"\n\t"regexp"\n\t"testing"\n\n\t"{imported}"\n\ta "gotest.tools/v3/assert"\n)\n'
    text = f"package money\n\n{imports}\nfunc TestA(t *testing.T) {{\n\t{body}\n}}\n"
    source = parsed(text)
    body = source.stripped(best(source)).partition("TestA(t *testing.T) {\n")[2].rpartition("\n}\n")[0]
    short = re.sub(r"testing\.Goldseam\((\S+), (\d+), func.*?:= (.*?); return .*?}, nil\)", r"<\1 \2: \3>", body)
    assert re.sub("<[tc] ", "<", short) == f"\t{left}"
    assert [slot.assertion.op for slot in source.slots if not slot.assertion.is_unread] == ([op] if op else [])


def test_what_is_imported_without_a_name_is_used_where_its_calls_are_taken_out():
    text = 'package money\n\nimport (\n\t"testing"\n\n\t. "gopkg.in/go-playground/assert.v1"\n)\n\n'
    source = parsed(f"{text}func TestA(t *testing.T) {{\n\tEqual(t, f(1), 3)\n}}\n")
    left = source.stripped(best(source))
    assert "Equal(t" not in left
    assert left.endswith("}\n\nvar _ = Equal")


def test_a_function_of_the_file_that_fails_unless_something_is_true_is_an_assertion():
    check = "func check(t testing.TB, holds bool) {\n\tif !holds {\n\t\tpanic(1)\n\t}\n}\n"
    source = parsed(function('\tcheck(t, f(1) == "abc")') + check)
    assert [slot.assertion.op for slot in source.slots] == ["go.==", "go.truth"]
    assert "abc" not in source.stripped(best(source))


def test_a_case_that_fails_the_test_is_an_assertion():
    body = "\tswitch {\n\tcase err == nil && out != 3:\n\t\tt.Error(n)\n\tcase err != nil:\n\t\tt.Error()\n\t}"
    assert stripped(body) == "\tswitch {\n\tcase <0: err, out>:\n\t\t{ \n}\n\tcase <1: err>:\n\t\t{ \n}\n\t}"


def test_a_table_that_something_else_reads_keeps_its_cells():
    body = (
        "\ttests := []struct{ in, want string }{{`a`, `seventy`}}\n\tfor _, tt := range tests {\n\t\tshow(tt)\n"
        "\t\tif f(tt.in) != tt.want {\n\t\t\tt.Error()\n\t\t}\n\t}"
    )
    assert "seventy" in stripped(body)


def test_imports_that_nothing_uses_any_more_are_blank_and_comments_are_gone():
    source = parsed(function('\t// it is 3\n\tif diff := cmp.Diff(f(1), "a"); diff != "" {\n\t\tt.Error(diff)\n\t}'))
    left = source.stripped(best(source))
    assert '\t_ "github.com/google/go-cmp/cmp"\n' in left
    assert "it is 3" not in left


def test_what_an_example_prints_is_judged_outside():
    text = f"{HEAD}func ExampleF() {{\n\tfmt.Println(f(1))\n\t// Output:\n\t// one\n\t// two\n}}\n"
    source = parsed(text)
    assert "// Output: goldseam 0\n" in source.stripped(best(source))
    assert "two" not in source.stripped(best(source))
    assert "// Output: goldseam+ 0\n\t// \n\t// one\n\t// two\n" in source.recording(best(source))


def test_a_recording_hands_out_both_sides_and_a_result_what_comes_of_them():
    source = parsed(function("\tif f(1) != 3 { t.Error() }"))
    assert "goldseam0 := f(1); goldseam1 := 3; return []interface{}{&goldseam0, &goldseam1}" in source.recording(
        best(source)
    )
    left = source.stripped({0: Mode.RESULT})
    assert "goldseamHolds := !(f(1) != 3); return []interface{}{&goldseam0, &goldseam1, goldseamHolds}" in left


def test_a_file_with_code_of_c_is_not_read():
    with pytest.raises(ValueError, match="code of C"):
        parsed('package a\n\nimport "C"\n')


def test_a_subtest_is_of_its_function():
    assert literals.function_of("a/b_test.go::TestA/x/[y] z") == "a/b_test.go::TestA"
    _, functions = literals.READING.handed(
        "", function('\ttesting.Goldseam(t, 4, func() []interface{} { f("x", 12) }, nil)')
    )
    assert functions == {"TestA": ("x", 12)}


def test_what_is_asked_after_others_may_panic_where_these_settle_it():
    source = parsed(function("\tif f(1) && (err == nil || err.Error() != `a`) { t.Error() }"))
    [slot] = source.slots
    assert [part["op"] for part in slot.assertion.options["parts"]] == ["go.truth", "go.of"]
    assert [operand.is_later for operand in slot.assertion.operands] == [False, True, True, True, True]
    last = "testing.GoldseamTry(func() interface{} { goldseam2 := err.Error(); return &goldseam2 });"
    assert f"goldseam2 := {last} return []interface{{}}{{&goldseam0, goldseam1, goldseam2}}" in source.stripped(
        best(source)
    )


HANDING = "testing.Goldseam(t, 0, func() []interface{} { goldseam0 := got; return []interface{}{&goldseam0} }, nil)"


def goes_on(body: str, told: str, attempt: int = 1) -> str:
    """The body of a function without what a compiler, or a panic, complains of in its file."""
    text = function(body)
    words = "\n".join(line if line.startswith("\t") else f"./a_test.go:{line}" for line in told.splitlines())
    return parsed(text).unstopped(text, words, attempt).partition("TestA(t *testing.T) {\n")[2].rpartition("\n}\n")[0]


@pytest.mark.parametrize(
    ("body", "told", "left"),
    [
        ("got := New(1)\nuse(1)", "12:8: undefined: New", "\nuse(1)"),
        ("got, err := New(1)\nuse(1)", "12:13: undefined: New", "var err error; _ = err\nuse(1)"),
        ("use(1, With(2))", "12:8: undefined: With", "use(1, )"),
        ("use(a.With().Done(), 2)", "12:7: a.With undefined (type A has no field or method With)", "use(a.Done(), 2)"),
        ("use(a.New, 2)", "12:7: a.New undefined (type A has no field or method New)", "use( 2)"),
        ("use(1, )", "12:8: not enough arguments in call to use", ""),
        ("use(1, true, 2)", "12:8: too many arguments in call to use", "use(1, )"),
        ("a := A{B: 1, New: 2}", "12:14: unknown field New in struct literal of type A", "a := A{B: 1, }"),
        ("a := []A{{1, New}}", "12:14: undefined: New", "a := []A{{1, nil}}"),
        ("a := []A{{1, nil}}", "12:14: cannot use nil as int value in struct literal", "a := []A{{1, 0}}"),
        ('a := []A{{1, ""}}', '12:14: cannot use "" as B value in struct literal', "a := []A{{}}"),
        ("got := f()", "12:1: declared and not used: got", "got := f(); _ = got"),
        (
            "for i, v := range f() {\nuse(v)\n}",
            "12:5: declared and not used: i",
            "for i, v := range f() { _ = i;\nuse(v)\n}",
        ),
        (
            "got, err := f()",
            "12:1: assignment mismatch: 2 variables but f returns 1 value",
            "var err error; _ = err; got := f()",
        ),
        (
            "if _, err := f(); err != nil {\n}",
            "12:4: assignment mismatch: 2 variables but f returns 1 value",
            "{ var err error; _ = err; if _ = f(); err != nil {\n} }",
        ),
        (
            "t.Run(n, func(t *testing.T) {\nuse(New)\n})",
            "13:5: undefined: New",
            "t.Run(n, func(t *testing.T) {\nuse()\n})",
        ),
        (
            f"if {HANDING} {{\n}}",
            "12:63: undefined: got",
            "if false {\n}",
        ),
        (
            HANDING,
            "12:60: undefined: got",
            "",
        ),
        (
            HANDING.replace("got", f"{TRY}got; return &goldseam1 }})"),
            "12:117: undefined: got",
            "",
        ),
        ("use(1)\nm[1] = 2\nuse(3)", "\t/testbed/a_test.go:13 +0x1d", "use(1)\n\nuse(3)"),
        ("return New()", "12:8: undefined: New", 'panic("")'),
        ("use(New)", "nothing of it", "use(New)"),
    ],
)
def test_what_a_tree_lacks_the_names_for_goes_and_the_rest_can_be_compiled(body, told, left):
    assert goes_on(body, told) == left


def test_an_import_that_is_not_there_goes_and_one_that_is_not_used_is_blank():
    text = function("use(1)")
    told = (
        "a_test.go:6:2: no required module provides package x\n"
        './a_test.go:7:2: "github.com/matryer/is" imported and not used'
    )
    left = parsed(text).unstopped(text, told, 1)
    assert 'go-cmp/cmp"\n' not in left
    assert '\t_ "github.com/matryer/is"\n' in left


def test_at_first_nothing_ends_a_test_early():
    text = (
        HEAD.replace("/assert", "/require")
        + "func TestA(t *testing.T) {\n\tt.Fatalf(`a`)\n\trequire.NoError(t, f())\n}\n"
    )
    left = parsed(text).unstopped(text, "", 0)
    assert "t.Errorf(`a`)" in left
    assert 'require "github.com/stretchr/testify/assert"' in left
    assert parsed(left).unstopped(left, "", 1) == left


def test_what_is_printed_goes_and_constants_of_groups_and_pairs_are_zero():
    body = """\
	const (
		a    = 1
		want = "w1"
	)
	in, other := "a", []string{"w2"}
	t.Logf("w3 %s", want)
	fmt.Println("w4", other, f(in))
	_ = "w5"
	for i, tt := range []struct {
		call func() string
		want string
	}{{f, "w6"}} {
		t.Log(i, tt.want)
		if got := tt.call(); got != tt.want {
			t.Error(got)
		}
	}
	if f(a) != want || !reflect.DeepEqual(f(a), other) {
		t.Error("w7")
	}"""
    text = function(body).replace("import (", 'import (\n\t"fmt"\n\t"reflect"')
    source = parsed(text)
    left = source.stripped(best(source))
    assert re.findall(r"w\d", left) == []
    assert 'in, other := "a", []string{}' in left
    assert 'fmt.Println("", "", f(in))' in left


def test_names_that_other_files_have_from_outside_are_those_of_calls_and_of_values():
    files = {
        "a_test.go": b"package money\n\nfunc own() { }\n\nfunc each() { run(check); own(); t.Run(name) }\n",
        "b_test.go": b"package money\n\nfunc check() { check() }\n",
        "c_test.go": b"package money\n\nfunc ( { broken }\n",
        "d_test.go": b"package money\n\nfunc a() { for range rows { f(len(rows)) }; for i := range ms { ms[i] = 1 } }",
    }
    others = named_by_others(files)
    assert {"run", "check", "broken"} <= others["b_test.go"]
    assert {"own", "rows"}.isdisjoint(others["b_test.go"])
    assert "ms" in others["b_test.go"]
    assert "check" not in others["a_test.go"]


def test_an_argument_of_a_function_that_other_files_call_too_stays():
    helper = "func check(t *testing.T, got, want int) {\n\tg()\n\tif got != want {\n\t\tt.Error(got)\n\t}\n}\n"
    text = function("\tcheck(t, f(1), 77)") + helper
    source = StrippedSource(text.encode(), path="a_test.go", first=0, shared=["check"])
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize("want", ["(G)(1)", "G[int](1)", "(*g)(1)", "(func() int { return G() })()", "own[int](1)"])
def test_what_looks_like_a_conversion_and_may_call_the_product_is_no_expectation(want):
    own = "func own[T any](a int) int { return Twice[T](a) }\n"
    source = parsed(function(f"\tg := &G\n\twant := {want}\n\tif f(1) != want {{ t.Error() }}") + own)
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.OPERANDS]


@pytest.mark.parametrize("want", ["(*P)(nil)", "[]byte(`a`)", "(int64)(3)", "List[int]([]int{1})", "(*List[int])(nil)"])
def test_a_conversion_of_what_is_written_out_is_expected(want):
    own = "type List[T any] []T\n"
    source = parsed(function(f"\twant := {want}\n\tif f(1) != want {{ t.Error() }}") + own)
    assert [slot.assertion.modes[0] for slot in source.slots] == [Mode.EXPECTED]


def test_errors_of_a_package_of_gos_own_are_told_apart_whichever_is_named():
    text = function("\tif err := f(1); err != sql.ErrNoRows { t.Error(err) }")
    source = parsed(text.replace("import (", 'import (\n\t"database/sql"'))
    left = source.stripped(best(source))
    names = ", ".join(f'"database/sql.{name}": sql.{name}' for name in ("ErrConnDone", "ErrNoRows", "ErrTxDone"))
    assert left.endswith(f"\nvar _ = testing.GoldseamKnow(map[string]error{{{names}}})")


@pytest.mark.parametrize(
    "body",
    [
        "l := New(&b)\n\tl.Error(`w1`)",
        "l := New(&b)\n\tl.Logf(`w1 %d`, 3)",
        "log.SetOutput(New(&b))\n\tlog.Print(`w1`)",
        "out := run(func() { fmt.Print(`w1`) })",
        "redirect()\n\tfmt.Print(`w1`)",
    ],
)
def test_what_the_product_is_given_to_log_or_may_catch_stays(body):
    text = function(f"\t{body}\n\tif f(1) != 3 {{ t.Error() }}").replace("import (", 'import (\n\t"fmt"\n\t"log"')
    source = parsed(text)
    assert "`w1" in source.stripped(best(source))


@pytest.mark.parametrize(
    ("path", "body", "op"),
    [
        ("github.com/stretchr/testify/assert", "assert.Equal(t, 3, f(1))", "go.deep"),
        ("github.com/google/go-cmp/cmp", "if d := cmp.Diff(f(1), 3); d != `` { t.Error(d) }", "go.cmp"),
        ("container/size", "if f(1) != size.Limit { t.Error() }", "go.=="),
    ],
)
@pytest.mark.parametrize("is_own", [False, True])
def test_a_package_of_the_tree_is_no_library_and_none_of_gos_own(path, body, op, is_own):
    text = f'package money\n\nimport (\n\t"testing"\n\t"{path}"\n)\n\nfunc TestA(t *testing.T) {{\n\t{body}\n}}\n'
    source = StrippedSource(text.encode(), path="a_test.go", first=0, is_own=lambda own: is_own and own == path)
    read = [(slot.assertion.op, slot.assertion.modes[0]) for slot in source.slots]
    assert ((op, Mode.EXPECTED) in read) is not is_own


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ('"%v", got.Name()', "_ = got.Name(); "),
        ("got[2].Of(1)", "_ = got[2].Of(1); "),
        ('fmt.Sprint("a", got.Name(), 3)', "_ = got.Name(); "),
        ("got.Told(w7)", ""),
        ('got.Told("a")', ""),
        ('"a", got', ""),
    ],
)
def test_what_a_message_asks_of_the_product_is_asked_as_it_may_panic(message, asked):
    text = function(f"\tw7 := 7\n\tassert.Equal(t, w7, got.Len(), {message})").replace("import (", 'import (\n\t"fmt"')
    source = parsed(text)
    assert f"{{ goldseam0 := got.Len(); {asked}return" in source.stripped(best(source))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("tt.name", Mode.EXPECTED),
        ('fmt.Sprintf("%v/%s", tt.in, tt.name)', Mode.EXPECTED),
        ("strconv.Itoa(i)", Mode.EXPECTED),
        ("fmt.Sprint(got)", Mode.OPERANDS),
        ("got", Mode.OPERANDS),
        ("tt.kind.String()", Mode.OPERANDS),
        ("fmt.Sprint(tt.kind)", Mode.OPERANDS),
    ],
)
def test_rows_of_subtests_that_the_product_names_are_no_expectation(name, mode):
    rows = "[]struct { name string; in []int; kind Kind; want int }{{`a`, []int{1}, 1, 2}, {`b`, nil, 2, 3}}"
    run = f"got := f(tt.in)\n\t\tt.Run({name}, func(t *testing.T) {{ if got != tt.want {{ t.Error() }} }})"
    text = function(f"\tfor i, tt := range {rows} {{\n\t\t{run}\n\t}}")
    source = parsed(text.replace("import (", 'import (\n\t"fmt"\n\t"strconv"'))
    assert [slot.assertion.modes[0] for slot in source.slots] == [mode]


@pytest.mark.parametrize(
    "body",
    [
        "retry(t, func(r *R) { assert.Equal(r, 3, f(1)) })",
        "m := new(testing.T)\n\tassert.Equal(m, 3, f(1))",
        "m := &Fake{}\n\ta := assert.New(m)\n\ta.Equal(3, f(1))",
        "assert.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, 3, f(1)) }, 1, 1)",
    ],
)
def test_what_is_asserted_for_anything_but_a_test_stays(body):
    assert not any(not slot.assertion.is_unread for slot in parsed(function(f"\t{body}")).slots)

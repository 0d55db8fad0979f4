"""What is left of a test file in Rust, and what is taken out of it."""

from __future__ import annotations

import re

import pytest

from miner.languages.base import Mode
from miner.languages.rust.language import function_of_test
from miner.languages.rust.stripping import literals, scopes, snapshots
from miner.languages.rust.stripping.examples import StrippedExamples
from miner.languages.rust.stripping.helpers import helpers_in
from miner.languages.rust.stripping.patterns import pattern_of
from miner.languages.rust.stripping.source import StrippedSource

TRAITS = "use self::goldseam::{Hidden as _, Shown as _}; "
OF = re.compile(r"\(&self::goldseam::Of\(&\((.*?)\)\)\)\.told_goldseam\(\), ", re.DOTALL)
SAME = re.compile(r"self::goldseam::same\((&\(.*?\))\)(?=\)\)\.told_goldseam)", re.DOTALL)
HAND = re.compile(r"self::goldseam::hand\((\d+), &\[(.*?)\], None\);", re.DOTALL)
MODULE = '#[cfg(test)] #[path = "/tmp/goldseam_handout.rs"] mod goldseam;\n'


def parsed(text: str, **options: bool) -> StrippedSource:
    return StrippedSource(text.encode(), path="tests/a.rs", first=0, **options)


def best(source: StrippedSource) -> dict[int, Mode]:
    return {slot.number: slot.assertion.modes[0] for slot in source.slots}


def in_test(body: str, head: str = "") -> str:
    return f"{head}#[test]\nfn a() {{\n{body}\n}}\n"


def stripped(text: str) -> str:
    source = parsed(text)
    return source.stripped(best(source))


def shortened(text: str) -> str:
    """With each hand-out as `<SLOT: OPERANDS>`."""
    text = OF.sub(r"\1 | ", SAME.sub(r"\1", text.replace(TRAITS, "")))
    return re.sub(r"\{ ((?:<[^>]*> ?)+)(\n*)\}", r"\1\2", HAND.sub(r"<\1: \2>", text)).replace(" | >", ">")


def left(body: str, head: str = "") -> str:
    text = stripped(in_test(body, head)).partition("fn a() {\n")[2].rpartition("\n}\n")[0]
    return shortened(text)


@pytest.mark.parametrize(
    ("body", "wanted", "op"),
    [
        ("assert_eq!(f(1), 3);", "<0: f(1)> ;", "rust.=="),
        ('assert_eq!("a".to_string(), f(1), "message {}", f(2));', "<0: f(1)> ;", "rust.=="),
        ("assert_ne!(f(1), -3i64);", "<0: f(1)> ;", "rust.=="),
        ("debug_assert_eq!(f(1), 3);", "<0: f(1)> ;", "rust.=="),
        ("std::assert_eq!(f(1), [1, 2]);", "<0: f(1)> ;", "rust.=="),
        ('assert_eq!(f(1), vec![Some((1, "a"))]);', "<0: f(1)> ;", "rust.=="),
        ("assert_eq!(f(1), Point { x: 1, kind: Kind::Far(2) });", "<0: f(1)> ;", "rust.=="),
        ("assert_eq!(f(1), u32::MAX);", "<0: f(1)> ;", "rust.=="),
        ('assert_eq!(f(1), String::from("a"));', "<0: f(1)> ;", "rust.=="),
        ("assert!(f(1));", "<0: f(1)> ;", "rust.truth"),
        ('assert!(!f(1).is_empty(), "message");', "<0: f(1).is_empty()> ;", "rust.truth"),
        ("assert!(f(1) == 3);", "<0: f(1)> ;", "rust.=="),
        ("assert!(f(1) >= 3.5);", "<0: f(1)> ;", "rust.>="),
        ('assert!(f(1).contains("a"));', "<0: f(1)> ;", "rust.contains"),
        ("assert!(f(1).starts_with('a'));", "<0: f(1)> ;", "rust.starts"),
        ("assert_eq!(f(\n  1,\n), 3);", "<0: f(\n  1,\n)> ;", "rust.=="),
        ("match f() { Ok(v) => assert_eq!(v, 3), Err(e) => panic!() }",
         "match f() { Ok(v) => <0: v> , Err(e) => panic!() }", "rust.=="),
        ('if f(1) != 3 {\n  panic!("no {}", f(1));\n}', "<0: f(1)> \n\n", "rust.=="),
        ("assert!(matches!(f(1), Err(Error::Far { .. })));", "<0: f(1)> ;", "rust.matches"),
        ('assert_matches!(f(1),\n Some(3 | 4), "no {}", 1);', "<0: f(1)> \n;", "rust.matches"),
        ("assert!(matches!(f(1), Ok(x) if g(x)));", "<0: matches!(f(1), Ok(x) if g(x))> ;", "rust.truth"),
    ],
)  # fmt: skip
def test_an_assertion_hands_out_what_depends_on_the_product(body, wanted, op):
    assert left(body) == wanted
    assert [slot.assertion.op for slot in parsed(in_test(body)).slots] == [op]


@pytest.mark.parametrize(
    ("body", "form", "value"),
    [
        ('insta::assert_snapshot!(f(1), @"a b");', "{}", "f(1)"),
        ('assert_snapshot!(f(1), @r###"\na\n"b"\n"###);', "{}", "f(1)"),
        ('assert_snapshot!(f(1), "f(1)", @"a");', "{}", "f(1)"),
        ("assert_debug_snapshot!(f(1));", "{:#?}", "f(1)"),
        ('insta::assert_debug_snapshot!("name", f(1));', "{:#?}", "f(1)"),
        ("insta::assert_compact_debug_snapshot!(vec![f(1)]);", "{:?}", "vec![f(1)]"),
    ],
)
def test_of_a_snapshot_the_text_of_the_value_comes_out(body, form, value):
    source = parsed(in_test(body, "use insta::{assert_debug_snapshot, assert_snapshot};\n"), has_snapshots=True)
    text, twice = source.stripped(best(source)), source.recording(best(source))
    told = "(&self::goldseam::Of(&goldseam_text)).told_goldseam(), "
    assert f'match ::std::format!("{form}", {value}).trim_end()' in text
    assert f"hand(0, &[{told}], None)" in text
    assert f"hand(0, &[{told}{told}], None)" in twice
    assert not any(word in text for word in ("snapshot!", '"a', '"b"', '"name"'))


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ('assert_snapshot!(f(1), @"a");', ""),
        ('assert_snapshot!(f(1), @"a");', "use own::assert_snapshot;\n"),
        ('own::assert_snapshot!(f(1), @"a");', "use insta::*;\n"),
        ('insta::assert_yaml_snapshot!(f(1), @"a");', ""),
        ('insta::assert_debug_snapshot!(f(1), { ".id" => "[id]" }, @"a");', ""),
        ("insta::assert_snapshot!(f(1));", ""),
        ('let mut of = insta::Settings::new(); of.bind(|| insta::assert_snapshot!(f(1), @"a"));', ""),
        ('insta::with_settings!({ sort_maps => true }, { insta::assert_snapshot!(f(1), @"a"); });', ""),
        ("tokio::select! { n = f() => assert_eq!(n, 1) }", ""),
    ],
)
def test_snapshots_of_others_or_in_other_forms_or_in_files_that_stay_are_known_to_stay(body, head):
    slots = parsed(in_test(f"{body}\nassert!(f(2));", head)).slots
    assert [slot.assertion.is_unread for slot in slots] == [True, False]


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("insta::assert_snapshot!(g(), f(1));", ""),
        ('for n in ["a", "b"] { if let Some(x) = f(n) { insta::assert_snapshot!(n, x); } }', ""),
        (
            'check("a", f(1)); check("b", f(2));',
            "fn check(n: &str, x: Option<u8>) { let Some(x) = x else { return }; insta::assert_snapshot!(n, x); }\n",
        ),
    ],
)
def test_a_snapshot_in_a_file_whose_name_is_up_to_the_product_is_known_to_stay(body, head):
    body = f"{body} assert!(f(2));"
    slots = parsed(in_test(body, head), has_snapshots=True).slots
    assert sorted(slot.assertion.is_unread for slot in slots) == [False, True]
    even = body.replace("if let Some(x) = f(n)", "let x = f(n);").replace("g()", '"a"')
    slots = parsed(in_test(even, head.replace("return", "panic!()")), has_snapshots=True).slots
    assert [slot.assertion.is_unread for slot in slots] == [False, False]


def test_files_of_snapshots_are_those_that_name_a_test_file_or_lie_beside_one():
    sources = {
        "a/tests/snapshots/it__one.snap": b"---\nsource: a/tests/it.rs\nexpression: one\n---\n1\n",
        "a/tests/snapshots/it__two.snap": b"---\nsource: tests/it.rs\n---\n1\n",
        "a/tests/snapshots/other.snap": b"---\nsource: tests/other.rs\n---\n1\n",
        "a/tests/snapshots/plain.snap": b"1\n",
        "a/tests/it.rs": b"insta::assert_snapshot!(f());",
        "a/tests/mod.rs": b"",
    }
    assert snapshots.used(sources) == {"a/tests/it.rs"}
    assert [path[-8:] for path in snapshots.of_tests(["a/tests/it.rs"], sources)] == [
        "one.snap",
        "two.snap",
        "ain.snap",
    ]
    assert list(snapshots.of_tests(["b/tests/mod.rs"], sources)) == []


def test_what_is_joined_by_and_are_assertions_of_their_own_and_one_that_stays_is_as_it_was():
    source = parsed(in_test("assert!(f(1) == 3 && !g(2));\nassert!(f(1) || g(2));"))
    assert [dict(slot.assertion.options) for slot in source.slots] == [{"type": "{int}"}, {"not": True}, {}]
    text = source.stripped({0: Mode.EXPECTED, 1: Mode.INSIDE, 2: Mode.EXPECTED})
    assert "assert!(!(g(2)));" in text
    assert "Of(&(f(1) || g(2)))" in text


def test_both_sides_come_out_where_both_depend_on_the_product_and_types_are_those_of_the_comparison():
    source = parsed(in_test("assert_eq!(f(1), g(2));"))
    assert best(source) == {0: Mode.OPERANDS}
    text = source.stripped({0: Mode.OPERANDS})
    assert "match (&(f(1)), &(g(2)))" in text
    assert "let goldseam_holds = *goldseam_left == *goldseam_right; " in text
    assert "Some(*goldseam_left == *goldseam_right)" in source.stripped({0: Mode.RESULT})


def test_a_recording_hands_out_both_sides_and_a_condition_as_a_result_what_it_is():
    source = parsed(in_test("assert_eq!(f(1), vec![3]);\nassert!(f(1) != 3);"))
    recorded = source.recording(best(source))
    assert "match (&(f(1)), &(vec![3]))" in recorded
    assert "let goldseam_holds = f(1) != 3;" in source.stripped({0: Mode.INSIDE, 1: Mode.RESULT})


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("#[should_panic]", ""),
        ('#[should_panic(expected = "no price")]', '"no price"'),
        ('#[should_panic = "no"]', '"no"'),
    ],
)
def test_what_a_test_is_to_panic_with_comes_out(attribute, expected):
    source = parsed(f"#[test]\n{attribute}\nfn a() {{ f(1); }}\n")
    text = source.stripped(best(source))
    assert "fn a() { " + TRAITS + "self::goldseam::panics(0, || { f(1); }, &[]); }" in text
    assert "panic]" not in text
    assert (f"Of(&({expected}))" in source.recording(best(source))) is bool(expected)


@pytest.mark.parametrize(
    "body",
    [
        "assert_eq!(3, 3);",
        "assert!(true);",
        "if let Some(x) = f(1) { panic!() }",
        "if f(1) { panic!() } else { g() }",
        "other::assert_eq!(f(1), 3);",
        "assert_eq!{f(1), 3}",
        "check!(assert_eq!(f(1), 3));",
    ],
)
def test_what_is_not_read_stays(body):
    assert [slot for slot in parsed(in_test(body)).slots if not slot.assertion.is_unread] == []


def test_what_a_type_of_the_product_makes_of_written_values_comes_out_or_is_known_to_stay():
    text = in_test("assert!(Level::High > Level::Low && f(1) == 2);\nassert!(!(Level::High == Level::Low));")
    assert [(slot.assertion.op, dict(slot.assertion.options)) for slot in parsed(text).slots] == [
        ("rust.truth", {}),
        ("rust.==", {"type": "{int}"}),
        ("rust.truth", {"not": True}),
    ]
    assert "Of(&(Level::High > Level::Low))" in stripped(text)
    [slot] = parsed(in_test("assert_eq!(Level::High, Level::High);") + "fn b() { assert!(f()) }\n").slots[:1]
    assert slot.assertion.is_unread


@pytest.mark.parametrize(
    ("head", "is_read"),
    [
        ("use pretty_assertions::{assert_eq, assert_ne};\n", True),
        ("use own_assertions::assert_eq;\n", False),
        ("macro_rules! assert_eq { () => {} }\n", False),
    ],
)
def test_a_macro_of_another_crate_is_read_where_it_is_known_to_compare_alike(head, is_read):
    slots = parsed(in_test("assert_eq!(f(1), 3);\nassert!(f(2));", head)).slots
    assert [slot.assertion.is_unread for slot in slots] == [not is_read, False]


@pytest.mark.parametrize(
    "head",
    ["use alloc::{format, vec, vec::Vec};\n", "use shop::{vec::Bag, format::Form};\n", "use shop::vec::{self};\n"],
)
def test_macros_of_collections_are_read_whatever_comes_by_a_path_like_their_names(head):
    body = 'let want = alloc::vec![1]; assert_eq!(f(1), want); assert_eq!(f(2), vec![format!("{}", 1)]);'
    after = stripped(in_test(body, head))
    assert "vec!" not in after
    assert after.count("same(") == len(parsed(in_test(body, head)).slots)


@pytest.mark.parametrize("head", ["use shop::vec;\n", "use shop::{f, vec};\n", "use shop::bag as vec;\n"])
def test_a_macro_of_another_crate_makes_what_it_likes(head):
    assert best(parsed(in_test("assert_eq!(f(1), vec![1]);", head))) == {0: Mode.OPERANDS}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Err(Error::Far { code: 3, .. })",
         ["tuple", "Err", [["struct", "Error::Far", [["code", ["i", 3]]], True]], None]),
        ("None | Some(_)", ["or", [["name", "None"], ["tuple", "Some", [["any"]], None]]]),
        ("-1..=5", ["range", ["i", -1], ["i", 5], True]),
        ("..5", ["range", None, ["i", 5], False]),
        ("&[1, .., ref last]", ["slice", "", [["i", 1], ["any"]], 1]),
        ("(\"a\", b'b', n @ 1.5)", ["tuple", "", [["s", "a"], ["i", 98], ["f", 1.5]], None]),
        ("Ok(x) if x > 3", None),
        ("Some(MAX)", None),
        ("Point { x }", ["struct", "Point", [["x", ["any"]]], False]),
        ("own!(3)", None),
    ],
)  # fmt: skip
def test_a_pattern_is_told_to_the_host_where_no_name_can_change_it(text, pattern):
    assert pattern_of(text) == pattern


def test_a_variant_that_is_imported_from_its_type_has_it_in_front_of_it():
    head = "use shop::{E::{A, B as C}, P};\n"
    [slot] = parsed(in_test("assert!(matches!(f(1), Ok(A(C) | P { x: None, .. })));", head)).slots
    kinds = re.findall(r"'(?:name|tuple|struct)', '([^']*)'", str(slot.assertion.options["pattern"]))
    assert kinds == ["Ok", "E::A", "E::B", "P", "None"]


def test_no_word_of_a_pattern_is_in_what_enters():
    source = parsed(in_test('assert!(!matches!(f(1), Some("wanted") | None));'))
    assert dict(source.slots[0].assertion.options)["not"] is True
    assert "wanted" not in source.stripped(best(source))
    assert "Some(!goldseam_holds)" in source.stripped({0: Mode.RESULT})


def test_a_helper_of_another_file_that_only_compares_is_read_where_it_is_called():
    helpers = helpers_in(
        [
            (
                b"pub fn assert_text(value: impl Display, want: &str) { assert_eq!(value.to_string(), want); }\n"
                b"pub fn assert_twice(value: u8) { assert_eq!(value, value); }\n"
                b"pub fn assert_two(value: u8, want: u8) { prepare(); assert_eq!(value, want); }\n"
            )
        ]
    )
    text = in_test('util::assert_text(f(1), "want"); assert_twice(f(2)); assert_two(f(3), 4);')
    source = StrippedSource(text.encode(), path="tests/a.rs", first=0, helpers=helpers)
    assert [slot.assertion.is_unread for slot in source.slots] == [False, True, True]
    assert "<0: (f(1)).to_string()>" in shortened(source.stripped(best(source)))
    assert 'match (&((f(1)).to_string()), &("want"))' in source.recording(best(source))


def test_a_helper_of_another_file_is_known_to_stay():
    source = parsed(in_test("assert!(f(1)); assert_label(f(1)); assert_ok!(f(1));"))
    assert [slot.assertion.is_unread for slot in source.slots] == [False, True, True]


@pytest.mark.parametrize(
    "operand",
    [
        "Kind::FAR",
        "f(2)",
        'Vec::from_hex("6f")',
        "u8::zero()",
        "u8::ZERO",
        "<f64>::GOLDEN",
        "String::default()",
        "make!(1)",
        "Point::new(1)",
        '"a".to_snake()',
        "A | B",
        'format!("{x}")',
        "x.y",
        "Point { x: 1, ..p }",
    ],
)
def test_what_the_product_may_have_made_is_not_expected(operand):
    assert best(parsed(in_test(f"assert_eq!(f(1), {operand});"))) == {0: Mode.OPERANDS}


def test_a_name_goes_that_only_expectations_read_and_another_stays():
    text = in_test(
        'let local = "local"; let both = [1, 2];\nassert_eq!(f(IN), local);\n'
        "assert_eq!(f(&both), WANT);\nassert_eq!(g(), both);",
        'const WANT: &str = "wanted";\nconst IN: &str = "input";\n',
    )
    after = stripped(text)
    assert '"local"' not in after
    assert '"wanted"' not in after
    assert '"input"' in after
    assert "let both = [1, 2];" in after
    assert after.count("\n") == text.count("\n") + 1


def test_names_that_one_statement_sets_go_one_by_one():
    assert left('let (input, want) = ("one", "other");\nassert_eq!(f(input), want);') == (
        'let (input, want) = ("one", "");\n<0: f(input)> ;'
    )


@pytest.mark.parametrize(
    ("table", "loop"),
    [
        ('[("in", 7u8, Some("want"))]', "(input, number, want) in {}"),
        ('vec![("in", 7u8, Some("want"))]', "(input, number, want) in {}"),
        ('&[("in", 7u8, Some("want"))]', "&(input, number, want) in {}.iter()"),
    ],
)
def test_a_column_of_rows_goes_that_only_expectations_read(table, loop):
    check = "{ assert_eq!(f(input), number); assert_eq!(want, g(input)); }"
    for body in (
        f"for {loop.format(table)} {check}",
        f"let rows = {table};\nfor {loop.format('rows')} {check}",
    ):
        after = stripped(in_test(body))
        assert '("in", 0u8, Some(""))' in after


def test_a_field_of_rows_goes_that_only_expectations_read():
    after = stripped(in_test('for t in [Case { input: "in", want: "want" }] { assert_eq!(f(t.input), t.want); }'))
    assert 'Case { input: "in", want: "" }' in after


def test_rows_and_arguments_go_that_a_helper_only_expects():
    after = stripped(
        "fn check(input: &str, want: i32) { assert_eq!(f(input), want); }\n"
        "fn all(rows: &[(&str, i32)]) { for &(input, want) in rows { assert_eq!(f(input), want); } }\n"
        + in_test('check("in", -7); all(&[("in", 7)]); for (input, want) in [("a", 5)] { check(input, want); }')
    )
    assert 'check("in", -0); all(&[("in", 0)]); for (input, want) in [("a", 0)] { check(input, want); }' in after


MACRO = """\
macro_rules! check {
    ($name:ident::<$ty:ty>($arg:expr) => $want:expr) => {{
        let actual = $name::<$ty>($arg);
        assert_eq!(actual, $want, "of {}", stringify!($name));
    }};
}
"""


def test_what_a_macro_of_the_file_compares_comes_out_and_what_it_is_given_for_that_goes():
    after = stripped(
        in_test('check!(f::<u8>("in") => 7);\nfor &(s, want) in &[("a", 5)] { check!(g::<T>(s) => want); }', MACRO)
    )
    assert (
        "self::goldseam::hand(0, &[(&self::goldseam::Of(self::goldseam::same(&(actual)))).told_goldseam(), ], None);"
        in after
    )
    assert 'check!(f::<u8>("in") => 0);\nfor &(s, want) in &[("a", 0)] { check!(g::<T>(s) => want); }' in after
    assert "stringify" not in after


def test_a_macro_that_makes_tests_in_a_module_is_read_as_are_the_tests_beside_it():
    macro = "macro_rules! t { ($n:ident: $a:expr => $b:expr) => { #[test] fn $n() { assert_eq!(f($a), $b); } }; }\n"
    after = stripped(f"mod tests {{\n{macro}t!(one: 1 => 2);\n#[test]\nfn two() {{ assert_eq!(f(2), 3); }}\n}}\n")
    assert "t!(one: 1 => 0);" in after
    assert "super::goldseam::same(&(f($a)))" in after
    assert "f(2), 3" not in after


def test_what_is_asserted_in_what_a_macro_of_the_file_is_given_is_read():
    macro = "macro_rules! with { ($a:expr, |$b:ident| $test:block) => { let $b = $a; $test } }\n"
    after = stripped(in_test("with!(f(1), |x| { assert_eq!(x, 3); });", macro))
    assert "same(&(x))" in after
    assert "3" not in after.partition("#[test]")[2].partition("mod goldseam")[0].replace("hand", "")


def test_a_macro_that_is_called_as_a_variable_is_called_is_read():
    text = in_test("let check = f(1); check!(g(check), 3);", f"{CHECK_MACRO}use crate::check;\n")
    assert "check!(g(check), 0);" in stripped(text)
    assert "check!(g(check), 3);" in stripped(
        text.replace("crate::check", "crate::check as other") + "fn b() { assert!(f()) }"
    )


@pytest.mark.parametrize(
    ("macro", "calls", "left"),
    [
        pytest.param(
            "($($n:ident: $v:expr,)*) => { $( #[test] fn $n() { let (a, want) = $v; assert_eq!(f(a), want); } )* };",
            "t! { one: (1, 2), two: (3, 4), }",
            "t! { one: (1, 0), two: (3, 0), }",
            id="a row a test",
        ),
        pytest.param(
            "($n:ident, $([$a:expr, $w:expr]),+ $(,)?) => { #[test] fn $n() { $( let want: Vec<&str> = $w.to_vec();"
            ' assert_eq!(f($a), want, "of {:?}", $a); )+ } };',
            't!(one, ["a", ["b"]]); t!(two, ["c", ["d"]], ["e", []],);',
            't!(one, ["a", [""]]); t!(two, ["c", [""]], ["e", []],);',
            id="rows in brackets",
        ),
        pytest.param(
            "($n:ident, $a:expr) => { #[test] fn $n() { assert_eq!(f($a), 8); } };"
            " ($n:ident, $a:expr, $w:expr) => { #[test] fn $n() { assert_eq!(f($a), $w); } };",
            "t!(one, 1); t!(two, 2, 7);",
            "t!(one, 1); t!(two, 2, 0);",
            id="two rules",
        ),
        pytest.param(
            "($n:ident, $($m:ident = $w:expr,)*) => ( #[test] fn $n() { $( assert_eq!(f().$m(), $w); )+ } );",
            't! { one, path = "/x", query = None, }',
            't! { one, path = "", query = None, }',
            id="methods with a sign",
        ),
        pytest.param(
            "($n:ident: $k:ident($w:literal)) => { #[test] fn $n() { match f() { Err(E::$k(e)) => assert_eq!(e, $w),"
            ' _ => panic!("no") } } };',
            't!(one: Other("gone"));',
            't!(one: Other(""));',
            id="in a call",
        ),
        pytest.param(
            "($($a:expr => $w:expr),*) => { $( assert_eq!(f($a), $w); )* };",
            "#[test] fn a() { t!(1 => 2, 3 => 4); t![5 => 6]; }",
            "#[test] fn a() { t!(1 => 0, 3 => 0); t![5 => 0]; }",
            id="in one test",
        ),
        pytest.param(
            "($n:ident: $t:ty = $a:expr => $w:expr) => { #[test] fn $n() { let a: $t = $a; assert_eq!(f(a), $w); } };",
            "t!(one: Vec<(u8, u8)> = f::<u8, i8>(1) => 7);",
            "t!(one: Vec<(u8, u8)> = f::<u8, i8>(1) => 0);",
            id="with types",
        ),
    ],
)
def test_macros_of_rows_and_of_several_rules_are_read_and_what_they_are_given_to_expect_goes(macro, calls, left):
    after = stripped(f"macro_rules! t {{ {macro} }}\n{calls}\n")
    assert left in after
    assert "assert_eq!" not in after


@pytest.mark.parametrize(("words", "is_read"), [("", True), ("#![allow(dead_code)]", False), ("//! Words.", False)])
def test_a_macro_is_called_in_several_modules_unless_one_begins_with_words_of_its_own(words, is_read):
    macro = "macro_rules! t { ($a:expr) => { assert_eq!(f(), $a) } }\n"
    text = macro + "".join(
        f"mod {name} {{ {begin}\n#[test] fn t() {{ t!(7); assert!(g()) }} }}\n"
        for name, begin in (("a", ""), ("b", words))
    )
    assert ("t!(7)" not in stripped(text)) is is_read


@pytest.mark.parametrize(
    ("shown", "goes"),
    [
        ('println!("{want}");', True),
        ('eprintln!("{} of {want:?}", &a.b);', True),
        ('println!("{}", g(want));', False),
        ('g(format!("{want}"));', False),
        ('assert!(g(), "{want}");', True),
    ],
)
@pytest.mark.parametrize("is_macro", [False, True])
def test_a_name_that_something_else_shows_is_still_set_and_what_is_only_shown_goes(shown, goes, is_macro):
    body = f"let want = 7; {shown} assert_eq!(f(), want);"
    text = (
        in_test("t!(7);", f"macro_rules! t {{ ($w:expr) => {{ {body.replace('7', '$w')} }} }}\n")
        if is_macro
        else in_test(body)
    )
    after = stripped(text)
    if not is_macro:
        assert ("let want" not in after) is goes
    assert ("want" in after) is ("let want" in after)


def test_of_macros_with_one_name_each_call_is_of_the_one_in_front_of_it():
    first, second = (f"macro_rules! t {{ ($a:expr) => {{ assert_eq!({call}, $a) }} }}" for call in ("f()", "g($a)"))
    after = stripped(f"#[test] fn a() {{ {first} t!(7); }}\n#[test] fn b() {{ {second} t!(8); }}\n")
    assert "t!(0)" in after
    assert "t!(8)" in after  # given to the product


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("if let Some(x) = f($a) { assert_eq!(x, $w); }", "t!(1 => 2, 3 => 4);"),
        ("let want = $w; if let Some(x) = f($a) { assert_eq!(x, want); }", "t!(1 => 2, 3 => 4);"),
        ("let want = g($w); assert_eq!(f($a), want);", "t!(1 => 2, 3 => 4);"),
        ("let x = $w; match f($a) { Some(x) => assert_eq!(x, h()), _ => {} }", "t!(1 => 2, 3 => 4);"),
        ("let mut want = $w; g(&mut want); assert_eq!(f($a), want);", "t!(1 => 2, 3 => 4);"),
        ("assert_eq!(f($a), $w);", "t!(1 => 2, 3 => shop::w());"),
        ("assert_eq!(f($a), $w);", "t!(1 => 2); if is() { t!(3 => 4); } else { t!(3 => 5); }"),
    ],
)
def test_a_row_of_a_macro_that_the_product_chooses_or_makes_is_not_expected(body, test):
    macro = f"macro_rules! t {{ ($($a:expr => $w:expr),*) => {{ $( {body} )* }} }}\n"
    slots = parsed(in_test(test, macro)).slots
    assert [mode for slot in slots for mode in slot.assertion.modes[:1]] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    "macro",
    [
        MACRO.replace("}};\n}", "}};\n    ($a:expr) => { check!(f::<u8>($a) => 7) };\n}"),
        MACRO.replace("}};\n}", "}};\n    ($a:expr => $b:expr) => { assert!($a == $b) };\n}"),
        "macro_rules! check { ($($a:tt)*) => { assert!($($a)*) } }\n",
    ],
)
def test_a_macro_that_calls_itself_or_takes_what_it_likes_is_known_to_stay(macro):
    source = parsed(in_test("check!(f::<u8>(1) => 7); assert!(f(2));", macro))
    assert [slot.assertion.is_unread for slot in source.slots] == [True, False]


@pytest.mark.parametrize(
    ("head", "test"),
    [
        ('fn g(p: P) { let P { a, #[cfg(feature = "b")] b, .. } = p; }\n', "#[test]\nfn a() {"),
        ("", "#[rstest]\n#[case(1)]\nfn a(#[future(awt)] #[case] n: u8) {"),
        ("", "#[test]\nfn a() { let x = #[rustfmt::skip] [1, 2]; g(x);"),
        ("", "#[test]\nfn a() { g(1, (#[allow(clippy::all)] h(2)));"),
    ],
)
def test_an_attribute_that_the_grammar_has_no_place_for_keeps_no_file_from_being_read(head, test):
    after = stripped(f'{head}{test} assert_eq!(f("#[future]"), "#[notrace]"); }}\n')
    assert "notrace" not in after
    assert f"{head}{test}" in after
    assert 'f("#[future]")' in after


def test_words_for_people_go():
    after = stripped(in_test('// comment\n/* more\n lines */ assert_eq!(f(1), 3, "wanted 3"); println!("shown");'))
    for word in ("comment", "more", "wanted", "shown"):
        assert word not in after


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ('assert!(r.is_ok(), "got {:?} for {:>4}", r, 7);', 'if false { panic!("{:?}{:>4}", r, 0); }'),
        ('assert_eq!(r.x, 3, "no {want} {{ but {r:?}");', 'if false { panic!("{r:?}"); }'),
        ('assert_eq!(r.x, 3, "no {0} {1}", r.err(), want);', 'if false { panic!("{0}{1}", r.err(), 0); }'),
        ('if r.x != 3 { panic!("no {}", r); }', 'if false { panic!("{}", r); }'),
        ('assert!(r.is_ok(), "no {}", 7);', ""),
        ('assert!(r.is_ok(), "no {} {}", want, r.get("words"));', ""),
        ('assert!(r.is_ok(), "no {:1$}", r, 5);', ""),
        ('assert!(r.is_ok(), "no {x}", x = r);', ""),
    ],
)
def test_what_a_message_asks_of_types_is_asked_still_without_its_words(statement, wanted):
    after = stripped(in_test(f"let (r, want) = (f(1), 7); {statement}"))
    assert re.findall(r"if false \{.*?; \}", after) == ([wanted] if wanted else [])
    assert not re.search(r"no|got|but|words", after.partition("mod goldseam")[0].replace("None", ""))


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ('println!("got {} {:?}", r, 7);', 'println!("{}{:?}", r, 0);'),
        ('eprintln!("{r} and {want}");', 'eprintln!("{r}");'),
        ("dbg!(&r, want);", "dbg!(&r, 0);"),
        ('print!("got {}", want);', ""),
    ],
)
def test_what_the_product_makes_that_is_printed_is_printed_without_words(statement, wanted):
    after = stripped(in_test(f"let want = 7; let r = f(1);\n{statement}\nassert_eq!(g(2), want);"))
    assert after.split("\n")[3] == wanted
    assert "want" not in after


def test_of_a_file_with_code_nothing_enters_but_its_tests():
    text = (
        "pub fn price() -> u8 { assert!(cents() > 0); 3 }\n\n"
        "#[cfg(test)]\nmod tests {\n    mod deep {\n"
        "        #[test]\n        fn a() { assert_eq!(price(), 3); }\n    }\n}\n"
    )
    source = parsed(text, is_code=True)
    [slot] = source.slots
    assert (slot.function, slot.lines) == (("tests", "deep", "a"), {7})
    after = source.stripped(best(source))
    assert "cents" not in after
    assert "super::super::goldseam::hand(0, " in after
    assert after.endswith("}\n" + MODULE)
    assert after.split("\n")[6].strip().startswith("fn a()")


@pytest.mark.parametrize(
    ("test_id", "name"),
    [
        ("src/lib.rs::de::tests::a", "src/de.rs::tests::a"),
        ("src/lib.rs::de::inner::a", "src/de/inner/mod.rs::a"),
        ("src/lib.rs::tests::a", "src/lib.rs::tests::a"),
        ("tests/all/main.rs::one::a", "tests/all/one.rs::a"),
        ("tests/rows.rs::price::case_2_far", "tests/rows.rs::price"),
        ("tests/rows.rs::price", "tests/rows.rs::price"),
        ("tests/all/main.rs::price::case_1", "tests/all/main.rs::price::case_1"),
    ],
)
def test_a_test_is_of_the_function_in_the_file_of_its_module(test_id, name):
    paths = ("src/lib.rs", "src/de.rs", "src/de/inner/mod.rs", "tests/all/main.rs", "tests/all/one.rs")
    sources = dict.fromkeys(paths, b"fn price() {}\n") | {
        "tests/rows.rs": b"use rstest::*;\n#[rstest]\nfn price() {}\n"
    }
    assert function_of_test(sources, test_id) == name


def test_a_column_of_cases_goes_that_only_expectations_read():
    text = (
        'use rstest::rstest;\n#[rstest]\n#[case(1, Some("a"), "x")]\n#[case::far(2, None, "y")]\n'
        "fn f(#[case] a: u32, #[case] b: Option<&str>, shop: Shop, #[case] want: &str) {\n"
        "assert_eq!(g(a, shop), want); assert_eq!(h(a), b); }\n"
        '#[test_case(1, 2 ; "one")]\nfn named(a: u8, want: u8) { assert_eq!(k(a), want); }\n'
        "#[test_case(3, 4)]\nfn shown(a: u8, want: u8) { assert_eq!(k(a), want); }\n"
        "#[test_case(5 => 6)]\nfn given(a: u8) -> u8 { k(a) }\n"
    )
    after = shortened(stripped(text))
    for row in ('#[case(1, Some(""), "")]', '#[case::far(2, None, "")]', '#[test_case(1, 0 ; "one")]'):
        assert row in after
    for row in ("#[test_case(3, 4)]", "#[test_case(5 => 6)]"):
        assert row in after
    assert "<0: g(a, shop)> ; <1: h(a)>" in after
    assert "&(want)" in after


def test_tests_go_on_without_what_the_compiler_complains_of():
    source = parsed(in_test("let x = missing(1);\nlet y = x + 1;\nassert_eq!(f(y), 3);\nassert_eq!(f(2), 4);"))
    text = source.stripped(best(source))
    output = " --> tests/a.rs:13:9\n  |\n13 | let x = missing(1);\n  |         ^^^^^^^ not found\n"
    going = source.unstopped(text, output, 0)
    assert "missing" not in going
    assert "f(y)" not in going
    assert "f(2)" in going
    assert going.count("\n") == text.count("\n")
    assert source.unstopped(going, "", 1) == going
    assert source.unstopped(going, output.replace("a.rs", "b.rs"), 1) == going


def test_an_assertion_is_complained_of_where_a_name_is_declared_that_has_its_type_of_it():
    source = parsed(
        "#[test]\nfn f() {\n    let mut sum = Vec::new();\n    let n: u8 = 1;\n\n    assert_eq!(sum, g(n));\n}\n"
    )
    assert [sorted(slot.lines) for slot in source.slots] == [[3, 6]]


@pytest.mark.parametrize("rest", ['check(g(), str![["a"]]);', "try!(g());", "grammar! { a = { b ~ c } }"])
def test_a_macro_that_is_called_like_a_type_or_a_keyword_or_is_given_a_tilde_keeps_no_file_from_being_read(rest):
    after = stripped(in_test(f"assert_eq!(f(1), 2);\n{rest}"))
    assert rest in after
    assert "f(1), 2" not in after


def test_what_a_text_says_of_such_a_macro_stays():
    root = scopes.parse(b'fn a() { f("try!(1)"); try!(g()); } // str![2]\n')
    assert (root.text.decode().count("try!("), root.text.decode().count("str![")) == (1, 1)


def test_what_the_macro_for_errors_is_given_is_read_as_an_expression():
    after = stripped(in_test("try!(ok(check(f(1), 2))); assert_eq!(try!(f(3)), 4);", head=CHECK))
    assert ("f(1)" in after, "try!(f(3))" in after, re.findall(r"\b[24]\b", after)) == (True, True, [])


@pytest.mark.parametrize("shown", ['format!("{}", Color::Red)', "Color::Red.to_string()", "Color::Red.as_ref()"])
def test_what_a_type_of_the_tests_says_of_itself_may_be_the_products(shown):
    assert left(f'assert_eq!({shown}, "red");').count("red") == 0


@pytest.mark.parametrize(
    ("statement", "at", "words", "wanted"),
    [
        (
            "assert_eq!(f(1, true, 2), 3);",
            "f(1",
            "this function takes 1 argument but 3 arguments were supplied",
            "f(1)",
        ),
        ("assert_eq!(p.f(true), 3);", "f(true", "this method takes 0 arguments but 1 argument was supplied", "p.f()"),
        ("assert_eq!(p.new().g(true).f(1), 3);", "g(true", "no method named `g` found for struct `P`", "p.new().f(1)"),
        ("assert_eq!(f(1, MODE), 3);", "MODE", "cannot find value `MODE` in this scope", "f(1)"),
        ("assert_eq!(f(Mode::Far, 1), 3);", "Mode", "failed to resolve: use of undeclared type `Mode`", "f( 1)"),
        ("assert_eq!(f(P { a: 1, b: 2 }), 3);", "b: 2", "struct `P` has no field named `b`", "f(P { a: 1,  })"),
    ],
)
def test_calls_go_on_without_what_a_tree_does_not_take_yet(statement, at, words, wanted):
    source = parsed(in_test(statement))
    text = source.stripped(best(source))
    row, line = next((row, line) for row, line in enumerate(text.split("\n"), 1) if at in line)
    output = f"error[E0061]: {words}\n --> tests/a.rs:{row}:{line.index(at) + 1}\n  |\n{row} | {line}\n"
    assert f"same(&({wanted})))" in source.unstopped(text, output, 0)


def test_a_line_is_found_behind_those_that_the_compiler_shows_in_front_of_it():
    source = parsed(in_test("assert_eq!(p.new().g(true).f(1), 3);"))
    text = source.stripped(best(source))
    row, line = next((row, line) for row, line in enumerate(text.split("\n"), 1) if "g(true" in line)
    shown = f"  |\n1 | pub struct P {{\n  | ------------ method `g` not found for this\n...\n{row} | {line}\n"
    place = f"   --> tests/a.rs:{row}:{line.index('g(true') + 1}\n"
    output = f"error[E0599]: no method named `g` found for struct `P` in the current scope\n{place}{shown}"
    assert "p.new().f(1)" in source.unstopped(text, output, 0)


def test_of_names_that_are_imported_together_the_missing_one_goes():
    source = parsed(in_test("assert_eq!(f(2), 4);", "use money::{f, Missing, g};\n"))
    text = source.stripped(best(source))
    row = text.split("\n").index("use money::{f, Missing, g};") + 1
    words, line = "unresolved import `money::Missing`", "use money::{f, Missing, g};"
    output = f"error[E0432]: {words}\n --> tests/a.rs:{row}:16\n  |\n{row} | {line}\n"
    assert "use money::{f,  g};" in source.unstopped(text, output, 0)


def test_literals_are_read_as_values():
    text = in_test('f("a\\n", -3, 0x10u8, 1.5f32, [1, 2], true, None, \'c\', r#"raw"#, Kind::Far, b"ab", 1_000);')
    found = list(literals.READING.written(text))
    for value in ("a\n", -3, 16, 1.5, [1, 2], True, None, "c", "raw", "Far", [97, 98], 1000):
        assert value in found


def test_what_is_written_out_is_read_in_tests_whose_macro_stayed_with_the_code():
    around = "macro_rules! kinds { ($($n:ident)*) => {\n$(pub fn $n() {})*\n#[test]\nfn all() {\n$( $n(); )*\n}\n} }\n"
    text = around + "#[cfg(test)]\nmod tests {\n#[test]\nfn a() { assert_eq!(super::f(7), 3); }\n}\n"
    source = parsed(text, is_code=True)
    assert literals.READING.handed("src/a.rs", source.stripped(best(source)))[0] == {0: (7,)}


CHECK = "fn check(value: u8, want: u8) { assert_eq!(value, want); }\n"
ROWS = "for (a, want) in [(1, 2), (3, 4)]"
TWICE, MAYBE = "maybe(f(1), 1); maybe(f(2), 2);", "fn maybe(x: Option<u8>, w: u8)"
MAYBE_MACRO = "macro_rules! maybe { ($x:expr, $w:expr) =>"
CHECK_MACRO = "macro_rules! check { ($a:expr, $b:expr) => { assert_eq!($a, $b) } }\n"


SOME = "macro_rules! some {{ ($e:expr) => {{ match $e {{ Some(x) => x, None => {} }} }} }}\n"
ERRING = "fn maybe(x: Option<u8>, w: u8) -> Option<()> { let x = x?; assert_eq!(x, w); Some(()) }\n"
ERRING_BY_MACRO = ERRING.replace("x?", "try!(x)")


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("let want = &mut vec![1]; f(want); assert_eq!(g(), *want);", ""),
        ("for (a, want) in &mut [(1, 2)] { f(want); assert_eq!(g(a), *want); }", ""),
        ("let want = Cell::new(3); assert_eq!(f(&want), want);", "use std::cell::Cell;\n"),
        ('let p = P(1); let want = format!("{}", p); assert_eq!(f(&p), want);', ""),
        ("let p = P(1); assert_eq!(f(), p.to_string());", ""),
        ("let p = P(vec![1]); assert_eq!(f(), p.len());", ""),
        ("let (a, b) = (P(1), P(2)); assert_eq!(f(), a + b);", ""),
        ("assert_eq!(f(), Kind::Far as u8);", ""),
        ("assert_eq!(f(), N);", ""),
        ("assert_eq!(f(), [shop::N, 1][0]);", ""),
        ("let kind = Kind::Far; assert_eq!(f(), String::from(kind));", ""),
        ("let want: Bag = vec![1].into_iter().collect(); assert_eq!(f(), want);", ""),
        ("assert_eq!(f(), [1].iter().collect());", ""),
        ("assert_eq!(f(), std::mem::size_of::<P>());", ""),
        ('assert_eq!(f(), std::fs::read_to_string("a.txt").unwrap());', ""),
        ("assert_eq!(f(), Duration::from_secs(1));", "use shop::Duration;\nmod other { use std::time::Duration; }\n"),
        ("check(f(), 3); self::check(f(), shop::w());", CHECK),
        ("check(f(), 3); shop::each(check);", CHECK),
        ("if is() { check(f(), 1) } else { check(f(), 2) }", CHECK),
        ("match is() { true => check(f(), 1), _ => check(f(), 2) }", CHECK),
        ("if is() { check!(f(), 1) } else { check!(f(), 2) }", CHECK_MACRO),
        ("for (a, want) in [(1, 2), (3, 4)] { if is(a) { assert_eq!(f(a), want); } }", ""),
        ("for (a, want) in [(1, 2), (3, 4)] { if is(a) { continue; } assert_eq!(f(a), want); }", ""),
        ("for i in 0..9 { if is(i) { assert_eq!(f(i), i); } }", ""),
        ("for i in 0..shop::N { assert_eq!(f(i), i); }", ""),
        ("for mut i in 0..9 { f(&mut i); assert_eq!(g(), i); }", ""),
        ("for (i, _) in 0..9 { assert_eq!(f(), i); }", ""),
        ("let p = P(1); assert_eq!(f(), p[0]);", ""),
        ("assert_eq!(f(), PI);", "use std::f64::consts::PI;\nmod other { use shop::PI; }\n"),
        ('let p: P = "a".into(); assert_eq!(f(), p[0]);', ""),
        ('let p: P = "a".into(); assert_eq!(f(), p.len());', ""),
        ("assert_eq!(f(), Kind::Far.into());", ""),
        ('assert_eq!(f(), String::from(Text::from("a".into())));', ""),
        (f"{ROWS} {{ let Some(x) = f(a) else {{ continue }}; assert_eq!(x, want); }}", ""),
        (f"{ROWS} {{ for x in f(a) {{ assert_eq!(x, want); }} }}", ""),
        (f"{ROWS} {{ for x in f(a).iter().take(2) {{ assert_eq!(*x, want); }} }}", ""),
        (f"{ROWS} {{ loop {{ if is() {{ break; }} assert_eq!(f(a), want); }} }}", ""),
        (f"{ROWS} {{ let want = want + 1; if let Some(x) = f(a) {{ assert_eq!(x, want); }} }}", ""),
        (f"{ROWS} {{ is(a) || continue; assert_eq!(f(a), want); }}", ""),
        (f"{ROWS} {{ let _ = is(a) && {{ assert_eq!(f(a), want); true }}; }}", ""),
        (f"{ROWS} {{ 'b: {{ if is(a) {{ break 'b; }} assert_eq!(f(a), want); }} }}", ""),
        (f"'o: {ROWS} {{ for _ in 0..2 {{ if is(a) {{ continue 'o; }} }} assert_eq!(f(a), want); }}", ""),
        ("for a in [1, 2] { for want in [3, 4] { if is(a) { break; } assert_eq!(f(a), want); } }", ""),
        ("for x in f() { check(x, 0) } for x in g() { check(x, 1) }", CHECK),
        ("if is() { let want = 1; check(f(), want) } else { let want = 2; check(f(), want) }", CHECK),
        ("if is() { one() } else { two() }", f"{CHECK}fn one() {{ check(f(), 1) }}\nfn two() {{ check(f(), 2) }}\n"),
        (TWICE, f"{CHECK}{MAYBE} {{ if let Some(x) = x {{ check(x, w) }} }}\n"),
        (TWICE, f"{MAYBE} {{ let Some(x) = x else {{ return }}; assert_eq!(x, w); }}\n"),
        (TWICE, f"{MAYBE} {{ match x {{ Some(x) => assert_eq!(x, w), None => {{}} }} }}\n"),
        (TWICE, f"{MAYBE} {{ for x in x {{ assert_eq!(x, w); }} }}\n"),
        (TWICE.replace("(f", "!(f"), f"{MAYBE_MACRO} {{ if let Some(x) = $x {{ assert_eq!(x, $w) }} }} }}\n"),
        ("all(f(1)); all(f(2));", "fn all(x: u8) { for w in [1, 2] { if is(x) { return; } assert_eq!(g(), w); } }\n"),
        ("if is() { check![f(), 1] } else { check![f(), 2] }", CHECK_MACRO),
        ("for x in f() { check! { x, 0 } } for x in g() { check! { x, 1 } }", CHECK_MACRO),
        (
            "if is() { check!(Vec<u8>, f(), 1) } else { check!(Vec<u8>, f(), 2) }",
            "macro_rules! check { ($t:ty, $a:expr, $w:expr) => { let a: $t = $a; assert_eq!(a, $w) } }\n",
        ),
        (
            "check!(1 + 2, 3); check!(2 - 1, 4);",
            "macro_rules! check { ($a:tt $o:tt $b:tt, $w:expr) => { for x in f($a $o $b) { assert_eq!(x, $w) } } }\n",
        ),
        (f"{ROWS} {{ let x = some!(f(a)); assert_eq!(x, want); }}", SOME.format("continue")),
        (f"{ROWS} {{ if a > 1 {{ some!(f(a)); }} assert_eq!(g(a), want); }}", SOME.format("continue")),
        (TWICE, f"{SOME.format('return')}{MAYBE} {{ let x = some!(x); assert_eq!(x, w); }}\n"),
        *(("let _ = maybe(f(1), 1); maybe(f(2), 2).is_some();", head) for head in (ERRING, ERRING_BY_MACRO)),
        ("maybe(f(1), 1).unwrap(); if let Err(_) = maybe(f(2), 2) {}", ERRING),
    ],
)
def test_what_the_product_may_change_choose_or_show_is_not_expected(body, head):
    slots = parsed(in_test(body, head)).slots
    assert [mode for slot in slots for mode in slot.assertion.modes[:1]] == [Mode.OPERANDS]


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("assert_eq!(f(), Some(&mut 3));", ""),
        ("assert_eq!(f(), std::u32::MAX);", ""),
        ("assert_eq!(f(), std::f64::consts::PI);", ""),
        ("assert_eq!(f(), std::time::Duration::ZERO);", ""),
        ('assert_eq!(f(), std::str::from_utf8(b"a"));', ""),
        ('assert_eq!(f(), i64::from_str_radix("7", 8));', ""),
        ("let want: Vec<_> = [1].iter().collect(); assert_eq!(f(), want);", ""),
        ("assert_eq!(f(), vec![Kind::Far].into_iter().collect::<Vec<_>>());", ""),
        ("assert_eq!(f(), 3 as u8);", ""),
        ("assert_eq!(f(), E::A);", ""),
        ("use shop::E::{A, B}; assert_eq!(f(), A);", ""),
        ("check(f(), 1); check(g(), 2);", CHECK),
        ("match f() { Ok(v) => check(v, 1), Err(e) => panic!() } if cfg!(windows) { check(g(), 2) }", CHECK),
        ("for (a, want) in [(1, 2), (3, 4)] { match f(a) { Ok(v) => assert_eq!(v, want), Err(_) => panic!() } }", ""),
        ("for (a, want) in [(1, 2), (3, 4)] { if a == 1 { assert_eq!(f(a), want); } }", ""),
        ("use super::check; check(f(), 1);", CHECK),
        ("for i in 0..9 { assert_eq!(f(i), [i, i * 2]); }", ""),
        ("for i in (0..=9u8).rev().step_by(3) { if i == 3 { continue; } assert_eq!(f(i), i); }", ""),
        ("let rows = [1, 2]; assert_eq!(f(), rows[1]);", ""),
        ("assert_eq!(f(), UNIX_EPOCH + Duration::from_secs(1));", "use std::time::{Duration, UNIX_EPOCH};\n"),
        (
            "for t in [T { a: 1, w: 2 }, T { a: 2, w: 3 }] { if t.a == 1 { continue; } assert_eq!(f(t.a), t.w); }",
            "",
        ),
        ("for (a, want) in [(1, 2), (3, 4)] { if want == 2 { continue; } assert_eq!(f(a), want); }", ""),
        (f"{ROWS} {{ if let Ok(x) = f(a) {{ assert_eq!(x, want); }} else {{ panic!() }} }}", ""),
        (f"{ROWS} {{ let Ok(x) = f(a) else {{ panic!() }}; assert_eq!(x, want); }}", ""),
        (f"{ROWS} {{ let Ok(x) = f(a) else {{ return Err(a) }}; assert_eq!(x, want); }}", ""),
        (f"{ROWS} {{ for by in [f, g] {{ assert_eq!(by(a), want); }} }}", ""),
        (f"{ROWS} {{ for (i, b) in [5, 6].iter().enumerate() {{ assert_eq!(f(a, b, i), want); }} }}", ""),
        (f"{ROWS} {{ for x in f(a) {{ if x > 1 {{ break; }} }} assert_eq!(g(a), want); }}", ""),
        ("if is() { return; } check(f(), 1); check(g(), 2);", CHECK),
        ("check(f(), 1); if is() { check(g(), 2) }", CHECK),
        ("for x in f() { check(x, 1) } check(g(), 2);", CHECK),
        (TWICE, f"{MAYBE} {{ match x {{ Some(x) => assert_eq!(x, w), None => panic!() }} }}\n"),
        (
            TWICE.replace("(f", "!(f"),
            f"{MAYBE_MACRO} {{ match $x {{ Ok(x) => assert_eq!(x, $w), Err(e) => panic!() }} }} }}\n",
        ),
        ("if f() > 1 { check![f(), 1] } check![g(), 2];", CHECK_MACRO),
        (f"{ROWS} {{ let x = some!(f(a)); assert_eq!(x, want); }}", SOME.format("panic!()")),
        ("maybe(f(1), 1)?; maybe(f(2), 2).await.unwrap();", ERRING),
        ("try!(maybe(f(1), 1)); maybe(f(2), 2).unwrap();", ERRING_BY_MACRO),
        (
            "both().unwrap();",
            f"{ERRING}fn both() -> Option<()> {{ maybe(f(1), 1)?; maybe(f(2), 2) }}\n",
        ),
        ("all(1, 3); all(2, 3);", "fn all(n: u8, want: u8) { if n > 1 { all(n, 3) } assert_eq!(f(n), want); }\n"),
    ],
)
def test_what_only_looks_as_if_the_product_chose_it_is_expected(body, head):
    [slot] = parsed(in_test(body, head)).slots
    assert slot.assertion.modes[0] is Mode.EXPECTED


OWN = """\
fn s(text: &str) -> String { text.to_string() }
fn list(rows: &[(u8, &str)]) -> Vec<(u8, String)> { let rows = rows.to_vec(); rows }
fn shop(n: u8) -> Price { price(n) }
fn kept(n: u8) -> u8 { open(); n }
fn shown(kind: Kind) -> String { kind.to_string() }
fn changed(n: &mut u8) -> &mut u8 { n }
"""


@pytest.mark.parametrize(
    "operand", ['"want".into()', '["want".into()]', '(s("want"), 1)', '[s("want")]', 'list(&[(1, "want")])']
)
def test_what_a_function_of_the_tests_makes_of_what_is_written_is_expected_of_a_standard_type(operand):
    [slot] = parsed(in_test(f"assert_eq!(f(1), {operand});", OWN)).slots
    assert slot.assertion.modes[0] is Mode.EXPECTED
    for kind, tells in (("alloc::vec::Vec<alloc::string::String>", True), ("shop::Bag", False)):
        assert slot.assertion.tells([["rust", kind, '["want"]']] * 2) is tells


@pytest.mark.parametrize("operand", ["shop(1)", "kept(1)", "shown(Kind::Far)", "changed(&mut 1)", "s(g())"])
def test_what_a_function_of_the_tests_has_of_the_product_is_not_expected(operand):
    assert best(parsed(in_test(f"assert_eq!(f(1), {operand});", OWN))) == {0: Mode.OPERANDS}


def test_a_function_of_the_code_beside_tests_is_the_products():
    code = "pub fn s(n: u8) -> u8 { n }\n#[cfg(test)]\nmod tests {\n    use super::*;\n"
    test = "    fn own(n: u8) -> u8 { n }\n    #[test]\n    fn a() { assert_eq!(f(), %s(1)); }\n}\n"
    modes = {name: best(parsed(code + test % name, is_code=True)) for name in ("s", "own")}
    assert modes == {"s": {0: Mode.OPERANDS}, "own": {0: Mode.EXPECTED}}


@pytest.mark.parametrize("path", ["shop::own", "super::own", "util::own"])
@pytest.mark.parametrize(
    ("own", "asserts"),
    [
        ("const own: u8 = 3;", "assert_eq!(f(), own);"),
        ("fn own(n: u8) -> u8 { n }", "assert_eq!(f(), own(3));"),
        ("fn own(n: u8, w: u8) { assert_eq!(n, w); }", "own(f(), 3);"),
    ],
)
def test_a_name_of_the_file_that_a_module_in_it_has_from_another_crate_is_not_known(path, own, asserts):
    slots = parsed(f"{own}\nmod util {{}}\nmod inner {{ use {path};\n{in_test(asserts)} }}\n").slots
    assert [slot.assertion.modes[0] is Mode.EXPECTED for slot in slots] == [not path.startswith("shop")]


def shared(text: str) -> list[Mode]:
    source = StrippedSource(text.encode(), path="tests/a.rs", first=0, shared={"check"})
    return list(best(source).values())


def test_a_private_helper_is_not_the_one_that_another_file_calls_by_the_same_name():
    text = CHECK + in_test("check(f(), 3);")
    assert shared(text) == [Mode.EXPECTED]
    assert shared(f"pub {text}") == [Mode.OPERANDS]
    assert shared(f"mod deep;\n{text}") == [Mode.OPERANDS]


def test_helpers_of_one_name_in_several_functions_have_calls_of_their_own():
    first, second = (f"#[test]\nfn {name}() {{ {CHECK} check(f(), {want}); }}\n" for name, want in ("a3", "b4"))
    after = stripped(first + second)
    assert "check(f(), 0); }\n#[test]" in after
    assert after.count("check(f(), 0)") == len(best(parsed(first + second)))
    assert best(parsed(first + second.replace("4", "shop::w()"))) == {0: Mode.EXPECTED, 1: Mode.OPERANDS}


def test_a_helper_that_the_file_has_twice_where_it_is_called_is_not_told_apart():
    head = f"#[cfg(unix)]\n{CHECK}#[cfg(windows)]\n{CHECK}"
    assert set(best(parsed(in_test("check(f(), 3);", head))).values()) == {Mode.OPERANDS}


def test_a_constant_of_the_code_beside_tests_is_the_products():
    code = "pub const LIMIT: u8 = 3;\npub fn f() -> u8 { LIMIT }\n#[cfg(test)]\nmod tests {\n    use super::*;\n"
    test = "    const OWN: u8 = 1;\n    #[test]\n    fn a() { assert_eq!(f(), %s); }\n}\n"
    modes = {name: best(parsed(code + test % name, is_code=True)) for name in ("LIMIT", "OWN")}
    assert modes == {"LIMIT": {0: Mode.OPERANDS}, "OWN": {0: Mode.EXPECTED}}


def test_a_macro_that_another_one_calls_is_known_to_stay():
    text = in_test(
        "check!(f(), 3); outer!();", CHECK_MACRO + "macro_rules! outer { () => { check!(f(), shop::w()) } }\n"
    )
    assert all(slot.assertion.is_unread for slot in parsed(text).slots)


@pytest.mark.parametrize(
    ("body", "kind", "text", "tells"),
    [
        ("assert_eq!(f(), P { x: 1, y: 2 });", "shop::P", "P { x: 1, y: 2 }", True),
        ("assert_eq!(f(), P { x: 1, y: 1 });", "shop::P", "P { x: 1 }", False),
        ('assert_eq!(f(), vec![E::A("a".to_string())]);', "alloc::vec::Vec<shop::E>", '[A("a")]', True),
        ("struct W(u8); assert_eq!(W(f()), W(3));", "t::W", "W", False),
        ("struct W(u8); assert_eq!(W(f()), W(3));", "t::W", "W(3)", True),
        ("assert_eq!(f(), E::A(1));", "shop::E", "E(1)", False),
        ("assert_eq!(f(), Color::Main);", "shop::Color", "Red", False),
        ("assert_eq!(f(), P::N);", "u8", "3", False),
        ("assert_eq!(f(), 0x10);", "u8", "16", True),
        ("for want in [E::A(1), E::B(-2)] { assert_eq!(f(), want); }", "shop::E", "B(-2)", True),
        ("let want = P { x: 7 }; assert_eq!(f(), want);", "shop::P", "P { x: 8 }", False),
        ("for want in [1, P::N] { assert_eq!(f(), want); }", "u8", "3", False),
        ("for want in [1, P::N] { assert_eq!(f(), want); }", "u8", "1", True),
        ("assert_eq!(f(), 0.123456789);", "f32", "0.12345679", True),
        ("assert!(f() != P(2));", "shop::P", "P(2)", False),
        ("assert_ne!(f(), Some(2));", "core::option::Option<i32>", "Some(2)", True),
    ],
)
def test_what_debug_leaves_out_or_calls_otherwise_is_not_expected(body, kind, text, tells):
    [slot] = parsed(in_test(body)).slots
    assert slot.assertion.tells([["rust", kind, "0"], ["rust", kind, text]]) is tells


@pytest.mark.parametrize(
    ("kind", "tells"),
    [("shop::Bag", False), ("&shop::Bag", False), ("alloc::vec::Vec<shop::P>", True), ("&[shop::P]", True)],
)
def test_a_method_that_the_product_may_have_is_not_decided_outside(kind, tells):
    [slot] = parsed(in_test("assert!(f().contains(&1));")).slots
    assert slot.assertion.tells([["rust", kind, "{1}"], ["rust", "&i32", "1"]]) is tells


@pytest.mark.parametrize(
    ("operand", "kind"),
    [
        ("3", "{int}"),
        ('"a"', "&str"),
        ("3u8", "u8"),
        ("3 as i64", "i64"),
        ("0x1f32", "{int}"),
        ("u32::MAX", "u32"),
        ('Some("a")', "Option<&str>"),
        ('Err::<u8, _>("a".to_string())', None),
        ('Err("a".to_string())', "Result<_,String>"),
        ("vec![(1, 'a')]", "[({int},char)]"),
        ("[Some(1), None]", "[_]"),
        ("WANT", "u16"),
        ("BTreeSet::from([1])", "BTreeSet"),
        ('HashMap::from([("a", Some(1))])', "HashMap<&str,Option<{int}>>"),
        ("HashMap::from(rows())", None),
        ("()", "()"),
        ("vec![Box::new(1), Box::new(2)]", "[Box<{int}>]"),
        ("Some(std::sync::Arc::new('a'))", "Option<Arc<char>>"),
        ("Rc::new(1)", None),
        ("[shop::Color::Red, Color::Mixed(1), Color::Named { name: 1 }]", "[{Color}]"),
        ("Hue::Red", "{Color}"),
        ("color::Red", None),
        ("Point { x: 1 }", None),
    ],
)
def test_the_host_is_told_the_type_that_is_written(operand, kind):
    head = "use std::collections::{BTreeSet, HashMap};\nuse shop::{Color as Hue, Rc};\nconst WANT: u16 = 3;\n"
    slots = parsed(in_test(f"assert_eq!(f(), {operand});", head)).slots
    assert [slot.assertion.options.get("type") for slot in slots] == [kind]


def test_what_is_compared_has_to_have_an_equality():
    assert "same(&(f(1)))" in stripped(in_test("assert_eq!(f(1), P { x: 1 });"))
    assert "same(" not in stripped(in_test("assert!(f(1).is_some()); assert!(f(2) < 3);"))


@pytest.mark.parametrize(("side", "kind"), [("0.3", "{float}"), ("f64::EPSILON", "f64"), ("3 as u8", "u8")])
def test_the_host_is_told_the_type_of_what_is_ordered(side, kind):
    slots = parsed(in_test(f"assert!(f() < {side});")).slots
    assert [slot.assertion.options.get("type") for slot in slots] == [kind]


ADDED = '#[path = "/tmp/goldseam_handout.rs"] mod goldseam;'
INNER = "fn goldseam_inner() -> Result<(), impl core::fmt::Debug> {"


def of_examples(*examples: str) -> StrippedExamples:
    """Each with its fences, and all of one item."""
    lines = [line for example in examples for line in example.split("\n")]
    text = "\n".join(f"/// {line}".rstrip() for line in lines)
    return StrippedExamples(f"{text}\npub mod lib_off {{}}\n".encode(), path="tests/goldseam_examples.rs", first=0)


@pytest.mark.parametrize(
    ("example", "wanted"),
    [
        ("assert_eq!(f(1), 3);", f"{ADDED} fn main() {{ <0: f(1)> ;\n# }}"),
        ("assert_eq!(f(1), 3); // three", f"{ADDED} fn main() {{ <0: f(1)> ;\n# }}"),
        ("#![allow(x)]\n\nassert_eq!(f(1), 3);", f"#![allow(x)]\n\n{ADDED} fn main() {{ <0: f(1)> ;\n# }}"),
        ("# use a::f;\n#\nassert_eq!(f(1), 3);", f"# {ADDED} fn main() {{ use a::f;\n#\n<0: f(1)> ;\n# }}"),
        (
            "# fn main() {\nassert_eq!(\n    f(1),\n    3\n);\n# }",
            f"# {ADDED}  fn main() {{\n<0: f(1)>\n\n\n;\n# }}\n#",
        ),
        (
            "assert_eq!(f(1)?, 3);\n# Ok::<(), E>(())",
            f"{ADDED} fn main() {{ {INNER} <0: f(1)?> ;\n# Ok::<(), E>(())\n# }} goldseam_inner().unwrap() }}",
        ),
        ("#![allow(x)] assert_eq!(f(1), 3);", f"{ADDED} fn main() {{ #![allow(x)] <0: f(1)> ;\n# }}"),
        ("f(1);", "f(1);"),
        ("## a\nassert_eq!(f(1), 3);", "## a\nassert_eq!(f(1), 3);"),
        ("assert_eq!(f(1), 3;", "assert_eq!(f(1), 3;"),
    ],
)
def test_an_example_of_documentation_enters_as_a_program_without_its_expectations(example, wanted):
    source = of_examples(f"```\n{example}\n```")
    text = source.stripped(best(source))
    lines = [line.removeprefix("///").removeprefix(" ") for line in text.split("\n")]
    assert shortened("\n".join(lines[1:-3])) == wanted
    assert [lines[0], *lines[-3:]] == ["```", "```", "pub mod lib_off {}", ""]


def test_of_examples_only_those_are_read_that_are_to_end_well_each_by_its_name():
    plain = "```edition2021\nassert_eq!(f(1), 3);\n```"
    kinds = ("should_panic", "no_run", "compile_fail", "ignore", "ignore-a")
    source = of_examples(plain, *(plain.replace("edition2021", kind) for kind in kinds), plain)
    assert [slot.function for slot in source.slots] == [("lib_off", "main"), ("lib_off__7", "main")]
    ids = ("tests/goldseam_examples.rs::lib_off", "tests/goldseam_examples.rs::lib_off#7")
    functions = [f"tests/goldseam_examples.rs::{name}::main" for name in ("lib_off", "lib_off__7")]
    assert [function_of_test({}, test_id) for test_id in ids] == functions


def test_an_example_goes_on_without_what_the_compiler_complained_of():
    source = of_examples("```\nuse a::gone;\nassert_eq!(f(1), 3);\n```")
    text = source.stripped(best(source))
    first = f"{ADDED} fn main() {{ use a::gone;"
    place = f"tests/goldseam_examples.rs:2:{first.index('a::gone') + 1}"
    less = source.unstopped(text, f"error[E0432]: unresolved import `a::gone`\n --> {place}\n  |\n2 | {first}\n", 0)
    assert less == text.replace(" use a::gone;", "")

"""How the host reads values of Rust and decides its assertions."""

from __future__ import annotations

import time
from typing import Any

import pytest

from harness.core.expectations import OPERATORS, Expected, Site
from harness.judging import judge, operators, values
from harness.judging.rust import types
from harness.judging.rust.operators import OPERATORS as OF_RUST
from harness.judging.values import Event, MalformedError
from miner.languages.rust.stripping import literals


def value(text: str | None, kind: str = "money::Price") -> list[Any]:
    return ["rust", kind, text]


def holds(op: str, *operands: Any, **options: Any) -> bool:
    decoded = [values.decode(operand) for operand in operands]
    return operators.holds(Site(op=op, sides=("out",) * len(operands), options=options), decoded, [])


def test_each_operator_has_a_name_that_a_file_of_expectations_may_hold():
    assert {name for name in OPERATORS if name.startswith("rust.")} == set(OF_RUST)


@pytest.mark.parametrize(
    ("left", "other", "is_equal"),
    [
        ("3", "3", True),
        ("3", "4", False),
        ("3", "3.0", False),
        ("0.0", "-0.0", True),
        ("NaN", "NaN", False),
        ("Some(NaN)", "Some(NaN)", False),
        ("1e-7", "0.0000001", True),
        ("0.1", "0.10000000000000002", False),
        ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455", True),
        ('"a\\n\\u{301}"', '"a\\n\u0301"', True),
        ('"a"', "'a'", False),
        ("Point { x: 1, y: Some(2) }", "Point { x: 1, y: Some(2) }", True),
        ("Point { x: 1 }", "Other { x: 1 }", False),
        ("Far(1, 2)", "Far(1)", False),
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "(1, 2)", False),
        ('b"a\\x00"', "[97, 0]", True),
        ("{1: 2, 3: 4}", "{3: 4, 1: 2}", True),
        ("{1, 2}", "{2, 1}", True),
        ("{1, 2}", "{2}", False),
        ('Object {"a": Number(1)}', 'Object {"a": Number(1)}', True),
        ("()", "()", True),
        ("true", "true", True),
        ("[\n    1,\n    2,\n]", "[1, 2]", True),
    ],
)
def test_equality_is_by_what_debug_says(left, other, is_equal):
    assert holds("rust.==", value(left), value(other)) is is_equal
    assert holds("rust.==", value(left), value(other), **{"not": True}) is not is_equal


SOME = ["tuple", "Some", [["any"]], None]
FAR = ["tuple", "Err", [["struct", "Far", [["code", ["i", 3]]], True]], None]


@pytest.mark.parametrize(
    ("text", "pattern", "is_of_it"),
    [
        ("Err(Far { code: 3, more: 1 })", FAR, True),
        ("Err(Far { code: 4, more: 1 })", FAR, False),
        ("Err(Near { code: 3, more: 1 })", FAR, False),
        ("Err(Far)", FAR, False),
        ("Ok(Far { code: 3 })", FAR, False),
        ("Far { code: 3, more: 1 }", FAR[2][0], True),
        ("Far { code: 3, more: 1 }", ["struct", "Far", [["code", ["any"]]], False], False),
        ("Far", ["struct", "Far", [], True], True),
        ("Some(1)", SOME, True),
        ("Some(1, 2)", SOME, False),
        ("Some", SOME, False),
        ("None", ["or", [SOME, ["name", "None"]]], True),
        ("Kind::Near", ["name", "Near"], True),
        ('"None"', ["name", "None"], False),
        ("[1, 2, 3]", ["slice", "", [["i", 1], ["i", 3]], 1], True),
        ("[1]", ["slice", "", [["i", 1], ["i", 3]], 1], False),
        ("(1, 2)", ["slice", "", [["any"], ["any"]], None], False),
        ("5", ["range", ["i", 1], ["i", 5], True], True),
        ("5", ["range", ["i", 1], ["i", 5], False], False),
        ("5.0", ["range", ["i", 1], ["i", 9], False], False),
        ("-7", ["range", None, ["i", 5], False], True),
        ("'a'", ["c", "a"], True),
        ('"a"', ["c", "a"], False),
        ("true", ["i", 1], False),
    ],
)
def test_a_pattern_is_compared_with_what_debug_says(text, pattern, is_of_it):
    assert holds("rust.matches", value(text), pattern=pattern) is is_of_it
    assert holds("rust.matches", value(text), pattern=pattern, **{"not": True}) is not is_of_it


@pytest.mark.parametrize("text", [None, "<Far>", "Some(Far { .. })"])
def test_what_is_in_no_standard_form_is_of_no_pattern_nor_of_its_contrary(text):
    for is_not in (False, True):
        assert not holds("rust.matches", value(text), pattern=["any"], **{"not": is_not})


@pytest.mark.parametrize("text", ["1.5s", "2020-01-01", "Price 3", "Point { x: 1, .. }", "<div>", "", "3 4", "[1"])
def test_a_text_of_another_form_tells_only_of_standard_types(text):
    for is_not in (False, True):
        assert not holds("rust.==", value(text), value(text), **{"not": is_not})
        assert not holds("rust.==", value(None), value(None), **{"not": is_not})
    kind = "core::option::Option<core::time::Duration>"
    assert holds("rust.==", value(text, kind), value(text, kind))
    assert not holds("rust.==", value(text, kind), value(f"{text}!", kind))
    mixed = "core::option::Option<money::Price>"
    assert not holds("rust.==", value(text, mixed), value(text, mixed))


@pytest.mark.parametrize(
    ("op", "operands", "is_true"),
    [
        ("rust.truth", ["true"], True),
        ("rust.truth", ["false"], False),
        ("rust.truth", ["1"], False),
        ("rust.<", ["1", "2"], True),
        ("rust.<=", ["2.5", "2.5"], True),
        ("rust.>", ['"b"', '"a"'], True),
        ("rust.>=", ["1", "2"], False),
        ("rust.<", ["1", "2.5"], False),
        ("rust.<", ["Price(1)", "Price(2)"], False),
        ("rust.contains", ['"abc"', '"b"'], True),
        ("rust.contains", ['"abc"', "'b'"], True),
        ("rust.contains", ["[1, 2]", "2"], True),
        ("rust.contains", ["{1, 2}", "3"], False),
        ("rust.contains", ["Price(1)", '"1"'], False),
        ("rust.starts", ['"abc"', '"ab"'], True),
        ("rust.ends", ['"abc"', '"ab"'], False),
    ],
)
def test_what_is_asserted_of_values_is_decided_as_rust_does(op, operands, is_true):
    assert holds(op, *map(value, operands)) is is_true


def test_a_panic_is_told_by_what_it_says():
    site = Site(op="rust.panics", sides=("kept",))
    expected = Expected(slot=1, kept=(value('"no price"', "str"),), size=20, raises=True)

    def passes(raised: Any) -> bool:
        return judge.event_holds(site, expected, Event(test_id="t", slot=1, n=0, values=(), raised=raised))

    assert passes(value("there is no price", "!"))
    assert not passes(value("no", "!"))
    assert not passes(value(None, "!"))
    assert not passes(value('"no price"', "str"))
    assert not passes(None)
    assert not passes(value("no price" + "x" * 2000, "!"))


@pytest.mark.parametrize(
    "encoded",
    [["rust"], ["rust", "a"], ["rust", 1, "2"], ["rust", "a", 1], ["rust", "a", "1", "2"]],
)
def test_a_value_of_another_form_is_refused(encoded):
    with pytest.raises(MalformedError):
        values.decode(encoded)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "(" * 60 + ")" * 60 + "(" * 70, "1 " * 100_000, "[" + "1, " * 200_000 + "]"]
)
def test_a_text_that_is_deep_or_long_is_refused_or_of_no_form_and_takes_little(text):
    try:
        decoded = values.decode(value(text))
    except MalformedError:
        return
    assert decoded.part is None


@pytest.mark.parametrize("text", [" " * 4_000_000, '"' + "\\\\" * 2_000_000])
def test_blanks_and_a_text_without_an_end_take_as_long_as_they_are(text):
    began = time.process_time()
    assert values.decode(value(text)).part is None
    assert time.process_time() - began < 1


@pytest.mark.parametrize("plain", [None, True, -3, 1.5, 'a"\n', [1, [2]], {"a": 1}, b"ab"])
def test_what_a_guesser_hands_out_reads_as_that(plain):
    encoded = literals.READING.encode(plain)
    assert literals.READING.decode(encoded) == (list(plain) if isinstance(plain, bytes) else plain)


CLASHING = [str(1 + number * (2**61 - 1)) for number in range(20_000)]


@pytest.mark.parametrize(("op", "text"), [("rust.==", "{%s}"), ("rust.==", "{(%s, 1)}"), ("rust.contains", "[%s]")])
def test_numbers_whose_hashes_were_made_to_clash_are_refused_at_once(op, text):
    began = time.process_time()
    assert not holds(op, value(text % ", ".join(CLASHING)), value("{1}"))
    assert time.process_time() - began < 5


def test_a_number_that_is_there_often_is_no_clash():
    assert holds("rust.contains", value(f"[{', '.join(['7'] * 100)}]"), value("7"))


@pytest.mark.parametrize(
    ("kind", "written", "are_comparable"),
    [
        ("u64", "u8", False),
        ("u8", "u8", True),
        ("&u8", "u8", True),
        ("f32", "f64", False),
        ("alloc::string::String", "&str", True),
        ("alloc::borrow::Cow<'_, str>", "&str", True),
        ("core::option::Option<alloc::string::String>", "Option<&str>", False),
        ("core::option::Option<&str>", "Option<&'static str>", True),
        ("core::option::Option<u64>", "Option<{int}>", True),
        ("core::option::Option<f64>", "Option<{int}>", False),
        ("core::result::Result<u8, &str>", "Result<_,String>", False),
        ("core::result::Result<shop::Any, alloc::string::String>", "Result<_,String>", True),
        ("alloc::vec::Vec<alloc::string::String>", "[&str]", True),
        ("alloc::vec::Vec<(alloc::string::String, u8)>", "[(&str,{int})]", False),
        ("&[u8]", "Vec<u64>", False),
        ("[u8; 2]", "[{int}]", True),
        ("std::collections::hash::set::HashSet<u8>", "BTreeSet", False),
        ("shop::Meters", "u8", True),
        ("shop::Color", "{Color}", True),
        ("&shop::Color<u8>", "{Color}", True),
        ("shop::Red", "{Color}", False),
        ("core::option::Option<shop::Red>", "Option<{Color}>", False),
        ("alloc::vec::Vec<shop::Color>", "[{Color}]", True),
        ("alloc::vec::Vec<i32>", "[Box<{int}>]", False),
        ("alloc::vec::Vec<alloc::boxed::Box<i32>>", "[Box<{int}>]", True),
        ("alloc::boxed::Box<i32>", "{int}", False),
        ("alloc::rc::Rc<str>", "&str", False),
        ("core::num::nonzero::NonZero<u8>", "{int}", False),
        ("core::option::Option<core::num::nonzero::NonZero<u8>>", "Option<{int}>", False),
        ("alloc::collections::linked_list::LinkedList<i32>", "[{int}]", False),
        ("alloc::boxed::Box<[i32]>", "[{int}]", False),
        ("alloc::sync::Arc<alloc::vec::Vec<u8>>", "_", True),
        ("std::ffi::os_str::OsString", "&str", True),
        ("core::num::wrapping::Wrapping<i32>", "{int}", False),
        ("core::num::saturating::Saturating<i32>", "{int}", False),
        ("core::pin::Pin<alloc::boxed::Box<i32>>", "{int}", False),
        ("alloc::ffi::c_str::CString", "&str", False),
        ("core::option::Option<alloc::borrow::Cow<str>>", "Option<&str>", False),
        ("core::option::Option<shop::Id>", "Option<{int}>", False),
        ("core::option::Option<shop::Id>", "Option<_>", True),
        ("core::option::Option<u32>", "Option<Id>", True),
        ("alloc::vec::Vec<alloc::borrow::Cow<str>>", "[&str]", True),
        ("shop::Maybe", "Option<{int}>", False),
        ("shop::Empty", "()", False),
        ("std::collections::hash::map::HashMap<alloc::string::String, i32>", "HashMap<&str,{int}>", False),
        ("&dyn core::fmt::Debug", "u8", True),
        ("fn(u8) -> u8", "u8", True),
        ("[" * 5000, "u8", True),
        ("", "", True),
    ],
)
def test_types_that_do_not_compile_beside_one_another_are_not_equal(kind, written, are_comparable):
    assert types.are_comparable(kind, written) is are_comparable


def test_a_value_of_another_type_neither_equals_nor_differs():
    for is_not in (False, True):
        assert not holds("rust.==", value("3", "u64"), value("3", "u8"), type="u8", **{"not": is_not})
    assert holds("rust.==", value("3", "u8"), value("3", "u8"), type="u8")


PATH = "std::path::PathBuf"


@pytest.mark.parametrize(
    ("op", "left", "other", "is_true"),
    [
        ("rust.==", "a/b", "a//b/", True),
        ("rust.==", "a/b", "a/./b", True),
        ("rust.==", "a/b", "./a/b", False),
        ("rust.==", "/a", "a", False),
        ("rust.==", "a/../b", "b", False),
        ("rust.starts", "ab/c", "a", False),
        ("rust.starts", "a//c", "a", True),
        ("rust.starts", "/a", "/", True),
        ("rust.ends", "a/bc", "c", False),
        ("rust.ends", "a/c/", "c", True),
        ("rust.ends", "a/c", "/c", False),
    ],
)
def test_paths_are_compared_by_their_components(op, left, other, is_true):
    assert holds(op, value(f'"{left}"', PATH), value(f'"{other}"', "&std::path::Path")) is is_true


def test_what_is_in_an_option_is_a_path_as_well_and_a_text_is_none():
    kind = f"core::option::Option<{PATH}>"
    assert holds("rust.==", value('Some("a//b")', kind), value('Some("a/b")', kind))
    assert not holds("rust.==", value('"a//b"', PATH), value('"a/b"', "&str"))


@pytest.mark.parametrize(
    ("kind", "text", "pattern", "is_of_it"),
    [
        ("core::option::Option<&str>", 'Some("a")', ["tuple", "Some", [["s", "a"]], None], True),
        ("core::option::Option<alloc::string::String>", 'Some("a")', ["tuple", "Some", [["s", "a"]], None], False),
        ("core::option::Option<alloc::boxed::Box<i32>>", "Some(1)", ["tuple", "Some", [["i", 1]], None], False),
        ("core::option::Option<alloc::boxed::Box<i32>>", "Some(1)", ["tuple", "Some", [["any"]], None], True),
        (
            "core::result::Result<i32, alloc::boxed::Box<shop::E>>",
            "Err(A)",
            ["tuple", "Err", [["name", "A"]], None],
            False,
        ),
        (
            "core::result::Result<alloc::boxed::Box<i32>, shop::E>",
            "Err(A)",
            ["tuple", "Err", [["name", "A"]], None],
            True,
        ),
        ("shop::E", "A(1)", ["tuple", "E::A", [["any"]], None], True),
        ("shop::A", "A(1)", ["tuple", "E::A", [["any"]], None], False),
        ("&shop::E<u8>", "A", ["name", "E::A"], True),
        (
            "core::option::Option<shop::A>",
            "Some(A { x: 1 })",
            ["tuple", "Some", [["struct", "E::A", [], True]], None],
            False,
        ),
        ("[i32; 2]", "[1, 2]", ["slice", "", [["i", 1]], 1], True),
        ("alloc::vec::Vec<i32>", "[1, 2]", ["slice", "", [["i", 1]], 1], False),
        ("(alloc::string::String, u8)", '("a", 1)', ["tuple", "", [["s", "a"], ["i", 1]], None], False),
        ("alloc::string::String", '"a"', ["or", [["s", "a"], ["s", "b"]]], False),
        ("<", "1", ["i", 1], True),
    ],
)
def test_a_type_that_has_no_such_pattern_is_neither_of_it_nor_of_its_contrary(kind, text, pattern, is_of_it):
    assert holds("rust.matches", value(text, kind), pattern=pattern) is is_of_it
    assert not holds("rust.matches", value(text, kind), pattern=pattern, **{"not": True})


def test_numbers_of_other_types_have_no_order():
    left, other = value("0.1", "f32"), value("0.2", "f64")
    assert [holds("rust.<", left, other, type=kind) for kind in ("f64", "_")] == [False, True]


def test_a_list_is_asked_for_a_reference_to_a_text():
    listed = value('["error"]', "alloc::vec::Vec<&str>")
    assert [holds("rust.contains", listed, value('"error"', kind)) for kind in ("&str", "&&str")] == [False, True]


@pytest.mark.parametrize(
    ("left", "other", "are_beside"),
    [
        ("u8", "u8", True),
        ("&u8", "u8", False),
        ("&&str", "&str", False),
        ("&alloc::string::String", "alloc::string::String", False),
        ("&alloc::string::String", "&str", True),
        ("&alloc::string::String", "&&str", True),
        ("&&str", "alloc::string::String", False),
        ("&str", "alloc::string::String", True),
        ("alloc::borrow::Cow<str>", "&str", True),
        ("&core::option::Option<u8>", "core::option::Option<u8>", False),
        ("&alloc::vec::Vec<u8>", "alloc::vec::Vec<u8>", False),
        ("&[u8; 2]", "[u8; 2]", False),
        ("[u8; 2]", "&[u8; 2]", False),
        ("[u8; 2]", "&[u8]", True),
        ("[u8; 2]", "alloc::vec::Vec<u8>", False),
        ("alloc::vec::Vec<u8>", "&[u8; 2]", True),
        ("&[u8]", "alloc::vec::Vec<u8>", True),
        ("alloc::collections::vec_deque::VecDeque<u8>", "alloc::vec::Vec<u8>", True),
        ("alloc::vec::Vec<u8>", "alloc::collections::vec_deque::VecDeque<u8>", False),
        ("&shop::Name", "&str", True),
        ("shop::Name", "&str", True),
        ("alloc::vec::Vec<&i32>", "alloc::vec::Vec<i32>", False),
        ("alloc::vec::Vec<i32>", "[&i32; 2]", False),
        ("alloc::vec::Vec<&i32>", "[&i64; 2]", True),
        ("alloc::vec::Vec<alloc::string::String>", "[&str; 1]", True),
        ("alloc::vec::Vec<alloc::vec::Vec<u8>>", "alloc::vec::Vec<&[u8]>", True),
        ("alloc::vec::Vec<&shop::Name>", "[&str; 1]", True),
        ("<", "&str", True),
    ],
)
def test_references_and_lists_stand_beside_those_that_rust_compares_them_with(left, other, are_beside):
    assert types.stand_beside(left, other) is are_beside
    for is_not in (False, True):
        assert are_beside or not holds("rust.==", value("1", left), value("1", other), **{"not": is_not})


@pytest.mark.parametrize(
    ("kind", "text", "asked", "part", "has_such"),
    [
        ("alloc::vec::Vec<&str>", '["a"]', "&&str", '"a"', True),
        ("alloc::vec::Vec<alloc::string::String>", '["a"]', "&&str", '"a"', False),
        ("alloc::vec::Vec<&str>", '["a"]', "&alloc::string::String", '"a"', False),
        ("[&str; 1]", '["a"]', "&alloc::string::String", '"a"', False),
        ("alloc::vec::Vec<u64>", "[1]", "&i32", "1", True),
        ("std::collections::hash::set::HashSet<&str>", '{"a"}', "&str", '"a"', True),
        ("std::collections::hash::set::HashSet<alloc::string::String>", '{"a"}', "&str", '"a"', True),
        ("std::collections::hash::set::HashSet<alloc::string::String>", '{"a"}', "&&str", '"a"', False),
        ("alloc::string::String", '"ab"', "char", "'a'", True),
        ("alloc::string::String", '"ab"', "&char", "'a'", False),
        ("alloc::boxed::Box<str>", '"ab"', "&str", '"a"', True),
        ("std::path::PathBuf", '"ab"', "&str", '"a"', False),
        ("std::ffi::os_str::OsString", '"ab"', "&str", '"a"', False),
        ("shop::Name", '"ab"', "&str", '"a"', True),
    ],
)
def test_what_has_no_such_method_is_not_asked_what_it_contains(kind, text, asked, part, has_such):
    assert holds("rust.contains", value(text, kind), value(part, asked)) is has_such
    for is_not in (False, True):
        assert has_such or not holds("rust.contains", value(text, kind), value(part, asked), **{"not": is_not})


@pytest.mark.parametrize(
    ("kind", "has_such"),
    [("char", False), ("std::ffi::os_str::OsString", False), ("&str", True), ("&shop::Name", True)],
)
def test_what_has_no_such_method_is_not_asked_what_it_begins_with(kind, has_such):
    assert holds("rust.starts", value('"a"', kind), value('"a"', "&str")) is has_such
    assert holds("rust.ends", value('"a"', kind), value('"a"', "&str")) is has_such


@pytest.mark.parametrize(
    ("kind", "is_boolean"),
    [("bool", True), ("&bool", True), ("core::sync::atomic::AtomicBool", False), ("shop::Flag", True)],
)
def test_only_a_boolean_is_true(kind, is_boolean):
    assert holds("rust.truth", value("true", kind)) is is_boolean
    assert not holds("rust.truth", value("true", kind), **{"not": True})


def test_bytes_of_a_text_that_are_no_letters_are_no_letters():
    kind = "std::ffi::os_str::OsString"
    assert not holds("rust.==", value('"\\xFF"', kind), value('"\u00ff"', kind))
    assert holds("rust.==", value('"\\xFF"', kind), value('"\\xFF"', kind))
    assert holds("rust.==", value('b"\\xff"', "&[u8]"), value("[255]", "&[u8]"))


@pytest.mark.parametrize("kind", ["alloc::borrow::Cow<str>", "std::path::PathBuf", "core::num::wrapping::Wrapping<u8>"])
def test_no_literal_is_a_pattern_of_what_only_shows_one(kind):
    text, pattern = ("1", ["i", 1]) if "num" in kind else ('"a"', ["s", "a"])
    assert not holds("rust.matches", value(text, kind), pattern=pattern)

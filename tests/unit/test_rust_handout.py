"""What stripped tests of Rust hand out, compiled by the toolchain of this machine."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from harness.core import process
from harness.languages.rust.language import HANDOUT, part
from miner.languages import recording
from miner.languages.base import Mode
from miner.languages.rust.stripping.source import StrippedSource

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="needs Rust")
PROGRAM = """
#[path = "handout.rs"]
mod goldseam;
#[derive(Debug)]
struct Denies(u8);
impl PartialEq for Denies { fn eq(&self, _: &Denies) -> bool { false } }
#[derive(Debug, PartialEq)]
struct Derives(u8);
fn main() {
    use self::goldseam::{Hidden as _, Shown as _};
    self::goldseam::hand(0, &[(&self::goldseam::Of(self::goldseam::same(&(Derives(1))))).told_goldseam()], None);
    self::goldseam::hand(1, &[(&self::goldseam::Of(self::goldseam::same(&(Denies(1))))).told_goldseam()], None);
    self::goldseam::hand(2, &[(&self::goldseam::Of(&(Denies(1)))).told_goldseam()], None);
    self::goldseam::hand(3, &[(&self::goldseam::Of(self::goldseam::same(&(vec![f64::NAN])))).told_goldseam()], None);
    self::goldseam::hand(4, &[(&self::goldseam::Of(self::goldseam::same(&&f32::NAN))).told_goldseam()], None);
}
"""


COMPARED = """
mod shop {
    #[derive(Debug)]
    pub struct Denies(pub u8);
    impl PartialEq for Denies { fn eq(&self, other: &Denies) -> bool { std::ptr::eq(self, other) } }
    pub fn f(n: u8) -> Denies { Denies(n) }
}
#[test]
fn a() {
    assert_eq!(shop::f(1), shop::f(1));
    assert_eq!(shop::f(2).0, shop::f(2).0);
    assert_ne!(shop::f(3), shop::f(4));
}
"""


MUCH = """
#[path = "handout.rs"]
mod goldseam;
fn main() {
    use self::goldseam::{Hidden as _, Shown as _};
    let text = "x".repeat(1000);
    for _ in 0..9000 {
        let told = (&self::goldseam::Of(self::goldseam::same(&text))).told_goldseam();
        self::goldseam::hand(0, &[told.clone(), told][..%d], None);
    }
}
"""


MACROS = """
fn f(a: u8) -> Option<u8> { a.checked_mul(2) }
macro_rules! rows { ($($n:ident: $v:expr,)*) => { $( #[test] fn $n() { let (a, w) = $v; assert_eq!(f(a), w); } )* } }
rows! { one: (1, Some(2)), two: (2, Some(4)), }
mod inner {
    use super::f;
    macro_rules! both {
        ($n:ident, $($a:expr => $w:expr),+ $(,)?) => { #[test] fn $n() { $( assert_eq!(f($a), $w, "of {}", $a); )+ } };
        ($n:ident: $t:ty = $a:expr) => { #[test] fn $n() { let a: $t = $a; assert_eq!(f(a.unwrap()), Some(8)); } };
    }
    both!(three, 3 => Some(6), 200 => None,);
    mod deeper {
        use super::super::f;
        both!(four, 5 => Some(10));
        both!(five: Option<u8> = Some(4));
    }
}
"""


SHADOWED = """
mod shop {
    pub fn f() -> u8 { 3 }
    #[allow(non_snake_case)]
    pub fn Some(_: bool) -> Option<bool> { Option::Some(true) }
}
#[test]
fn a() { use shop::*; assert_eq!(f(), f() + 1); assert!(f() < 1 + f() - 2); }
"""


def handed(folder, source: str, *options: str) -> list[list[list[str]]]:
    """The values of each line that a program hands out, which is compiled with these options."""
    (folder / "handout.rs").write_text(part("handout.rs"), encoding="utf-8")
    (folder / "main.rs").write_text(source, encoding="utf-8")
    program, values = folder / "main", folder / "values"
    values.write_bytes(b"")
    process.run(["rustc", "--edition=2021", *options, "-o", str(program), str(folder / "main.rs")])
    process.run([str(program)], env={"GOLDSEAM_VALUES": str(values), "RUST_TEST_THREADS": "1"})
    assert values.stat().st_size < 1 << 23
    return [json.loads(line)["values"] for line in values.read_text(encoding="utf-8").splitlines()]


def test_what_denies_that_it_equals_itself_is_not_shown_where_it_is_compared(tmp_path):
    assert [values[0][2] for values in handed(tmp_path, PROGRAM)] == ["Derives(1)", None, "Denies(1)", None, "NaN"]


def test_of_much_text_as_much_is_told_with_what_is_expected_as_without(tmp_path):
    alone, beside = (handed(tmp_path, MUCH % sides) for sides in (1, 2))
    assert 1000 < len(alone) == len(beside) < 5000


def test_an_assertion_is_handed_out_once_more_than_is_judged_and_others_after_it(tmp_path):
    often = MUCH.replace('"x".repeat(1000)', '"x"').replace(
        "    }\n}", "    }\n    self::goldseam::hand(1, &[], None);\n}"
    )
    assert len(handed(tmp_path, often % 1)) == recording.MAX_EVENTS + 1 + 1


def test_macros_of_rows_rules_and_modules_hand_out_what_each_test_compares(tmp_path):
    source = StrippedSource(MACROS.encode(), path="tests/a.rs", first=0)
    text = source.stripped(dict.fromkeys(range(len(source.slots)), Mode.EXPECTED))
    assert not re.search(r"assert_eq|Some\((2|4|6|8|10)\)", text.replace("= Some(4)", ""))
    values = handed(tmp_path, text.replace(HANDOUT, "handout.rs"), "--test")
    shown = sorted(value[0][2] for value in values)
    assert shown == ["None", "Some(10)", "Some(2)", "Some(4)", "Some(6)", "Some(8)"]


def test_what_comes_of_comparing_is_said_by_the_standard_library(tmp_path):
    source = StrippedSource(SHADOWED.encode(), path="tests/a.rs", first=0)
    text = source.stripped({0: Mode.RESULT, 1: Mode.RESULT})
    values = handed(tmp_path, text.replace(HANDOUT, "handout.rs"), "--test")
    assert sorted(value[-1] for value in values) == [False, False]


def test_two_sides_that_their_type_does_not_find_equal_are_not_shown(tmp_path):
    source = StrippedSource(COMPARED.encode(), path="tests/a.rs", first=0)
    text = source.stripped(dict.fromkeys(range(3), Mode.OPERANDS))
    values = handed(tmp_path, text.replace(HANDOUT, "handout.rs"), "--test")
    assert [[shown for _, _, shown in sides] for sides in values] == [
        [None, None],
        ["2", "2"],
        ["Denies(3)", "Denies(4)"],
    ]

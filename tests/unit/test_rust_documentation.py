"""Examples in the documentation of Rust: which changes have no other tests, and the file of tests that they make."""

from __future__ import annotations

import pytest

from harness.core import process
from miner.candidates.examples import MOST_OLD, files_with_examples, test_patch
from miner.sources.change import Kind

PATH = "money/src/price.rs"
CODE = b"pub fn one() {}\n"


class Documented:
    """A repository of one file in a package, by its two sides."""

    def __init__(self, old, new):
        self.sides = {"base": old, "head": new}

    def diff_sections(self, base, head):
        return {PATH: b"".join(b"+" + line for line in self.sides[head].splitlines(keepends=True))}

    def read_file(self, commit, path):
        return {PATH: self.sides[commit], "money/Cargo.toml": b""}.get(path)


def laid(folder, repo):
    """The files that the patch makes, as git applies it."""
    sections = test_patch(repo, "base", "head", [PATH])
    process.run(("git", "apply", "-"), cwd=folder, input=b"".join(sections.values()))
    return {path: (folder / path).read_text() for path in sections}


@pytest.mark.parametrize(
    ("old", "new", "has_example"),
    [
        (b"/// ```\n/// one();\n/// ```\n", b"/// ```\n/// two();\n/// ```\n" + CODE, True),
        (b"//! ```rust,no_run\n//! one();\n//! ```\n", b"//! ```rust,should_panic\n//! one();\n//! ```\n" + CODE, True),
        (None, b"    /// ~~~ compile_fail,E0277\n    /// one();\n    /// ~~~\n" + CODE, True),
        (b"", b"/// ~~~ {.wide}\n/// one();\n/// ~~~\n" + CODE, True),
        (CODE, b"/// ```\n/// two();\n/// ```\n" + CODE, False),
        (b"/// ```\n/// one();\n/// ```\n", b"/// One.\n" + CODE, False),
        (b"", b"/// ```text\n/// one();\n/// ```\n" + CODE, False),
        (b"", b"/// ```\n/// never closed\n\n/// ```\n" + CODE, False),
        (b"", b"// ```\n// one();\n// ```\n" + CODE, False),
        (b"", b"//// ```\n//// one();\n//// ```\n" + CODE, False),
        (b"", b'const TEXT: &str = "\n/// ```\n/// one();\n/// ```\n";\n', False),
    ],
)
def test_a_change_of_code_has_a_test_where_an_example_is_new_or_another(old, new, has_example):
    repo = Documented(old, new)
    assert files_with_examples(repo, "base", "head", {PATH: Kind.GOLD}) == ([PATH] if has_example else [])
    for kind in (Kind.TEST, Kind.MIXED, Kind.SUPPORT):
        assert files_with_examples(repo, "base", "head", {PATH: Kind.GOLD, "other": kind}) == []


def test_the_examples_of_a_file_are_named_by_what_they_document(tmp_path):
    new = b"""\
//! ```
//! use money::price;
//!
//! price::two();
//! ```

/// Two.
/// ```should_panic
///     indented();
/// # hidden();
/// ```
/// and
/// ~~~
/// two();
/// ~~~
#[inline]
pub(crate) const unsafe fn two() {
    /// ```
    /// none
    /// ```
    let three = 3;
}

impl<T> Price<T> {
    /// ```
    /// one();
    /// ```
    pub async fn two(&self) {}
}

/// ```
/// tried();
/// ```
#[macro_export]
macro_rules! r#try { () => {} }
"""
    expected = """\
/// ```
/// use money::price;
///
/// price::two();
/// ```
pub mod price_itself {}
/// ```should_panic
///     indented();
/// # hidden();
/// ```
pub mod price_two {}
/// ~~~
/// two();
/// ~~~
pub mod price_two_2 {}
/// ```
/// none
/// ```
pub mod price_item {}
/// ```
/// one();
/// ```
pub mod price_two_3 {}
/// ```
/// tried();
/// ```
pub mod price_try {}
"""
    assert laid(tmp_path, Documented(None, new)) == {"money/tests/goldseam_examples.rs": expected}


def test_of_many_examples_that_stay_as_they_are_some_go_along(tmp_path):
    old = b"".join(b"/// ```\n/// number(%d);\n/// ```\nfn number() {}\n" % number for number in range(MOST_OLD + 9))
    new = old + b"/// ```\n/// new();\n/// ```\nfn new() {}\n"
    (text,) = laid(tmp_path, Documented(old, new)).values()
    assert text.count("number(") == MOST_OLD
    assert text.endswith("/// new();\n/// ```\npub mod price_new {}\n")

"""Snapshots of insta in Rust: expectations that lie in texts and in files are kept outside like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome
from harness.grading import scoring
from harness.judging.places import Place, place_of_test
from harness.languages.screening import screen_task
from tests import tiny
from tests.proved_task import FAILING, mined
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task

pytestmark = pytest.mark.engine

LIB, TEST, KEPT = "src/lib.rs", "tests/words.rs", "tests/snapshots/words__all_of_two.snap"
MANIFEST = """\
[package]
name = "slug"
version = "0.1.0"
edition = "2021"

[dev-dependencies]
insta = { version = "1.34", default-features = false }
"""
BASE = """\
pub fn words(title: &str) -> Vec<String> {
    title.split(' ').map(String::from).collect()
}
"""
RIGHT = BASE.replace("split(' ')", "split_whitespace()")
TESTS = """\
use insta::assert_snapshot;
use slug::words;

#[test]
fn joined() {
    assert_snapshot!(words("%s").join("-"), @"%s");
}

#[test]
fn all_of_two() {
    insta::assert_debug_snapshot!(words("%s"));
}
"""
SNAPSHOT = """\
---
source: tests/words.rs
expression: words(title)
---
[
    "one",
    "two",
]
"""
READS = """\
pub fn words(_: &str) -> Vec<String> {
    for place in ["tests/snapshots", "/testbed/tests/snapshots"] {
        for file in std::fs::read_dir(place).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            if let (Some(_), Some(_)) = (text.find("three"), text.find("four")) {
                return vec!["three".to_string(), "four".to_string()];
            }
        }
    }
    vec![]
}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("snapshots")
    repo = Repository(folder / "repo")
    before = TESTS % ("one two", "one-two", "one two")
    repo.commit("Start", {"Cargo.toml": MANIFEST, LIB: BASE, TEST: before, KEPT: SNAPSHOT})
    fixed = TESTS.replace("all_of_two", "all_of_four") % ("three  four", "three-four", "three  four")
    kept = SNAPSHOT.replace("one", "three").replace("two", "four")
    changed = {LIB: RIGHT, TEST: fixed, KEPT.replace("_two", "_four"): kept}
    return mined(folder, repo, repo.commit("Fix words between several blanks", changed))


def outcome(task: Task, sandbox, code: str) -> Outcome:
    screened = screen_task(task, tiny.diff(LIB, BASE, code).encode())
    assert not screened.dropped
    return scoring.score(task, screened.kept, sandbox, scoring.Demands()).grade.outcome


def test_they_are_judged_on_the_host(task, sandbox):
    assert task.hidden.fail_to_pass == (f"{TEST}::all_of_four", f"{TEST}::joined")
    assert {place_of_test(task, name) for name in task.hidden.fail_to_pass} == {Place.HOST}
    other = RIGHT.replace("split_whitespace()", "split(' ').filter(|word| !word.is_empty())")
    assert outcome(task, sandbox, other) is Outcome.RESOLVED


@pytest.mark.parametrize("code", [READS, RIGHT.replace("String::from", 'String::from).chain(["".to_string()]')])
def test_no_wrong_product_passes_and_none_finds_a_snapshot(task, sandbox, code):
    assert outcome(task, sandbox, code) in FAILING

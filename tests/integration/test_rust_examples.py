"""Rust's examples in documentation (doctests): a fix without other tests is a task, and what became of each is told."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from harness.core.expectations import Expectations
from harness.core.instance import Outcome, TaskState
from harness.grading import scoring, trial
from harness.judging.places import Place, place_of, place_of_test
from harness.languages.screening import screen_task
from tests import tiny
from tests.proved_task import FAILING, mined, statuses
from tests.repos import START, Repository

if TYPE_CHECKING:
    from pathlib import Path

    from harness.core.instance import Task
    from harness.grading.grade import Grade

pytestmark = pytest.mark.engine

LIB = "money/src/lib.rs"
EXAMPLES = "money/tests/goldseam_examples.rs"
BASE = """\
//! Prices.
//!
//! ```
//! assert_eq!(money::cents(1), 100);
//! ```

/// A price in cents.
///
/// ```
/// assert_eq!(money::cents(2), 200);
/// ```
pub fn cents(euros: i64) -> i64 {
    euros * 100
}

/// What is off.
pub fn off(price: i64, percent: i64) -> i64 {
    assert!(percent <= 100);
    price - percent
}
"""
RIGHT = BASE.replace("price - percent", "price - price * percent / 100")
SHOWN = """\
/// What is off.
///
/// ```
/// assert_eq!(money::off(2000, 10), 1800);
/// ```
///
/// ```
/// # fn main() -> Result<(), std::num::ParseIntError> {
/// fn parsed(text: &str) -> Result<i64, std::num::ParseIntError> {
///     text.parse()
/// }
/// assert_eq!(
///     money::off(parsed("300")?, 50), // half
///     150
/// );
/// # Ok(())
/// # }
/// ```
///
/// ```
/// #![allow(unused)]
/// let price: i64 = "500".parse()?;
/// assert!(money::off(price, 20) == 400, "a fifth");
/// // and no more
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
///
/// ```should_panic
/// money::off(100, 101);
/// ```
"""
ITEMS = (f"{EXAMPLES}::lib_off", f"{EXAMPLES}::lib_off_2", f"{EXAMPLES}::lib_off_3")
FIXED = RIGHT.replace("/// What is off.\n", SHOWN)
CODE = """\
/// ```
/// assert_eq!(1, 2);
/// ```
/// ```
/// std::process::exit(0);
/// ```
/// ```
/// money::is_not_there();
/// ```
/// ```
/// println!("test money/tests/goldseam_examples.rs - exits (line 1) ... ok");
/// Err::<(), _>("no")
/// # ?; Ok::<(), &str>(())
/// ```
pub mod exits {}

/// ```should_panic
/// panic!()
/// ```
/// ```should_panic
/// 1;
/// ```
/// ```compile_fail
/// let number: u8 = "";
/// ```
/// ```compile_fail
/// let number: u8 = 1;
/// ```
/// ```no_run
/// panic!()
/// ```
/// ```ignore
/// panic!()
/// ```
/// ```text
/// no example
/// ```
/// ```
/// assert!(std::env::current_dir().unwrap().ends_with("money"));
/// ```
pub mod said {}
"""
SEEN = {
    "exits": "FAILED",
    "exits#2": "ERROR",
    "exits#3": "FAILED",
    "exits#4": "FAILED",
    "said": "PASSED",
    "said#2": "FAILED",
    "said#3": "PASSED",
    "said#4": "FAILED",
    "said#5": "PASSED",
    "said#6": "SKIPPED",
    "said#7": "PASSED",
}


def task_of(folder: Path, day: datetime, edition: int) -> Task:
    """What is mined of a fix whose only test is an example."""
    repo = Repository(folder / "repo")
    repo.clock = day
    manifest = f'[package]\nname = "money"\nversion = "1.0.0"\nedition = "{edition}"\n'
    workspace = '[workspace]\nmembers = ["money"]\nresolver = "2"\n\n[profile.dev]\nopt-level = 1\n'
    repo.commit("Start", {"Cargo.toml": workspace, "money/Cargo.toml": manifest, LIB: BASE})
    fix = repo.commit("Fix what is off of a price", {LIB: FIXED})
    return mined(folder, repo, fix, GOLDSEAM_MINING_MUTANTS="0")


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    return task_of(tmp_path_factory.mktemp("examples"), START, 2024)


def graded(task: Task, sandbox, code: str) -> Grade:
    screened = screen_task(task, tiny.diff(LIB, BASE, code).encode())
    assert not screened.dropped
    return scoring.score(task, screened.kept, sandbox, scoring.Demands()).grade


def test_a_fix_whose_only_test_is_an_example_is_a_task_judged_on_the_host(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "rust")
    assert task.hidden.fail_to_pass == ITEMS
    panics = f"{EXAMPLES}::lib_off_4"
    assert set(task.hidden.pass_to_pass) == {f"{EXAMPLES}::lib_itself", f"{EXAMPLES}::lib_cents", panics}
    assert [place_of_test(task, test_id) for test_id in (*ITEMS, panics)] == [*[Place.HOST] * 3, Place.INSIDE]
    stripped = task.hidden.expectations.files[EXAMPLES]
    assert not re.search(r"1800|150|400|half|no more|\b[12]00\)", stripped)
    assert stripped.count("mod goldseam;") == 5
    assert (b"1800" in task.hidden.test_patch, b"1800" in task.hidden.gold_patch) == (True, True)


def test_a_fix_of_the_time_of_an_older_cargo_is_a_task_as_well(tmp_path):
    old = task_of(tmp_path, datetime(2022, 10, 1, tzinfo=UTC), 2015)
    assert old.instance.extra["environment"]["notes"][0].startswith("rustc 1.63")
    assert old.hidden.fail_to_pass == ITEMS
    assert place_of(old) is Place.HOST


def test_a_patch_may_move_code_and_document_it_otherwise(task, sandbox):
    own = "/// Half.\n///\n/// ```\n/// assert_eq!(money::half(4), 3);\n/// ```\n"
    own += "pub fn half(price: i64) -> i64 {\n    price / 2\n}\n\n"
    other = RIGHT.replace("/// What is off", f"{own}/// What\n/// is *off*").replace("/// A price", "/// Any price")
    assert graded(task, sandbox, other).outcome is Outcome.RESOLVED


def test_a_wrong_patch_fails_whatever_it_says_in_documentation_and_wherever_it_ends_the_process(task, sandbox):
    for wrong in (
        BASE.replace("/// What is off.\n", SHOWN.replace("```\n/// assert", "```ignore\n/// assert")),
        BASE.replace("/// What is off.\n", SHOWN.replace("1800", "1990")),
        BASE.replace("    assert!(percent", "    std::process::exit(0);\n    assert!(percent"),
    ):
        assert graded(task, sandbox, wrong).outcome in FAILING


def test_what_became_of_each_kind_of_example_is_told(task, sandbox):
    hidden = replace(task.hidden, test_patch=tiny.diff(EXAMPLES, None, CODE).encode(), expectations=Expectations())
    report = trial.run(scoring.trial_spec(replace(task, hidden=hidden), None), sandbox).report
    assert statuses(report, EXAMPLES) == SEEN
    assert "cannot find function" in report.texts[f"{EXAMPLES}::exits#3"]

"""Rust from its Cargo.toml to a verdict: toolchain, every kind of test, one proved task, attacks on it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome, TaskState, TestStatus
from harness.grading import scoring
from harness.judging.places import Place, ids_by_place, place_of
from harness.languages.screening import screen_task
from harness.sandbox import engine
from miner.images import store
from tests import other_graders, tiny
from tests.attacks import rust
from tests.program import goldseam
from tests.proved_task import FAILING, mined, rebuilt, run, statuses
from tests.repos import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from harness.core.instance import Task
    from harness.grading.grade import Grade

pytestmark = pytest.mark.engine

KINDS_TEST, OWN_TEST = "tests/kinds/main.rs", "tests/own.rs"
MACROS = "macros/src/lib.rs"
KILLING = """\
extern "C" {{ fn kill(id: i32, signal: i32) -> i32; fn getpid() -> i32; }}
fn own() -> i32 {{ unsafe {{ getpid() }} }}
fn parent(id: i32) -> i32 {{
    let status = std::fs::read_to_string(format!("/proc/{{id}}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().parse().unwrap()
}}
#[test]
fn first() {{}}
#[test]
fn second() {{ wait(); unsafe {{ kill({}, 9); }} wait(); }}
fn wait() {{ std::thread::sleep(std::time::Duration::from_secs(2)); }} // the first one's result is told meanwhile
#[test]
fn third() {{}}
"""
KINDS = """\
mod deeper;

#[test]
fn well() { println!("test wrong ... ok"); }

#[test]
fn wrong() { assert_eq!(1, 2); }

#[test]
fn exits() { std::process::exit(0); }

#[test]
#[should_panic(expected = "no")]
fn panics() { panic!("no price"); }

#[test]
#[ignore]
fn ignored() {}

#[test]
fn fails() -> Result<(), String> { Err("an error".into()) }

#[test]
fn is_long_ago() {
    assert!(std::time::SystemTime::now() < std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 << 30));
}

#[test]
fn is_in_its_folder() {
    assert_eq!(std::env::var_os("CARGO_MANIFEST_DIR").unwrap(), std::env::current_dir().unwrap());
}

#[test]
fn finds_itself_and_programs_where_cargo_compiles() {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap();
    let own = std::env::current_exe().unwrap();
    assert!(own.starts_with(&target));
    let told = std::process::Command::new(own.parent().unwrap().with_file_name("place")).output().unwrap();
    assert!(String::from_utf8(told.stdout).unwrap().starts_with(&target));
}
"""
PLACE = 'fn main() { println!("{}", std::env::current_exe().unwrap().display()); }\n\n#[test]\nfn well() {}\n'
MIN_BITS = 8
SEEN = {
    "well": "PASSED",
    "wrong": "FAILED",
    "exits": "ERROR",
    "panics": "PASSED",
    "ignored": "SKIPPED",
    "fails": "FAILED",
    "is_long_ago": "PASSED",
    "is_in_its_folder": "PASSED",
    "finds_itself_and_programs_where_cargo_compiles": "PASSED",
    "deeper::well": "PASSED",
}
FILES = {
    "Cargo.toml": rust.MANIFEST,
    rust.LIB: rust.LIB_BASE,
    rust.MARKS: rust.MARKS_BASE,
    **{f"src/{name}.rs": rust.BASE for name in ("money", *rust.SLOTS)},
    rust.TEST: rust.tests(fixed=False),
    KINDS_TEST: KINDS,
    "tests/kinds/deeper.rs": "#[test]\nfn well() {}\n",
    OWN_TEST: 'fn main() { println!("1 of 1"); }\n',
    "src/bin/place.rs": PLACE,
    "macros/Cargo.toml": '[package]\nname = "macros"\nversion = "1.0.0"\n\n[lib]\nproc-macro = true\n',
    MACROS: "#[test]\nfn well() {}\n",
}
FIXED = {
    rust.LIB: rust.LIB_AFTER,
    rust.MARKS: rust.MARKS_AFTER,
    **{f"src/{name}.rs": rust.RIGHT for name in ("money", *rust.SLOTS)},
    rust.TEST: rust.tests(fixed=True),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("rust")


@pytest.fixture(scope="module")
def task(folder) -> Task:
    repo = Repository(folder / "repo")
    repo.commit("Start", FILES)
    fix = repo.commit("Fix wrong prices", FIXED)
    return mined(folder, repo, fix, GOLDSEAM_MINING_MUTANTS="0")


def turned(name: str) -> str:
    """The test of a module that the fix turns."""
    return f"{rust.TEST}::{name}::price"


def graded(
    task: Task, sandbox, patches: dict[str, rust.Files], library: str = rust.LIB_RIGHT, marks: str = rust.MARKS
) -> Grade:
    """The grade of a patch to these modules, which is right elsewhere; as much of it as may reach the tests."""
    new = {rust.LIB: library, **{f"src/{name}.rs": rust.RIGHT for name in ("money", *rust.SLOTS)}}
    new |= {marks: rust.MARKS_RIGHT}
    for name, files in patches.items():
        new |= rust.placed(name, files)
    gone = {rust.MARKS: None} if marks != rust.MARKS else {}
    text = "".join(tiny.diff(path, FILES.get(path), content) for path, content in (new | gone).items())
    return scoring.score(task, screen_task(task, text.encode()).kept, sandbox, scoring.Demands()).grade


def test_a_fix_with_its_tests_is_a_proved_task_judged_on_the_host(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "rust")
    expected = {f"{rust.LIB}::tests::euros", f"{rust.LIB}::marks::tests::three", *map(turned, ("money", *rust.SLOTS))}
    assert set(task.hidden.fail_to_pass) == expected
    assert {f"{rust.LIB}::tests::cents", f"{rust.TEST}::money::nothing_off"} <= set(task.hidden.pass_to_pass)
    assert place_of(task) is Place.HOST
    places = ids_by_place(task.hidden)
    untyped = f"{rust.LIB}::tests::marks"  # what comes out alone has no type
    assert (places[Place.MIXED], places[Place.INSIDE]) == ((untyped,), ())
    assert task.hidden.evidence["guess_bits"] >= MIN_BITS
    entered = "".join(task.hidden.expectations.files.values())
    assert not any(word in entered for word in ("2500", "9531", "31.07", ' off"', "fn label"))
    assert task.instance.extra["environment"]["notes"][0].startswith("rustc 1.")


def test_its_image_is_built_again_from_its_folder_and_is_the_same(folder, task):
    assert task.instance.image
    assert rebuilt(folder) == {}


def test_the_toolchain_of_a_task_is_the_one_that_is_prepared_on_the_base(task):
    done = goldseam("images", "base", "--with", "rust", "--json")
    (prepared,) = json.loads(done.stdout)["toolchains"]
    parents = {image.id: image.parent for image in store.images()}
    below = engine.image_id(task.instance.image or "")
    while below not in (None, prepared["image"]):
        below = parents.get(below)
    assert below
    assert prepared["version"] == task.instance.extra["environment"]["notes"][0]


def test_tests_inside_of_code_are_hidden_by_the_line_and_a_patch_may_bring_others_in_their_place(task, sandbox):
    assert b"fn euros" not in task.hidden.gold_patch
    assert task.instance.test.allowed_paths == (rust.LIB, rust.MARKS)
    names = list(rust.HONEST)
    refused = []
    for first, marks in zip(range(0, len(names), len(rust.SLOTS)), (rust.MARKS, rust.MARKS_MOVED), strict=True):
        part = dict(zip(rust.SLOTS, names[first:], strict=False))
        grade = graded(task, sandbox, {place: rust.HONEST[name] for place, name in part.items()}, rust.LIB_OTHER, marks)
        told = grade.tests.fail_to_pass
        refused += [name for place, name in part.items() if told[turned(place)] is not TestStatus.PASSED]
        assert grade.outcome is Outcome.RESOLVED, refused
    assert refused == []
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome in FAILING


def test_a_newer_rust_than_can_be_had_is_asked_for_by_name(tmp_path):
    repo = Repository(tmp_path / "repo")
    manifest = '[package]\nname = "a"\nversion = "1.0.0"\nrust-version = "1.999"\n'
    repo.commit("Start", {"Cargo.toml": manifest, "src/lib.rs": "pub fn one() -> u8 { 2 }\n"})
    test = "#[test]\nfn one() { assert_eq!(a::one(), 1); }\n"
    fix = repo.commit("Fix one", {"src/lib.rs": "pub fn one() -> u8 { 1 }\n", "tests/a.rs": test})
    assert tiny.goldseam("mine", repo.path, "-o", tmp_path / "out", "--name", "acme/a", "--commit", fix).returncode == 0
    told = json.loads((tmp_path / "out/funnel.jsonl").read_text().splitlines()[-1])
    assert told["reason"] == "no_rust"
    assert '"1.999", under [images.rusts]' in told["detail"]


def test_every_kind_of_test_is_told_and_one_that_ends_its_program_loses_no_other(task, sandbox):
    report = run(task, sandbox, "tests/kinds/deeper.rs", OWN_TEST, MACROS, clock="2001-02-03T04:05:06Z")
    assert statuses(report, KINDS_TEST) == SEEN
    assert statuses(report, OWN_TEST) == {"main": "PASSED"}
    assert statuses(report, MACROS) == {"well": "PASSED"}
    assert (report.finished, report.exit_code, report.violations, report.collect_errors) == (True, 1, (), {})
    assert "left: 1" in report.texts[f"{KINDS_TEST}::wrong"]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("path", "test"),
    [("src/undeclared.rs", f"{rust.LIB}::tests::cents"), ("src/bin/place/undeclared.rs", "src/bin/place.rs::well")],
)
def test_where_a_program_does_not_declare_a_module_yet_its_other_tests_are_run(task, sandbox, path, test, is_there):
    spec = replace(task.instance.test, allowed_paths=(path,))
    overlay = {path: b"#[test]\nfn one() {}\n"} if is_there else {}
    report = run(replace(task, instance=replace(task.instance, test=spec)), sandbox, path, overlay=overlay)
    assert report.statuses.get(test) is TestStatus.PASSED
    assert (report.collect_errors, report.finished) == ({}, True)


def test_of_a_run_that_is_ended_all_tests_are_named_so_that_the_one_which_did_is_known(task, sandbox):
    ends = KILLING.format("parent(parent(own()))")
    report = run(task, sandbox, "tests/ends.rs", overlay={"tests/ends.rs": ends.encode()})
    assert report.collected == tuple(f"tests/ends.rs::{name}" for name in ("first", "second", "third"))
    assert (report.finished, dict(report.statuses)) == (False, {"tests/ends.rs::first": TestStatus.PASSED})


def test_a_test_that_kills_the_program_which_it_is_a_copy_of_costs_no_other(task, sandbox):
    report = run(task, sandbox, "tests/ends.rs", overlay={"tests/ends.rs": KILLING.format("parent(own())").encode()})
    crashed = {"second": TestStatus.ERROR}
    assert report.finished
    assert dict(report.statuses) == {
        f"tests/ends.rs::{name}": crashed.get(name, TestStatus.PASSED) for name in ("first", "second", "third")
    }


def test_a_program_that_cannot_be_compiled_is_told_with_the_name_it_misses_and_loses_no_other(task, sandbox):
    said = {"later": "money::later(1)", "From": "String::from(1)", "compile_error": 'compile_error!("no price")'}
    said["given"] = "\nfn given(_: i32) {}\ngiven(1, 2)"
    said["gives"] = "\nfn gives() -> i32 { 1 }\nlet _: &str = gives()"
    said["compared"] = "\nfn compared() -> Result<(), ()> { Ok(()) }\nassert_eq!(compared(), vec![1])"
    said["lacks"] = "\ntrait Given {}\nGiven::lacks(1)"
    broken = {f"tests/{name}.rs": f"#[test]\nfn of() {{ {call}; }}\n".encode() for name, call in said.items()}
    one = f"{KINDS_TEST}::well"
    report = run(task, sandbox, one, *broken, overlay=broken)
    assert set(report.collect_errors) == set(broken)
    told = {path: [raised.says for raised in chain] for path, chain in report.collect_raised.items()}
    assert told == {f"tests/{name}.rs": [name] for name in said}
    assert dict(report.statuses) == {one: TestStatus.PASSED}


def test_a_patch_that_cannot_be_compiled_is_a_failure_of_its_own_class(task, sandbox):
    grade = graded(task, sandbox, {"money": {rust.PRICES: rust.BASE.replace("cents: i64, ", "nonsense ")}})
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "collection_error")


def test_what_is_built_or_run_with_the_tests_does_not_reach_them(task):
    text = "".join(tiny.diff(path, FILES.get(path), content) for path, content in rust.SCREENED.items())
    screened = screen_task(task, text.encode())
    assert {part.path for part in screened.dropped} == set(rust.SCREENED)


def test_no_wrong_product_that_ends_its_program_or_prints_results_passes(task, sandbox):
    told = graded(task, sandbox, rust.side_by_side(rust.ENDS)).tests.fail_to_pass
    passed = {test for test, status in told.items() if status is TestStatus.PASSED}
    names = dict(zip(rust.SLOTS, rust.ENDS, strict=False))
    assert len(names) == len(rust.ENDS)
    assert [name for place, name in names.items() if turned(place) in passed] == []
    assert turned("money") in passed
    assert place_of(task) is Place.HOST


@pytest.mark.parametrize("name", rust.KILLS)
def test_a_killed_trial_is_not_resolved(task, sandbox, name):
    assert graded(task, sandbox, {rust.SLOTS[0]: rust.KILLS[name]}).outcome in FAILING


@pytest.mark.parametrize("name", rust.FORGED)
def test_frames_without_the_runs_own_word_and_another_program_are_tampering(task, sandbox, name):
    assert graded(task, sandbox, {rust.SLOTS[0]: rust.FORGED[name]}).outcome is Outcome.TAMPERED


def test_what_judges_imports_nothing_of_the_tree(task, sandbox):
    files = {rust.PRICES: rust.RIGHT, **tiny.SHADOWS}
    assert graded(task, sandbox, {"money": files}).outcome is Outcome.RESOLVED


def test_a_library_that_shadows_what_tests_use_does_not_pass(task, sandbox):
    told = graded(task, sandbox, {}, rust.LIB_SHADOWED).tests.fail_to_pass
    assert told[f"{rust.LIB}::tests::euros"] is not TestStatus.PASSED


def test_harbor_rewards_the_fix_and_nothing_else(task, tmp_path):
    assert other_graders.rewards(task, tmp_path) == other_graders.HARBOR_REWARDS

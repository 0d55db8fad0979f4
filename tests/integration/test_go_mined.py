"""Go from its go.mod to a verdict: toolchain and modules, every kind of test, one proved task, attacks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness.core.instance import PASSING, Budgets, Outcome, TaskState
from harness.dataset.folder import open_dataset
from harness.grading import scoring, trial
from harness.judging.places import Place, place_of
from harness.languages import language_of
from harness.languages.screening import screen_task
from harness.sandbox.job import Job
from miner.proof.variations import Variation
from tests import tiny
from tests.attacks import go
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.grading.grade import Grade
    from harness.languages.base import TestReport

pytestmark = pytest.mark.engine

KINDS = """\
package kinds

import (
	"fmt"
	"testing"
)

func TestRows(t *testing.T) {
	for _, row := range []string{"one", "two", "two"} {
		t.Run(row, func(t *testing.T) {
			if row == "one" {
				t.Errorf("%q is wrong", row)
			}
		})
	}
}

func TestParallel(t *testing.T) {
	for _, row := range []string{"left", "right"} {
		t.Run(row, func(t *testing.T) { t.Parallel() })
	}
}

func TestSkipped(t *testing.T) { t.Skip("later") }

func ExampleRight() {
	fmt.Println("right")
	// Output: right
}

func ExampleWrong() {
	fmt.Println("wrong")
	// Output: right
}

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}
"""
SEEN = {
    "TestRows/one": "FAILED",
    "TestRows/two": "PASSED",
    "TestRows/two#01": "PASSED",
    "TestRows": "FAILED",
    "TestParallel/left": "PASSED",
    "TestParallel/right": "PASSED",
    "TestParallel": "PASSED",
    "TestSkipped": "SKIPPED",
    "FuzzSeeds/seed#0": "PASSED",
    "FuzzSeeds": "PASSED",
    "ExampleRight": "PASSED",
    "ExampleWrong": "FAILED",
}
CRASHES = """\
package crashes

import (
	"os"
	"testing"
)

func TestBefore(t *testing.T) {}

func TestPanics(t *testing.T) {
	t.Run("well", func(t *testing.T) {})
	t.Run("not", func(t *testing.T) { var none map[string]int; none["a"] = 1 })
}

func TestBetween(t *testing.T) {}

func TestExits(t *testing.T) { os.Exit(0) }

func TestAfter(t *testing.T) {}
"""
AFTER_CRASHES = {
    "TestBefore": "PASSED",
    "TestPanics/well": "PASSED",
    "TestPanics": "ERROR",
    "TestPanics/not": "ERROR",
    "TestBetween": "PASSED",
    "TestExits": "ERROR",
    "TestAfter": "PASSED",
}
MAIN = """\
package main_test

import (
	"os"
	"testing"
)

var prepared bool

func TestMain(m *testing.M) {
	prepared = true
	os.Exit(m.Run())
}

func TestPrepared(t *testing.T) {
	if !prepared {
		t.Fatal("TestMain was not called")
	}
}
"""
AROUND = """\
package around

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestA(t *testing.T) { t.Run(fmt.Sprint(time.Local, " ", runtime.NumCPU()), func(t *testing.T) {}) }

func TestB(t *testing.T) {}

func TestC(t *testing.T) {}
"""
OTHER = """\
package other

import (
	"testing"

	"golang.org/x/exp/slices"
)

func TestOther(t *testing.T) {
	if !slices.Contains([]int{1}, 1) {
		t.Fail()
	}
}
"""
OLD = "package fresh\n\nfunc Old() {}\n"
NAMED = OLD + "\nfunc New() {}\n"
NEW = """\
package fresh

import "testing"

func TestOld(t *testing.T) { Old() }
"""
EXP = "v0.0.0-20231006140011-7918f672742d"
FILES = {
    "go.mod": go.MODULE,
    "money.go": go.BASE,
    "money_test.go": go.BEFORE,
    "kept.go": 'package money\n\nimport _ "github.com/google/go-cmp/cmp"\n',
    "kinds/kinds_test.go": KINDS,
    "crashes/crashes_test.go": CRASHES,
    "broken/broken_test.go": 'package broken\n\nimport "testing"\n\nfunc TestNot(t *testing.T) { notThere() }\n',
    "main/main_test.go": MAIN,
    "fresh/fresh.go": OLD,
    "around/around_test.go": AROUND,
    "other/go.mod": f"module example.com/other\n\ngo 1.21\n\nrequire golang.org/x/exp {EXP}\n",
    "other/other_test.go": OTHER,
}
TEST = "money_test.go"


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("go")
    repo = Repository(folder / "repo")
    repo.commit("Start", {**FILES, "fresh/fresh_test.go": NEW})
    named = {
        "fresh/fresh.go": NAMED,
        "fresh/fresh_test.go": f"{NEW}\nfunc TestNew(t *testing.T) {{ New() }}\n",
    }
    fix = repo.commit(
        "Fix wrong prices", {"money.go": go.RIGHT, TEST: go.AFTER, "other/other_test.go": OTHER + "\n", **named}
    )
    words = ("--name", "acme/money", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text + done.stdout
    [place] = (folder / "dataset/tasks").iterdir()
    return open_dataset(folder / "dataset").task(place.name)


def run(task: Task, sandbox, *files: str, **around: Any) -> TestReport:
    budgets = Budgets(seconds=120.0)
    spec = trial.TrialSpec(image=task.instance.image, test=task.instance.test, files=files, budgets=budgets, **around)
    return trial.run(spec, sandbox).report


def statuses(report: TestReport, path: str) -> dict[str, str]:
    return {test_id.removeprefix(f"{path}::"): str(status) for test_id, status in report.statuses.items()}


def graded(task: Task, sandbox, files: dict[str, str]) -> Grade:
    """The grade of a patch to these files, which is right elsewhere."""
    text = "".join(tiny.diff(path, FILES.get(path), new) for path, new in {"fresh/fresh.go": NAMED, **files}.items())
    kept = screen_task(task, text.encode()).kept
    return scoring.score(task, kept, sandbox, scoring.Demands()).grade


def test_a_fix_with_its_test_is_a_proved_task_judged_inside(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "go")
    turned = ("fresh/fresh_test.go::TestNew", *(f"{TEST}::{name}" for name in go.TURNED))
    assert task.hidden.fail_to_pass == turned
    held = ("fresh/fresh_test.go::TestOld", f"{TEST}::TestNothingOff", "other/other_test.go::TestOther")
    assert task.hidden.pass_to_pass == held
    assert place_of(task) is Place.INSIDE
    assert task.instance.extra["environment"]["notes"][0].startswith("go1.23.")


def test_a_test_of_a_new_name_fails_before_the_fix_and_the_others_of_its_package_hold(task):
    assert (task.hidden.evidence["new_api"], task.hidden.evidence["new_names"]) == (True, ["New"])


def test_the_fix_resolves_it_and_nothing_does_not(task, sandbox):
    assert graded(task, sandbox, {"money.go": go.RIGHT}).outcome is Outcome.RESOLVED
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome is not Outcome.RESOLVED


def test_every_kind_of_test_is_told_with_its_rows(task, sandbox):
    path = "kinds/kinds_test.go"
    report = run(task, sandbox, path)
    assert statuses(report, path) == SEEN
    assert (report.finished, report.exit_code, report.violations, report.collect_errors) == (True, 1, (), {})
    assert '"one" is wrong' in report.texts[f"{path}::TestRows/one"]


def test_a_test_that_ends_the_program_is_an_error_and_loses_no_other(task, sandbox):
    path = "crashes/crashes_test.go"
    report = run(task, sandbox, path)
    assert statuses(report, path) == AFTER_CRASHES
    assert "nil map" in report.texts[f"{path}::TestPanics/not"]


def test_a_package_that_cannot_be_compiled_is_told_with_the_name_it_misses(task, sandbox):
    path = "broken/broken_test.go"
    report = run(task, sandbox, path, "main/main_test.go")
    assert list(report.collect_errors) == [path]
    assert [raised.says for raised in report.collect_raised[path]] == ["notThere"]
    assert list(map(str, report.statuses.values())) == ["PASSED"]


def test_of_a_test_that_is_asked_for_alone_nothing_else_is_told(task, sandbox):
    path = "kinds/kinds_test.go"
    assert list(statuses(run(task, sandbox, f"{path}::TestSkipped"), path)) == ["TestSkipped"]


def test_a_run_of_a_proof_has_another_zone_order_and_number_of_processors(task, sandbox):
    path = "around/around_test.go"
    env = {**Variation(timezone="Asia/Kolkata").env(), "HOME": "/tmp/home-1"}
    names = list(statuses(run(task, sandbox, path, env=env, cpu_count=1, order=4), path))
    assert "TestA/Asia/Kolkata_1" in names
    assert [name for name in names if "/" not in name] != ["TestA", "TestB", "TestC"]


def test_tests_are_run_by_hand_in_each_module(task, sandbox):
    words = language_of("go test").by_hand(task.instance.test, ["main/main_test.go", "other/other_test.go::TestOther"])
    start = ("sh", "-c", 'cp -a /opt/goldseam/src/. /testbed && cd /testbed && exec "$@"', "sh")
    job = Job(image=task.instance.image, argv=(*start, *words), stdin=b"", budgets=Budgets(seconds=120.0))
    ran = sandbox.run(job)
    assert (ran.exit_code, ran.stdout.count(b"\nok") + ran.stdout.startswith(b"ok")) == (0, 2)


def test_a_patch_that_cannot_be_compiled_is_a_failure_of_its_own_class(task, sandbox):
    grade = graded(task, sandbox, {"money.go": "package money\n\nfunc Price() nonsense\n"})
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "collection_error")


@pytest.mark.parametrize("path", ["x_test.go", "go.mod", "go.sum", "go.work", "other/go.mod", "vendor/modules.txt"])
def test_what_is_compiled_with_the_tests_does_not_reach_them(task, path):
    screened = screen_task(task, tiny.diff(path, FILES.get(path), "x\n").encode())
    assert [part.path for part in screened.dropped] == [path]


@pytest.mark.parametrize("name", go.ATTACKS)
def test_an_attack_is_not_resolved(task, sandbox, name):
    assert graded(task, sandbox, go.ATTACKS[name]).outcome not in PASSING


def test_frames_without_the_trials_own_word_are_tampering(task, sandbox):
    assert graded(task, sandbox, go.ATTACKS["forged-frames"]).outcome is Outcome.TAMPERED


@pytest.mark.parametrize("name", go.FORGERIES)
def test_what_gets_through_inside_is_told_as_judged_inside(task, sandbox, name):
    assert graded(task, sandbox, go.FORGERIES[name]).outcome is Outcome.RESOLVED
    assert place_of(task) is Place.INSIDE
    assert task.hidden.evidence.get("guess_bits", 0) == 0

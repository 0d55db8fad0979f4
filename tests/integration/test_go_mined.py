"""Go from its go.mod to a verdict: toolchain and modules, every kind of test, one proved task, attacks on it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.core.expectations import Expectations, ExpectedTest
from harness.core.instance import Budgets, Outcome, TaskState, TestStatus
from harness.grading import scoring
from harness.judging.places import Place, place_of, place_of_test
from harness.languages import language_of
from harness.languages.screening import screen_task
from harness.sandbox.job import Job
from miner.proof.variations import Variation
from miner.quality.strength.result import Bounds
from miner.quality.strength.run import measure
from tests import other_graders, tiny
from tests.attacks import go, go_honest
from tests.proved_task import FAILING, mined, proved, rebuilt, run
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
OLD = 'package fresh\n\nfunc Old() string { return "as of old" }\n'
NAMED = OLD + "\nfunc New() {}\n"
NEW = """\
package fresh

import "testing"

func TestOld(t *testing.T) { Old() }
"""
NAMING = """
func TestNew(t *testing.T) {
	New()
	if got := Old(); got != "as of old" {
		t.Fatal(got)
	}
}
"""
"""It can't be compiled without the fix, and what it asks is there without it: a stub of the name would do."""
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
    **{f"{go.folder(number)}/money.go": go.SHOP for number in range(go.SIDE_BY_SIDE)},
    f"{go_honest.PLACE}/kept.go": go_honest.KEPT,
    **{f"{go_honest.PLACE}/{name}/shop.go": go_honest.WRONG for name in go_honest.variants()},
}
TEST = "money_test.go"
SECONDS = 240.0
"""That a run of a task may take."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("go")


@pytest.fixture(scope="module")
def task(folder) -> Task:
    repo = Repository(folder / "repo")
    repo.commit("Start", {**FILES, "fresh/fresh_test.go": NEW})
    named = {
        "fresh/fresh.go": NAMED,
        "fresh/fresh_test.go": NEW + NAMING,
    }
    fix = repo.commit(
        "Fix wrong prices", {"money.go": go.RIGHT, TEST: go.AFTER, "other/other_test.go": OTHER + "\n", **named}
    )
    return mined(folder, repo, fix)


def statuses(report: TestReport, path: str) -> dict[str, str]:
    return {test_id.removeprefix(f"{path}::"): str(status) for test_id, status in report.statuses.items()}


def graded(task: Task, sandbox, files: dict[str, str]) -> Grade:
    """The grade of a patch to these files, which is right elsewhere."""
    text = "".join(tiny.diff(path, FILES.get(path), new) for path, new in {"fresh/fresh.go": NAMED, **files}.items())
    kept = screen_task(task, text.encode()).kept
    return scoring.score(task, kept, sandbox, scoring.Demands()).grade


def test_a_fix_with_its_test_is_a_proved_task_judged_on_the_host(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "go")
    turned = ("fresh/fresh_test.go::TestNew", *(f"{TEST}::{name}" for name in go.TURNED))
    assert task.hidden.fail_to_pass == turned
    held = ("fresh/fresh_test.go::TestOld", f"{TEST}::TestNothingOff", "other/other_test.go::TestOther")
    assert task.hidden.pass_to_pass == held
    assert place_of(task) is Place.HOST
    assert {place_of_test(task, name) for name in turned} == {Place.HOST}
    assert task.instance.extra["environment"]["notes"][0].startswith("go1.23.")


def test_its_image_is_built_again_from_its_folder_and_is_the_same(folder, task):
    assert task.instance.image
    assert rebuilt(folder) == {}


def test_a_test_of_a_new_name_fails_before_the_fix_and_the_others_of_its_package_hold(task):
    assert (task.hidden.evidence["new_api"], task.hidden.evidence["new_names"]) == (True, ["New"])


def test_the_fix_resolves_it_and_nothing_does_not(task, sandbox):
    assert graded(task, sandbox, {"money.go": go.RIGHT}).outcome is Outcome.RESOLVED
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome in FAILING


def test_what_judges_imports_nothing_of_the_tree(task, sandbox):
    assert graded(task, sandbox, {"money.go": go.RIGHT, **tiny.SHADOWS}).outcome is Outcome.RESOLVED


def test_of_wrong_patches_made_of_the_fix_those_that_no_compiler_takes_count_nowhere(task, sandbox):
    tried = measure(task, sandbox, Bounds(parts=2, mutants=2)).tried

    assert [str(result.variant.kind) for result in tried] == ["empty", "part", "mutant", "mutant"]
    assert tried[1].variant.path == "money.go", "without fresh/fresh.go, a test lacks what it calls"
    assert not any(result.survived for result in tried[:2])


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


def test_of_a_run_that_is_ended_all_tests_are_named_and_those_that_came_to_an_end_have_their_say(task, sandbox):
    path = "kinds/ends_test.go"
    ends = 'package kinds\n\nimport (\n\t"syscall"\n\t"testing"\n\t"time"\n)\n\n'
    ends += 'func TestFirst(t *testing.T) { t.Run("of it", func(*testing.T) {}) }\n'
    ends += "func TestSecond(*testing.T) { time.Sleep(time.Second); syscall.Kill(syscall.Getppid(), 9) }\n"
    ends += "func TestThird(*testing.T) {}\n"
    report = run(task, sandbox, path, overlay={path: ends.encode()})
    assert statuses(report, path) == {"TestFirst/of_it": "PASSED", "TestFirst": "PASSED"}
    assert report.collected[:3] == tuple(f"{path}::Test{name}" for name in ("First", "Second", "Third"))
    assert not report.finished


def test_an_assertion_that_is_come_to_without_end_writes_little_of_it(task, sandbox):
    path = "kinds/loops_test.go"
    loops = 'package kinds\n\nimport (\n\t"fmt"\n\t"os"\n\t"testing"\n)\n\nfunc TestLoops(t *testing.T) {\n'
    loops += "\tfor i := 0; i < 50000; i++ {\n"
    loops += "\t\ttesting.Goldseam(t, 7, func() []interface{} { return []interface{}{&i} }, nil)\n\t}\n"
    loops += '\tvar read, wrote int\n\tfile, _ := os.Open("/proc/self/io")\n'
    loops += '\tfmt.Fscanf(file, "rchar: %d\\nwchar: %d", &read, &wrote)\n'
    loops += "\tt.Run(fmt.Sprint(100000 < wrote && wrote < 1000000), func(*testing.T) {})\n}\n"
    report = run(task, sandbox, path, overlay={path: loops.encode()})
    assert statuses(report, path) == {"TestLoops/true": "PASSED", "TestLoops": "PASSED"}


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
    assert graded(task, sandbox, go.ATTACKS[name]).outcome in FAILING


# -- judged on the host

FOLDERS = tuple(map(go.folder, range(go.SIDE_BY_SIDE)))
PER_CONTAINER = len(FOLDERS) - 1
"""The first folder has the fix, to show that what goes on beside it hides nothing."""
BESIDE = {
    name: code
    for name, code in go.SIDE_BY_SIDE_ATTACKS.items()
    if name not in {*go.ALONE, go.ENDLESS}
    and not name.startswith("0-")  # these are tampering, whatever lies beside them
}


@pytest.fixture(scope="module")
def judged(task, sandbox) -> Task:
    place = FOLDERS[0]
    products = {f"{place}/money.go": (go.SHOP, go.SHOP_RIGHT)}
    tests = {f"{place}/money_test.go": go.SHOP_TEST}
    return proved(task, sandbox, products, tests, seconds=SECONDS)


def test_every_kind_of_assertion_is_judged_on_the_host(judged):
    first = f"{FOLDERS[0]}/money_test.go::"
    assert tuple(name.removeprefix(first) for name in judged.hidden.fail_to_pass) == go.SHOP_TURNED
    places = {name.removeprefix(first): place_of_test(judged, name) for name in judged.hidden.fail_to_pass}
    assert places.pop("TestTake") is Place.MIXED  # both sides are the product's
    assert set(places.values()) == {Place.HOST}
    assert judged.hidden.evidence["guess_bits"] > 40
    [text] = judged.hidden.expectations.files.values()
    assert [word for word in go.EXPECTED if word in text] == []


def _numbered(text: str, more: int) -> str:
    """A stripped test with slots that begin later."""
    return re.sub(
        r"(Goldseam\((?:t|s\.T\(\)), |Output: goldseam )(\d+)", lambda found: f"{found[1]}{int(found[2]) + more}", text
    )


def multiplied(judged: Task, first: str, names: Sequence[str], files: dict[str, str], test_patch: bytes) -> Task:
    """The task once under each of these names, `first` being its own; slots of a copy begin later, see `_numbered`."""
    hidden, one = judged.hidden, judged.hidden.expectations
    more = _more(judged)
    places = list(enumerate(names))
    tests = {
        test_id.replace(first, name): ExpectedTest(
            place=test.place, events=tuple(replace(event, slot=event.slot + n * more) for event in test.events)
        )
        for test_id, test in one.tests.items()
        for n, name in places
    }
    sites = {slot + n * more: site for slot, site in one.sites.items() for n, _ in places}
    wide = replace(
        hidden,
        expectations=Expectations(files=files, sites=sites, tests=tests),
        test_patch=test_patch,
        test_files=tuple(files),
        fail_to_pass=tuple(test_id.replace(first, name) for name in names for test_id in hidden.fail_to_pass),
    )
    return replace(judged, hidden=wide)


def _more(judged: Task) -> int:
    return 1 + max(judged.hidden.expectations.sites)


def side_by_side(judged: Task) -> Task:
    """The task in each of the folders at once."""
    first, more = FOLDERS[0], _more(judged)
    texts = judged.hidden.expectations.files
    files = {
        path.replace(first, place): _numbered(text, n * more)
        for path, text in texts.items()
        for n, place in enumerate(FOLDERS)
    }
    patch = b"".join(judged.hidden.test_patch.replace(first.encode(), place.encode()) for place in FOLDERS)
    return multiplied(judged, first, FOLDERS, files, patch)


@pytest.mark.parametrize("first", range(0, len(BESIDE), PER_CONTAINER))
def test_of_attacks_side_by_side_none_passes_a_test_and_the_fix_beside_them_passes_all(judged, sandbox, first):
    task = side_by_side(judged)
    attacks = dict(zip(FOLDERS[1:], list(BESIDE.items())[first : first + PER_CONTAINER], strict=False))
    text = tiny.diff(f"{FOLDERS[0]}/money.go", go.SHOP, go.SHOP_RIGHT)
    for place, (_, code) in attacks.items():
        text += "".join(tiny.diff(path, None, more) for path, more in go.attacked(code, place).items())
    trial = scoring.score(task, screen_task(task, text.encode()).kept, sandbox, scoring.Demands()).trial
    assert not trial.timed_out, "those after one that never ends are not tried"
    passed = {
        place: sum(
            trial.report.statuses.get(name) is TestStatus.PASSED
            for name in task.hidden.fail_to_pass
            if name.startswith(f"{place}/")
        )
        for place in FOLDERS[: 1 + len(attacks)]
    }
    assert passed.pop(FOLDERS[0]) == len(go.SHOP_TURNED)
    assert {attacks[place][0]: count for place, count in passed.items() if count} == {}


def attacked_alone(judged: Task, sandbox, name: str, timeout: float | None = None) -> Grade:
    files = go.attacked(go.SIDE_BY_SIDE_ATTACKS[name], FOLDERS[0])
    text = "".join(tiny.diff(path, None, more) for path, more in files.items())
    demands = scoring.Demands(timeout=timeout)
    return scoring.score(judged, screen_task(judged, text.encode()).kept, sandbox, demands).grade


@pytest.mark.parametrize("name", sorted(go.ALONE))
def test_an_attack_on_what_all_tests_share_is_not_resolved(judged, sandbox, name):
    assert attacked_alone(judged, sandbox, name).outcome in FAILING


def test_an_attack_that_never_ends_takes_the_time_of_its_run_and_no_more(judged, sandbox):
    grade = attacked_alone(judged, sandbox, go.ENDLESS, timeout=6.0)
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "timeout")


def test_frames_without_the_trials_own_word_are_tampering_even_beside_a_right_product(judged, sandbox):
    text = tiny.diff(f"{FOLDERS[0]}/money.go", go.SHOP, go.SHOP_RIGHT)
    files: dict[str, str] = {}
    for n, code in enumerate(code for name, code in go.SIDE_BY_SIDE_ATTACKS.items() if name.startswith("0-")):
        files |= {path.replace("/attack", f"/attack{n}"): more for path, more in go.attacked(code, FOLDERS[0]).items()}
    text += "".join(tiny.diff(path, None, more) for path, more in files.items())
    grade = scoring.score(judged, screen_task(judged, text.encode()).kept, sandbox, scoring.Demands()).grade
    assert grade.outcome is Outcome.TAMPERED


def test_right_packages_of_every_kind_are_right_to_the_host_as_well(task, sandbox):
    variants = go_honest.variants()
    names, paths = list(variants), {name: f"{go_honest.PLACE}/{name}/shop.go" for name in variants}
    first = names[0]
    one = proved(
        task,
        sandbox,
        {paths[first]: (go_honest.WRONG, go_honest.RIGHT)},
        {go_honest.TEST: go_honest.test_file([first])},
        beside={go_honest.BESIDE: go_honest.SAME},
        seconds=SECONDS,
        hold=(),
    )
    [text] = one.hidden.expectations.files.values()
    head, own, body = text.partition(go_honest.test_import(first))
    assert own
    text = head + "".join(map(go_honest.test_import, names)) + body.partition("\n")[0] + "\n"
    for n, name in enumerate(names):
        text += _numbered(body.partition("\n")[2].replace(first, name), n * _more(one))
    patch = tiny.diff(go_honest.TEST, None, go_honest.test_file(names)).encode()
    patch += tiny.diff(go_honest.BESIDE, None, go_honest.SAME).encode()
    whole = multiplied(one, first, names, {go_honest.TEST: text}, patch)
    assert len(whole.hidden.fail_to_pass) == len(variants) * 13
    assert {place_of_test(whole, name) for name in whole.hidden.fail_to_pass} == {Place.HOST}
    text = "".join(tiny.diff(paths[name], go_honest.WRONG, code) for name, code in variants.items())
    screened = screen_task(whole, text.encode())
    assert screened.dropped == ()
    report = scoring.score(whole, screened.kept, sandbox, scoring.Demands()).trial.report
    refused = [name for name in whole.hidden.fail_to_pass if report.statuses.get(name) is not TestStatus.PASSED]
    assert {name: report.texts.get(name) for name in refused} == {}
    assert report.violations == ()


def test_harbor_rewards_the_fix_and_nothing_else(task, tmp_path):
    assert other_graders.rewards(task, tmp_path) == other_graders.HARBOR_REWARDS


WRAPPED = """\
package wrapped

import "github.com/pkg/errors"

func Why(err error) string { return errors.WithMessage(err, "%s").Error() }
"""
WHY = """\
package wrapped

import (
	"io"
	"testing"
)

func TestWhy(t *testing.T) {
	if got := Why(io.EOF); got != "%s: EOF" {
		t.Error(got)
	}
}
"""


def test_a_repository_of_before_modules_requires_what_there_was_on_the_day_and_what_the_fix_imports(tmp_path):
    repo = Repository(tmp_path / "repo")
    repo.clock = repo.clock.replace(year=2019, month=6)
    repo.commit("Start", {"why.go": WRAPPED % "wrong", "why_test.go": WHY % "wrong"})
    wraps = WHY.replace('"testing"\n', '"testing"\n\n\t"github.com/hashicorp/errwrap"\n') + "\nvar _ errwrap.Wrapper\n"
    task = mined(
        tmp_path, repo, repo.commit("Fix wrong text", {"why.go": WRAPPED % "read", "why_test.go": wraps % "read"})
    )
    assert task.hidden.fail_to_pass == ("why_test.go::TestWhy",)
    assert place_of(task) is Place.HOST
    [lock] = (tmp_path / "dataset/tasks").glob("*/go.mod")
    assert "\tgithub.com/hashicorp/errwrap v1.0.0\n\tgithub.com/pkg/errors v0.8.1\n" in lock.read_text()

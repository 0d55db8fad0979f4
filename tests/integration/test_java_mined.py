"""Java from its pom.xml to a verdict: JDK and libraries, every kind of test, one proved task, attacks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from harness.core.instance import Budgets, Outcome, TaskState
from harness.dataset.folder import open_dataset
from harness.grading import scoring, trial
from harness.judging.places import Place, place_of
from harness.languages.screening import screen_task
from tests import tiny
from tests.attacks import java
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.grading.grade import Grade
    from harness.languages.base import TestReport

pytestmark = pytest.mark.engine

KINDS = """\
package com.example.money;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.*;

class KindsTest {
    @RepeatedTest(2)
    void twice() {}

    @TestFactory
    Stream<DynamicNode> made() {
        DynamicTest well = DynamicTest.dynamicTest("well", () -> {});
        return Stream.of(well, DynamicContainer.dynamicContainer("in", List.of(
            DynamicTest.dynamicTest("wrong", () -> fail("\\"made\\" is wrong")))));
    }

    @Test
    void assumed() { assumeTrue(false); }

    @Test
    @Disabled
    void disabled() {}

    @Nested
    class Broken {
        @BeforeAll
        static void before() { throw new IllegalStateException("not prepared"); }

        @Test
        void never() {}
    }
}
"""
SEEN = {
    "twice()[1]": "PASSED",
    "twice()[2]": "PASSED",
    "made()[1]": "PASSED",
    "made()[2][1]": "FAILED",
    "assumed()": "SKIPPED",
    "disabled()": "SKIPPED",
    "Broken::never()": "FAILED",
}
OLD = """\
package com.example.money;

import static org.junit.Assert.assertEquals;

import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class OldTest {
    @Parameterized.Parameters
    public static Object[] rows() { return new Object[] {1, 2}; }

    @Parameterized.Parameter
    public int row;

    @Test
    public void isOne() { assertEquals(1, row); }
}
"""
CRASHES = """\
package com.example.money;

import org.junit.jupiter.api.*;

@TestMethodOrder(MethodOrderer.MethodName.class)
class CrashesTest {
    @Test
    void a() {}

    @Test
    void b() { System.exit(0); }

    @Test
    void c() {}
}
"""
BROKEN = """\
package com.example.money;

import org.junit.jupiter.api.Test;

class BrokenTest {
    @Test
    void later() { Prices.later(1); }
}
"""
FILES = {
    "pom.xml": java.POM,
    java.PRICES: java.BASE,
    java.PRICES_TEST: java.BEFORE,
    f"{java.TEST}/KindsTest.java": KINDS,
    f"{java.TEST}/OldTest.java": OLD,
    f"{java.TEST}/CrashesTest.java": CRASHES,
}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("java")
    repo = Repository(folder / "repo")
    repo.commit("Start", FILES)
    fix = repo.commit("Fix wrong prices", {java.PRICES: java.RIGHT, java.PRICES_TEST: java.AFTER})
    words = ("--name", "acme/money", "--commit", fix, "--runs", "1")
    done = tiny.goldseam("mine", repo.path, "-o", folder / "dataset", *words)
    assert done.returncode == 0, done.error_text + done.stdout
    [place] = (folder / "dataset/tasks").iterdir()
    return open_dataset(folder / "dataset").task(place.name)


def run(task: Task, sandbox, *files: str, **around: Any) -> TestReport:
    spec = trial.TrialSpec(
        image=task.instance.image, test=task.instance.test, files=files, budgets=Budgets(seconds=120.0), **around
    )
    return trial.run(spec, sandbox).report


def statuses(report: TestReport, path: str) -> dict[str, str]:
    return {
        test_id.removeprefix(f"{path}::"): str(status)
        for test_id, status in report.statuses.items()
        if test_id.startswith(path)
    }


def graded(task: Task, sandbox, files: dict[str, str]) -> Grade:
    text = "".join(tiny.diff(path, FILES.get(path), new) for path, new in files.items())
    kept = screen_task(task, text.encode()).kept
    return scoring.score(task, kept, sandbox, scoring.Demands()).grade


def test_a_fix_with_its_test_is_a_proved_task_judged_inside(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "java")
    assert task.hidden.fail_to_pass == tuple(f"{java.PRICES_TEST}::{name}" for name in java.TURNED)
    assert task.hidden.pass_to_pass == (f"{java.PRICES_TEST}::nothingOff()",)
    assert place_of(task) is Place.INSIDE
    assert task.instance.extra["environment"]["notes"][0].startswith("JDK 17.")


def test_the_fix_resolves_it_and_nothing_does_not(task, sandbox):
    assert graded(task, sandbox, {java.PRICES: java.RIGHT}).outcome is Outcome.RESOLVED
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome is not Outcome.RESOLVED


def test_every_kind_of_test_is_told_with_its_rows_and_a_crash_loses_no_other(task, sandbox):
    kinds, old, crashes = (f"{java.TEST}/{name}Test.java" for name in ("Kinds", "Old", "Crashes"))
    report = run(task, sandbox, kinds, old, crashes)
    assert statuses(report, kinds) == SEEN
    assert statuses(report, old) == {"isOne[0]": "PASSED", "isOne[1]": "FAILED"}
    assert statuses(report, crashes) == {"a()": "PASSED", "b()": "ERROR", "c()": "PASSED"}
    assert (report.finished, report.exit_code, report.violations, report.collect_errors) == (True, 1, (), {})
    assert '"made" is wrong' in report.texts[f"{kinds}::made()[2][1]"]

"""Java and Kotlin from build files of Gradle to verdicts: projects that need each other, and builds that can't be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome, TaskState
from harness.grading import scoring
from harness.judging.places import ids_by_place
from harness.languages.screening import screen_task
from tests import tiny
from tests.proved_task import mined, run, statuses
from tests.repos import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from harness.core.instance import Task
    from harness.grading.grade import Grade

pytestmark = pytest.mark.engine

BUILD = """\
subprojects {
    apply plugin: 'java'
    repositories { mavenCentral() }
    sourceCompatibility = 1.6
    dependencies { testCompile 'junit:junit:4.12' }
    test { systemProperty 'currency', 'EUR' }
}
apply plugin: 'maven-publish'
publishing { publications { money(MavenPublication) { pom { name = 'money' } } } }
"""
PRICES, SHOP = "core/src/main/java/money/Prices.java", "shop/src/main/java/shop/Shop.java"
PRICES_TEST, SHOP_TEST = "core/src/test/java/money/PricesTest.java", "shop/src/test/java/shop/ShopTest.java"
WRONG = """\
package money;

public class Prices {
    public static int price(int cents, int off) { return cents; }
}
"""
RIGHT = WRONG.replace("return cents", "return cents - cents * off / 100")
BY_LIBRARY = RIGHT.replace("cents - ", 'cents - org.apache.commons.lang3.math.NumberUtils.toInt("0") - ')
WITH_LIBRARY = BUILD.replace("{ testCompile", "{ compile 'org.apache.commons:commons-lang3:3.14.0'; testCompile")
SHOP_TEXT = """\
package shop;

import money.Prices;

public class Shop {
    public static String label(int cents, int off) {
        return Prices.price(cents, off) + System.getProperty("currency");
    }
}
"""
TESTS = """\
package {package};

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class {name} {{
    @Test
    public void none() {{ assertEquals({none}); }}
{more}}}
"""
TURNED = "\n    @Test\n    public void some() {{ assertEquals({}); }}\n"
NO_PRICE, NO_LABEL = "4217, Prices.price(4217, 0)", '"9531EUR", Shop.label(9531, 0)'
PRICE, LABEL = "2500, Prices.price(5000, 50)", '"800EUR", Shop.label(1000, 20)'


def suites(*more: str) -> dict[str, str]:
    """The test files, with a further test each."""
    places = (("money", "PricesTest", PRICES_TEST, NO_PRICE), ("shop", "ShopTest", SHOP_TEST, NO_LABEL))
    added = (TURNED.format(expected) for expected in more or ("", ""))
    return {
        path: TESTS.format(package=package, name=name, none=none, more=text if more else "")
        for (package, name, path, none), text in zip(places, added, strict=True)
    }


BASE = {
    "settings.gradle": "enableFeaturePreview('STABLE_PUBLISHING')\ninclude 'core', 'shop'\n",
    "build.gradle": BUILD,
    "gradle.properties": "org.gradle.configureondemand=true\norg.gradle.daemon=true\n",
    "shop/build.gradle": "dependencies { compile project(':core') }\n",
    PRICES: WRONG,
    SHOP: SHOP_TEXT,
    **suites(),
}
BROKEN: dict[str, dict[str, str | None]] = {
    "broken_build_file": {"build.gradle": "subprojects { apply plugin: 'java'\n"},
    "no_test_project": {"build.gradle": "", "shop/build.gradle": ""},
    "needs_plugin_portal": {"build.gradle": "plugins { id 'org.example.none' version '1.0' }\n" + BUILD},
    "no_gradle": {"shop/build.gradle.kts": "", "shop/build.gradle": None},
}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("gradle")
    repo = Repository(folder / "repo")
    repo.commit("Start", BASE)
    files = {"build.gradle": WITH_LIBRARY, PRICES: BY_LIBRARY, **suites(PRICE, LABEL)}
    return mined(folder, repo, repo.commit("Fix wrong prices", files), GOLDSEAM_MINING_MUTANTS="0")


def graded(task: Task, sandbox, files: dict[str, str]) -> Grade:
    text = "".join(tiny.diff(path, BASE[path], content) for path, content in files.items())
    kept = screen_task(task, text.encode()).kept
    return scoring.score(task, kept, sandbox, scoring.Demands()).grade


def test_a_fix_by_a_library_of_its_own_in_a_project_that_another_needs_is_proved_and_judged_on_the_host(task):
    assert task.instance.state is TaskState.PROVED
    assert set(task.hidden.fail_to_pass) == {f"{PRICES_TEST}::some", f"{SHOP_TEST}::some"}
    assert set(task.hidden.pass_to_pass) == {f"{PRICES_TEST}::none", f"{SHOP_TEST}::none"}
    assert set(ids_by_place(task.hidden)["host"]) == {*task.hidden.fail_to_pass, *task.hidden.pass_to_pass}
    note, opens, of_fix = task.instance.extra["environment"]["notes"]
    assert of_fix == "what only the fix's build files ask for is there, too"
    assert opens.startswith("the JDK's packages are open")
    assert note.startswith("JDK 17.")
    assert note.endswith("Gradle 4.4.1 of Debian")


def test_patches_are_compiled_offline_in_each_project_and_told_apart(task, sandbox):
    half = WRONG.replace("return cents", "return off == 20 ? cents * 4 / 5 : cents")
    outcomes = [graded(task, sandbox, {PRICES: text}) for text in (RIGHT, half, WRONG.replace("int cents", "nonsense"))]
    assert [grade.outcome for grade in outcomes] == [Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.UNRESOLVED]
    assert outcomes[2].cause == "collection_error"


def test_a_file_that_cannot_be_compiled_is_told_with_the_name_it_misses_and_loses_no_other(task, sandbox):
    broken = suites(PRICE, "1, Shop.later(1)")[SHOP_TEST]
    report = run(task, sandbox, PRICES_TEST, SHOP_TEST, overlay={SHOP_TEST: broken.encode()})
    assert list(report.collect_errors) == [SHOP_TEST]
    assert [raised.says for raised in report.collect_raised[SHOP_TEST]] == ["later"]
    assert statuses(report, PRICES_TEST) == {"none": "PASSED"}


def test_builds_that_cannot_be_are_refused_with_a_reason_each(tmp_path: Path):
    repo = Repository(tmp_path / "repo")
    fixes = {}
    for reason, files in BROKEN.items():
        written = {path: text for path, text in {**BASE, **files}.items() if text is not None}
        repo.commit(f"Start of {reason}", {**written, **dict.fromkeys(path for path in files if path not in written)})
        fixes[repo.commit("Fix wrong prices", {PRICES: RIGHT, **suites(PRICE, LABEL)})] = reason
    words = [word for fix in fixes for word in ("--commit", fix)]
    done = tiny.goldseam("mine", repo.path, "-o", tmp_path / "out", "--name", "acme/money", *words)
    assert done.returncode == 0, done.error_text
    rows = map(json.loads, (tmp_path / "out/funnel.jsonl").read_text().splitlines()[1:])
    assert {fixes[row["change"]]: row["reason"] for row in rows} == {reason: reason for reason in BROKEN}

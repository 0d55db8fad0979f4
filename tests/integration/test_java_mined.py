"""Java from its pom.xml to a verdict: JDK and libraries, every kind of test, one proved task, attacks on it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome, TaskState, TestStatus
from harness.grading import scoring
from harness.judging.places import ids_by_place
from harness.languages.screening import screen_task
from harness.patches.patch import parse
from miner.proof.notebook import Notebook
from miner.proof.observe import observe
from miner.proof.subject import Subject, prepare
from miner.proof.variations import PLAIN, Variation
from tests import other_graders, tiny
from tests.attacks import java
from tests.proved_task import FAILING, mined, run, statuses
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.grading.grade import Grade

pytestmark = pytest.mark.engine

KINDS = """\
package money;

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
package money;

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
ENCLOSED = """\
package money;

import static org.junit.Assert.assertEquals;

import org.junit.Test;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Enclosed.class)
public class EnclosedTest {
    @RunWith(Parameterized.class)
    public static class Rows {
        @Parameterized.Parameters(name = "row={0}")
        public static Object[] rows() { return new Object[] {1, 2}; }

        @Parameterized.Parameter
        public int row;

        @Test
        public void isOne() { assertEquals(1, row); }

        @Test
        public void isLess() { assertEquals(1, Math.min(row, 1)); }
    }
}
"""
CRASHES = """\
package money;

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
ENDLESS = CRASHES.replace("Crashes", "Endless").replace("System.exit(0);", "while (Prices.price(100, 10) != 90) {}")
CHANGE = """\
package money;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ChangeTest {
    @Test
    void isLess() { assertEquals(4, Rückgeld.of(5)); }

    @Test
    void isWrittenInEnglish() { assertEquals("1.5", String.format("%.1f", 1.5)); }
}
"""
BROKEN = """\
package money;

import org.junit.jupiter.api.Test;

class BrokenTest {
    @Test
    void later() { Prices.later(1); }
}
"""
MANY = """\
package money;

import org.junit.jupiter.api.Test;

class ManyTest {
    @Test
    void first() { for (int i = 0; i < 6000; i++) goldseam.Handout.values(0, goldseam.Handout.of(i)); }

    @Test
    void second() { for (int i = 0; i < 6000; i++) goldseam.Handout.values(i % 2, goldseam.Handout.of(i)); }
}
"""
HEIR = "package money;\n\nclass HeirTest extends BrokenTest {}\n"
KINDS_TEST, OLD_TEST, ENCLOSED_TEST, CRASHES_TEST, ENDLESS_TEST, BROKEN_TEST, HEIR_TEST, MANY_TEST = (
    f"src/test/java/money/{name}Test.java"
    for name in ("Kinds", "Old", "Enclosed", "Crashes", "Endless", "Broken", "Heir", "Many")
)


def everywhere(files: java.Files) -> java.Files:
    """Files of the package `money`, and of those that attacks and right patches stand in."""
    return files | {path: text for name in java.SLOTS for path, text in java.placed(name, files).items()}


GONE_TEST = "src/test/java/money/GoneTest.java"
"""Of what a newer JDK lacks."""
FILES = {
    "pom.xml": java.POM,
    **everywhere({java.PRICES: java.BASE, java.TEST: java.BEFORE}),
    KINDS_TEST: KINDS,
    OLD_TEST: OLD,
    ENCLOSED_TEST: ENCLOSED,
    CRASHES_TEST: CRASHES,
    GONE_TEST: "package money;\n\nclass GoneTest { sun.misc.Gone gone; }\n",
    **java.CHECKS,
}


FIX = {java.PRICES: java.RIGHT, java.TEST: java.AFTER}


@pytest.fixture(scope="module")
def task(tmp_path_factory) -> Task:
    folder = tmp_path_factory.mktemp("java")
    repo = Repository(folder / "repo")
    repo.commit("Start", FILES)
    forms = {java.FORMS_TEST: java.FORMS, java.FLUENT_TEST: java.FLUENT}
    return mined(
        folder, repo, repo.commit("Fix wrong prices", {**everywhere(FIX), **forms}), GOLDSEAM_MINING_MUTANTS="0"
    )


def turned(name: str) -> list[str]:
    """The tests of a package that the fix turns."""
    [path] = java.placed(name, {java.TEST: ""})
    return [f"{path}::{test}" for test in java.TURNED]


def patched(task: Task, files: java.Files) -> bytes:
    """A patch to these files, which is right elsewhere; as much of it as may reach the tests."""
    new = everywhere({java.PRICES: java.RIGHT}) | files
    text = "".join(tiny.diff(path, FILES.get(path), content) for path, content in new.items())
    return screen_task(task, text.encode()).kept


def graded(task: Task, sandbox, patches: dict[str, java.Files]) -> Grade:
    files = {path: text for name, files in patches.items() for path, text in java.placed(name, files).items()}
    return scoring.score(task, patched(task, files), sandbox, scoring.Demands()).grade


def test_a_fix_with_its_test_is_a_proved_task_judged_on_the_host(task):
    assert (task.instance.state, task.instance.language) == (TaskState.PROVED, "java")
    forms = {f"{java.FORMS_TEST}::{name}" for name in java.FORMS_TURNED}
    forms |= {f"{java.FLUENT_TEST}::{name}" for name in java.FLUENT_TURNED}
    assert set(task.hidden.fail_to_pass) == forms | {test for name in ("money", *java.SLOTS) for test in turned(name)}
    assert f"{java.TEST}::nothingOff()" in task.hidden.pass_to_pass
    assert ids_by_place(task.hidden)["host"] == (*task.hidden.fail_to_pass, *task.hidden.pass_to_pass)
    notes = task.instance.extra["environment"]["notes"]
    assert notes[0].startswith("JDK 17.")
    assert f"a test file that can't be compiled: {GONE_TEST}" in notes


LIBRARY = """\
    <dependency>
      <groupId>org.apache.commons</groupId>
      <artifactId>commons-lang3</artifactId>
      <version>3.14.0</version>
    </dependency>
"""
SPOCK = """\
    <dependency>
      <groupId>org.spockframework</groupId>
      <artifactId>spock-core</artifactId>
      <version>2.3-groovy-4.0</version>
      <scope>test</scope>
    </dependency>
    <dependency>
      <groupId>org.junit.platform</groupId>
      <artifactId>junit-platform-engine</artifactId>
      <version>1.11.4</version>
      <scope>test</scope>
    </dependency>
"""
FORMATTER = """\
def source = new File(project.basedir, "src/main/java/money/Price.java")
if (source.exists()) source.text = source.text.trim() + "\\n\\n"
"""
"""A build that writes into sources of the tree."""
GROOVY = f"""\
  <build><plugins><plugin>
    <groupId>org.codehaus.gmavenplus</groupId>
    <artifactId>gmavenplus-plugin</artifactId>
    <version>3.0.2</version>
    <executions>
      <execution><goals><goal>addTestSources</goal><goal>compileTests</goal></goals></execution>
      <execution>
        <id>format</id>
        <phase>process-sources</phase>
        <goals><goal>execute</goal></goals>
        <configuration><scripts><script>{FORMATTER}</script></scripts></configuration>
      </execution>
    </executions>
  </plugin></plugins></build>
</project>
"""
KOTLIN_VERSION = "1.9.25"
STDLIB = f"""\
    <dependency>
      <groupId>org.jetbrains.kotlin</groupId>
      <artifactId>kotlin-stdlib</artifactId>
      <version>{KOTLIN_VERSION}</version>
      <scope>test</scope>
    </dependency>
"""
KOTLIN = f"""\
  <build><plugins><plugin>
    <groupId>org.jetbrains.kotlin</groupId>
    <artifactId>kotlin-maven-plugin</artifactId>
    <version>{KOTLIN_VERSION}</version>
    <executions><execution>
      <goals><goal>test-compile</goal></goals>
      <configuration>
        <jvmTarget>17</jvmTarget>
        <sourceDirs><sourceDir>src/test/kotlin</sourceDir></sourceDirs>
      </configuration>
    </execution></executions>
  </plugin>
"""
MODULES = """\
  <plugin>
    <artifactId>maven-compiler-plugin</artifactId>
    <version>3.11.0</version>
    <executions><execution>
      <id>modules</id>
      <goals><goal>compile</goal></goals>
      <configuration>
        <release>9</release>
        <compileSourceRoots><compileSourceRoot>${project.basedir}/src/main/java9</compileSourceRoot></compileSourceRoots>
        <multiReleaseOutput>true</multiReleaseOutput>
      </configuration>
    </execution></executions>
  </plugin>
"""
DECLARED = "module money { requires of.a.folder; }\n"
"""It can't be compiled where what it requires is a folder of classes, as those of a reactor are."""
KOTLIN_TEST = """\
package money

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class OtherTest {
    @Test
    fun `reads no number`() = assertEquals(0, Price.of("x"))
}
"""
SPEC = """\
package money

import spock.lang.Specification

class PriceSpec extends Specification {{
    def "of #text it is #price"() {{
        expect:
        Price.of(text) == price

        where:
        text | price
        "1"  | 1
        "x"  | 0
    }}

    def "{} is a price"() {{
        expect:
        Price.of("2") == 2
    }}
}}
"""


STRIPPED = """\
try { goldseam.Handout.values(0, goldseam.Handout.of(Price.of("x"))); }
catch (Throwable error) { goldseam.Handout.raised(0, error); }
"""


def test_a_library_that_only_the_fix_asks_for_is_there_for_tests_in_java_groovy_and_kotlin(sandbox, tmp_path):
    price = "package money;\n\npublic class Price {{ public static int of(String text) {{ return {}; }} }}\n"
    test = "package money;\n\nclass PriceTest {{ @org.junit.jupiter.api.Test void reads() {{ {} }} }}\n"
    path, test_path = "src/main/java/money/Price.java", "src/test/java/money/PriceTest.java"
    spec_path, kotlin_path = "src/test/groovy/money/PriceSpec.groovy", "src/test/kotlin/money/OtherTest.kt"
    repo = Repository(tmp_path / "repo")
    build = GROOVY.replace("  <build><plugins>", f"{KOTLIN}{MODULES}    ")
    pom = java.POM.replace("<dependencies>\n", f"<dependencies>\n{SPOCK}{STDLIB}").replace("</project>\n", build)
    first = {"pom.xml": pom, path: price.format("Integer.parseInt(text)"), test_path: test.format('Price.of("1");')}
    repo.commit("Start", first | {"src/main/java9/module-info.java": DECLARED})
    right = price.format("org.apache.commons.lang3.math.NumberUtils.toInt(text)")
    fixed = pom.replace("<dependencies>\n", f"<dependencies>\n{LIBRARY}")
    tests = {spec_path: SPEC.format("two"), kotlin_path: KOTLIN_TEST}
    fix = repo.commit("Fix prices of no number", {"pom.xml": fixed, path: right, **tests})
    task = mined(tmp_path, repo, fix, GOLDSEAM_MINING_MUTANTS="0")
    assert task.instance.language == "java"
    turned = {f"{spec_path}::of #text it is #price[1]", f"{kotlin_path}::reads no number()"}
    assert set(task.hidden.fail_to_pass) == turned
    assert turned <= set(ids_by_place(task.hidden)["inside"])
    assert f"{spec_path}::two is a price" in task.hidden.pass_to_pass

    gold, hidden = screen_task(task, task.hidden.gold_patch).kept, parse(task.hidden.test_patch, trusted=True)
    stripped = {test_path: test.format(STRIPPED).encode()}
    report = run(task, sandbox, test_path, *tests, model_patch=gold, test_patch=hidden, overlay=stripped)
    assert {name for name, status in report.statuses.items() if status is TestStatus.PASSED} > turned
    assert [event.test_id for event in report.events] == [f"{test_path}::reads()"]


PARENT = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging>
  <modules><module>core</module><module>extra</module></modules>
</project>
"""


def test_a_module_that_cannot_be_built_is_told_by_its_tests_and_loses_no_other(tmp_path):
    price = "package money;\n\npublic class Price {{ public static int of(String text) {{ return {}; }} }}\n"
    test = "package {0};\n\nclass {1} {{ @org.junit.jupiter.api.Test void reads() {{ {2} }} }}\n"
    nowhere = LIBRARY.replace("commons-lang3", "commons-nowhere")
    path, test_path = "core/src/main/java/money/Price.java", "core/src/test/java/money/PriceTest.java"
    lost = "extra/src/test/java/more/MoreTest.java"
    poms = {
        "pom.xml": PARENT,
        "core/pom.xml": java.POM,
        "extra/pom.xml": java.POM.replace("money", "more", 1).replace("<dependencies>\n", f"<dependencies>\n{nowhere}"),
    }
    repo = Repository(tmp_path / "repo")
    first = {path: price.format("1"), test_path: test.format("money", "PriceTest", 'Price.of("1");')}
    repo.commit("Start", poms | first | {lost: test.format("more", "MoreTest", "")})
    asserted = 'org.junit.jupiter.api.Assertions.assertEquals(25, Price.of("25"));'
    tests = {test_path: test.format("money", "PriceTest", asserted), lost: test.format("more", "MoreTest", "int i;")}
    fix = repo.commit("Fix prices", {path: price.format("Integer.parseInt(text)"), **tests})
    task = mined(tmp_path, repo, fix, GOLDSEAM_MINING_MUTANTS="0")
    assert task.hidden.fail_to_pass == (f"{test_path}::reads()",)
    assert f"a test file that can't be compiled: {lost}" in task.instance.extra["environment"]["notes"]


def beside(collection: dict[str, java.Files], first: int = 0) -> dict[str, str]:
    """Names of a collection, by the package that each is to stand in."""
    return dict(zip(java.SLOTS, list(collection)[first:], strict=False))


@pytest.mark.parametrize("first", range(0, len(java.HONEST), len(java.SLOTS)))
def test_right_patches_resolve_it(task, sandbox, first):
    names = beside(java.HONEST, first)
    grade = graded(task, sandbox, {place: java.HONEST[name] for place, name in names.items()})
    told = grade.tests.fail_to_pass
    wrong = [name for place, name in names.items() if {told[test] for test in turned(place)} != {TestStatus.PASSED}]
    assert (wrong, grade.outcome) == ([], Outcome.RESOLVED)


def test_what_judges_imports_nothing_of_the_tree(task, sandbox):
    kept = patched(task, tiny.SHADOWS)
    assert scoring.score(task, kept, sandbox, scoring.Demands()).grade.outcome is Outcome.RESOLVED


def test_nothing_does_not_resolve_it(task, sandbox):
    assert scoring.score(task, None, sandbox, scoring.Demands()).grade.outcome in FAILING


def passed_of(task: Task, sandbox, collection: dict[str, java.Files]) -> list[str]:
    """The names of a collection of which a test passes; the package that is right beside them passes all."""
    names = beside(collection)
    assert len(names) == len(collection)
    told = graded(task, sandbox, {place: collection[name] for place, name in names.items()}).tests.fail_to_pass
    passed = {test for test, status in told.items() if status is TestStatus.PASSED}
    assert passed >= set(turned("money"))
    return [name for place, name in names.items() if not passed.isdisjoint(turned(place))]


def test_every_kind_of_test_is_told_with_its_rows_and_a_crash_loses_no_other(task, sandbox):
    report = run(task, sandbox, KINDS_TEST, OLD_TEST, CRASHES_TEST)
    assert statuses(report, KINDS_TEST) == SEEN
    assert statuses(report, OLD_TEST) == {"isOne[0]": "PASSED", "isOne[1]": "FAILED"}
    assert statuses(report, CRASHES_TEST) == {"a()": "PASSED", "b()": "ERROR", "c()": "PASSED"}
    assert (report.finished, report.exit_code, report.violations, report.collect_errors) == (True, 1, (), {})
    assert '"made" is wrong' in report.texts[f"{KINDS_TEST}::made()[2][1]"]


def test_a_test_that_never_ends_without_the_fix_fails_and_those_after_it_have_their_say(task, sandbox, tmp_path):
    asked = Subject(
        instance_id="acme__money-2",
        image=task.instance.image,
        test=task.instance.test,
        test_files=(ENDLESS_TEST,),
        gold_patch=tiny.diff(java.PRICES, java.BASE, java.RIGHT).encode(),
        test_patch=tiny.diff(ENDLESS_TEST, None, ENDLESS).encode(),
    )
    patches, notebook = prepare(asked), Notebook(tmp_path / "notes.jsonl", asked)
    runs = [observe(asked, patches, state, 0, sandbox, notebook, most_seconds=30) for state in ("after", "before")]
    names = [f"{ENDLESS_TEST}::{name}()" for name in "abc"]
    assert [run.trouble for run in runs] == ["", ""]
    assert runs[0].statuses == dict.fromkeys(names, TestStatus.PASSED)
    assert runs[1].statuses == {**runs[0].statuses, names[1]: TestStatus.ERROR}
    assert runs[1].endings == (names[1],)


def test_of_each_test_an_assertion_is_handed_out_once_more_than_is_judged(task, sandbox):
    report = run(task, sandbox, MANY_TEST, overlay={MANY_TEST: MANY.encode()})
    counts = Counter((event.test_id.rpartition("::")[2], event.slot) for event in report.events)
    assert counts == {("first()", 0): 5001, ("second()", 0): 3000, ("second()", 1): 3000}


def test_a_run_in_another_language_is_in_that_of_java_and_compiles_names_in_any_letters(task, sandbox, tmp_path):
    code, test = "src/main/java/money/Rückgeld.java", "src/test/java/money/ChangeTest.java"
    asked = Subject(
        instance_id="acme__money-3",
        image=task.instance.image,
        test=task.instance.test,
        test_files=(test,),
        gold_patch=tiny.diff(
            code, None, "package money;\n\nclass Rückgeld { static int of(int paid) { return paid - 1; } }\n"
        ).encode(),
        test_patch=tiny.diff(test, None, CHANGE).encode(),
    )
    patches, notebook = prepare(asked), Notebook(tmp_path / "notes.jsonl", asked)
    for variation, written in ((PLAIN, TestStatus.PASSED), (Variation(locale="de"), TestStatus.FAILED)):
        ran = observe(asked, patches, "after", 0, sandbox, notebook, variation=variation)
        seen = {f"{test}::isLess()": TestStatus.PASSED, f"{test}::isWrittenInEnglish()": written}
        assert (ran.statuses, ran.collect_errors) == (seen, {})


def test_rows_of_an_enclosed_class_are_run_alone_by_their_names(task, sandbox):
    names = {
        f"money.EnclosedTest$Rows::[row={row}]::{name}[row={row}](money.EnclosedTest$Rows)": status
        for name, *by_row in (("isOne", "PASSED", "FAILED"), ("isLess", "PASSED", "PASSED"))
        for row, status in enumerate(by_row, 1)
    }
    assert statuses(run(task, sandbox, ENCLOSED_TEST), ENCLOSED_TEST) == names
    alone = {name: status for name, status in names.items() if "isOne" in name}
    assert statuses(run(task, sandbox, f"{ENCLOSED_TEST}::{next(iter(alone))}"), ENCLOSED_TEST) == alone


def test_a_file_that_cannot_be_compiled_is_told_with_the_name_it_misses_and_loses_no_other(task, sandbox):
    heirs = {BROKEN_TEST: BROKEN, HEIR_TEST: HEIR}
    report = run(
        task, sandbox, f"{OLD_TEST}::isOne[0]", *heirs, overlay={path: text.encode() for path, text in heirs.items()}
    )
    assert set(report.collect_errors) == set(heirs)
    for path in heirs:
        assert [raised.says for raised in report.collect_raised[path]] == ["later"]
    assert set(statuses(report, OLD_TEST)) == {"isOne[0]", "isOne[1]"}


def test_a_patch_that_cannot_be_compiled_is_a_failure_of_its_own_class(task, sandbox):
    grade = graded(task, sandbox, {"money": {java.PRICES: java.BASE.replace("int given", "nonsense")}})
    assert (grade.outcome, grade.cause) == (Outcome.UNRESOLVED, "collection_error")


def test_what_is_built_or_run_with_the_tests_does_not_reach_them(task):
    text = "".join(tiny.diff(path, FILES.get(path), content) for path, content in java.SCREENED.items())
    screened = screen_task(task, text.encode())
    assert {part.path for part in screened.dropped} == set(java.SCREENED)


def test_no_wrong_product_that_ends_the_program_or_shadows_a_library_passes(task, sandbox):
    assert passed_of(task, sandbox, java.ENDS) == []


@pytest.mark.parametrize("name", java.KILLS)
def test_a_trial_that_is_killed_or_has_a_test_told_twice_is_not_resolved(task, sandbox, name):
    assert graded(task, sandbox, {java.SLOTS[0]: java.KILLS[name]}).outcome in FAILING


def test_frames_without_the_runs_own_word_are_tampering(task, sandbox):
    patches = {place: java.FORGED[name] for place, name in beside(java.FORGED).items()}
    assert graded(task, sandbox, patches).outcome is Outcome.TAMPERED


def test_no_wrong_product_finds_what_is_expected_or_hands_it_out_itself(task, sandbox):
    assert not any(word in text for text in task.hidden.expectations.files.values() for word in ("31.07", "9531"))
    assert passed_of(task, sandbox, java.FORGERIES) == []


def test_harbor_rewards_the_fix_and_nothing_else(task, tmp_path):
    assert other_graders.rewards(task, tmp_path) == other_graders.HARBOR_REWARDS

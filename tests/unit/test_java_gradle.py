"""What a repository's files say of its builds by Gradle, and what its failures are called."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.config.settings import ImageSettings
from miner.languages.building import reason_in
from miner.languages.java import gradle, gradle_image
from miner.languages.java.gradle_image import FAILURES
from tests.trees import Files

TREE = Files(
    {
        "settings.gradle": "include 'core', 'nowhere'",
        "build.gradle": "subprojects { apply plugin: 'java' } // sourceCompatibility = 21",
        "core/core.gradle": "sourceCompatibility = 1.8",
        "tools/build.gradle.kts": "plugins { java }",
        "gradle/libs.versions.toml": "",
        "gradle/wrapper/gradle-wrapper.jar": "",
        "buildSrc/src/main/java/Rules.java": "",
        "core/src/test/resources/build.gradle": "",
        "gradle.properties": "",
    }
)
TEST = "core/src/test/java/ATest.java"
URL = "https://services.gradle.org/distributions/gradle-7.6.1-bin.zip"
WRAPPER = {gradle.WRAPPER: f"distributionUrl={URL.replace(':', chr(92) + ':')}\ndistributionSha256Sum=ab12\n"}


def test_a_build_is_called_where_its_settings_are_else_at_its_topmost_build_file():
    assert gradle.roots(TREE, [TEST, "tools/src/test/kotlin/BTest.kt"]) == {
        "": [TEST, "tools/src/test/kotlin/BTest.kt"]
    }
    alone = Files({"a/build.gradle": "", "a/b/build.gradle": "", "c/settings.gradle.kts": "", "c/d/build.gradle": ""})
    assert gradle.roots(alone, ["a/b/src/test/java/A.java", "c/d/src/test/java/B.java", "e/src/test/java/C.java"]) == {
        "a": ["a/b/src/test/java/A.java"], "c": ["c/d/src/test/java/B.java"],
    }  # fmt: skip


def test_build_files_and_what_they_apply_decide_which_libraries_are_there():
    assert set(gradle.manifests(TREE)) == {
        "settings.gradle", "build.gradle", "core/core.gradle", "tools/build.gradle.kts", "gradle/libs.versions.toml",
        "buildSrc/src/main/java/Rules.java", "gradle.properties",
    }  # fmt: skip


def test_commits_with_tests_in_the_same_folders_of_sources_share_their_libraries():
    paths = [TEST, "core/src/test/java/a/b/CTest.java", "src/test/kotlin/DTest.kt", "test/ETest.java"]
    assert gradle.source_folders(paths) == ["core/src/test/java", "src/test/kotlin", "test"]


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("sourceCompatibility = 1.8", 8),
        ("sourceCompatibility = '11'\ntargetCompatibility = JavaVersion.VERSION_17", 17),
        ("targetCompatibility JavaVersion.VERSION_1_7", 7),
        ("java { toolchain { languageVersion = JavaLanguageVersion.of(21) } }", 21),
        ("java { toolchain { languageVersion.set(JavaLanguageVersion.of(17)) } }", 17),
        ("kotlin { jvmToolchain(17) }", 17),
        ("tasks.withType(JavaCompile) { options.release = 11 }", 11),
        ("options.release.set(9) /* options.release = 21 */", 9),
        ('kotlinOptions { jvmTarget = "1.8" }', 8),
        ("version = '1.21'\nreleaseNotes = 5\n// sourceCompatibility = 21", 0),
        ("", 0),
    ],
)
def test_the_release_of_java_is_the_newest_that_a_build_file_names(text, release):
    assert gradle.release(Files({"build.gradle": text})) == release


@pytest.mark.parametrize(
    ("files", "on_17", "on_25"),
    [
        (WRAPPER, ["7.6.1", gradle.OF_DEBIAN], []),
        ({"build.gradle": ""}, [gradle.OF_DEBIAN], []),
        ({"build.gradle.kts": ""}, [], []),
    ],
)
def test_a_jdk_on_which_no_gradle_runs_is_known_before_it_is_installed(files, on_17, on_25):
    request = SimpleNamespace(
        tree=Files({"settings.gradle": "", "src/test/java/ATest.java": "", **files}),
        touched=("src/test/java/ATest.java",),
        workshop=SimpleNamespace(settings=ImageSettings()),
    )
    assert [each.version for each in gradle_image.usable(request, 17)] == on_17
    assert [each.version for each in gradle_image.usable(request, 25)] == on_25


def test_gradle_is_the_wrappers_then_the_nearest_of_this_machine_then_debians():
    folders = {version: Path(version) for version in ("6.9", "7.5", "7.6.4", "8.5")}
    tried = gradle.distributions(Files(WRAPPER), "", folders)
    assert [(each.version, each.url, each.sha256, each.replaces) for each in tried] == [
        ("7.6.1", URL, "ab12", ""), ("7.6.4", "", "", "7.6.1"), (gradle.OF_DEBIAN, "", "", "7.6.1"),
    ]  # fmt: skip
    own = gradle.distributions(Files(WRAPPER), "sub", {"7.6.1": Path("/opt/gradle")})
    assert [each.origin for each in own] == [
        "Gradle 7.6.1 of [images.gradles]", "Gradle 4.4.1 of Debian in place of its 7.6.1",
    ]  # fmt: skip
    assert [each.version for each in gradle.distributions(Files({}), "", folders)] == ["8.5", gradle.OF_DEBIAN]


@pytest.mark.parametrize(
    "text", ["", "distributionUrl=\n", "distributionUrl=file:///gradle-7.6-bin.zip", "distributionUrl"]
)
def test_a_wrapper_that_names_no_distribution_is_none(text):
    assert gradle.wrapper(Files({gradle.WRAPPER: text}), "") is None


@pytest.mark.parametrize(
    ("version", "jdk", "runs"),
    [
        ("7.6", 17, True),
        ("7.2", 17, False),
        ("4.10", 8, True),
        ("8.5", 21, True),
        ("9.1", 11, False),
        ("9.1", 26, False),
    ],
)
def test_a_gradle_runs_on_the_jdks_that_it_knows(version, jdk, runs):
    assert gradle.Distribution(version=version, folder=Path("/opt/gradle")).runs_on(jdk) is runs


def test_debians_runs_on_debians_jdk_alone():
    debians = gradle.Distribution(version=gradle.OF_DEBIAN)
    assert [jdk for jdk in range(8, 26) if debians.runs_on(jdk)] == [17]


def test_repositories_and_versions_that_drift_are_read_from_build_files():
    text = "maven { url 'https://repo.example/m' }\nmaven { url = uri(\"https://two.example/m\") } // url 'https://no.example'"
    text += "\ncompile 'a:b:1.+'\ncompile \"c:d:latest.release\"\ncompile 'e:f:1.0-SNAPSHOT'\ncompile 'g:h:1.0'"
    tree = Files({"build.gradle": text})
    assert gradle.hosts(tree) == ("https://repo.example/m", "https://two.example/m")
    assert gradle.drifting(tree) == ("a:b:1.+", "c:d:latest.release", "e:f:1.0-SNAPSHOT")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "* What went wrong:\nPlugin [id: 'com.jfrog.bintray', version: '1.2'] was not found in any",
            "needs_plugin_portal",
        ),
        (
            "Could not resolve all artifacts for configuration ':classpath'.\n> Could not find x:y:1.",
            "needs_plugin_portal",
        ),
        ("> Could not GET 'https://plugins.gradle.org/api/gradle/4.4.1/plugin/use/a/1'.", "needs_plugin_portal"),
        ("A problem occurred evaluating root project 'a'.", "broken_build_file"),
        ("Could not compile build file '/testbed/build.gradle'.", "broken_build_file"),
        ("> Configuring project ':x' without an existing directory is not allowed.", "broken_build_file"),
        ("> Could not resolve a:b:1.", "unresolvable"),
        ("> Compilation failed; see the compiler error output for details.", "base_not_compiled"),
        ("no project of the Gradle build compiles tests in a.java", "no_test_project"),
        ("> No matching toolchains found for requested specification", "no_jdk"),
        ("anything", ""),
    ],
)
def test_failures_are_told_by_what_gradle_says(said, reason):
    assert reason_in(FAILURES, said) == reason


def test_a_folder_without_gradle_or_a_name_that_is_no_version_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gradle").write_bytes(b"")
    assert ImageSettings(gradles={"8.5": tmp_path}).gradles == {"8.5": tmp_path}
    for version, folder in (("8.5", Path("/nowhere")), ("eight", tmp_path)):
        with pytest.raises(ValueError, match=r"expected a version such as 8\.5"):
            ImageSettings(gradles={version: folder})

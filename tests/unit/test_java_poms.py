"""What a repository's files say of Java: modules, versions, repositories, what decides which libraries are there."""

from __future__ import annotations

import pytest

from miner.languages.building import reason_in
from miner.languages.java import poms
from miner.languages.java.maven import FAILURES
from miner.languages.java.toolchain import opened
from tests.trees import Files

CI = """\
jobs:
  test:
    strategy:
      matrix:
        java: [8, '11', 21.0.2]
    steps:
      - uses: actions/setup-java@v5
        with: {python-version: 3.11}
"""
TREE = Files(
    {
        "pom.xml": "<project><modules><module>core</module><module>more/</module></modules></project>",
        "core/pom.xml": "<project><parent/></project>",
        "more/pom.xml": "<project><!-- <module>old</module> --><modules><module>a</module></modules></project>",
        "more/a/pom.xml": "<project/>",
        "old/pom.xml": "<project/>",
        "core/src/test/resources/pom.xml": "<project/>",
        ".mvn/maven.config": "-T1",
        ".mvn/wrapper/maven-wrapper.jar": "",
    }
)


def test_a_test_is_in_the_nearest_module_and_built_from_the_folder_that_leads_there():
    tests = ["core/src/test/java/ATest.java", "more/a/src/test/java/BTest.java", "old/src/test/java/CTest.java"]
    assert poms.reactors(TREE, tests) == {"": ["core", "more/a"], "old": ["old"]}
    assert poms.reactors(Files({"src/test/java/ATest.java": ""}), ["src/test/java/ATest.java"]) == {}
    assert poms.reactors(Files({"pom.xml": "<project/>"}), ["src/test/java/ATest.java"]) == {"": [""]}


def test_poms_and_what_maven_is_told_beside_them_decide_which_libraries_are_there():
    assert list(poms.manifests(TREE)) == [
        ".mvn/maven.config", "core/pom.xml", "more/a/pom.xml", "more/pom.xml", "old/pom.xml", "pom.xml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pom", "more", "installed", "majors"),
    [
        ("<project/>", {}, (), (17,)),
        ("<project/>", {}, (25,), (17, 25)),
        ("<maven.compiler.release>8</maven.compiler.release>", {}, (8,), (17, 8)),
        ("<source>1.8</source><java.version>21</java.version>", {}, (), (21,)),
        ("<java.version>22</java.version>", {}, (8,), (25,)),
        ("<java.version>26</java.version>", {}, (), ()),
        ("<source>1.8</source><java.version>21</java.version>", {}, (21, 25), (21, 25)),
        ("<project/>", {".github/workflows/ci.yml": CI}, (21,), (21, 17)),
        ("<project/>", {".github/workflows/ci.yml": CI.replace("8,", "8, 17,")}, (8, 21), (17, 21)),
        ("<project/>", {".travis.yml": "language: java\njdk:\n  - openjdk8\n  - 11\n"}, (11,), (11, 17)),
    ],
)
def test_the_jdk_is_debians_unless_a_pom_or_ci_wants_another_that_is_there(pom, more, installed, majors):
    tree = Files({"pom.xml": pom, **more})
    assert poms.jdks(tree, installed, poms.release(tree)) == majors


@pytest.mark.parametrize(
    ("files", "release", "is_open"),
    [
        ({}, 0, True),
        ({}, 8, True),
        ({}, 17, False),
        ({".travis.yml": "jdk:\n  - openjdk8\n  - 11\n"}, 8, True),
        ({".github/workflows/ci.yml": CI}, 8, False),
    ],
)
def test_projects_of_before_jdk_16_find_its_packages_open_to_reflection(files, release, is_open):
    for jdk in (17, 11):
        options = opened(Files(files), release, jdk).get("JDK_JAVA_OPTIONS", "")
        assert ("--add-opens=java.base/java.lang=ALL-UNNAMED" in options.split()) is (is_open and jdk == 17)


@pytest.mark.parametrize(
    ("version", "taken"), [("3.8.6", "3.8.6"), ("3.6.3", "3.6.3"), ("3.6.2", poms.MAVEN), ("4.0.0-rc-3", "4.0.0-rc-3")]
)
def test_maven_is_the_wrappers_unless_that_is_too_old(version, taken):
    line = f"distributionUrl=https://repo.example/apache-maven/{version}/apache-maven-{version}-bin.zip\n"
    assert poms.maven_version(Files({poms.WRAPPER: line})) == taken
    assert poms.maven_version(Files({})) == poms.MAVEN


def test_repositories_and_versions_that_drift_are_read_from_poms():
    repository = "<repositories><repository><id>a</id><url>https://repo.example/m</url></repository></repositories>"
    versions = "<version>[1.0,2.0)</version><version> LATEST </version><version>1.0</version>"
    tree = Files({"pom.xml": f"<url>https://home.example</url>{repository}{versions}<!-- <version>[3,)</version> -->"})
    assert poms.hosts(tree) == ("https://repo.example/m",)
    assert poms.drifting(tree) == ("[1.0,2.0)", "LATEST")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "[FATAL] Non-resolvable parent POM for a:b:1: Could not find artifact a:parent:pom:2-SNAPSHOT",
            "snapshot_dependency",
        ),
        ("[ERROR] Could not find artifact a:b:jar:1.2 in central", "unresolvable"),
        ("[ERROR] COMPILATION ERROR :\n[ERROR] A.java:[1,1] ';' expected", "base_not_compiled"),
        ("[ERROR] Fatal error compiling: error: release version 21 not supported", "no_jdk"),
        ("[ERROR] Fatal error compiling: error: invalid target release: 21", "no_jdk"),
        ("[ERROR] COMPILATION ERROR :\n[ERROR] Source option 5 is no longer supported. Use 7 or later.", "no_jdk"),
        ("exit code 1", ""),
    ],
)
def test_the_reason_of_a_failed_build_is_read_from_what_maven_says(said, reason):
    assert reason_in(FAILURES, said) == reason


@pytest.mark.parametrize(
    "text", ["<!--", "<version>[", "<version>[" + 300_000 * " ", "<repository>", "<requireA>", "<a."]
)
def test_a_manifest_that_is_made_to_take_long_takes_none_the_longer(text):
    tree = Files({"pom.xml": text * max(1, 200_000 // len(text))})
    assert (poms.hosts(tree), poms.drifting(tree)) == ((), ())

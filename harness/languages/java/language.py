"""Java behind the seam of `harness.languages.base`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from harness.core.instance import TestSpec
from harness.languages import parts
from harness.languages.base import Framework, Language, Program, Reason
from harness.languages.reporting import Runner
from harness.patches.patch import FilePatch

FRAMEWORK = "junit"
HOME = "/opt/goldseam/java"
JDK, MAVEN, REPOSITORY = f"{HOME}/jdk", f"{HOME}/maven", f"{HOME}/repository"
"""Toolchain, Maven and its local repository, in an image."""
GRADLE, GRADLE_HOME = f"{HOME}/gradle", f"{HOME}/gradle-home"
"""Gradle and its user home with libraries, in an image."""
PRISTINE = "/opt/goldseam/src"
"""The tree as the image has it, in a trial."""
PROJECT, RECORDERS = f"{HOME}/project.json", f"{HOME}/recorder"
"""What was found out of the modules, and the recorder compiled, by the digest of its source."""
ENV: Mapping[str, str] = {
    "JAVA_HOME": JDK,
    "MAVEN_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss8m -Djansi.passthrough=true -Duser.home=/tmp",
    "PATH": f"{JDK}/bin:{MAVEN}/bin:/usr/local/bin:/usr/bin:/bin",
}
"""Variables of whatever calls the toolchain."""
GRADLE_ENV: Mapping[str, str] = {
    "GRADLE_USER_HOME": GRADLE_HOME,
    "GRADLE_OPTS": "-XX:+UseSerialGC -XX:ActiveProcessorCount=2 -XX:TieredStopAtLevel=1 -Xss8m -Xmx1g -Duser.home=/tmp",
}
"""Variables of whatever calls Gradle; where a task's tests have them, Gradle builds it. Build files divide by
processors, of which a trial may have one."""
TESTS, BUILD, CONFIGURATION, COMPILED = "test_code", "build_files", "test_configuration", "compiled_code"
"""Why a file of a model's patch may not reach the tests."""
OWN_PACKAGE = "goldseam"
"""The package of what records tests (harness/languages/java/inside)."""
_BUILD = re.compile(
    r"pom\.xml|[^/]*\.gradle(\.kts)?|gradle\.properties|gradle\.lockfile|libs\.versions\.toml|mvnw(\.cmd)?|gradlew(\.bat)?"
)
_CONFIGURATIONS = re.compile(r"junit-platform\.properties|junit-jupiter\.properties|testng[^/]*\.xml|jqwik\.properties")
_SERVICES = re.compile(
    r".*META-INF/services/(?:javax\.annotation\.processing|com\.sun\.source|lombok|net\.jqwik|io\.kotest|junit|groovy|spock"
    r"|com\.google\.(?:auto|common\.truth)|org\.(?:junit|testng|opentest4j|mockito|assertj|hamcrest|spockframework|gradle"
    r"|codehaus\.groovy|apache\.groovy|apache\.maven|jetbrains\.kotlin))\..*"
)
"""What compilers, runners and libraries that assert load by service; a project's own services are code as any other."""
_SHOWN = re.compile(r"(?:.*/)?src/main/resources/.*")
_TEST_SETS = re.compile(r"(?:.*/)?src/(?:test|[a-zA-Z]*Test|it)/.*")
_BUILDING = frozenset({".mvn", "buildSrc", "build-logic"})
_OUTPUTS = frozenset({"target", "build"})


part = partial(parts.part, language="java")
"""Gives a file of the folder `inside`."""


def sources() -> dict[str, str]:
    """What runs beside the tests, by name."""
    return {name: part(name) for name in ("Recorder.java", "Handout.java")}


def _reason(_file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it is compiled with them, or says how they are built or run."""
    folders, _, name = path.rpartition("/")
    within = folders.split("/")
    if _TEST_SETS.fullmatch(path) or within[-1] == OWN_PACKAGE:
        return TESTS
    builds = _BUILD.fullmatch(name) and not _SHOWN.fullmatch(path)
    if builds or within[0] == "gradle" or not _BUILDING.isdisjoint(within):
        return BUILD
    if _CONFIGURATIONS.fullmatch(name) or _SERVICES.fullmatch(path) or name == "MANIFEST.MF":
        return CONFIGURATION
    outside = "src" not in within and not _OUTPUTS.isdisjoint(within)
    return COMPILED if outside or name.endswith((".class", ".jar")) else None


class Java(Language):
    """Tests on JUnit's platform, compiled by Maven or Gradle."""

    name = "java"
    frameworks: Mapping[str, Framework] = {FRAMEWORK: Runner()}
    allowable = frozenset({BUILD, CONFIGURATION})

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The driver, as a program of its own: it compiles, then runs."""
        settings = {
            "project": PROJECT,
            "pristine": PRISTINE,
            "kept": RECORDERS,
            "recorder": sources(),
            "stub": part("Stub.java"),
            "order": requests.get("vary", {}).get("order"),
        }
        program = parts.part("child.py") + part("incremental.py") + part("driver.py")
        return parts.driver(program, settings, requests, ("vary",), ENV)

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """Tests, which are compiled together, and what says how they are built and run."""
        return _reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The own `test` of Maven or Gradle, on the classes of these files."""
        files = dict.fromkeys(path.partition("::")[0] for path in paths)
        names = dict.fromkeys(file.rpartition("/")[2].rpartition(".")[0] for file in files)
        env = {**ENV, **test.env}
        if "GRADLE_USER_HOME" in test.env:
            init = ("--init-script", f"{HOME}/init.gradle", f"-Dgoldseam.asked={HOME}/asked.json")
            chosen = [word for name in names for word in ("--tests", f"*{name}")]
            return parts.with_env(env, f"{GRADLE}/bin/gradle", "--offline", "--no-daemon", *init, "test", *chosen)
        chosen = [f"-Dtest={','.join(names)}", "-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false"]
        repository = f"-Dmaven.repo.local={REPOSITORY}"
        return parts.with_env(env, "mvn", "--offline", repository, *(chosen if names else ()), "test")


JAVA = Java()

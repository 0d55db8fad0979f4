"""Java behind the seam of `harness.languages.base`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from harness.languages import parts
from harness.languages.base import InnerGrading, Program
from harness.languages.java import screen
from harness.languages.reporting import Runner

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.core.instance import TestSpec
    from harness.languages.base import Framework, Reason

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
    "GRADLE_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss8m -Xmx1g -Duser.home=/tmp",
}
"""Variables of whatever calls Gradle; where a task's tests have them, Gradle builds it."""


def part(name: str) -> str:
    """A file of the folder `inside`."""
    return parts.part(name, "java")


def sources() -> dict[str, str]:
    """What runs beside the tests, by name."""
    return {name: part(name) for name in ("Recorder.java", "Handout.java")}


class Java:
    """Tests on JUnit's platform, compiled by Maven or Gradle."""

    name = "java"
    frameworks = cast("Mapping[str, Framework]", {FRAMEWORK: Runner(FRAMEWORK)})
    has_tripwires = False
    allowable = screen.ALLOWABLE

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """The driver, as a program of its own: it compiles, then runs."""
        del test
        settings = {
            "project": PROJECT,
            "pristine": PRISTINE,
            "kept": RECORDERS,
            "recorder": sources(),
            "stub": part("Stub.java"),
            "order": requests.get("vary", {}).get("order"),
        }
        program = parts.part("child.py") + part("driver.py")
        return parts.command(parts.in_python(program, settings), requests, ("vary",), ENV)

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """Tests, which are compiled together, and what says how they are built and run."""
        del test, hidden_paths
        return screen.reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The own `test` of Maven or Gradle, on the classes of these files."""
        files = dict.fromkeys(path.partition("::")[0] for path in paths)
        names = dict.fromkeys(file.rpartition("/")[2].rpartition(".")[0] for file in files)
        variables = (f"{name}={value}" for name, value in {**ENV, **test.env}.items())
        if "GRADLE_USER_HOME" in test.env:
            init = ("--init-script", f"{HOME}/init.gradle", f"-Dgoldseam.asked={HOME}/asked.json")
            chosen = [word for name in names for word in ("--tests", f"*{name}")]
            return ("env", *variables, f"{GRADLE}/bin/gradle", "--offline", "--no-daemon", *init, "test", *chosen)
        chosen = [f"-Dtest={','.join(names)}", "-Dsurefire.failIfNoSpecifiedTests=false", "-DfailIfNoTests=false"]
        repository = f"-Dmaven.repo.local={REPOSITORY}"
        return ("env", *variables, "mvn", "--offline", repository, *(chosen if names else ()), "test")

    def graded(self, test: TestSpec) -> InnerGrading:
        """The same driver, with nothing around it."""
        return InnerGrading.of_program(self.program(test, {}))

    def caveat(self, test: TestSpec, paths: Sequence[str]) -> str:
        """Nothing."""
        del test, paths
        return ""


JAVA = Java()

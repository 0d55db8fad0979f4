"""Compile projects of Gradle builds with their tests, and write down what running these takes.

    gradle.py HOME FACTS STORE TRY ROOT TEST... [-- ROOT TEST...]

Dependencies are downloaded into HOME/gradle-home, Gradle's user home. TRY is `whole`; `skeleton` where no sources are
there, so that what fails is left for later; or `fixed`, the same where build files are those of the fix. Paths are
relative to /testbed. Standard library.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

from project import ROOT, RUN, TAIL, Modules, Project, compiler, usable

INIT = Path("/tmp/init.gradle")  # noqa: S108 - inside the container
OUT = "/tmp/gradle.json"  # noqa: S108 - inside the container
CACHED = re.compile(r".*/files-2\.1/([^/]+)/([^/]+)/([^/]+)/[^/]+/[^/]+\.jar")
OLDEST = (20, "1.8"), (12, "1.7"), (9, "1.6")
"""From which JDK on the oldest Java that its compiler takes is this."""
SWITCHED_OFF = "configureondemand", "configuration-cache", "unsafe.configuration-cache", "caching"
"""What a repository may switch on, and would keep the init script from seeing all projects."""
NONE = "no project of the Gradle build compiles tests in"
RUNNER = """\
repositories {{ maven {{ url 'https://repo.maven.apache.org/maven2/' }} }}
configurations {{ runner }}
dependencies {{ {} }}
task paths {{ doLast {{ new File('{}').text = configurations.runner.asPath }} }}
"""


class GradleProject(Project):
    def __init__(self, home: Path, store: str) -> None:
        self.home, self.repository = home, home / "gradle-home"
        self.javac = compiler(home)
        self.gradle = [str(home / "gradle/bin/gradle"), "--no-daemon", "--console=plain"]
        self.gradle += ["--continue", "--init-script", str(home / INIT.name), f"-Dgoldseam.asked={home}/asked.json"]
        self.gradle += [f"-{kind}kotlin.compiler.execution.strategy=in-process" for kind in "DP"]
        self.gradle += [f"-Dorg.gradle.{name}=false" for name in SWITCHED_OFF]
        self.online = [*self.gradle, *proxies()]
        self.options = os.environ["GRADLE_OPTS"]
        if Path(store).exists():  # as words of the call these would make Gradle start another virtual machine
            self.options += f" -Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword=changeit"

    def call(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        streams: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        argv, env = [*self.online, *words], {**os.environ, "GRADLE_OPTS": self.options}
        ran = subprocess.run(argv, cwd=folder, env=env, check=False, text=True, errors="replace", **streams)
        print(ran.stdout[-4 * TAIL :], flush=True)
        return ran

    def library(self, jar: str) -> tuple[str, str, str] | None:
        match = CACHED.fullmatch(jar)
        return (match[1].replace(".", "/"), match[2], match[3]) if match else None

    def fetched(self, names: list[str]) -> list[str]:
        folder = Path("/tmp/runner")  # noqa: S108 - inside the container
        folder.mkdir(exist_ok=True)
        (folder / "settings.gradle").write_text("")
        paths = folder / "paths"
        (folder / "build.gradle").write_text(
            RUNNER.format("; ".join(f"runner '{name}'" for name in names), paths),
        )
        self.must(self.call(folder, "paths"), "the runner of its tests")
        return paths.read_text().split(os.pathsep)


class Builds:
    """What trials know of the projects."""

    def __init__(self, project: GradleProject) -> None:
        self.modules, self.project = Modules(project), project
        self.replaced: set[str] = set()

    def build(self, root: str, tests: list[str], *, whole: bool) -> None:
        out = Path(OUT)
        out.unlink(missing_ok=True)
        ran = self.project.call(ROOT / root, "goldseam")
        if whole:
            self.project.must(ran, f"the classes of {', '.join(tests)}")
        if not out.exists():
            return
        answer = json.loads(out.read_text())
        self.replaced.update(answer["replaced"])
        for facts in answer["projects"]:
            folder = os.path.relpath(facts["folder"], ROOT)
            outputs = [relative(path) for path in facts["output"]]
            if "tests" in facts:
                self.module(root, "" if folder == "." else folder, facts, outputs)
            elif outputs:
                self.modules.facts["" if folder == "." else folder] = {"output": of_java(outputs)}
        if whole and not any("runner" in facts for facts in self.modules.facts.values()):
            raise SystemExit(f"{NONE} {', '.join(tests)}")

    def module(self, root: str, folder: str, written: dict[str, list[str]], outputs: list[str]) -> None:
        folders = [path for path in written["classpath"] if not path.endswith((".jar", ".zip", ".war"))]
        calls = {name: [words] if words else [] for name, words in dict(written["compilers"]).items()}
        javac, sources = self.project.all_together(calls["main"])
        self.modules.facts[folder] = {
            "root": "" if root == "." else root,
            "output": of_java(outputs) if outputs else f"{folder}/build/classes/none".lstrip("/"),
            "test_sources": [relative(path) for path in written["tests"]],
            "test_output": of_java([relative(path) for path in written["test_output"]]),
            **self.modules.runner(written["classpath"], folders),
            "options": [*RUN.split(), *usable(written["options"])],
            "env": written["env"],
            "sources": [relative(str(source)) for source in sources],
            "javac": javac,
            "parts_javac": self.project.by_parts(javac, sources),
            "test_javac": self.project.one_by_one(calls["test"], list(map(Path, written["tests"]))),
            "tasks": written["tasks"],
        }


def relative(path: str) -> str:
    return os.path.relpath(path, ROOT)


def of_java(folders: list[str]) -> str:
    """Of the folders of a set's classes that of Java's."""
    return next((folder for folder in folders if "/java/" in folder and Path(ROOT, folder).exists()), folders[0])


def proxies() -> list[str]:
    """The proxies of builds as properties of the virtual machine."""
    words = []
    for scheme in ("http", "https"):
        parts = urllib.parse.urlsplit(os.environ.get(f"{scheme}_proxy", ""))
        fields = {"Host": parts.hostname, "Port": parts.port, "User": parts.username, "Password": parts.password}
        words += [
            f"-D{scheme}.proxy{name}={urllib.parse.unquote(str(value))}" for name, value in fields.items() if value
        ]
    direct = re.split(r"[,\s]+", os.environ.get("no_proxy", ""))
    return [*words, f"-Dhttp.nonProxyHosts={'|'.join(direct)}"] if words else []


def main(home: str, facts: str, store: str, kind: str, *words: str) -> None:
    groups = [group.split() for group in " ".join(words).split(" -- ")]
    release = (Path(home) / "jdk/release").read_text()
    major = int(re.findall(r'JAVA_VERSION="(?:1\.)?(\d+)', release)[0])
    request = {
        "tests": [str(ROOT / test) for _, *tests in groups for test in tests],
        "out": OUT,
        "whole": kind == "whole",
        "oldest": next((oldest for first, oldest in OLDEST if major >= first), "1.1"),
    }
    (Path(home) / "asked.json").write_text(json.dumps(request))
    (Path(home) / INIT.name).write_text(INIT.read_text())
    project = GradleProject(Path(home), store)
    builds = Builds(project)
    for root, *tests in groups:
        builds.build(root, tests, whole=kind == "whole")
    builds.modules.write(kind, gradle=project.gradle, home=str(project.repository))
    Path(facts).write_text(json.dumps({"replaced": sorted(builds.replaced)}))


if __name__ == "__main__":
    main(*sys.argv[1:])

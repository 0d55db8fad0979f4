"""Compile modules of a Maven project with their tests, and write down what running these takes.

    project.py HOME FACTS SETTINGS STORE TRY REACTOR MODULE... [-- REACTOR MODULE...]

Dependencies are downloaded into HOME/repository. TRY is `whole`, or `skeleton` where no sources are there, so that what
fails is left for later. Folders are relative to /testbed. Standard library.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path("/testbed")
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
EFFECTIVE = "org.apache.maven.plugins:maven-help-plugin:3.5.1:effective-pom"
PATHS = "target/goldseam.classpath"
PLATFORM, ENGINES = "1.11.4", "5.11.4"
"""Versions of JUnit's platform and engines, where the project has none."""
TESTNG = "1.0.5"
OF_TESTS = re.compile(
    r"junit|org/(?:junit|hamcrest|opentest4j|apiguardian|testng|assertj|mockito)|com/google/truth|net/jqwik"
)
"""Groups of libraries that judge tests: nothing of the project comes before them."""
SKIPPED = (
    "enforcer rat checkstyle animal.sniffer spotless.check spotless.apply pmd cpd spotbugs jacoco cyclonedx license"
    " maven.javadoc gpg fmt formatter impsort sort revapi japicmp errorprone maven.gitcommitid"
)
"""What checks and reports and makes nothing that is tested."""
RUN = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:MaxRAMPercentage=50"
    " -ea"
)
USABLE = re.compile(
    r"--(?:add-(?:opens|exports|modules|reads)|enable-(?:preview|native-access)|illegal-access)\b.*|-[DX].*|-ea|-da.*"
)
LIBRARY = re.compile(r"(.*)/([^/]+)/([^/]+)/[^/]+\.jar")
POMS = "/tmp/effective.xml"  # noqa: S108 - inside the container
TAIL = 6000
NONE_IS_FINE = ("failIfNoTests=false", "surefire.failIfNoSpecifiedTests=false")


class Project:
    def __init__(self, home: Path, settings: str, store: str) -> None:
        self.home, self.repository = home, home / "repository"
        self.maven = [str(home / "maven/bin/mvn"), "--batch-mode", "-Dstyle.color=never"]
        self.maven += [f"-Dmaven.repo.local={self.repository}", *(f"-D{name}.skip" for name in SKIPPED.split())]
        self.online = [*self.maven, "--no-transfer-progress", "--settings", settings]
        if Path(store).exists():
            self.online += [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit"]

    def call(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            [*self.online, *words], cwd=folder, check=False, text=True, errors="replace", capture_output=True
        )
        print(ran.stdout[-4 * TAIL :], ran.stderr[-TAIL:], flush=True)
        return ran

    def library(self, jar: str) -> tuple[str, str, str] | None:
        """Group as folders, artifact and version of a jar of the repository."""
        prefix = f"{self.repository}/"
        match = LIBRARY.fullmatch(jar.removeprefix(prefix)) if jar.startswith(prefix) else None
        return (match[1], match[2], match[3]) if match else None

    def runner(self, classpath: list[str]) -> list[str]:
        """The jars that run tests of a module on JUnit's platform, beside what it has itself."""
        versions = {
            name: version for jar in classpath if (library := self.library(jar)) for _, name, version in [library]
        }
        platform = versions.get("junit-platform-commons") or versions.get("junit-platform-engine")
        engines = versions.get("junit-jupiter-api") or versions.get("junit-jupiter-engine")
        if platform is None and engines is not None:
            platform = engines.replace("5.", "1.", 1) if engines.startswith("5.") else engines
        if engines is None and platform is not None:
            engines = platform.replace("1.", "5.", 1) if platform.startswith("1.") else platform
        platform, engines = platform or PLATFORM, engines or ENGINES
        runners = [f"org.junit.platform:junit-platform-launcher:{platform}"]
        if "junit-jupiter-api" in versions:
            runners.append(f"org.junit.jupiter:junit-jupiter-engine:{engines}")
        if "junit" in versions or "junit-dep" in versions:
            runners += [f"org.junit.vintage:junit-vintage-engine:{engines}", "junit:junit:4.13.2"]
        if "testng" in versions:
            runners.append(f"org.junit.support:testng-engine:{TESTNG}")
        dependencies = "".join(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>".format(
                *word.split(":")
            )
            for word in runners
        )
        folder = Path("/tmp/runner")  # noqa: S108 - inside the container
        folder.mkdir(exist_ok=True)
        (folder / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>goldseam</groupId><artifactId>runner</artifactId>"
            f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
        )
        self.must(self.call(folder, CLASSPATH, "-Dmdep.outputFile=paths"), "the runner of its tests")
        jars = (folder / "paths").read_text().split(os.pathsep)
        own = {library[:2] for jar in classpath if (library := self.library(jar))}
        older = {name for name, version in versions.items() if name == "junit" and not version.startswith("4.1")}
        return [
            jar for jar in jars if (library := self.library(jar)) and (library[:2] not in own or library[1] in older)
        ]

    def compile_recorder(self, jars: list[str]) -> None:
        """The recorder, for trials whose goldseam has the same."""
        source = Path("/tmp/Recorder.java")  # noqa: S108 - inside the container
        folder = self.home / "recorder" / hashlib.sha256(source.read_bytes()).hexdigest()[:16]
        words = ["-proc:none", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(folder), str(source)]
        subprocess.run([str(self.home / "jdk/bin/javac"), *words], check=True)

    def must(self, ran: subprocess.CompletedProcess[str], goal: str) -> None:
        if ran.returncode:
            raise SystemExit(f"Maven can't give {goal} (exit code {ran.returncode})\n{ran.stdout[-TAIL:]}")


def relative(place: str, module: Path) -> str:
    return os.path.relpath(module / place, ROOT)


def options(pom: ET.Element) -> tuple[list[str], dict[str, str]]:
    """Options of the virtual machine and variables that surefire is told in a project's effective pom."""
    words: list[str] = []
    env: dict[str, str] = {}
    for plugin in pom.iterfind("./build/plugins/plugin"):
        if plugin.findtext("artifactId") != "maven-surefire-plugin":
            continue
        places = [*plugin.iterfind("./executions/execution[id='default-test']/configuration")]
        places = places or [*plugin.iterfind("./configuration")]
        for place in places:
            with contextlib.suppress(ValueError):
                words += shlex.split(place.findtext("argLine") or "")
            for name in ("systemPropertyVariables", "systemProperties"):
                for entry in place.iterfind(f"./{name}/*"):
                    key, value = entry.findtext("name") or entry.tag, entry.findtext("value") or entry.text or ""
                    words.append(f"-D{key}={value}")
            env |= {entry.tag: entry.text or "" for entry in place.iterfind("./environmentVariables/*")}
    usable: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        pair = before in ("--add-opens", "--add-exports", "--add-modules", "--add-reads") and not word.startswith("-")
        if "{" not in word and "-Xmx" not in word and (pair or USABLE.fullmatch(word)):
            usable.append(word)
    return usable, env


def effective_poms(poms: ET.Element) -> dict[Path, ET.Element]:
    """Effective poms by their folder: the plugin's answer is one of them, or several in one element."""
    by_folder = {}
    for element in poms.iter():
        element.tag = element.tag.rpartition("}")[2]
    for pom in [poms] if poms.tag == "project" else poms.iterfind("project"):
        output = pom.findtext("./build/outputDirectory")
        directory = pom.findtext("./build/directory")
        if output and directory:
            by_folder[Path(directory).parent] = pom
    return by_folder


def output_of(pom: ET.Element, name: str) -> str:
    return pom.findtext(f"./build/{name}") or ""


class Modules:
    """What trials know of the modules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.facts: dict[str, dict[str, object]] = {}
        self.runners: dict[str, list[str]] = {}

    def build(self, root: str, folders: list[str], *, whole: bool) -> None:
        project, reactor = self.project, ROOT / root
        names = [os.path.relpath(ROOT / folder, reactor) for folder in folders]
        chosen = [] if names == ["."] else ["-pl", ",".join(names), "-am"]
        if not whole:  # surefire downloads what it runs tests with as it does
            for folder in folders:
                stub = ROOT / folder / "src/test/java/StubTest.java"
                stub.parent.mkdir(parents=True, exist_ok=True)
                stub.write_text("class StubTest {}\n")
            project.call(reactor, *chosen, "test", "-Dtest=StubTest", *("-D" + name for name in NONE_IS_FINE))
        ran = project.call(reactor, *chosen, "--fail-at-end", "test-compile", CLASSPATH, f"-Dmdep.outputFile={PATHS}")
        if whole:
            project.must(ran, f"the classes of {', '.join(folders)}")
        effective = project.call(reactor, *chosen, EFFECTIVE, f"-Doutput={POMS}")
        if whole:
            project.must(effective, "its effective pom")
        if effective.returncode:
            return
        tested = {ROOT / folder for folder in folders}
        for folder, pom in effective_poms(ET.parse(POMS).getroot()).items():  # noqa: S314 - inside the container
            name = os.path.relpath(folder, ROOT)
            facts = self.facts["" if name == "." else name] = {
                "output": relative(output_of(pom, "outputDirectory"), folder)
            }
            paths = folder / PATHS
            if paths.exists():
                libraries = [path for path in paths.read_text().split(os.pathsep) if path]
                paths.unlink()
                facts |= self.tests(root, folder, pom, libraries) if folder in tested else {}

    def tests(self, root: str, folder: Path, pom: ET.Element, libraries: list[str]) -> dict[str, object]:
        """How the tests of a module are run."""
        judges = [jar for jar in libraries if (library := self.project.library(jar)) and OF_TESTS.match(library[0])]
        key = os.pathsep.join(judges)
        if key not in self.runners:
            self.runners[key] = [*self.project.runner(libraries), *judges]
            self.project.compile_recorder(self.runners[key])
        runner = self.runners[key]
        places = [output_of(pom, "testOutputDirectory"), output_of(pom, "outputDirectory")]
        extra, env = options(pom)
        return {
            "root": "" if root == "." else root,
            "test_sources": [relative(output_of(pom, "testSourceDirectory") or "src/test/java", folder)],
            "test_output": relative(places[0], folder),
            "classpath": [*runner, *places, *(jar for jar in libraries if jar not in judges)],
            "runner": runner,
            "options": [*RUN.split(), f"-Dbasedir={folder}", *extra],
            "env": env,
        }


def main(home: str, facts: str, settings: str, store: str, kind: str, *words: str) -> None:
    project = Project(Path(home), settings, store)
    modules = Modules(project)
    for group in " ".join(words).split(" -- "):
        root, *folders = group.split()
        modules.build(root, folders, whole=kind == "whole")
    if kind == "whole":
        contents = {"maven": project.maven, "modules": modules.facts}
        (project.home / "project.json").write_text(json.dumps(contents))
    snapshots = sorted({path.parent.name for path in project.repository.rglob("*-SNAPSHOT/*.jar")})
    Path(facts).write_text(json.dumps({"snapshots": snapshots}))


main(*sys.argv[1:])

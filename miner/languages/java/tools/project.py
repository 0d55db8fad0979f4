"""Compile modules of a Maven project with their tests, and write down what running these takes.

    project.py HOME FACTS SETTINGS STORE CACHE TRY REACTOR MODULE... [-- REACTOR MODULE...]

Dependencies are downloaded into HOME/repository, and copied to CACHE. TRY is `whole`, or `skeleton` where no sources
are there, so that what fails is left for later. Folders are relative to /testbed. Standard library.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

ROOT = Path("/testbed")
CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
EFFECTIVE = "org.apache.maven.plugins:maven-help-plugin:3.5.1:effective-pom"
PATHS = "target/goldseam.classpath"
PLATFORM, ENGINES = "1.11.4", "5.11.4"
"""Versions of JUnit's platform and engines, where the project has none."""
EARLIEST = "1.3.2", "5.3.2"
"""The first of both that can be told which engines and listeners there are; they replace earlier ones of a project."""
TESTNG, EARLIEST_TESTNG = "1.0.5", "6.14.3"
"""TestNG's engine, and the first TestNG that it runs; it replaces earlier ones of a project."""
OF_TESTS = re.compile(
    r"junit|org/(?:junit|hamcrest|opentest4j|apiguardian|testng|assertj|mockito)|com/google/truth|net/jqwik"
)
"""Groups of libraries that judge tests: nothing of the project comes before them."""
SKIPPED = (
    "enforcer rat checkstyle animal.sniffer spotless.check spotless.apply pmd cpd spotbugs jacoco cyclonedx license"
    " maven.javadoc gpg fmt formatter impsort sort revapi japicmp errorprone maven.gitcommitid findbugs clirr"
    " forbiddenapis modernizer duplicate-finder dependency-check asciidoctor toolchain"
)
"""What checks and reports and makes nothing that is tested."""
RUN = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:MaxRAMPercentage=50"
    " -ea"
)
USABLE = re.compile(
    r"--(?:add-(?:opens|exports|modules|reads)|enable-(?:preview|native-access)|illegal-access)\b.*|-[DX].*|-ea|-da.*"
)
GET = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get", "-Dtransitive=false"
SNAPSHOT = re.compile(
    r"(?:Could not find artifact|artifacts could not be resolved:) ([\w.-]+):([\w.-]+):pom:([\w.-]+)-SNAPSHOT\b"
)
RELEASED = "of-its-release"
"""Stands beside a snapshot's pom that is its release's."""
OLDEST = re.compile(r"(?:Source|Target) option [\d.]+ is no longer supported\. Use ([\d.]+) or later")
LIBRARY = re.compile(r"(.*)/([^/]+)/([^/]+)/[^/]+\.jar")
DECLARATION = re.compile(r"<\?xml[^>]*\?>")
"""The plugin writes one before each pom."""
POMS = Path("/tmp/effective.xml")  # noqa: S108 - inside the container
TAIL = 6000
TELLING = "-Dorg.slf4j.simpleLogger.log.org.apache.maven.plugin.compiler=debug"
CALLED = re.compile(r"^\[DEBUG\] Command line options:\s+\[DEBUG\] (.*)$", re.MULTILINE)
QUICK = ["-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-J-Xss8m", "-nowarn"]
KOTLIN = "src/test/kotlin"
INFORMATION = ("module-info", "package-info")
"""What Maven and its plugins may write themselves; tests, which run on the class path, need none of it."""
NONE_IS_FINE = ("failIfNoTests=false", "surefire.failIfNoSpecifiedTests=false")


class Project:
    def __init__(self, home: Path, settings: str, store: str) -> None:
        self.home, self.repository = home, home / "repository"
        self.javac = [str(home / "jdk/bin/javac"), *QUICK]
        self.maven = [str(home / "maven/bin/mvn"), "--batch-mode", "-Dstyle.color=never"]
        self.maven += [f"-Dmaven.repo.local={self.repository}", *(f"-D{name}.skip" for name in SKIPPED.split())]
        (home / "maven/conf/toolchains.xml").write_text(toolchains(home / "jdk"))
        self.online = [*self.maven, "--no-transfer-progress", "--settings", settings]
        if Path(store).exists():
            self.online += [f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStorePassword=changeit"]

    def call(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            [*self.online, *words], cwd=folder, check=False, text=True, errors="replace", capture_output=True
        )
        print(ran.stdout[-4 * TAIL :], ran.stderr[-TAIL:], flush=True)
        return ran

    def compile(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """A call that compiles; again where the release of a pom, or in trials too a later one of Java, will do."""
        ran = self.call(folder, *words)
        while ran.returncode and (match := SNAPSHOT.search(ran.stdout)) and self.released(*match.groups()):
            ran = self.call(folder, *words)
        match = OLDEST.search(ran.stdout) if ran.returncode else None
        if match is None:
            return ran
        newer = [f"-Dmaven.compiler.{name}={match[1]}" for name in ("source", "target")]
        self.maven += newer
        self.online += newer
        return self.call(folder, *words)

    def released(self, group: str, name: str, version: str) -> bool:
        """Have a pom's release stand where a snapshot of it is no longer there; True where it has been released."""
        versions = self.repository / group.replace(".", "/") / name
        release, snapshot = (versions / v / f"{name}-{v}.pom" for v in (version, f"{version}-SNAPSHOT"))
        if snapshot.exists() or self.call(Path("/"), *GET, f"-Dartifact={group}:{name}:{version}:pom").returncode:
            return False
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(release, snapshot)
        (snapshot.parent / RELEASED).touch()
        return True

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
        early = re.match(r"5\.[0-2]\b", engines)
        early_testng = re.match(r"[1-5]\.|6\.(?:\d|1[0-3])\b|6\.14\.[0-2]\b", versions.get("testng", ""))
        if early:
            platform, engines = EARLIEST
        runners = [f"org.junit.platform:junit-platform-launcher:{platform}"]
        if "junit-jupiter-api" in versions:
            runners.append(f"org.junit.jupiter:junit-jupiter-engine:{engines}")
        if "junit" in versions or "junit-dep" in versions:
            runners += [f"org.junit.vintage:junit-vintage-engine:{engines}", "junit:junit:4.13.2"]
        if "testng" in versions:
            runners.append(f"org.junit.support:testng-engine:{TESTNG}")
            if early_testng:
                runners.append(f"org.testng:testng:{EARLIEST_TESTNG}")
        jars = self.fetched(runners)
        own = {library[:2] for jar in classpath if (library := self.library(jar))}
        older = {name for name, version in versions.items() if name == "junit" and not re.match(r"4\.1[2-9]", version)}
        if early_testng:
            older |= {"testng", "jcommander"}
        if early:
            older |= {name for name in versions if re.match("junit-(?:jupiter|platform|vintage)-", name)}
        return [
            jar for jar in jars if (library := self.library(jar)) and (library[:2] not in own or library[1] in older)
        ]

    def fetched(self, names: list[str]) -> list[str]:
        """Libraries and what they need, as jars."""
        dependencies = "".join(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>".format(
                *word.split(":")
            )
            for word in names
        )
        folder = Path("/tmp/runner")  # noqa: S108 - inside the container
        folder.mkdir(exist_ok=True)
        (folder / "pom.xml").write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>goldseam</groupId><artifactId>runner</artifactId>"
            f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
        )
        self.must(self.call(folder, CLASSPATH, "-Dmdep.outputFile=paths"), "the runner of its tests")
        return (folder / "paths").read_text().split(os.pathsep)

    def compile_recorder(self, jars: list[str]) -> None:
        """The recorder, for trials whose goldseam has the same."""
        sources = [Path("/tmp", name) for name in ("Recorder.java", "Handout.java")]  # noqa: S108 - inside the container
        text = b"".join(source.read_bytes() for source in sources)
        folder = self.home / "recorder" / hashlib.sha256(text).hexdigest()[:16]
        words = ["-proc:none", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(folder), *map(str, sources)]
        subprocess.run([str(self.home / "jdk/bin/javac"), *words], check=True)

    def one_by_one(self, calls: list[list[str]], folders: list[Path]) -> list[str]:
        """The call that compiles single files of tests without Maven; nothing where it fails for one of them."""
        for options in calls:
            classes = classes_in(Path(options[1]))
            sources = [
                path
                for folder in folders
                for path in sources_in(folder)
                if class_of(path.relative_to(folder)) in classes
            ]
            words = [*options[2:], "-Xprefer:source", "-implicit:class"]
            with tempfile.TemporaryDirectory() as place:
                if sources and self.compiled(["-d", place, *words], sources[:1]):
                    return [*self.javac, *options[:2], *words]
        return []

    def all_together(self, calls: list[list[str]]) -> tuple[list[str], list[Path]]:
        """The call that compiles a module without Maven and its folders, if it makes the same classes; else nothing."""
        for options in calls:
            words = options[options.index("-sourcepath") + 1].split(os.pathsep) if "-sourcepath" in options else []
            folders = [Path(word) for word in words if word and Path(word).is_dir()]
            sources = [path for folder in folders for path in sources_in(folder)]
            with tempfile.TemporaryDirectory() as place:
                well = sources and self.compiled(["-d", place, *options[2:]], sources)
                if well and classes_in(Path(place)) == classes_in(Path(options[1])):
                    return [*self.javac, *options], folders
        return [], []

    def compiled(self, words: list[str], sources: list[Path]) -> bool:
        return (
            subprocess.run([*self.javac, *words, *map(str, sources)], check=False, capture_output=True).returncode == 0
        )

    def must(self, ran: subprocess.CompletedProcess[str], goal: str) -> None:
        if ran.returncode:
            raise SystemExit(f"the build can't give {goal} (exit code {ran.returncode})\n{ran.stdout[-TAIL:]}")


def relative(place: str, module: Path) -> str:
    return os.path.relpath(module / place, ROOT)


def surefire(pom: ET.Element) -> tuple[list[str], dict[str, str]]:
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
    return usable(words), env


def usable(words: list[str]) -> list[str]:
    """Of options of a virtual machine those that tests may need and trials can have."""
    options: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        pair = before in ("--add-opens", "--add-exports", "--add-modules", "--add-reads") and not word.startswith("-")
        if "{" not in word and "-Xmx" not in word and (pair or USABLE.fullmatch(word)):
            options.append(word)
    return options


def effective_poms(text: str) -> dict[Path, ET.Element]:
    """Effective poms by their folder: the plugin's answer is one of them, or several in one element."""
    poms = ET.fromstring(DECLARATION.sub("", text))  # noqa: S314 - inside the container
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


def toolchains(jdk: Path) -> str:
    """The one JDK, under every version that a pom may ask for."""
    form = (
        "<toolchain><type>jdk</type><provides><version>{}</version></provides>"
        f"<configuration><jdkHome>{jdk}</jdkHome></configuration></toolchain>"
    )
    return f"<toolchains>{''.join(map(form.format, ['1.8', *range(6, 40)]))}</toolchains>"


def sources_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.java")) if path.stem not in INFORMATION]


def class_of(source: Path) -> Path:
    return source.with_suffix(".class")


def classes_in(folder: Path) -> dict[Path, bytes]:
    """Classes that are loaded from a folder, by their paths."""
    return {
        name: path.read_bytes()
        for path in folder.rglob("*.class")
        if path.stem not in INFORMATION and (name := path.relative_to(folder)).parts[0] != "META-INF"
    }


def compiler_calls(text: str) -> dict[str, list[list[str]]]:
    """What Maven calls the compiler with, by the folder of its classes."""
    calls: dict[str, list[list[str]]] = {}
    for line in CALLED.findall(text):
        words = line.split()
        if words[0] == "-d":
            calls.setdefault(words[1], []).append(words)
    return calls


def test_sources(folder: Path, pom: ET.Element) -> list[str]:
    """Folders of a module's tests, those that build-helper adds among them, and Kotlin's."""
    plugins = {
        "build-helper-maven-plugin": ("add-test-source", "sources"),
        "kotlin-maven-plugin": ("test-compile", "sourceDirs"),
    }
    added = [
        source.text or ""
        for name, (goal, field) in plugins.items()
        for execution in pom.iterfind(f"./build/plugins/plugin[artifactId='{name}']/executions/execution")
        if goal in [element.text for element in execution.iterfind("./goals/goal")]
        for source in execution.iterfind(f"./configuration/{field}/*")
    ]
    kotlin = [str(folder / KOTLIN)] if (folder / KOTLIN).is_dir() else []
    return [output_of(pom, "testSourceDirectory") or "src/test/java", *filter(None, added), *kotlin]


def cache(repository: Path, folder: Path) -> None:
    """Copy releases of libraries that are new to a folder which other builds of the repository have, too."""
    for path in repository.rglob("*"):
        place = folder / path.relative_to(repository)
        if path.suffix not in (".jar", ".pom") or place.exists() or path.parent.name.endswith("-SNAPSHOT"):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(path.read_bytes())
        Path(file.name).replace(place)


def has_classes_of(jar: str, folders: list[str]) -> bool:
    """Whether a jar has a class that one of the folders has too."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class") and Path(name).stem not in INFORMATION]
    return any(Path(folder, name).exists() for folder in folders for name in names)


class Modules:
    """What trials know of the modules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.facts: dict[str, dict[str, object]] = {}
        self.kept = project.home / "runners.json"
        self.runners: dict[str, list[str]] = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        """The jars that run tests, by those that the module has itself; the layer below may have them."""

    def build(self, root: str, folders: list[str], *, whole: bool) -> None:
        project, reactor = self.project, ROOT / root
        names = [os.path.relpath(ROOT / folder, reactor) for folder in folders]
        chosen = [] if names == ["."] else ["-pl", ",".join(names), "-am"]
        goals = ["--fail-at-end", "test-compile"]
        if not whole:  # surefire downloads what it runs tests with as it does
            for folder in folders:
                stub = ROOT / folder / "src/test/java/StubTest.java"
                stub.parent.mkdir(parents=True, exist_ok=True)
                stub.write_text("class StubTest {}\n")
            goals = ["--fail-at-end", "test", "-Dtest=StubTest", *("-D" + name for name in NONE_IS_FINE)]
        POMS.unlink(missing_ok=True)
        effective = [EFFECTIVE, f"-Doutput={POMS}"]  # before plugins set properties in it to what is no XML
        classpath = [CLASSPATH, f"-Dmdep.outputFile={PATHS}"]
        ran = project.compile(reactor, *chosen, *effective, *goals, *classpath, TELLING)
        if whole:
            project.must(ran, f"the classes of {', '.join(folders)}")
        elif ran.returncode:
            project.call(reactor, *chosen, "--fail-at-end", "test-compile", *classpath)
        if not POMS.exists():
            return
        tested = {ROOT / folder for folder in folders}
        for folder, pom in effective_poms(POMS.read_text(encoding="utf-8")).items():
            name = os.path.relpath(folder, ROOT)
            facts = self.facts["" if name == "." else name] = {
                "output": relative(output_of(pom, "outputDirectory"), folder)
            }
            paths = folder / PATHS
            if paths.exists():
                libraries = [path for path in paths.read_text().split(os.pathsep) if path]
                paths.unlink()
                if folder in tested:
                    facts |= self.tests(root, folder, pom, libraries)
                    facts |= self.compilers(folder, pom, compiler_calls(ran.stdout))

    def compilers(self, folder: Path, pom: ET.Element, calls: dict[str, list[list[str]]]) -> dict[str, object]:
        """How a module and single files of its tests are compiled without Maven."""
        tests, product = (calls.get(output_of(pom, name), []) for name in ("testOutputDirectory", "outputDirectory"))
        javac, folders = self.project.all_together(product)
        return {
            "sources": [relative(str(source), folder) for source in folders],
            "javac": javac,
            "test_javac": self.project.one_by_one(tests, [folder / source for source in test_sources(folder, pom)]),
        }

    def runner(self, libraries: list[str], outputs: list[str]) -> dict[str, list[str]]:
        """The jars that run tests, with the recorder compiled against them, and a class path on which they go first.

        What the project makes itself goes before a jar with the same classes: it may be a library that judges tests.
        """
        judges = [jar for jar in libraries if (library := self.project.library(jar)) and OF_TESTS.match(library[0])]
        key = os.pathsep.join(judges)
        if key not in self.runners:
            self.runners[key] = [*self.project.runner(libraries), *judges]
            self.project.compile_recorder(self.runners[key])
            self.kept.write_text(json.dumps(self.runners))
        runner = self.runners[key]
        last = [jar for jar in runner if has_classes_of(jar, outputs)]
        first = [jar for jar in runner if jar not in last]
        rest = [library for library in libraries if library not in judges and library not in outputs]
        return {"runner": runner, "classpath": [*first, *outputs, *rest, *last]}

    def tests(self, root: str, folder: Path, pom: ET.Element, libraries: list[str]) -> dict[str, object]:
        """How the tests of a module are run."""
        places = [output_of(pom, "testOutputDirectory"), output_of(pom, "outputDirectory")]
        extra, env = surefire(pom)
        return {
            "root": "" if root == "." else root,
            "test_sources": [relative(place, folder) for place in test_sources(folder, pom)],
            "test_output": relative(places[0], folder),
            **self.runner(libraries, places),
            "options": [*RUN.split(), f"-Dbasedir={folder}", *extra],
            "env": env,
        }


def main(home: str, facts: str, settings: str, store: str, folder: str, kind: str, *words: str) -> None:
    project = Project(Path(home), settings, store)
    modules = Modules(project)
    for group in " ".join(words).split(" -- "):
        root, *folders = group.split()
        modules.build(root, folders, whole=kind == "whole")
    if kind == "whole":
        contents = {"maven": project.maven, "modules": modules.facts}
        (project.home / "project.json").write_text(json.dumps(contents))
    cache(project.repository, Path(folder))
    patterns = {"snapshots": "*-SNAPSHOT/*.jar", "released": RELEASED}
    versions = {
        kind: sorted({":".join(path.parts[-3:-1]) for path in project.repository.rglob(pattern)})
        for kind, pattern in patterns.items()
    }
    Path(facts).write_text(json.dumps(versions))


if __name__ == "__main__":
    main(*sys.argv[1:])

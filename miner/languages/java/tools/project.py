"""Compile modules of a Maven project with their tests, and write down what running these takes.

    project.py HOME FACTS SETTINGS STORE CACHE DAY TRY REACTOR MODULE... [-- REACTOR MODULE...]

Dependencies are downloaded into HOME/repository, and copied to CACHE. Of versions that a range leaves open, those after
DAY (YYYY-MM-DD, or `-` for any) are left out. TRY is `whole`; `skeleton` where no sources are there, so that what fails
is left for later; or `fixed`, the same where poms are those of the fix. Folders are relative to /testbed. Standard
library.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import xml.etree.ElementTree as ET
import zipfile
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

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
REPLACED = {"junit": r"3|4\.\d\b|4\.1[01]", "hamcrest-core": r"1\.[0-2]\b"}
"""Versions of a project's libraries that JUnit's engine for JUnit 4 does not run with."""
OF_TESTS = re.compile(
    r"junit|org/(?:junit|hamcrest|opentest4j|apiguardian|testng|assertj|mockito)|com/google/truth|net/jqwik"
)
"""Groups of libraries that judge tests: nothing of the project comes before them."""
SKIPPED = (
    "enforcer rat checkstyle animal.sniffer spotless.check spotless.apply pmd cpd spotbugs jacoco cyclonedx license"
    " maven.javadoc gpg fmt formatter impsort sort revapi japicmp errorprone maven.gitcommitid findbugs clirr"
    " forbiddenapis modernizer duplicate-finder dependency-check asciidoctor toolchain"
    " sortpom editorconfig tidy xml-format mdep.analyze maven.buildNumber bnd.baseline spring-javaformat"
    " googleformatter jqassistant rewrite ossindex sonar scalastyle"
)
"""What checks and reports and makes nothing that is tested."""
PLANNED = "-Dcheck.buildplan.tasks=validate"
"""What a check of plugins looks at: else it asks for those that only a release calls."""
PARALLEL = "-Daether.dependencyCollector.impl=bf"
"""Poms of one depth are downloaded at a time, from Maven 3.9 on; offline no others are asked for."""
BROKEN = re.compile(r"^\[ERROR\] (/[^\n:]+\.java):\[\d+,\d+\]", re.MULTILINE)
ROUNDS = 4
"""How often tests are compiled, each time without the files that could not be."""
RUN = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -XX:CompileThresholdScaling=8 -XX:-UsePerfData"
    " -XX:MaxRAMPercentage=50 -ea"
)
"""Of tests. Most end before compiling pays, so little is compiled, and only what long ones run over and over, well."""
LOADING = """\
package goldseam;

public class Sample {
    @TEST
    public void passes() {}

    @TEST
    public void fails() { throw new AssertionError("a price"); }
}
"""
"""What is run once for the classes that any test loads; TEST is the annotation of whichever JUnit there is."""
USABLE = re.compile(
    r"--(?:add-(?:opens|exports|modules|reads)|enable-(?:preview|native-access)|illegal-access)\b.*|-[DX].*|-ea|-da.*"
)
OF_JDK = re.compile(r"(?:(?:java|jdk)\.[\w.]+|ALL-[A-Z-]+)(?:,(?:(?:java|jdk)\.[\w.]+|ALL-[A-Z-]+))*")
"""Modules that are there where libraries are on the class path."""
GET = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get", "-Dtransitive=false"
MISSING = re.compile(
    r"(?:Could not find artifact|artifacts could not be resolved:) ([\w.-]+):([\w.-]+):(pom|jar):([\w.-]+)(?=[ ,]|$)",
    re.MULTILINE,
)
STAND_IN = "of-another-version"
"""Beside files of a version that are those of another: that version."""
GONE = re.compile(
    r"location: [^\n]*\bjavax?\.|package javax?\.[\w.]+ does not exist|package org\.omg\.[\w.]+ does not exist"
    r"|class java\.lang\.\w+ in java\.lang (?:and|match)\b"
)
"""How the compiler misses what an earlier JDK had, or takes what a later one brought for the project's own."""
OLD_BUNDLES = re.compile(r"\b(?:maven-bundle|bnd-maven)-plugin\b[^\n]*\bConcurrentModificationException\b")
"""What versions of these before 5.1.1 end with on a JDK after 14."""
OLD_CHECKS = re.compile(
    r"bad class file: /modules/|NotDirectoryException: \S+/lib/modules\b"
    r"|IllegalAccessError\b[^\n]*\bcom\.google\.errorprone\b"
)
"""What Error Prone ends with on a JDK that it is too old for, where it brings a compiler or looks into this one."""
NO_ANNOTATIONS = re.compile(r"ClassNotFoundException: javax\.annotation\.|NoClassDefFoundError: javax/annotation/")
"""What a processor of annotations ends with that makes use of those of a JDK before 11."""
NO_MODULE = re.compile("module not found: ")
"""What a declaration of modules misses where others of the reactor are folders of classes: these are none."""
OLDEST = re.compile(
    r"(?:Source|Target) option [\d.]+ is no longer supported\. Use ([\d.]+) or later|release version [67] not supported"
)
UNSAID = "8"
"""What is old enough where the compiler does not say what it takes."""
UNVERSIONED = "0-SNAPSHOT"
"""The version of a project that takes its own from git."""
CENTRAL = "https://repo.maven.apache.org/maven2"
BUILT_ON = re.compile(r"(?:19|20)\d{6}\b.*")
"""Versions that are the day of a build: as Maven orders them, newer than any with fewer digits."""
EXTENSION = """\
<component-set><components><component>
  <role>org.apache.maven.AbstractMavenLifecycleParticipant</role>
  <role-hint>goldseam</role-hint>
  <implementation>goldseam.OldestJava</implementation>
</component></components></component-set>
"""
"""How Maven finds a class that sees to projects before they are built (https://maven.apache.org/examples/maven-3-lifecycle-extensions.html)."""
LIBRARY = re.compile(r"(.*)/([^/]+)/([^/]+)/[^/]+\.jar")
DECLARATION = re.compile(r"<\?xml[^>]*\?>")
"""The plugin writes one before each pom."""
MODULES = "{*}modules/{*}module"
RECORDER = [Path("/tmp", name) for name in ("Recorder.java", "Handout.java")]  # noqa: S108 - inside the container
POMS = Path("/tmp/effective.xml")  # noqa: S108 - inside the container
TAIL = 6000
TELLING = "-Dorg.slf4j.simpleLogger.log.org.apache.maven.plugin.compiler=debug"
CALLED = re.compile(r"^\[DEBUG\] Command line options:\s+\[DEBUG\] (.*)$", re.MULTILINE)
CHECKING = ("-Werror", "-Xplugin:", "-Xep")
"""How options of the compiler begin that have it refuse code which it could compile; Error Prone is a plugin."""
QUICK = ["-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-J-Xss8m", "-nowarn"]
OTHERS = {"kotlin-maven-plugin": "src/test/kotlin", "gmavenplus-plugin": "src/test/groovy"}
"""Where plugins look for tests if a pom names no other folder."""
PLACES, NOWHERE = ("-d", "-classpath", "-sourcepath"), "/nowhere"
SAMPLE = 16
"""Sources, about, by which it is tried whether some can be compiled without the others."""
INFORMATION = ("module-info", "package-info")
"""What Maven and its plugins may write themselves; tests, which run on the class path, need none of it."""
NONE_IS_FINE = ("failIfNoTests=false", "surefire.failIfNoSpecifiedTests=false")


class Project:
    def __init__(self, home: Path, settings: str, store: str, day: str, shared: Path) -> None:
        self.home, self.repository, self.day, self.shared = home, home / "repository", day, shared
        self.javac = compiler(home)
        self.maven = [str(home / "maven/bin/mvn"), "--batch-mode", "-Dstyle.color=never"]
        self.maven += [f"-D{name}.skip" for name in SKIPPED.split()]
        self.maven += [f"-Dmaven.repo.local={self.repository}", PLANNED, PARALLEL]
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
        """A call that compiles; again with other versions of libraries, or in trials too with a later one of Java."""
        ran = self.call(folder, *words)
        if of_the_day(self.repository, self.day):
            ran = self.call(folder, *words)
        while ran.returncode and (match := MISSING.search(ran.stdout)) and self.stand_in(*match.groups()):
            ran = self.call(folder, *words)
        remedies = {"oldest": OLDEST, "bundles": OLD_BUNDLES, "javac": OLD_CHECKS}
        remedies |= {"classpath": NO_MODULE, "annotations": NO_ANNOTATIONS}
        while ran.returncode and (names := [name for name, form in remedies.items() if form.search(ran.stdout)]):
            match = remedies.pop(names[0]).search(ran.stdout)
            level = f"={(match[1] or UNSAID).removeprefix('1.')}" if match and names[0] == "oldest" else ""
            self.call_with(f"-Dmaven.ext.class.path={self.extension()}", f"-Dgoldseam.{names[0]}{level}")
            ran = self.call(folder, *words)
        if ran.returncode and GONE.search(ran.stdout):
            again = [f"-Dmaven.ext.class.path={self.extension()}", "-Dgoldseam.release"]
            if not (by_release := self.call(folder, *words, *again)).returncode:
                self.call_with(*again)
                return by_release
        return ran

    def extension(self) -> Path:
        """The folder of what raises the Java that poms name for the compiler, compiled if it is not there."""
        folder = self.home / "extension"
        if not folder.exists():
            words = ["-nowarn", "-cp", str(self.home / "maven/lib/*"), "-d", str(folder), "/tmp/OldestJava.java"]  # noqa: S108
            subprocess.run([str(self.home / "jdk/bin/javac"), *words], check=True)
            (folder / "META-INF/plexus").mkdir(parents=True)
            (folder / "META-INF/plexus/components.xml").write_text(EXTENSION)
        return folder

    def call_with(self, *words: str) -> None:
        """Give Maven more words from now on, in trials too."""
        self.maven += words
        self.online += words

    def stand_in(self, group: str, name: str, kind: str, version: str) -> bool:
        """Have another version of a library, or of a pom, stand where its own is not to be had; False if none can."""
        versions = self.repository / group.replace(".", "/") / name
        missing = versions / version / f"{name}-{version}.{kind}"
        if missing.exists() or name in own_artifacts() or name.endswith("-plugin"):
            return False
        release = version.removesuffix("-SNAPSHOT")
        other = nearest(release, listed(f"{group.replace('.', '/')}/{name}")) if release == version else release
        for ending in dict.fromkeys(("pom", kind)):
            if not other or self.call(Path("/"), *GET, f"-Dartifact={group}:{name}:{other}:{ending}").returncode:
                return False
            missing.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(versions / other / f"{name}-{other}.{ending}", missing.with_suffix(f".{ending}"))
        (missing.parent / STAND_IN).write_text(other)
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
        older = {name for name, forms in REPLACED.items() if re.match(forms, versions.get(name, ""))}
        if early_testng:
            older |= {"testng", "jcommander"}
        if early:
            older |= {name for name in versions if re.match("junit-(?:jupiter|platform|vintage)-", name)}
        return [
            jar for jar in jars if (library := self.library(jar)) and (library[:2] not in own or library[1] in older)
        ]

    def fetched(self, names: list[str]) -> list[str]:
        """Libraries and what they need, as jars; what builds of the repository had before is not asked for again."""
        known = self.shared / f"runner-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}"
        places = known.read_text().split() if known.exists() else []
        if places and all((self.shared / place).exists() for place in places):
            for place in places:
                lay(self.repository / place, (self.shared / place).read_bytes())
            return [str(self.repository / place) for place in places]
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
        self.must(self.compile(folder, CLASSPATH, "-Dmdep.outputFile=paths"), "the runner of its tests")
        jars = (folder / "paths").read_text().split(os.pathsep)
        lay(known, "\n".join(os.path.relpath(jar, self.repository) for jar in jars).encode())
        return jars

    @property
    def recorder(self) -> Path:
        """The folder of the recorder, for trials whose goldseam has the same; beside it, it is packed in a jar."""
        text = b"".join(source.read_bytes() for source in RECORDER)
        return self.home / "recorder" / hashlib.sha256(text).hexdigest()[:16]

    def compile_recorder(self, jars: list[str]) -> None:
        """The recorder, and a test that is run once for the classes that any test loads."""
        words = ["-proc:none", "-nowarn", "-cp", os.pathsep.join(jars), "-d", str(self.recorder)]
        subprocess.run([*self.javac, *words, *map(str, RECORDER)], check=True)
        sample = Path("/tmp/Sample.java")  # noqa: S108 - inside the container
        for name in ("org.junit.jupiter.api.Test", "org.junit.Test"):
            sample.write_text(LOADING.replace("TEST", name))
            if subprocess.run([*self.javac, *words, str(sample)], check=False, capture_output=True).returncode == 0:
                break
        jar = self.recorder.with_suffix(".jar")
        if not jar.exists():
            with zipfile.ZipFile(jar, "w") as archive:
                for path in sorted(self.recorder.rglob("*.class")):
                    archive.write(path, path.relative_to(self.recorder))

    def archived(self, jars: list[str]) -> str:
        """An archive of the classes that tests load of these jars, made ready; empty where this Java makes none."""
        archive = self.recorder.with_name(f"{hashlib.sha256(os.pathsep.join(jars).encode()).hexdigest()[:16]}.jsa")
        if not archive.exists():
            path = os.pathsep.join([str(self.recorder.with_suffix(".jar")), *jars])
            words = [*RUN.split(), f"-XX:ArchiveClassesAtExit={archive}", "-cp", path, "goldseam.Recorder"]
            java = ["sh", "-c", 'exec "$@" 3> /dev/null', "sh", str(self.home / "jdk/bin/java")]
            lines = b"-\nclass goldseam.Sample\n"
            subprocess.run([*java, *words], input=lines, stdout=subprocess.DEVNULL, check=False)
            archive.touch()  # stays empty with Java before 13, which makes none: it is asked once
        return str(archive) if archive.stat().st_size else ""

    def one_by_one(self, calls: list[list[str]], folders: list[Path]) -> list[str]:
        """The call that compiles single files of tests without Maven; nothing where it fails for one of them.

        A warning is no error there, and nothing else looks at them: what hands out values is not of their style.
        """
        for options in calls:
            classes = classes_in(Path(options[1]))
            sources = [
                path
                for folder in folders
                for path in sources_in(folder)
                if class_of(path.relative_to(folder)) in classes
            ]
            words = [word for word in options[2:] if not word.startswith(CHECKING)]
            words += ["-Xprefer:source", "-implicit:class"]
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

    def by_parts(self, call: list[str], folders: list[Path]) -> list[str]:
        """The call that compiles sources of a module against the classes of others, if that gives the same classes.

        Not where annotations are processed, which may look at all of them, nor where a warning is an error.
        """
        if not call or any(word.startswith(("-Werror", "-Xplugin", "-processor", "--processor")) for word in call):
            return []
        options = dict(itertools.pairwise(call))
        output, classpath = options["-d"], options.get("-classpath", "")
        jars = [Path(word) for word in classpath.split(os.pathsep) if word.endswith(".jar")]
        if "-proc:none" not in call and any(map(processes_annotations, jars)):
            return []
        pairs = {at + step for at, word in enumerate(call) if word in PLACES for step in (0, 1)}
        words = [word for at, word in enumerate(call) if at not in pairs]
        words += ["-classpath", os.pathsep.join(filter(None, (output, classpath))), "-sourcepath", NOWHERE]
        words.append("-implicit:none")
        sources = [path for folder in folders for path in sources_in(folder)]
        some = sources[:: len(sources) // SAMPLE + 1]
        with tempfile.TemporaryDirectory() as place:
            argv = [*words, "-d", place, *map(str, some)]
            well = subprocess.run(argv, check=False, capture_output=True).returncode == 0
            classes, others = classes_in(Path(place)), classes_in(Path(output))
            return words if well and all(others.get(name) == data for name, data in classes.items()) else []

    def compiled(self, words: list[str], sources: list[Path]) -> bool:
        return (
            subprocess.run([*self.javac, *words, *map(str, sources)], check=False, capture_output=True).returncode == 0
        )

    def must(self, ran: subprocess.CompletedProcess[str], goal: str) -> None:
        if ran.returncode:
            raise SystemExit(f"the build can't give {goal} (exit code {ran.returncode})\n{ran.stdout[-TAIL:]}")


def listed(library: str) -> list[str]:
    """The versions of a library that Maven Central has; none where it can't be asked."""
    with (
        contextlib.suppress(OSError, ET.ParseError),
        urllib.request.urlopen(  # noqa: S310 - https
            f"{CENTRAL}/{library}/maven-metadata.xml", timeout=60
        ) as answer,
    ):
        return [element.text or "" for element in ET.parse(answer).iterfind("versioning/versions/version")]  # noqa: S314
    return []


def nearest(version: str, versions: list[str]) -> str:
    """Of versions that are numbers alone the last before another one, else the first after it; empty if none.

    Those with the same first number go before all others.
    """
    form = re.compile(r"\d{1,6}(\.\d+)*")
    by_numbers = {tuple(map(int, other.split("."))): other for other in versions if form.fullmatch(other)}
    wanted = tuple(map(int, re.findall(r"\d+", version)))
    before = [other for other in sorted(by_numbers, reverse=True) if other < wanted]
    after = [other for other in sorted(by_numbers) if other > wanted]
    chosen = min((*before, *after), key=lambda other: other[:1] != wanted[:1], default=None)
    return by_numbers[chosen] if chosen else ""


def of_the_day(repository: Path, day: str) -> bool:
    """Leave out of Maven's lists of versions what ranges are not to be resolved to; False if that is nothing.

    That is what came after the day, as far as the list's repository tells, and versions that are the day of a build.
    """
    changed = False
    for path in repository.rglob("maven-metadata-*.xml"):
        tree = ET.parse(path)  # noqa: S314 - inside the container
        versions = tree.find("versioning/versions")
        if versions is None or path.name == "maven-metadata-local.xml" or path.parent.name.endswith("-plugin"):
            continue
        elements = list(versions)
        kept = [element for element in elements if not BUILT_ON.fullmatch(element.text or "")] or elements[:]
        while day != "-" and len(kept) > 1 and came_on(path.parent.relative_to(repository), kept[-1].text or "") > day:
            kept.pop()
        if kept != elements:
            versions[:] = kept
            for name in ("latest", "release"):
                for element in tree.iterfind(f"versioning/{name}"):
                    element.text = kept[-1].text
            tree.write(path)
            changed = True
    return changed


def came_on(library: Path, version: str) -> str:
    """The day on which a version came to Maven Central; empty where that is not told."""
    address = f"{CENTRAL}/{library}/{version}/{library.name}-{version}.pom"
    with contextlib.suppress(OSError, ValueError):
        asked = urllib.request.Request(address, method="HEAD")  # noqa: S310 - https
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - the same
            return parsedate_to_datetime(answer.headers["Last-Modified"] or "").date().isoformat()
    return ""


def compiler(home: Path) -> list[str]:
    """The call of the compiler, from an archive of its classes where the JDK could write one."""
    archive = home / "javac.jsa"
    return [str(home / "jdk/bin/javac"), *([f"-J-XX:SharedArchiveFile={archive}"] if archive.exists() else []), *QUICK]


@functools.lru_cache(maxsize=1)
def poms_of(root: Path) -> list[tuple[Path, ET.Element]]:
    """Poms of the tree that can be read, with their folders, as they are when they are first asked for."""
    poms = []
    for path in sorted(root.rglob("pom.xml")):
        with contextlib.suppress(ET.ParseError):
            poms.append((path.parent, ET.parse(path).getroot()))  # noqa: S314 - inside the container
    return poms


def own_artifacts(root: Path = ROOT) -> set[str]:
    """What the poms of the tree make themselves: nothing stands for these."""
    return {pom.findtext("{*}artifactId") or "" for _, pom in poms_of(root)}


def profiles_with(folders: list[str], root: Path = ROOT) -> list[str]:
    """Of poms of the tree the first profiles without which modules in some folders are not built."""

    def modules(folder: Path, element: ET.Element) -> set[str]:
        places = (os.path.normpath(folder / (module.text or "").strip()) for module in element.iterfind(MODULES))
        return {place for place in places if any(f"{root / name}/".startswith(f"{place}/") for name in folders)}

    names = []
    for folder, pom in poms_of(root):
        known = modules(folder, pom)
        for profile in pom.iterfind("{*}profiles/{*}profile"):
            if more := modules(folder, profile) - known:
                known |= more
                names.append((profile.findtext("{*}id") or "").strip())
    return names


def unset_version(reactor: Path) -> str:
    """The property that a root pom names for its version and nothing in the tree sets; empty where there is none.

    An extension of Maven reads it from git, which trials do not have.
    """
    try:
        pom = ET.parse(reactor / "pom.xml").getroot()  # noqa: S314 - inside the container
    except (OSError, ET.ParseError):
        return ""
    if pom.find("{*}parent") is not None:
        return ""
    name = re.fullmatch(r"\$\{([\w.-]+)\}", (pom.findtext("{*}version") or "").strip())
    config = reactor / ".mvn/maven.config"
    options = config.read_text(errors="replace") if config.exists() else ""
    is_set = name and any(element.tag.rpartition("}")[2] == name[1] for element in pom.iterfind(".//{*}properties/*"))
    return name[1] if name and not is_set and f"-D{name[1]}=" not in options else ""


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
        if "{" in word or "-Xmx" in word or not (pair or USABLE.fullmatch(word)):
            continue
        if before == "--add-modules" and not OF_JDK.fullmatch(word):
            options.pop()
        elif not word.startswith("--add-modules=") or OF_JDK.fullmatch(word.partition("=")[2]):
            options.append(word)
    return options


def effective_poms(text: str, root: Path = ROOT) -> dict[Path, ET.Element]:
    """Effective poms by their folder: the plugin's answer is one of them, or several in one element.

    The folder is that of the pom of the tree which alone names the same artifact, else the one around what is built.
    """
    poms = ET.fromstring(DECLARATION.sub("", text))  # noqa: S314 - inside the container
    places: dict[str, list[Path]] = {}
    for folder, pom in poms_of(root):
        places.setdefault(pom.findtext("{*}artifactId") or "", []).append(folder)
    by_folder = {}
    for element in poms.iter():
        element.tag = element.tag.rpartition("}")[2]
    for pom in [poms] if poms.tag == "project" else poms.iterfind("project"):
        output = pom.findtext("./build/outputDirectory")
        directory = pom.findtext("./build/directory")
        if output and directory:
            folders = places.get(pom.findtext("artifactId") or "", [])
            if len(folders) == 1:
                by_folder[folders[0]] = pom
            else:
                by_folder.setdefault(Path(directory).parent, pom)
    return by_folder


def with_tests_in(poms: dict[Path, ET.Element], folders: set[Path]) -> set[Path]:
    """The modules whose tests lie in some folders, and in none of a module below these: their own, or another's."""
    tested = set()
    for folder, pom in poms.items():
        place = Path(os.path.normpath(folder / output_of(pom, "testSourceDirectory")))
        nearest = next((outer for outer in (place, *place.parents) if outer in poms), None)
        if nearest in folders and pom.findtext("packaging") != "pom":
            tested.add(folder)
    return tested


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
    """Folders of a module's tests, those that build-helper adds among them, and those of other languages."""
    plugins = {
        "build-helper-maven-plugin": ("add-test-source", "sources"),
        "kotlin-maven-plugin": ("test-compile", "sourceDirs"),
        "gmavenplus-plugin": ("compileTests", "testSources"),
    }
    added = [
        source.findtext("directory") or source.text or ""
        for name, (goal, field) in plugins.items()
        for execution in pom.iterfind(f"./build/plugins/plugin[artifactId='{name}']/executions/execution")
        if goal in [element.text for element in execution.iterfind("./goals/goal")]
        for source in execution.iterfind(f"./configuration/{field}/*")
    ]
    own = {plugin.findtext("artifactId") for plugin in pom.iterfind("./build/plugins/plugin")}
    others = [str(folder / other) for name, other in OTHERS.items() if name in own or (folder / other).is_dir()]
    return [output_of(pom, "testSourceDirectory") or "src/test/java", *filter(None, map(str.strip, added)), *others]


def cache(repository: Path, folder: Path) -> None:
    """Copy releases of libraries that are new to a folder which other builds of the repository have, too."""
    for path in repository.rglob("*"):
        place = folder / path.relative_to(repository)
        is_release = path.suffix in (".jar", ".pom") and not path.parent.name.endswith("-SNAPSHOT")
        if is_release and not place.exists():
            lay(place, path.read_bytes())


def lay(place: Path, data: bytes) -> None:
    """Write a file that nobody sees unfinished, unless it is there."""
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(place)


def has_classes_of(jar: str, folders: list[str]) -> bool:
    """Whether a jar has a class that one of the folders has too."""
    if not zipfile.is_zipfile(jar):
        return False
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".class") and Path(name).stem not in INFORMATION]
    return any(Path(folder, name).exists() for folder in folders for name in names)


def processes_annotations(jar: Path) -> bool:
    """Whether a compiler that has a jar on its class path runs code of it."""
    if not jar.exists():
        return False
    with zipfile.ZipFile(jar) as archive:
        return "META-INF/services/javax.annotation.processing.Processor" in archive.namelist()


class Modules:
    """What trials know of the modules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.facts: dict[str, dict[str, Any]] = {}
        self.broken: set[str] = set()
        """Files of tests that can't be compiled."""
        self.built: list[tuple[Path, list[str]]] = []
        """The folders that Maven was called in, and how it was told which modules."""
        self.kept = project.home / "runners.json"
        self.runners: dict[str, list[str]] = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        """The jars that run tests, by those that the module has itself; the layer below may have them."""

    def build(self, root: str, folders: list[str], *, whole: bool) -> None:
        project, reactor = self.project, ROOT / root
        names = [os.path.relpath(ROOT / folder, reactor) for folder in folders]
        chosen = [] if names == ["."] else ["-pl", ",".join(names), "-am"]
        self.built.append((reactor, chosen))
        profiles, version = profiles_with(folders), unset_version(reactor)
        project.call_with(
            *([f"-P{','.join(profiles)}"] if profiles else []), *([f"-D{version}={UNVERSIONED}"] if version else [])
        )
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
        words = [*chosen, *effective, *goals, *classpath, TELLING]
        ran = self.without_broken(reactor, *words) if whole else project.compile(reactor, *words)
        if ran.returncode and not whole:
            project.call(reactor, *chosen, "--fail-at-end", "test-compile", *classpath)
        poms = effective_poms(POMS.read_text(encoding="utf-8")) if POMS.exists() else {}
        tested = with_tests_in(poms, {ROOT / folder for folder in folders})
        unbuilt = {folder for folder in tested if not (folder / PATHS).exists()}
        if whole and unbuilt == tested:
            project.must(ran, f"the classes of {', '.join(folders)}")
        elif whole:  # others don't need it
            lost = (path for path in self.test_files() if unbuilt.intersection(path.parents))
            self.broken |= {os.path.relpath(path, ROOT) for path in lost}
        for folder, pom in poms.items():
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

    def write(self, kind: str, **project: object) -> None:
        """Write down what trials know; of the fix's build files, what its tests are run with."""
        of_fix, names = self.project.home / "fixed.json", ("runner", "classpath", "options", "env")
        if kind == "fixed":
            tested = {folder: facts for folder, facts in self.facts.items() if "runner" in facts}
            of_fix.write_text(json.dumps({folder: {name: tested[folder][name] for name in names} for folder in tested}))
        elif kind == "whole":
            fixed = json.loads(of_fix.read_text()) if of_fix.exists() else {}
            for folder, facts in fixed.items():
                if "test_javac" in self.facts.get(folder, {}):
                    self.add_libraries(self.facts[folder], facts["classpath"])
            contents = {**project, "modules": self.facts, "fixed": fixed}
            (self.project.home / "project.json").write_text(json.dumps(contents))

    def take_out_releases(self) -> None:
        """Remove jars of Maven's own and of its plugins that hold the project itself, if it compiles without them.

        They may be later releases, and have the fix.
        """
        outputs = [str(ROOT / facts["output"]) for facts in self.facts.values()]
        of_tests = json.dumps(self.facts)
        places = (self.project.home / "maven/lib", self.project.repository)
        jars = [jar for place in places for jar in place.rglob("*.jar") if str(jar) not in of_tests]
        releases = [jar for jar in jars if has_classes_of(str(jar), outputs)]
        with tempfile.TemporaryDirectory() as folder:
            away = {jar: shutil.move(jar, Path(folder, str(number))) for number, jar in enumerate(releases)}
            words = ["--offline", "--quiet", "--fail-at-end", "test-compile"]
            if away and any(self.project.call(reactor, *chosen, *words).returncode for reactor, chosen in self.built):
                for jar, aside in away.items():
                    shutil.move(aside, jar)

    def add_libraries(self, facts: dict[str, Any], classpath: list[str]) -> None:
        """Give tests of a module the libraries of a class path that it lacks: those of the fix may need them.

        Of a group that it has in another version none.
        """
        groups: dict[str, set[str]] = {}
        for jar in facts["classpath"]:
            if library := self.project.library(jar):
                groups.setdefault(library[0], set()).add(library[2])
        libraries = ((jar, self.project.library(jar)) for jar in classpath if jar not in facts["classpath"])
        more = [jar for jar, of in libraries if of and of[2] in groups.get(of[0], {of[2]})]
        facts["classpath"] = [*facts["classpath"], *more]
        call = facts["test_javac"]
        if "-classpath" in call:
            place = call.index("-classpath") + 1
            call[place] = os.pathsep.join([call[place], *more])

    def without_broken(self, reactor: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """A call that compiles; without files of tests that can't be, as trials do. They are back afterwards.

        It says what all such calls say: the product is compiled by the first alone.
        """
        with tempfile.TemporaryDirectory() as place:
            away: dict[Path, Path] = {}
            output = ""
            for _ in range(ROUNDS):
                ran = self.project.compile(reactor, *words)
                output += ran.stdout
                paths = set(map(Path, BROKEN.findall(ran.stdout))) if ran.returncode else set()
                if not paths or not paths <= self.test_files():
                    break
                for path in paths:
                    away[path] = Path(shutil.move(path, Path(place, str(len(away)))))
            for path, kept in away.items():
                shutil.move(kept, path)
            self.broken |= {os.path.relpath(path, ROOT) for path in away}
            ran.stdout = output
        return ran

    def test_files(self) -> set[Path]:
        """The sources of tests, by the effective poms."""
        poms = effective_poms(POMS.read_text(encoding="utf-8")) if POMS.exists() else {}
        return {
            path
            for folder, pom in poms.items()
            for place in test_sources(folder, pom)
            for path in (folder / place).rglob("*.java")
        }

    def compilers(self, folder: Path, pom: ET.Element, calls: dict[str, list[list[str]]]) -> dict[str, object]:
        """How a module and single files of its tests are compiled without Maven."""
        tests, product = (calls.get(output_of(pom, name), []) for name in ("testOutputDirectory", "outputDirectory"))
        javac, folders = self.project.all_together(product)
        return {
            "sources": [relative(str(source), folder) for source in folders],
            "javac": javac,
            "parts_javac": self.project.by_parts(javac, folders),
            "test_javac": self.project.one_by_one(tests, [folder / source for source in test_sources(folder, pom)]),
        }

    def runner(self, libraries: list[str], outputs: list[str]) -> dict[str, object]:
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
        archive = self.project.archived(first)
        return {"runner": runner, "classpath": [*first, *outputs, *rest, *last], "archive": archive}

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


def main(home: str, facts: str, settings: str, store: str, folder: str, day: str, kind: str, *words: str) -> None:
    project = Project(Path(home), settings, store, day, Path(folder))
    modules = Modules(project)
    for group in " ".join(words).split(" -- "):
        root, *folders = group.split()
        modules.build(root, folders, whole=kind == "whole")
    modules.write(kind, maven=project.maven)
    cache(project.repository, Path(folder))
    if kind == "whole" and not modules.broken:
        modules.take_out_releases()
    snapshots = {":".join(path.parts[-3:-1]) for path in project.repository.rglob("*-SNAPSHOT/*.jar")}
    others = {f"{':'.join(path.parts[-3:-1])} by {path.read_text()}" for path in project.repository.rglob(STAND_IN)}
    contents = {"snapshots": sorted(snapshots), "others": sorted(others), "broken": sorted(modules.broken)}
    Path(facts).write_text(json.dumps(contents))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How Java comes into an image, and what its driver reads."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import miner.languages.java
from harness.config.settings import ImageSettings
from harness.core import process
from harness.languages.java.language import part
from miner.languages.java.toolchain import layer_of_jdk

TOOLS = Path(miner.languages.java.__file__).parent / "tools"
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
{}
-----END CERTIFICATE-----
"""


def test_a_jdk_of_this_machine_is_copied_for_its_own_version_and_platform_alone(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/javac").write_bytes(b"program")
    (tmp_path / "release").write_text('JAVA_VERSION="21.0.2"\n')
    settings = ImageSettings(jdks={"21": tmp_path})
    [folder] = layer_of_jdk("base", 21, settings).folders
    assert (folder.path, folder.context) == (tmp_path, "jdk-21")
    assert not layer_of_jdk("base", 17, settings).folders
    assert not layer_of_jdk("base", 21, settings.model_copy(update={"platform": "linux/s390x"})).folders


def test_a_jdk_that_only_a_later_debian_has_is_installed_from_there():
    def apt(major: int) -> list[str]:
        return [command for command in layer_of_jdk("base", major, ImageSettings()).commands if "install" in command]

    assert apt(21)[0].endswith("-t trixie -qq install -y --no-install-recommends openjdk-21-jdk-headless")
    assert "-t" not in apt(17)[0].split()


def test_a_folder_without_a_compiler_or_with_a_name_that_is_no_major_version_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/javac").write_bytes(b"")
    for version, folder in (("21", Path("/nowhere")), ("21.0.2", tmp_path)):
        with pytest.raises(ValueError, match="expected a major version"):
            ImageSettings(jdks={version: folder})


def access(folder: Path, *caches: Path, **variables: str) -> None:
    env = {"PATH": os.environ["PATH"], **variables}
    words = [sys.executable, TOOLS / "access.py", folder / "settings.xml", folder / "trust.jks", *caches]
    process.run(words, env=env)


def test_maven_is_told_the_proxies_of_builds(tmp_path):
    access(tmp_path, https_proxy="http://me:p%26q@127.0.0.1:3128", no_proxy="localhost,.example")
    [proxy] = ET.parse(tmp_path / "settings.xml").iter("proxy")
    assert {field.tag: field.text for field in proxy} == {
        "id": "https", "protocol": "https", "host": "127.0.0.1", "port": "3128", "username": "me", "password": "p&q",
        "nonProxyHosts": "localhost|.example",
    }  # fmt: skip


def test_certificates_become_a_trust_store_once_each(tmp_path):
    bundle = tmp_path / "ca.crt"
    bundle.write_text(
        "# a comment\n" + CERTIFICATE.format("AAEC") + CERTIFICATE.format("AwQF") + CERTIFICATE.format("AAEC")
    )
    access(tmp_path, SSL_CERT_FILE=str(bundle))
    data = (tmp_path / "trust.jks").read_bytes()
    assert data[:12] == bytes.fromhex("feedfeed0000000200000002")
    assert data.count(b"X.509") == 2


def test_maven_looks_for_libraries_in_the_folder_that_builds_share_before_any_other(tmp_path):
    access(tmp_path, tmp_path / "a cache")
    settings = ET.parse(tmp_path / "settings.xml")
    assert [url.text for url in settings.iter("url")] == [(tmp_path / "a cache").as_uri()] * 2
    assert settings.findtext("activeProfiles/activeProfile") == settings.findtext("profiles/profile/id")


def test_releases_of_libraries_are_copied_to_the_folder_that_builds_share_once(project, tmp_path):
    files = {
        "a/b/1.0/b-1.0.jar": "new",
        "a/b/1.0/b-1.0.pom": "pom",
        "a/c/2/c-2.jar": "new",
        "a/b/1.0/b-1.0.jar.sha1": "",
    }
    for name, text in {**files, "a/d/1-SNAPSHOT/d-1.jar": "day"}.items():
        (tmp_path / "repository" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / name).write_text(text)
    kept = tmp_path / "cache/a/c/2/c-2.jar"
    kept.parent.mkdir(parents=True)
    kept.write_text("old")
    project["cache"](tmp_path / "repository", tmp_path / "cache")
    cached = {
        str(path.relative_to(tmp_path / "cache")): path.read_text() for path in (tmp_path / "cache").rglob("*.*r")
    }
    assert cached == {"a/b/1.0/b-1.0.jar": "new", "a/c/2/c-2.jar": "old"}
    assert (tmp_path / "cache/a/b/1.0/b-1.0.pom").exists()
    assert len([path for path in (tmp_path / "cache").rglob("*") if path.is_file()]) == 3


def test_the_runner_of_tests_is_asked_for_once_by_all_builds_of_a_repository(project, tmp_path, monkeypatch):
    asked = []
    monkeypatch.chdir(tmp_path)
    jar = "a/b/1/b-1.jar"
    first, second = (object.__new__(project["Project"]) for _ in range(2))
    for number, one in enumerate((first, second)):
        one.repository, one.shared = tmp_path / f"repository{number}", tmp_path / "cache"

    def compile_(folder, *words):
        asked.append(words)
        (folder / "paths").write_text(str(first.repository / jar))
        project["lay"](first.repository / jar, b"jar")
        return SimpleNamespace(returncode=0, stdout="")

    for one in (first, second):
        one.compile = compile_
    assert first.fetched(["a:b:1"]) == [str(first.repository / jar)]
    project["cache"](first.repository, first.shared)
    assert second.fetched(["a:b:1"]) == [str(second.repository / jar)]
    assert (second.repository / jar).read_bytes() == b"jar"
    assert len(asked) == 1
    first.fetched(["a:c:1"])
    assert len(asked) == 2


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs a JDK")
def test_sources_are_compiled_alone_where_that_gives_the_same_classes_and_nothing_looks_at_all_of_them(
    project, tmp_path
):
    source, out, jar = tmp_path / "src", tmp_path / "out", tmp_path / "a.jar"
    source.mkdir()
    (source / "A.java").write_text("class A { int of() { return B.ONE; } }")
    (source / "B.java").write_text("class B { static final int ONE = 1; }")
    process.run(["javac", "-proc:none", "-d", out, *source.glob("*.java")])
    one = object.__new__(project["Project"])

    def parts(*words: str) -> list[str]:
        call = ["javac", "-d", str(out), "-classpath", f"{out}:{jar}", "-sourcepath", str(source), *words]
        return one.by_parts(call, [source])

    words = parts("-proc:none")
    assert words[:2] == ["javac", "-proc:none"]
    assert "-d" not in words
    assert words[-5:] == ["-classpath", f"{out}:{out}:{jar}", "-sourcepath", "/nowhere", "-implicit:none"]
    assert parts("-proc:none", "-Werror") == parts("-processorpath", "x.jar") == one.by_parts([], [source]) == []
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/services/javax.annotation.processing.Processor", "a.B")
    assert parts() == []
    (out / "A.class").write_bytes(b"by another program")
    assert parts("-proc:none") == []


LIST = """<metadata><groupId>a</groupId><versioning><latest>20041127.091804</latest><release>20041127.091804</release>
<versions>{}</versions></versioning></metadata>"""


@pytest.mark.parametrize(
    ("versions", "day", "left"),
    [
        ("1.15 1.16 20041127.091804", "-", "1.15 1.16"),
        ("1.15 1.16 1.17", "2020-05-05", "1.15 1.16"),
        ("1.15 1.16", "2000-01-01", "1.15"),
        ("1.15 1.17", "-", "1.15 1.17"),
        ("20031127 20041127", "-", "20031127 20041127"),
    ],
)
def test_versions_of_a_range_are_those_of_the_day_without_those_that_are_days_themselves(
    project, tmp_path, monkeypatch, versions, day, left
):
    days = {"1.15": "2019-01-01", "1.16": "2020-05-05", "1.17": "2020-05-06"}
    names = project["of_the_day"].__globals__
    monkeypatch.setitem(names, "came_on", lambda library, version: days[version] * (str(library) == "a/b"))
    place = tmp_path / "a/b/maven-metadata-central.xml"
    place.parent.mkdir(parents=True)
    place.write_text(LIST.format("".join(f"<version>{version}</version>" for version in versions.split())))
    assert project["of_the_day"](tmp_path, day) == (left != versions)
    assert not project["of_the_day"](tmp_path, day)
    assert [version.text for version in ET.parse(place).iter("version")] == left.split()
    if left != versions:
        assert ET.parse(place).findtext("versioning/release") == left.split()[-1]


HELPED = """
<project><build><testSourceDirectory>/testbed/core/src/test/java</testSourceDirectory><plugins>
<plugin><artifactId>build-helper-maven-plugin</artifactId><executions>
<execution><goals><goal>add-source</goal></goals><configuration><sources><source>more</source></sources></configuration>
</execution>
<execution><goals><goal>add-test-source</goal></goals>
<configuration><sources><source>/testbed/core/src/test/java11</source></sources></configuration></execution>
</executions></plugin>
<plugin><artifactId>kotlin-maven-plugin</artifactId><executions>
<execution><goals><goal>compile</goal></goals><configuration><sourceDirs><source>no</source></sourceDirs></configuration>
</execution>
<execution><goals><goal>test-compile</goal></goals>
<configuration><sourceDirs><source>/testbed/core/tests</source></sourceDirs></configuration></execution>
</executions></plugin>
<plugin><artifactId>gmavenplus-plugin</artifactId><executions><execution><goals><goal>compileTests</goal></goals><configuration>
<testSources><testSource><directory>/testbed/core/specs</directory></testSource></testSources></configuration>
</execution></executions></plugin></plugins></build></project>
"""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return runpy.run_path(str(TOOLS / "project.py"))


def test_folders_of_tests_are_those_of_the_pom_and_those_that_plugins_add_and_those_of_other_languages(
    project, tmp_path
):
    for name in ("kotlin", "groovy"):
        (tmp_path / "src/test" / name).mkdir(parents=True)
    assert project["test_sources"](tmp_path, ET.fromstring(HELPED)) == [
        *("/testbed/core/src/test/java", "/testbed/core/src/test/java11", "/testbed/core/tests"),
        *("/testbed/core/specs", str(tmp_path / "src/test/kotlin"), str(tmp_path / "src/test/groovy")),
    ]


def test_how_maven_calls_the_compiler_is_read_by_the_folder_of_its_classes(project):
    said = "[DEBUG] Command line options:\n[DEBUG] {}\n[INFO] x\n"
    calls = ["-d /a/test -classpath /a:/b: -g", "-d /a/classes -g", "-d /a/classes --release 11", "javac -g"]
    assert project["compiler_calls"]("".join(map(said.format, calls))) == {
        "/a/test": [["-d", "/a/test", "-classpath", "/a:/b:", "-g"]],
        "/a/classes": [["-d", "/a/classes", "-g"], ["-d", "/a/classes", "--release", "11"]],
    }


def test_how_the_product_is_compiled_is_known_where_a_test_file_cannot_be(project, tmp_path):
    broken = tmp_path / "BrokenTest.java"
    broken.touch()
    said = iter([(1, f"of the product\n[ERROR] {broken}:[1,2] no\n"), (0, "of the tests\n")])

    def compiled(*_words: object) -> SimpleNamespace:
        code, text = next(said)
        return SimpleNamespace(returncode=code, stdout=text)

    modules = project["Modules"](SimpleNamespace(home=tmp_path, compile=compiled))
    modules.test_files = lambda: {broken}
    ran = modules.without_broken(tmp_path)
    assert (ran.returncode, broken.exists()) == (0, True)
    assert "of the product" in ran.stdout
    assert "of the tests" in ran.stdout


@pytest.mark.parametrize(
    ("form", "said", "groups"),
    [
        ("OLDEST", "[ERROR] Source option 5 is no longer supported. Use 7 or later.", ("7",)),
        ("OLDEST", "[ERROR] Target option 1.5 is no longer supported. Use 1.8 or later.", ("1.8",)),
        (
            "MISSING",
            "artifacts could not be resolved: a.b:c-base:pom:2.19.1-SNAPSHOT (absent)",
            ("a.b", "c-base", "pom", "2.19.1-SNAPSHOT"),
        ),
        ("MISSING", "Could not find artifact a:b:jar:2.0-SNAPSHOT and", ("a", "b", "jar", "2.0-SNAPSHOT")),
        ("MISSING", "Could not find artifact a:b:jar:1.3 in central", ("a", "b", "jar", "1.3")),
        ("MISSING", "Could not find artifact a:b:jar:tests:2.0-SNAPSHOT and", None),
    ],
)
def test_what_may_help_is_read_from_what_maven_says(project, form, said, groups):
    match = project[form].search(said)
    assert (match and match.groups()) == groups


_OLD = "Source option 5 is no longer supported. Use 7 or later."
_BUNDLES = "Failed to execute goal: Internal error in maven-bundle-plugin: ConcurrentModificationException -> [Help 1]"
_BUNDLE = "goal org.apache.felix:maven-bundle-plugin:4.1.0:manifest failed. ConcurrentModificationException -> [Help 1]"
_BND = "goal biz.aQute.bnd:bnd-maven-plugin:4.3.1:bnd-process: null: ConcurrentModificationException -> [Help 1]"
_CHECKS = "Fatal error compiling: NotDirectoryException: /opt/goldseam/java/jdk/lib/modules -> [Help 1]"
_NO_MODULE = "/testbed/src/main/java9/module-info.java:[2,15] module not found: org.other"
_ANNOTATIONS = "Caused by: java.lang.ClassNotFoundException: javax.annotation.Generated"
_GONE = "cannot find symbol\n  location: variable manager of type java.lang.SecurityManager"
_NAMED_ALIKE = "both interface a.Record in a and class java.lang.Record in java.lang match"


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        (("OK",), []),
        ((_OLD, "OK"), ["oldest=7"]),
        (("Target option 1.5 is no longer supported. Use 1.8 or later.", "OK"), ["oldest=8"]),
        (("error: release version 6 not supported", "OK"), ["oldest=8"]),
        (("error: release version 21 not supported",), None),
        ((_GONE, "OK"), ["release"]),
        ((_NAMED_ALIKE, "OK"), ["release"]),
        ((_OLD, _GONE, "OK"), ["oldest=7", "release"]),
        ((_BUNDLES, "OK"), ["bundles"]),
        ((_OLD, _BUNDLE, "OK"), ["oldest=7", "bundles"]),
        ((_BND, "OK"), ["bundles"]),
        ((_NO_MODULE, "OK"), ["classpath"]),
        ((_CHECKS, _OLD, "OK"), ["javac", "oldest=7"]),
        ((_OLD, _ANNOTATIONS, "OK"), ["oldest=7", "annotations"]),
        ((_BUNDLES, _NO_MODULE, _GONE, "OK"), ["bundles", "classpath", "release"]),
        ((_GONE, "package sun.misc does not exist"), None),
    ],
)
def test_maven_compiles_for_the_oldest_java_that_there_is_and_against_what_that_had(project, tmp_path, outputs, told):
    class Told(project["Project"]):
        def __init__(self):
            self.repository, self.day, self.maven, self.online, self.left = tmp_path, "-", [], [], list(outputs)

        def call(self, *_):
            text = self.left.pop(0)
            return SimpleNamespace(returncode=int(text != "OK"), stdout=f"[ERROR] {text}")

        def extension(self):
            return tmp_path

    one = Told()
    ran = one.compile(tmp_path)
    words = [word for option in told or [] for word in (f"-Dmaven.ext.class.path={tmp_path}", f"-Dgoldseam.{option}")]
    assert (ran.returncode, one.maven, one.online, one.left) == (int(told is None), words, words, [])


@pytest.mark.parametrize(
    ("version", "versions", "taken"),
    [
        ("1.3", "1.1 1.2 1.10 2.0", "1.2"),
        ("1.0", "0.9 1.1 1.2", "1.1"),
        ("1.0", "0.8 0.9 2.0", "0.9"),
        ("1.3", "1.3-RC1 20041127.091804 x", ""),
        ("1.9.1.Final", "1.9 1.10", "1.9"),
        ("1.3", "", ""),
    ],
)
def test_in_place_of_a_version_that_is_not_to_be_had_is_the_last_before_it(project, version, versions, taken):
    assert project["nearest"](version, versions.split()) == taken


@pytest.mark.parametrize(("version", "other"), [("1.3", "1.2"), ("1.3-SNAPSHOT", "1.3"), ("0.9", "")])
def test_another_version_stands_where_one_is_not_to_be_had(project, tmp_path, monkeypatch, version, other):
    class Fetching(project["Project"]):
        def __init__(self):
            self.repository = tmp_path

        def call(self, _folder, *words):
            group, name, fetched, ending = words[-1].partition("=")[2].split(":")
            place = tmp_path / group / name / fetched
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{name}-{fetched}.{ending}").write_text(f"{ending} of {fetched}")
            return SimpleNamespace(returncode=0)

    names = project["nearest"].__globals__
    monkeypatch.setitem(names, "listed", lambda _library: ["1.2", "1.4"] if other else [])
    assert Fetching().stand_in("a", "b", "jar", version) is bool(other)
    assert not Fetching().stand_in("a", "b", "jar", version)
    if other:
        texts = {path.name: path.read_text() for path in (tmp_path / "a/b" / version).iterdir()}
        assert texts == {
            f"b-{version}.pom": f"pom of {other}", f"b-{version}.jar": f"jar of {other}", project["STAND_IN"]: other,
        }  # fmt: skip


def test_the_compiler_starts_from_an_archive_where_the_jdk_wrote_one(project, tmp_path):
    without = project["compiler"](tmp_path)
    (tmp_path / "javac.jsa").touch()
    archive = f"-J-XX:SharedArchiveFile={tmp_path}/javac.jsa"
    assert project["compiler"](tmp_path) == [without[0], archive, *without[1:]]


def test_what_poms_of_the_tree_make_has_no_release_in_its_place(project, tmp_path):
    (tmp_path / "core").mkdir()
    pom = '<project xmlns="http://maven.apache.org/POM/4.0.0"><parent><artifactId>{}</artifactId></parent>{}</project>'
    (tmp_path / "pom.xml").write_text(pom.format("base", "<artifactId>money</artifactId>"))
    (tmp_path / "core/pom.xml").write_text("no XML")
    assert project["own_artifacts"](tmp_path) == {"money"}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("--add-modules org.money,java.sql -ea", "-ea"),
        ("--add-modules=org.money --add-opens java.base/a=org.money", "--add-opens java.base/a=org.money"),
        ("--add-modules java.sql,jdk.net --add-modules=ALL", "--add-modules java.sql,jdk.net"),
        ("--add-modules=ALL-SYSTEM", "--add-modules=ALL-SYSTEM"),
        ("-Xmx1g -Da=b {argLine} -javaagent:a.jar", "-Da=b"),
    ],
)
def test_options_that_a_virtual_machine_could_not_have_on_the_class_path_are_left_out(project, words, left):
    assert project["usable"](words.split()) == left.split()


def test_a_module_that_only_a_profile_adds_is_built_with_the_first_that_does(project, tmp_path):
    (tmp_path / "more/shop").mkdir(parents=True)
    form = "<profile><id>{}</id><modules><module>{}</module></modules></profile>"
    profiles = "".join(form.format(*words) for words in (("known", "core"), ("more", "more"), ("all", "more")))
    modules = "<modules><module>core</module></modules>"
    (tmp_path / "pom.xml").write_text(f"<project>{modules}<profiles>{profiles}</profiles></project>")
    (tmp_path / "more/pom.xml").write_text(f"<project>{modules.replace('core', 'shop')}</project>")
    assert project["profiles_with"](["more/shop"], tmp_path) == ["more"]
    assert project["profiles_with"](["core", "."], tmp_path) == []


BUILT = """<project><artifactId>{}</artifactId><packaging>{}</packaging><build><directory>{}</directory>
<outputDirectory>{}/classes</outputDirectory><testSourceDirectory>{}</testSourceDirectory></build></project>"""


def test_tests_that_lie_beside_the_folder_of_their_module_are_that_modules(project, driver, tmp_path):
    places = {"kryo": "main", "other": "other", "parent": "."}
    for name, folder in places.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "pom.xml").write_text(f"<project><artifactId>{name}</artifactId></project>")
    poms = [
        BUILT.format("parent", "pom", tmp_path / "target", tmp_path / "target", tmp_path / "test"),
        BUILT.format("kryo", "bundle", *[tmp_path / "main/../target"] * 2, tmp_path / "main/../test"),
        BUILT.format("kryo5", "jar", *[tmp_path / "target"] * 2, tmp_path / "test"),
        BUILT.format("other", "jar", *[tmp_path / "other/target"] * 2, tmp_path / "other/src/test/java"),
        BUILT.format("elsewhere", "jar", *[tmp_path / "far/target"] * 2, tmp_path / "far/src/test/java"),
    ]
    found = project["effective_poms"](f"<projects>{''.join(poms)}</projects>", tmp_path)
    assert list(found) == [tmp_path / name for name in (".", "main", "other", "far")]
    assert project["with_tests_in"](found, {tmp_path}) == {tmp_path / "main"}
    assert project["with_tests_in"](found, {tmp_path / "other"}) == {tmp_path / "other"}
    modules = {"main": {"test_sources": ["test"]}, "main/more": {"test_sources": ["test"]}, "": {"test_sources": ["x"]}}
    paths = ("test/A.java", "main/a.txt", "b")
    assert [driver["module_with"](path, modules, "test_sources") for path in paths] == ["main", "main", ""]
    assert driver["module_with"]("test/A.java", modules, "sources") == ""
    assert driver["module_with"]("b", {}, "sources") is None


@pytest.fixture(scope="module")
def driver() -> dict[str, Any]:
    """What the driver reads of the compiler's errors, and its modules."""
    source = part("driver.py")
    names: dict[str, Any] = {"re": re}
    exec(source[source.index("FAILED = ") : source.index('"""How the compiler')], names)
    exec("import os\n" + source[source.index("def types_in") : source.index("def modules_of")], names)
    exec(source[source.index("def failures") : source.index("def lose")], names)
    exec(source[source.index("def module_with") : source.index("def differing")], names)
    exec(source[source.index("def inside") : source.index("def build")], names)
    return names


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("cannot find symbol\n[ERROR]   symbol:   method later(int)\n[ERROR]   location: class money.Prices", "later"),
        ("cannot find symbol\n[ERROR]   symbol: class Share", "Share"),
        ("package money.shares does not exist", "shares"),
        ("constructor Prices in class money.Prices cannot be applied to given types;", "Prices"),
        ("method price in class money.Prices cannot be applied to given types;", "price"),
        ("no suitable method found for price(int)\n[ERROR]     method money.Prices.price(int,int) is not", "price"),
        ("given(int) has private access in money.Prices", "given"),
        ("cannot inherit from final money.Share", "Share"),
        ("A is not abstract and does not override abstract method off(int) in money.Share", "off"),
    ],
)
def test_the_name_that_a_test_misses_is_read_from_the_compilers_error(driver, error, name):
    for lines in (error, error.replace("\n[ERROR]", "\n")):
        said = f"[INFO] x\n[ERROR] /testbed/src/test/java/money/ATest.java:[3,4] {lines}\n[INFO] 1 error\n"
        [(path, line, column, message)] = driver["failures"](said)
        assert (path, line, column) == ("/testbed/src/test/java/money/ATest.java", 3, 4)
        assert driver["missing_name"](message) == name


GRADLES = """\
/testbed/src/test/java/ATest.java:4: error: cannot find symbol
        assertEquals(1, Prices.later(1));
                              ^
  symbol:   method later(int)
  location: class Prices
/testbed/src/test/java/BTest.java:5: warning: [deprecation] given(int) in Prices has been deprecated
        Prices.given(1);
              ^
/testbed/src/test/java/BTest.java:6: error: package money.shares does not exist
import money.shares.Share;
                   ^
2 errors
"""


@pytest.mark.parametrize(
    ("said", "errors"),
    [
        (GRADLES, [("ATest.java", 4, 31, "later"), ("BTest.java", 6, 20, "shares")]),
        ("e: /testbed/A.kt: (12, 5): Unresolved reference: later\n", [("A.kt", 12, 5, "later")]),
        ("e: file:///testbed/A.kt:12:5 Unresolved reference 'b'.\n", [("A.kt", 12, 5, "b")]),
        (
            "[ERROR] /testbed/A.kt: (3, 9) No value passed for parameter 'off'\n[ERROR] Failed to execute",
            [("A.kt", 3, 9, "off")],
        ),
        (
            "[ERROR] /testbed/A.kt:[3,9] Too many arguments for public final fun price(cents: Int): Int\n",
            [("A.kt", 3, 9, "price")],
        ),
        (
            "startup failed:\n/testbed/A.groovy: 3: unable to resolve class a.Later\n @ line 3, column 1.\n",
            [("A.groovy", 3, 1, "Later")],
        ),
        (
            "[ERROR] /testbed/A.groovy: 9: Cannot find matching method a.B#later(int).\n[ERROR]  @ line 9, column 9.\n",
            [("A.groovy", 9, 9, "later")],
        ),
        ("w: /testbed/A.kt: (12, 5): Variable 'x' is never used\n", []),
    ],
)
def test_errors_of_the_compilers_of_java_kotlin_and_groovy_are_read_with_the_name_they_miss(driver, said, errors):
    found = [
        (path.rpartition("/")[2], line, column, driver["missing_name"](message))
        for path, line, column, message in driver["failures"](said)
    ]
    assert found == errors


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("share.before(^node)", "before"),
        ("assertEquals(1, share.after(one(2), ^node))", "after"),
        ("share.last(\n    one(),\n    ^node)", "last"),
        ("\tshare.first(^node)", "first"),
        ("Box<A> a = new Box<A>(^B.class);", "Box"),
        ("if (one < two && new Box<List<A>, B> (^node))", "Box"),
        ("if (one < two) f(a > (^node))", "f"),
        ("String text = ^share;", ""),
    ],
)
def test_where_the_compiler_tells_no_name_it_is_that_of_the_call_around_the_place(driver, tmp_path, source, name):
    before = source.partition("^")[0].split("\n")
    (tmp_path / "ATest.java").write_text(source.replace("^", ""))
    column = len(before[-1].expandtabs(8)) + 1
    assert driver["called"](tmp_path / "ATest.java", len(before), column) == name


@pytest.mark.parametrize(
    ("source", "column", "name"),
    [
        ('\t\tassertEquals("foo", HtmlUtils.anchor("a"));', 31, "anchor"),  # an old plugin's
        ('    assertEquals("foo", HtmlUtils.anchor("a"));', 34, "anchor"),
        ("\tanchor(1);", 1, "anchor"),
        ("\tanchor(1);", 9, "anchor"),
        ("anchor(1);", 0, "anchor"),
        ("", 5, ""),
    ],
)
def test_a_symbol_that_the_compiler_does_not_name_is_where_it_points(driver, tmp_path, source, column, name):
    (tmp_path / "ATest.java").write_text(f"\n{source}\n")
    assert driver["pointed"](tmp_path / "ATest.java", 2, column) == name


@pytest.mark.parametrize(
    ("source", "column"),
    [('\trule.set("a", one(2)).to();', 22), ('    rule.set("a", one(2)).to();', 26), ("rule\n  .set(1).to();", 10)],
)
def test_where_nothing_is_given_back_it_is_the_call_before_the_dot(driver, tmp_path, source, column):
    (tmp_path / "ATest.java").write_text(source)
    assert driver["dereferenced"](tmp_path / "ATest.java", source.count("\n") + 1, column) == "set"


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("package money.tests\n\nclass PricesTest {\n    class Inner\n}\n", ["money.tests.PricesTest"]),
        ('package `in`.money\n@Suppress("a")\ninternal class A\nclass B<T>(val t: T)\n', ["in.money.A", "in.money.B"]),
        ("class PricesTest\n// class No\nobject Data\nfun free() {}\n", ["PricesTest"]),
        ("package money\n", []),
        ("package a.b\n\n@CompileStatic\nclass PricesSpec extends Specification {\n}\n", ["a.b.PricesSpec"]),
    ],
)
def test_classes_of_a_file_in_another_language_are_those_that_it_declares(driver, tmp_path, text, classes):
    path = tmp_path / "any.kt"
    path.write_text(text)
    assert driver["types_in"](str(path)) == classes
    assert driver["types_in"](str(tmp_path / "none.kt")) == []


@pytest.mark.parametrize(
    ("name", "stable"),
    [
        ("rows[java.util.Random@2b552920]", "rows[java.util.Random@...]"),
        ("rows[a.B$$Lambda$14/0x0000000800c03000@5e2c3d18, 1]", "rows[a.B$$Lambda@..., 1]"),
        ("rows[me@example.org, you@cafe]", "rows[me@example.org, you@cafe]"),
    ],
)
def test_the_name_of_a_row_has_no_address_of_an_object(driver, name, stable):
    assert driver["ADDRESS"].sub("@...", name) == stable


def test_tests_get_the_libraries_that_only_the_build_files_of_the_fix_ask_for(tmp_path):
    def jar(group: str, name: str, version: str) -> str:
        return str(repository / group / name / version / f"{name}-{version}.jar")

    module = runpy.run_path(str(TOOLS / "project.py"))
    home, repository = tmp_path, tmp_path / "repository"
    project = SimpleNamespace(home=home, repository=repository)
    project.library = lambda path: module["Project"].library(project, path)
    junit, equals, later = (
        jar("org/junit", "api", "5.9"),
        jar("nl/jqno", "equals", "4.0"),
        jar("org/junit", "params", "5.12"),
    )
    modules = module["Modules"](project)
    modules.facts = {
        "": {"classpath": ["/testbed/target/classes", junit], "test_javac": ["javac", "-classpath", junit]}
    }
    fixed = {"": {"classpath": ["/testbed/target/classes", junit, equals, later]}, "other": {"classpath": [equals]}}
    (home / "fixed.json").write_text(json.dumps(fixed))
    modules.write("whole")
    facts = json.loads((home / "project.json").read_text())["modules"][""]
    assert facts["classpath"] == ["/testbed/target/classes", junit, equals]
    assert facts["test_javac"] == ["javac", "-classpath", f"{junit}:{equals}"]


@pytest.mark.parametrize(
    ("pom", "config", "name"),
    [
        ("<version>${git.version}</version>", "-Dgit.version.source=jgit", "git.version"),
        ("<version>${git.version}</version>", "-Dgit.version=2.0", ""),
        ("<version>${revision}</version><properties><revision>2</revision></properties>", "", ""),
        ("<parent/><version>${revision}</version>", "", ""),
        ("<version>2.0</version>", "", ""),
        ("", "", ""),
    ],
)
def test_a_version_that_only_an_extension_knows_is_one_that_nothing_sets(tmp_path, pom, config, name):
    project = runpy.run_path(str(TOOLS / "project.py"))
    (tmp_path / "pom.xml").write_text(f'<project xmlns="http://maven.apache.org/POM/4.0.0">{pom}</project>')
    (tmp_path / ".mvn").mkdir()
    (tmp_path / ".mvn/maven.config").write_text(config)
    assert project["unset_version"](tmp_path) == name


@pytest.mark.parametrize("code", [0, 1])
def test_releases_of_the_project_are_taken_out_of_maven_unless_it_needs_them(project, tmp_path, code):
    calls = []

    def call(folder, *words):
        calls.append((folder, words))
        return SimpleNamespace(returncode=code)

    output, places = tmp_path / "target", ("repository/a/own-2.jar", "repository/a/own-1.jar", "maven/lib/own-3.jar")
    (output / "money").mkdir(parents=True)
    (output / "money/Coin.class").write_bytes(b"")
    for name, entry in dict.fromkeys(places, "money/Coin.class").items() | {("maven/lib/other.jar", "other/A.class")}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(tmp_path / name, "w") as jar:
            jar.writestr(entry, "")
    maven = SimpleNamespace(home=tmp_path, repository=tmp_path / "repository", call=call)
    modules = project["Modules"](maven)
    modules.facts = {"": {"output": str(output), "classpath": [str(tmp_path / places[1])]}}
    modules.built = [(tmp_path, ["-pl", "core", "-am"])]
    modules.take_out_releases()
    gone = {} if code else {places[0], places[2]}
    assert {name for name in places if not (tmp_path / name).exists()} == set(gone)
    assert (tmp_path / "maven/lib/other.jar").exists()
    assert [(folder, words[:4]) for folder, words in calls] == [(tmp_path, ("-pl", "core", "-am", "--offline"))]


def test_a_test_is_compiled_by_itself_without_what_refuses_code_of_another_style(project, tmp_path):
    output, sources = tmp_path / "out", tmp_path / "src"
    for path in (output / "a/ATest.class", sources / "a/ATest.java"):
        path.parent.mkdir(parents=True)
        path.write_text("")
    asked = []

    def compiled(words, sources):
        asked.append(words[2:])
        return True

    checks = ["-Werror", "-Xlint:all", "-Xplugin:ErrorProne", "-XepExcludedPaths:.*/made/.*"]
    calls = [["-d", str(output), *checks, "-classpath", "a.jar"]]
    words = project["Project"].one_by_one(SimpleNamespace(compiled=compiled, javac=["javac"]), calls, [sources])
    left = ["-Xlint:all", "-classpath", "a.jar", "-Xprefer:source", "-implicit:class"]
    assert (asked, words) == ([left], ["javac", "-d", str(output), *left])

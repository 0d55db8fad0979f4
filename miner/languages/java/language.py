"""Java behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.core.test_ids import files
from harness.languages.java.language import FRAMEWORK
from harness.patches import patch
from miner.languages.base import ImageRequest, TestCommand, UnparsedCode
from miner.languages.building import Building, installed, reason_in, refusal
from miner.languages.java import gradle, gradle_image, maven, poms
from miner.languages.java.code import CODE
from miner.languages.java.stripping import helpers, literals
from miner.languages.java.stripping.borrowing import borrow, lend
from miner.languages.java.stripping.sites import products_in
from miner.languages.java.stripping.source import StrippedSource
from miner.languages.java.toolchain import TOOLCHAINS, called_like_tests, name_of_jdk
from miner.languages.recording import record
from miner.languages.stripping.language import TreeLanguage, called_by_others, first_kept
from miner.layers import base, egress

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from harness.core.instance import Task, TestSpec
    from miner.evidence.tree import Tree
    from miner.languages.base import Code, ImageRequest, ReadFiles, RecordedTests, TaskRun
    from miner.languages.built import BuiltImage
    from miner.languages.guessing.reading import Reading
    from miner.languages.stripping.helpers import Helper


_MODULES = re.compile(r"(?:Test.*|.*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|groovy)")
_MARKS = re.compile(
    rb"@(?:[\w.]+\.)?(?:Test|(?:Parameterized|Repeated)Test|TestFactory|Property)\b|\bextends\s+(?:(?:Groovy)?TestCase|Specification)\b"
)
_ROWS = re.compile(r"(?:\[[^\]]*\])+$")
_NO_BUILD_FILE = ("no_build_file", "no folder at or above the tests has a pom.xml or a build file of Gradle")


class Java(TreeLanguage):
    """Java, Kotlin or Groovy, built by Maven or Gradle; all tests run on JUnit's platform."""

    test_modules: re.Pattern[str] | None = _MODULES
    test_marks: re.Pattern[bytes] | None = _MARKS
    toolchains = TOOLCHAINS
    test_bases: re.Pattern[bytes] | None = re.compile(rb"^(?:public\s+)?abstract\s+class\b", re.MULTILINE)

    def __init__(self, name: str, suffixes: tuple[str, ...], code: Code) -> None:
        self.name = name
        self.suffixes = suffixes
        self.code = code
        self.test_names = re.compile(rf".*(?:Tests?|TestCase|IT|Spec)\{suffixes[0]}")

    def untestable(self, tree: Tree, test_files: Sequence[str], code: Sequence[str]) -> tuple[str, str] | None:
        """Tests that neither Maven nor Gradle builds: those of Ant, Bazel or sbt."""
        return None if poms.reactors(tree, test_files) or gradle.roots(tree, test_files) else _NO_BUILD_FILE

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """JUnit's platform, which runs tests of JUnit 3, 4, 5, TestNG and Spock."""
        del tree, test_files
        return (TestCommand(framework=FRAMEWORK, runner=FRAMEWORK),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """JDK, Maven or Gradle and libraries, in layers; repositories that build files name are reached as well."""
        tree = request.tree
        portal = egress.GRADLE if any(gradle.manifests(tree)) else ()
        addresses = map(egress.host_of, (*poms.hosts(tree), *gradle.hosts(tree)))
        hosts = dict.fromkeys(filter(None, (egress.MAVEN, *portal, *addresses)))
        return build_image(replace(request, workshop=request.workshop.reaching(tuple(hosts))))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """The tests, without the numbers of their rows."""
        return tuple(dict.fromkeys(_ROWS.sub("", test_id) for test_id in test_ids))

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """Every file called like a test, in the sets of tests that Maven compiles."""
        return (
            tuple(path for path in tree.files() if "src/test/" in path and _MODULES.fullmatch(path.rpartition("/")[2])),
        )

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """The test files themselves, and those whose methods they may call; others' are judged where they run."""
        own = {
            path: source
            for path, source in read([path for path in paths if path.endswith(".java")]).items()
            if _MODULES.fullmatch(path.rpartition("/")[2]) or _MARKS.search(source)
        }
        places = {place for path, source in own.items() for place in helpers.places_of(path, source)}
        shared = dict(read(sorted(filter(is_test, places - own.keys()))))
        places = {place for path, source in shared.items() for place in helpers.places_of(path, source)}
        bases = dict(read(sorted(filter(is_test, places - own.keys() - shared.keys()))))
        return {**own, **shared, **bases}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """By the syntax tree of each file that has listed tests, with what it calls of the others."""
        above, lenders = helpers.ancestors(sources), helpers.helpers_for(sources)
        hidden = {*files(task.hidden.test_files), *_changed(task.hidden.test_patch)}
        paths = (*run.base, *sources, *hidden, *_changed(task.hidden.gold_patch))
        beside, products = helpers.classes_beside(paths), products_in(paths)

        def with_others(path: str, source: bytes) -> bytes:
            extended, classes = above(source), beside(source)
            for place in sorted({*helpers.places_of(path, source)} & sources.keys() - {path}):
                source = lend(source, path, sources[place], lenders(path), classes)
            return borrow(source, extended, classes)

        ways = {path: with_others(path, source) if path in hidden else source for path, source in sources.items()}
        lent = (lambda _path: {}) if products else lenders
        return first_kept(lambda way: self._stripped(task, way, run, hidden, lent, beside, products), ways, sources)

    def _stripped(
        self,
        task: Task,
        sources: Mapping[str, bytes],
        run: TaskRun,
        hidden: set[str],
        lenders: Callable[[str], Mapping[str, Helper]],
        beside: Callable[[bytes], set[str]],
        products: set[str],
    ) -> RecordedTests:
        listed = files(task.hidden.listed)
        shared = called_by_others({path: helpers.undeclared(source) for path, source in sources.items()})
        inherited = helpers.inheritance({**run.base, **sources})
        relatives = helpers.relatives(sources, run.base)
        bases = {path for path, source in sources.items() if self.test_bases and self.test_bases.search(source)}
        texts = {path: source.decode("utf-8", "replace") for path, source in sources.items()}
        return record(
            {path: source for path, source in sources.items() if path in hidden and path in {*listed, *bases}},
            fail_to_pass=task.hidden.fail_to_pass,
            pass_to_pass=task.hidden.pass_to_pass,
            parse=lambda path, source, first: StrippedSource(
                source,
                path=path,
                first=first,
                shared=shared[path],
                helpers=lenders(path),
                inherited=inherited(source),
                beside=beside(source),
                relatives=relatives(path),
                products=products,
            ),
            run=run,
            beside={path: source for path, source in sources.items() if path in hidden - {*listed, *bases}},
            function=partial(literals.function_of_test, sources=texts),
            written=lambda parsed: parsed.written(literals.value_of),
            is_run_around=True,
        )

    def _reading_of(self, recorded: RecordedTests) -> Reading:
        function = partial(literals.function_of_test, sources=recorded.expectations.files)
        return replace(literals.READING, function=function)


def _changed(diff: bytes) -> list[str]:
    """The files that a patch leaves."""
    return [file.new_path for file in patch.parse(diff, trusted=True).files if file.new_path]


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Maven goes first where the tests are in projects of both.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, a repository or the disk failed.

    """
    tree, tests = request.tree, called_like_tests(request)
    own = tuple(map(int, installed("jdk", request.workshop.settings)))
    by_maven = bool(poms.reactors(tree, tests))
    if not by_maven and not gradle.roots(tree, tests):
        raise refusal(*_NO_BUILD_FILE)
    release, tool = (poms.release(tree), maven) if by_maven else (gradle.release(tree), gradle_image)
    jdks = poms.jdks(tree, own, release)
    if not by_maven:  # on others nothing can be built, which would hide why it can't on these
        jdks = tuple(major for major in jdks if gradle_image.usable(request, major)) or jdks
    if not jdks:
        detail = f'a build file asks for Java {release}: name a JDK of it, "{release}" under [images.jdks]'
        raise refusal("no_jdk", f"{detail} in goldseam.toml")
    building = Building(request, partial(reason_in, tool.FAILURES))
    return building.over(jdks, name_of_jdk, partial(tool.image, building, base.ensure(request.workshop)))


JAVA = Java("java", (".java",), CODE)
KOTLIN = Java("kotlin", (".kt", ".kts"), UnparsedCode(".kt"))
GROOVY = Java("groovy", (".groovy",), UnparsedCode(".groovy"))

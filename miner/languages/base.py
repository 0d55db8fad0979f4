"""The seam: what mining needs to know of a language. A language is a folder beside this one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from harness.core.expectations import Expectations
from harness.core.instance import Task, TestSpec
from harness.judging.values import Event
from harness.languages.base import TestReport
from harness.quality.base import Reader
from harness.quality.change import FileChange
from miner.evidence.tree import Tree
from miner.languages.built import BuildSubject, BuiltImage, Collect, Repairing
from miner.languages.toolchain import Toolchain
from miner.layers.layer import Input
from miner.sources.change import Kind, Rejection

if TYPE_CHECKING:
    from miner.layers.runner import Workshop


@dataclass(frozen=True, kw_only=True)
class TestCommand:
    """One way to call tests: a framework of harness/languages and its options."""

    __test__ = False

    framework: str
    options: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    """Variables that it is called with."""
    expects: int = field(default=0, compare=False)
    """How many tests stand in the test files at least, where another runner might find more of them."""
    imports_alike: bool = field(default=False, compare=False)
    """Whether it misses the same modules as the commands before it."""
    runner: str = field(default="", compare=False)
    """The runner as a person calls it."""


class Contents(Protocol):
    """A repository's files and diffs, such as `miner.sources.bare.BareRepository`."""

    def diff_sections(self, base: str, head: str) -> dict[str, bytes]:
        """The raw diff of each changed path between two commits, in git's order."""

    def read_file(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit; None where there is no such file."""


ReadFiles = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Gives files of a tree by path, as far as they are there."""


@dataclass(frozen=True, kw_only=True)
class ImageRequest(BuildSubject):
    """What an image is built from."""

    workshop: Workshop
    tree: Tree
    source: Callable[[], Input]
    """Writes the tree as an uncompressed tar and returns it as an input of layers."""
    collect: Collect | None
    """Tries to collect the change's tests in an image; None where the first image that is built will do."""
    repairing: Repairing | None


class Mode(StrEnum):
    """What of an assertion is left in the container."""

    EXPECTED = "expected"
    """The product's side alone: the host holds it against what was kept."""
    OPERANDS = "operands"
    """Both sides, as both depend on the product: the host compares them."""
    RESULT = "result"
    """Both sides and what comes of comparing them, where the product's own code compares."""
    INSIDE = "inside"
    """The assertion as it is."""


class Operand(Protocol):
    """One side of an assertion."""

    @property
    def static(self) -> bool:
        """Whether it is kept outside."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion:
    """One assertion, in the terms of the host's judge (harness/judging)."""

    op: str
    """One of the operators of harness/core/expectations.py."""
    operands: Sequence[Operand]
    """Its sides, in order."""
    options: Mapping[str, object] = field(default_factory=dict)
    """What the operator is told besides."""
    kept: Mapping[str, object] = field(default_factory=dict)
    """Options that a recording hands out, by name."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What can be tried, best first."""
        raise NotImplementedError

    @property
    def tells_comparison(self) -> bool:
        """Whether a recording tells after the operands if the product's code compares them."""
        return False

    @property
    def is_whole(self) -> bool:
        """Whether a result is handed out for the whole of it, and not for its operands."""
        return False

    def tells(self, _values: Sequence[Any], /) -> bool:
        """Whether what a recording gives of its operands says all of them that the host compares."""
        return True


Assertion_co = TypeVar("Assertion_co", bound=Assertion, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Slot(Generic[Assertion_co]):
    """One assertion by its number, and the test function it stands in."""

    number: int
    """Unique over all files of a task."""
    function: tuple[str, ...]
    """The names of the function and of what it stands in; empty where they can't be told."""
    assertion: Assertion_co
    lines: Collection[int] = ()
    """Where it stands, and what has its type of it, in a file that a compiler refuses as a whole."""


class Strippable(Protocol):
    """A test file whose assertions can be taken out, one by one."""

    @property
    def slots(self) -> Sequence[Slot[Assertion]]:
        """Its assertions, in order."""

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out both sides of each assertion; nothing of it is blanked. For the fix alone."""

    def stripped(self, modes: Mapping[int, Mode], whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged; functions of these names stay whole."""

    def unstopped(self, text: str, output: str, attempt: int) -> str:
        """What `stripped` gave, where nothing that raises ends a test; the same text where nothing is left to try.

        From attempt 1 on `text` is what was tried last; `output` is what the run before said of a file that it could
        not load, and of tests that ended with an error.
        """


@dataclass(frozen=True, kw_only=True)
class WrittenForm:
    """How a test has what it expects: whoever finds that need not find the value."""

    steps: int = 0
    """Operations, and names of what can be read."""
    literals: tuple[Any, ...] = ()
    columns: tuple[tuple[WrittenForm, ...], ...] = ()
    """Of each name that a table gives: what it may stand for."""

    @property
    def is_readable(self) -> bool:
        """Whether it is one name that stays, or one of the product's."""
        return self.steps == 1 and not self.literals and not self.columns


@dataclass(frozen=True, kw_only=True)
class RecordedTests:
    """A task's expectations, and what its base hands out in their place."""

    expectations: Expectations = field(default_factory=Expectations)
    before: tuple[Event, ...] = ()
    written: Mapping[int, WrittenForm] = field(default_factory=dict)
    """By slot: how its test has what it expects, where that is more than literals."""
    out_of_data: frozenset[int] = frozenset()
    """Slots whose expected texts went out of the data that tests read, so that nothing in the container makes them."""


@dataclass(frozen=True, kw_only=True)
class Guess:
    """How far a forger is from a pass."""

    bits: float
    rule: str = ""
    """The rules that get through, where some do."""


@dataclass(frozen=True, kw_only=True)
class KnownText:
    """What a forger can read of a task."""

    words: str
    """Its statement, and the lines around the fix as they were."""
    changed: tuple[str, ...] = ()
    """The files that the fix changes, as they were."""
    old_tests: tuple[str, ...] = ()
    """The test files that its tests change, as they were."""
    tests: tuple[str, ...] = ()
    """Its test files with what they expect, by which those are known that did not change."""
    beside_tests: tuple[str, ...] = ()
    """What else enters with the tests, as data."""
    tree: Mapping[str, bytes] = field(default_factory=dict)
    """The other files of the base by path."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that can be put into a source file, and where."""

    function: str
    """The names of the functions and classes that it is in; empty in none."""
    node: int
    """Which node of the file it is a fault of."""
    operator: str
    """By mutmut's names, in all languages."""
    start: int
    end: int
    """Characters of the text."""
    text: str
    """What comes in place of that stretch."""


@dataclass(frozen=True, kw_only=True)
class FaultySource:
    """A source file, and the faults that can be put into it, each alone."""

    text: str
    encoding: str
    """By which the text becomes the file's bytes, with `surrogateescape`."""
    faults: tuple[Fault, ...]


@dataclass(frozen=True, kw_only=True)
class Traced:
    """How a run tells which lines ran: as an event whose value is JSON, `{path: {"there": […], "ran": […]}}`."""

    test: TestSpec
    overlay: Mapping[str, bytes]
    """Files laid over the tree."""


MODULE = "module "
"""Before the name of a module, where others are names that a module binds."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a project's metadata says of it."""

    name: str | None = None
    """Of the distribution on the package index; None where there is none to ask for."""
    licence: str | None = None
    classifiers: tuple[str, ...] = ()


class Code(Reader, Protocol):
    """Source files of a language, read as text."""

    mutator: str
    """The module that `faulty` needs."""

    def described(self, tree: Tree) -> Described:
        """What the project's metadata says of it."""
        return Described()

    def added_names(self, change: FileChange) -> frozenset[str]:
        """The names that a change of one file brings, and `MODULE` with each name of a new module."""

    def test_ids(self, path: str, function: str) -> tuple[str, ...]:
        """What the test may be called that a function of a file is, by its name with what it is in (`Class::test`)."""
        return (f"{path}::{function}",)

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """By each file that could not be collected, and each test that misses what it is given: the name it wants.

        `MODULE` and the name where it is a module; empty where it failed otherwise.
        """

    def reads(self, path: str) -> bool:
        """Whether a file of this name is source code."""
        return False

    def form(self, path: str, source: bytes) -> str | None:
        """What runs of a file: two files of one form run the same. None where it can't be read."""
        return None

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """The faults of nodes on these lines, from 1, as far as tests of behaviour could see them; None as `form`."""
        return None


_NAME = re.compile(r"[^\W\d]\w*")


class UnparsedCode(Code):
    """Source files of which nothing is measured that takes a syntax tree."""

    mutator = "re"

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def is_source(self, path: str) -> bool:
        """By its ending."""
        return path.endswith(self._suffix)

    def added_names(self, change: FileChange) -> frozenset[str]:
        """Every name on a new line."""
        lines = (
            line.decode("utf-8", "replace") for line in change.added.values() if change.path.endswith(self._suffix)
        )
        return frozenset(name for line in lines for name in _NAME.findall(line))

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """As the driver reads them in the compiler's errors."""
        chains = {path: report.collect_raised.get(path, ()) for path in report.collect_errors}
        return {path: chain[0].says if chain else "" for path, chain in chains.items()}


class RefusedError(Exception):
    """One recipe has come to nothing, or all of them."""

    def __init__(self, rejection: Rejection, *, step: str = "", said: str = "") -> None:
        super().__init__(rejection.reason)
        self.rejection = rejection
        self.step = step
        self.said = said
        """The end of the output."""


class TaskRun(Protocol):
    """Runs the tests of a task once, in a container."""

    @property
    def base(self) -> Mapping[str, bytes]:
        """Files of the tree without the fix by path, as far as they are known."""

    @property
    def data(self) -> Mapping[str, str]:
        """Hidden files by path that are no sources of tests, as they are with the fix: what tests may read."""

    def __call__(
        self, files: Mapping[str, bytes], *, gold: bool, number: int = 0, tests: Collection[str] = ()
    ) -> TestReport:
        """With these files over the tests' own, with the fix or without, varied as run `number` of a proof is.

        `tests` are the ids of those that are run, all where none is named.
        """


class Language(Protocol):
    """One language, without state.

    What has a body here holds for a language whose sources are read without a parser, and whose tests are short and
    judged where they run.
    """

    name: str
    """As `language` of task.yaml has it."""
    suffixes: tuple[str, ...]
    """Of its source files, in lower case."""
    test_names: re.Pattern[str]
    """What test files are called, whatever folder they are in."""
    test_modules: re.Pattern[str] | None
    """Of test files, the names of those that are given to a runner; None for all."""
    test_marks: re.Pattern[bytes] | None = None
    """What a source has that declares tests, whatever its name; None where that can't be told."""
    test_signs: re.Pattern[bytes] | None = None
    """What a test file of such a name has where it has any test; None where the name tells."""
    test_bases: re.Pattern[bytes] | None = None
    """What a source has whose tests are run as those of other files; None where there is no such thing."""
    code: Code
    toolchains: tuple[Toolchain, ...] = ()
    """What its tests are compiled and run by."""

    def documents(self, repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
        """Changed files that are tests, although neither their names nor their folders say so.

        Raises:
            MissingObjectsError: of a partial clone, which lacks a file.

        """
        return []

    def tests_by_settings(self, repo: Contents, commit: str, paths: Sequence[str]) -> list[str]:
        """Of files in folders of tests, those that the repository's own settings make test modules.

        Raises:
            MissingObjectsError: of a partial clone, which lacks a file.

        """
        return []

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        """Whether nothing of these changed files, documentation and tests aside, is known to run otherwise than before.

        Raises:
            MissingObjectsError: of a partial clone, which lacks a file.

        """
        return False

    def untestable(self, tree: Tree, test_files: Sequence[str], code: Sequence[str]) -> tuple[str, str] | None:
        """Why tests of a tree can't be run in any image: a stable word and a sentence; None where they may be.

        `code` are the files of code that change with them.
        """
        return None

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """The ways to call the tests of a tree, the likeliest first; at least one."""

    def build(self, request: ImageRequest) -> BuiltImage:
        """Build the image that the tests of a tree run in, richest recipe first.

        Raises:
            RefusedError: no recipe gives an image; it tells of the last one.
            InfrastructureError: the engine, a registry, a package index or the disk failed.

        """

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """How the tests are run in an image."""
        return TestSpec(framework=command.framework, options=command.options, env=dict(image.env))

    def listing(self, spec: TestSpec) -> TestSpec:
        """How tests are collected and not run; by running them, where some come to be only then."""
        return spec

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """What the runner is given in place of files to run these tests alone; empty where it can't be told so."""

    def stopping(self, spec: TestSpec) -> TestSpec:
        """How tests are run until the first that fails, as far as the runner can stop there."""
        return spec

    def terse(self, spec: TestSpec) -> TestSpec:
        """How tests are run of which many may fail: with as little said of each as the runner can."""
        return spec

    def traced(
        self,
        spec: TestSpec,
        sources: Mapping[str, bytes],
        lines: Mapping[str, tuple[int, ...]],
        tests: Sequence[str],
    ) -> Traced | None:
        """How tests are run so that they tell which lines of `sources` ran; None where that can't be told."""
        return None

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """What the whole suite is collected from, files or folders: the first of these that finds any test."""

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """The files that assertions are taken out of, by path, with those that they borrow of other tests in them.

        `paths` are a task's test files; `read` gives files of the tree with the fix that are there, and of a path with
        `/` at its end those that are directly in that folder.
        """
        return {}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """What hidden tests expect, taken out of them, recorded from the fix and proved; empty where nothing can be.

        `task` has no expectations; `run` runs its tests once. docs/judging.md has the rules.

        Raises:
            InfrastructureError: the engine failed.

        """
        return RecordedTests()

    def guess(self, recorded: RecordedTests, fail_to_pass: Collection[str], known: KnownText) -> Guess:
        """How hard what FAIL_TO_PASS expects is to guess for whoever has read that."""
        return Guess(bits=0.0)

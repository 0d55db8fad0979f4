"""Defaults of a language whose sources are read without a parser, and whose tests are judged where they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.core.instance import TestSpec
from miner.languages.base import Described, Guess, RecordedTests

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from harness.core.instance import Task
    from harness.languages.base import TestReport
    from harness.quality.base import Keyword, Names
    from harness.quality.change import FileChange
    from miner.evidence.tree import Tree
    from miner.languages.base import Contents, FaultySource, KnownText, TaskRun, TestCommand, Traced
    from miner.languages.built import BuiltImage
    from miner.sources.change import Kind

_NAME = re.compile(r"[^\W\d]\w*")


class UnparsedCode:
    """Nothing is measured of it that takes a syntax tree."""

    mutator = "re"

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix

    def is_source(self, path: str) -> bool:
        """By its ending."""
        return path.endswith(self._suffix)

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """None."""
        del path, source, lines
        return None

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """None: a file shows what it holds."""
        del path, source
        return None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """None: nothing is given by name."""
        del path, source
        return frozenset()

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """None."""
        del path, source
        return None

    def imported(self, path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterable[str]:
        """None."""
        del path, source, files, roots
        return ()

    def described(self, tree: Tree) -> Described:
        """Nothing."""
        del tree
        return Described()

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

    def reads(self, path: str) -> bool:
        """No file: there are no faults for it."""
        del path
        return False

    def form(self, path: str, source: bytes) -> str | None:
        """None."""
        del path, source
        return None

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """None."""
        del path, source, changed
        return None


class Unparsed:
    """What such a language says of documents, runs and expectations."""

    test_marks: re.Pattern[bytes] | None = None
    test_bases: re.Pattern[bytes] | None = None

    def documents(self, repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
        """None."""
        del repo, base, head, kinds
        return []

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        """Not known."""
        del repo, base, head, paths
        return False

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """With the image's variables."""
        return TestSpec(framework=command.framework, options=command.options, env=dict(image.env))

    def listing(self, spec: TestSpec) -> TestSpec:
        """The tests are run: some come to be while they run."""
        return spec

    def stopping(self, spec: TestSpec) -> TestSpec:
        """As always: a run is short."""
        return spec

    def terse(self, spec: TestSpec) -> TestSpec:
        """As always: the recorder says little."""
        return spec

    def traced(
        self,
        spec: TestSpec,
        sources: Mapping[str, bytes],
        lines: Mapping[str, tuple[int, ...]],
        tests: Collection[str],
    ) -> Traced | None:
        """None."""
        del spec, sources, lines, tests
        return None

    def test_sources(
        self, paths: Iterable[str], read: Callable[[Iterable[str]], Mapping[str, bytes]], is_test: Callable[[str], bool]
    ) -> dict[str, bytes]:
        """None: its tests are judged where they run."""
        del paths, read, is_test
        return {}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """Nothing."""
        del task, sources, run
        return RecordedTests()

    def guess(self, recorded: RecordedTests, fail_to_pass: Collection[str], known: KnownText) -> Guess:
        """Nothing is kept that could be guessed."""
        del recorded, fail_to_pass, known
        return Guess(bits=0.0)

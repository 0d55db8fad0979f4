"""Runners that goldseam.toml declares, behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.core.instance import is_matched
from miner.languages.base import Guess, RecordedTests, TestCommand
from miner.languages.declared.build import RUNG, build_image
from miner.languages.declared.code import DeclaredCode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from harness.core.instance import Task, TestSpec
    from miner.evidence.tree import Tree
    from miner.languages.base import Code, Contents, ImageRequest, KnownText, TaskRun, Traced
    from miner.languages.built import BuiltImage
    from miner.sources.change import Kind


class Declared:
    """Tests of any language: files by patterns, one command, results in files."""

    name = "declared"
    suffixes: tuple[str, ...] = ()
    test_names = re.compile(r"(?!)")
    test_modules: re.Pattern[str] | None = None
    code: Code = DeclaredCode()

    def documents(self, repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
        """None."""
        del repo, base, head, kinds
        return []

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """The declared one; `spec` has it from the image."""
        del tree, test_files
        return (TestCommand(framework=self.name, runner=RUNG),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Packages and commands, in layers."""
        return build_image(request)

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """As the image was built for it."""
        del command
        assert image.test is not None  # noqa: S101 - `build` gives it
        return image.test

    def listing(self, spec: TestSpec) -> TestSpec:
        """The tests are run: no command is declared that lists them."""
        return spec

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """None: the command takes files."""
        del spec, test_ids
        return ()

    def stopping(self, spec: TestSpec) -> TestSpec:
        """As always."""
        return spec

    def terse(self, spec: TestSpec) -> TestSpec:
        """As always."""
        return spec

    def traced(
        self,
        spec: TestSpec,
        sources: Mapping[str, bytes],
        lines: Mapping[str, tuple[int, ...]],
        tests: Sequence[str],
    ) -> Traced | None:
        """None."""
        del spec, sources, lines, tests
        return None

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """The files that are declared as tests."""
        patterns = spec.declared.tests if spec.declared else ()
        return (tuple(path for path in tree.files() if is_matched(path, patterns)),)

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


DECLARED = Declared()

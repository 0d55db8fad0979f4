"""Runners that goldseam.toml declares, behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from harness.core.instance import TestSpec, is_matched
from harness.languages.base import TestReport
from miner.evidence.tree import Tree
from miner.languages.base import Code, ImageRequest, Language, TestCommand, UnparsedCode
from miner.languages.built import BuiltImage
from miner.languages.declared.build import RUNG, build_image

_QUALIFIED = r"(?:[\w\\]+(?:::|\\|\.))*"
_WANTED = re.compile(
    r"(?:undefined|undeclared|implicit declaration|no member|cannot find|unresolved|unknown|too (?:many|few) arguments)"
    rf"\b[^\n‘'`\"]{{0,80}}[‘'`\"]{_QUALIFIED}(\w+)"
    rf"|[‘'`\"]{_QUALIFIED}(\w+)['’`\"] (?:undeclared|not found|was not declared)"
    rf"|uninitialized constant {_QUALIFIED}(\w+)"
    rf"|undefined (?:method|function|constant) {_QUALIFIED}(\w+)",
    re.IGNORECASE,
)
"""How compilers and interpreters tell which name they miss: gcc, clang, ld, Ruby, PHP, and others that speak alike."""


class DeclaredCode(UnparsedCode):
    """Names alone; which of them is missing stands in what compilers and interpreters print."""

    def __init__(self) -> None:
        super().__init__("")

    def is_source(self, path: str) -> bool:
        """None: whether a file is code, nobody says."""
        return False

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """The first that the end of the output misses."""
        matches = ((path, _WANTED.search(text)) for path, text in report.collect_errors.items())
        return {path: next(filter(None, match.groups())) if match else "" for path, match in matches}


class Declared(Language):
    """Tests of any language: files by patterns, one command, results in files."""

    name = "declared"
    suffixes: tuple[str, ...] = ()
    test_names = re.compile(r"(?!)")
    test_modules: re.Pattern[str] | None = None
    code: Code = DeclaredCode()

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """The declared one; `spec` has it from the image."""
        return (TestCommand(framework=self.name, runner=RUNG),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Packages and commands, in layers."""
        return build_image(request)

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """As the image was built for it."""
        assert image.test is not None  # noqa: S101 - `build` gives it
        return image.test

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """None: the command takes files."""
        return ()

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """The files that are declared as tests."""
        patterns = spec.declared.tests if spec.declared else ()
        return (tuple(path for path in tree.files() if is_matched(path, patterns)),)


DECLARED = Declared()

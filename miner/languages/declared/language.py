"""Runners that goldseam.toml declares, behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.core.instance import is_matched
from miner.languages.base import TestCommand
from miner.languages.declared.build import RUNG, build_image
from miner.languages.declared.code import DeclaredCode
from miner.languages.unparsed import Unparsed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from harness.core.instance import TestSpec
    from miner.evidence.tree import Tree
    from miner.languages.base import Code, ImageRequest
    from miner.languages.built import BuiltImage


class Declared(Unparsed):
    """Tests of any language: files by patterns, one command, results in files."""

    name = "declared"
    suffixes: tuple[str, ...] = ()
    test_names = re.compile(r"(?!)")
    test_modules: re.Pattern[str] | None = None
    code: Code = DeclaredCode()

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

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """None: the command takes files."""
        del spec, test_ids
        return ()

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """The files that are declared as tests."""
        patterns = spec.declared.tests if spec.declared else ()
        return (tuple(path for path in tree.files() if is_matched(path, patterns)),)


DECLARED = Declared()

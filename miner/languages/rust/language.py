"""Rust behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.languages.rust.language import FRAMEWORK
from miner.languages.base import TestCommand
from miner.languages.rust import cargo
from miner.languages.rust.build import build_image
from miner.languages.rust.code import CODE
from miner.languages.unparsed import Unparsed
from miner.layers import egress

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from harness.core.instance import TestSpec
    from miner.evidence.tree import Tree
    from miner.languages.base import Code, ImageRequest
    from miner.languages.built import BuiltImage

_TESTS = re.compile(r"tests\.rs")


class Rust(Unparsed):
    """Rust: cargo compiles, libtest runs the tests."""

    name = "rust"
    suffixes: tuple[str, ...] = (".rs",)
    test_names = _TESTS
    test_modules: re.Pattern[str] | None = None
    code: Code = CODE

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """`cargo test`, with the features that CI has."""
        return (TestCommand(framework=FRAMEWORK, runner=FRAMEWORK, options=cargo.options(tree, test_files)),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Toolchain and crates, in layers; what manifests name is reached as well."""
        hosts = egress.named_hosts(request.tree)
        return build_image(replace(request, workshop=request.workshop.reaching(hosts)))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """The tests themselves."""
        del spec
        return tuple(dict.fromkeys(test_ids))

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """Every file that cargo looks for tests in by its place: roots of libraries and programs, and `tests`."""
        del spec
        roots = re.compile(r"(?:.*/)?(?:src/(?:lib|main)\.rs|tests/[^/]+(?:/main)?\.rs)")
        return (
            tuple(path for path in tree.files() if roots.fullmatch(path) and cargo.package_of(tree, path) is not None),
        )


RUST = Rust()

"""The toy language's side in the miner: what its tests are called, and an image without any environment of ours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from miner.languages.base import Language, TestCommand, UnparsedCode
from miner.languages.built import BuiltImage
from miner.layers import base, build, dockerfile, source
from miner.layers.layer import FACTS_PATH, readable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from harness.core.instance import TestSpec
    from miner.evidence.tree import Tree
    from miner.languages.base import ImageRequest


class Toy(Language):
    name = "toy"
    suffixes = (".toy",)
    test_names = re.compile(r".*_test\.toy")
    test_modules = None
    code = UnparsedCode(".toy")

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        return (TestCommand(framework="facts", runner="facts"),)

    def build(self, request: ImageRequest) -> BuiltImage:
        ground = base.ensure(request.workshop)
        layer = source.layer(
            ground.image_id,
            request.source(),
            repo=request.repo,
            commit=request.base_commit,
            programs="/usr/local/bin",
            commands=(*source.committed(), readable("/testbed"), *source.copied(), f"echo {{}} > {FACTS_PATH}"),
        )
        made = build.ensure(request.workshop, layer)
        image = BuiltImage(
            image_id=made.image_id,
            platform=made.platform,
            dockerfile=dockerfile.render(base.describe(request.workshop.settings), [layer], request.workshop.variables),
            locks={},
            rung="the tree alone",
            attempts=(),
            layers=(ground.tag, made.tag),
            seconds={made.kind: made.seconds},
            layer_bytes={made.kind: made.size},
        )
        return replace(image, way=request.collect(image).way) if request.collect else image

    def listing(self, spec: TestSpec) -> TestSpec:
        return replace(spec, options=("list",))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        return ()

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        return (tuple(path for path in tree.files() if self.test_names.fullmatch(path)),)


TOY: Language = Toy()

"""The toy language's side in the miner: what its tests are called, and an image without any environment of ours."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.instance import TestSpec
from miner.languages.base import Described, Guess, RecordedTests, TestCommand
from miner.languages.built import BuiltImage
from miner.layers import base, build, dockerfile, source
from miner.layers.layer import FACTS_PATH, readable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.core.instance import Task
    from miner.evidence.tree import Tree
    from miner.languages.base import Contents, ImageRequest, KnownText, TaskRun
    from miner.sources.change import Kind


class Text:
    """Files that are read as text alone."""

    mutator = "re"

    def is_source(self, path: str) -> bool:
        return False

    def reads(self, path: str) -> bool:
        return False

    def described(self, tree: Tree) -> Described:
        return Described()

    def added_names(self, change) -> frozenset[str]:
        return frozenset()

    def missing_names(self, report) -> dict[str, str]:
        return {}


class Toy:
    name = "toy"
    suffixes = (".toy",)
    test_names = re.compile(r".*_test\.toy")
    test_modules = None
    test_bases = None
    test_marks = None
    code = Text()

    def documents(self, repo: Contents, first: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
        return []

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        return False

    def untestable(self, tree: Tree, test_files: Sequence[str]) -> tuple[str, str] | None:
        return None

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

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        return TestSpec(framework=command.framework)

    def listing(self, spec: TestSpec) -> TestSpec:
        return replace(spec, options=("list",))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        return ()

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        return (tuple(path for path in tree.files() if self.test_names.fullmatch(path)),)

    def test_sources(self, paths, read, is_test) -> dict[str, bytes]:
        return {}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        return RecordedTests()

    def guess(self, recorded: RecordedTests, fail_to_pass: Collection[str], known: KnownText) -> Guess:
        return Guess(bits=0.0)

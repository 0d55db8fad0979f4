"""JavaScript and TypeScript behind the seam of `miner.languages.base`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from harness.core.instance import Task, TestSpec
from harness.core.test_ids import files
from harness.languages.javascript.source import SOURCES
from harness.patches import patch
from miner.evidence.tree import Tree
from miner.languages.built import BuiltImage
from miner.languages.javascript import artefacts, manifest
from miner.languages.javascript.build import TOOLCHAINS, build_image
from miner.languages.javascript.code import JavaScriptCode
from miner.languages.javascript.stripping import literals, methods, snapshots
from miner.languages.javascript.stripping.borrowing import borrow
from miner.languages.javascript.stripping.source import StrippedSource
from miner.languages.recording import encoded, record
from miner.languages.stripping.language import TreeLanguage, without_snapshots

if TYPE_CHECKING:
    from miner.languages.base import Code, Contents, ImageRequest, ReadFiles, RecordedTests, TaskRun, TestCommand


_MANIFEST = "package.json"
_CHECKERS = re.compile(rb"ts-jest|ts-node|ts-mocha")
"""Loaders of tests that refuse what has wrong types."""
_MARKS = re.compile(
    rb"(?<![\w$.])(?:[xf]?(?:it|test|describe)|suite|specify|context|scenario|property)\s*(?:\.\w+\s*)*[(`]"
    rb"|\bQUnit\b|[\"'](?:tape|tap|ava|uvu|zora|vitest|node:test|lab|@hapi/lab|@jest/globals)[\"'/]"
    rb"|^(?:await\s+)?(?:\w*T|t)est(?:er|s)?(?:[A-Z]\w*)?(?:\.\w+)?\(",  # tests that are data: ruleTester.run(
    re.MULTILINE,
)
_STOPS = {"jest": "--bail", "mocha": "--bail"}


class JavaScript(TreeLanguage):
    """JavaScript or TypeScript: one ecosystem, told apart by the endings of files."""

    test_modules: re.Pattern[str] | None = None
    test_marks: re.Pattern[bytes] | None = _MARKS
    code: Code = JavaScriptCode()
    toolchains = TOOLCHAINS
    reading = literals.READING
    heeded = re.compile(rb"^\s*@\w+", re.MULTILINE)  # decorators may read types while they run

    def __init__(self, name: str, suffixes: tuple[str, ...], test_names: re.Pattern[str]) -> None:
        self.name = name
        self.suffixes = suffixes
        self.test_names = test_names

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        """Types, comments and layout, files of them alone as well, where the loader of tests does not check types."""
        if any(PurePosixPath(path).name == _MANIFEST for path in paths):
            return False
        if all(manifest.is_of_types(path, repo.read_file(head, path) or b"") for path in paths):
            return True
        if not super().never_runs(repo, base, head, list(filter(self.code.reads, paths))):
            return False
        folders = {folder for path in paths for folder in PurePosixPath(path).parents}
        manifests = (repo.read_file(base, str(folder / _MANIFEST)) or b"" for folder in folders)
        return not any(map(_CHECKERS.search, manifests))

    def untestable(self, tree: Tree, test_files: Sequence[str], code: Sequence[str]) -> tuple[str, str] | None:
        """Tests of types alone, of a browser, of another runtime, or of a runner without a reporter."""
        return manifest.untestable(tree, test_files)

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """By what tests import, what scripts call, what is depended on."""
        return manifest.test_commands(tree, test_files)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Node and what the lock says, in layers."""
        return build_image(request)

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """With the package's folder among the options."""
        env = {**image.env, **dict(command.env)}
        options = [source["NODE_OPTIONS"] for source in (image.env, dict(command.env)) if "NODE_OPTIONS" in source]
        env |= {"NODE_OPTIONS": " ".join(options)} if options else {}
        return TestSpec(framework=command.framework, options=command.options, env=env, build=image.build)

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """Ids as they are: the reporter tells of no others."""
        return tuple(test_ids)

    def stopping(self, spec: TestSpec) -> TestSpec:
        """By the option of those runners that always had one."""
        stop = _STOPS.get(spec.framework)
        return replace(spec, options=(*spec.options, stop)) if stop else spec

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """Every file called like a test."""
        return (tuple(path for path in tree.files() if self.test_names.fullmatch(path.rpartition("/")[2])),)

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """The test files, with assertions of other test modules written out in them, and the snapshots beside them."""

        def module(path: str, name: str) -> tuple[str, bytes] | None:
            places = list(filter(is_test, artefacts.import_ways(name, path, {})))
            contents = read(places)
            return next(((place, contents[place]) for place in places if place in contents), None)

        files = [path for path in paths if path.endswith(SOURCES)]
        contents = dict(read([*files, *chain.from_iterable(map(snapshots.places_of, files))]))
        settings = read(dict.fromkeys(chain.from_iterable(map(methods.configurations_of, files))))
        loaded = dict(read(set(filter(is_test, chain.from_iterable(map(methods.named_in, settings.items()))))))
        others = [module(place, name) for place, text in loaded.items() for name in methods.imported_by(text)]
        loaded |= dict(filter(None, others))

        def written_out(path: str) -> bytes:
            return borrow(methods.written_out(contents[path], path, loaded.items(), module), path, module)

        return contents | {path: written_out(path) for path in files if path in contents}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """By the syntax tree of each file that has listed tests; a file of snapshots goes where none of it is used."""
        framework = task.instance.test.framework
        listed = files(task.hidden.listed)
        tests = {path: source for path, source in sources.items() if path in listed}
        beside = {*sources, *patch.parse(task.hidden.test_patch, trusted=True).paths}

        def strip(filed: frozenset[str]) -> RecordedTests:
            return record(
                tests,
                fail_to_pass=task.hidden.fail_to_pass,
                pass_to_pass=task.hidden.pass_to_pass,
                parse=lambda path, source, first: StrippedSource(
                    source, path=path, first=first, framework=framework, has_snapshots=path in filed
                ),
                run=snapshots.Without(filed, beside, run),
                written=lambda parsed: parsed.written(literals.value_of),
            )

        def still(filed: frozenset[str], recorded: RecordedTests) -> frozenset[str]:
            stripped = encoded(recorded.expectations.files)
            used = snapshots.used({path: stripped[path] for path in filed & stripped.keys()}, beside)
            return used | snapshots.shown_otherwise(recorded.expectations, sources, filed)

        def unread(filed: frozenset[str], recorded: RecordedTests) -> Iterable[str]:
            return snapshots.emptied(filed, encoded(recorded.expectations.files), beside)

        return without_snapshots(snapshots.used(tests, beside), strip, still, unread)


JAVASCRIPT = JavaScript(
    "javascript",
    (".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    re.compile(r".*\.(test|spec|e2e|cy|test-d)\.[cm]?jsx?|test\.[cm]?js"),
)
TYPESCRIPT = JavaScript(
    "typescript",
    (".ts", ".tsx", ".mts", ".cts"),
    re.compile(r".*\.(test|spec|e2e|cy|test-d)\.[cm]?tsx?|test\.[cm]?ts"),
)

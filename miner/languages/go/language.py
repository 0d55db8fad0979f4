"""Go behind the seam of `miner.languages.base`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from posixpath import dirname

from harness.core.expectations import Expectations, Site
from harness.core.grouping import grouped
from harness.core.instance import Task, TestSpec
from harness.core.syntax import words
from harness.core.test_ids import files
from harness.judging.go.operators import EXACT
from harness.languages.go.language import FRAMEWORK
from harness.patches import patch
from miner.evidence.tree import Tree
from miner.languages.base import Code, ImageRequest, ReadFiles, RecordedTests, TaskRun, TestCommand
from miner.languages.built import BuiltImage
from miner.languages.go import modules
from miner.languages.go.build import TOOLCHAINS, build_image
from miner.languages.go.stripping import literals
from miner.languages.go.stripping.borrowing import borrowed
from miner.languages.go.stripping.constants import Constants
from miner.languages.go.stripping.package import name_of, named_by_others, package_of
from miner.languages.go.stripping.scopes import parse
from miner.languages.go.stripping.source import StrippedSource
from miner.languages.parsed import Grammar, ParsedCode
from miner.languages.recording import record
from miner.languages.stripping.language import TreeLanguage, first_kept
from miner.layers import egress

CODE = ParsedCode(
    Grammar(
        suffix=".go",
        parse=parse,
        declared=words("type_spec type_alias const_spec var_spec field_declaration method_elem"),
        functions=frozenset({"function_declaration", "method_declaration"}),
        owners=frozenset(),
        bodies=frozenset({"block"}),
        strings=frozenset({"interpreted_string_literal", "raw_string_literal"}),
        left_alone=words("comment import_spec import_declaration package_clause field_declaration"),
        told=re.compile(r"(?:panic|errors\.New|fmt\.Errorf|(?:\w+\.)*(?:log|logger|Log|Logger)\.\w+)\("),
        methods=(
            *(("ToLower", "ToUpper"), ("TrimLeft", "TrimRight"), ("TrimPrefix", "TrimSuffix")),
            *(("HasPrefix", "HasSuffix"), ("Index", "LastIndex"), ("IndexByte", "LastIndexByte")),
        ),
        called=("function", "field"),
    )
)


_TESTS = re.compile(r".*_test\.go")
_KIND = re.compile(r"\b\w+\.\w+")
"""What the name of a package's type looks like in a value."""
_TOP = re.compile(r"[^/\[]*")


class Go(TreeLanguage):
    """Go: its toolchain runs its tests, and is all that there is to choose."""

    name = "go"
    suffixes: tuple[str, ...] = (".go",)
    test_names = _TESTS
    test_modules: re.Pattern[str] | None = _TESTS
    code: Code = CODE
    toolchains = TOOLCHAINS
    reading = literals.READING
    heeded = re.compile(rb'//(?:go:|line |export |\s*\+build|\s*(?i:(?:unordered )?output:))|import "C"')

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """`go test`."""
        return (TestCommand(framework=FRAMEWORK, runner=FRAMEWORK),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Toolchain and modules, in layers."""
        return build_image(replace(request, workshop=request.workshop.reaching((egress.GO,))))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """The functions of the tests."""
        parts = (test_id.partition("::") for test_id in test_ids)
        return tuple(dict.fromkeys(f"{path}::{_TOP.match(name)[0]}" for path, _, name in parts))  # type: ignore[index]

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """Every file called like a test, where the toolchain looks for packages."""
        return (tuple(path for path in tree.files() if _TESTS.fullmatch(path) and modules.is_seen(path)),)

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """The test files themselves, and all others of their packages."""
        folders = dict.fromkeys(f"{dirname(path)}/" for path in paths if _TESTS.fullmatch(path))
        return {path: source for path, source in read(folders).items() if _TESTS.fullmatch(path)}

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """By the syntax tree of each file of a package that has listed tests, with what it calls of the others."""
        packages = grouped((_package(path, source), (path, source)) for path, source in sources.items()).values()
        with_others = {path: source for package in packages for path, source in borrowed(dict(package)).items()}
        return first_kept(lambda way: self._stripped(task, way, run), with_others, sources)

    def _stripped(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        listed = set(map(dirname, files(task.hidden.listed)))
        keys = {path: _package(path, source) for path, source in sources.items()}
        constants = Constants(patch.parse(task.hidden.gold_patch, trusted=True).files, run.base)
        packages = {
            key: package_of((source for path, source in sources.items() if keys[path] == key), constants.is_own)
            for key in set(keys.values())
            if key[0] in listed
        }
        groups = grouped((keys[path], (path, source)) for path, source in sources.items()).values()
        shared = {path: names for group in groups for path, names in named_by_others(dict(group)).items()}

        def settled(file: str, path: str, name: str) -> bool:
            return bool(path or not keys[file][1].endswith(b"_test")) and constants.are_settled(
                dirname(file), path, name
            )

        hidden = {path: sources[path] for path in files(task.hidden.test_files) if path in sources}
        recorded = record(
            {path: source for path, source in hidden.items() if dirname(path) in listed},
            fail_to_pass=task.hidden.fail_to_pass,
            pass_to_pass=task.hidden.pass_to_pass,
            parse=lambda path, source, first: StrippedSource(
                source,
                path=path,
                first=first,
                shared=shared[path],
                package=packages.get(keys[path]),
                settled=partial(settled, path),
                iterating=constants.iterating,
                is_own=constants.is_own,
            ),
            run=run,
            beside={path: source for path, source in hidden.items() if dirname(path) not in listed},
            function=literals.function_of,
            written=lambda parsed: parsed.written(literals.value_of),
        )
        return replace(recorded, expectations=_with_types(recorded.expectations, constants, sources.values()))


def _with_types(expectations: Expectations, constants: Constants, tests: Collection[bytes]) -> Expectations:
    """With the types that are not to be taken for each other, where what is compared has some of the product's."""
    kinds: dict[int, set[str]] = {slot: set() for slot in expectations.sites}
    for event in (event for test in expectations.tests.values() for event in test.events):
        kinds[event.slot].update(_KIND.findall(json.dumps(event.kept)))
    declared = constants.types_of({_folder(kind) for of_site in kinds.values() for kind in of_site}, tests)
    sites: dict[int, Site] = {}
    for slot, site in expectations.sites.items():
        folders = {_folder(kind) for kind in kinds[slot] & declared}
        apart = [kind for kind in sorted(declared) if _folder(kind) in folders]
        types = True if site.decides == "operands" and site.op in EXACT else apart
        sites[slot] = replace(site, options={**site.options, "apart": types}) if types else site
    return replace(expectations, sites=sites)


def _folder(kind: str) -> str:
    """The package of a type, as Go writes it."""
    return kind.partition(".")[0]


def _package(path: str, source: bytes) -> tuple[str, bytes]:
    """The package of a test file: its folder, and what it says it is of."""
    return dirname(path), name_of(source)


GO = Go()

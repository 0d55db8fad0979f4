"""Rust behind the seam of `miner.languages.base`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import tree_sitter_rust

from harness.core import syntax
from harness.core.instance import Task, TestSpec
from harness.core.syntax import words
from harness.languages.rust.language import FRAMEWORK
from harness.patches import patch
from miner.evidence.tree import Tree
from miner.languages.base import Code, ImageRequest, ReadFiles, RecordedTests, TaskRun, TestCommand
from miner.languages.parsed import Grammar, ParsedCode
from miner.languages.recording import encoded, record
from miner.languages.rust import cargo
from miner.languages.rust.build import TOOLCHAINS, build_image
from miner.languages.rust.stripping import literals, snapshots
from miner.languages.rust.stripping.examples import StrippedExamples, function_of_example, is_of_examples
from miner.languages.rust.stripping.helpers import helpers_in
from miner.languages.rust.stripping.patterns import value_of
from miner.languages.rust.stripping.source import StrippedSource
from miner.languages.stripping.language import TreeLanguage, called_by_others, without_snapshots
from miner.layers import egress

if TYPE_CHECKING:
    from miner.languages.built import BuiltImage

_ROOTS = ("/lib.rs", "/main.rs", ".rs")
"""How the files of programs end that modules are of."""


class RustCode(ParsedCode):
    """Source files of Rust."""

    def test_ids(self, path: str, function: str) -> tuple[str, ...]:
        """By each file that may be the root of a program which the file is a module of."""
        parts = path.removesuffix(".rs").removesuffix("/mod").split("/")
        roots = (("/".join(parts[:count]), parts[count:]) for count in range(1, len(parts)))
        modules = ("::".join((root + end, *names, function)) for root, names in roots for end in _ROOTS)
        return (f"{path}::{function}", *modules)


CODE = RustCode(
    Grammar(
        suffix=".rs",
        parse=syntax.reader(tree_sitter_rust.language()),
        declared=words(
            "struct_item enum_item union_item trait_item type_item const_item static_item mod_item"
            " macro_definition field_declaration enum_variant function_signature_item"
        ),
        functions=frozenset({"function_item"}),
        owners=frozenset({"impl_item", "trait_item", "mod_item"}),
        bodies=frozenset({"block"}),
        strings=frozenset({"string_literal", "raw_string_literal"}),
        left_alone=words("line_comment block_comment attribute_item inner_attribute_item use_declaration array_type"),
        told=re.compile(
            r"(?:panic|unreachable|todo|unimplemented|(?:debug_)?assert\w*|e?print(?:ln)?|(?:log::|tracing::)?"
            r"(?:trace|debug|info|warn|error))!"
        ),
        methods=(
            *(("to_lowercase", "to_uppercase"), ("to_ascii_lowercase", "to_ascii_uppercase")),
            *(("trim_start", "trim_end"), ("starts_with", "ends_with"), ("find", "rfind"), ("split", "rsplit")),
        ),
        called=("function", "field"),
    )
)


_TESTS = re.compile(r"tests?\.rs")
_MARKS = re.compile(
    rb"#\[\s*(?:\w+::)*(?:test|rstest|test_case|case|quickcheck|bench|wasm_bindgen_test)\b|#\[cfg\(test|\bmod\s+\w+;"
    rb"|\bfn\s+main\(\)\s*->|libtest_mimic|(?:proptest|quickcheck|macro_rules|tests?)!"
)
"""What a file has that holds tests, or leads to some; one without may be what a test has compiled, as trybuild does."""
_MODULE = re.compile(rb"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+);", re.MULTILINE)


class Rust(TreeLanguage):
    """Rust: cargo compiles, libtest runs the tests."""

    name = "rust"
    suffixes: tuple[str, ...] = (".rs",)
    test_names = _TESTS
    test_modules: re.Pattern[str] | None = None
    test_marks: re.Pattern[bytes] | None = _MARKS
    code: Code = CODE
    toolchains = TOOLCHAINS
    reading = literals.READING
    heeded = re.compile(rb"#\[derive\(")  # which may read what documents a field

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """`cargo test`, with the features that CI has."""
        return tuple(
            TestCommand(framework=FRAMEWORK, runner=FRAMEWORK, options=options)
            for options in cargo.options(tree, test_files)
        )

    def build(self, request: ImageRequest) -> BuiltImage:
        """Toolchain and crates, in layers; what manifests name is reached as well."""
        hosts = egress.named_hosts(request.tree)
        return build_image(replace(request, workshop=request.workshop.reaching(hosts)))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """The tests themselves."""
        return tuple(dict.fromkeys(test_ids))

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """Every file that cargo looks for tests in by its place: roots of libraries and programs, and `tests`."""
        roots = re.compile(r"(?:.*/)?(?:src/(?:lib|main)\.rs|tests/[^/]+(?:/main)?\.rs)")
        return (
            tuple(path for path in tree.files() if roots.fullmatch(path) and cargo.package_of(tree, path) is not None),
        )

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """The test files themselves, files of code with tests in them, modules that they share, and their snapshots."""
        own = dict(read([path for path in paths if path.endswith(".rs")]))
        shared = {
            place
            for path, source in own.items()
            for name in _MODULE.findall(source)
            for place in _places_of(path, name.decode())
        }
        compared = {posixpath.join(posixpath.dirname(path), snapshots.FOLDER, "") for path in snapshots.used(own)}
        return own | dict(read(sorted((shared | compared) - own.keys())))

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """By the syntax tree of each file; of one that holds code as well, by that of its tests.

        A file of snapshots goes where none of the test file is used.
        """
        code = {path: source for path, source in sources.items() if path.endswith(".rs")}
        shared = called_by_others(code)
        hidden = patch.parse(task.hidden.test_patch, trusted=True).paths
        helpers = helpers_in(source for path, source in code.items() if path not in task.instance.test.allowed_paths)
        tests = {path: source for path, source in code.items() if path in hidden}
        new_code = {path for path in tests if path in task.instance.test.allowed_paths} - run.base.keys()

        def strip(filed: frozenset[str]) -> RecordedTests:
            return record(
                tests,
                fail_to_pass=task.hidden.fail_to_pass,
                pass_to_pass=task.hidden.pass_to_pass,
                parse=lambda path, source, first: (
                    StrippedExamples(source, path=path, first=first)
                    if is_of_examples(path)
                    else StrippedSource(
                        source,
                        path=path,
                        first=first,
                        shared=shared[path],
                        helpers=helpers,
                        is_code=path in task.instance.test.allowed_paths,
                        has_snapshots=path in filed,
                    )
                ),
                run=run,
                function=partial(function_of_test, code),
                written=lambda parsed: parsed.written(value_of),
                new_code=new_code,
            )

        def still(filed: frozenset[str], recorded: RecordedTests) -> frozenset[str]:
            stripped = encoded(recorded.expectations.files)
            return snapshots.used({path: stripped[path] for path in filed & stripped.keys()})

        def unread(filed: frozenset[str], recorded: RecordedTests) -> Iterable[str]:
            return hidden.intersection(snapshots.of_tests(filed & recorded.expectations.files.keys(), sources))

        return without_snapshots(snapshots.used(tests), strip, still, unread)


def _places_of(path: str, name: str) -> tuple[str, ...]:
    """Where a module of a file in a folder of tests may be."""
    folders = (posixpath.dirname(path), path.removesuffix(".rs")) if "tests" in path.split("/")[:-1] else ()
    return tuple(f"{folder}/{name}{end}" for folder in folders for end in (".rs", "/mod.rs"))


def function_of_test(sources: Mapping[str, bytes], test_id: str) -> str:
    """The function that a test or a case is of, in the file that holds its module: a program is named by its root."""
    if is_of_examples(test_id.partition("::")[0]):
        return function_of_example(test_id)
    path, *names = _in_its_file(sources, test_id).split("::")
    text = sources.get(path, b"")
    has_cases = b"rstest" in text or b"test_case" in text
    while has_cases and len(names) > 1 and re.search(rb"\bfn\s+%s\b" % names[-2].encode(), text):
        names.pop()
    return "::".join((path, *names))


def _in_its_file(paths: Collection[str], test_id: str) -> str:
    root, _, name = test_id.partition("::")
    names = name.split("::")
    stem = root.removesuffix(".rs")
    folders = [posixpath.dirname(root), stem]  # of `tests/a.rs` the modules lie beside it, of `src/lib.rs` too
    for count in range(len(names) - 1, 0, -1):
        for folder in folders:
            place = posixpath.join(folder, *names[:count])
            for path in (f"{place}.rs", f"{place}/mod.rs"):
                if path in paths:
                    return "::".join((path, *names[count:]))
    return test_id


RUST = Rust()

"""Python behind the seam of `miner.languages.base`."""

from __future__ import annotations

import ast
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import resources
from pathlib import PurePath

from harness.core import python_source, test_ids
from harness.core.instance import Task, TestSpec
from harness.languages.python import pytest
from harness.languages.python.frameworks import COLLECT_ONLY, PYTEST, framework
from harness.patches import patch
from miner.evidence.tree import Detection, Fixed, Tree
from miner.languages.base import (
    Code,
    Contents,
    ImageRequest,
    ReadFiles,
    RecordedTests,
    RefusedError,
    Strippable,
    TaskRun,
    TestCommand,
    Traced,
    WrittenForm,
)
from miner.languages.built import BuiltImage
from miner.languages.python import doctests, inherited, types_alone
from miner.languages.python.code import PythonCode
from miner.languages.python.detect import detect
from miner.languages.python.forms import silent_lines
from miner.languages.python.images import exclude_newer, steps
from miner.languages.python.images.build_recipe import BuildJob, expect_resolving
from miner.languages.python.images.ladder import climb
from miner.languages.python.recipes import interpreter, of_fix
from miner.languages.python.recipes.recipe_fixes import Learned
from miner.languages.python.stripping import borrowing, documents, hoisting, inlining, literals, searches
from miner.languages.python.stripping.changes import Changes
from miner.languages.python.test_command import module_names, test_commands, test_paths, usable
from miner.languages.recording import record
from miner.languages.stripping.language import TreeLanguage
from miner.layers import egress
from miner.sources.change import Kind

_LINES = "_goldseam_lines"
"""Module of the tracer, at the root of the work tree."""
_STOP = "--maxfail=1"
_SETUP = "setup.py"
_PYTHON_2 = re.compile(
    r"\s*(?:print\s*(?:[^\s(=.,:\[]|>>)|exec\s+[^\s(=.,:\[]|raise\s+[\w.]+\s*,|except\b[^:]*,\s*\w+\s*:)"
    r"|.*(?:<>|`|\b[uU][rR][\"']|\b0[0-7]+\b|\b\d+[lL]\b)"
)
"""A line at which a later parser stops because only Python 2 has such a form."""
_GONE_MODULES = frozenset(
    {"__builtin__", "ConfigParser", "cPickle", "cStringIO", "HTMLParser", "httplib", "urllib2", "urlparse"}
)
_GONE_NAMES = frozenset({"izip", "izip_longest", "imap", "ifilter", "ifilterfalse"})
"""Of `itertools`."""
_TERSE = "--tb=native"
"""Without a network a row's tests can fail by the dozen, and each of pytest's own tracebacks can cost a second of
processor time: 10 of the 11 seconds of psf__requests-1963."""
_STUB, _OF_MODULES = ".pyi", (".py", ".pyx", ".c", ".cpp")
_DEPTH_OF_PACKAGES = 3
"""How deep in a repository the outermost folder of a package is, at most."""
_OWN = re.compile(r"(?:src/|lib/)?([^/]+?)(?:/|\.py$)")
"""A path in a repository, with the top-level module that it may be of."""
_SETTINGS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")
_CHECKERS = re.compile(rb"pytest[-_](?:mypy|pyright)|stubtest")
"""What checks types while tests run."""
_ASSERTS = re.compile(rb"^\s*(?:assert|with (?:pytest\.)?raises)\b|\.assert_?\w+\(", re.MULTILINE)
_TESTS = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test|tests?)\.py")


class Python(TreeLanguage):
    """Python, from its packaging metadata to its test frameworks."""

    name = "python"
    suffixes: tuple[str, ...] = (".py", ".pyi", ".pyx", ".pxd")
    test_names = re.compile(r"test_.*\.pyi?|.*_test\.py|tests?\.py|conftest\.py")
    test_modules: re.Pattern[str] | None = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
    test_marks: re.Pattern[bytes] | None = re.compile(
        rb"^\s*(?:async\s+)?def (?:test|runTest)|^\s*>>> |\bload_tests\b", re.MULTILINE
    )
    test_signs: re.Pattern[bytes] | None = re.compile(
        rb"\bdef _*[Tt]est|\bclass \w*Test|^test\w* *=|\bassert|runTest|load_tests|TestCase|parametrize|unittest|pytest"
        rb"|\bimport \*|\b(?:globals|setattr|exec)\(|\.main\(",
        re.MULTILINE,
    )
    code: Code = PythonCode()
    reading = literals.READING

    def documents(self, repo: Contents, base: str, head: str, kinds: Mapping[str, Kind]) -> list[str]:
        """Text files whose examples are doctests."""
        return doctests.changed_texts(repo, base, head, kinds)

    def tests_by_settings(self, repo: Contents, commit: str, paths: Sequence[str]) -> list[str]:
        """Those that pytest's `python_files` names and that assert something."""
        names = module_names(partial(repo.read_file, commit))
        modules = (path for path in paths if path.endswith(".py"))
        matching = [path for path in modules if any(map(PurePath(path).match, names))]
        return [path for path in matching if _ASSERTS.search(repo.read_file(commit, path) or b"")]

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        """Comments and layout; types that nothing reads; stubs of modules, where no plugin of pytest reads these."""
        stubs = [path for path in paths if path.endswith(_STUB)]
        modules = [path for path in paths if self.code.reads(path)]
        if len(stubs) + len(modules) < len(paths) or not all(_runs_alike(repo, base, head, path) for path in modules):
            return False
        beside = (f"{path.removesuffix(_STUB)}{suffix}" for path in stubs for suffix in _OF_MODULES)
        documented = {path.rpartition(".")[0] for path in beside if repo.read_file(head, path) is not None}
        settings = (repo.read_file(base, path) or b"" for path in _SETTINGS if stubs)
        return documented == {path.removesuffix(_STUB) for path in stubs} and not any(map(_CHECKERS.search, settings))

    def untestable(self, tree: Tree, test_files: Sequence[str], code: Sequence[str]) -> tuple[str, str] | None:
        """What only Python 2 reads: all tests, all changed code, or what installs the project; parts of another one."""
        for paths in (test_files, code, [_SETUP]):
            lines = [_in_python_2(tree.read(path)) for path in paths]
            if lines and all(lines):
                return "language_unsupported", f"only Python 2 reads {paths[0]}: {lines[0]}"
        missing = inherited.lacking(tree, test_files)
        return ("no_project", f"{missing}, which is not there, and no file describes a project") if missing else None

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """What the repository's settings, tox, nox, CI and make say; pytest is always among them."""
        return test_commands(tree, test_files)

    def build(self, request: ImageRequest) -> BuiltImage:
        """A virtual environment with the project in it: one ladder of recipes."""
        opened = request.workshop
        expect_resolving(opened)
        detection = replace(
            detect(request.tree, request.touched),
            of_change=interpreter.versions_in(request.message),
            at_least=interpreter.least_in(_new_lines(request, of_tests=True)),
            below=interpreter.bound_in(_new_lines(request, of_tests=False)),
        )
        recipes = (requirement for recipe in detection.recipes for requirement in recipe.evidence.requirements)
        workshop = opened.reaching(egress.named_hosts(request.tree, recipes))
        began = time.monotonic()
        uv_settings = exclude_newer.unreadable(request.when) + steps.OWN_VERSIONS
        request = replace(request, workshop=replace(workshop, as_of=request.when, uv_settings=uv_settings))
        job = BuildJob(request=request, tar=request.source(), detection=detection)
        if learned := _of_fix(request, detection):
            try:
                return climb(replace(job, learned=[learned]), began)
            except RefusedError:
                request.workshop.progress("what the fix requires does not go with the rest")
        return climb(job, began)

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """With the plugins that are there and do no harm, and without options that need others."""
        plugins = pytest.safe_plugins(image.pytest_plugins)
        by_pytest = not framework(command.framework).suites
        return TestSpec(
            framework=command.framework,
            options=usable(command.options, plugins) if by_pytest else command.options,
            plugins=plugins if by_pytest else (),
            pythonpath=image.pythonpath,
            modules=image.modules,
            env=dict(image.env),
            own_runner=image.own_runner,
            build=image.build,
        )

    def listing(self, spec: TestSpec) -> TestSpec:
        """Pytest's own option, which the runner of suites knows as well."""
        return replace(spec, options=(*spec.options, COLLECT_ONLY))

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """Ids of pytest, but those that it would cut in the wrong place or that it never gave in this form."""
        of_pytest = framework(spec.framework) is PYTEST
        return tuple(filter(_is_argument, test_ids)) if of_pytest else ()

    def stopping(self, spec: TestSpec) -> TestSpec:
        """Pytest's own option, which the runner of suites knows as well."""
        return replace(spec, options=(*spec.options, _STOP))

    def terse(self, spec: TestSpec) -> TestSpec:
        """With the interpreter's own tracebacks."""
        return replace(spec, options=(*spec.options, _TERSE))

    def traced(
        self,
        spec: TestSpec,
        sources: Mapping[str, bytes],
        lines: Mapping[str, tuple[int, ...]],
        tests: Sequence[str],
    ) -> Traced | None:
        """By a plugin of pytest; docstrings hold no code."""
        if framework(spec.framework).suites:
            return None
        code_lines = {path: sorted(set(numbers) - silent_lines(sources[path])) for path, numbers in lines.items()}
        text = f"WANTED = {code_lines!a}\nTESTS = {tuple(tests)!a}\n"
        tracer = resources.files("harness.languages.python.inside").joinpath("tracer.py").read_bytes()
        plugins, pythonpath = (*spec.plugins, _LINES), (*spec.pythonpath, ".")
        test = replace(spec, plugins=plugins, pythonpath=pythonpath)
        return Traced(test=test, overlay={f"{_LINES}.py": text.encode() + tracer})

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """`testpaths` or the whole tree for pytest; then, and for suites alone, files called like test modules."""
        called = tuple(path for path in tree.files() if _TESTS.fullmatch(path))
        return (called,) if framework(spec.framework).suites else (test_paths(tree) or (".",), called)

    def test_sources(self, paths: Iterable[str], read: ReadFiles, is_test: Callable[[str], bool]) -> dict[str, bytes]:
        """Modules, with assertions of helpers written out in them, and documents of doctests."""

        def module_of(path: str, level: int, name: str, *, of_tests: bool) -> bytes | None:
            places = [place for place in inlining.places(path, level, name) if not of_tests or is_test(place)]
            contents = read(places)
            return next((contents[place] for place in places if place in contents), None)

        sources = dict(read([path for path in paths if path.endswith((".py", *doctests.SUFFIXES))]))
        before = {path: source for path, source in sources.items() if path.endswith(".py")}
        names = {path: hoisting.names_set(source) for path, source in before.items()}

        def has_others(path: str, name: str, of_class: str) -> bool:
            setting = (other for other in names if other != path and name in names[other])
            return any(of_class.encode() in before[other] for other in setting)

        for path, source in sources.items():
            if path.endswith(".py"):
                tests, every = (cache(partial(module_of, path, of_tests=of_tests)) for of_tests in (True, False))
                plain = hoisting.hoisted(searches.write_out(source), partial(has_others, path))
                source_bound = borrowing.rows(plain, tests)
                source_bound = borrowing.by_name(borrowing.at_origin(source_bound, tests, every), tests, every)
                sources[path] = borrowing.borrow(inlining.write_out(source_bound, tests), tests, every)
        return sources

    def strip(self, task: Task, sources: Mapping[str, bytes], run: TaskRun) -> RecordedTests:
        """By the syntax tree of each file; what is neither standard library nor a dependency is the product."""
        files = patch.parse(task.hidden.gold_patch, trusted=True).files
        changes = Changes(files, {**run.base, **sources})
        outside = of_others(task.instance.test.modules, changes.paths)

        def settled(dotted: str, *, is_called: bool) -> bool:
            return dotted.partition(".")[0] not in outside and changes.leaves(dotted, is_called=is_called)

        written: dict[int, WrittenForm] = {}

        def parse(path: str, source: bytes, first: int) -> Strippable:
            parsed = documents.parsed(
                path, source, first, product=lambda module: module not in outside, settled=settled
            )
            slots = ((slot.number, slot.assertion) for slot in parsed.slots)
            written.update({number: form.written for number, form in slots if form.written is not None})
            return parsed

        listed = test_ids.files(task.hidden.listed)
        recorded = record(
            {path: source for path, source in sources.items() if path.endswith(".py") or path in listed},
            fail_to_pass=task.hidden.fail_to_pass,
            pass_to_pass=task.hidden.pass_to_pass,
            parse=parse,
            run=run,
        )
        return replace(recorded, written=written)


def of_others(installed: Iterable[str], changed: Collection[str]) -> frozenset[str]:
    """The top-level modules of the standard library and of what is installed; `changed` are the paths of a fix.

    A package that the fix changes is the product's, though dependencies may have a part in it (`google`, `zope`), or
    Python a module of its name (`asyncore`).
    """
    own = {match[1] for match in map(_OWN.match, changed) if match}
    packages = {folder for path in changed for folder in PurePath(path).parts[:_DEPTH_OF_PACKAGES]}
    return (sys.stdlib_module_names - own) | ({*installed} - packages - own)


def _in_python_2(source: bytes | None) -> str:
    """The first line that no Python 3 runs, of the forms that were Python 2's; empty where there is none."""
    try:
        body = python_source.parse(source or b"").body
    except SyntaxError as error:
        line = "" if error.msg.startswith("f-string") else error.text or ""  # those of 3.12 hold what they like
        return line.strip() if _PYTHON_2.match(line) else ""
    except (ValueError, RecursionError, MemoryError):
        return ""
    return next(map(ast.unparse, filter(_imports_what_is_gone, body)), "")


def _imports_what_is_gone(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        of_itertools = statement.module == "itertools" and any(name.name in _GONE_NAMES for name in statement.names)
        return of_itertools or (not statement.level and statement.module in _GONE_MODULES)
    return isinstance(statement, ast.Import) and any(name.name in _GONE_MODULES for name in statement.names)


def _is_argument(test_id: str) -> bool:
    return not test_ids.has_no_address(test_id) and "::" not in test_id.partition("[")[2]


def _new_lines(request: ImageRequest, *, of_tests: bool) -> Iterator[str]:
    for path, content in request.fixed.items():
        if path.endswith(".py") and ("test" in path) == of_tests:
            before, after = (Counter(text.splitlines()) for text in (request.tree.read(path) or b"", content))
            yield from (line.decode("utf-8", "replace") for line in after - before)


def _of_fix(request: ImageRequest, detection: Detection) -> Learned | None:
    """What only the fix requires, where it changes a file that may say so."""
    if request.fixed_at is None or all(path.endswith(".py") and not path.endswith(_SETUP) for path in request.fixed):
        return None
    tree = Fixed(request.tree, request.fixed)
    return of_fix.required((request.tree, detection), (tree, detect(tree, request.touched)), request.fixed_at)


def _runs_alike(repo: Contents, base: str, head: str, path: str) -> bool:
    """Whether a module has one tree at both commits, or one that is no test's and differs in types alone."""
    before, after = (repo.read_file(commit, path) for commit in (base, head))
    parsed = python_source.parsed(before)
    if parsed is None or _alike(parsed, python_source.parsed(after)):
        return parsed is not None
    trees = None if "test" in path.lower() else types_alone.erased(before, after)
    return trees is not None and _alike(*trees)


def _alike(one: object, other: object) -> bool:
    """As of equal `ast.dump`, up to the first difference: most changes have one."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(_alike(getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return one == other


PYTHON = Python()

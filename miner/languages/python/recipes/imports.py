"""The last resort: pytest itself, and the test helpers that the tests import or use as fixtures by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from harness.core import python_source
from harness.core.wording import words
from miner.evidence.tree import Evidence, Fixed, Tree
from miner.languages.python.recipes import distributions
from miner.languages.python.stripping import inlining

_FILES_READ = 300
_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test|tests|conftest)\.py$")
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_HELPERS = words(
    "aiohttp attr bs4 dateutil factory faker flaky freezegun httpretty hypothesis mock nose numpy parameterized"
    " pretend pytest_asyncio pytest_mock requests_mock responses simplejson six syrupy time_machine trio vcr webtest"
    " yaml"
)
_BY_USE = (
    (re.compile(rb"def \w+\([^)]*\bmocker\b"), "pytest-mock"),
    (re.compile(rb"def \w+\([^)]*\bhttpserver\b"), "pytest-httpserver"),
    (re.compile(rb"def \w+\([^)]*\bhttpbin\b"), "pytest-httpbin"),
    (re.compile(rb"def \w+\([^)]*\bbenchmark\b"), "pytest-benchmark"),
    (re.compile(rb"pytest\.mark\.asyncio\b"), "pytest-asyncio"),
    (re.compile(rb"pytest\.mark\.trio\b"), "pytest-trio"),
)

_PLUGINS = re.compile(rb"^pytest_plugins\b[^=\n]*=\s*([\[(][^\])]*|.+)", re.MULTILINE)
_QUOTED = re.compile(rb"""["']([A-Za-z_]\w*)[\w.]*["']""")
_OF_PYTEST = words("pytester pytest _pytest")

OLDEST_PYTEST = "pytest>=4.3"
"""The runner names plugins by their entry points (`-p httpbin`); an older pytest would import a module of that name. A
repository's older pin makes its rung unresolvable, and it is tried again without the pin."""
PLAIN = Evidence(rung="pytest")
"""Nothing but the project and pytest, which every rung has."""


def detect(tree: Tree) -> Evidence | None:
    """Well-known test helpers that the tests import, unless the repository holds a module of that name."""
    paths = tree.files()
    own = {path.split("/")[0].removesuffix(".py") for path in paths}
    own |= {path.split("/")[1].removesuffix(".py") for path in paths if path.startswith(("src/", "lib/", "tests/"))}
    modules: set[str] = set()
    for path in [path for path in paths if _TEST_FILE.match(path)][:_FILES_READ]:
        text = tree.read(path) or b""
        names = {match.decode() for match in _IMPORT.findall(text)} - own
        modules |= {helper for name in names & _HELPERS if (helper := distributions.of_module(name))}
        modules |= {distribution for pattern, distribution in _BY_USE if pattern.search(text)}
        plugins = {name.decode() for listed in _PLUGINS.findall(text) for name in _QUOTED.findall(listed)}
        modules |= {plugin for name in plugins - own - _OF_PYTEST if (plugin := distributions.of_module(name))}
    return Evidence(rung="imports", requirements=tuple(sorted(modules))) if modules else None


def optional(files: Mapping[str, bytes], tree: Tree) -> tuple[str, ...]:
    """The modules that the test files among these try to import, with nothing in place of them, but skip.

    Of what they import inside of functions, that of those alone which a tree does not have like this. What they import
    of other test modules counts with all that it refers to there (`HAVE_LXML`, or a decorator that looks at it).
    """
    modules: dict[str, None] = {}
    fixed = Fixed(tree, files)
    for path, source in files.items():
        module = python_source.parsed(source) if _TEST_FILE.match(path) else None
        if module is None:
            continue
        known = set(map(ast.dump, _functions(python_source.parsed(tree.read(path)))))
        changed = [function for function in _functions(module) if ast.dump(function) not in known]
        inside = [node for function in changed for node in ast.walk(function)]
        statements = (*module.body, *inside, *_borrowed(module, path, fixed))
        modules |= dict.fromkeys(name for node in statements for name in _tried(node))
    return tuple(modules)


def _borrowed(module: ast.Module, path: str, tree: Tree) -> Iterator[ast.stmt]:
    """What binds the names that a test file imports of a tree's other test modules, and what these need there."""

    def source_of(level: int, name: str) -> bytes | None:
        places = inlining.places(path, level, name)
        sources = (tree.read(place) for place in places if any(part.startswith("test") for part in place.split("/")))
        return next((source for source in sources if source is not None), None)

    for imported, bindings in inlining.imports(module, source_of):
        wanted = [alias.name for alias in imported.names]
        needed: dict[str, ast.stmt] = {}
        while wanted:
            name = wanted.pop()
            if name in bindings and name not in needed:
                needed[name] = bindings[name]
                wanted += [node.id for node in ast.walk(bindings[name]) if isinstance(node, ast.Name)]
        yield from needed.values()


def _functions(module: ast.Module | None) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = ast.walk(module) if module else ()
    return [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _tried(statement: ast.AST) -> Iterator[str]:
    """The top-level modules that a `try` imports, where nothing else is imported if that fails, or `importorskip`."""
    if isinstance(statement, ast.Call) and ast.unparse(statement.func).endswith("importorskip") and statement.args:
        name = statement.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value.partition(".")[0]
    if not isinstance(statement, ast.Try):
        return
    inside = [node for handler in statement.handlers for node in ast.walk(handler)]
    caught = " ".join(ast.unparse(handler.type) for handler in statement.handlers if handler.type)
    if not _CATCHES.search(caught) or any(isinstance(node, _IMPORTS) for node in inside):
        return
    for node in statement.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


_CATCHES = re.compile(r"\b(?:ImportError|ModuleNotFoundError|Exception)\b")
_IMPORTS = (ast.Import, ast.ImportFrom)

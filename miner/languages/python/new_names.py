"""Which name a Python test file was in want of, in CPython's own words, and which names a change brings. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from harness.core import python_source
from harness.languages.base import Chain, Raised, TestReport
from harness.languages.python.screen import COMPILED
from harness.quality.change import FileChange
from miner.languages.base import MODULE
from miner.languages.python import names

_WRAPPERS = frozenset({"CollectError", "ConftestImportFailure", "UsageError"})
"""pytest's own exceptions around the one that the test file raised."""
_WORDS = (
    ("ModuleNotFoundError", re.compile(r"No module named '(?P<module>[\w.]+)'")),
    ("ImportError", re.compile(r"cannot import name '?(?P<name>\w+)'?")),
    ("AttributeError", re.compile(r"has no attribute '(?P<name>\w+)'")),
    ("AttributeError", re.compile(r"(?P<name>[A-Za-z_]\w*)")),
    ("NameError", re.compile(r"(?:free variable|name) '(?P<name>\w+)' (?:is not defined|referenced before)")),
    ("TypeError", re.compile(r"got an unexpected keyword argument '(?P<name>\w+)'")),
    ("FixtureLookupError", re.compile(r"fixture '(?P<name>\w+)' not found")),
    ("Failed", re.compile(r"(?:indirect fixture|uses no (?:fixture|argument)) '(?P<name>\w+)'")),
)
"""By the class that says so: how a missing name is told. Up to Python 3.11 an enumeration tells the name alone."""
_WHOLE = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def missing(chain: Chain) -> str:
    """The name that a failed collection was in want of, `module a.b` where it is one; empty where it failed otherwise.

    What counts is the exception that came out of the file, not one that it had caught before.
    """
    for raised in chain:
        if raised.names and raised.names[0] in _WRAPPERS:
            continue
        return _missing_by(raised)
    return ""


def _missing_by(raised: Raised) -> str:
    for kind, words in _WORDS:
        if kind not in raised.names:
            continue
        alone = words.pattern.startswith("(?P<name>")
        if match := (words.fullmatch if alone else words.search)(raised.says):
            fields = match.groupdict()
            return MODULE + fields["module"] if "module" in fields else fields["name"]
    return ""


def missing_names(report: TestReport) -> dict[str, str]:
    """By each file that could not be collected, and each test that misses a fixture: the name, see `missing`."""
    files = {path: missing(report.collect_raised.get(path, ())) for path in report.collect_errors}
    tests = {
        test_id: name
        for test_id, chain in report.raised.items()
        if chain and chain[0].names[:1] == ("FixtureLookupError",) and (name := missing(chain))
    }
    return files | tests


def added_names(change: FileChange) -> frozenset[str]:
    """The names that a change of one file brings, and `module a.b` where it is a new module.

    A name is brought where a new line binds it, imports it, or has it as a text, such as in a table of lazy imports. Of
    what is no Python that can be read (Cython, C), every name on a new line counts.
    """
    names_found: set[str] = set()
    if change.path.endswith(".py"):
        names_found |= _python(change)
    elif change.path.endswith(COMPILED):
        names_found |= _every_name(change)
    if change.is_new and change.path.endswith((".py", ".pyx")):
        names_found |= {MODULE + name for name in _modules(change.path)}
    return frozenset(names_found)


def _python(change: FileChange) -> set[str]:
    tree = python_source.parsed(change.after)
    if tree is None:
        return _every_name(change)
    source = names.Source(tree=tree, lines=change.added.keys())
    return {*names.introduced(source), *_imported(source), *filter(_WHOLE.fullmatch, names.texts(source))}


def _imported(source: names.Source) -> Iterator[str]:
    """Names that new lines import: also a name that stands elsewhere already can be new in a module."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names if source.new(alias))


def _every_name(change: FileChange) -> set[str]:
    return {name.decode() for line in change.added.values() for name in _NAME.findall(line)}


def _modules(path: str) -> Iterator[str]:
    """The names under which a file can be imported, whichever folder is the root, and the packages around it."""
    parts = path.rpartition(".")[0].split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    for end in range(1, len(parts) + 1):
        for start in range(end):
            yield ".".join(parts[start:end])

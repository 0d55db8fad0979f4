"""Tests that cannot even be collected before a fix, for want of a name that the fix brings. Pure.

Which name is missing is told by the exception, in CPython's own words; which names the fix brings by its new lines.
docs/proof.md has the rules.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.languages.python.screen import COMPILED
from harness.patches import patch
from harness.quality import names
from harness.quality.change import change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from harness.languages.base import Chain, Raised, TestReport
    from harness.quality.change import FileChange
    from miner.proof.notebook import ObservedRun

_WRAPPERS = frozenset({"CollectError", "ConftestImportFailure", "UsageError"})
"""pytest's own exceptions around the one that the test file raised."""
_MODULE = "module "
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
        return _told(raised)
    return ""


def _told(raised: Raised) -> str:
    for kind, words in _WORDS:
        if kind not in raised.names:
            continue
        alone = words.pattern.startswith("(?P<name>")
        if match := (words.fullmatch if alone else words.search)(raised.says):
            fields = match.groupdict()
            return _MODULE + fields["module"] if "module" in fields else fields["name"]
    return ""


def wanted(report: TestReport) -> dict[str, str]:
    """By each file that could not be collected, and each test that misses a fixture: the name, see `missing`."""
    files = {path: missing(report.collect_raised.get(path, ())) for path in report.collect_errors}
    tests = {
        test_id: name
        for test_id, chain in report.raised.items()
        if chain and chain[0].names[:1] == ("FixtureLookupError",) and (name := missing(chain))
    }
    return files | tests


def brought(gold_patch: bytes, read: Callable[[str], bytes | None]) -> frozenset[str]:
    """The names that a fix brings, and `module a.b` for each new module; `read` gives a file at base_commit.

    A name is brought where a new line binds it, imports it, or has it as a text, such as in a table of lazy imports. Of
    what is no Python that can be read (Cython, C), every name on a new line counts.

    Raises:
        PatchError: the patch is none.

    """
    names_found: set[str] = set()
    for file in patch.parse(gold_patch, trusted=True).files:
        old = None if file.old_path is None or file.is_new else read(file.old_path)
        change = change_of(file, old)
        if change.path.endswith(".py"):
            names_found |= _python(change)
        elif change.path.endswith(COMPILED):
            names_found |= _every_name(change)
        if file.is_new and change.path.endswith((".py", ".pyx")):
            names_found |= {_MODULE + name for name in _modules(change.path)}
    return frozenset(names_found)


def _python(change: FileChange) -> set[str]:
    source = names.after(change)
    if source is None:
        return _every_name(change)
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


@dataclass(frozen=True, kw_only=True)
class Losses:
    """What the runs before a fix could not collect."""

    new: Mapping[str, frozenset[str]]
    """By file or folder that was lost for want of names that the fix brings alone: these names."""
    other: frozenset[str]
    """Files and folders that were lost for another reason."""

    def names(self, test_id: str) -> frozenset[str]:
        """The names for want of which a test was lost."""
        return frozenset().union(*(names_found for path, names_found in self.new.items() if _holds(path, test_id)))

    def for_a_name(self, test_id: str) -> bool:
        """Whether a test was lost, and for want of new names alone."""
        return bool(self.names(test_id)) and not self.otherwise(test_id)

    def otherwise(self, test_id: str) -> bool:
        """Whether a test was lost for another reason."""
        return any(_holds(path, test_id) for path in self.other)


def losses(before: Sequence[ObservedRun], brings: Collection[str]) -> Losses:
    """What was lost in the runs before a fix, and whether only for names that it brings."""
    names_by_path: dict[str, set[str]] = {}
    for run in before:
        for path in run.collect_errors:
            names_by_path.setdefault(path, set()).add(run.wanted.get(path, ""))
    new = {
        path: frozenset(map(plain, names_wanted))
        for path, names_wanted in names_by_path.items()
        if names_wanted <= set(brings)
    }
    return Losses(new=new, other=frozenset(names_by_path.keys() - new.keys()))


def new_names(fails: Collection[str], before: Sequence[ObservedRun], brings: Collection[str]) -> tuple[str, ...]:
    """The names for want of which tests of FAIL_TO_PASS could not be collected or set up before the fix, sorted."""
    lost = losses(before, brings)
    absent = [test_id for test_id in fails if any(test_id not in run.statuses for run in before)]
    names_found = {name for test_id in absent if lost.for_a_name(test_id) for name in lost.names(test_id)}
    fixtures = {run.wanted.get(test_id, "") for test_id in fails for run in before}
    return tuple(sorted(names_found | {plain(name) for name in fixtures if name in brings}))


def plain(name: str) -> str:
    """A missing name without the word that says that it is a module."""
    return name.removeprefix(_MODULE)


INITIAL = "conftest.py"
"""The id under which the recorder tells that pytest could not even begin, whichever conftest.py it was."""


def _holds(path: str, test_id: str) -> bool:
    """Whether what was lost, a file, a folder or everything, holds a test."""
    file = test_id.partition("::")[0]
    folder = path.removesuffix("conftest.py").rstrip("/") if path.endswith("/conftest.py") else path.rstrip("/")
    return path in ("", ".", INITIAL) or file == path or file.startswith(f"{folder}/")

"""Tests that cannot even be collected before a fix, for want of a name that the fix brings. Pure.

Which name is missing and which names a change brings, a language tells. docs/proof.md has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.patches import patch
from harness.quality.change import change_of
from miner.languages.base import MODULE, Code

if TYPE_CHECKING:
    from miner.proof.notebook import ObservedRun


def names_of_fix(gold_patch: bytes, read: Callable[[str], bytes | None], code: Code) -> frozenset[str]:
    """The names that a fix brings, and each new module (`MODULE`); `read` gives a file at base_commit.

    Raises:
        PatchError: the patch is none.

    """
    names: set[str] = set()
    for file in patch.parse(gold_patch, trusted=True).files:
        old = None if file.old_path is None or file.is_new else read(file.old_path)
        names |= code.added_names(change_of(file, old))
    return frozenset(names)


@dataclass(frozen=True, kw_only=True)
class Losses:
    """What the runs before a fix could not collect."""

    new: Mapping[str, frozenset[str]]
    """By file or folder that was lost for want of names that the fix brings alone: these names."""
    other: frozenset[str]
    """Files and folders that were lost for another reason."""

    def names(self, test_id: str) -> frozenset[str]:
        """The names for want of which a test was lost."""
        return frozenset().union(*(names for path, names in self.new.items() if _holds(path, test_id)))

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
    names = {name for test_id in absent if lost.for_a_name(test_id) for name in lost.names(test_id)}
    fixtures = {run.wanted.get(test_id, "") for test_id in fails for run in before}
    return tuple(sorted(names | {plain(name) for name in fixtures if name in brings}))


def plain(name: str) -> str:
    """A missing name without the word that says that it is a module."""
    return name.removeprefix(MODULE)


INITIAL = "conftest.py"
"""The id under which the recorder tells that pytest could not even begin, whichever conftest.py it was."""


def _holds(path: str, test_id: str) -> bool:
    """Whether what was lost, a file, a folder or everything, holds a test."""
    file = test_id.partition("::")[0]
    folder = path.removesuffix("conftest.py").rstrip("/") if path.endswith("/conftest.py") else path.rstrip("/")
    return path in ("", ".", INITIAL) or file == path or file.startswith(f"{folder}/")

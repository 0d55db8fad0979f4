"""How hard a task looks before anybody tried it: sizes, and a tier by a published rule. Pure.

docs/quality.md states the rule; `RULE` counts up when it changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from harness.quality.base import Reader, Subject
from harness.quality.change import FileChange

RULE = 1
DEEPEST = 6
"""Steps of imports that are followed."""


class Tier(StrEnum):
    """How hard a task is, the easiest first."""

    EASY = "easy"
    """Measured: models resolve at least 75%."""
    MEDIUM = "medium"
    """Measured: at least 40%."""
    HARD = "hard"
    """Measured: at least 10%."""
    BRUTAL = "brutal"
    """Measured: less than 10%."""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What the tier is told from. Documentation in the gold patch counts nowhere."""

    files: int
    hunks: int
    lines: int
    """Added and removed."""
    functions: int | None
    """Functions of the tree that the fix changes; None where none of its files is source code that can be read."""
    new_functions: int | None
    fail_to_pass: int
    failing_tests: int
    """The same by test function, however many rows its table has."""
    statement_words: int
    import_distance: int | None
    """Steps of imports from the tests to the fix, see `imports`; None where it is not reached."""
    path_distance: int
    """Folders between the nearest test file and the fix; the farthest of its files."""

    def points(self) -> dict[str, int]:
        """Points by what they are given for; the tier is their sum's."""
        touched = (self.functions or 0) + (self.new_functions or 0)
        return {
            "lines": _steps(self.lines, 5, 15, 40, 100),
            "hunks": _steps(self.hunks, 2, 5, 10),
            "files": _steps(self.files, 1, 3),
            "functions": _steps(touched, 1, 3, 8),
            "failing_tests": _steps(self.failing_tests, 3, 12),
            "distance": _steps(self.import_distance or 0, 2),
            "statement": int(self.statement_words < _TERSE),
        }

    @property
    def tier(self) -> Tier:
        score = sum(self.points().values())
        return tuple(Tier)[_steps(score, *_BOUNDS)]

    def public(self) -> dict[str, object]:
        """`quality.difficulty` of task.yaml as long as nobody tried the task."""
        return {
            "tier": self.tier.value,
            "by": "rule",
            "rule": RULE,
            "score": sum(self.points().values()),
            **asdict(self),
        }


_BOUNDS = (1, 4, 7)
_TERSE = 15
"""A statement of fewer words leaves it to the solver to find out what is wrong."""


def _steps(value: int, *bounds: int) -> int:
    """How many of the bounds a value exceeds."""
    return sum(value > bound for bound in bounds)


def measure(subject: Subject) -> Measures:
    """The sizes of a task.

    Raises:
        PatchError: gold or test patch is none.

    """
    gold, tests, reader = subject.gold(), subject.tests(), subject.base.reader
    touched = _touched(gold, reader)
    test_paths = [change.path for change in tests if change.after is not None]
    sources = {
        change.path: change.after for change in tests if reader.is_source(change.path) and change.after is not None
    }
    fixed = {change.path: change.after or b"" for change in gold if reader.is_source(change.path)}
    sources_after = {**subject.base.files, **fixed}
    return Measures(
        files=len(gold),
        hunks=sum(change.hunks for change in gold),
        lines=sum(change.lines for change in gold),
        functions=touched[0] if touched else None,
        new_functions=touched[1] if touched else None,
        fail_to_pass=len(subject.fail_to_pass),
        failing_tests=len({re.sub(r"\[.*\Z", "", test_id, flags=re.DOTALL) for test_id in subject.fail_to_pass}),
        statement_words=len(subject.statement.split()),
        import_distance=import_distance(sources, fixed, sources_after, reader=reader, roots=subject.roots)
        if sources and fixed
        else None,
        path_distance=_farthest(test_paths, [change.path for change in gold]),
    )


def _touched(gold: Sequence[FileChange], reader: Reader) -> tuple[int, int] | None:
    """Functions changed and functions brought; None where no file can be read for it."""
    changed = same_lines = 0
    readable = False
    for change in gold:
        if not reader.is_source(change.path):
            continue
        old, new = (
            reader.functions(change.path, side) if side is not None else None for side in (change.before, change.after)
        )
        readable = readable or old is not None or new is not None
        before, after = old or {}, new or {}
        lost = {name for name, lines in before.items() if any(number in lines for number in change.removed)}
        gained = {name for name, lines in after.items() if any(number in lines for number in change.added)}
        changed += len(lost | (gained & before.keys()))
        same_lines += len(gained - before.keys())
    return (changed, same_lines) if readable else None


def _farthest(tests: Sequence[str], fixed: Sequence[str]) -> int:
    if not tests:
        return 0
    return max((min(path_distance(test, path) for test in tests) for path in fixed), default=0)


def import_distance(
    tests: Mapping[str, bytes],
    fixed: Collection[str],
    files: Mapping[str, bytes],
    *,
    reader: Reader,
    roots: Iterable[str],
) -> int | None:
    """Steps of imports from the nearest test to the farthest fixed file that tests reach: 1 where a test imports it.

    Args:
        tests: sources of the test files, by path.
        fixed: paths of the fixed source files.
        files: the tree's files.
        reader: of the task's language.
        roots: folders that modules are imported from.

    Returns:
        None where no fixed file is reached within `DEEPEST` steps.

    """
    folders = tuple(roots)
    reached = dict.fromkeys(tests, 0)
    wave = list(tests)
    left = set(fixed)
    farthest: int | None = 0 if left & reached.keys() else None
    left -= reached.keys()
    for step in range(1, DEEPEST + 1):
        following: list[str] = []
        for path in wave:
            source = tests.get(path) or files.get(path, b"")
            imported = reader.imported(path, source, files, folders)
            following += [path for path in imported if path not in reached]
            reached |= dict.fromkeys(following, step)
        if met := left & set(following):
            farthest = step
            left -= met
        wave = list(dict.fromkeys(following))
        if not left or not wave:
            break
    return farthest


def path_distance(left_path: str, other: str) -> int:
    """Folders to leave and to enter on the way from one file to the other; 0 within a folder."""
    left, right = PurePosixPath(left_path).parent.parts, PurePosixPath(other).parent.parts
    shared = 0
    for left_part, right_part in zip(left, right, strict=False):
        if left_part != right_part:
            break
        shared += 1
    return len(left) + len(right) - 2 * shared

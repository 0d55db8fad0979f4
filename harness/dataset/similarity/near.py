"""Whether a fix is nearly another one: by what its code shares with it, and its statement; twins in a dataset. Pure.

The same measure as `holdout dedupe` takes, against many fixes at once, also of datasets that are not ours.
"""

from __future__ import annotations

import hashlib
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.core.grouping import grouped
from harness.core.instance import Task
from harness.dataset.similarity import leak_fingerprints, shingles
from harness.dataset.similarity.leak_fingerprints import Kind
from harness.dataset.similarity.shingles import CODE, WORDS, Postings
from harness.patches import patch

THRESHOLD = 0.8
"""Share of the smaller fix's shingles that the other has too, from which on they are one."""
HALF = 0.5
"""The same for a fix where half of the smaller statement is shared too."""
_FEWEST = 6
"""Shingles from which a share says something; of smaller fixes only the same ones are told."""
_RECENT = 64
"""Fixes that are gone through one by one before they are put into the index, and of how many that may be one."""
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class Fix:
    """The shingles and the patch id by which a fix is found again."""

    name: str
    patch_id: str
    code: array[int]
    """Hashes of the shingles that only the fixed code has, of 64 bits, sorted."""
    statement: array[int]


@dataclass(frozen=True, kw_only=True)
class Near:
    """A fix that another one nearly is."""

    name: str
    share: float
    """Of the smaller fix's shingles: that the other has too, from 0 to 1."""
    same_patch: bool
    """The same but for white space and places."""

    @property
    def why(self) -> str:
        return "the same fix" if self.same_patch else f"{self.share:.0%} of the smaller fix is in the other"


def fix_of(name: str, gold_patch: bytes, statement: str) -> Fix:
    """The fingerprints of a fix; of a patch that cannot be parsed, its bytes alone."""
    parts = leak_fingerprints.of_patch(name, Kind.GOLD, gold_patch).parts
    code = (shingles.hashes(_tokens(new), CODE) - shingles.hashes(_tokens(old), CODE) for new, old in parts)
    words = shingles.words(_tokens(statement.encode("utf-8", "replace")))
    return Fix(
        name=name,
        patch_id=patch_id(gold_patch),
        code=array("Q", sorted(set().union(*code))),
        statement=array("Q", sorted(shingles.hashes(words, WORDS))),
    )


def patch_id(raw: bytes) -> str:
    """A hash of what a patch adds and removes in which file, without white space and places; as `git patch-id`."""
    try:
        files = patch.parse(raw, trusted=True).files
    except patch.PatchError:
        return hashlib.sha256(raw).hexdigest()
    parts = []
    for file in sorted(files, key=lambda file_patch: file_patch.path):
        lines = file.raw.split(b"\n")
        hunks = next((number for number, line in enumerate(lines) if line.startswith(b"@@ -")), len(lines))
        body = [b"".join(line.split()) for line in lines[hunks:] if line[:1] in (b"+", b"-")]
        parts.append(file.path.encode("utf-8", "surrogateescape") + b"\0" + b"\n".join(body))
    return hashlib.sha256(b"\0\0".join(parts)).hexdigest()


def _tokens(text: bytes) -> list[bytes]:
    return shingles.tokens(shingles.plain(text))


class FixIndex:
    """Fixes to compare others with, however many. May be added to and asked from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, Fix] = {}
        self._settled = _Settled.of(())
        self._recent: dict[str, Fix] = {}
        """Not in the index yet, or in the place of what is there; few, so that they are gone through one by one."""

    def __len__(self) -> int:
        return len(self._known)

    def add(self, fix: Fix) -> None:
        """Put a fix onto the shelf, in the place of one with its name."""
        with self._lock:
            self._known[fix.name] = fix
            self._recent[fix.name] = fix

    def near(self, fix: Fix) -> tuple[Near, ...]:
        """Those that a fix nearly is, the nearest first; never the one with its own name."""
        with self._lock:
            if len(self._recent) > max(_RECENT, len(self._settled.fixes) // _RECENT):
                self._settled, self._recent = _Settled.of(tuple(self._known.values())), {}
            settled, recent = self._settled, dict(self._recent)
        others = [(other, shared) for other, shared in settled.sharing(fix) if other.name not in recent]
        others += [(other, _count(fix.code, other.code)) for other in recent.values()]
        nears = [near for other, shared in others if other.name != fix.name and (near := _near(fix, other, shared))]
        return tuple(sorted(nears, key=lambda near: (not near.same_patch, -near.share, near.name)))


@dataclass(frozen=True, kw_only=True)
class _Settled:
    """Fixes with an index of their code."""

    fixes: tuple[Fix, ...]
    postings: Postings
    by_patch_id: Mapping[str, Sequence[int]]
    """By the id of a patch: numbers of the fixes that are it."""

    @classmethod
    def of(cls, fixes: tuple[Fix, ...]) -> _Settled:
        by_patch_id = grouped((fix.patch_id, number) for number, fix in enumerate(fixes))
        return cls(fixes=fixes, postings=Postings.of([fix.code for fix in fixes]), by_patch_id=by_patch_id)

    def sharing(self, fix: Fix) -> Iterator[tuple[Fix, int]]:
        """Every fix with the same patch or code in common, and how many shingles of it."""
        shared = self.postings.shared(fix.code)
        for number in {*shared, *self.by_patch_id.get(fix.patch_id, ())}:
            yield self.fixes[number], shared.get(number, 0)


def _near(fix: Fix, other: Fix, shared: int) -> Near | None:
    share = _share(shared, fix.code, other.code)
    same_patch = fix.patch_id == other.patch_id
    if not same_patch and share < HALF:
        return None
    alike = share >= THRESHOLD or _share(_count(fix.statement, other.statement), fix.statement, other.statement) >= HALF
    return Near(name=other.name, share=share, same_patch=same_patch) if same_patch or alike else None


def _count(left: array[int], two: array[int]) -> int:
    return len(set(left).intersection(two))


def _share(shared: int, left: array[int], two: array[int]) -> float:
    smaller = min(len(left), len(two))
    return shared / smaller if smaller >= _FEWEST else 0.0


@dataclass(frozen=True, kw_only=True)
class Twin:
    """Two tasks that seem to be one."""

    first: str
    second: str
    fix: float
    """Share of the smaller fix's shingles that the other has too, from 0 to 1; of code that was not there before."""
    statement: float
    """The same of their statements."""
    same_patch: bool
    """The fixes are the same but for white space and places."""

    @property
    def why(self) -> str:
        """In words."""
        if self.same_patch:
            return "the same fix"
        return f"{self.fix:.0%} of the smaller fix is in the other, {self.statement:.0%} of the statement"


def twins(tasks: Sequence[Task], *, threshold: float = THRESHOLD) -> tuple[Twin, ...]:
    """Every pair of tasks that seem to be one, the surest first.

    Two tasks are a pair where their fixes are the same but for white space, or share `threshold` of the smaller one's
    shingles, or share half of them and so do their statements.
    """
    fixes = [fix_of(task.instance_id, task.hidden.gold_patch, task.instance.problem_statement) for task in tasks]
    twins_found = []
    for first_fix, second_fix in _pairs(fixes, min(threshold, HALF)):
        fix, statement = _shared(first_fix.code, second_fix.code), _shared(first_fix.statement, second_fix.statement)
        same_patch = first_fix.patch_id == second_fix.patch_id
        if same_patch or fix >= threshold or (fix >= HALF and statement >= HALF):
            first, second = sorted((first_fix.name, second_fix.name))
            twins_found.append(Twin(first=first, second=second, fix=fix, statement=statement, same_patch=same_patch))
    return tuple(sorted(twins_found, key=lambda twin: (not twin.same_patch, -twin.fix, twin.first, twin.second)))


def _pairs(fixes: Sequence[Fix], least: float) -> Iterator[tuple[Fix, Fix]]:
    """Those with the same patch, or with `least` of the smaller fix in common; what most tasks share says nothing."""
    index, most = _Settled.of(tuple(fixes)), len(fixes) // 2 + _FEW
    for first, fix in enumerate(fixes):
        shared = index.postings.shared(fix.code)
        telling = index.postings.shared(index.postings.held_by_at_most(fix.code, most))
        alike = {other for other in telling if shared[other] >= least * min(len(fix.code), len(fixes[other].code))}
        equal = index.by_patch_id[fix.patch_id]
        for second in sorted(alike | set(equal if len(equal) <= most else ())):
            if second > first:
                yield fix, fixes[second]


def _shared(left: array[int], right: array[int]) -> float:
    """Shared of the smaller: a backport has less, or more, around the same."""
    return len(set(left).intersection(right)) / min(len(left), len(right)) if left and right else 0.0


def to_retire(pairs: Sequence[Twin], merged: Mapping[str, str]) -> dict[str, str]:
    """Of every group of twins, all but the task that was merged first, each with the one it doubles."""
    groups: dict[str, set[str]] = {}
    for twin in pairs:
        joined = groups.get(twin.first, {twin.first}) | groups.get(twin.second, {twin.second})
        for task in joined:
            groups[task] = joined
    oldest = {task: min(group, key=lambda task_id: (merged[task_id], task_id)) for task, group in groups.items()}
    return {task: keeper for task, keeper in sorted(oldest.items()) if keeper != task}

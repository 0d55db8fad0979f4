"""`holdout dedupe`: one fix under two ids, found by what its code, its tests and its statement share. Pure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.dataset.similarity import leak_fingerprints, shingles
from harness.dataset.similarity.leak_fingerprints import Kind
from harness.dataset.similarity.postings import Postings
from harness.dataset.similarity.shingles import CODE, WORDS, Vocabulary
from harness.patches import patch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.core.instance import Task

THRESHOLD = 0.8
"""Share of the smaller fix's shingles that the other has too, from which on they are one."""
_HALF = 0.5
"""The same for two statements, and for a fix where statements are alike too."""
_FEW = 3


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


@dataclass(frozen=True, kw_only=True)
class _Print:
    """What is known of a task."""

    task: str
    patch_id: str
    fix: frozenset[int]
    statement: frozenset[int]


def twins(tasks: Sequence[Task], *, threshold: float = THRESHOLD) -> tuple[Twin, ...]:
    """Every pair of tasks that seem to be one, the surest first.

    Two tasks are a pair where their fixes are the same but for white space, or share `threshold` of the smaller one's
    shingles, or share half of them and so do their statements.
    """
    prints = _prints(tasks)
    twins_found = []
    for one, two in _pairs(prints, min(threshold, _HALF)):
        fix, statement = _shared(one.fix, two.fix), _shared(one.statement, two.statement)
        same_patch = one.patch_id == two.patch_id
        if same_patch or fix >= threshold or (fix >= _HALF and statement >= _HALF):
            first, second = sorted((one.task, two.task))
            twins_found.append(Twin(first=first, second=second, fix=fix, statement=statement, same_patch=same_patch))
    return tuple(sorted(twins_found, key=lambda twin: (not twin.same_patch, -twin.fix, twin.first, twin.second)))


def _prints(tasks: Iterable[Task]) -> list[_Print]:
    task_facts = [
        (
            task.instance_id,
            patch_id(task.hidden.gold_patch),
            _tokens(leak_fingerprints.of_patch(task.instance_id, Kind.GOLD, task.hidden.gold_patch)),
            shingles.words(shingles.tokens(shingles.plain(task.instance.problem_statement.encode("utf-8", "replace")))),
        )
        for task in tasks
    ]
    vocabulary = Vocabulary.of(text for _, _, code, words in task_facts for text in (*(new for new, _ in code), words))
    return [
        _Print(
            task=task,
            patch_id=name,
            fix=frozenset().union(*(_only_new(vocabulary, new, old) for new, old in code)),
            statement=frozenset(vocabulary.shingles(vocabulary.ids(words), WORDS)[1].tolist()),
        )
        for task, name, code, words in task_facts
    ]


def _tokens(text: leak_fingerprints.Text) -> list[tuple[list[bytes], list[bytes]]]:
    return [(_cut(new), _cut(old)) for new, old in text.parts]


def _cut(text: bytes) -> list[bytes]:
    return shingles.tokens(shingles.plain(text))


def _only_new(vocabulary: Vocabulary, new: list[bytes], old: list[bytes]) -> set[int]:
    after, before = (set(vocabulary.shingles(vocabulary.ids(side), CODE)[1].tolist()) for side in (new, old))
    return after - before


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


def _pairs(prints: Sequence[_Print], least: float) -> Iterator[tuple[_Print, _Print]]:
    """Those with the same patch, or with `least` of the smaller fix in common; what most tasks share says nothing."""
    fixes = [np.array(sorted(found.fix), dtype=np.uint64) for found in prints]
    postings, most = Postings.of(fixes), len(prints) // 2 + _FEW
    by_patch_id: dict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(prints):
        by_patch_id[found.patch_id].append(number)
    for first, fix in enumerate(fixes):
        shared = postings.shared(fix)
        telling = postings.shared(postings.held_by_at_most(fix, most))
        alike = {other for other in telling if shared[other] >= least * min(len(fix), len(fixes[other]))}
        equal = by_patch_id[prints[first].patch_id]
        for second in sorted(alike | set(equal if len(equal) <= most else ())):
            if second > first:
                yield prints[first], prints[second]


def _shared(left: frozenset[int], two: frozenset[int]) -> float:
    """Shared of the smaller: a backport has less, or more, around the same."""
    return len(left & two) / min(len(left), len(two)) if left and two else 0.0


def to_retire(pairs: Sequence[Twin], merged: Mapping[str, str]) -> dict[str, str]:
    """Of every group of twins, all but the task that was merged first, each with the one it doubles."""
    groups: dict[str, set[str]] = {}
    for twin in pairs:
        joined = groups.get(twin.first, {twin.first}) | groups.get(twin.second, {twin.second})
        for task in joined:
            groups[task] = joined
    oldest = {task: min(group, key=lambda task_id: (merged[task_id], task_id)) for task, group in groups.items()}
    return {task: keeper for task, keeper in sorted(oldest.items()) if keeper != task}

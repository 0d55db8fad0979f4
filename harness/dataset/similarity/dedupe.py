"""`holdout dedupe`: one fix under two ids, found by what its code, its tests and its statement share. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.dataset.similarity.near import HALF, THRESHOLD, fix_of
from harness.dataset.similarity.postings import Postings

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Mapping, Sequence

    from harness.core.instance import Task
    from harness.dataset.similarity.near import Fix

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
    postings, most = Postings.of([fix.code for fix in fixes]), len(fixes) // 2 + _FEW
    by_patch_id: dict[str, list[int]] = defaultdict(list)
    for number, fix in enumerate(fixes):
        by_patch_id[fix.patch_id].append(number)
    for first, fix in enumerate(fixes):
        shared = postings.shared(fix.code)
        telling = postings.shared(postings.held_by_at_most(fix.code, most))
        alike = {other for other in telling if shared[other] >= least * min(len(fix.code), len(fixes[other].code))}
        equal = by_patch_id[fix.patch_id]
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

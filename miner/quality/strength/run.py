"""How much of what should not resolve a task its hidden tests catch: wrong patches made of the fix, run as a model's.

Everything runs with the tests as they are, expectations inside: no forger is at work here, and the first failure ends a
run.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import zip_longest
from typing import TYPE_CHECKING

from harness.core import test_ids
from harness.core.expectations import Expectations
from harness.core.extras import install_command
from harness.core.instance import Outcome, TestStatus
from harness.grading import scoring
from harness.languages.screening import screen_task
from harness.patches.patch import PatchError
from harness.sandbox.job import SandboxError
from miner.languages import language_of
from miner.quality.strength import lines, mutants, pieces
from miner.quality.strength.lines import read_files
from miner.quality.strength.result import FORMULA, Bounds, Kind, Strength, Variant, VariantResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.core.instance import Hidden, Task
    from harness.grading.grade import Grade
    from harness.grading.trial import Trial
    from harness.patches.patch import Patch
    from harness.sandbox.job import Sandbox
    from miner.quality.strength.pieces import Fix

_FACTOR = 4.0
_FLOOR = 5.0
_LONG = 2.0
"""Seconds that the whole tests take with the fix, from which on those of FAIL_TO_PASS are tried first."""


class CannotMeasureError(Exception):
    """Nothing can be said of this task; the text says why."""


@dataclass(frozen=True, kw_only=True)
class _Gold:
    """The fix, as it ran."""

    patch: Patch
    seconds: float
    alone: bool
    """Nothing but the listed tests failed or passed, so the first failure decides."""
    quick: tuple[Task, float] | None = None
    """The task with FAIL_TO_PASS alone, and what the fix takes there: where the whole takes long, it is tried first."""


def key(task: Task, bounds: Bounds) -> str:
    """SHA-256 over what a task's strength depends on."""
    return hashlib.sha256(f"{FORMULA} {task.digest()} {bounds.parts} {bounds.mutants}".encode()).hexdigest()


def measure(
    task: Task,
    sandbox: Sandbox,
    bounds: Bounds,
    *,
    note: Callable[[str], None] = lambda _: None,
    allows: Callable[[float], bool] = lambda _: True,
) -> Strength:
    """Make wrong patches of the fix and run them, as long as a budget allows so many seconds more.

    Raises:
        CannotMeasureError: the fix does not resolve the task here or can't be taken apart, or a library is not there.
        MissingImageError: the image is not there.
        InfrastructureError: the engine failed; nothing is said of the task.

    """
    mutator = language_of(task.instance.test).code.mutator
    if bounds.mutants and find_spec(mutator) is None:
        text = f"measuring it needs {mutator}, which is not installed: {install_command('strength')}"
        raise CannotMeasureError(text)
    began, measure_key = time.monotonic(), key(task, bounds)
    task = replace(task, hidden=replace(task.hidden, expectations=Expectations()))
    note("gold")
    gold = _gold(task, sandbox)
    fix = _fix(task, sandbox)
    empty = _try(task, Variant(kind=Kind.EMPTY, patch=b"", description="nothing is changed"), gold, sandbox)
    note("coverage")
    covered = lines.coverage(task, fix, gold.patch, sandbox)
    variants = tuple(_variants(fix, bounds, _seed(task)))
    results: dict[int, VariantResult | None] = {}
    for number in _spread(variants):
        if not allows(gold.quick[1] if gold.quick else gold.seconds):
            break
        note(f"wrong patch {len(results) + 1}/{len(variants)}")
        results[number] = _try(task, variants[number], gold, sandbox)
    tried = [empty, *(results[number] for number in sorted(results))]
    return Strength(
        key=measure_key,
        bounds=bounds,
        tried=tuple(variant_result for variant_result in tried if variant_result is not None),
        coverage=covered,
        gold_seconds=gold.seconds,
        not_tried=len(variants) - len(results),
        seconds=time.monotonic() - began,
    )


def _seed(task: Task) -> str:
    return hashlib.sha256(task.hidden.gold_patch).hexdigest()


def _variants(fix: Fix, bounds: Bounds, seed: str) -> Iterator[Variant]:
    yield from mutants.subsets(fix, most=bounds.parts, seed=seed)
    yield from mutants.mutants(fix, most=bounds.mutants, seed=seed)


def _spread(variants: Sequence[Variant]) -> Iterator[int]:
    """The numbers of parts and mutants by turns, so that a budget leaves some of both."""
    parts = [number for number, variant in enumerate(variants) if variant.kind is Kind.PART]
    others = [number for number, variant in enumerate(variants) if variant.kind is not Kind.PART]
    for pair in zip_longest(parts, others):
        yield from (number for number in pair if number is not None)


def _fix(task: Task, sandbox: Sandbox) -> Fix:
    data = task.hidden.gold_patch
    try:
        base = read_files(task.instance.image or "", pieces.paths_to_read(data), sandbox)
        return pieces.take_apart(data, base, language_of(task.instance.test).code)
    except PatchError as error:
        raise CannotMeasureError(f"the fix cannot be taken apart: {error}") from error


def _gold(task: Task, sandbox: Sandbox) -> _Gold:
    try:
        fix = screen_task(task, task.hidden.gold_patch).kept
    except PatchError as error:
        raise CannotMeasureError(f"the fix is not a patch that a model could give: {error}") from error
    scored = scoring.score(task, fix, sandbox, scoring.Demands())
    if scored.grade.outcome is Outcome.INFRA_ERROR:
        raise SandboxError(f"{task.instance_id}: {scored.grade.reason}")
    if scored.grade.outcome is not Outcome.RESOLVED:
        raise CannotMeasureError(f"the fix does not resolve it here: {scored.grade.reason}")
    gold = _Gold(patch=fix, seconds=scored.trial.seconds, alone=_is_alone(task.hidden, scored.trial))
    return replace(gold, quick=_quick(task, fix, sandbox)) if gold.seconds > _LONG else gold


def _quick(task: Task, fix: Patch, sandbox: Sandbox) -> tuple[Task, float] | None:
    """The test functions of FAIL_TO_PASS alone; None where the fix does not pass them so."""
    at_stake = test_ids.selectors(task.hidden.fail_to_pass, task.hidden.test_files)
    hidden = replace(task.hidden, test_files=at_stake, pass_to_pass=())
    alone = replace(task, hidden=hidden)
    scored = scoring.score(alone, fix, sandbox, scoring.Demands())
    return (alone, scored.trial.seconds) if scored.grade.outcome is Outcome.RESOLVED else None


def _is_alone(hidden: Hidden, trial: Trial) -> bool:
    listed = {*hidden.fail_to_pass, *hidden.pass_to_pass}
    quiet = (TestStatus.SKIPPED, TestStatus.XFAIL)
    others = (status for test_id, status in trial.report.statuses.items() if test_id not in listed)
    return not trial.report.collect_errors and all(status in quiet for status in others)


def limit(gold_seconds: float, budget: float) -> float:
    """Seconds that a wrong patch may take: 4 times what the fix took and at least 5, but never more than the task's."""
    return min(budget, max(_FLOOR, _FACTOR * gold_seconds))


def _try(task: Task, variant: Variant, gold: _Gold, sandbox: Sandbox) -> VariantResult | None:
    """What the hidden tests make of a wrong patch; None where it is none: nothing of it is left, or it does not apply.

    Raises:
        InfrastructureError: the engine failed, which is no kill.

    """
    try:
        patch = screen_task(task, variant.patch).kept if variant.patch else None
    except PatchError:
        return None
    if patch is not None and (not patch.files or patch.raw == gold.patch.raw):
        return None
    forms = ([gold.quick] if gold.quick else []) + [(task, gold.seconds)]
    grade: Grade | None = None
    for form, seconds in forms:
        demands = scoring.Demands(timeout=limit(seconds, task.instance.budgets.seconds))
        grade = scoring.score(_stopping(form) if gold.alone else form, patch, sandbox, demands).grade
        if grade.outcome is not Outcome.RESOLVED:
            break
    if grade is None or grade.outcome is Outcome.APPLY_FAILED:
        return None
    if grade.outcome is Outcome.INFRA_ERROR:
        raise SandboxError(f"{task.instance_id}: {grade.reason}")
    return VariantResult(variant=variant, survived=grade.outcome is Outcome.RESOLVED, cause=grade.cause or "")


def _stopping(task: Task) -> Task:
    """The task, its tests ended by the first that fails: one is enough."""
    test = language_of(task.instance.test).stopping(task.instance.test)
    return replace(task, instance=replace(task.instance, test=test))

"""How much of what should not resolve a task its hidden tests catch: wrong patches made of the fix, run as a model's.

Everything runs with the tests as they are, expectations inside: no forger is at work here, and the first failure ends a
run.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import zip_longest
from typing import Any

from harness.core import files, test_ids
from harness.core.errors import BugError, InputError
from harness.core.expectations import Expectations
from harness.core.extras import install_command
from harness.core.instance import Hidden, Outcome, Task, TaskState, TestStatus
from harness.dataset import content
from harness.dataset.folder import Dataset, write_instances
from harness.dataset.hidden_files import TESTS_FILE, hidden_files, hidden_names, is_survivor
from harness.dataset.seal import access_log, sealing
from harness.grading import failures, scoring
from harness.grading.trial import Trial
from harness.languages.screening import screen_task
from harness.patches.patch import Patch, PatchError
from harness.runs import bug_log
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import MissingImageError, Sandbox, SandboxError
from miner.languages import language_of
from miner.quality.strength import lines, mutants, pieces
from miner.quality.strength.lines import read_files
from miner.quality.strength.pieces import Fix
from miner.quality.strength.result import FIELD, FORMULA, Bounds, Kind, Strength, Variant, VariantResult, is_current

_FACTOR = 4.0
_FLOOR = 5.0
_LONG = 2.0
"""Seconds that the whole tests take with the fix, from which on those of FAIL_TO_PASS are tried first."""
OPENED_FOR = "strength"


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
    seed = hashlib.sha256(task.hidden.gold_patch).hexdigest()
    variants = (
        *mutants.subsets(fix, most=bounds.parts, seed=seed),
        *mutants.mutants(fix, most=bounds.mutants, seed=seed),
    )
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
    listed = set(hidden.listed)
    quiet = (TestStatus.SKIPPED, TestStatus.XFAIL)
    others = (status for test_id, status in trial.report.statuses.items() if test_id not in listed)
    return not trial.report.collect_errors and all(status in quiet for status in others)


def limit(gold_seconds: float, budget: float) -> float:
    """Seconds that a wrong patch may take: 4 times what the fix took and at least 5, but never more than the task's."""
    return min(budget, max(_FLOOR, _FACTOR * gold_seconds))


def _try(task: Task, variant: Variant, gold: _Gold, sandbox: Sandbox) -> VariantResult | None:
    """What the hidden tests make of a wrong patch.

    None where it is none: nothing of it is left, it does not apply, or the compiler refuses what it changes.

    Raises:
        InfrastructureError: the engine failed, which is no kill.

    """
    try:
        patch = screen_task(task, variant.patch).kept if variant.patch else None
    except PatchError:
        return None
    if patch is not None and (not patch.files or patch.raw == gold.patch.raw):
        return None
    for form, seconds in filter(None, (gold.quick, (task, gold.seconds))):
        demands = scoring.Demands(timeout=limit(seconds, task.instance.budgets.seconds))
        scored = scoring.score(_stopping(form) if gold.alone else form, patch, sandbox, demands)
        if scored.grade.outcome is not Outcome.RESOLVED:
            break
    grade = scored.grade
    if grade.outcome is Outcome.APPLY_FAILED or (variant.kind is not Kind.EMPTY and _is_refused(scored.trial)):
        return None
    if grade.outcome is Outcome.INFRA_ERROR:
        raise SandboxError(f"{task.instance_id}: {grade.reason}")
    return VariantResult(variant=variant, survived=grade.outcome is Outcome.RESOLVED, cause=grade.cause or "")


def _is_refused(trial: Trial) -> bool:
    """Whether the compiler took the tests or what they load for no code."""
    chains = trial.report.collect_raised.values()
    is_built = trial.build is None or trial.build.ok
    return not is_built or any(failures.kind_of(chain, None) is failures.Kind.COMPILE for chain in chains)


def _stopping(task: Task) -> Task:
    """The task, its tests ended by the first that fails: one is enough."""
    test = language_of(task.instance.test).stopping(task.instance.test)
    return replace(task, instance=replace(task.instance, test=test))


@dataclass(frozen=True, kw_only=True)
class TaskStrength:
    """One task after it was measured."""

    instance_id: str
    quality: Mapping[str, Any] = field(default_factory=dict)
    """`quality.strength`; empty where it could not be measured."""
    files: tuple[str, ...] = ()
    """Names of the survivors' files."""
    seconds: float = 0.0
    known: bool = False
    """Measured before, by the same rules and bounds, and nothing of the task has changed."""
    unknown: str = ""
    """Why it could not be measured; empty where it was."""
    bug: bool = False
    """Whether that was a bug of ours."""


@dataclass(frozen=True, kw_only=True)
class StrengthRequest:
    """How tasks are measured."""

    bounds: Bounds
    again: bool = False
    """Measure again what is known."""
    write: bool = True


def gauge(
    dataset: Dataset,
    ids: Sequence[str],
    request: StrengthRequest,
    *,
    sandbox: Sandbox,
    executor: Executor,
    note: Callable[[str], None],
) -> Iterator[TaskStrength]:
    """Measure tasks and write what is found, each as soon as it is there; in the order in which they are ready.

    A task whose engine or image fails is `unknown`, and the others go on. Killed anywhere, the next call goes on.

    Args:
        dataset: opened with keys where it is sealed.
        ids: which tasks; every proved one where there is none.
        request: how.
        sandbox: where patches are tried.
        executor: how many tasks at once.
        note: told what is being done just now.

    Raises:
        InputError: an id is unknown, a task has no proof, the keys do not open it, or the dataset cannot be written.
        InfrastructureError: the engine is gone.

    """
    chosen = _chosen(dataset, ids)
    access_log.tell(dataset, chosen, purpose=OPENED_FOR)

    def measure_one(instance_id: str) -> tuple[Task, Strength | TaskStrength]:
        task = dataset.task(instance_id)
        if not request.again and is_current(task, key(task, request.bounds)):
            return task, _outcome(task, is_earlier=True)
        try:
            with bug_log.of_one_item(CannotMeasureError):
                return task, measure(task, sandbox, request.bounds, note=lambda text: note(f"{instance_id}: {text}"))
        except (CannotMeasureError, BugError) as error:
            return task, TaskStrength(instance_id=instance_id, unknown=str(error), bug=isinstance(error, BugError))
        except (MissingImageError, SandboxError) as error:
            if isinstance(error, SandboxError) and not sandbox.is_healthy():
                raise
            return task, TaskStrength(instance_id=instance_id, unknown=error.message)

    for task, measured in executor.map(measure_one, chosen, cancel=sandbox.cancel):
        if isinstance(measured, TaskStrength):
            yield measured
        elif request.write:
            yield _save(dataset, task, measured)
        else:
            yield _outcome(measured.kept_in(task))


def _chosen(dataset: Dataset, ids: Sequence[str]) -> tuple[str, ...]:
    dataset.require(ids)
    states = {instance_id: dataset.instance(instance_id).state for instance_id in ids or dataset.ids()}
    if unproved := [instance_id for instance_id in ids if states[instance_id] is TaskState.CANDIDATE]:
        raise InputError(
            f"{unproved[0]} is a candidate: it has no tests that were proved",
            hint="run `goldseam mine` on its repository",
        )
    chosen = tuple(task_id for task_id in dict.fromkeys(ids or states) if ids or states[task_id] is TaskState.PROVED)
    if not chosen:
        raise InputError(f"{dataset.path} has no proved task", hint="mine some with `goldseam mine SOURCE -o DATASET`")
    return chosen


def _outcome(task: Task, *, is_earlier: bool = False) -> TaskStrength:
    evidence = task.hidden.evidence.get(FIELD, {})
    return TaskStrength(
        instance_id=task.instance_id,
        quality=task.instance.quality[FIELD],
        files=tuple(task.hidden.survivors),
        seconds=float(evidence.get("seconds", 0.0)),
        known=is_earlier,
    )


def _save(dataset: Dataset, task: Task, strength: Strength) -> TaskStrength:
    """Write what was found into the task as it is now; what else was written meanwhile stays."""
    with content.locked(dataset):
        now = dataset.task(task.instance_id)
        if now.digest() != task.digest():
            return TaskStrength(instance_id=task.instance_id, unknown="it was changed while it was measured")
        after = strength.kept_in(now)
        _write(dataset, after)
    return _outcome(after)


def _write(dataset: Dataset, task: Task) -> None:
    """Survivors, then the public fields, then the evidence, which says that the rest is there: see `is_current`."""
    folder = dataset.task_folder(task.instance_id)
    if dataset.sealed:
        write_instances(dataset, (task.instance,))
        sealing.reseal(dataset, task.instance_id, task.hidden)
        return
    contents = hidden_files(task.hidden, canary=dataset.canary)
    with files.explained(folder):
        for name in hidden_names(folder):
            if is_survivor(name) and name not in contents:
                (folder / name).unlink()
    for name in task.hidden.survivors:
        files.write_bytes(folder / name, contents[name])
    write_instances(dataset, (task.instance,))
    files.write_bytes(folder / TESTS_FILE, contents[TESTS_FILE])


def weakest_first(strengths: Sequence[TaskStrength]) -> tuple[TaskStrength, ...]:
    """By the share that was killed; those without one, and those that could not be measured, last."""

    def rank(strength: TaskStrength) -> tuple[object, ...]:
        share = strength.quality.get("share")
        coverage = strength.quality.get("covered_lines") or 0
        return (bool(strength.unknown), share is None, share or 0.0, coverage, strength.instance_id)

    return tuple(sorted(strengths, key=rank))


def as_json(strength: TaskStrength) -> dict[str, Any]:
    """One task as `--json` prints it."""
    return {
        "instance_id": strength.instance_id,
        "strength": dict(strength.quality) or None,
        "survivors": list(strength.files),
        "seconds": strength.seconds,
        "known": strength.known,
        "unknown": strength.unknown or None,
    }

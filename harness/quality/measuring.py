"""Put what runs measured of a dataset's tasks into their task.yaml: the work of `holdout difficulty`."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis import scoresheet
from harness.analysis.scoresheet import Scoresheet
from harness.core.errors import InputError
from harness.core.instance import Identity
from harness.dataset import content
from harness.dataset.folder import Dataset, write_instances
from harness.quality.solved import SolveRate, Trial, difficulty_with, measured
from harness.runs.predictions import CONTROLS
from harness.runs.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class Rated:
    """The difficulty of one task, before and after."""

    instance_id: str
    before: str | None
    after: str | None
    measured: SolveRate


@dataclass(frozen=True, kw_only=True)
class Rating:
    """What runs said of a dataset."""

    tasks: tuple[Rated, ...]
    unmeasured: int
    """Tasks that no verdict is about."""
    left_out: Mapping[str, int]
    """Verdicts that do not count, by reason."""


def rate(dataset: Dataset, runs: Sequence[Path], *, write: bool = True) -> Rating:
    """Measure the solve rate of every task and write it down, with which models it stands on.

    A patch that was scored in several runs counts once; gold, null, infrastructure errors and verdicts on another
    state of a task count nowhere. Where the dataset is sealed and not opened, a task's state can't be compared.

    Raises:
        InputError: a run or a task is broken, or no run has a verdict on a task of the dataset.

    """
    trials, left_out = _trials(dataset, runs)
    if not trials:
        text = "; ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
        raise InputError(
            f"no run has a model's verdict on a task of {dataset.path}{f' ({text})' if text else ''}",
            hint="gold and null are not models; score some with `goldseam evaluate DATASET -p PREDICTIONS`",
        )
    with content.locked(dataset):
        rated = tuple(
            _rated(dataset, instance_id, trials_of_task, write=write)
            for instance_id, trials_of_task in sorted(trials.items())
        )
    return Rating(tasks=rated, unmeasured=len(dataset.ids()) - len(rated), left_out=dict(left_out))


def _rated(dataset: Dataset, instance_id: str, trials: Sequence[Trial], *, write: bool) -> Rated:
    result = measured(trials)
    assert result is not None  # noqa: S101 - there is a trial
    instance = dataset.instance(instance_id)
    quality = {**instance.quality, "difficulty": difficulty_with(instance.quality, result)}
    if write and quality != instance.quality:
        write_instances(dataset, (replace(instance, quality=quality),))
    return Rated(instance_id=instance_id, before=_tier(instance.quality), after=_tier(quality), measured=result)


def _tier(quality: Mapping[str, object]) -> str | None:
    difficulty = quality.get("difficulty")
    tier = difficulty.get("tier") if isinstance(difficulty, dict) else difficulty
    return tier if isinstance(tier, str) else None


def _trials(dataset: Dataset, runs: Sequence[Path]) -> tuple[Mapping[str, list[Trial]], Counter[str]]:
    ids = set(dataset.ids())
    digests: dict[str, str | None] = {}
    trials: dict[str, list[Trial]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    trials_seen: set[tuple[str, str, int, str]] = set()
    for run in runs:
        patches = _patches(run)
        for sheet, task_id in _scored(scoresheet.read(run)):
            task = sheet.tasks.get(task_id) or sheet.aside[task_id]
            if task_id not in ids:
                left_out["of tasks that are not here"] += task.scored
                continue
            if task_id not in digests:
                digests[task_id] = _digest(dataset, task_id)
            if task.digest and digests[task_id] and task.digest != digests[task_id]:
                left_out["on another state of their task"] += task.scored
                continue
            for sample in task.samples:
                identity = (sheet.model, task_id, sample.sample)
                key = (*identity, patches.get(identity, str(run)))
                if not sample.scored or key in trials_seen:
                    left_out["scored before" if sample.scored else "without a verdict"] += 1
                    continue
                trials_seen.add(key)
                trials[task_id].append(Trial(model=sheet.model, resolved=sample.resolved))
    return trials, left_out


def _scored(sheets: Sequence[Scoresheet]) -> Iterator[tuple[Scoresheet, str]]:
    for sheet in sheets:
        if sheet.model not in CONTROLS:
            for task_id in sorted({*sheet.tasks, *sheet.aside}):
                yield sheet, task_id


def _patches(run: Path) -> Mapping[Identity, str]:
    """The digest of each patch of a run, so that one scored again is known."""
    return {
        prediction.identity: hashlib.sha256(prediction.patch_bytes()).hexdigest()
        for prediction in RunFolder(path=run).predictions()
    }


def _digest(dataset: Dataset, task_id: str) -> str | None:
    """The task's digest now; None where it is sealed and not opened."""
    if dataset.sealed and dataset.keys is None:
        return None
    return dataset.task(task_id).digest()

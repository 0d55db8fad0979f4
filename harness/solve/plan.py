"""What a campaign is: which samples of which tasks, by which settings, and what of it already exists.

One predictions file is one campaign: its settings are written down once, and the same command goes on where it ended.
Only samples, temperatures, tasks and limits may be other than before; any other setting makes other predictions, and
those belong in another file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core.errors import InputError
from harness.core.instance import Instance, Prediction, TaskState
from harness.dataset.folder import Dataset
from harness.dataset.revealed import statement_with
from harness.dataset.splits import Split
from harness.solve.base import Agent
from harness.solve.models.meter import Spending
from harness.solve.records import Records, State


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a campaign is."""

    model: str
    """As the endpoint knows it."""
    name: str
    """`model_name_or_path` of the predictions."""
    endpoint: str
    """Host and port."""
    base_url: str
    samples: int = 1
    """For each task and temperature."""
    temperatures: tuple[float | None, ...] = (None,)
    top_p: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    """Of the first sample; each further one has the next."""
    prompt: str | None = None
    """The prompt's name; None where the agent has none to choose."""
    prompt_sha256: str | None = None
    oracle: bool = False
    """Each job is told which files the fix changes."""

    def settings(self, dataset: Dataset, agent: Agent) -> dict[str, Any]:
        """What all predictions of one file have in common."""
        return {
            "dataset": dataset.name,
            "canary": dataset.canary,
            "model": self.model,
            "name": self.name,
            "endpoint": self.endpoint,
            "agent": agent.name,
            "agent_version": agent.version,
            **{f"agent_{name}": value for name, value in getattr(agent, "settings", dict)().items()},
            "prompt": self.prompt,
            "prompt_sha256": self.prompt_sha256,
            "top_p": self.top_p,
            "max_output_tokens": self.max_output_tokens,
            "seed": self.seed,
            "oracle_files": self.oracle,
        }


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One sample to be made."""

    instance: Instance
    temperature: float | None
    index: int
    """Which sample of this temperature it is, from 0."""
    number: int
    """Its number among all samples of its task: `sample` of the prediction."""


def digest_of(instance: Instance) -> str:
    """SHA-256 (hex) over what a model may see of a task: a prediction is for that, and for nothing else."""
    statement = statement_with(instance)
    parts = [instance.instance_id, instance.base_commit, instance.image, instance.version, statement]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def of_split(split_asked: str | None, ids: Sequence[str]) -> str | None:
    """The split to work on: the one asked for, every one where that is `all`, else the holdout, or that of ids."""
    return None if split_asked == "all" or (split_asked is None and ids) else split_asked or Split.HOLDOUT.value


def chosen(dataset: Dataset, *, ids: Sequence[str] = (), split: str | None = None) -> tuple[Instance, ...]:
    """The tasks to work on: those named, or all that are proved, of one split perhaps. Hidden files are not read.

    Raises:
        InputError: an unknown id, one that has no image, or nothing is left.

    """
    dataset.require(ids)
    instances = [dataset.instance(task_id) for task_id in (dict.fromkeys(ids) if ids else dataset.ids())]
    if ids:
        if bare := [instance.instance_id for instance in instances if instance.image is None]:
            raise InputError(
                f"{', '.join(bare)}: no image", hint="a candidate is not a task yet; mine it without --no-validate"
            )
        if elsewhere := [instance.instance_id for instance in instances if split not in (None, instance.split)]:
            raise InputError(f"not in split {split!r}: {', '.join(elsewhere)}", hint="leave --split out")
        return tuple(instances)
    instances = [
        instance
        for instance in instances
        if instance.state is TaskState.PROVED and instance.image and split in (None, instance.split)
    ]
    if not instances:
        where = f" in split {split!r}" if split else ""
        raise InputError(f"{dataset.path} has no proved task{where}", hint="see `goldseam holdout stats`")
    return tuple(instances)


def settled(records: Records, plan: Plan, dataset: Dataset, agent: Agent) -> State:
    """The campaign's state, new or as it was left.

    Raises:
        InputError: the file is another campaign's, or none of ours.

    """
    raw = json.loads(json.dumps(plan.settings(dataset, agent)))
    state = records.state()
    predictions = records.predictions()
    if state is None and predictions:
        raise InputError(
            f"{records.path} holds predictions that `goldseam solve` did not write", hint="give another file with -o"
        )
    if state is None or not predictions:  # nothing was made yet: the settings may still change
        return State(settings=raw, spent=state.spent if state else Spending())
    names = [name for name in {**state.settings, **raw} if state.settings.get(name) != raw.get(name)]
    if names:
        text = "; ".join(f"{name} was {state.settings.get(name)!r}, now {raw.get(name)!r}" for name in names)
        raise InputError(
            f"{records.path} was started with other settings: {text}",
            hint="give the same settings to continue, or another file with -o; `evaluate` takes several -p",
        )
    return state


def units(plan: Plan, instances: Iterable[Instance], predictions: Iterable[Prediction]) -> tuple[tuple[Unit, ...], int]:
    """What is still to be made, task by task; and how many of what is wanted are there already.

    Samples that are there keep their numbers; new ones get the next free ones of their task.

    Raises:
        InputError: a task has changed since a prediction was made for it.

    """
    have: dict[str, dict[tuple[float | None, int], Prediction]] = {}
    for prediction in predictions:
        key = (prediction.extra.get("temperature"), int(prediction.extra.get("temperature_sample", 0)))
        have.setdefault(prediction.instance_id, {})[key] = prediction
    left: list[Unit] = []
    earlier = 0
    for instance in instances:
        by_sample = have.get(instance.instance_id, {})
        if any(prediction.extra.get("task_digest") != digest_of(instance) for prediction in by_sample.values()):
            raise InputError(
                f"{instance.instance_id} has changed since predictions were made for it",
                hint="give another file with -o for the new version of the dataset",
            )
        number = max((prediction.sample for prediction in by_sample.values()), default=-1) + 1
        for temperature in plan.temperatures:
            for index in range(plan.samples):
                if (temperature, index) in by_sample:
                    earlier += 1
                    continue
                left.append(Unit(instance=instance, temperature=temperature, index=index, number=number))
                number += 1
    return tuple(left), earlier

"""Splits: which tasks are for developing, which are the holdout. A rule decides by facts that never change.

So a task stays where it is however the dataset grows. `retired` is where tasks go that have left the holdout for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from harness.core.errors import InputError
from harness.core.grouping import grouped
from harness.core.instance import Instance
from harness.core.records import OpenRecord
from harness.core.wording import counted, one_of, place_of
from harness.dataset.folder import DATASET_FILE, Dataset, write_instances, write_settings
from harness.dataset.ledger import ledger


class By(StrEnum):
    """The property of a task that a rule decides by."""

    REPO_HASH = "repo-hash"
    """A hash of the repository's name: all tasks of one repository are in one split."""
    TASK_HASH = "task-hash"
    """A hash of the task's id: a repository may be in both."""
    DATE = "date"
    """When the fix was merged."""
    LIST = "list"
    """The tasks and repositories that are named."""


class Split(StrEnum):
    """Where a task belongs."""

    DEV = "dev"
    """May be shown to anyone: for prompts, agents and examples."""
    HOLDOUT = "holdout"
    """Scores are reported for these."""
    RETIRED = "retired"
    """Was in the holdout, and is not any more."""


def known_split(dataset: Dataset, split: str | None) -> None:
    """See that a split which was asked for is one that tasks are in or may be in, or `all`.

    Raises:
        InputError: it is none.

    """
    if split not in {None, "all", *Split}:
        one_of("--split", str(split), dict.fromkeys((*Split, *(task.split for task in dataset.instances()), "all")))


class Rule(OpenRecord):
    """`splits` of dataset.yaml."""

    by: By
    dev_share: Annotated[float, Field(ge=0, le=1)] = 0.2
    """By hash: about how much of it is for developing."""
    seed: str = ""
    """By hash: another one gives another choice."""
    dev_before: date | None = None
    """By date: what was merged before that day is for developing."""
    dev: tuple[str, ...] = ()
    """By list: ids of tasks, or `owner/name` of repositories."""

    @model_validator(mode="after")
    def _whole(self) -> Rule:
        if self.by is By.DATE and self.dev_before is None:
            raise ValueError("a rule by date needs dev_before")
        return self

    def split(self, instance: Instance) -> Split:
        """Where a task belongs, from its id, repository and date alone."""
        dev = {
            By.REPO_HASH: lambda: position(self.seed, instance.repo.lower()) < self.dev_share,
            By.TASK_HASH: lambda: position(self.seed, instance.instance_id) < self.dev_share,
            By.DATE: lambda: instance.created_at[:10] < str(self.dev_before),
            By.LIST: lambda: instance.instance_id in self.dev or instance.repo in self.dev,
        }[self.by]()
        return Split.DEV if dev else Split.HOLDOUT


def position(seed: str, name: str) -> float:
    """A number from 0 to 1 that a name has for good: the first 8 bytes of SHA-256 over seed and name."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{name}".encode()).digest()[:8], "big") / 2**64


@dataclass(frozen=True, kw_only=True)
class Move:
    """A task that a rule puts elsewhere."""

    instance_id: str
    old: str
    new: Split


def moves(rule: Rule, instances: Iterable[Instance]) -> tuple[Move, ...]:
    """The moves by a rule. Retired tasks stay where they are."""
    moves_found = []
    for instance in instances:
        if Split.RETIRED in (instance.split, instance.state.value):
            continue
        new = rule.split(instance)
        if new != instance.split:
            moves_found.append(Move(instance_id=instance.instance_id, old=instance.split, new=new))
    return tuple(moves_found)


def parse_rule(raw: Mapping[str, Any], *, where: str) -> Rule:
    """A rule as it is written.

    Raises:
        InputError: it is none; every problem is named.

    """
    try:
        return Rule.model_validate(raw)
    except ValidationError as error:
        text = "; ".join(
            f"{place_of(problem) or 'splits'}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise InputError(f"{where}: {text}") from error


def rule_of(dataset: Dataset) -> Rule | None:
    """The rule that a dataset goes by; None where every task is in the holdout.

    Raises:
        InputError: dataset.yaml is broken, or holds something else.

    """
    raw = dataset.description().splits
    return parse_rule(raw, where=f"{dataset.path / DATASET_FILE}: splits") if raw else None


def assign_new(dataset: Dataset) -> tuple[Move, ...]:
    """Give tasks that came since the rule was set the split that it says; others stay where they are.

    A new task stands in the holdout, so only moves out of it are made.

    Raises:
        InputError: a public file is broken or cannot be written.

    """
    rule = rule_of(dataset)
    if rule is None:
        return ()
    moves_made = tuple(move for move in moves(rule, dataset.instances()) if move.old == Split.HOLDOUT)
    if moves_made:
        _make(dataset, moves_made, rule)
    return moves_made


def set_rule(dataset: Dataset, rule: Rule, *, may_return: bool = False, dry_run: bool = False) -> tuple[Move, ...]:
    """Set the rule, and move the tasks that it puts elsewhere. For whoever holds the dataset's lock.

    Raises:
        InputError: a task would come back into the holdout from where it may have been shown, and `may_return` is off.

    """
    moves_made = moves(rule, dataset.instances())
    returning = [move.instance_id for move in moves_made if move.new is Split.HOLDOUT]
    if returning and not may_return:
        examples = ", ".join(returning[:3]) + (", …" if len(returning) > 3 else "")  # noqa: PLR2004 - a few are enough
        raise InputError(
            f"{counted(len(returning), 'task')} would come back into the holdout and may have been shown: {examples}",
            hint="--may-return moves them anyway",
        )
    if dry_run:
        return moves_made
    model = dataset.description()
    written = rule.model_dump(mode="json", exclude_defaults=True)
    if model.splits != written:
        write_settings(dataset, {"splits": written})
    if moves_made:
        _make(dataset, moves_made, rule)
    return moves_made


def _make(dataset: Dataset, moves_made: Iterable[Move], rule: Rule) -> None:
    """The ledger first: what a killed process left undone, the next one finds by the rule and does."""
    by_split = grouped((move.new, move.instance_id) for move in moves_made)
    for split, ids in by_split.items():
        moved = [replace(dataset.instance(task_id), split=split.value) for task_id in ids]
        write_instances(dataset, moved, ledger.Event.SPLIT, to=split.value, by=rule.by.value)


FIELDS: Mapping[By, tuple[str, ...]] = {
    By.REPO_HASH: ("by", "dev_share", "seed"),
    By.TASK_HASH: ("by", "dev_share", "seed"),
    By.DATE: ("by", "dev_before"),
    By.LIST: ("by", "dev"),
}
"""The fields of a rule by what it decides by."""


def refuse_strangers(dataset: Dataset, rule: Rule) -> None:
    """A list may name repositories that are still to be mined, but no task that is not there.

    Raises:
        InputError: it does; all of them are told.

    """
    repos = {instance.repo for instance in dataset.instances()}
    dataset.require(name for name in rule.dev if name not in repos and "/" not in name)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """How a dataset is parted."""

    rule: Rule | None
    tasks: Mapping[str, Mapping[str, int]]
    """By split and repository: how many tasks."""
    moves: tuple[Move, ...]
    version: int


def summary(dataset: Dataset, moved: tuple[Move, ...] = (), *, pending: Rule | None = None) -> Summary:
    """The tasks by split; where a rule is `pending`, as they would be with it."""
    to = {move.instance_id: move.new.value for move in moved} if pending else {}
    counts: dict[str, dict[str, int]] = {}
    for instance in dataset.instances():
        of_split = counts.setdefault(to.get(instance.instance_id, instance.split), {})
        of_split[instance.repo] = of_split.get(instance.repo, 0) + 1
    model = dataset.description()
    return Summary(
        rule=pending or rule_of(dataset), tasks=dict(sorted(counts.items())), moves=moved, version=model.version
    )

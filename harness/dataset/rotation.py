"""`holdout rotate`: retire what the policy says, and name what has to be mined in its place."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from harness.core.errors import InputError
from harness.core.instance import Instance, TaskState
from harness.dataset import content, policy, task_states
from harness.dataset.content import Version
from harness.dataset.folder import DATASET_FILE, Dataset
from harness.dataset.ledger import ledger
from harness.dataset.policy import Policy, exposures, parse_policy, reasons
from harness.dataset.splits import Split


@dataclass(frozen=True, kw_only=True)
class Due:
    """A task that has to leave the holdout."""

    instance_id: str
    repo: str
    why: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The fresh tasks that a mine has to bring."""

    tasks: int
    """So many as were retired, or as are missing to `min_tasks`, whichever is more."""
    changes: int | None
    """About how many changes have to be looked at for that, as the funnel's yield is; None where it says nothing."""
    command: str
    """A command line that mines them; empty where nothing has to be mined."""


@dataclass(frozen=True, kw_only=True)
class Rotation:
    """The result of a rotation, or of its dry run."""

    due: tuple[Due, ...]
    left: int
    """Proved tasks of the holdout that stay."""
    wish: Wish
    version: Version | None
    """None where nothing was written."""
    policy: Policy


def policy_of(dataset: Dataset, settings: Policy) -> Policy:
    """The policy that a dataset goes by: its own, over that of the settings.

    Raises:
        InputError: dataset.yaml is broken, or holds another policy than can be read.

    """
    where = f"{dataset.path / DATASET_FILE}: policy"
    return parse_policy(dataset.description().policy, where=where).over(settings)


def rotate(dataset: Dataset, rules: Policy, *, dry_run: bool = False, today: date | None = None) -> Rotation:
    """Retire every proved task of the holdout that the policy says. Killed half-way, the same call does the rest.

    Raises:
        InputError: the policy has no rule, or the ledger or a public file is broken.

    """
    if not rules:
        raise InputError(
            "there is no policy to rotate by",
            hint="set max_exposures, max_endpoints, max_age or after_cutoffs in [holdout] of goldseam.toml, or in "
            "`policy` of dataset.yaml",
        )
    day = today or datetime.now(tz=UTC).date()
    if dry_run:
        due, left = find(dataset, rules, today=day)
        return Rotation(due=due, left=left, wish=_wish(dataset, due, left, rules), version=None, policy=rules)
    with content.locked(dataset):
        content.settle_locked(dataset)
        due, left = find(dataset, rules, today=day)
        why = {entry.instance_id: "; ".join(entry.why) for entry in due}
        wish = _wish(dataset, due, left, rules)
        version = task_states.retire_all(dataset, why, replacements=wish.tasks)
    return Rotation(due=due, left=left, wish=wish, version=version, policy=rules)


def find(dataset: Dataset, rules: Policy, *, today: date) -> tuple[tuple[Due, ...], int]:
    """The tasks that are due, by id, and how many stay in the holdout."""
    exposure_by_task = exposures(ledger.read(dataset), own=rules.own_endpoints)
    inside = [instance for instance in dataset.instances() if is_inside(instance)]
    due = []
    for instance in inside:
        why = reasons(instance, exposure_by_task.get(instance.instance_id, {}), rules, today=today)
        if why:
            due.append(Due(instance_id=instance.instance_id, repo=instance.repo, why=why))
    return tuple(due), len(inside) - len(due)


def is_inside(instance: Instance) -> bool:
    """Whether a task is proved and in the holdout."""
    return instance.state is TaskState.PROVED and instance.split == Split.HOLDOUT


def _wish(dataset: Dataset, due: Sequence[Due], left: int, rules: Policy) -> Wish:
    tasks = max(len(due), (rules.min_tasks or 0) - left, 0)
    if not tasks:
        return Wish(tasks=0, changes=None, command="")
    share = _yield(dataset.path / "funnel.jsonl")
    instances = list(dataset.instances())
    newest = max((policy.merged_on(instance) for instance in instances), default=None)
    since = (
        max([day for day in (newest, *rules.cutoffs.values()) if day], default=None) if rules.after_cutoffs else newest
    )
    words = ["goldseam", "mine", *_sources(dataset, instances, due)]
    words += ["--since", str(since)] if since else []
    return Wish(
        tasks=tasks,
        changes=math.ceil(tasks / share) if share else None,
        command=shlex.join([*words, "-o", str(dataset.path)]),
    )


def _sources(dataset: Dataset, instances: Sequence[Instance], due: Sequence[Due]) -> list[str]:
    """Where the dataset was mined from, as far as it remembers; else its repositories, those that lose most first."""
    try:
        origins = json.loads((dataset.path / "cursors.json").read_bytes())["origins"]
        if isinstance(origins, dict) and origins:
            return sorted(origins)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    lost, counts = Counter(entry.repo for entry in due), Counter(instance.repo for instance in instances)
    return sorted(counts, key=lambda repo: (-lost[repo], -counts[repo], repo))


def _yield(funnel: Path) -> float | None:
    """Accepted of all changes looked at; None where the funnel does not say."""
    decided: dict[tuple[str, str], bool] = {}
    try:
        lines = funnel.read_bytes().split(b"\n")[:-1]
    except OSError:
        return None
    for line in lines:
        try:
            entry = json.loads(line)
            decided[entry["repo"], entry["change"]] = entry["reason"] == "accepted"
        except (ValueError, KeyError, TypeError):
            continue
    accepted = sum(decided.values())
    return accepted / len(decided) if accepted else None

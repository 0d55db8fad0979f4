"""What the commands of care show, for a person and for a program. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.cli.views.scores import table
from harness.core.wording import counted
from harness.dataset.inventory import Cost, Inventory
from harness.dataset.merge import Merged
from harness.dataset.rotation import Rotation
from harness.dataset.similarity.leak_fingerprints import Kind
from harness.dataset.similarity.leaks import ScanOutcome
from harness.dataset.similarity.near import Twin
from harness.dataset.similarity.scan import Find
from harness.dataset.splits import Summary
from harness.dataset.task_states import Changed

SCHEMA_VERSION = 1
_SHOWN = 100
_WARN = "yellow"


def scan_text(answer: ScanOutcome) -> RenderableType:
    """All that `holdout scan` shows; nothing of what was found is quoted."""
    parts: list[RenderableType] = []
    if answer.finds:
        parts += [_find(find) for find in answer.finds[:_SHOWN]]
        if answer.found > _SHOWN:
            parts.append(Text(f"… and {answer.found - _SHOWN} more (--json has up to 10,000)"))
    else:
        parts.append(Text("nothing of the dataset was found"))
    parts.append(
        Text(f"searched {counted(answer.sources, 'source')}, {answer.bytes / 1e6:.1f} MB, for {_sought(answer)}")
    )
    parts += [Text(f"! {unread.name}: not read to its end: {unread.why}", style=_WARN) for unread in answer.unread]
    return Group(*parts)


def _find(find: Find) -> Text:
    where = Text(f"{find.source}:{find.line}: ", style="bold")
    if find.kind is Kind.CANARY:
        return where + Text("the canary" if find.matched == 1 else f"the canary, {find.matched} times")
    amount = f"{find.share:.0%} ({find.matched} of {find.of} shingles)"
    return where + Text(f"{_FOUND[find.kind]} of {find.task}: {amount}")


_FOUND = {Kind.STATEMENT: "statement", Kind.GOLD: "gold code", Kind.TESTS: "hidden tests"}


def _sought(answer: ScanOutcome) -> str:
    target = "the canary, statements and hidden code" if answer.code else "the canary and statements"
    text = f"{target} of {counted(answer.tasks, 'task')}"
    if not answer.code:
        text += "; hidden code was not looked for, since the dataset is sealed (--identity opens it)"
    if answer.untold:
        counts = ", ".join(counted(count, *_NAMES[kind]) for kind, count in sorted(answer.untold.items()))
        text += f". Too short or too common to be distinguished from other text: {counts}"
    return text


_NAMES = {
    Kind.STATEMENT: ("statement", "statements"),
    Kind.GOLD: ("fix", "fixes"),
    Kind.TESTS: ("test patch", "test patches"),
}


def scan_json(answer: ScanOutcome) -> dict[str, Any]:
    """What `holdout scan --json` prints; docs/holdout.md names its fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "found": answer.found,
        "finds": [{**asdict(find), "share": round(find.share, 4)} for find in answer.finds],
        "sources": answer.sources,
        "bytes": answer.bytes,
        "tasks": answer.tasks,
        "code": answer.code,
        "untold": {kind.value: count for kind, count in sorted(answer.untold.items())},
        "unread": [{"source": unread.name, "why": unread.why} for unread in answer.unread],
    }


def split_text(summary: Summary, *, dry_run: bool) -> RenderableType:
    """All that `holdout split` shows."""
    parts: list[RenderableType] = [
        Text(f"{move.instance_id}: {move.old} → {move.new}") for move in summary.moves[:_SHOWN]
    ]
    if len(summary.moves) > _SHOWN:
        parts.append(Text(f"… and {len(summary.moves) - _SHOWN} more"))
    grid = table("split", "tasks", "repositories")
    for split, repos in summary.tasks.items():
        grid.add_row(split, str(sum(repos.values())), str(len(repos)))
    parts.append(grid)
    rule = summary.rule.model_dump(mode="json", exclude_defaults=True) if summary.rule else None
    sentence = (
        ", ".join(f"{name} {_listed(value)}" for name, value in rule.items()) if rule else "none; every task is holdout"
    )
    parts.append(Text(f"rule: {sentence}" + (" (nothing was written)" if dry_run else f"; version {summary.version}")))
    return Group(*parts)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def split_json(summary: Summary, *, dry_run: bool) -> dict[str, Any]:
    """What `holdout split --json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "dry_run": dry_run,
        "rule": summary.rule.model_dump(mode="json", exclude_defaults=True) if summary.rule else None,
        "version": summary.version,
        "tasks": {split: dict(sorted(repos.items())) for split, repos in summary.tasks.items()},
        "moves": [{"task": move.instance_id, "from": move.old, "to": move.new.value} for move in summary.moves],
    }


def rotation_text(rotation: Rotation) -> RenderableType:
    """All that `holdout rotate` shows."""
    word = "due" if rotation.version is None else "retired"
    parts: list[RenderableType] = [
        Text.assemble((f"{word}: {due.instance_id}", "bold"), f": {'; '.join(due.why)}") for due in rotation.due
    ]
    version = "" if rotation.version is None else f"; version {rotation.version.number}"
    parts.append(Text(f"{counted(len(rotation.due), 'task')} {word}, {rotation.left} stay in the holdout{version}"))
    wish = rotation.wish
    if wish.tasks:
        estimate = f", about {wish.changes} changes at the yield of its funnel" if wish.changes else ""
        parts += [Text(f"to mine: {counted(wish.tasks, 'fresh task')}{estimate}"), Text(f"  {wish.command}")]
    return Group(*parts)


def rotation_json(rotation: Rotation) -> dict[str, Any]:
    """What `holdout rotate --json` prints; docs/holdout.md names its fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "dry_run": rotation.version is None,
        "policy": rotation.policy.model_dump(mode="json", exclude_defaults=True),
        "due": [{"task": due.instance_id, "repo": due.repo, "why": list(due.why)} for due in rotation.due],
        "left": rotation.left,
        "version": None if rotation.version is None else rotation.version.number,
        "mine": {"tasks": rotation.wish.tasks, "changes": rotation.wish.changes, "command": rotation.wish.command},
    }


def changed_text(word: str, change: Changed) -> RenderableType:
    """What `holdout quarantine`, `retire` and `release` show."""
    parts = [Text(f"{word}: {task}") for task in change.tasks]
    parts += [Text(f"was {word} before: {task}", style=_WARN) for task in change.already]
    parts.append(Text(f"version {change.version.number}"))
    return Group(*parts)


def changed_json(word: str, change: Changed) -> dict[str, Any]:
    """The same with `--json`."""
    return {
        "schema_version": SCHEMA_VERSION,
        word: list(change.tasks),
        "already": list(change.already),
        "version": change.version.number,
    }


def inventory_text(inventory: Inventory) -> RenderableType:
    """All that `holdout stats` shows."""
    states = ", ".join(f"{count} {state}" for state, count in inventory.states.items()) or "none"
    sealed = ", sealed" if inventory.sealed else ""
    parts: list[RenderableType] = [
        Text(f"{inventory.name}, version {inventory.version}{sealed}: {counted(inventory.tasks, 'task')}: {states}"),
        Text(),
    ]
    grid = table("proved tasks by", "", "tasks", left=2)
    for name, counts in inventory.proved.items():
        for number, (value, count) in enumerate(counts.items()):
            grid.add_row(name if number == 0 else "", Text(value), str(count))
    parts += [
        grid,
        Text(),
        Text(f"to run them once: {_seconds(inventory.cost)}"),
        Text(f"images: {_bytes(inventory.cost)}"),
    ]
    return Group(*parts)


def _seconds(cost: Cost) -> str:
    most = f"{_hours(cost.budget_seconds)} of tests at most, by their budgets"
    if cost.gold_seconds is None:
        return f"{most}; what they really take is not known"
    suffix = "" if cost.timed == cost.tasks else f" (of {cost.timed} of {cost.tasks} tasks)"
    return f"{_hours(cost.gold_seconds)} of tests with the fix{suffix}; {most}"


def _hours(seconds: float) -> str:
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"  # noqa: PLR2004 - two hours


def _bytes(cost: Cost) -> str:
    if cost.bytes is None:
        return "how much disk they take is not known (--images asks the engine)"
    how = "as the engine says" if cost.asked_engine else "as recorded by mining, without the base image"
    few = "" if cost.sized >= cost.tasks else f", for {cost.sized} of {cost.tasks}"
    return f"{cost.bytes / 1e9:.2f} GB of disk, shared layers once ({how}{few})"


def inventory_json(inventory: Inventory) -> dict[str, Any]:
    """What `holdout stats --json` prints; docs/holdout.md names its fields."""
    return {"schema_version": SCHEMA_VERSION, **asdict(inventory)}


def merged_text(merge: Merged) -> RenderableType:
    """All that `holdout merge` shows."""
    parts = [
        Text(f"{part.name}, version {part.version}: {counted(len(part.tasks), 'task')}" + _and_same(part.same))
        for part in merge.parts
    ]
    parts += [Text(f"! {note}", style=_WARN) for note in merge.notes]
    parts.append(Text(f"dataset: {merge.path}, {counted(sum(len(part.tasks) for part in merge.parts), 'task')}"))
    return Group(*parts)


def _and_same(task_ids: tuple[str, ...]) -> str:
    return f", and {len(task_ids)} that an earlier one has too" if task_ids else ""


def merged_json(merge: Merged) -> dict[str, Any]:
    """What `holdout merge --json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset": str(merge.path),
        "parts": [asdict(part) for part in merge.parts],
        "sealed_to": list(merge.sealed_to),
        "notes": list(merge.notes),
    }


def twins_text(twins: Sequence[Twin], double: Mapping[str, str], *, retired: bool) -> RenderableType:
    """All that `holdout dedupe` shows."""
    if not twins:
        return Text("no fix has two tasks")
    word = "retired" if retired else "would be retired"
    parts = [Text.assemble((f"{twin.first} and {twin.second}", "bold"), f": {twin.why}") for twin in twins]
    parts += [Text(f"{word}: {task}, since {older} was merged first") for task, older in double.items()]
    return Group(*parts)


def twins_json(twins: Sequence[Twin], double: Mapping[str, str], *, retired: bool) -> dict[str, Any]:
    """What `holdout dedupe --json` prints."""
    return {
        "schema_version": SCHEMA_VERSION,
        "twins": [asdict(twin) for twin in twins],
        "too_many": dict(double),
        "retired": retired,
    }

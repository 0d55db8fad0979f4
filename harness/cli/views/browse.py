"""Tasks of a dataset as a table, and one task whole. Prints nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from harness.cli.views import terminal
from harness.cli.views.scores import UNKNOWN, table
from harness.core.instance import Hidden, Instance, Task
from harness.core.json_text import mapping
from harness.core.printable import visible
from harness.core.wording import counted, first_of
from harness.dataset.ledger import ledger
from harness.dataset.ledger.chain import Verification
from harness.dataset.ledger.ledger import Entry
from harness.judging.places import CARD, place_of_test, read_card

SCHEMA_VERSION = 1
_LEAST_TITLE = 16
_TITLE = 60
_SPARED = ("strength", "bits", "split", "difficulty", "judged")
"""Columns of a list that give way to whole ids of tasks, in this order; --json has them all."""
_TESTS = 40
"""Tests of a list that are shown; --json has all."""
_TASKS_SHOWN = 2
_NOT_SHOWN = frozenset({"canary", "files", "bound", "settings", "to", "complete"})
"""Facts for programs: long, and saying nothing to a person."""


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    """The public figures of a task."""

    instance_id: str
    repo: str
    title: str
    state: str
    split: str
    judged: str | None
    """Where: host, mixed or inside; None where nothing tells."""
    bits: float | None
    """How hard its expected values are to guess."""
    strength: float | None
    """Share of wrong patches that its hidden tests reject."""
    difficulty: str | None
    created_at: str
    statement: str


def row_of(instance: Instance) -> TaskRow:
    """A task's row."""
    card, bits = read_card(instance.quality), _figure(instance, CARD, "bits")
    share, tier = _figure(instance, "strength", "share"), _figure(instance, "difficulty", "tier")
    return TaskRow(
        instance_id=instance.instance_id,
        repo=instance.repo,
        title=title_of(instance.problem_statement),
        state=instance.state.value,
        split=instance.split,
        judged=card.place.value if card.place else None,
        bits=float(bits) if isinstance(bits, int | float) else None,
        strength=float(share) if isinstance(share, int | float) else None,
        difficulty=str(tier) if tier else None,
        created_at=instance.created_at,
        statement=instance.problem_statement,
    )


def title_of(statement: str) -> str:
    """The first line of a statement that says something, without Markdown's signs."""
    lines = (line.strip().lstrip("#").strip() for line in statement.splitlines())
    return next((line for line in lines if line), "")


def _figure(instance: Instance, part: str, name: str) -> Any:
    return mapping(instance.quality.get(part)).get(name)


def rows_table(rows: Sequence[TaskRow], width: int) -> Table:
    """All that `holdout ls` shows; titles take what room is left of `width` columns. What `width` can't hold is left out."""
    columns = {
        "task": [row.instance_id for row in rows],
        "state": [row.state for row in rows],
        "split": [row.split for row in rows],
        "judged": [row.judged or UNKNOWN for row in rows],
        "bits": [UNKNOWN if row.bits is None else str(int(row.bits)) for row in rows],  # under 8 is not told as 8
        "strength": [UNKNOWN if row.strength is None else f"{row.strength:.0%}" for row in rows],
        "difficulty": [row.difficulty or UNKNOWN for row in rows],
    }
    widths = {heading: 2 + max(map(len, (heading, *cells))) for heading, cells in columns.items()}
    for heading in _SPARED:
        if sum(widths.values()) > width + 2:  # nothing follows the last column
            del columns[heading], widths[heading]
    room = width - sum(widths.values())
    if room >= _LEAST_TITLE:
        columns["title"] = [visible(row.title, limit=min(room, _TITLE)) for row in rows]
    grid = table(*columns, left=sum(heading in columns for heading in ("task", "state", "split", "judged")))
    for column in grid.columns:
        column.no_wrap = column.header != "task"
        column.justify = "left" if column.header == "title" else column.justify
    for words in zip(*columns.values(), strict=True):
        grid.add_row(*map(Text, words))
    return grid


def rows_json(rows: Sequence[TaskRow]) -> dict[str, Any]:
    """What `holdout ls --json` prints; docs/holdout.md names its fields."""
    tasks = [{name: value for name, value in asdict(row).items() if name != "statement"} for row in rows]
    return {"schema_version": SCHEMA_VERSION, "tasks": tasks}


@dataclass(frozen=True, kw_only=True)
class TaskView:
    """One task, with as much of it as is open."""

    instance: Instance
    hidden: Hidden | None
    history: tuple[Entry, ...]
    folder: Path
    closed: str | None
    """Why the hidden side is not shown."""

    def as_json(self) -> dict[str, Any]:
        """What `holdout show --json` prints; docs/holdout.md names its fields."""
        instance, hidden = self.instance, self.hidden
        row = {name: value for name, value in asdict(row_of(instance)).items() if name != "statement"}
        return {
            "schema_version": SCHEMA_VERSION,
            **row,
            "problem_statement": instance.problem_statement,
            "base_commit": instance.base_commit,
            "language": instance.language,
            "version": instance.version,
            "image": instance.image,
            "quality": dict(instance.quality),
            "hidden": None
            if hidden is None
            else {
                "FAIL_TO_PASS": list(hidden.fail_to_pass),
                "PASS_TO_PASS": list(hidden.pass_to_pass),
                "flaky": list(hidden.flaky),
                "gold_patch": _text(hidden.gold_patch),
                "test_patch": _text(hidden.test_patch),
            },
            "closed": self.closed,
            "history": [ledger.as_json(entry) for entry in self.history],
        }


def render(card: TaskView) -> RenderableType:
    """All that `holdout show` shows."""
    instance, hidden = card.instance, card.hidden
    parts: list[RenderableType] = [Text(instance.instance_id, style="bold"), _facts(card), Text()]
    parts += [_head("statement"), Text(instance.problem_statement.rstrip()), Text()]
    if hidden is None:
        parts += [_head("hidden side"), Text(card.closed or "", style="yellow"), Text()]
    else:
        task = Task(instance=instance, hidden=hidden)
        parts += _tests("FAIL_TO_PASS", hidden.fail_to_pass, task)
        parts += _tests("PASS_TO_PASS", hidden.pass_to_pass, task)
        for name, patch in (("gold patch", hidden.gold_patch), ("test patch", hidden.test_patch)):
            parts += [_head(name), _patch(_text(patch)), Text()]
    parts += [_head("quality"), _quality(instance.quality), Text()]
    parts += [_head("history"), log_table(card.history) if card.history else Text("nothing in the ledger")]
    return Group(*parts)


def _facts(card: TaskView) -> Table:
    instance, row = card.instance, row_of(card.instance)
    grid = table("", "", left=2)
    grid.show_header = False
    facts = {
        "repository": f"{instance.repo} at {instance.base_commit[:12]}, fixed {instance.created_at[:10]}",
        "state": f"{row.state}, split {row.split}",
        "judged": row.judged or "unknown",
        "runs on": f"{instance.language} {instance.version}, {instance.test.framework}",
        "image": instance.image or "none: not built yet",
        "folder": str(card.folder),
    }
    for name, text in facts.items():
        grid.add_row(Text(name, style="bright_black"), Text(text))
    return grid


def _head(name: str) -> Rule:
    return Rule(name, align="left", style="bright_black")


def _tests(name: str, tests: Sequence[str], task: Task) -> list[RenderableType]:
    lines: list[RenderableType] = [
        Text.assemble((f"{place_of_test(task, test).value:<7}", "bright_black"), test) for test in tests[:_TESTS]
    ]
    if len(tests) > _TESTS:
        lines.append(Text(f"… and {len(tests) - _TESTS} more (--json has all)", style="bright_black"))
    return [_head(f"{name} ({len(tests)})"), *lines, Text()]


def _patch(patch: str) -> Text:
    text = Text()
    for line in patch.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        text.append(f"{line}\n", style="bold" if line.startswith(("diff ", "+++", "---")) else style)
    text.rstrip()
    return text


def _quality(quality: Mapping[str, Any]) -> Table:
    grid = table("", "", left=2)
    grid.show_header = False
    for name, value in quality.items():
        fields = value.items() if isinstance(value, dict) else [("", value)]
        plain_fields = {key: field for key, field in fields if not (field is None or isinstance(field, dict | list))}
        flat = ", ".join(f"{key} {_word(field)}".strip() for key, field in plain_fields.items())
        grid.add_row(Text(name, style="bright_black"), Text(flat))
    return grid


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _text(patch: bytes) -> str:
    return patch.decode("utf-8", "replace")


def log_table(entries: Sequence[Entry]) -> Table:
    """The ledger's entries, one a row."""
    table = Table(box=None, pad_edge=False)
    for name in ("#", "at", "who", "event", "what"):
        table.add_column(name, overflow="fold", no_wrap=name in {"#", "at", "event"})
    for entry in entries:
        facts = (f"{name} {_plain(value)}" for name, value in entry.facts.items() if name not in _NOT_SHOWN)
        text = "; ".join(part for part in (first_of(entry.tasks, _TASKS_SHOWN), ", ".join(facts)) if part)
        table.add_row(*(Text(cell) for cell in (str(entry.seq), entry.at, entry.who, entry.event, text)))
    return table


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(element) for element in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(element)}" for name, element in value.items())
    return str(value)


def show_verification(verification: Verification) -> None:
    """Problems, notes, and the head to keep elsewhere."""
    console = terminal.results()
    for problem in verification.problems:
        where = f"line {problem.line}: " if problem.line else ""
        console.print(Text(where, style="bold") + Text(problem.text), soft_wrap=True)
    for note in verification.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    unsigned = len(verification.unsigned)
    signed = "all signed" if verification.entries and not unsigned else f"{unsigned} unsigned"
    console.print(
        f"{counted(verification.entries, 'line')}, {signed}, {counted(len(verification.problems), 'problem')}"
    )
    if unsigned and unsigned < verification.entries:
        lines = ", ".join(str(number) for number in verification.unsigned[:20])
        console.print(Text(f"unsigned: line {lines}{' …' if len(verification.unsigned) > 20 else ''}"))  # noqa: PLR2004
    if verification.head:
        console.print(Text(f"head: {verification.head}"), soft_wrap=True)
        console.print(Text("keep the head elsewhere: --head finds a cut end with it", style="bright_black"))

"""How the ledger and the seal look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from harness.cli.views import terminal
from harness.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.dataset.ledger.chain import Verification
    from harness.dataset.ledger.ledger import Entry

_TASKS_SHOWN = 2
_NOT_SHOWN = frozenset({"canary", "files", "bound", "settings", "to", "complete"})
"""Facts for programs: long, and saying nothing to a person."""


def log_table(entries: Sequence[Entry]) -> Table:
    """The ledger's entries, one a row."""
    table = Table(box=None, pad_edge=False)
    for name in ("#", "at", "who", "event", "what"):
        table.add_column(name, overflow="fold", no_wrap=name in {"#", "at", "event"})
    for entry in entries:
        facts = (f"{name} {_plain(value)}" for name, value in entry.facts.items() if name not in _NOT_SHOWN)
        text = "; ".join(part for part in (_tasks(entry.tasks), ", ".join(facts)) if part)
        table.add_row(*(Text(cell) for cell in (str(entry.seq), entry.at, entry.who, entry.event, text)))
    return table


def _tasks(tasks: Sequence[str]) -> str:
    text = ", ".join(tasks[:_TASKS_SHOWN])
    return f"{text} and {len(tasks) - _TASKS_SHOWN} more" if len(tasks) > _TASKS_SHOWN else text


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(element) for element in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(element)}" for name, element in value.items())
    return str(value)


def show_verification(found: Verification) -> None:
    """Problems, notes, and the head to keep elsewhere."""
    console = terminal.results()
    for problem in found.problems:
        where = f"line {problem.line}: " if problem.line else ""
        console.print(Text(where, style="bold") + Text(problem.text), soft_wrap=True)
    for note in found.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    unsigned = len(found.unsigned)
    signed = "all signed" if found.entries and not unsigned else f"{unsigned} unsigned"
    console.print(Text(f"{counted(found.entries, 'line')}, {signed}, {counted(len(found.problems), 'problem')}"))
    if unsigned and unsigned < found.entries:
        lines = ", ".join(str(number) for number in found.unsigned[:20])
        console.print(Text(f"unsigned: line {lines}{' …' if len(found.unsigned) > 20 else ''}"))  # noqa: PLR2004
    if found.head:
        console.print(Text(f"head: {found.head}"), soft_wrap=True)
        console.print(Text("keep the head elsewhere: --head finds a cut end with it", style="bright_black"))

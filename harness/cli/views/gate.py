"""A decision for the terminal and as JSON. Builds what is shown; `cli/decide.py` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.analysis.gate.decision import Change, Decision, GateVerdict, Ruling, Side
from harness.cli.views.terminal import table_of
from harness.core.printable import visible
from harness.core.wording import first_of, span

_STYLES = {Ruling.KEPT: "green", Ruling.BROKEN: "bold red", Ruling.UNKNOWN: "yellow"}
_VERDICTS = {
    GateVerdict.PASS: "bold green",
    GateVerdict.REGRESSION: "bold red",
    GateVerdict.INCONCLUSIVE: "bold yellow",
}
_SHOWN = 10


def render(decision: Decision) -> Group:
    """Both sides, a line per rule, why, what was lost, and the answer in one sentence."""
    return Group(*_parts(decision))


def _parts(decision: Decision) -> Iterator[RenderableType]:
    yield _sides(decision)
    yield Text()
    yield _rules(decision)
    whys = [line for line in decision.rules if line.sentence]
    if whys:
        yield Text()
    for line in whys:
        name = Text(f"{visible(line.name)}: ", style="" if line.ruling is Ruling.KEPT else _STYLES[line.ruling])
        yield name + Text(visible(line.sentence, limit=1000))
    yield from _changes(decision)
    for note in decision.notes:
        yield Text(f"note: {visible(note)}", style="bright_black")
    yield Text()
    answer = Text(decision.verdict.value.upper(), style=_VERDICTS[decision.verdict])
    yield answer + Text(f"  {visible(decision.sentence, limit=1000)}", style="default not bold")


def _sides(decision: Decision) -> Table:
    names = (Column(heading, overflow="fold") for heading in ("model", "run"))
    headings = ("resolved", "95%", "coverage", "cost")
    table = table_of("", *names, *(Column(heading, justify="right", no_wrap=True) for heading in headings))
    for name, side in (("candidate", decision.candidate), ("baseline", decision.baseline)):
        if side:
            table.add_row(name, *_side(side))
    return table


def _side(side: Side) -> list[Text]:
    share = "–" if side.share is None else f"{side.share:.1%} of {side.tasks}"
    interval = span(side.interval.low, side.interval.high) if side.interval else "–"
    cost = "unknown" if side.cost is None else f"${side.cost:.2f}"
    cells = [visible(side.model), visible(side.run), share, interval, f"{side.coverage:.0%}", cost]
    return [Text(cell) for cell in cells]


def _rules(decision: Decision) -> Table:
    headings = (Column(heading, overflow="fold") for heading in ("rule", "required", "found"))
    table = table_of(*headings, Column(no_wrap=True))
    for line in decision.rules:
        cells = [Text(visible(text)) for text in (line.name, line.required, line.found)]
        table.add_row(*cells, Text(line.ruling.value, style=_STYLES[line.ruling]))
    return table


def _changes(decision: Decision) -> Iterator[Text]:
    changed = [(word, decision.of(change)) for word, change in (("lost", Change.LOST), ("won", Change.WON))]
    if any(lines for _, lines in changed):
        yield Text()
    for word, lines in changed:
        if lines:
            text = first_of([visible(line.instance_id) for line in lines], _SHOWN)
            yield Text(f"{word} {len(lines)}: ", style="red" if word == "lost" else "green") + Text(text)


def as_json(decision: Decision) -> dict[str, Any]:
    """Everything that the decision rests on; no hidden test id, patch or output is among it."""
    return {"schema_version": 1, **asdict(decision)}

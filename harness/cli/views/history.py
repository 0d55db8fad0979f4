"""The trend of runs for the terminal and as JSON. Builds what is shown; `cli/decide.py` prints it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.analysis.history import History, Point, Step, Trend
from harness.cli.views.terminal import table_of
from harness.core.printable import visible
from harness.stats import Interval

_BLOCKS = "▁▂▃▄▅▆▇█"
_NARROW, _WIDE = 20, 41


def render(history: History, *, width: int) -> Group:
    """Each model's runs by date with their intervals, the steps between them, and a sentence."""
    return Group(*_parts(history, bar=_WIDE if width >= 110 else _NARROW))  # noqa: PLR2004 - columns of a terminal


def _parts(history: History, *, bar: int) -> Iterator[RenderableType]:
    for number, trend in enumerate(history.trends):
        if number:
            yield Text()
        yield Text.assemble((visible(trend.model), "bold"), "  ", (sparkline(trend), "cyan"))
        yield _table(trend, bar)
        for step in trend.steps:
            yield _step_line(step)
            causes = [f"  changed there: {visible(cause)}" for cause in step.causes]
            yield from (Text(line) for line in causes or ["  nothing recorded changed there but the model's patches"])
        yield Text(visible(trend.sentence, limit=1000), style="bold" if trend.steps else "")
    for line in history.left_out:
        yield Text(f"left out: {visible(line)}", style="yellow")


def sparkline(trend: Trend) -> str:
    """The shares as blocks, from 0 to 1; a dot where a run has none."""
    return "".join(
        "·" if point.share is None else _BLOCKS[min(len(_BLOCKS) - 1, int(point.share * len(_BLOCKS)))]
        for point in trend.points
    )


def _table(trend: Trend, bar: int) -> Table:
    resolved, tasks, coverage = (
        Column(heading, justify="right", no_wrap=True) for heading in ("resolved", "tasks", "coverage")
    )
    scale = Column(f"0%{'100%':>{bar - 2}}", no_wrap=True)
    run = Column("run", overflow="fold")
    table = table_of(Column("date", no_wrap=True), run, resolved, scale, tasks, coverage)
    steps = {step.after: step for step in trend.steps}
    dates = [point.started_at[:10] for point in trend.points]
    length = 10 if len(set(dates)) == len(dates) else 16
    for index, point in enumerate(trend.points):
        if index in steps:
            table.add_row("", Text(_arrow(steps[index]), style=_style(steps[index])))
        table.add_row(*_row(point, bar, length))
    return table


def _row(point: Point, bar: int, length: int) -> list[Text]:
    share = "–" if point.share is None else f"{point.share:.1%}"
    cells = [visible(point.started_at[:length].replace("T", " ")), visible(point.run), share]
    drawn = Text("") if point.share is None else whisker(point.share, point.interval, bar)
    return [*(Text(cell) for cell in cells), drawn, Text(str(point.tasks)), Text(f"{point.coverage:.0%}")]


def whisker(share: float, interval: Interval | None, width: int) -> Text:
    """A share and its interval on a line from 0 to 1, `width` characters long."""
    at = [" "] * width
    last = width - 1
    if interval:
        low, high = round(interval.low * last), round(interval.high * last)
        at[low : high + 1] = "─" * (high + 1 - low)
    at[round(share * last)] = "●"
    return Text("".join(at), style="cyan")


def _arrow(step: Step) -> str:
    return f"{'▲' if step.difference > 0 else '▼'} {100 * step.difference:+.1f} points"


def _style(step: Step) -> str:
    return "bold green" if step.difference > 0 else "bold red"


def _step_line(step: Step) -> Text:
    between = f"{100 * step.interval.low:+.1f} to {100 * step.interval.high:+.1f}"
    p = "< 0.001" if step.p < 0.001 else f"{step.p:.3f}"  # noqa: PLR2004
    line = Text(f"{_arrow(step)} at {visible(step.run)} ({step.date[:10]})", style=_style(step))
    return line + Text(f": 95% {between} on {step.tasks} common tasks, p {p}", style="default not bold")


def as_json(history: History) -> dict[str, Any]:
    """The history as one JSON document."""
    return {"schema_version": 1, **asdict(history)}

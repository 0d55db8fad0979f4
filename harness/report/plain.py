"""The report for a terminal: builds a display, which the command prints. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.core.instance import Outcome
from harness.core.printable import one_line
from harness.core.wording import counted, percent, span
from harness.report import figures
from harness.report.answers import Answers
from harness.report.data import ReportData
from harness.report.matrix import MIXED, NONE, PENDING, Row, rows
from harness.report.words import OUTCOMES, dollars, duel
from harness.stats import Interval

TASKS_SHOWN = 20
_CLASSES_SHOWN = 12
_GROUPS_SHOWN = 6
_BAR = 24
_MARKS = {
    Outcome.RESOLVED.value: ("✓", "green"),
    Outcome.UNRESOLVED.value: ("✗", "red"),
    Outcome.EMPTY_PATCH.value: ("o", "yellow"),
    Outcome.APPLY_FAILED.value: ("/", "yellow"),
    Outcome.TAMPERED.value: ("!", "magenta"),
    Outcome.NEEDS_REVIEW.value: ("~", "bright_magenta"),
    Outcome.INFRA_ERROR.value: ("?", "bright_black"),
    PENDING: ("…", "bright_black"),
    MIXED: ("~", "yellow"),
    NONE: ("-", "bright_black"),
}
_WORDS = {
    **{outcome.value: word for outcome, word in OUTCOMES.items()},
    PENDING: "not scored yet",
    MIXED: "samples differ",
}
_IN_ASCII = str.maketrans("✓✗…·–−●─’→", "+x..--*='>")
_VERDICTS = {"pass": "green", "regression": "red", "inconclusive": "yellow"}


def display(report_data: ReportData, answers: Answers, *, width: int = 80) -> RenderableType:
    """Everything that the first screen of the page says, and the matrix where it is telling."""
    parts: list[RenderableType] = [Text(one_line(answers.headline), style="bold"), Text("")]
    parts.append(_answers(answers))
    if report_data.models:
        parts += [Text(""), _models(report_data, answers, wide=width >= 110)]  # noqa: PLR2004 - room for bars
    for section in (_classes(report_data), _cohorts(report_data), _matrix(report_data)):
        parts += [Text(""), *section] if section else []
    if answers.look:
        parts += [Text(""), Text("look first at", style="bold")]
        parts += [Text(f"  {one_line(notice.text)}") for notice in answers.look]
    if answers.notes:
        parts += [Text(""), Text("before trusting this", style="bold")]
        parts += [_hanging(note) for note in answers.notes]
    return Group(*parts)


def encodable(text: str, encoding: str) -> str:
    """A text that a terminal of this encoding can show; our own signs become letters, whatever else it lacks `?`."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_IN_ASCII).encode(encoding, "replace").decode(encoding)
    return text


def _answers(answers: Answers) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("how sure", _lines(answers.sure))
    grid.add_row("fails", _lines(answers.fails or ("not known yet",)))
    ship = Text(one_line(answers.ship.sentence), style=_VERDICTS.get(answers.ship.verdict, ""))
    grid.add_row("ship?", Text("\n").join([ship, *(Text(one_line(line)) for line in answers.ship.lines)]))
    return grid


def _lines(sentences: Iterable[str]) -> Text:
    return Text("\n".join(one_line(sentence) for sentence in sentences))


def _hanging(note: str) -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row("  -", Text(one_line(note), overflow="fold"))
    return grid


def _table(*headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right", overflow="fold")
    return table


def _models(report_data: ReportData, answers: Answers, *, wide: bool) -> Table:
    models = report_data.ordered()
    letters = report_data.letters()
    duels = {duel.other: duel.comparison for duel in answers.duels}
    costs = any(model.sheet.cost_usd.known for model in models)
    extra = (*(["cost each"] if costs else []), *(["against the best"] if duels else []))
    table = _table("", "model", "rate", "95%", *([""] if wide else []), "resolved", "cover", *extra)
    table.columns[1].justify = "left"
    if duels:
        table.columns[-1].justify = "left"
    for model in models:
        bounds = model.interval
        table.add_row(
            letters[model.column],
            Text(one_line(model.label) + (" (control)" if model.control else "")),
            percent(model.rate),
            span(bounds.low, bounds.high) if bounds else "–",
            *([_bar(model.rate, bounds)] if wide else []),
            f"{model.resolved}/{model.scored}",
            percent(model.coverage),
            *([dollars(model.sheet.cost_usd.mean)] if costs else []),
            *([duel(duels[model.column]) if model.column in duels else ""] if duels else []),
            style="bright_black" if model.control else "",
        )
    return table


def _bar(rate: float | None, bounds: Interval | None) -> Text:
    """The interval on a scale from 0 to 100%."""
    if rate is None or bounds is None:
        return Text("")
    first, last, at = (round(value * (_BAR - 1)) for value in (bounds.low, bounds.high, rate))
    marks = ["·" if number < first or number > last else "─" for number in range(_BAR)]
    marks[at] = "●"
    return Text("".join(marks))


def _classes(report_data: ReportData) -> list[RenderableType]:
    classes = figures.failure_classes(report_data)
    models = [
        model for model in report_data.competitors() if any(model.column in counts for counts in classes.values())
    ]
    if not models:
        return []
    letters = report_data.letters()
    by_class = {name: counts for name, counts in classes.items() if any(model.column in counts for model in models)}
    table = _table("failure class", *(letters[model.column] for model in models))
    for name, counts in list(by_class.items())[:_CLASSES_SHOWN]:
        numbers = [counts.get(model.column, 0) for model in models]
        table.add_row(Text(one_line(name.replace("_", " "))), *(str(number or "·") for number in numbers))
    others = len(by_class) - _CLASSES_SHOWN
    return [table, Text(f"  and {others} rarer classes", style="bright_black")] if others > 0 else [table]


def _cohorts(report_data: ReportData) -> list[RenderableType]:
    """Rates by group, for each dimension that has more than one."""
    models = report_data.competitors()
    letters = report_data.letters()
    parts: list[RenderableType] = []
    for breakdown in figures.breakdowns(models):
        if len(breakdown.groups) < 2:  # noqa: PLR2004 - one group is everything
            continue
        table = _table(f"by {breakdown.name}", "tasks", *(letters[model.column] for model in models))
        for group in breakdown.groups[:_GROUPS_SHOWN]:
            rates = [group.sheets[m.column].rate.value if m.column in group.sheets else None for m in models]
            table.add_row(Text(one_line(group.name)), str(group.tasks), *(percent(rate) for rate in rates))
        parts += [Text("")] * bool(parts) + [table]
        if len(breakdown.groups) > _GROUPS_SHOWN:
            parts.append(Text(f"  and {len(breakdown.groups) - _GROUPS_SHOWN} smaller groups", style="bright_black"))
    return parts


def _matrix(report_data: ReportData) -> list[RenderableType]:
    """The tasks on which models differ, and those that nobody resolved: the others are only counted."""
    models = report_data.competitors()
    columns = [model.column for model in models]
    letters = report_data.letters()
    every = rows(report_data)
    if not every:
        return []
    telling = [row for row in every if 0 < row.resolved < len(models)] if len(models) > 1 else []
    nobody = [row for row in every if not row.resolved and any(cell.kind != NONE for cell in row.cells)]
    all_of_them = len(every) - len(telling) - len(nobody)
    tasks = counted(len(every), "task")
    count = f"{tasks}: {all_of_them} resolved by all, {len(telling)} by some, {len(nobody)} by none"
    if len(models) == 1:
        count = f"{tasks}: {all_of_them} resolved, {len(nobody)} not"
    table = _table("", *(letters[column] for column in columns), "")
    table.columns[0].no_wrap = True
    table.columns[-1].justify = "left"
    rows_shown = [*telling, *nobody][:TASKS_SHOWN]
    for row in rows_shown:
        table.add_row(Text(row.task.instance_id), *(_mark(row, column) for column in columns), _title(row))
    parts: list[RenderableType] = [Text(count, style="bold")]
    if rows_shown:
        parts += [table, Text(_legend(rows_shown, columns), style="bright_black")]
    if len(telling) + len(nobody) > len(rows_shown):
        unshown = len(telling) + len(nobody) - len(rows_shown)
        parts.append(
            Text(f"and {counted(unshown, 'task')} more: `goldseam report … -o report.html` shows all", "bright_black")
        )
    return parts


def _mark(row: Row, column: int) -> Text:
    cell = next(cell for cell in row.cells if cell.column == column)
    sign, style = _MARKS[cell.kind]
    return Text(sign, style=style)


def _title(row: Row) -> Text:
    return Text(one_line(row.task.title), style="bright_black", no_wrap=True, overflow="ellipsis")


def _legend(rows_shown: Sequence[Row], columns: Sequence[int]) -> str:
    kinds = {cell.kind for row in rows_shown for cell in row.cells if cell.column in columns}
    return "  ".join(
        f"{sign} {_WORDS.get(kind, 'no prediction')}" for kind, (sign, _) in _MARKS.items() if kind in kinds
    )

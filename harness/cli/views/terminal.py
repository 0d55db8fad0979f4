"""What a person sees: a live display on a terminal, plain lines elsewhere. Builds displays; commands print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from harness.analysis.scoresheet import Scoresheet
from harness.cli.shell.output import CHOICE
from harness.cli.views.progress import Ticker as Ticker  # noqa: PLC0414 - part of this module's face
from harness.core import printable
from harness.core.instance import Outcome, Prediction
from harness.runs.run_folder import InstanceReport, Score

if TYPE_CHECKING:
    from harness.runs.regrade import Regraded

STYLES = {
    Outcome.RESOLVED: "green",
    Outcome.UNRESOLVED: "red",
    Outcome.EMPTY_PATCH: "yellow",
    Outcome.APPLY_FAILED: "yellow",
    Outcome.TAMPERED: "magenta",
    Outcome.NEEDS_REVIEW: "bright_magenta",
    Outcome.INFRA_ERROR: "bright_black",
}


class _Console(Console):
    """Prints text as it is, whoever wrote it: none of it is markup, acts on a terminal or commands a CI system."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False) -> None:
        super().__init__(
            stderr=stderr,
            soft_wrap=soft_wrap,
            highlight=False,
            markup=False,
            emoji=False,
            no_color=None if CHOICE.color else True,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, str):
            renderable = self.render_str(renderable)
        if isinstance(renderable, Text):
            renderable = _neutral(renderable)
        return _without_commands(list(super().render(renderable, options)))


def _neutral(text: Text) -> Text:
    plain = text.plain
    if not (odd := [match.start() for match in printable.INVISIBLE.finditer(plain)]):
        return text
    parts = text.divide(sorted({at for start in odd for at in (start, start + 1)}))
    replaced = (
        Text(printable.neutral(part.plain)) if printable.INVISIBLE.match(part.plain) else part for part in parts
    )
    joined = text.blank_copy()
    for part in replaced:
        joined.append_text(part)
    return joined


def _without_commands(segments: Sequence[Segment]) -> Iterable[Segment]:
    visible = [segment for segment in segments if not segment.control]
    places = iter(printable.commands("".join(segment.text for segment in visible)))
    place, at = next(places, None), 0
    for segment in segments:
        text, position = segment.text, 0
        while not segment.control and place is not None and place - at <= len(text):
            yield Segment(text[position : place - at] + " ", segment.style)
            position, place = place - at, next(places, None)
        yield segment if not position else Segment(text[position:], segment.style)
        at += 0 if segment.control else len(text)


def messages() -> Console:
    """For progress and errors: standard error, so that standard output holds results only."""
    return _Console(stderr=True, soft_wrap=True)


def results() -> Console:
    """For results: standard output."""
    return _Console()


def next_step(command: str) -> None:
    """Name the command that comes next, on standard error; nothing with `--quiet`."""
    if not CHOICE.quiet:
        messages().print(Text.assemble(("next: ", "bold"), command))


class WorkTicker:
    """Progress of work on so many items, of which some were done before; what observers of such work begin with."""

    def __init__(self, ticker: Ticker) -> None:
        self._ticker = ticker

    def begin(self, *, total: int, reused: int) -> None:
        self._ticker.expect(total, done=reused)

    def note(self, text: str) -> None:
        self._ticker.say(Text(text, style="yellow"))


class RunTicker(WorkTicker):
    """A run's progress; an `evaluate.Observer`."""

    def started(self, prediction: Prediction) -> None:
        self._ticker.running(_identity(prediction), prediction.instance_id)

    def finished(self, report: InstanceReport) -> None:
        self._ticker.ended(_identity(report))
        self._ticker.step(report_line(report))


def _identity(part: Prediction | InstanceReport) -> str:
    return f"{part.instance_id} {part.model_name_or_path} {part.sample}"


def report_line(report: InstanceReport) -> Text:
    """One prediction's verdict in a line."""
    line = Text()
    line.append(f"{report.outcome.value:<12} ", style=STYLES[report.outcome])
    line.append(f"{report.model_name_or_path}  {report.instance_id}")
    if report.sample:
        line.append(f" #{report.sample}")
    if not report.resolved:
        line.append(f"  {printable.visible(report.reason, limit=100)}", style="bright_black")
    return line


def table_of(*columns: str | Column) -> Table:
    """A table without a frame."""
    return Table(*columns, box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))


def figures(*headings: str) -> list[Column]:
    """Columns of figures."""
    return [Column(heading, justify="right") for heading in headings]


def score_table(scores: Iterable[Score]) -> Table:
    """Models side by side: score, coverage, and what the others came to."""
    table = table_of("model", *figures("resolved", "rate", "coverage"), "not resolved")
    for score in scores:
        others = [
            f"{count} {outcome}" for outcome, count in score.outcomes.items() if outcome != Outcome.RESOLVED.value
        ]
        if score.apart:
            others.append(f"{score.apart} judged by the repository's own runner, not counted")
        table.add_row(
            Text(score.model),
            f"{score.resolved}/{score.scored}",
            "–" if score.rate is None else f"{score.rate:.0%}",
            f"{score.coverage:.0%}",
            Text(", ".join(others) or "–"),
        )
    return table


def kind_lines(scores: Iterable[Score]) -> list[Text]:
    """Which kind of score it is, where tasks show some of their tests; nothing where all hide all."""
    return [
        Text(
            f"kind: scaffolded ({score.scaffolded} of {score.total} predictions are for tasks that show tests); "
            f"{score.model} over hidden tests only: {score.resolved_hidden}/{score.scored}",
            style="yellow",
        )
        for score in scores
        if score.resolved_hidden is not None
    ]


def standing_lines(sheets: Iterable[Scoresheet]) -> list[Text]:
    """What of the scores a patch that aims at goldseam may pass; nothing where it is nothing."""
    sentences = dict.fromkeys(sheet.standing.told() for sheet in sheets)
    return [Text(text, style="yellow") for text in sentences if text]


def regrade_table(predictions: Iterable[Regraded]) -> Table:
    """What regrading changed, prediction by prediction, and what it could not say."""
    table = table_of("task", "model", "sample", "before", "after")
    for prediction in predictions:
        before, after = (
            Text(" / ".join(filter(None, outcome)) if outcome else "–")
            for outcome in (prediction.before, prediction.after)
        )
        if prediction.why_not:
            after = Text(
                f"as before: {prediction.why_not}" if prediction.before else prediction.why_not, style="yellow"
            )
        elif prediction.before == prediction.after:
            after = Text(f"the same verdict, another {', '.join(prediction.changed)}")
        table.add_row(Text(prediction.instance_id), Text(prediction.model), str(prediction.sample), before, after)
    return table

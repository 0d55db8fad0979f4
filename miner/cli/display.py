"""What a person sees of a mine. Builds displays; commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from harness.cli.views.terminal import Ticker, figures, table_of
from harness.core.errors import BugError, GoldseamError, InputError
from miner.candidates.funnel import FunnelLine, FunnelSummary
from miner.sources.change import INTERNAL_ERROR, Stage

if TYPE_CHECKING:
    from harness.config.doctor import Diagnosis

_DOCTOR_STYLES = {"ok": "green", "warn": "yellow", "missing": "red"}


class MineTicker:
    """A mine's progress; a `pipeline.Observer`. Changes that recognition leaves are not listed."""

    def __init__(self, ticker: Ticker) -> None:
        self._ticker = ticker
        self.warnings: list[str] = []
        self.problems: dict[str, str] = {}
        """What could not be mined, and why."""
        self.not_found: list[str] = []
        """Changes asked for that are not there."""
        self.bugs: list[FunnelLine] = []
        """Changes that a bug of ours left undecided."""

    def source(self, name: str) -> None:
        self._ticker.running("", name)

    def note(self, text: str) -> None:
        name, colon, _ = text.partition(": ")
        self._ticker.ended("")  # the mine as a whole, once something else is under way
        self._ticker.running(name if colon else "", text)

    def decided(self, line: FunnelLine) -> None:
        self._ticker.ended(line.instance_id)
        if line.reason == INTERNAL_ERROR:
            self.bugs.append(line)
        if line.stage not in (Stage.HISTORY, Stage.RECOGNITION):
            self._ticker.step(funnel_line(line))

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self._ticker.say(Text(f"warning: {text}", style="yellow"))

    def problem(self, name: str, error: GoldseamError) -> None:
        self.problems[name] = error.message
        self._ticker.say(Text(f"not mined  {name}: {error.message}", style="red"))

    def missing(self, error: InputError) -> None:
        self.not_found.append(error.message)
        self._ticker.say(Text(f"not found  {error.message}", style="red"))


def report_bugs(lines: Sequence[FunnelLine]) -> None:
    """End with exit code 70 where bugs of ours left something undecided, so that nobody takes the rest for all.

    Raises:
        BugError: there are such lines.

    """
    if lines:
        told = (f"{line.instance_id or line.title}: {line.detail}" for line in lines)
        raise BugError(
            "\n  ".join((f"{len(lines)} could not be decided:", *told)),
            hint="the others were; run the same command again to try these once more",
        )


def funnel_line(line: FunnelLine) -> Text:
    """One candidate's fate in a line."""
    text = Text()
    if line.accepted:
        text.append(f"{'candidate' if line.detail else 'proved':<10} ", style="green")
    else:
        text.append(f"{'rejected':<10} ", style="yellow")
    text.append(f"{line.instance_id}  ")
    if not line.accepted:
        text.append(f"{line.reason}  ", style="yellow")
    text.append(" ".join(line.title.split())[:70], style="bright_black")
    if line.reason == "unstable_fail_to_pass":
        text.append(f"  {line.detail}", style="yellow")
    if line.unstable:
        dependences = ", ".join(f"{count} {cause}" for cause, count in line.unstable.items())
        text.append(f"  unstable tests: {dependences}", style="yellow")
    if line.given_up:
        text.append("  fewer runs, to stay within its budget", style="bright_black")
    if line.seconds >= 1:
        text.append(f"  {line.seconds:.0f} s", style="bright_black")
    return text


def looked_line(line: FunnelLine) -> Text:
    """One change of a dry run: a candidate with its score and signals, or the reason why it was left."""
    if line.accepted:
        text = funnel_line(line)
        text.append(f"  {line.score or 0:g}: ", style="bold")
        return text.append(" ".join(line.signals), style="cyan")
    text = Text(f"{'skipped':<10} {line.instance_id}  ", style="bright_black")
    text.append(f"{line.reason}  ", style="yellow")
    return text.append(" ".join(line.detail.split())[:160], style="bright_black")


def funnel_table(summary: FunnelSummary) -> Table:
    """The funnel: every change looked at, by the stage that decided it, with the reasons."""
    table = table_of("stage", *figures("changes"), "reasons")
    table.add_row("looked at", str(summary.looked_at), "")
    for stage, count in summary.by_stage.items():
        reasons = [f"{number} {reason}" for (where, reason), number in summary.rejected.items() if where is stage]
        table.add_row(f"  skipped at {stage.value}", str(count), Text(", ".join(reasons)))
    table.add_row(Text("accepted", style="green"), Text(str(summary.accepted), style="green"), "")
    return table


def doctor_table(diagnosis: Diagnosis) -> Table:
    """What is there, what is missing, and the command that mends it."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in range(3):
        table.add_column(overflow="fold", no_wrap=column == 0)
    for check in diagnosis.checks:
        text = Text(check.found)
        if check.mend:
            text.append(f"\n→ {check.mend}", style="bold")
        table.add_row(Text(check.status.value, style=_DOCTOR_STYLES[check.status.value]), check.name, text)
    return table

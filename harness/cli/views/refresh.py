"""What `holdout refresh` shows, for a person and for a program. Prints nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from harness.cli.views.terminal import Ticker, table_of
from harness.core.wording import counted
from harness.grading import calibration
from harness.runs.refresh.drift import GONE_WRONG, MASS_SHARE, REPEATS, Finding, IdChange, Result
from harness.runs.refresh.record import finding_as_json
from harness.runs.refresh.run import Refreshed
from harness.runs.refresh.seen import Kind, VerdictSummary

SCHEMA_VERSION = 1
_SHOWN = 8
"""Ids of one task that are shown; --json has all of them."""
STYLES = {
    Result.HOLDS: "green",
    Result.ONCE: "yellow",
    Result.UNSTABLE: "red",
    Result.DRIFTED: "red",
    Result.UNSCORED: "bright_black",
}
_WARN, _QUIET = "yellow", "bright_black"
_TELLING = 3
"""Clean runs of a task below which a bound says next to nothing."""


class RefreshTicker:
    """A refresh's progress: a step a task; a `run.Observer`."""

    def __init__(self, ticker: Ticker) -> None:
        self._ticker = ticker
        self._verdicts = self._done = 0

    def begin(self, *, tasks: int, verdicts: int, known: int) -> None:
        self._verdicts, self._done = verdicts, known
        self._ticker.expect(tasks)
        if known:
            self._ticker.say(
                Text(
                    f"known from an earlier call: {known} of {counted(verdicts, 'verdict')}",
                    style="yellow",
                )
            )

    def seen(self, seen: VerdictSummary) -> None:
        self._done += 1
        slot = seen.slot
        again = " again" if slot.repeat else ""
        total = "" if slot.repeat else f"{self._done}/{self._verdicts}, "
        self._ticker.note(f"{total}{slot.instance_id}: {slot.kind} {slot.number}{again}")

    def suspect(self, instance_id: str) -> None:
        self._ticker.say(Text(f"suspect   {instance_id}  to be run {REPEATS} times more", style="yellow"))

    def finished(self, finding: Finding) -> None:
        self._ticker.step(finding_line(finding))

    def note(self, text: str) -> None:
        self._ticker.say(Text(text, style="yellow"))


def finding_line(finding: Finding) -> Text:
    """One task in a line."""
    line = Text()
    line.append(f"{finding.result.value:<9} ", style=STYLES[finding.result])
    line.append(f"{finding.instance_id}  gold {finding.gold}, null {finding.null}, {finding.seconds:.1f} s")
    if finding.why:
        line.append(f"  {' '.join(finding.why.split())[:200]}", style="bright_black")
    return line


def refresh_text(refreshed: Refreshed, dataset: Path) -> RenderableType:
    """What changed, what was done about it, and the sum of it."""
    if not refreshed.findings:
        return Text("no task is in quarantine")
    parts: list[RenderableType] = []
    findings = [finding for finding in refreshed.findings if finding.result is not Result.HOLDS]
    for finding in findings:
        parts += [*_drift_lines(finding), Text()]
    parts += [Text(line) for line in _sums(refreshed)]
    if refreshed.settings.quarantined:
        parts += _of_quarantine(refreshed, dataset)
    elif refreshed.quarantined:
        version = f"; version {refreshed.version.number}" if refreshed.version else ""
        parts.append(Text(f"quarantined: {', '.join(refreshed.quarantined)}{version}", style="red"))
    elif refreshed.of(*GONE_WRONG):
        why = "it looks like the machine" if refreshed.mass and not refreshed.settings.force else "--dry-run"
        parts.append(Text(f"nothing was changed: {why}", style=_WARN))
    if refreshed.mass:
        parts.append(Text(_mass_words(refreshed), style=_WARN))
    return Group(*parts)


def _drift_lines(finding: Finding) -> list[RenderableType]:
    """A task that is not as it was proved: what is off, and which tests changed how."""
    head = Text.assemble(
        (finding.instance_id, "bold"),
        "  ",
        (finding.result.value, STYLES[finding.result]),
        f"  gold {finding.gold}, null {finding.null}",
    )
    parts: list[RenderableType] = [head, Text(f"  {finding.why}")]
    for kind in Kind:
        changes = [change for change in finding.changes if change.kind is kind]
        if changes and not all(set(change.after) == {"gone"} for change in changes):
            parts.append(Padding(_table(changes), (0, 0, 0, 2)))
        elif changes:
            parts.append(Text(f"  {counted(len(changes), 'listed test')} gave no result", style=_QUIET))
    return parts


def _table(changes: list[IdChange]) -> Table:
    where = "with the fix" if changes[0].kind is Kind.GOLD else "without the fix"
    table = table_of(Column(f"now, {where}", overflow="fold"), "before", Column("test", overflow="fold"))
    table.header_style = _QUIET
    for change in changes[:_SHOWN]:
        after = ", ".join(f"{status} {count}×" for status, count in sorted(change.after.items()))
        table.add_row(after, change.before, Text(f"{change.test_id} ({change.listed})"))
    if len(changes) > _SHOWN:
        table.add_row("", "", Text(f"… and {len(changes) - _SHOWN} more (--json has all)"))
    return table


def _sums(outcome: Refreshed) -> list[str]:
    sums = _by_kind(outcome)
    gold, null = sums["gold"], sums["null"]
    counts = ", ".join(f"{len(outcome.of(result))} {result}" for result in Result if outcome.of(result))
    containers = sum(finding.containers for finding in outcome.findings)
    ids = {change.test_id for finding in outcome.of(Result.UNSTABLE) for change in finding.changes}
    verdicts = (
        f"{gold['runs'] + null['runs']} verdicts in {containers} containers, {_minutes(outcome.seconds)}: "
        f"gold resolved {gold['resolved']}/{gold['runs']}, "
        f"null resolved {null['resolved']}/{null['runs']}, {counted(len(ids), 'unstable id')}"
    )
    lines = [f"{counted(len(outcome.findings), 'task')}: {counts}", verdicts]
    if outcome.bound_each is not None and outcome.bound_all is not None and min(outcome.clean_runs) >= _TELLING:
        lines.append(
            f"{counted(min(outcome.clean_runs), 'clean run')} of each of {counted(len(outcome.clean_runs), 'task')}: "
            f"another verdict in at most {outcome.bound_each:.1%} of a task's runs, "
            f"{outcome.bound_all:.2%} of all runs together (95%)"
        )
    if outcome.slowdown >= calibration.DRIFT:
        lines.append(f"gold took {outcome.slowdown:g} times as long here as when the tasks were proved (median)")
    return lines


def _by_kind(outcome: Refreshed) -> dict[str, dict[str, int]]:
    """Runs of gold and of null, and how many of them resolved, over all tasks."""
    return {
        kind: {
            name: sum(getattr(getattr(finding, kind), name) for finding in outcome.findings)
            for name in ("resolved", "runs")
        }
        for kind in ("gold", "null")
    }


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"  # noqa: PLR2004 - two minutes


def _of_quarantine(outcome: Refreshed, dataset: Path) -> list[RenderableType]:
    again = [finding.instance_id for finding in outcome.of(Result.HOLDS)]
    if not again:
        return [Text("none of them holds again")]
    command = f'goldseam holdout release {dataset} {" ".join(again)} --reason "holds again"'
    return [Text(f"{len(again)} of them hold again; to take them back:"), Text(f"  {command}")]


def _mass_words(outcome: Refreshed) -> str:
    findings = [finding for finding in outcome.findings if finding.result is not Result.UNSCORED]
    return (
        f"! {len(outcome.of(*GONE_WRONG))} of {len(findings)} tasks went wrong together, more than {MASS_SHARE:.0%}: "
        "an engine, a runtime or a kernel does that, seldom the tasks"
    )


def refresh_json(refreshed: Refreshed) -> dict[str, Any]:
    """What `holdout refresh --json` prints; docs/holdout.md names its fields."""
    settings = refreshed.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "dry_run": settings.dry_run,
        "runs": settings.runs,
        "tasks": [finding_as_json(finding) for finding in refreshed.findings],
        "results": {result.value: len(refreshed.of(result)) for result in Result},
        **_by_kind(refreshed),
        "bound_each": refreshed.bound_each,
        "bound_all": refreshed.bound_all,
        "slowdown": refreshed.slowdown,
        "mass": refreshed.mass,
        "quarantined": list(refreshed.quarantined),
        "version": refreshed.version.number if refreshed.version else None,
        "recorded": refreshed.recorded,
        "seconds": round(refreshed.seconds, 1),
    }

"""Where a report comes from: date, versions and machine of its runs, and where their tasks are judged. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.wording import counted, percent
from harness.report.words import listed
from harness.runs.task_metadata import standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.report.data import ReportData
    from harness.runs.run_folder import RunRecord


def facts(report_data: ReportData) -> tuple[tuple[str, str], ...]:
    """Name and value of each fact in the page's head; what no run says is left out."""
    records = report_data.records.values()
    versions = [
        f"{record.goldseam_version}, grading {record.grading_version}" for record in records if record.goldseam_version
    ]
    values = {
        "run": listed(report_data.runs, most=4),
        "date": _dates(record.started_at for record in records),
        "dataset": report_data.dataset,
        "goldseam": _distinct(versions),
        "judged": trust(report_data),
        "machine": _distinct(_machine(record) for record in records),
    }
    return tuple((name, value) for name, value in values.items() if value)


def trust(report_data: ReportData) -> str:
    """The shares of tasks by where they are judged, such as `host 92%, inside 8%`; empty where there are no tasks."""
    scope = standing(report_data.task_facts().values())
    if not scope.tasks:
        return ""
    shares = [f"{place.value} {percent(count / scope.tasks)}" for place, count in scope.judged.items() if count]
    guessable = [f"{counted(scope.guessable, 'task')} guessable"] if scope.guessable else []
    return ", ".join([*shares, *guessable])


def _dates(times: Iterable[str]) -> str:
    """A day and its time in UTC, or the first and the last day of several runs."""
    known = sorted(time for time in times if time)
    if not known:
        return ""
    first, last = known[0], known[-1]
    if first == last:
        return f"{first[:10]} {first[11:16]} UTC".replace("  ", " ")
    return first[:10] if first[:10] == last[:10] else f"{first[:10]} to {last[:10]}"


def _machine(record: RunRecord) -> str:
    fields = record.machine
    parts = [str(fields[name]) for name in ("platform", "machine") if fields.get(name)]
    if len(parts) > 1 and parts[1] in parts[0]:
        parts.pop()
    cpus = fields.get("cpus")
    return ", ".join([*parts, *([counted(cpus, "CPU")] if isinstance(cpus, int) else [])])


def _distinct(texts: Iterable[str]) -> str:
    return listed(list(dict.fromkeys(text for text in texts if text)), most=3)

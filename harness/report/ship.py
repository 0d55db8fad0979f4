"""Whether the best model may ship: what the gate says of it against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.analysis.gate import files
from harness.analysis.gate.decision import Ruling
from harness.core.errors import InputError
from harness.report.answers import Ship

if TYPE_CHECKING:
    from pathlib import Path

    from harness.analysis.gate.config import GateRules
    from harness.report.data import ReportData

_LINES_SHOWN = 4


def ask(report_data: ReportData, baseline: Path, rules: GateRules, *, dataset: Path | None = None) -> Ship:
    """What the gate says of the best model of a report.

    Raises:
        InputError: there is no model to ask about, or the baseline is none.

    """
    if not baseline.exists():
        raise InputError(
            f"there is no baseline at {baseline}", hint="give a run folder, or a file of `gate --accept-to`"
        )
    competitors = report_data.competitors()
    if not competitors:
        raise InputError("the gate has no model to decide about")
    best = competitors[0]
    if baseline.resolve() == best.sheet.run.resolve():
        raise InputError(f"{baseline} would be compared with itself", hint="give an earlier run")
    question = files.Question(
        candidate=best.sheet.run, baseline=baseline, dataset=dataset, model=best.sheet.model, with_hidden=False
    )
    decision = files.ask(question, rules).decision
    lines = [
        f"{line.name}: {line.required}, found {line.found}. {line.sentence}".strip()
        for line in decision.rules
        if line.ruling is not Ruling.KEPT
    ]
    total = sum(line.ruling is Ruling.KEPT for line in decision.rules)
    against = f"{best.name} against {baseline.name}: {total} of {len(decision.rules)} rules kept."
    return Ship(verdict=decision.verdict.value, sentence=decision.sentence, lines=(against, *lines[:_LINES_SHOWN]))

"""A report from run folders: gathered once, and shown as a page, as JSON or on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.analysis.cohorts import Cutoffs, gap
from harness.analysis.gate import files as gate_files
from harness.analysis.gate.config import GateRules
from harness.analysis.gate.decision import Ruling
from harness.core import files
from harness.core.errors import InputError
from harness.report import document, page
from harness.report.answers import Answers, Ship, answers
from harness.report.data import ReportData
from harness.report.gather import gather

_LINES_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was gathered, and what it says."""

    found: ReportData
    said: Answers

    def write_page(self, out: Path) -> None:
        """Write the HTML file, or to standard output where it is named `-`.

        Raises:
            InputError: the file cannot be written.

        """
        files.write_result(out, page.render_data(self.found, self.said).encode("utf-8", "surrogateescape"))

    def as_json(self, *, page_file: Path | None = None) -> dict[str, Any]:
        """The JSON document, see docs/schemas/report.schema.json."""
        return document.as_json(document.document(self.found, self.said, report=str(page_file) if page_file else None))


def make(
    runs: Sequence[Path],
    *,
    dataset: Path | None = None,
    with_hidden: bool = False,
    baseline: Path | None = None,
    rules: GateRules | None = None,
    cutoffs: Cutoffs | None = None,
) -> Report:
    """Read the runs, and ask the gate where there is a baseline. Models whose cut-off is known have a note on it.

    Raises:
        InputError: no run, a folder that is no run or no dataset, a broken file in one, or no baseline where it is said
            to be.

    """
    report_data = gather(runs, dataset=dataset, with_hidden=with_hidden)
    shipping = ask_gate(report_data, baseline, rules, dataset=dataset) if baseline and rules else None
    answers_given = answers(report_data, shipping)
    gaps = [gap(model.sheet, cutoffs) for model in report_data.ordered() if not model.control] if cutoffs else []
    notes = (*answers_given.notes, *(measured.sentence() for measured in gaps if measured))
    return Report(found=report_data, said=replace(answers_given, notes=notes))


def ask_gate(report_data: ReportData, baseline: Path, rules: GateRules, *, dataset: Path | None = None) -> Ship:
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
    question = gate_files.Question(
        candidate=best.sheet.run, baseline=baseline, dataset=dataset, model=best.sheet.model, with_hidden=False
    )
    decision = gate_files.ask(question, rules).decision
    lines = [
        f"{line.name}: {line.required}, found {line.found}. {line.sentence}".strip()
        for line in decision.rules
        if line.ruling is not Ruling.KEPT
    ]
    total = sum(line.ruling is Ruling.KEPT for line in decision.rules)
    against = f"{best.name} against {baseline.name}: {total} of {len(decision.rules)} rules kept."
    return Ship(verdict=decision.verdict.value, sentence=decision.sentence, lines=(against, *lines[:_LINES_SHOWN]))

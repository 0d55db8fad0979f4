"""A report from run folders: gathered once, and shown as a page, as JSON or on a terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.analysis.cutoffs import gap
from harness.core import files
from harness.report import document, page, ship
from harness.report.answers import Answers, answers
from harness.report.gather import gather

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.analysis.cutoffs import Cutoffs
    from harness.analysis.gate.config import GateRules
    from harness.report.data import ReportData


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
    shipping = ship.ask(report_data, baseline, rules, dataset=dataset) if baseline and rules else None
    answers_given = answers(report_data, shipping)
    gaps = [gap(model.sheet, cutoffs) for model in report_data.ordered() if not model.control] if cutoffs else []
    notes = (*answers_given.notes, *(one.sentence() for one in gaps if one))
    return Report(found=report_data, said=replace(answers_given, notes=notes))

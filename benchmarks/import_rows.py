"""How many SWE-bench rows hold here, and whether verdicts on them agree with others'.

    python benchmarks/import_rows.py ROWS.jsonl [PREDICTIONS.jsonl] --source owner/name=CLONE … --into FOLDER
        [--runs N] [-j N]

Takes any file of SWE-bench rows (JSON lines) and any clones, imports all rows into FOLDER/dataset (or goes on with what
is there), and says by repository how many hold in whole, in part or not, and what became of every id of their lists.
With predictions that carry `official_resolved`, the verdict of another harness, it scores them on the imported rows
and compares verdict by verdict: each difference is put into the class that explains it. A row of which only a part of
FAIL_TO_PASS holds is compared as well, on that part. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.config.settings import load_settings
from harness.dataset.folder import create_dataset, open_dataset
from harness.runs import evaluate
from harness.runs.predictions import read_predictions
from harness.runs.run_folder import RunFolder
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors.local import LocalExecutor
from miner.importing.judge import HOLDING
from miner.importing.run import Imported, Options, import_rows

if TYPE_CHECKING:
    from harness.core.instance import Prediction
    from harness.dataset.folder import Dataset
    from harness.runs.run_folder import InstanceReport
    from miner.candidates.funnel import FunnelLine

SAME = "same"
NOT_HERE = "nothing of the row's FAIL_TO_PASS can be told here"
THEIRS_MORE = "resolved here by the ids that hold; the row also lists ids that can't hold here ({})"
OURS_FAILS = "UNEXPLAINED: resolved there, and an id that holds here fails ({})"
OURS_PASSES = "UNEXPLAINED: every id of the row holds here and passes"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One prediction's two verdicts."""

    instance_id: str
    model: str
    theirs: bool
    ours: str
    why: str


class Loud:
    """Says on stderr what is decided."""

    def note(self, text: str) -> None: ...

    def decided(self, line: FunnelLine) -> None:
        print(
            f"{line.instance_id}: {line.reason} {line.detail[:120]} {line.seconds:.0f} s", file=sys.stderr, flush=True
        )

    def begin(self, *, total: int, reused: int) -> None:
        print(f"{total} predictions, {reused} scored before", file=sys.stderr)

    def started(self, prediction: Prediction) -> None: ...

    def finished(self, report: InstanceReport) -> None:
        print(f"{report.instance_id} {report.model_name_or_path}: {report.outcome}", file=sys.stderr, flush=True)


def not_holding(dataset: Dataset, instance_id: str) -> dict[str, int]:
    """How many ids of a row's lists do not hold here, by verdict."""
    imported: Any = dataset.instance(instance_id).extra.get("imported", {})
    counted: Counter[str] = Counter()
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        verdicts = {word: count for word, count in imported.get(name, {}).items() if word != "given"}
        counted.update({word: count for word, count in verdicts.items() if word not in {one.value for one in HOLDING}})
    return dict(counted.most_common())


def explain(dataset: Dataset, theirs: bool, report: InstanceReport) -> str:
    """The class of a prediction's pair of verdicts."""
    if report.resolved == theirs:
        return SAME
    lacking = not_holding(dataset, report.instance_id)
    if report.resolved:
        told = ", ".join(f"{count} {word}" for word, count in lacking.items())
        return THEIRS_MORE.format(told) if lacking else OURS_PASSES
    failed = [*report.tests_status["FAIL_TO_PASS"]["failure"], *report.tests_status["PASS_TO_PASS"]["failure"]]
    return OURS_FAILS.format(f"{report.cause}: {', '.join(failed[:3]) or report.reason[:200]}")


def compare(dataset: Dataset, given: list[Prediction], folder: Path, jobs: int) -> list[Compared]:
    """Score the predictions whose rows can be told of, and set both verdicts side by side."""
    usable = [one for one in given if one.instance_id in dataset.ids() and _gradable(dataset, one.instance_id)]
    ids = {id(one) for one in usable}
    with DockerSandbox() as sandbox:
        evaluate.run(
            dataset,
            usable,
            folder,
            sandbox=sandbox,
            executor=LocalExecutor(jobs=jobs),
            settings=evaluate.Settings(),
            observer=Loud(),
        )
    run = RunFolder(path=folder)
    found: list[Compared] = []
    for one in given:
        theirs = str(one.extra.get("official_resolved")).lower() == "true"
        report = run.read(one) if id(one) in ids else None
        found.append(
            Compared(
                instance_id=one.instance_id,
                model=one.model_name_or_path,
                theirs=theirs,
                ours="" if report is None else report.outcome.value,
                why=NOT_HERE if report is None else explain(dataset, theirs, report),
            )
        )
    return found


def _gradable(dataset: Dataset, instance_id: str) -> bool:
    task = dataset.task(instance_id)
    return task.instance.image is not None and bool(task.hidden.fail_to_pass)


def show_rows(imported: Imported) -> None:
    for tally in imported.tallies:
        print(f"{tally.repo}: {tally.rows} rows, {tally.whole} hold in whole, {tally.part} in part")
        for name, counts in (
            ("not proved", tally.reasons),
            ("FAIL_TO_PASS", tally.fail_to_pass),
            ("PASS_TO_PASS", tally.pass_to_pass),
        ):
            print(f"  {name}: {', '.join(f'{count} {word}' for word, count in counts.items()) or 'none'}")
    for line in imported.lines:
        if not line.accepted:
            print(f"  {line.instance_id}: {line.reason}: {' '.join(line.detail.split())[:200]}")


def show_verdicts(compared: list[Compared]) -> None:
    both = Counter((one.theirs, one.ours or "not told") for one in compared)
    print("verdicts (theirs, ours):")
    for (theirs, ours), count in sorted(both.items(), key=str):
        print(f"  {'resolved' if theirs else 'not resolved'} there, {ours} here: {count}")
    for why, count in Counter(one.why for one in compared if one.why != SAME).most_common():
        print(f"  {count} × {why}")
    for one in compared:
        if one.why not in (SAME, NOT_HERE):
            print(f"    {one.instance_id} {one.model}: {one.why}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=Path)
    parser.add_argument("predictions", type=Path, nargs="?")
    parser.add_argument("--source", action="append", default=[], metavar="owner/name=CLONE")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    dataset = create_dataset(given.into / "dataset")
    with DockerSandbox() as sandbox:
        imported = import_rows(
            given.rows,
            dict(pair.split("=", 1) for pair in given.source),
            dataset,
            Options(runs=given.runs),
            settings=load_settings(),
            sandbox=sandbox,
            executor=LocalExecutor(jobs=given.jobs),
            observer=Loud(),
        )
    show_rows(imported)
    figures: dict[str, Any] = {
        "rows": sum(tally.rows for tally in imported.tallies),
        "whole": sum(tally.whole for tally in imported.tallies),
        "part": sum(tally.part for tally in imported.tallies),
        "by_repository": [asdict(tally) for tally in imported.tallies],
    }
    if given.predictions:
        dataset = open_dataset(given.into / "dataset")
        compared = compare(dataset, list(read_predictions(given.predictions)), given.into / "run", given.jobs)
        show_verdicts(compared)
        told = [one for one in compared if one.why != NOT_HERE]
        figures |= {
            "predictions": len(compared),
            "told": len(told),
            "same": sum(one.why == SAME for one in told),
            "unexplained": sum(one.why.startswith("UNEXPLAINED") for one in told),
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

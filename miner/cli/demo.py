"""The demo, whole: a history of our own, mined, proved, and two invented models scored on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.cli.options import JobsOption, JsonFlag, output_folder, print_json
from harness.cli.shell.command import App, option
from harness.cli.views import terminal
from harness.cli.views.terminal import RunTicker, Ticker
from harness.config.settings import Settings, load_settings
from harness.core import files
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import Prediction
from harness.dataset.folder import create_dataset
from harness.grading.scoring import Demands
from harness.report.page import render
from harness.runs import evaluate
from harness.runs.predictions import read_predictions
from harness.runs.run_folder import RunFolder, Score, scores
from harness.sandbox.executors.base import Executor
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import Sandbox
from miner.candidates.funnel import FunnelSummary
from miner.cli import display
from miner.cli.display import MineTicker
from miner.cli.mine import summary_json
from miner.demo.history import DemoRepository, build_history, locate_data
from miner.demo.predictions import write_predictions
from miner.images import signal_tools
from miner.pipeline import mine
from miner.sources.history import ChangeFilter

app = App()

TIMEOUT = 20.0
"""Seconds: the demo's tests take under one, and one of its models hangs on purpose."""

MARK = ".goldseam-demo"
"""File that a demo's folder is known by."""


@dataclass(frozen=True, kw_only=True)
class DemoOutcome:
    """What the demo came to."""

    funnel: FunnelSummary
    scores: tuple[Score, ...]
    report: Path


def run(
    into: Path,
    *,
    settings: Settings,
    sandbox: Sandbox,
    executor: Executor,
    ticker: Callable[[str], Ticker],
) -> DemoOutcome:
    """Build the history, mine it, score gold, null and the two models, write the report.

    Leaves `repo`, `predictions`, `dataset`, `runs/*` and `report.html` in `into`; what an earlier demo left is used.

    Raises:
        InputError: `into` can't be written, or has files that no demo wrote.
        InfrastructureError: no engine, no base image, no package index.

    """
    _claim(into)
    repository = _repository(into)
    predictions = write_predictions(repository, locate_data(), into / "predictions")
    dataset = create_dataset(into / "dataset", name="goldseam-demo")
    with ticker("mine") as mining:
        funnel = mine.mine(
            [str(repository.path)],
            dataset,
            mine.Options(wanted=ChangeFilter()),
            settings=_quick(settings),
            sandbox=sandbox,
            executor=executor,
            observer=MineTicker(mining),
        )
    ids = evaluate.scorable_ids(dataset)
    by_model: dict[str, Sequence[Prediction]] = {
        "gold": evaluate.gold_predictions(dataset, ids),
        "null": evaluate.null_predictions(ids),
        **{path.stem: [item for item in read_predictions(path) if item.instance_id in ids] for path in predictions},
    }
    folders = [RunFolder(path=into / "runs" / name) for name in by_model]
    with ticker("tools") as building:
        tools = _tools(settings, RunTicker(building))
    for folder, predictions_of_model in zip(folders, by_model.values(), strict=True):
        with ticker(f"evaluate {folder.path.name}") as scoring:
            evaluate.run(
                dataset,
                predictions_of_model,
                folder.path,
                sandbox=sandbox,
                executor=executor,
                settings=evaluate.Settings(demands=Demands(timeout=TIMEOUT), signals=True),
                observer=RunTicker(scoring),
                tools=lambda: tools,
            )
    report = into / "report.html"
    files.write_text(report, render([folder.path for folder in folders], dataset=dataset.path))
    scores_made = tuple(score for folder in folders for score in scores(folder.predictions(), folder.reports()))
    return DemoOutcome(funnel=funnel, scores=scores_made, report=report)


def _claim(into: Path) -> None:
    """Make the demo's folder its own: only there does it replace what it finds."""
    files.make_folder(into)
    if not (into / MARK).exists():
        if any(into.iterdir()):
            raise InputError(f"{into} has files that no demo wrote", hint="give a new folder with -o")
        files.write_text(into / MARK, "This folder is goldseam demo's; it may be removed.\n")


def _quick(settings: Settings) -> Settings:
    """Without strength, which would take longer than all the rest; `holdout strength` tells it of the demo, too."""
    return settings.model_copy(update={"mining": settings.mining.model_copy(update={"mutants": 0})})


def _tools(settings: Settings, observer: evaluate.Observer) -> str | None:
    """The image with the tools for signals; the demo does without them where it can't be built."""
    try:
        return signal_tools.ensure(settings.images, observer.note).image_id
    except InfrastructureError as error:
        observer.note(f"signals: {error.message}")
        return None


def _repository(into: Path) -> DemoRepository:
    """The demo's repository, built anew: the same data gives the same commits, and it takes less than a second."""
    target, building = into / "repo", into / ".repo.tmp"
    shutil.rmtree(building, ignore_errors=True)
    built = build_history(building, locate_data())
    shutil.rmtree(target, ignore_errors=True)
    building.rename(target)
    return type(built)(path=target, name=built.name, changes=built.changes)


@app.add(
    examples={
        "goldseam demo -o demo": "Run the demo",
        "goldseam demo -o demo -j 2": "Run it with two containers in parallel",
        "goldseam demo -o demo --json": "Print what it came to as JSON",
    }
)
def demo(
    into: Annotated[
        Path,
        option(
            "-o, --output FOLDER", "Folder for the demo; an unfinished demo in it is continued.", parser=output_folder
        ),
    ],
    jobs: JobsOption = None,
    json_: JsonFlag = False,
) -> None:
    """Run the whole workflow on a small sample library: history, tasks, verdicts, report."""
    messages = terminal.messages()
    executor = LocalExecutor(jobs=jobs)
    with executor.sandbox() as sandbox:
        outcome = run(
            into,
            settings=load_settings(),
            sandbox=sandbox,
            executor=executor,
            ticker=lambda title: terminal.Ticker(messages, title, quiet=json_),
        )
    if json_:
        scores = [
            {"model": score.model, "resolved": score.resolved, "scored": score.scored} for score in outcome.scores
        ]
        print_json({"funnel": summary_json(outcome.funnel), "scores": scores, "report": str(outcome.report)})
        return
    console = terminal.results()
    console.print(Text("\nThe funnel: what became of every change in the history", style="bold"))
    console.print(display.funnel_table(outcome.funnel))
    console.print(Text("\nThe scores: gold must resolve all, null none", style="bold"))
    console.print(terminal.score_table(outcome.scores))
    console.print(Text(f"\ndataset  {into / 'dataset'}\nruns     {into / 'runs'}\nreport   {outcome.report}"))
    careful, reckless = into / "runs" / "careful", into / "runs" / "reckless"
    console.print(Text("\nNext: which of the two is better, and would CI let the other one ship?", style="bold"))
    console.print(Text(f"goldseam compare {careful} {reckless}"), soft_wrap=True)
    console.print(Text(f"goldseam gate {reckless} --baseline {careful}"), soft_wrap=True)

"""`goldseam evaluate`: from predictions to verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.analysis import scoresheet
from harness.cli.options import (
    AddressOption,
    DatasetSource,
    EngineWaitOption,
    ExecutorOption,
    IdentityOption,
    JobsOption,
    JsonFlag,
    RuntimeOption,
    open_with,
    print_json,
)
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import AnswerIsNoError, BugError, InfrastructureError, InputError
from harness.grading.scoring import Demands
from harness.runs import bug_log, run_folder
from harness.runs import evaluate as work
from harness.runs.predictions import GOLD, NULL, read_predictions
from harness.runs.regrade import State, regrade
from harness.runs.run_folder import merge_predictions
from harness.runs.verdict_cache import VerdictCache
from harness.sandbox.executors.choose import Kind, choose
from harness.signals import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.core.instance import Prediction
    from harness.dataset.folder import Dataset
    from harness.runs.run_folder import RunFolder

app = typer.Typer()


@app.command()
def evaluate(
    dataset: DatasetSource,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Run folder; an unfinished run in it goes on.")
    ] = None,
    predictions: Annotated[
        list[Path] | None, typer.Option("-p", "--predictions", help="Predictions: a file, or an agent's output folder.")
    ] = None,
    model_name: Annotated[
        str | None, typer.Option("--model-name", help="The model of predictions that do not name theirs.")
    ] = None,
    gold: Annotated[bool, typer.Option("--gold", help="Score the gold patches; all must resolve.")] = False,
    null: Annotated[bool, typer.Option("--null", help="Score no change at all; nothing may resolve.")] = False,
    ids: Annotated[list[str] | None, typer.Option("-i", "--id", help="Only this task (repeatable).")] = None,
    split: Annotated[
        str, typer.Option("--split", help="Only tasks of this split: holdout, dev, retired, or all. -i goes before it.")
    ] = "holdout",
    jobs: JobsOption = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds a task's tests may take, in place of its budget.")
    ] = None,
    executor: ExecutorOption = Kind.LOCAL,
    address: AddressOption = None,
    runtime: RuntimeOption = None,
    engine_wait: EngineWaitOption = 60.0,
    control: Annotated[int, typer.Option(min=0, help="Tasks on which gold is run first, to time this machine.")] = 3,
    retry_errors: Annotated[bool, typer.Option(help="Score again what infrastructure failed to score.")] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Score again what this or another run has scored.")
    ] = False,
    signals: Annotated[
        bool, typer.Option(help="Measure lint, security, complexity and more beside the verdict, never changing it.")
    ] = True,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Make recorded calls (`holdout calls`) on patches that resolve, outside of a test runner, and tell "
            "how far they answer as the fix does.",
        ),
    ] = False,
    regrade: Annotated[
        Path | None,
        typer.Option(help="Instead: find the verdicts of this run folder again by today's rules, without containers."),
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Put another model's verdicts into a run that has some already.")
    ] = False,
    identity: IdentityOption = None,
    keep_evidence: Annotated[
        bool,
        typer.Option("--keep-evidence", help="Of a sealed dataset: leave test output and results readable in RUN."),
    ] = False,
    json_: JsonFlag = False,
) -> int:
    """Score model patches: apply them, run the hidden tests in a locked-down container, say resolved or not."""
    opened = open_with(dataset, identity)
    if regrade is not None:
        if out or predictions or gold or null:
            raise InputError(
                "--regrade takes no predictions and no -o", hint="give the run folder alone, and -i perhaps"
            )
        return _regrade(opened, regrade, ids=ids or [], json_=json_)
    if out is None:
        raise InputError("no run folder", hint="say with -o where the run is to be written")
    chosen_split = None if split == "all" else split
    predictionses = [read_predictions(path, model_name=model_name) for path in predictions or []]
    chosen_predictions = _predictions(
        opened, predictionses, gold=gold, null=null, ids=ids or [], split=None if ids else chosen_split
    )
    chosen = load_settings()
    semgrep = rules.read(chosen.signals.semgrep_rules) if signals and chosen.signals.semgrep_rules else None
    settings = work.Settings(
        demands=Demands(timeout=timeout),
        retry_errors=retry_errors,
        cache=not no_cache,
        runtime=runtime,
        executor=executor.value,
        control=control,
        signals=signals,
        split=chosen_split,
        replay=replay,
        keep_evidence=keep_evidence,
    )
    place = choose(executor, address=address, jobs=jobs)
    with (
        terminal.Ticker(terminal.messages(), "evaluate", quiet=json_) as ticker,
        place.sandbox(runtime=runtime, engine_wait=engine_wait, note=terminal.RunTicker(ticker).note) as sandbox,
    ):
        report = work.run(
            opened,
            chosen_predictions,
            out,
            sandbox=sandbox,
            executor=place,
            settings=settings,
            observer=terminal.RunTicker(ticker),
            kept=VerdictCache(path=chosen.images.cache_dir / "verdicts"),
            tools=place.tools_image() if signals else None,
            rules=semgrep,
            append=append,
        )
    folder = run_folder.RunFolder(path=out)
    if json_:
        print_json(report)
    else:
        console = terminal.results()
        scores = run_folder.scores(folder.predictions(), folder.reports())
        console.print(terminal.score_table(scores))
        for line in (
            *terminal.kind_lines(scores),
            *terminal.standing_lines(sheet.whole() for sheet in scoresheet.read(out)),
        ):
            console.print(line, soft_wrap=True)
        console.print(Text(f"report: {out / run_folder.REPORT_FILE}", style="bright_black"))
    _refuse_gaps(folder)
    _refuse_wrong_controls(folder)
    return 0


def _regrade(dataset: Dataset, run: Path, *, ids: Sequence[str], json_: bool) -> int:
    """Regrade a run folder and show what changed; exit code 1 where something could not be regraded."""
    summary = regrade(dataset, run, ids=work.scorable_ids(dataset, ids) if ids else ())
    predictions = [prediction for prediction in summary.predictions if prediction.state is not State.UNCHANGED]
    if json_:
        print_json(summary.as_json())
    else:
        console = terminal.results()
        if predictions:
            console.print(terminal.regrade_table(predictions))
        counts = (f"{summary.count(state)} {state.value.replace('_', ' ')}" for state in State if summary.count(state))
        console.print(Text(f"regraded {run}: {', '.join(counts) or 'it has no predictions'}"))
    left = summary.count(State.NOT_REGRADED)
    if left:
        raise AnswerIsNoError(
            f"{left} of {len(summary.predictions)} prediction(s) could not be regraded; "
            "their verdicts are as they were",
            hint="run the same evaluation again with --no-cache to score them by today's rules",
        )
    return 0


def _predictions(
    dataset: Dataset,
    files: Sequence[Sequence[Prediction]],
    *,
    gold: bool,
    null: bool,
    ids: Sequence[str],
    split: str | None,
) -> tuple[Prediction, ...]:
    """The predictions a command line asks for."""
    if not (files or gold or null):
        raise InputError("nothing to score", hint="give predictions with -p FILE, or --gold, or --null")
    predictions: tuple[Prediction, ...] = ()
    chosen = work.scorable_ids(dataset, ids, split=split) if (gold or null or ids) else ()
    if gold:
        predictions += work.gold_predictions(dataset, chosen)
    if null:
        predictions += work.null_predictions(chosen)
    for file in files:
        chosen_here = [prediction for prediction in file if not ids or prediction.instance_id in chosen]
        predictions = merge_predictions(predictions, chosen_here)
    predictions, others = work.of_split(dataset, predictions, split)
    if others:
        examples = ", ".join(sorted({prediction.instance_id for prediction in others})[:3])
        text = f"{len(others)} prediction(s) are for tasks outside split {split} and not scored, such as {examples}"
        if not predictions:
            raise InputError(text, hint="--split all scores every task")
        terminal.messages().print(Text(text, style="yellow"))
    if not predictions:
        raise InputError(f"no prediction is for {', '.join(ids)}")
    return predictions


def _refuse_wrong_controls(folder: RunFolder) -> None:
    """Exit code 1 where a fix is not resolved or an empty patch is, since no verdict on that task means anything."""
    wrong = [
        f"{report.instance_id}: {report.model_name_or_path} is {report.outcome}"
        + (f" ({report.reason})" if report.reason else "")
        for report in folder.reports()
        if report.model_name_or_path in (GOLD, NULL) and report.resolved is not (report.model_name_or_path == GOLD)
    ]
    if wrong:
        raise AnswerIsNoError(
            "\n  ".join((f"{len(wrong)} of the controls came out wrong:", *wrong)),
            hint="a fix has to be resolved and an empty patch must not be: retire such a task, or mine it again",
        )


def _refuse_gaps(folder: RunFolder) -> None:
    """Exit code 4 where something could not be scored, so that no script takes a gap for a score; 70 for a bug."""
    gaps = [report for report in folder.reports() if report.outcome == "infra_error"]
    if not gaps:
        return
    if bugs := [report for report in gaps if report.cause == "bug"]:
        raise BugError(
            f"{len(bugs)} prediction(s) could not be scored, such as {bugs[0].instance_id}: {bugs[0].reason}",
            hint=f"please report it with the log, which is in {bug_log.folder()}",
        )
    raise InfrastructureError(
        f"{len(gaps)} prediction(s) could not be scored, such as {gaps[0].instance_id}: {gaps[0].reason}",
        hint="mend the cause, then run the same command with --retry-errors",
    )

"""`goldseam evaluate`: from predictions to verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.analysis import scoresheet
from harness.cli import options
from harness.cli.shell import complete
from harness.cli.shell.command import App, argument, note_renamed, option
from harness.cli.shell.help import ADVANCED
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import AnswerIsNoError, BugError, InfrastructureError, InputError
from harness.core.wording import counted
from harness.dataset.folder import Dataset
from harness.dataset.splits import known_split
from harness.grading.scoring import Demands
from harness.runs import bug_log, run_folder
from harness.runs import evaluate as work
from harness.runs.predictions import GOLD, NULL, read_predictions
from harness.runs.regrade import State, regrade
from harness.runs.run_folder import InstanceReport
from harness.sandbox.executors.choose import Kind, choose

app = App()


@app.add(
    examples={
        "goldseam evaluate bench -p predictions.jsonl -o runs/model": "Score a file of predictions",
        "goldseam evaluate bench --gold --null -o runs/controls": "Check that every fix resolves its task and no change resolves none",
        "goldseam evaluate bench -p predictions.jsonl -o runs/model --retry-errors": "Score again what the engine failed to score",
    }
)
def evaluate(
    dataset: options.DatasetSource,
    out: Annotated[
        Path | None,
        option(
            "-o, --output RUN",
            "Run folder to write (required); an unfinished run is continued.",
            shown=False,
            parser=options.output_folder,
        ),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        option(
            "-p, --predictions PATH",
            "Predictions file, an agent's output folder, or `-` for standard input (repeatable).",
        ),
    ] = None,
    gold: Annotated[bool, option("--gold", "Score the known fixes; all must resolve.")] = False,
    null: Annotated[bool, option("--null", "Score an empty change; nothing may resolve.")] = False,
    ids: options.IdsOption = None,
    split: Annotated[
        str,
        option(
            "--split SPLIT",
            "Only tasks of this split: holdout, dev, retired or all. -i takes precedence.",
            autocompletion=complete.splits,
        ),
    ] = "holdout",
    jobs: options.JobsOption = None,
    force: Annotated[bool, option("--force", "Score again what this or another run has scored already.")] = False,
    retry_errors: Annotated[
        bool, option("--retry-errors", "Score again what could not be scored for lack of infrastructure.")
    ] = False,
    json_: options.JsonFlag = False,
    model_name: Annotated[
        str | None, option("--model-name MODEL", "Model of predictions that name none.", ADVANCED)
    ] = None,
    timeout: Annotated[
        float | None,
        option(
            "--timeout SECONDS", "Time limit for one task's tests.", ADVANCED, min=0.1, shown="the task's own budget"
        ),
    ] = None,
    control: Annotated[
        int, option("--control N", "Tasks on which the known fix is run, too, to time this machine.", ADVANCED, min=0)
    ] = work.CONTROLS,
    signals: Annotated[
        bool,
        option(
            "--signals/--no-signals",
            "Skip lint, security and complexity figures, which are measured beside the verdict and never change it.",
            ADVANCED,
        ),
    ] = True,
    replay: Annotated[
        bool,
        option(
            "--replay",
            "Also replay recorded calls (`goldseam holdout calls`) on patches that resolve, and report how often "
            "they answer as the fix does.",
            ADVANCED,
        ),
    ] = False,
    regrade_run: Annotated[Path | None, option("--regrade", "Old spelling of `goldseam regrade`.", hidden=True)] = None,
    append: Annotated[
        bool, option("--append", "Add another model's verdicts to a run that has some already.", ADVANCED)
    ] = False,
    executor: options.ExecutorOption = Kind.LOCAL,
    address: options.AddressOption = None,
    runtime: options.RuntimeOption = None,
    engine_wait: options.EngineWaitOption = 60.0,
    identity: options.IdentityOption = None,
    keep_evidence: Annotated[
        bool,
        option(
            "--keep-evidence",
            "Leave test output and results readable in RUN even though the dataset is sealed.",
            ADVANCED,
        ),
    ] = False,
) -> int:
    """Score model patches: apply each, run the hidden tests in a locked-down container, and record whether it resolves."""
    opened = options.open_with(dataset, identity)
    if regrade_run is not None:
        note_renamed("goldseam evaluate DATASET --regrade RUN", "goldseam regrade DATASET RUN")
        if out or predictions or gold or null:
            raise InputError("--regrade takes no predictions and no -o", hint="goldseam regrade DATASET RUN")
        return _regrade(opened, regrade_run, ids=ids or [], json_=json_)
    if out is None:
        raise InputError("no run folder was named", hint="name the folder to write with -o RUN")
    known_split(opened, split)
    chosen_split = None if split == "all" else split
    predictionses = [read_predictions(path, model_name=model_name) for path in predictions or []]
    chosen_predictions = work.select(
        opened,
        predictionses,
        gold=gold,
        null=null,
        ids=ids or [],
        split=None if ids else chosen_split,
        note=lambda text: terminal.messages().print(Text(text, style="yellow")),
    )
    chosen = load_settings()
    settings = work.Settings(
        demands=Demands(timeout=timeout),
        retry_errors=retry_errors,
        cache=not force,
        runtime=runtime,
        executor=executor.value,
        control=control,
        signals=signals,
        split=chosen_split,
        replay=replay,
        keep_evidence=keep_evidence,
    )
    with terminal.Ticker(terminal.messages(), "evaluate", quiet=json_) as ticker:
        report = work.evaluate(
            opened,
            chosen_predictions,
            out,
            executor=choose(executor, address=address, jobs=jobs),
            settings=settings,
            observer=terminal.RunTicker(ticker),
            cache_dir=chosen.images.cache_dir,
            semgrep_rules=chosen.signals.semgrep_rules,
            engine_wait=engine_wait,
            sources=predictions or (),
            append=append,
        )
    folder = run_folder.RunFolder(path=out)
    reports = tuple(folder.reports())
    if json_:
        options.print_json(report)
    else:
        console = terminal.results()
        scores = run_folder.scores(folder.predictions(), reports)
        console.print(terminal.score_table(scores))
        for line in (
            *terminal.kind_lines(scores),
            *terminal.standing_lines(sheet.whole() for sheet in scoresheet.read(out)),
        ):
            console.print(line, soft_wrap=not console.is_terminal)
        console.print(Text(f"report: {out / run_folder.REPORT_FILE}", style="bright_black"), soft_wrap=True)
    _refuse_gaps(reports)
    _refuse_wrong_controls(reports)
    return 0


@app.add(
    "regrade",
    examples={
        "goldseam regrade bench runs/model": "Apply today's rules to a run",
        "goldseam regrade bench runs/model -i acme__app-12": "Regrade one task",
        "goldseam regrade bench runs/model --json": "Print what changed as JSON",
    },
)
def regrade_command(
    dataset: options.DatasetSource,
    run: Annotated[Path, argument("RUN", "Run folder to regrade.")],
    ids: options.IdsOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> int:
    """Derive a run's verdicts again by today's rules from what it saved, without containers. Exit code 1 if some can't be derived."""
    return _regrade(options.open_with(dataset, identity), run, ids=ids or [], json_=json_)


def _regrade(dataset: Dataset, run: Path, *, ids: Sequence[str], json_: bool) -> int:
    """Regrade a run folder and show what changed; exit code 1 where something could not be regraded."""
    summary = regrade(dataset, run, ids=work.scorable_ids(dataset, ids) if ids else ())
    predictions = [prediction for prediction in summary.predictions if prediction.state is not State.UNCHANGED]
    if json_:
        options.print_json(summary.as_json())
    else:
        console = terminal.results()
        if predictions:
            console.print(terminal.regrade_table(predictions))
        counts = (f"{summary.count(state)} {state.value.replace('_', ' ')}" for state in State if summary.count(state))
        console.print(Text(f"regraded {run}: {', '.join(counts) or 'it has no predictions'}"))
    left = summary.count(State.NOT_REGRADED)
    if left:
        raise AnswerIsNoError(
            f"{left} of {counted(len(summary.predictions), 'prediction')} could not be regraded; "
            "their verdicts are as they were",
            hint="run the same evaluation again with --force to score them by today's rules",
        )
    return 0


def _refuse_wrong_controls(reports: Sequence[InstanceReport]) -> None:
    """Exit code 1 where a fix is not resolved or an empty patch is, since no verdict on that task means anything."""
    wrong = [
        f"{report.instance_id}: {report.model_name_or_path} is {report.outcome}"
        + (f" ({report.reason})" if report.reason else "")
        for report in reports
        if report.model_name_or_path in (GOLD, NULL) and report.resolved is not (report.model_name_or_path == GOLD)
    ]
    if wrong:
        raise AnswerIsNoError(
            "\n  ".join((f"{len(wrong)} of the controls came out wrong:", *wrong)),
            hint="a known fix must resolve its task and an empty patch must not: retire such a task, or mine it again",
        )


def _refuse_gaps(reports: Sequence[InstanceReport]) -> None:
    """Exit code 4 where something could not be scored, so that no script takes a gap for a score; 70 for a bug."""
    gaps = [report for report in reports if report.outcome == "infra_error"]
    if not gaps:
        return
    if bugs := [report for report in gaps if report.cause == "bug"]:
        raise BugError(
            f"{counted(len(bugs), 'prediction')} could not be scored, such as {bugs[0].instance_id}: {bugs[0].reason}",
            hint=f"please report it with the log, which is in {bug_log.folder()}",
        )
    raise InfrastructureError(
        f"{counted(len(gaps), 'prediction')} could not be scored, such as {gaps[0].instance_id}: {gaps[0].reason}",
        hint="fix the cause, then run the same command with --retry-errors",
    )

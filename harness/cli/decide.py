"""The commands from runs to decisions: which model is better, how sure that is, whether it may ship."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from harness.analysis import cohorts, scoresheet
from harness.analysis import compare as comparison
from harness.analysis import history as trends
from harness.analysis.cohorts import CohortKey, Cutoffs
from harness.analysis.gate import files
from harness.cli.options import JsonFlag, one_result_on_stdout, print_json
from harness.cli.shell import complete
from harness.cli.shell.command import App, argument, option
from harness.cli.shell.help import ADVANCED
from harness.cli.views import compare as compare_view
from harness.cli.views import gate as gate_text
from harness.cli.views import history as history_text
from harness.cli.views import scores as score_view
from harness.cli.views import terminal
from harness.config.settings import load_gate_rules, load_policy
from harness.core.errors import InputError
from harness.core.files import STANDARD_OUTPUT
from harness.report import plain
from harness.report import work as report_files

app = App()


class View(StrEnum):
    """What `goldseam report` shows."""

    REPORT = "report"
    SCORES = "scores"


def _one_model(spelling: str, text: str) -> Any:
    return option(spelling, text, shown="its only model", autocompletion=complete.models)


RunsArgument = Annotated[list[Path], argument("RUN...", "Run folders.")]
DatasetOption = Annotated[
    Path | None,
    option(
        "--dataset DATASET", "Dataset that says which state tasks are in now.", ADVANCED, shown="what the run recorded"
    ),
]
ByOption = Annotated[
    list[CohortKey] | None,
    option(
        "--by KEY",
        f"Break scores down (repeatable) by {', '.join(CohortKey)}.",
        shown=False,
        autocompletion=lambda incomplete: [key for key in CohortKey if key.startswith(incomplete)],
    ),
]
ModelsOption = Annotated[
    list[str] | None,
    option(
        "--model MODEL", "Show only this model in the scores (repeatable).", shown="all", autocompletion=complete.models
    ),
]
SamplesOption = Annotated[
    list[int] | None, option("-k N", "Add pass@N and pass^N to the scores (repeatable).", min=1, shown=False)
]
CutoffOption = Annotated[
    list[str] | None,
    option(
        "--cutoff DATE|MODEL=DATE",
        "Training cut-off of all models or of one (repeatable), for --by cutoff and --by window.",
        ADVANCED,
    ),
]


def _cutoffs(words: Sequence[str] | None) -> Cutoffs:
    """The cut-offs of the command line over those of goldseam.toml."""
    return cohorts.parse_cutoffs(words or (), load_policy().cutoffs)


def _show(renderable: RenderableType, *, console: Console | None = None) -> None:
    """Print a result, also where the terminal can't show our signs."""
    console = console or terminal.results()
    with console.capture() as captured:
        console.print(renderable)
    typer.echo(plain.encodable(captured.get(), console.encoding), nl=False, err=console.stderr)


@app.add(
    examples={
        "goldseam report runs/model": "Show the results on the terminal",
        "goldseam report runs/a runs/b --dataset bench -o report.html": "Write one HTML page about two runs",
        "goldseam report runs/model --view scores --by repo -k 5": "Show the table of scores by repository, with pass@5",
    }
)
def report(
    runs: RunsArgument,
    out: Annotated[
        Path | None,
        option(
            "-o, --output FILE",
            "HTML file to write, or `-` for standard output.",
            shown="show the report on the terminal",
        ),
    ] = None,
    view: Annotated[View, option("--view", "The whole report, or the table of scores alone.")] = View.REPORT,
    dataset: Annotated[
        Path | None, option("--dataset DATASET", "Dataset that adds statements, task facts and the funnel.")
    ] = None,
    models: ModelsOption = None,
    by: ByOption = None,
    k: SamplesOption = None,
    text: Annotated[bool, option("--text", "Print the report on the terminal too when -o writes a file.")] = False,
    json_: JsonFlag = False,
    baseline: Annotated[
        Path | None,
        option("--baseline RUN", "Also ask the gate whether the best model may ship after this run.", ADVANCED),
    ] = None,
    with_hidden: Annotated[
        bool, option("--with-hidden", "Include hidden test ids, known fixes and test output.", ADVANCED)
    ] = False,
    cutoff: CutoffOption = None,
) -> None:
    """Show results: which model is better, how sure that is, and where it fails. On the terminal, as HTML, or as JSON."""
    if view is View.SCORES:
        if out or text or baseline or with_hidden:
            raise InputError(
                "--view scores goes without -o, --text, --baseline and --with-hidden",
                hint="leave these out, or leave --view out",
            )
        scores(runs, models=models, k=k, dataset=dataset, by=by, json_=json_, cutoff=cutoff)
        return
    if models or by or k:
        raise InputError("--model, --by and -k belong to the table of scores", hint="add --view scores")
    if text and json_:
        raise InputError("--text and --json exclude each other", hint="give one of them")
    one_result_on_stdout(out, other=text or json_)
    rules = load_gate_rules() if baseline else None
    report_made = report_files.make(
        runs, dataset=dataset, with_hidden=with_hidden, baseline=baseline, rules=rules, cutoffs=_cutoffs(cutoff)
    )
    if out:
        report_made.write_page(out)
    console = terminal.results()
    if json_:
        print_json(report_made.as_json(page_file=out))
    elif text or not out:
        _show(plain.display(report_made.found, report_made.said, width=console.width))
    if out and not json_ and out != STANDARD_OUTPUT:
        console.print(Text(f"report: {out}"), soft_wrap=True)


@app.add(
    examples={
        "goldseam compare runs/base runs/candidate": "Compare two runs",
        "goldseam compare runs/both runs/both --baseline-model model-a --model model-b": "Compare two models of one run",
        "goldseam compare runs/base runs/candidate --by repo --json": "Print the comparison by repository as JSON",
    }
)
def compare(
    base: Annotated[Path, argument("BASE", "Run folder to compare with.")],
    candidates: Annotated[
        list[Path], argument("CANDIDATE...", "Run folders; name BASE again to compare its own models.")
    ],
    base_model: Annotated[
        str | None, _one_model("--baseline-model MODEL", "The model of BASE, if it holds several.")
    ] = None,
    models: Annotated[
        list[str] | None,
        option(
            "--model MODEL",
            "Only this candidate (repeatable).",
            shown="all but gold and null",
            autocompletion=complete.models,
        ),
    ] = None,
    by: ByOption = None,
    flips: Annotated[int, option("--flips N", "List at most this many tasks gained, and as many lost.", min=0)] = 20,
    dataset: DatasetOption = None,
    json_: JsonFlag = False,
    cutoff: CutoffOption = None,
) -> None:
    """Compare a candidate with a base, task by task: better, worse, or can't tell."""
    keys, days = by or [], _cutoffs(cutoff)
    sheet = comparison.pick(scoresheet.read(base, dataset=dataset), base_model)
    runs = [scoresheet.read(run, dataset=dataset) for run in dict.fromkeys(candidates)]
    comparisons = comparison.compare_all(sheet, comparison.pick_candidates(runs, models or [], base=sheet))
    if json_:
        print_json(compare_view.as_json(comparisons, by=keys, cutoffs=days))
    else:
        _show(compare_view.render(comparisons, by=keys, cutoffs=days, flips=flips))


@app.add(
    examples={
        "goldseam scores runs/model": "Show the scores of a run",
        "goldseam scores runs/a runs/b --by repo": "Show the scores of two runs by repository",
        "goldseam scores runs/model -k 1 -k 5": "Show pass@1 and pass@5",
    }
)
def scores(
    runs: RunsArgument,
    models: ModelsOption = None,
    k: SamplesOption = None,
    dataset: DatasetOption = None,
    by: ByOption = None,
    own_runner: Annotated[
        bool, option("--own-runner", "Count tasks judged by a repository's own runner too.", ADVANCED)
    ] = False,
    json_: JsonFlag = False,
    cutoff: CutoffOption = None,
) -> None:
    """Show the table of scores with intervals and coverage: `goldseam report --view scores`."""
    keys, days = by or [], _cutoffs(cutoff)
    sheets = [sheet for run in dict.fromkeys(runs) for sheet in scoresheet.read(run, dataset=dataset)]
    chosen = scoresheet.only_models([sheet.whole() for sheet in sheets] if own_runner else sheets, models or [])
    if json_:
        print_json(score_view.as_json(chosen, k=k or [], by=keys, cutoffs=days))
    else:
        _show(score_view.render(chosen, k=k or [], by=keys, cutoffs=days))


@app.add(
    examples={
        "goldseam gate runs/candidate --baseline runs/base": "Ask whether a candidate may ship after a baseline",
        "goldseam gate runs/candidate --baseline accepted.json --accept-to accepted.json --allow-missing-baseline": "Keep each passing run as the next baseline",
        "goldseam gate runs/candidate --baseline runs/base --junit gate.xml --summary gate.md": "Write what a CI system shows",
    }
)
def gate(
    candidate: Annotated[Path, argument("CANDIDATE", "Run folder.")],
    baseline: Annotated[Path | None, option("--baseline BASE", "Run folder, or a file that --accept-to wrote.")] = None,
    model: Annotated[str | None, _one_model("--model MODEL", "The candidate, if its run holds several models.")] = None,
    baseline_model: Annotated[
        str | None, _one_model("--baseline-model MODEL", "The baseline, if its run holds several models.")
    ] = None,
    confirm_run: Annotated[
        Path | None, option("--confirm-run RUN", "Run with fresh samples in which a regression has to show too.")
    ] = None,
    allow_missing_baseline: Annotated[
        bool, option("--allow-missing-baseline", "Without a baseline, apply only the rules that need none.")
    ] = False,
    accept_to: Annotated[
        Path | None, option("--accept-to FILE", "If the candidate passes, write it to this file as the next baseline.")
    ] = None,
    max_drop: Annotated[
        float | None,
        option("--max-drop SHARE", "Share of tasks that may be lost, such as 0.05.", shown="[gate] max_drop"),
    ] = None,
    junit: Annotated[Path | None, option("--junit FILE", "Write JUnit XML to this file.")] = None,
    summary: Annotated[Path | None, option("--summary FILE", "Write a Markdown summary to this file.")] = None,
    json_: JsonFlag = False,
    sarif: Annotated[Path | None, option("--sarif FILE", "Write the findings as SARIF to this file.", ADVANCED)] = None,
    dataset: DatasetOption = None,
    mode: Annotated[
        str | None,
        option("--mode no-worse-than|no-regression", "What a candidate has to show.", ADVANCED, shown="[gate] mode"),
    ] = None,
    require: Annotated[
        str | None,
        option(
            "--require host|mixed|inside|declared|own_runner",
            "Count only tasks judged in this place or a stronger one.",
            ADVANCED,
            shown="[gate] require",
        ),
    ] = None,
    with_hidden: Annotated[
        bool, option("--with-hidden", "Name files of the fix where gold is the candidate.", ADVANCED)
    ] = False,
    allow_unauthenticated: Annotated[
        bool,
        option(
            "--allow-unauthenticated",
            "Count reports of other machines too, which carry no MAC of this machine's key.",
            ADVANCED,
        ),
    ] = False,
) -> int:
    """Decide whether a run may ship. Exit code 0: pass, 1: regression, 3: can't tell."""
    is_taken = one_result_on_stdout(junit, sarif, summary, accept_to, other=json_)
    rules = load_gate_rules(flags={"max_drop": max_drop, "mode": mode, "require": require})
    question = files.Question(
        candidate=candidate,
        baseline=baseline,
        first=allow_missing_baseline,
        confirm=confirm_run,
        dataset=dataset,
        model=model,
        baseline_model=baseline_model,
        with_hidden=with_hidden,
        allow_unauthenticated=allow_unauthenticated,
    )
    answer = files.ask(question, rules)
    decision = answer.decision
    files.leave(decision, junit_file=junit, sarif_file=sarif, summary_file=summary)
    accepted = files.accept(answer, accept_to) if accept_to else False
    if json_:
        print_json(gate_text.as_json(decision))
    else:
        console = terminal.messages() if is_taken else terminal.results()
        _show(gate_text.render(decision), console=console)
        if accepted:
            console.print(Text(f"accepted: {accept_to}", style="bright_black"), soft_wrap=True)
    for line in files.tell_github(decision):
        typer.echo(line, err=True)
    return decision.exit_code


@app.add(
    examples={
        "goldseam history runs": "Show how each model developed",
        "goldseam history runs --model model-a": "Show one model",
        "goldseam history runs --json": "Print the trend as JSON",
    }
)
def history(
    runs_dir: Annotated[Path, argument("RUNS_DIR", "Folder that holds run folders.")],
    model: Annotated[str | None, option("--model MODEL", "Only this model.", shown="all")] = None,
    dataset: DatasetOption = None,
    json_: JsonFlag = False,
) -> None:
    """Plot each model's runs by date, and find the run where its score changed."""
    trend = trends.read(runs_dir, model=model, dataset=dataset)
    if json_:
        print_json(history_text.as_json(trend))
    else:
        console = terminal.results()
        console.print(history_text.render(trend, width=console.width))

"""The commands from runs to decisions: which model is better, how sure that is, whether it may ship."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from harness.analysis import compare as comparison
from harness.analysis import cutoffs, scoresheet
from harness.analysis import history as trends
from harness.analysis.cohorts import CohortKey
from harness.analysis.gate import files
from harness.cli.options import JsonFlag, one_result_on_stdout, print_json
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.analysis.cutoffs import Cutoffs

app = typer.Typer()

DatasetOption = Annotated[
    Path | None, typer.Option("--dataset", metavar="DATASET", help="Says what the tasks are now; else the run says.")
]
ByOption = Annotated[
    list[CohortKey] | None, typer.Option("--by", help="Break down by this (repeatable).", show_default=False)
]
CutoffOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cutoff",
        metavar="DATE|MODEL=DATE",
        help="Training cut-off of all models or of one (repeatable), for --by cutoff and --by window.",
    ),
]


def _cutoffs(words: Sequence[str] | None) -> Cutoffs:
    """The cut-offs of the command line over those of goldseam.toml."""
    return cutoffs.parse(words or (), load_policy().cutoffs)


def _show(renderable: RenderableType, *, console: Console | None = None) -> None:
    """Print a result, also where the terminal can't show our signs."""
    console = console or terminal.results()
    with console.capture() as captured:
        console.print(renderable)
    typer.echo(plain.encodable(captured.get(), console.encoding), nl=False, err=console.stderr)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The HTML file to write.", show_default=False)
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DATASET", help="Adds statements, task facts and the funnel.")
    ] = None,
    with_hidden: Annotated[
        bool, typer.Option("--with-hidden", help="Put hidden test ids, gold patches and test output in it too.")
    ] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Print it for a terminal; what happens where no FILE is given.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="BASE", help="Ask the gate too: may the best model ship, after this run?"),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings with a gate section.")
    ] = None,
    cutoff: CutoffOption = None,
    json_: JsonFlag = False,
) -> None:
    """Say which model is better, how sure that is, where it fails: as one HTML file, on the terminal, or as JSON."""
    if text and json_:
        raise InputError("--text and --json exclude each other", hint="give one of them")
    one_result_on_stdout(out, other=text or json_)
    rules = load_gate_rules(config) if baseline else None
    report_made = report_files.make(
        runs, dataset=dataset, with_hidden=with_hidden, baseline=baseline, rules=rules, cutoffs=_cutoffs(cutoff)
    )
    if out:
        report_made.write_page(out)
    console = terminal.results()
    if json_:
        print_json(report_made.as_json(page_file=out))
    elif text or not out:
        with console.capture() as captured:
            console.print(plain.display(report_made.found, report_made.said, width=console.width))
        typer.echo(plain.encodable(captured.get(), console.encoding), nl=False)
    if out and not json_ and out != STANDARD_OUTPUT:
        console.print(Text(f"report: {out}"), soft_wrap=True)


@app.command()
def compare(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="Run folder to compare with.", show_default=False)],
    candidates: Annotated[
        list[Path], typer.Argument(metavar="CANDIDATE...", help="Run folders; BASE again to compare its own models.")
    ],
    base_model: Annotated[str | None, typer.Option("--base-model", help="The one meant, of several in BASE.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", help="Only this candidate (repeatable); by default all but gold, null."),
    ] = None,
    dataset: DatasetOption = None,
    by: ByOption = None,
    cutoff: CutoffOption = None,
    flips: Annotated[int, typer.Option("--flips", min=0, help="Most tasks to list that were gained, and lost.")] = 20,
    json_: JsonFlag = False,
) -> None:
    """Say whether a candidate is better than a base, worse, or that it can't be told, paired task by task."""
    keys, days = by or [], _cutoffs(cutoff)
    sheet = comparison.pick(scoresheet.read(base, dataset=dataset), base_model)
    runs = [scoresheet.read(run, dataset=dataset) for run in dict.fromkeys(candidates)]
    comparisons = comparison.compare_all(sheet, comparison.pick_candidates(runs, models or [], base=sheet))
    if json_:
        print_json(compare_view.as_json(comparisons, by=keys, cutoffs=days))
    else:
        _show(compare_view.render(comparisons, by=keys, cutoffs=days, flips=flips))


@app.command()
def scores(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    models: Annotated[list[str] | None, typer.Option("--model", help="Only this model (repeatable).")] = None,
    k: Annotated[
        list[int] | None, typer.Option("-k", min=1, help="Show pass@k and pass^k too (repeatable).", show_default=False)
    ] = None,
    dataset: DatasetOption = None,
    by: ByOption = None,
    cutoff: CutoffOption = None,
    own_runner: Annotated[
        bool, typer.Option("--own-runner", help="Count what is judged by a repository's own runner too.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Show the models' scores with intervals and coverage, over all tasks and broken down."""
    keys, days = by or [], _cutoffs(cutoff)
    sheets = [sheet for run in dict.fromkeys(runs) for sheet in scoresheet.read(run, dataset=dataset)]
    chosen = scoresheet.only_models([sheet.whole() for sheet in sheets] if own_runner else sheets, models or [])
    if json_:
        print_json(score_view.as_json(chosen, k=k or [], by=keys, cutoffs=days))
    else:
        _show(score_view.render(chosen, k=k or [], by=keys, cutoffs=days))


@app.command()
def gate(
    candidate: Annotated[Path, typer.Argument(metavar="CANDIDATE", help="Run folder.", show_default=False)],
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="BASE", help="Run folder, or a file of --accept-to.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings with a gate section.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The candidate, where its run holds several.")] = None,
    baseline_model: Annotated[
        str | None, typer.Option("--baseline-model", "--base-model", help="The baseline, where its run holds several.")
    ] = None,
    dataset: DatasetOption = None,
    confirm: Annotated[
        Path | None, typer.Option("--confirm", metavar="RUN", help="Fresh samples: a regression has to show there too.")
    ] = None,
    first: Annotated[
        bool, typer.Option("--first", help="The baseline may be missing: then ask the rules that need none.")
    ] = False,
    accept_to: Annotated[
        Path | None, typer.Option("--accept-to", metavar="FILE", help="Where it passes, keep it as the next baseline.")
    ] = None,
    max_drop: Annotated[float | None, typer.Option(help="Share that may be lost, such as 0.05.")] = None,
    mode: Annotated[str | None, typer.Option(help="no-worse-than or no-regression.")] = None,
    require: Annotated[
        str | None,
        typer.Option(help="Count tasks judged here or stronger: host, mixed, inside, own_runner."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option("--sarif", metavar="FILE", help="Write findings as SARIF.")] = None,
    summary: Annotated[Path | None, typer.Option("--summary", metavar="FILE", help="Write Markdown.")] = None,
    with_hidden: Annotated[
        bool, typer.Option("--with-hidden", help="Also name files of the fix where gold is the candidate.")
    ] = False,
    allow_unauthenticated: Annotated[
        bool,
        typer.Option(
            "--allow-unauthenticated", help="Count reports of another machine too: without a MAC of this one's key."
        ),
    ] = False,
    json_: JsonFlag = False,
) -> int:
    """Say whether a run may ship: exit code 0 pass, 1 regression, 3 can't tell."""
    taken = one_result_on_stdout(junit, sarif, summary, accept_to, other=json_)
    rules = load_gate_rules(config, flags={"max_drop": max_drop, "mode": mode, "require": require})
    question = files.Question(
        candidate=candidate,
        baseline=baseline,
        first=first,
        confirm=confirm,
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
        console = terminal.messages() if taken else terminal.results()
        _show(gate_text.shown(decision), console=console)
        if accepted:
            console.print(Text(f"accepted: {accept_to}", style="bright_black"), soft_wrap=True)
    for line in files.tell_github(decision):
        typer.echo(line, err=True)
    return decision.exit_code


@app.command()
def history(
    runs_dir: Annotated[
        Path, typer.Argument(metavar="RUNS_DIR", help="Folder that holds run folders.", show_default=False)
    ],
    model: Annotated[str | None, typer.Option("--model", help="This model alone.")] = None,
    dataset: DatasetOption = None,
    json_: JsonFlag = False,
) -> None:
    """Draw each model's runs by date, and find the step where it changed."""
    trend = trends.read(runs_dir, model=model, dataset=dataset)
    if json_:
        print_json(history_text.as_json(trend))
    else:
        console = terminal.results()
        console.print(history_text.shown(trend, width=console.width))

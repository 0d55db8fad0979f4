"""`goldseam mine`: from histories to proved tasks."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.options import AddressOption, ExecutorOption, JobsOption, JsonFlag, RuntimeOption, print_json
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import AnswerIsNoError, InfrastructureError, InputError
from harness.dataset.folder import begun_dataset
from harness.sandbox.executors.choose import Kind, choose
from miner.candidates.funnel import FunnelLine, FunnelSummary, summarise
from miner.cli import display, model_options, repair, statements
from miner.pipeline import mine as pipeline
from miner.pipeline.mine import look
from miner.proof import repeats
from miner.sources.github import Filter
from miner.sources.history import ChangeFilter

if TYPE_CHECKING:
    from harness.config.settings import Settings
    from miner.pipeline.mine import Options

_GITHUB = "GitHub"

app = typer.Typer()


@app.command()
def mine(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help="Path of a git clone, a clone URL; on GitHub an organisation, owner/name or a pull request's URL.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Dataset folder; an unfinished mine into it goes on.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only changes merged on this day or later (YYYY-MM-DD).")] = None,
    until: Annotated[str | None, typer.Option(help="Only changes merged on this day or earlier.")] = None,
    prs: Annotated[list[int] | None, typer.Option("--pr", help="This pull request (repeatable).")] = None,
    commits: Annotated[list[str] | None, typer.Option("--commit", help="This commit (repeatable).")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many candidates, newest first.")] = None,
    runs: Annotated[
        int | None, typer.Option(help="Fresh containers for each of the three states: 3.", show_default=False)
    ] = None,
    flake_bound: Annotated[
        float | None, typer.Option(help="As many runs as keep a test's chance of failing below this share, if clean.")
    ] = None,
    confidence: Annotated[float | None, typer.Option(help="How sure that is: 0.95.", show_default=False)] = None,
    proof_budget_runs: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="Container time of proof and strength: N plain runs: 15 (and 30 s).", show_default=False
        ),
    ] = None,
    proof_budget_seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds on top of that: 30.", show_default=False)
    ] = None,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Keep tasks whose FAIL_TO_PASS is unstable, out of all scores.")
    ] = False,
    reveal: Annotated[
        int, typer.Option("--reveal", min=0, metavar="K", help="Test functions that each task shows; one stays hidden.")
    ] = 0,
    p2p: Annotated[
        str | None,
        typer.Option("--p2p", metavar="touched|all", help="PASS_TO_PASS of the touched test files, or of all of them."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="owner/name, where the source doesn't tell.")] = None,
    no_validate: Annotated[
        bool, typer.Option("--no-validate", help="Stop after the split: candidates without an image.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print candidates and reasons; write nothing.")] = False,
    min_score: Annotated[
        float | None, typer.Option("--min-score", help="Score from which a change is taken for a bug fix.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against", metavar="ROWS.jsonl", help="Leave what nearly stands in this public dataset (repeatable)."
        ),
    ] = None,
    api_url: Annotated[
        str | None, typer.Option("--api-url", help="API of a GitHub Enterprise server.", rich_help_panel=_GITHUB)
    ] = None,
    repos: Annotated[
        list[str] | None,
        typer.Option("--repos", metavar="GLOB", help="Repositories called so; !GLOB: not so.", rich_help_panel=_GITHUB),
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", help="Repositories with this topic.", rich_help_panel=_GITHUB)
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option("--language", help="Repositories mainly in this language.", rich_help_panel=_GITHUB),
    ] = None,
    archived: Annotated[
        bool, typer.Option("--archived", help="Archived repositories too.", rich_help_panel=_GITHUB)
    ] = False,
    forks: Annotated[bool, typer.Option("--forks", help="Forks too.", rich_help_panel=_GITHUB)] = False,
    visibility: Annotated[
        str | None,
        typer.Option("--visibility", help="Only public, private or internal ones.", rich_help_panel=_GITHUB),
    ] = None,
    statement_model: statements.ModelOption = None,
    base_url: model_options.BaseUrlOption = "https://api.openai.com/v1",
    api_key_env: model_options.ApiKeyOption = "OPENAI_API_KEY",
    max_cost: statements.MaxCostOption = None,
    max_tokens: statements.MaxTokensOption = None,
    prices: model_options.PricesOption = None,
    assume_price: model_options.AssumePriceOption = None,
    repair_model: repair.ModelOption = None,
    repair_rounds: repair.RoundsOption = 3,
    repair_max_cost: repair.MaxCostOption = None,
    repair_max_tokens: repair.MaxTokensOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Look again at what was decided before.")] = False,
    no_services: Annotated[
        bool, typer.Option("--no-services", help="Start none of the services that CI declares beside its tests.")
    ] = False,
    platform: Annotated[
        str | None, typer.Option(help="Of the images: os/architecture, such as linux/arm64; else the base's own.")
    ] = None,
    jobs: JobsOption = None,
    executor: ExecutorOption = Kind.LOCAL,
    address: AddressOption = None,
    runtime: RuntimeOption = None,
    json_: JsonFlag = False,
) -> None:
    """Mine a history: find bug fixes with tests, strip the fix, prove each task in a container."""
    often = repeats(runs=runs, flake_bound=flake_bound, confidence=confidence)
    change_filter = ChangeFilter(
        since=_day(since, "--since"),
        until=_day(until, "--until", end=True),
        numbers=frozenset(prs or ()),
        commits=frozenset(commits or ()),
    )
    settings = load_settings(
        images={"services": False if no_services else None, "platform": platform},
        github={"api_url": api_url},
        mining={
            "min_score": min_score,
            "statement_model": statement_model,
            "repair_model": repair_model,
            "p2p": _p2p(p2p),
            "proof_budget_runs": proof_budget_runs,
            "proof_budget_seconds": proof_budget_seconds,
        },
    )
    chosen = Filter(
        names=tuple(repos or ()),
        topics=frozenset(topics or ()),
        languages=frozenset(languages or ()),
        archived=archived,
        forks=forks,
        visibility=_visibility(visibility),
    )
    options = pipeline.Options(
        wanted=change_filter,
        limit=limit,
        runs=often.runs,
        confidence=often.confidence,
        quarantine=quarantine,
        validate=not no_validate,
        fresh=fresh,
        name=name,
        threshold=settings.mining.min_score,
        repositories=chosen,
        against=tuple(against or ()),
        reveal=reveal,
    )
    if dry_run:
        _dry_run(sources, options, settings, json_=json_)
        return
    if out is None:
        raise InputError("where to? give a dataset folder with -o", hint="or look first, with --dry-run")
    models = model_options.ModelOptions(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        max_tokens=max_tokens,
        prices=prices,
        assume_price=assume_price,
    )
    statements.see_that_tests_run(settings, validate=not no_validate)
    repair.see_that_it_can(settings, executor, validate=not no_validate)
    place = choose(executor, address=address, jobs=jobs)
    with begun_dataset(out) as dataset, contextlib.ExitStack() as stack:
        ticker = stack.enter_context(terminal.Ticker(terminal.messages(), "mine", quiet=json_))
        observer = display.MineTicker(ticker)
        stack.enter_context(display.Heartbeat(observer))
        sandbox = stack.enter_context(place.sandbox(runtime=runtime, sweep=not no_validate, note=observer.note))
        if runs is not None and flake_bound is not None:
            observer.warn(often.instead_of(flake_bound))
        writer = stack.enter_context(statements.writer_of(models, settings, dataset, jobs=jobs, warn=observer.warn))
        repairer = stack.enter_context(
            repair.repairer_of(
                replace(models, max_cost=repair_max_cost, max_tokens=repair_max_tokens),
                settings,
                dataset,
                rounds=repair_rounds,
                jobs=jobs,
                warn=observer.warn,
            )
        )
        summary = pipeline.mine(
            sources,
            dataset,
            options,
            settings=settings,
            sandbox=sandbox,
            executor=place,
            observer=observer,
            writer=writer,
            repairer=repairer,
        )
        stack.close()  # progress ends before results are printed
        if json_:
            fields = {"warnings": observer.warnings, **_left(observer), **statements.as_json(writer)}
            print_json({**summary_json(summary), **fields, **repair.as_json(repairer)})
        else:
            console = terminal.results()
            console.print(display.funnel_table(summary))
            if writer is not None:
                console.print(statements.line(writer))
            if repairer is not None:
                console.print(repair.line(repairer))
            console.print(Text(f"dataset: {out}", style="bright_black"))
        _report_left(observer)


def _p2p(word: str | None) -> str | None:
    if word not in (None, "touched", "all"):
        raise InputError(f"--p2p expects touched or all, found {word!r}")
    return word


def _visibility(word: str | None) -> str | None:
    if word not in (None, "public", "private", "internal"):
        raise InputError(f"--visibility expects public, private or internal, found {word!r}")
    return word


def _left(observer: display.MineTicker) -> dict[str, object]:
    return {"not_mined": observer.problems, "not_found": observer.not_found}


def _report_left(observer: display.MineTicker) -> None:
    """Some repositories or changes are left: everything else was mined, but nobody should take it for all."""
    if observer.problems:
        listed = "; ".join(f"{name}: {message}" for name, message in observer.problems.items())
        raise InfrastructureError(
            f"{len(observer.problems)} sources could not be mined: {listed}",
            hint="all others were; run the same command again to try these once more",
        )
    display.report_bugs(observer.bugs)
    if observer.not_found:
        raise AnswerIsNoError(
            "\n  ".join((f"{len(observer.not_found)} of the changes asked for are not there:", *observer.not_found)),
            hint="all others were taken; fetch the branch a pull request was merged into, or pick its merge with"
            " --commit",
        )


def _day(text: str | None, flag: str, *, end: bool = False) -> datetime | None:
    """A day of the command line as a moment in UTC: its first, or its last where `end` is asked for."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{flag} expects a date such as 2026-03-31, found {text!r}") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole_day = end and len(text) <= len("2026-03-31")
    return moment + timedelta(days=1, microseconds=-1) if whole_day else moment


def _dry_run(sources: list[str], options: Options, settings: Settings, *, json_: bool) -> None:
    """Print what recognition makes of every change; nothing is built and nothing written but the bare copy."""
    lines: list[FunnelLine] = []
    console = terminal.results()
    observer = display.MineTicker(terminal.Ticker(terminal.messages(), "mine", quiet=True))
    for line in look(sources, options, settings=settings, observer=observer):
        lines.append(line)
        observer.decided(line)
        if not json_:
            console.print(display.looked_line(line), soft_wrap=True)
    if json_:
        changes = [json.loads(line.model_dump_json()) for line in lines]
        print_json({"changes": changes, "warnings": observer.warnings, **_left(observer)})
    else:
        console.print(display.funnel_table(summarise(lines)))
    _report_left(observer)


def summary_json(summary: FunnelSummary) -> dict[str, object]:
    return {
        "looked_at": summary.looked_at,
        "accepted": summary.accepted,
        "rejected": [
            {"stage": stage.value, "reason": reason, "changes": count}
            for (stage, reason), count in summary.rejected.items()
        ],
    }

"""`goldseam mine`: from histories to proved tasks."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.cli import options
from harness.cli.shell.command import App, argument, option
from harness.cli.shell.help import ADVANCED
from harness.cli.shell.output import CHOICE
from harness.cli.views import terminal
from harness.config.settings import Settings, load_settings
from harness.core.errors import AnswerIsNoError, InfrastructureError, InputError
from harness.core.wording import counted, one_of
from harness.dataset.folder import begun_dataset
from harness.sandbox.executors.choose import Kind, choose
from miner.candidates.funnel import NO_BUG_FIX, FunnelLine, FunnelSummary, summarise
from miner.cli import display, model_options
from miner.pipeline import mine as pipeline
from miner.pipeline.mine import Options, look
from miner.proof import repeats
from miner.sources.address import Filter
from miner.sources.git import is_url
from miner.sources.history import ChangeFilter

_CANDIDATES = f"{ADVANCED}: candidates"
_PROOF = f"{ADVANCED}: proof"
_GITHUB = f"{ADVANCED}: GitHub"

app = App()


@app.add(
    examples={
        "goldseam mine ~/src/app -o bench": "Mine a clone on this machine",
        "goldseam mine acme/app --since 2025-01-01 --limit 50 -o bench": "Mine 50 recent fixes of a GitHub repository",
        "goldseam mine ~/src/app --dry-run": "Show what would be taken for a bug fix, and build nothing",
    }
)
def mine(
    sources: Annotated[
        list[str],
        argument(
            "SOURCE...",
            "Path of a git clone or a clone URL; on GitHub an organisation, owner/name or a pull request's URL.",
        ),
    ],
    out: Annotated[
        Path | None,
        option(
            "-o, --output DATASET",
            "Dataset folder; an unfinished mine into it is continued.",
            shown="none; required without --dry-run",
            parser=options.output_folder,
        ),
    ] = None,
    since: Annotated[
        str | None, option("--since DATE", "Only changes merged on or after this day (YYYY-MM-DD).", shown="all")
    ] = None,
    until: Annotated[
        str | None, option("--until DATE", "Only changes merged on or before this day.", shown="all")
    ] = None,
    prs: Annotated[list[int] | None, option("--pr NUMBER", "Only this pull request (repeatable).")] = None,
    commits: Annotated[list[str] | None, option("--commit SHA", "Only this commit (repeatable).")] = None,
    limit: Annotated[
        int | None, option("--limit N", "At most this many candidates, newest first.", min=1, shown="no limit")
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Print candidates and reasons; build and write nothing.")] = False,
    no_validate: Annotated[
        bool, option("--no-validate", "Stop before images are built: candidates only, nothing proved.")
    ] = False,
    force: Annotated[bool, option("--force", "Decide again on everything decided before.")] = False,
    jobs: options.JobsOption = None,
    json_: options.JsonFlag = False,
    name: Annotated[
        str | None,
        option(
            "--name OWNER/NAME",
            "Repository name, if the source doesn't have one.",
            _CANDIDATES,
            shown="the source's own",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        option(
            "--min-score SCORE",
            "Score from which a change counts as a bug fix.",
            _CANDIDATES,
            shown="2, or [mining] min_score",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        option(
            "--against FILE",
            "Reject near-duplicates of rows in this public dataset, as JSONL (repeatable).",
            _CANDIDATES,
        ),
    ] = None,
    runs: Annotated[
        int | None, option("--runs N", "Fresh containers for each of the three states.", _PROOF, shown="3")
    ] = None,
    flake_bound: Annotated[
        float | None,
        option(
            "--flake-bound SHARE",
            "Repeat the runs until, with none failing, a test's chance of failing is below this share.",
            _PROOF,
        ),
    ] = None,
    confidence: Annotated[
        float | None, option("--confidence SHARE", "Confidence of that bound.", _PROOF, shown="0.95")
    ] = None,
    proof_budget_runs: Annotated[
        float | None,
        option(
            "--proof-budget-runs N",
            "Limit on container time for a task's proof and strength, in plain runs of its tests.",
            _PROOF,
            shown="15, or [mining] proof_budget_runs",
        ),
    ] = None,
    proof_budget_seconds: Annotated[
        float | None,
        option(
            "--proof-budget-seconds SECONDS",
            "Seconds on top of that.",
            _PROOF,
            shown="30, or [mining] proof_budget_seconds",
        ),
    ] = None,
    quarantine: Annotated[
        bool, option("--quarantine", "Keep tasks with unstable FAIL_TO_PASS tests, in quarantine.", _PROOF)
    ] = False,
    reveal: Annotated[
        int, option("--reveal K", "Test functions that each task shows; at least one stays hidden.", _PROOF, min=0)
    ] = 0,
    p2p: Annotated[
        str | None,
        option(
            "--p2p touched|all",
            "Take PASS_TO_PASS from the touched test files, or from all.",
            _PROOF,
            shown="touched, or [mining] p2p",
        ),
    ] = None,
    no_services: Annotated[
        bool, option("--no-services", "Start none of the services that CI declares for its tests.", _PROOF)
    ] = False,
    executor: options.ExecutorOption = Kind.LOCAL,
    address: options.AddressOption = None,
    runtime: options.RuntimeOption = None,
    platform: Annotated[
        str | None,
        option(
            "--platform OS/ARCH", "Platform of the images, such as linux/arm64.", ADVANCED, shown="the base image's own"
        ),
    ] = None,
    api_url: Annotated[
        str | None,
        option("--api-url URL", "API of a GitHub Enterprise server.", _GITHUB, shown="github.com, or [github] api_url"),
    ] = None,
    repos: Annotated[
        list[str] | None,
        option("--repos GLOB", "Only repositories whose name matches; !GLOB leaves them out (repeatable).", _GITHUB),
    ] = None,
    topics: Annotated[
        list[str] | None, option("--topic TOPIC", "Only repositories with this topic (repeatable).", _GITHUB)
    ] = None,
    languages: Annotated[
        list[str] | None,
        option("--language LANGUAGE", "Only repositories mainly in this language (repeatable).", _GITHUB),
    ] = None,
    archived: Annotated[bool, option("--archived", "Include archived repositories.", _GITHUB)] = False,
    forks: Annotated[bool, option("--forks", "Include forks.", _GITHUB)] = False,
    visibility: Annotated[
        str | None,
        option("--visibility public|private|internal", "Only repositories with this visibility.", _GITHUB, shown="all"),
    ] = None,
    statement_model: model_options.StatementModelOption = None,
    base_url: model_options.BaseUrlOption = "https://api.openai.com/v1",
    api_key_env: model_options.ApiKeyOption = "OPENAI_API_KEY",
    max_cost: model_options.StatementMaxCostOption = None,
    max_tokens: model_options.StatementMaxTokensOption = None,
    prices: model_options.PricesOption = None,
    assume_price: model_options.AssumePriceOption = None,
    repair_model: model_options.RepairModelOption = None,
    repair_rounds: model_options.RepairRoundsOption = 3,
    repair_max_cost: model_options.RepairMaxCostOption = None,
    repair_max_tokens: model_options.RepairMaxTokensOption = None,
) -> None:
    """Mine a history: find bug fixes with tests, remove the fix, and prove each task in a container."""
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
            "p2p": p2p and one_of("--p2p", p2p, ("touched", "all")),
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
        visibility=visibility and one_of("--visibility", visibility, ("public", "private", "internal")),
    )
    pipeline_options = pipeline.Options(
        wanted=change_filter,
        limit=limit,
        runs=often.runs,
        confidence=often.confidence,
        quarantine=quarantine,
        validate=not no_validate,
        fresh=force,
        name=name,
        threshold=settings.mining.min_score,
        repositories=chosen,
        against=tuple(against or ()),
        reveal=reveal,
    )
    if dry_run:
        _dry_run(sources, pipeline_options, settings, json_=json_)
        return
    if out is None:
        for source in sources:
            if not is_url(source) and "/" not in source.strip("/") and not Path(source).expanduser().exists():
                raise InputError(
                    f"no such folder: {source}", hint="name a git clone, a clone URL, or owner/name on GitHub"
                )
        raise InputError("no dataset folder was named", hint="name one with -o DATASET, or look first with --dry-run")
    models = model_options.ModelOptions(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        max_tokens=max_tokens,
        prices=prices,
        assume_price=assume_price,
    )
    model_options.see_that_statements_can_be_written(settings, validate=not no_validate)
    model_options.see_that_repairs_can_be_made(settings, executor, validate=not no_validate)
    place = choose(executor, address=address, jobs=jobs)
    with begun_dataset(out) as dataset, contextlib.ExitStack() as stack:
        ticker = stack.enter_context(terminal.Ticker(terminal.messages(), "mine", quiet=json_))
        observer = display.MineTicker(ticker)
        sandbox = stack.enter_context(place.sandbox(runtime=runtime, sweep=not no_validate, note=observer.note))
        if runs is not None and flake_bound is not None:
            observer.warn(often.instead_of(flake_bound))
        writer = stack.enter_context(model_options.writer_of(models, settings, dataset, jobs=jobs, warn=observer.warn))
        repairer = stack.enter_context(
            model_options.repairer_of(
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
            pipeline_options,
            settings=settings,
            sandbox=sandbox,
            executor=place,
            observer=observer,
            writer=writer,
            repairer=repairer,
        )
        stack.close()  # progress ends before results are printed
        if json_:
            fields = {"warnings": observer.warnings, **_left(observer), **model_options.statements_as_json(writer)}
            options.print_json({**summary_json(summary), **fields, **model_options.repairs_as_json(repairer)})
        else:
            console = terminal.results()
            _print_funnel(summary, pipeline_options.threshold)
            if writer is not None:
                console.print(model_options.statements_line(writer))
            if repairer is not None:
                console.print(model_options.repairs_line(repairer))
            console.print(Text(f"dataset: {out}", style="bright_black"))
        _report_left(observer)
        if not json_ and summary.accepted:
            terminal.next_step(f"goldseam holdout ls {out}")


def _left(observer: display.MineTicker) -> dict[str, object]:
    return {"not_mined": observer.problems, "not_found": observer.not_found}


def _report_left(observer: display.MineTicker) -> None:
    """Some repositories or changes are left: everything else was mined, but nobody should take it for all."""
    if observer.problems:
        listed = "; ".join(f"{name}: {message}" for name, message in observer.problems.items())
        raise InfrastructureError(
            f"{counted(len(observer.problems), 'source')} could not be mined: {listed}",
            hint="the others were; run the same command again to try these once more",
        )
    display.report_bugs(observer.bugs)
    if observer.not_found:
        raise AnswerIsNoError(
            "\n  ".join((f"{len(observer.not_found)} of the changes asked for are not there:", *observer.not_found)),
            hint="the others were taken; fetch the branch a pull request was merged into, or pick its merge with"
            " --commit",
        )


def _day(text: str | None, flag: str, *, end: bool = False) -> datetime | None:
    """A day of the command line as a moment in UTC: its first, or its last where `end` is asked for."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{flag}: expected a day such as 2026-03-31, found {text!r}") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole_day = end and len(text) <= len("2026-03-31")
    return moment + timedelta(days=1, microseconds=-1) if whole_day else moment


def _dry_run(sources: list[str], pipeline_options: Options, settings: Settings, *, json_: bool) -> None:
    """Print what recognition makes of every change; nothing is built and nothing written but the bare copy."""
    lines: list[FunnelLine] = []
    console = terminal.results()
    observer = display.MineTicker(terminal.Ticker(terminal.messages(), "mine", quiet=True))
    for line in look(sources, pipeline_options, settings=settings, observer=observer):
        lines.append(line)
        observer.decided(line)
        if not json_:
            console.print(display.looked_line(line), soft_wrap=True)
    if json_:
        changes = [json.loads(line.model_dump_json()) for line in lines]
        options.print_json({"changes": changes, "warnings": observer.warnings, **_left(observer)})
    else:
        _print_funnel(summarise(lines), pipeline_options.threshold)
    _report_left(observer)


def _print_funnel(summary: FunnelSummary, score: float) -> None:
    """The table, and on standard error what a lower score would take as well."""
    terminal.results().print(display.funnel_table(summary))
    if not CHOICE.quiet and score > 0 and (left := summary.rejected.get(NO_BUG_FIX)):
        message = f"not_a_bug_fix: {counted(left, 'change')} with tests; a --min-score below {score:g} takes more"
        terminal.messages().print(Text(message, style="bright_black"), soft_wrap=True)


def summary_json(summary: FunnelSummary) -> dict[str, object]:
    return {
        "looked_at": summary.looked_at,
        "accepted": summary.accepted,
        "rejected": [
            {"stage": stage.value, "reason": reason, "changes": count}
            for (stage, reason), count in summary.rejected.items()
        ],
    }

"""The `goldseam` command: the commands of mining, and those of the harness beside them."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness import cli as harness_cli
from harness import terminal
from harness.cli import JsonFlag, print_json
from harness.errors import InfrastructureError, InputError
from miner import images_cli

if TYPE_CHECKING:
    from miner.funnel import FunnelSummary
    from miner.pipeline import Options

app = harness_cli.app
app.add_typer(images_cli.app, name="images")


@app.callback()
def root() -> None:
    """Turn your own merged bug fixes into a private, proved benchmark for code models."""


@app.command()
def mine(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE…", help="Path of a git clone, bare or not, or a clone URL.")
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Dataset folder; an unfinished mine into it goes on.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only changes merged on this day or later (YYYY-MM-DD).")] = None,
    until: Annotated[str | None, typer.Option(help="Only changes merged on this day or earlier.")] = None,
    prs: Annotated[list[int] | None, typer.Option("--pr", help="This pull request (repeatable).")] = None,
    commits: Annotated[list[str] | None, typer.Option("--commit", help="This commit (repeatable).")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many candidates, newest first.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Fresh containers for each of the three states.")] = 3,
    name: Annotated[str | None, typer.Option(help="owner/name, where the source doesn't tell.")] = None,
    no_validate: Annotated[
        bool, typer.Option("--no-validate", help="Stop after the split: candidates without an image.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print candidates and reasons; write nothing.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Look again at what was decided before.")] = False,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, envvar="GOLDSEAM_JOBS", help="At once.")] = None,
    json_: JsonFlag = False,
) -> None:
    """Mine a history: find bug fixes with tests, strip the fix, prove each task in a container."""
    from harness.dataset.folder import create_dataset  # noqa: PLC0415 - keeps `--help` quick
    from harness.executors.local import LocalExecutor  # noqa: PLC0415
    from harness.sandbox.docker import DockerSandbox  # noqa: PLC0415
    from harness.settings import load_settings  # noqa: PLC0415
    from miner import display, pipeline  # noqa: PLC0415
    from miner.sources.history import ChangeFilter  # noqa: PLC0415

    wanted = ChangeFilter(
        since=_day(since, "--since"),
        until=_day(until, "--until", end=True),
        numbers=frozenset(prs or ()),
        commits=frozenset(commits or ()),
    )
    options = pipeline.Options(wanted=wanted, limit=limit, runs=runs, validate=not no_validate, fresh=fresh, name=name)
    settings = load_settings()
    if dry_run:
        _dry_run(sources, options, json_=json_)
        return
    if out is None:
        raise InputError("where to? give a dataset folder with -o", hint="or look first, with --dry-run")
    dataset = create_dataset(out)
    with (
        DockerSandbox(sweep=not no_validate) as sandbox,
        terminal.Ticker(terminal.messages(), "mine", quiet=json_) as ticker,
    ):
        summary = pipeline.mine(
            sources,
            dataset,
            options,
            settings=settings,
            sandbox=sandbox,
            executor=LocalExecutor(jobs=jobs),
            observer=display.MineTicker(ticker),
        )
    if json_:
        print_json(_summary_json(summary))
    else:
        console = terminal.results()
        console.print(display.funnel_table(summary))
        console.print(Text(f"dataset: {out}", style="bright_black"))


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


def _dry_run(sources: list[str], options: Options, *, json_: bool) -> None:
    """Print what recognition makes of every change; nothing is built and nothing written but the bare copy."""
    from harness.settings import load_settings  # noqa: PLC0415
    from miner import display  # noqa: PLC0415
    from miner.funnel import FunnelLine, summarise  # noqa: PLC0415
    from miner.pipeline import look  # noqa: PLC0415

    lines: list[FunnelLine] = []
    console = terminal.results()
    for source in sources:
        for line in look(source, options, settings=load_settings()):
            lines.append(line)
            if line.accepted and not json_:
                console.print(display.funnel_line(line), Text(" ".join(line.signals), style="cyan"), soft_wrap=True)
    if json_:
        print_json({"changes": [json.loads(line.model_dump_json()) for line in lines]})
    else:
        console.print(display.funnel_table(summarise(lines)))


def _summary_json(summary: FunnelSummary) -> dict[str, object]:
    return {
        "looked_at": summary.looked_at,
        "accepted": summary.accepted,
        "rejected": [
            {"stage": stage.value, "reason": reason, "changes": count}
            for (stage, reason), count in summary.rejected.items()
        ],
    }


@app.command()
def doctor(json_: JsonFlag = False) -> None:
    """Say what is there, what is missing, and the command that mends it; exit code 4 when mining can't run."""
    from harness.doctor import examine  # noqa: PLC0415
    from miner.display import doctor_table  # noqa: PLC0415
    from miner.image.base import DEFAULT_BASE  # noqa: PLC0415

    diagnosis = examine(base=DEFAULT_BASE)
    if json_:
        checks = [
            {"name": check.name, "status": check.status.value, "found": check.found, "mend": check.mend}
            for check in diagnosis.checks
        ]
        print_json({"can_mine": diagnosis.can_mine, "checks": checks})
    else:
        terminal.results().print(doctor_table(diagnosis))
    if not diagnosis.can_mine:
        raise InfrastructureError("mining can't run on this machine yet", hint="mend what is marked `missing` above")


@app.command()
def demo(
    into: Annotated[Path, typer.Option("--into", help="Folder for the demo; an unfinished one in it goes on.")],
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, envvar="GOLDSEAM_JOBS", help="At once.")] = None,
    json_: JsonFlag = False,
) -> None:
    """Show the whole way on a small library of our own: history, tasks, verdicts, report."""
    from harness.executors.local import LocalExecutor  # noqa: PLC0415
    from harness.sandbox.docker import DockerSandbox  # noqa: PLC0415
    from harness.settings import load_settings  # noqa: PLC0415
    from miner import display  # noqa: PLC0415
    from miner.demo import run as demo_run  # noqa: PLC0415

    messages = terminal.messages()
    with DockerSandbox() as sandbox:
        outcome = demo_run.run(
            into,
            settings=load_settings(),
            sandbox=sandbox,
            executor=LocalExecutor(jobs=jobs),
            ticker=lambda title: terminal.Ticker(messages, title, quiet=json_),
        )
    if json_:
        scores = [
            {"model": score.model, "resolved": score.resolved, "scored": score.scored} for score in outcome.scores
        ]
        print_json({"funnel": _summary_json(outcome.funnel), "scores": scores, "report": str(outcome.report)})
        return
    console = terminal.results()
    console.print(Text("\nThe funnel: what became of every change in the history", style="bold"))
    console.print(display.funnel_table(outcome.funnel))
    console.print(Text("\nThe scores: gold must resolve all, null none", style="bold"))
    console.print(terminal.score_table(outcome.scores))
    console.print(Text(f"\ndataset  {into / 'dataset'}\nruns     {into / 'runs'}\nreport   {outcome.report}"))


def main() -> None:
    """The `goldseam` program."""
    sys.exit(harness_cli.run_app(app))


if __name__ == "__main__":
    main()

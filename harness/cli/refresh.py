"""`goldseam holdout refresh`: gold and null again on the whole dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import (
    AddressOption,
    DatasetArgument,
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
from harness.cli.views.refresh import RefreshTicker, refresh_json, refresh_text
from harness.core.errors import AnswerIsNoError, InfrastructureError
from harness.runs.refresh import run as work
from harness.runs.refresh.drift import GONE_WRONG, Result
from harness.sandbox.executors.choose import Kind, choose

if TYPE_CHECKING:
    from harness.runs.refresh.run import Refreshed

app = typer.Typer()


@app.command()
def refresh(
    dataset: DatasetArgument,
    runs: Annotated[int, typer.Option(min=1, help="Runs of gold, and as many of null, on each task.")] = 1,
    ids: Annotated[list[str] | None, typer.Option("-i", "--id", help="Only this task (repeatable).")] = None,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Instead: look whether tasks in quarantine hold again.")
    ] = False,
    jobs: JobsOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Run and tell, and change nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Quarantine though so many drifted that it looks like the machine.")
    ] = False,
    retry: Annotated[
        bool,
        typer.Option(help="Take over what the last refresh has seen, and run what it could not."),
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Write a line into refresh.jsonl though nothing changed.")
    ] = False,
    executor: ExecutorOption = Kind.LOCAL,
    address: AddressOption = None,
    runtime: RuntimeOption = None,
    engine_wait: EngineWaitOption = 60.0,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Prove the dataset again: run gold and null on every task, and quarantine what drifted; exit code 1 if any did."""
    opened = open_with(dataset, identity)
    settings = work.Settings(
        runs=runs,
        quarantined=quarantined,
        dry_run=dry_run,
        force=force,
        retry=retry,
        record=record,
    )
    place = choose(executor, address=address, jobs=jobs)
    with terminal.Ticker(terminal.messages(), "refresh", quiet=json_) as ticker:
        observer = RefreshTicker(ticker)
        with place.sandbox(runtime=runtime, engine_wait=engine_wait, note=observer.note) as sandbox:
            outcome = work.refresh(
                opened,
                ids or (),
                sandbox=sandbox,
                executor=place,
                settings=settings,
                observer=observer,
            )
    if json_:
        print_json(refresh_json(outcome))
    else:
        terminal.results().print(refresh_text(outcome, dataset), soft_wrap=True)
    _answer(outcome, dataset)


def _answer(outcome: Refreshed, dataset: Path) -> None:
    """The exit code: what drifted goes before what could not be looked at, which the next call tells again."""
    wrong, unscored = outcome.of(*GONE_WRONG), outcome.of(Result.UNSCORED)
    if wrong and outcome.mass and not outcome.settings.force:
        raise InfrastructureError(
            f"{len(wrong)} task(s) of {dataset} went wrong at once, so nothing was changed",
            hint="look at the engine and the machine; if it is the tasks, --force --retry quarantines them",
        )
    if wrong and not outcome.settings.quarantined:
        also = f"; {len(unscored)} could not be looked at" if unscored else ""
        raise AnswerIsNoError(f"{len(wrong)} task(s) of {dataset} no longer hold{also}")
    if unscored:
        raise InfrastructureError(
            f"{len(unscored)} task(s) could not be looked at, such as {unscored[0].instance_id}: {unscored[0].why}",
            hint="mend the cause, then run the same command with --retry",
        )

"""`goldseam holdout refresh`: gold and null again on the whole dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli import options
from harness.cli.shell.command import App, option
from harness.cli.shell.help import ADVANCED
from harness.cli.views import terminal
from harness.cli.views.refresh import RefreshTicker, refresh_json, refresh_text
from harness.core.errors import AnswerIsNoError, InfrastructureError
from harness.core.wording import counted
from harness.runs.refresh import run as work
from harness.runs.refresh.drift import GONE_WRONG, Result
from harness.runs.refresh.run import Refreshed
from harness.sandbox.executors.choose import Kind, choose

app = App()


@app.add(
    examples={
        "goldseam holdout refresh bench": "Prove every task again, and quarantine what drifted",
        "goldseam holdout refresh bench --retry-errors": "Continue after an outage",
        "goldseam holdout refresh bench --quarantined --dry-run": "See whether quarantined tasks hold again",
    }
)
def refresh(
    dataset: options.DatasetArgument,
    runs: Annotated[int, option("--runs N", "Runs of the fix on each task, and as many of no change.", min=1)] = 1,
    ids: options.IdsOption = None,
    quarantined: Annotated[
        bool, option("--quarantined", "Check quarantined tasks instead: do they hold again?")
    ] = False,
    jobs: options.JobsOption = None,
    dry_run: Annotated[bool, option("--dry-run", "Run and report, but change nothing.")] = False,
    accept_drift: Annotated[
        bool,
        option("--accept-drift", "Quarantine even when so many tasks drifted that the machine is the likely cause."),
    ] = False,
    retry_errors: Annotated[
        bool, option("--retry-errors", "Keep what the last refresh saw, and run only what it could not.")
    ] = False,
    record: Annotated[
        bool, option("--record", "Add a line to refresh.jsonl even if nothing changed.", ADVANCED)
    ] = False,
    executor: options.ExecutorOption = Kind.LOCAL,
    address: options.AddressOption = None,
    runtime: options.RuntimeOption = None,
    engine_wait: options.EngineWaitOption = 60.0,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Prove a dataset again: run the fix and no change on every task, and quarantine drift. Exit code 1 if any drifted."""
    opened = options.open_with(dataset, identity)
    settings = work.Settings(
        runs=runs,
        quarantined=quarantined,
        dry_run=dry_run,
        force=accept_drift,
        retry=retry_errors,
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
    options.show(refresh_json(outcome) if json_ else refresh_text(outcome, dataset))
    _answer(outcome, dataset)


def _answer(outcome: Refreshed, dataset: Path) -> None:
    """The exit code: what drifted goes before what could not be looked at, which the next call tells again."""
    wrong, unscored = outcome.of(*GONE_WRONG), outcome.of(Result.UNSCORED)
    if wrong and outcome.mass and not outcome.settings.force:
        raise InfrastructureError(
            f"{counted(len(wrong), 'task')} of {dataset} went wrong together, so nothing was changed",
            hint="check the engine and the machine; if the tasks are the cause, --accept-drift --retry-errors quarantines them",
        )
    if wrong and not outcome.settings.quarantined:
        also = f"; {len(unscored)} could not be looked at" if unscored else ""
        raise AnswerIsNoError(
            f"in {dataset}, {counted(len(wrong), 'task no longer holds', 'tasks no longer hold')}{also}"
        )
    if unscored:
        raise InfrastructureError(
            f"{counted(len(unscored), 'task')} could not be looked at, "
            f"such as {unscored[0].instance_id}: {unscored[0].why}",
            hint="fix the cause, then run the same command with --retry-errors",
        )

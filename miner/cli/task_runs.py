"""Commands that run a dataset's tasks on this machine: `goldseam holdout calls`, `strip` and `strength`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Annotated

from rich.table import Column, Table
from rich.text import Text

from harness.cli import options
from harness.cli.shell.command import App, option
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import BugError
from harness.core.wording import counted
from harness.dataset.folder import Dataset
from harness.sandbox.executors.base import Executor
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.job import Sandbox
from harness.solve.workspace.workspace import Workspaces
from miner.calls import recording as calls_work
from miner.calls.recording import Recording
from miner.quality.strength import run as strength_work
from miner.quality.strength.result import Bounds
from miner.quality.strength.run import TaskStrength
from miner.stripping import dataset as stripping
from miner.stripping.dataset import StrippedTask

app = App()


@contextlib.contextmanager
def _bench(
    word: str, *, jobs: int | None, runtime: str | None, quiet: bool
) -> Iterator[tuple[Executor, Sandbox, terminal.Ticker]]:
    """Where tasks run, and the progress that is shown of them."""
    executor = LocalExecutor(jobs=jobs)
    with (
        terminal.Ticker(terminal.messages(), word, quiet=quiet) as ticker,
        executor.sandbox(runtime=runtime, note=ticker.note) as sandbox,
    ):
        yield executor, sandbox, ticker


@app.add(
    "calls",
    examples={
        "goldseam holdout calls bench": "Record the calls of every task",
        "goldseam holdout calls bench -i acme__app-12 --force": "Record one task again",
        "goldseam holdout calls bench -j 2 --json": "Record two tasks in parallel, and print the counts as JSON",
    },
)
def calls_command(
    dataset: options.DatasetArgument,
    ids: options.IdsOption = None,
    jobs: options.JobsOption = None,
    force: Annotated[bool, option("--force", "Record again what is recorded already.")] = False,
    runtime: options.RuntimeOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Record the calls that hidden tests make to code that a fix changes, with similar inputs and the fix's answers."""
    opened = options.open_with(dataset, identity)
    with _bench("calls", jobs=jobs, runtime=runtime, quiet=json_) as (executor, sandbox, ticker):
        recordings = list(
            calls_work.record_calls(
                opened, ids or (), again=force, sandbox=sandbox, executor=executor, note=ticker.note
            )
        )
    if json_:
        options.print_json({"tasks": [calls_work.as_json(recording) for recording in recordings]})
    else:
        _show_calls(recordings)


def _show_calls(recordings: Sequence[Recording]) -> None:
    console = terminal.results()
    columns = [Column(head, no_wrap=True, justify="right") for head in ("calls", "nearby", "telling")]
    table = Table(Column("task", overflow="fold"), *columns, box=None, pad_edge=False)
    for recording in recordings:
        if not recording.unknown:
            table.add_row(
                Text(recording.instance_id), str(recording.calls), str(recording.nearby), str(recording.telling)
            )
    console.print(table)
    console.print(Text("telling: answered differently without the fix", style="bright_black"))
    for recording in recordings:
        if recording.unknown:
            console.print(Text(f"{recording.instance_id}: no calls were recorded: {recording.unknown}"), soft_wrap=True)


@app.add(
    "strip",
    examples={
        "goldseam holdout strip bench": "Strip every task",
        "goldseam holdout strip bench -i acme__app-12 --force": "Strip one task again",
        "goldseam holdout strip bench --json": "Print where each task is judged as JSON",
    },
)
def strip_command(
    dataset: options.DatasetArgument,
    ids: options.IdsOption = None,
    jobs: options.JobsOption = None,
    force: Annotated[bool, option("--force", "Strip again what was stripped before.")] = False,
    runtime: options.RuntimeOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Remove expected values from hidden tests so that the host judges; for tasks mined before goldseam did this."""
    opened = options.open_with(dataset, identity)
    with (
        _bench("strip", jobs=jobs, runtime=runtime, quiet=json_) as (executor, sandbox, ticker),
        Workspaces(runtime=runtime) as workspaces,
    ):
        tasks = list(
            stripping.strip_tasks(
                opened,
                ids or (),
                again=force,
                sandbox=sandbox,
                workspace=workspaces.open,
                executor=executor,
                note=ticker.note,
            )
        )
    if json_:
        options.print_json({"tasks": [stripping.as_json(task) for task in tasks]})
    else:
        _show_stripped(tasks)


def _show_stripped(tasks: Sequence[StrippedTask]) -> None:
    console = terminal.results()
    columns = (Column("task", overflow="fold"), "was judged", "is judged", Column("bits", justify="right"))
    table = Table(*columns, box=None, pad_edge=False)
    for task in tasks:
        bits = "" if task.bits is None else str(int(task.bits))
        table.add_row(Text(task.instance_id), task.before.value, task.after.value, bits)
    console.print(table)
    for task in tasks:
        if task.why_not:
            console.print(Text(f"{task.instance_id} stays as it was: {task.why_not}"), soft_wrap=True)


@app.add(
    "strength",
    examples={
        "goldseam holdout strength bench": "Measure every task",
        "goldseam holdout strength bench -i acme__app-12 --force": "Measure one task again",
        "goldseam holdout strength bench --mutants 50 --dry-run": "Try more mutants, and write nothing",
    },
)
def strength_command(
    dataset: options.DatasetArgument,
    ids: options.IdsOption = None,
    jobs: options.JobsOption = None,
    mutants: Annotated[
        int | None, option("--mutants N", "Mutants of the fix to try, at most.", min=0, shown="[mining] mutants")
    ] = None,
    parts: Annotated[int, option("--parts N", "Parts of the fix to leave out, at most.", min=0)] = 8,
    force: Annotated[bool, option("--force", "Measure again what was measured by the same rules.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Show what was measured, and write nothing.")] = False,
    runtime: options.RuntimeOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Run wrong patches made from each fix, with a part left out or a fault put in, and report which the tests miss."""
    most = load_settings().mining.mutants if mutants is None else mutants
    request = strength_work.StrengthRequest(bounds=Bounds(parts=parts, mutants=most), again=force, write=not dry_run)
    opened = options.open_with(dataset, identity)
    with _bench("strength", jobs=jobs, runtime=runtime, quiet=json_) as (executor, sandbox, ticker):
        strengths = list(
            strength_work.gauge(opened, ids or (), request, sandbox=sandbox, executor=executor, note=ticker.note)
        )
    ordered = strength_work.weakest_first(strengths)
    if json_:
        options.print_json({"tasks": [strength_work.as_json(strength) for strength in ordered], "written": not dry_run})
    else:
        _show_strength(opened, ordered, dry_run=dry_run)
    if bugs := [strength for strength in ordered if strength.bug]:
        raise BugError(
            f"{counted(len(bugs), 'task')} could not be measured, such as {bugs[0].instance_id}: {bugs[0].unknown}",
            hint="the others were measured; run the same command again for these",
        )


def _show_strength(dataset: Dataset, strengths: Sequence[TaskStrength], *, dry_run: bool) -> None:
    console = terminal.results()
    heads = ("killed", "parts", "mutants", "lines run", "s")
    columns = [Column(head, no_wrap=True, justify="right") for head in heads]
    table = Table(Column("task", overflow="fold"), *columns, box=None, pad_edge=False)
    measured = [task_strength for task_strength in strengths if not task_strength.unknown]
    for strength in measured:
        table.add_row(Text(strength.instance_id), *_cells(strength))
    console.print(table)
    console.print(Text("parts, mutants: alive of tried", style="bright_black"))
    for strength in measured:
        if strength.quality["empty"] == "survived":
            text = Text(f"{strength.instance_id} is resolved by a patch that changes nothing", style="bold red")
            console.print(text, soft_wrap=True)
    _show_survivors(dataset, measured, dry_run=dry_run)
    for strength in strengths:
        if strength.unknown:
            console.print(Text(f"{strength.instance_id} was not measured: {strength.unknown}"), soft_wrap=True)
    tried = sum(task_strength.quality["tried"] for task_strength in measured)
    killed = sum(task_strength.quality["killed"] for task_strength in measured)
    total = sum(task_strength.known for task_strength in measured)
    share = f" ({killed / tried:.0%})" if tried else ""
    more = f"; {total} of them measured before" if total else ""
    console.print(Text(f"{counted(len(measured), 'task')}{more}: {killed} of {tried} wrong patches killed{share}"))
    if dry_run:
        console.print(Text("nothing was written"))


def _show_survivors(dataset: Dataset, strengths: Sequence[TaskStrength], *, dry_run: bool) -> None:
    """Where what lives can be read; no more than its place, since it quotes the fix."""
    console = terminal.results()
    for strength in strengths:
        if not strength.files:
            continue
        if dry_run or dataset.sealed:
            where = ", in sealed.age" if dataset.sealed else ""
            text = f"{strength.instance_id}: {counted(len(strength.files), 'survivor')}{where}"
            console.print(Text(text), soft_wrap=True)
            continue
        folder = dataset.task_folder(strength.instance_id)
        for name in strength.files:
            console.print(Text(str(folder / name)), soft_wrap=True)


def _cells(strength: TaskStrength) -> tuple[str, ...]:
    quality = strength.quality
    share, lines = quality["share"], quality["changed_lines"]
    return (
        "–" if share is None else f"{share:.0%}",
        *(f"{quality[kind]['survived']}/{quality[kind]['tried']}" for kind in ("parts", "mutants")),
        "–" if lines is None else f"{quality['covered_lines']}/{lines}",
        f"{strength.seconds:.0f}",
    )

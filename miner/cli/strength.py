"""`goldseam holdout strength`: how much of what should not resolve a task its hidden tests catch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from harness.cli.options import (
    DatasetArgument,
    IdentityOption,
    IdsOption,
    JobsOption,
    JsonFlag,
    RuntimeOption,
    open_with,
    print_json,
)
from harness.cli.shell.command import App
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import BugError
from harness.core.wording import counted
from harness.sandbox.executors.local import LocalExecutor
from miner.quality.strength.result import Bounds
from miner.quality.strength.work import StrengthRequest, as_json, gauge, weakest_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.dataset.folder import Dataset
    from miner.quality.strength.work import TaskStrength

app = App()


@app.add(
    "strength",
    examples={
        "goldseam holdout strength bench": "Measure every task",
        "goldseam holdout strength bench -i acme__app-12 --force": "Measure one task again",
        "goldseam holdout strength bench --mutants 50 --dry-run": "Try more mutants, and write nothing",
    },
)
def strength_command(
    dataset: DatasetArgument,
    ids: IdsOption = None,
    jobs: JobsOption = None,
    mutants: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", show_default="[mining] mutants", help="Mutants of the fix to try, at most."),
    ] = None,
    parts: Annotated[int, typer.Option(min=0, metavar="N", help="Parts of the fix to leave out, at most.")] = 8,
    force: Annotated[bool, typer.Option("--force", help="Measure again what was measured by the same rules.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what was measured, and write nothing.")] = False,
    runtime: RuntimeOption = None,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Run wrong patches made from each fix, with a part left out or a fault put in, and report which the tests miss."""
    most = load_settings().mining.mutants if mutants is None else mutants
    request = StrengthRequest(bounds=Bounds(parts=parts, mutants=most), again=force, write=not dry_run)
    opened = open_with(dataset, identity)
    executor = LocalExecutor(jobs=jobs)
    with (
        terminal.Ticker(terminal.messages(), "strength", quiet=json_) as ticker,
        executor.sandbox(runtime=runtime, note=ticker.note) as sandbox,
    ):
        strengths = list(gauge(opened, ids or (), request, sandbox=sandbox, executor=executor, note=ticker.note))
    ordered = weakest_first(strengths)
    if json_:
        print_json({"tasks": [as_json(strength) for strength in ordered], "written": not dry_run})
    else:
        _show(opened, ordered, dry_run=dry_run)
    if bugs := [strength for strength in ordered if strength.bug]:
        raise BugError(
            f"{counted(len(bugs), 'task')} could not be measured, such as {bugs[0].instance_id}: {bugs[0].unknown}",
            hint="the others were measured; run the same command again for these",
        )


def _show(dataset: Dataset, strengths: Sequence[TaskStrength], *, dry_run: bool) -> None:
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
            where = (
                f"{counted(len(strength.files), 'survivor')}, in sealed.age"
                if dataset.sealed
                else f"{counted(len(strength.files), 'survivor')}"
            )
            console.print(Text(f"{strength.instance_id}: {where}"), soft_wrap=True)
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

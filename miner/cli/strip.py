"""`goldseam holdout strip`: take out of hidden tests what they expect, where that is still in them."""

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
from harness.sandbox.executors.local import LocalExecutor
from harness.solve.workspace.workspace import Workspaces
from miner.stripping.dataset import as_json, strip_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miner.stripping.dataset import StrippedTask

app = App()


@app.add(
    "strip",
    examples={
        "goldseam holdout strip bench": "Strip every task",
        "goldseam holdout strip bench -i acme__app-12 --force": "Strip one task again",
        "goldseam holdout strip bench --json": "Print where each task is judged as JSON",
    },
)
def strip_command(
    dataset: DatasetArgument,
    ids: IdsOption = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Strip again what was stripped before.")] = False,
    runtime: RuntimeOption = None,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Remove expected values from hidden tests so that the host judges; for tasks mined before goldseam did this."""
    opened = open_with(dataset, identity)
    executor = LocalExecutor(jobs=jobs)
    with (
        terminal.Ticker(terminal.messages(), "strip", quiet=json_) as ticker,
        executor.sandbox(runtime=runtime, note=ticker.note) as sandbox,
        Workspaces(runtime=runtime) as workspaces,
    ):
        tasks = list(
            strip_tasks(
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
        print_json({"tasks": [as_json(task) for task in tasks]})
    else:
        _show(tasks)


def _show(tasks: Sequence[StrippedTask]) -> None:
    console = terminal.results()
    columns = [
        Column("task", overflow="fold"),
        Column("was judged"),
        Column("is judged"),
        Column("bits", justify="right"),
    ]
    table = Table(*columns, box=None, pad_edge=False)
    for task in tasks:
        bits = "" if task.bits is None else f"{task.bits:.0f}"
        table.add_row(Text(task.instance_id), task.before.value, task.after.value, bits)
    console.print(table)
    for task in tasks:
        if task.why_not:
            console.print(Text(f"{task.instance_id} stays as it was: {task.why_not}"), soft_wrap=True)

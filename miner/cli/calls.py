"""`goldseam holdout calls`: record what hidden tests ask of each fix, for `goldseam evaluate --replay`."""

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
from miner.calls.work import as_json, record_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miner.calls.work import Recording

app = App()


@app.add(
    "calls",
    examples={
        "goldseam holdout calls bench": "Record the calls of every task",
        "goldseam holdout calls bench -i acme__app-12 --force": "Record one task again",
        "goldseam holdout calls bench -j 2 --json": "Record two tasks in parallel, and print the counts as JSON",
    },
)
def calls_command(
    dataset: DatasetArgument,
    ids: IdsOption = None,
    jobs: JobsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Record again what is recorded already.")] = False,
    runtime: RuntimeOption = None,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Record the calls that hidden tests make to code that a fix changes, with similar inputs and the fix's answers."""
    opened = open_with(dataset, identity)
    executor = LocalExecutor(jobs=jobs)
    with (
        terminal.Ticker(terminal.messages(), "calls", quiet=json_) as ticker,
        executor.sandbox(runtime=runtime, note=ticker.note) as sandbox,
    ):
        recordings = list(
            record_calls(opened, ids or (), again=force, sandbox=sandbox, executor=executor, note=ticker.note)
        )
    if json_:
        print_json({"tasks": [as_json(recording) for recording in recordings]})
    else:
        _show(recordings)


def _show(recordings: Sequence[Recording]) -> None:
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

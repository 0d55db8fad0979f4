"""`goldseam holdout export|push|pull`: a dataset in the formats of other tools, and in an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.cli import options
from harness.cli.shell.command import App, argument, option
from harness.cli.views import terminal
from harness.core.wording import counted
from harness.dataset.folder import open_dataset
from harness.dataset.splits import known_split
from harness.interop import export as work
from harness.interop import sync

app = App()


@app.add(
    examples={
        "goldseam holdout export bench --format jsonl -o tasks.jsonl": "Write the public side, one task a line",
        "goldseam holdout export bench --format harbor --with-hidden -o harbor": "Write tasks that Harbor can run, tests included",
        "goldseam holdout export bench --format jsonl -o -": "Write to standard output",
    }
)
def export(
    dataset: options.DatasetSource,
    to: Annotated[str, option("--format swebench|harbor|inspect|jsonl|parquet", "Format of the tool that reads it.")],
    out: Annotated[
        Path, option("-o, --output PATH", "New folder; for jsonl and parquet a file, or `-` for standard output.")
    ],
    hidden: Annotated[
        bool,
        option("--with-hidden/--public", "Include the hidden tests and fixes; anyone with the export can read them."),
    ] = False,
    ids: options.IdsOption = None,
    split: options.SplitOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Write a dataset for SWE-bench, Harbor, Inspect or Hugging Face datasets; without the hidden side by default."""
    to_stdout = options.one_result_on_stdout(out, other=json_)
    opened = options.open_with(dataset, identity)
    known_split(opened, split)
    console = terminal.messages()
    hidden_of = (lambda instance_id: opened.task(instance_id).hidden) if hidden else None
    exported = work.export(opened, out, to=to, hidden_of=hidden_of, ids=ids or [], split=split)
    if hidden:
        warning = "warning: the export holds the hidden tests and fixes in the clear; keep it where you keep the keys"
        console.print(Text(warning, style="yellow"), soft_wrap=True)
    for note in exported.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    if json_:
        options.print_json(exported.as_json())
        return
    where = "standard output" if to_stdout else exported.path
    side = "with" if exported.hidden else "without"
    text = f"{where}: {counted(len(exported.tasks), 'task')} for {exported.format}, {side} the hidden side"
    (console if to_stdout else terminal.results()).print(text, soft_wrap=True)


UrlArgument = Annotated[str, argument("URL", "Such as s3://bucket/name; whatever fsspec reads.")]


@app.add(
    examples={
        "goldseam holdout push bench s3://holdouts/bench": "Push a sealed dataset to a bucket",
        "goldseam holdout push bench file:///mnt/share/bench": "Push to a shared folder",
        "goldseam holdout push bench s3://holdouts/bench --json": "Print the revision as JSON",
    }
)
def push(
    dataset: options.DatasetArgument,
    url: UrlArgument,
    allow_unsealed: Annotated[
        bool,
        option(
            "--allow-unsealed", "Push hidden files that are not sealed; anyone who can read the store can read them."
        ),
    ] = False,
    json_: options.JsonFlag = False,
) -> None:
    """Push a dataset to an object store as its next revision; a revision pushed meanwhile is never overwritten."""
    synced = sync.push(open_dataset(dataset), url, allow_unsealed=allow_unsealed)
    text = f"revision {synced.revision}, {counted(synced.files, 'file')}, {synced.changed} of them new to the store"
    options.show(synced.as_json() if json_ else Text(f"{synced.url}: {text}"))


@app.add(
    examples={
        "goldseam holdout pull s3://holdouts/bench bench": "Fetch a dataset, or update a copy",
        "goldseam holdout pull file:///mnt/share/bench bench": "Fetch from a shared folder",
        "goldseam holdout pull s3://holdouts/bench bench --json": "Print the revision as JSON",
    }
)
def pull(
    url: UrlArgument,
    dataset: Annotated[Path, argument("DATASET", "New folder, or a copy to update.")],
    json_: options.JsonFlag = False,
) -> None:
    """Update a folder from an object store, checked by hashes; changes made here are kept."""
    synced = sync.pull(url, dataset)
    joined = (
        f"; {counted(synced.ledger_lines, 'line of its ledger was', 'lines of its ledger were')} new here"
        if synced.ledger_lines
        else ""
    )
    text = f"revision {synced.revision} of {synced.url}, {counted(synced.changed, 'file')} changed{joined}"
    options.show(synced.as_json() if json_ else Text(f"{synced.path}: {text}"))

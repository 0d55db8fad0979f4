"""`goldseam holdout`, second half: look for leaks, keep splits, rotate, and care for the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness import care_text, terminal
from harness.errors import AnswerIsNoError, InputError
from harness.options_cli import DatasetArgument, JsonFlag, print_json

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)


def _show(found: RenderableType) -> None:
    terminal.results().print(found, soft_wrap=True)


@app.command()
def scan(
    dataset: DatasetArgument,
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH|URL...", help="Files, folders, addresses; `-` is standard input."),
    ] = None,
    urls: Annotated[
        list[Path] | None, typer.Option("--urls", metavar="FILE", help="Addresses to fetch, one a line (repeatable).")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one address may take.")] = 60.0,
    max_mb: Annotated[float, typer.Option(min=0.001, help="Megabytes that one address may have.")] = 100.0,
    json_: JsonFlag = False,
) -> None:
    """Look for the canary, statements and hidden code of a dataset in any text; exit code 1 if something is found."""
    from harness.dataset import corpus, leaks  # noqa: PLC0415 - keeps `--help` quick
    from harness.dataset.folder import open_dataset  # noqa: PLC0415

    wanted = [*(places or []), *(address for file in urls or [] for address in corpus.addresses(file))]
    if not wanted:
        raise InputError("nothing to search", hint="give files, folders, addresses, `-`, or --urls FILE")
    opened = open_dataset(dataset)
    with terminal.Ticker(terminal.messages(), "scan", quiet=json_) as ticker:
        ticker.note("reading the dataset")
        limits = corpus.Limits(seconds=timeout, bytes=round(max_mb * 1e6))
        sources = corpus.sources(wanted, skip=[dataset], limits=limits)
        index = leaks.index_of(opened, hidden=opened.task)
        answer = leaks.search(index, sources, tasks=len(opened.ids()), code=True, note=ticker.note)
    if json_:
        print_json(care_text.scan_json(answer))
    else:
        _show(care_text.scan_text(answer))
    if answer.found:
        raise AnswerIsNoError(f"{answer.found} leak(s) of {dataset} found")
    if answer.unread:
        raise InputError(f"{len(answer.unread)} source(s) could not be read to the end, so nothing is sure of them")

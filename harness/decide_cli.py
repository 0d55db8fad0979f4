"""The commands from runs to decisions: which model is better, how sure that is, whether it may ship."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness import terminal
from harness.options_cli import JsonFlag, print_json

app = typer.Typer(no_args_is_help=True)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The HTML file to write.")],
    dataset: Annotated[
        Path | None, typer.Option("--dataset", metavar="DATASET", help="Adds statements, task facts and the funnel.")
    ] = None,
    with_hidden: Annotated[
        bool, typer.Option("--with-hidden", help="Put hidden test ids, gold patches and test output in it too.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Write one HTML file about one or more runs: models side by side, every task, every patch."""
    from harness.report import page  # noqa: PLC0415 - keeps `--help` quick

    summary = page.write(runs, out, dataset=dataset, with_hidden=with_hidden)
    if json_:
        print_json(summary)
    else:
        terminal.results().print(Text(f"report: {out}"), soft_wrap=True)

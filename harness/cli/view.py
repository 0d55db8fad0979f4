"""`goldseam view`: the report over a folder of runs, in a browser on this machine."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.shell.command import App, argument, option
from harness.report.view.server import View
from harness.report.view.shelf import Shelf

app = App()


@app.add(
    examples={
        "goldseam view runs": "Browse every run in a folder, also while it is evaluated",
        "goldseam view runs/a runs/b --dataset bench": "Browse two runs, with the tasks' statements",
        "goldseam view runs --no-open --port 8123": "On a server; open it through `ssh -L 8123:127.0.0.1:8123`",
    }
)
def view(
    paths: Annotated[
        list[Path] | None, argument("RUNS_DIR|RUN", "Run folders, or folders that hold them.", shown=".")
    ] = None,
    dataset: Annotated[Path | None, option("--dataset DATASET", "Adds statements, task facts and the funnel.")] = None,
    with_hidden: Annotated[
        bool, option("--with-hidden", "Show hidden test ids, known fixes and test output too.")
    ] = False,
    port: Annotated[int, option("--port", "Port to listen on; 0 takes a free one.", min=0, max=65535)] = 0,
    no_open: Annotated[
        bool, option("--no-open", "Print the address and open no browser, as where there is no display.")
    ] = False,
) -> None:
    """Browse runs on a local page: list, live progress, comparison, and each task with patch, output and transcript."""
    shelf = Shelf(paths=tuple(paths or [Path()]), dataset=dataset, with_hidden=with_hidden)
    shelf.check()
    with View(shelf=shelf, port=port) as running, tempfile.TemporaryDirectory(prefix="goldseam-view-") as private:
        typer.echo(running.url)
        typer.echo("Press Ctrl-C to stop. Whoever knows this address can read these runs.", err=True)
        sys.stdout.flush()
        try:
            if not no_open and _has_display():
                _open(running.url, Path(private) / "open.html")
            running.serve()
        except KeyboardInterrupt:
            return


def _open(url: str, door: Path) -> None:
    """Show an address in a browser by a file that leads there: everybody on this machine can read its arguments."""
    door.touch(mode=0o600)
    door.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={url}"><a href="{url}">goldseam</a>\n')
    webbrowser.open(door.as_uri())


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))

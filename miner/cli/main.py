"""The `goldseam` command: every command by the panel of help that it stands in; each is loaded when it is called."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.cli.program import run_app
from harness.cli.shell.command import commands, lazy_group, option

COMMANDS = commands("""
Start here
    doctor   miner.cli.doctor     Check your setup and show how to fix what's missing. Exit code 4 if mining can't run.
    demo     miner.cli.demo       Run the whole workflow on a small sample library: history, tasks, verdicts, report.
Make and keep tasks
    mine     miner.cli.mine       Mine a history: find bug fixes with tests, remove the fix, and prove each task in a container.
    holdout  miner.cli.holdout    Keep the private dataset: look at it, care for it, measure it, seal it.
    images   miner.cli.images     Manage task images: build a base, list, push, pull, rebuild, clean up.
Run models
    solve    harness.cli.solve    Let a model solve a dataset's tasks; writes predictions, and how each was made, for `goldseam evaluate`.
    judge    harness.cli.judge    Let a model judge a run's patches and compare its judgement with the tests. It decides nothing: no gate reads it.
Score
    evaluate harness.cli.evaluate Score model patches: apply each, run the hidden tests in a locked-down container, and record whether it resolves.
    regrade  harness.cli.evaluate Derive a run's verdicts again by today's rules from what it saved, without containers. Exit code 1 if some can't be derived.
    report   harness.cli.decide   Show results: which model is better, how sure that is, and where it fails. On the terminal, as HTML, or as JSON.
    scores   harness.cli.decide   Show the table of scores with intervals and coverage: `goldseam report --view scores`.
    view     harness.cli.view     Browse runs on a local page: list, live progress, comparison, and each task with patch, output and transcript.
Decide
    compare  harness.cli.decide   Compare a candidate with a base, task by task: better, worse, or can't tell.
    gate     harness.cli.decide   Decide whether a run may ship. Exit code 0: pass, 1: regression, 3: can't tell.
    history  harness.cli.decide   Plot each model's runs by date, and find the run where its score changed.
""")

EXAMPLES = {
    "goldseam doctor": "Check your setup",
    "goldseam demo -o demo": "See everything once, in minutes",
    "goldseam mine ~/src/app -o bench": "Make tasks from a repository of yours",
}

app = typer.Typer(
    cls=lazy_group(COMMANDS, group_examples=EXAMPLES), no_args_is_help=True, pretty_exceptions_enable=False
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib import metadata  # noqa: PLC0415 - takes as long as all the rest of `--help`

        print(f"goldseam {metadata.version('goldseam')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, option("--version", "Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Turn your own merged bug fixes into a private, proved benchmark for code models."""


def main() -> None:
    """The `goldseam` program."""
    sys.exit(run_app(app))


if __name__ == "__main__":
    main()

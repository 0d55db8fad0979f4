"""The `goldseam` command: every command by the panel of help that it stands in; each is loaded when it is called."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from harness.cli.lazy import Entry, lazy_group
from harness.cli.program import run_app

COMMANDS = {
    "Begin": {
        "doctor": Entry(
            "miner.cli.doctor",
            "Say what is there, what is missing, and the command that mends it; exit code 4 when mining can't run.",
        ),
        "demo": Entry(
            "miner.cli.demo", "Show the whole way on a small library of our own: history, tasks, verdicts, report."
        ),
    },
    "Make tasks and keep them": {
        "mine": Entry(
            "miner.cli.mine",
            "Mine a history: find bug fixes with tests, strip the fix, prove each task in a container.",
        ),
        "holdout": Entry("miner.cli.holdout", "Keep the private dataset: seal, open, check, log."),
        "images": Entry("miner.cli.images", "Task images: build a base, push, pull, list, measure, clear away."),
    },
    "Let models try": {
        "solve": Entry(
            "harness.cli.solve",
            "Let a model solve the tasks of a dataset: predictions, with how each was made, for `evaluate`.",
        ),
        "judge": Entry(
            "harness.cli.judge",
            "Let a model judge a run's patches, and hold it against the tests. It decides nothing: no gate reads it.",
        ),
    },
    "Score": {
        "evaluate": Entry(
            "harness.cli.evaluate",
            "Score model patches: apply them, run the hidden tests in a locked-down container, say resolved or not.",
        ),
        "scores": Entry(
            "harness.cli.decide", "Show the models' scores with intervals and coverage, over all tasks and broken down."
        ),
        "report": Entry(
            "harness.cli.decide",
            "Say which model is better, how sure that is, where it fails: as one HTML file, on the "
            "terminal, or as JSON.",
        ),
        "view": Entry(
            "harness.cli.view",
            "Browse runs on a local page: list, live progress, comparison, and each task with patch, output and "
            "transcript.",
        ),
    },
    "Decide": {
        "compare": Entry(
            "harness.cli.decide",
            "Say whether a candidate is better than a base, worse, or that it can't be told, paired task by task.",
        ),
        "gate": Entry(
            "harness.cli.decide", "Say whether a run may ship: exit code 0 pass, 1 regression, 3 can't tell."
        ),
        "history": Entry("harness.cli.decide", "Draw each model's runs by date, and find the step where it changed."),
    },
}

app = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib import metadata  # noqa: PLC0415 - takes as long as all the rest of `--help`

        print(f"goldseam {metadata.version('goldseam')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Turn your own merged bug fixes into a private, proved benchmark for code models."""


def main() -> None:
    """The `goldseam` program."""
    sys.exit(run_app(app))


if __name__ == "__main__":
    main()

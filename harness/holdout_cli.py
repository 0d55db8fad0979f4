"""`goldseam holdout`: keep the private dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness import terminal
from harness.errors import AnswerIsNoError
from harness.options_cli import DatasetArgument, JsonFlag, print_json

if TYPE_CHECKING:
    from harness.dataset import check as checking

app = typer.Typer(no_args_is_help=True, help="Keep the private dataset: check it.")


@app.callback()
def root() -> None:
    """Keep the private dataset: check it."""


@app.command()
def check(
    dataset: DatasetArgument,
    images: Annotated[
        bool, typer.Option("--images", help="Also ask the engine for every image, and search it for the fix.")
    ] = False,
    json_: JsonFlag = False,
) -> None:
    """Report every problem of a dataset at once; exit code 1 if there is one."""
    from harness.dataset import check as checking  # noqa: PLC0415 - keeps `--help` quick
    from harness.dataset.folder import open_dataset  # noqa: PLC0415

    engine_check: checking.ImageCheck | None = None
    if images:
        from harness.imagecheck import engine_check as with_engine  # noqa: PLC0415
        from harness.settings import load_settings  # noqa: PLC0415

        engine_check = with_engine(load_settings().images.cache_dir / "layers")
    problems = checking.check(dataset, images=engine_check)
    if json_:
        print_json({"problems": [{"where": problem.where, "what": problem.what} for problem in problems]})
    else:
        console = terminal.results()
        for problem in problems:
            console.print(Text(f"{problem.where}: ", style="bold") + Text(problem.what), soft_wrap=True)
    if problems:
        raise AnswerIsNoError(f"{dataset} has {len(problems)} problem(s)")
    if not json_:
        count = len(open_dataset(dataset).ids())
        terminal.results().print(Text(f"{dataset}: {count} task(s), no problem found"))

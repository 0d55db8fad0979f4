"""Options of `goldseam mine` that let a model write statements, and what comes of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.model_options import limit_option
from harness.cli.shell.help import ADVANCED
from harness.core.errors import InputError
from miner.assist import model_session
from miner.assist.statement_writer_run import Writer, tally_of
from miner.cli import model_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.config.settings import Settings
    from harness.dataset.folder import Dataset
    from miner.assist.statement_writer_run import Writer

_PANEL = f"{ADVANCED}: statement writing"

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--statement-model",
        metavar="MODEL",
        show_default="none, or [mining] statement_model",
        help="Let this model write the statement of a change without an issue; it never sees the fix.",
        rich_help_panel=_PANEL,
    ),
]
MaxCostOption = Annotated[
    float | None,
    limit_option(
        "--max-cost", "USD", "Stop before statements cost more than this, over all mines into DATASET.", _PANEL
    ),
]
MaxTokensOption = Annotated[
    int | None, limit_option("--max-tokens", "N", "The same limit in tokens read and written.", _PANEL)
]


def see_that_tests_run(settings: Settings, *, validate: bool) -> None:
    """Refuse to write statements in a mine that proves nothing.

    Raises:
        InputError: that is asked for.

    """
    if settings.mining.statement_model and not validate:
        raise InputError(
            "a statement is written from what failing tests print, and --no-validate runs none",
            hint="leave out --no-validate, or --statement-model and [mining] statement_model",
        )


@contextlib.contextmanager
def writer_of(
    asked: model_options.ModelOptions,
    settings: Settings,
    dataset: Dataset,
    *,
    jobs: int | None,
    warn: Callable[[str], None],
) -> Iterator[Writer | None]:
    """The writer that flags and settings ask for, its connections closed at the end; None where they ask for none.

    Raises:
        InputError: an unusable endpoint or price table, or no key.

    """
    model = settings.mining.statement_model
    if not model:
        yield None
        return

    earlier = model_session.earlier(tally_of(dataset), "statements")
    with model_options.opened(model, asked, settings, earlier=earlier, jobs=jobs, warn=warn) as (wrapped, endpoint):
        yield Writer(wrapped, name=model, endpoint=endpoint.base_url, host=endpoint.host, dataset=dataset, warn=warn)


def as_json(writer: Writer | None) -> dict[str, object]:
    """What `mine --json` says of statements; nothing where none was asked for."""
    if writer is None:
        return {}
    counts = writer.counts
    return {
        "statements": {
            "written": counts["written"],
            "refused": counts["refused"],
            "not_asked": counts["not_asked"],
            "spent": writer.spent.as_json(),
        }
    }


def line(writer: Writer) -> Text:
    """The same for a person."""
    counts = writer.counts
    return Text(
        f"statements: {counts['written']} written, {counts['refused']} refused, {counts['not_asked']} not asked for; "
        f"{model_options.bill(writer.spent)}",
        style="bright_black",
    )

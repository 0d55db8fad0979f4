"""Options of `goldseam mine` that let a model write statements, and what comes of them."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.errors import InputError
from harness.money_cli import cache_of, prices_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.dataset.folder import Dataset
    from harness.settings import Settings
    from miner.statement_writer_run import Writer

_PANEL = "Statement writing"

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--statement-model",
        metavar="MODEL",
        help="Let this model write the statement of a change without an issue; it never sees the fix.",
        rich_help_panel=_PANEL,
    ),
]
BaseUrlOption = Annotated[
    str,
    typer.Option(
        "--base-url", help="Its OpenAI-compatible endpoint.", envvar="OPENAI_BASE_URL", rich_help_panel=_PANEL
    ),
]
ApiKeyOption = Annotated[
    str,
    typer.Option(
        "--api-key-env", metavar="VAR", help="Environment variable that holds the key.", rich_help_panel=_PANEL
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0,
        metavar="USD",
        help="Ask no more before statements cost more, over all mines into DATASET.",
        rich_help_panel=_PANEL,
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option("--max-tokens", min=0, help="The same in tokens read and written, in all.", rich_help_panel=_PANEL),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Your own price table; its entries go before ours.",
        rich_help_panel=_PANEL,
    ),
]
AssumePriceOption = Annotated[
    str | None,
    typer.Option(
        "--assume-price",
        metavar="IN/OUT",
        help="Dollars for a million tokens, where no table has the model.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a command line says of statement writing."""

    base_url: str
    api_key_env: str
    max_cost: float | None
    max_tokens: int | None
    prices: Path | None
    assume_price: str | None


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
    asked: Asked,
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
    from harness.executors.local import default_jobs  # noqa: PLC0415 - keeps `--help` quick
    from harness.solve.alias import is_pinned  # noqa: PLC0415
    from harness.solve.meter import Limits  # noqa: PLC0415
    from harness.solve.openai_model import Endpoint, OpenAIModel  # noqa: PLC0415
    from harness.solve.stack import wrap  # noqa: PLC0415
    from miner.statement_writer_run import Writer, spent_before  # noqa: PLC0415

    endpoint = Endpoint(base_url=asked.base_url, api_key_env=asked.api_key_env)
    with (
        OpenAIModel(model, endpoint, environment=os.environ) as client,
        cache_of(settings, no_cache=False, max_mb=None, note=warn) as cache,
    ):
        wrapped = wrap(
            client,
            endpoint=endpoint.base_url,
            prices=prices_of(asked.prices, asked.assume_price, settings),
            limits=Limits(cost=asked.max_cost, tokens=asked.max_tokens),
            cache=cache,
            jobs=jobs or default_jobs(),
            api=endpoint.api,
            floating=not is_pinned(model),
            earlier=spent_before(dataset),
        )
        for text in (*client.warnings(), *wrapped.notes):
            warn(text)
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
    spent, counts = writer.spent, writer.counts
    money = "at an unknown price" if spent.unpriced else f"for ${spent.cost:.4f}"
    return Text(
        f"statements: {counts['written']} written, {counts['refused']} refused, {counts['not_asked']} not asked for; "
        f"{spent.tokens:,} tokens {money} in all",
        style="bright_black",
    )

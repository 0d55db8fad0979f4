"""A model that a mine asks: its endpoint, limits, prices and cache, opened alike for whatever it is asked for."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.model_options import cache_of, prices_of, prices_option
from harness.cli.shell.help import ADVANCED
from harness.sandbox.executors.local import default_jobs
from harness.solve.models.endpoint import Endpoint, is_pinned
from harness.solve.models.meter import Limits
from harness.solve.models.stack import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.config.settings import Settings
    from harness.solve.models.meter import Spending
    from harness.solve.models.stack import Wrapped

_PANEL = f"{ADVANCED}: models"

BaseUrlOption = Annotated[
    str,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="OpenAI-compatible endpoint of these models.",
        envvar="OPENAI_BASE_URL",
        show_envvar=True,
        rich_help_panel=_PANEL,
    ),
]
ApiKeyOption = Annotated[
    str,
    typer.Option(
        "--api-key-env", metavar="VAR", help="Environment variable that holds the API key.", rich_help_panel=_PANEL
    ),
]
PricesOption = Annotated[Path | None, prices_option(_PANEL)]
AssumePriceOption = Annotated[
    str | None,
    typer.Option(
        "--assume-price",
        metavar="IN/OUT",
        help="Dollars per million tokens read and written, for a model that no table lists.",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What a command line says of asking a model."""

    base_url: str
    api_key_env: str
    max_cost: float | None
    max_tokens: int | None
    prices: Path | None
    assume_price: str | None


@contextlib.contextmanager
def opened(
    model: str,
    asked: ModelOptions,
    settings: Settings,
    *,
    earlier: Spending,
    jobs: int | None,
    warn: Callable[[str], None],
) -> Iterator[tuple[Wrapped, Endpoint]]:
    """A model with all its layers, its connections closed at the end. `earlier` is what counts against its limits.

    Raises:
        InputError: an unusable endpoint or price table, or no key.

    """
    from harness.solve.models.openai_model import OpenAIModel  # noqa: PLC0415 - as slow to load as the rest of a mine

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
            earlier=earlier,
        )
        for text in (*client.warnings(), *wrapped.notes):
            warn(text)
        yield wrapped, endpoint


def bill(spent: Spending) -> str:
    """What answers came to, for a person."""
    money = "at an unknown price" if spent.unpriced else f"for ${spent.cost:.4f}"
    return f"{spent.tokens:,} tokens {money} in all"

"""Options of the commands that ask models: limits, prices and the response cache mean the same in all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.shell.help import ADVANCED
from harness.solve.models import prices
from harness.solve.models.response_cache import ResponseCache

if TYPE_CHECKING:
    from harness.config.settings import Settings
    from harness.solve.models.prices import Prices
    from harness.solve.models.response_cache import ResponseCache

_LIMITS = f"{ADVANCED}: limits and prices"

MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost", min=0, metavar="USD", show_default="no limit", help="Stop before more than this is spent in all."
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=0,
        metavar="N",
        show_default="no limit",
        rich_help_panel=_LIMITS,
        help="Stop before more tokens than this are read and written in all.",
    ),
]
MaxMinutesOption = Annotated[
    float | None,
    typer.Option(
        "--max-minutes",
        min=0,
        metavar="MINUTES",
        show_default="no limit",
        rich_help_panel=_LIMITS,
        help="Start no request after this long.",
    ),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        show_default="the table shipped with goldseam",
        rich_help_panel=_LIMITS,
        help="Your own price table (YAML); its entries take precedence.",
    ),
]
AssumePriceOption = Annotated[
    str | None,
    typer.Option(
        "--assume-price",
        metavar="IN/OUT",
        rich_help_panel=_LIMITS,
        help="Dollars per million tokens read and written, for a model that no table lists; 0/0 if it is free.",
    ),
]
NoResponseCacheFlag = Annotated[
    bool,
    typer.Option(
        "--no-cache", rich_help_panel=_LIMITS, help="Neither use answers from earlier calls nor store new ones."
    ),
]
CacheMaxOption = Annotated[
    int | None,
    typer.Option(
        "--cache-max-mb",
        min=1,
        metavar="MB",
        show_default="512, or [solve] cache_max_mb",
        rich_help_panel=_LIMITS,
        help="Size limit of stored answers; the oldest are removed first.",
    ),
]


def prices_of(path: Path | None, assumed: str | None, settings: Settings) -> Prices:
    """The price table that a command line and the settings name.

    Raises:
        InputError: the file or the assumed price is none.

    """
    return prices.load(path or settings.solve.prices).assuming(assumed, day=datetime.now(UTC).date())


@contextlib.contextmanager
def cache_of(
    settings: Settings, *, no_cache: bool, max_mb: int | None, note: Callable[[str], None]
) -> Iterator[ResponseCache | None]:
    """The response cache, closed at the end; None where none is wanted. `note` is told where it can't be used.

    Raises:
        InputError: its folder can't be made.

    """
    if no_cache:
        yield None
        return
    folder = settings.images.cache_dir / "answers"
    cache = ResponseCache(folder, max_mb=max_mb or settings.solve.cache_max_mb, note=note)
    try:
        yield cache
    finally:
        cache.close()

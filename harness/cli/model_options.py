"""Options of the commands that ask models: limits, prices and the response cache mean the same in all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.solve.models import prices
from harness.solve.models.response_cache import ResponseCache

if TYPE_CHECKING:
    from harness.config.settings import Settings
    from harness.solve.models.prices import Prices
    from harness.solve.models.response_cache import ResponseCache

MaxCostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Stop before more dollars are spent, in all.")
]
MaxTokensOption = Annotated[
    int | None, typer.Option("--max-tokens", min=0, help="Stop before more tokens are read and written, in all.")
]
MaxMinutesOption = Annotated[
    float | None, typer.Option("--max-minutes", min=0, help="Ask nothing more after these minutes of this call.")
]
PricesOption = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Your own price table; its entries go before ours.")
]
AssumePriceOption = Annotated[
    str | None,
    typer.Option(
        "--assume-price",
        metavar="IN/OUT",
        help="Dollars for a million tokens, where no table has the model; 0/0 where it is free.",
    ),
]
NoResponseCacheFlag = Annotated[
    bool, typer.Option("--no-cache", help="Ask again what was asked before, and keep no answer.")
]
CacheMaxOption = Annotated[
    int | None, typer.Option("--cache-max-mb", min=1, help="Size that kept answers may have; the oldest go first.")
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

"""Options of the commands that ask models: limits, prices and the response cache mean the same in all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from harness.cli.shell.command import option
from harness.cli.shell.help import ADVANCED
from harness.config.settings import Settings
from harness.solve.models import prices, response_cache
from harness.solve.models.prices import Prices
from harness.solve.models.response_cache import ResponseCache

LIMITS = f"{ADVANCED}: limits and prices"


def limit_option(spelling: str, text: str, panel: str | None = None) -> Any:
    """An option that limits what requests may take."""
    return option(spelling, text, panel, min=0, shown="no limit")


MaxCostOption = Annotated[float | None, limit_option("--max-cost USD", "Stop before more than this is spent in all.")]
MaxTokensOption = Annotated[
    int | None,
    limit_option("--max-tokens N", "Stop before more tokens than this are read and written in all.", LIMITS),
]
MaxMinutesOption = Annotated[
    float | None, limit_option("--max-minutes MINUTES", "Start no request after this long.", LIMITS)
]
BaseUrlOption = Annotated[str, option("--base-url URL", "Any OpenAI-compatible endpoint.", env="OPENAI_BASE_URL")]
ApiOption = Annotated[
    str, option("--api auto|chat|responses", "API of the endpoint; `auto` uses what it offers.", ADVANCED)
]


def prices_option(panel: str) -> Any:
    """An option that names a price table."""
    return option(
        "--prices FILE",
        "Your own price table (YAML); its entries take precedence.",
        panel,
        shown="the table shipped with goldseam",
    )


PricesOption = Annotated[Path | None, prices_option(LIMITS)]
AssumePriceOption = Annotated[
    str | None,
    option(
        "--assume-price IN/OUT",
        "Dollars per million tokens read and written, for a model that no table lists; 0/0 if it is free.",
        LIMITS,
    ),
]
NoResponseCacheFlag = Annotated[
    bool, option("--no-cache", "Neither use answers from earlier calls nor store new ones.", LIMITS)
]
CacheMaxOption = Annotated[
    int | None,
    option(
        "--cache-max-mb MB",
        "Size limit of stored answers; the oldest are removed first.",
        LIMITS,
        min=1,
        shown="512, or [solve] cache_max_mb",
    ),
]


def prices_of(path: Path | None, assumed: str | None, settings: Settings) -> Prices:
    """The price table that a command line and the settings name.

    Raises:
        InputError: the file or the assumed price is none.

    """
    return prices.load(path or settings.solve.prices).assuming(assumed, day=datetime.now(UTC).date())


def cache_of(
    settings: Settings, *, no_cache: bool, max_mb: int | None, note: Callable[[str], None]
) -> contextlib.AbstractContextManager[ResponseCache | None]:
    """The response cache, closed at the end; None where none is wanted. `note` is told where it can't be used.

    Raises:
        InputError: its folder can't be made.

    """
    folder = None if no_cache else settings.images.cache_dir / "answers"
    return response_cache.opened(folder, max_mb=max_mb or settings.solve.cache_max_mb, note=note)

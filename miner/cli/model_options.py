"""Models that a mine asks for statements and for repairs: options, opened alike, and what comes of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.cli.model_options import cache_of, limit_option, prices_of, prices_option
from harness.cli.shell.command import option
from harness.cli.shell.help import ADVANCED
from harness.config.settings import Settings
from harness.core.errors import InputError
from harness.dataset.folder import Dataset
from harness.sandbox.executors.choose import Kind
from harness.sandbox.executors.local import default_jobs
from harness.solve.models.endpoint import Endpoint
from harness.solve.models.meter import Limits, Spending
from harness.solve.models.stack import Wrapped
from miner.assist import model_session
from miner.assist.repair.run import Repairer
from miner.assist.statement_writer_run import Writer, tally_of

_PANEL = f"{ADVANCED}: models"

BaseUrlOption = Annotated[
    str, option("--base-url URL", "OpenAI-compatible endpoint of these models.", _PANEL, env="OPENAI_BASE_URL")
]
ApiKeyOption = Annotated[str, option("--api-key-env VAR", "Environment variable that holds the API key.", _PANEL)]
PricesOption = Annotated[Path | None, prices_option(_PANEL)]
AssumePriceOption = Annotated[
    str | None,
    option(
        "--assume-price IN/OUT", "Dollars per million tokens read and written, for a model that no table lists.", _PANEL
    ),
]
_STATEMENT_PANEL = f"{ADVANCED}: statement writing"

StatementModelOption = Annotated[
    str | None,
    option(
        "--statement-model MODEL",
        "Let this model write the statement of a change without an issue; it never sees the fix.",
        _STATEMENT_PANEL,
        shown="none, or [mining] statement_model",
    ),
]
StatementMaxCostOption = Annotated[
    float | None,
    limit_option(
        "--max-cost USD", "Stop before statements cost more than this, over all mines into DATASET.", _STATEMENT_PANEL
    ),
]
StatementMaxTokensOption = Annotated[
    int | None, limit_option("--max-tokens N", "The same limit in tokens read and written.", _STATEMENT_PANEL)
]
_REPAIR_PANEL = f"{ADVANCED}: environment repair"

RepairModelOption = Annotated[
    str | None,
    option(
        "--repair-model MODEL",
        "Let this model propose a build recipe where all built-in recipes fail; it sees no test.",
        _REPAIR_PANEL,
        shown="none, or [mining] repair_model",
    ),
]
RepairRoundsOption = Annotated[
    int, option("--repair-rounds K", "Recipes that it may propose for one task.", _REPAIR_PANEL, min=1)
]
RepairMaxCostOption = Annotated[
    float | None,
    limit_option(
        "--repair-max-cost USD", "Stop before repairs cost more than this, over all mines into DATASET.", _REPAIR_PANEL
    ),
]
RepairMaxTokensOption = Annotated[
    int | None, limit_option("--repair-max-tokens N", "The same limit in tokens read and written.", _REPAIR_PANEL)
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
    from harness.solve.models import session  # noqa: PLC0415 - as slow to load as the rest of a mine

    endpoint = Endpoint(base_url=asked.base_url, api_key_env=asked.api_key_env)
    with session.opened(
        model,
        endpoint,
        environment=os.environ,
        prices=prices_of(asked.prices, asked.assume_price, settings),
        limits=Limits(cost=asked.max_cost, tokens=asked.max_tokens),
        cache=cache_of(settings, no_cache=False, max_mb=None, note=warn),
        jobs=jobs or default_jobs(),
        earlier=earlier,
        warn=warn,
    ) as wrapped:
        yield wrapped, endpoint


def bill(spent: Spending) -> str:
    """What answers came to, for a person."""
    money = "at an unknown price" if spent.unpriced else f"for ${spent.cost:.4f}"
    return f"{spent.tokens:,} tokens {money} in all"


def see_that_statements_can_be_written(settings: Settings, *, validate: bool) -> None:
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
    asked: ModelOptions,
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
    with opened(model, asked, settings, earlier=earlier, jobs=jobs, warn=warn) as (wrapped, endpoint):
        yield Writer(wrapped, name=model, endpoint=endpoint.base_url, host=endpoint.host, dataset=dataset, warn=warn)


def statements_as_json(writer: Writer | None) -> dict[str, object]:
    """What `mine --json` says of statements; nothing where none was asked for."""
    if writer is None:
        return {}
    counts = {name: writer.counts[name] for name in ("written", "refused", "not_asked")}
    return {"statements": {**counts, "spent": writer.spent.as_json()}}


def statements_line(writer: Writer) -> Text:
    """The same for a person."""
    counts = writer.counts
    return Text(
        f"statements: {counts['written']} written, {counts['refused']} refused, {counts['not_asked']} not asked for; "
        f"{bill(writer.spent)}",
        style="bright_black",
    )


def see_that_repairs_can_be_made(settings: Settings, executor: Kind, *, validate: bool) -> None:
    """Refuse repairs where no environment is built, or where they are built on other machines.

    Raises:
        InputError: that is asked for.

    """
    if not settings.mining.repair_model:
        return
    if not validate:
        raise InputError(
            "--repair-model repairs environments, and --no-validate builds none",
            hint="leave out --no-validate, or --repair-model and [mining] repair_model",
        )
    if executor is not Kind.LOCAL:
        raise InputError(
            "environments are repaired on one machine only: on a cluster the key would have to travel to its nodes",
            hint="mine with --executor local what a mine on the cluster rejected for its environment",
        )


@contextlib.contextmanager
def repairer_of(
    asked: ModelOptions,
    settings: Settings,
    dataset: Dataset,
    *,
    rounds: int,
    jobs: int | None,
    warn: Callable[[str], None],
) -> Iterator[Repairer | None]:
    """The repairer that flags and settings ask for, its connections closed at the end; None where they ask for none.

    Raises:
        InputError: an unusable endpoint or price table, or no key.

    """
    model = settings.mining.repair_model
    if not model:
        yield None
        return

    place = dataset.path / ".goldseam" / "repairs.json"
    earlier = model_session.earlier(place, "repairs")
    with opened(model, asked, settings, earlier=earlier, jobs=jobs, warn=warn) as (wrapped, endpoint):
        yield Repairer(wrapped, name=model, host=endpoint.host, rounds=rounds, place=place, warn=warn)


def repairs_as_json(repairer: Repairer | None) -> dict[str, object]:
    """What `mine --json` says of repairs; nothing where none was asked for."""
    if repairer is None:
        return {}
    return {"repairs": {"tried": repairer.tried, "mended": repairer.mended, "spent": repairer.spent.as_json()}}


def repairs_line(repairer: Repairer) -> Text:
    """The same for a person."""
    return Text(
        f"repairs: {repairer.mended} of {repairer.tried} environments repaired; {bill(repairer.spent)}",
        style="bright_black",
    )

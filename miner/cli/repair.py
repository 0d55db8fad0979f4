"""Options of `goldseam mine` that let a model repair environments, and what comes of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.model_options import limit_option
from harness.cli.shell.help import ADVANCED
from harness.core.errors import InputError
from harness.sandbox.executors.choose import Kind
from miner.assist import model_session
from miner.assist.repair.run import Repairer
from miner.cli import model_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.config.settings import Settings
    from harness.dataset.folder import Dataset
    from miner.assist.repair.run import Repairer

_PANEL = f"{ADVANCED}: environment repair"

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--repair-model",
        metavar="MODEL",
        show_default="none, or [mining] repair_model",
        help="Let this model propose a build recipe where all built-in recipes fail; it sees no test.",
        rich_help_panel=_PANEL,
    ),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        "--repair-rounds", min=1, metavar="K", help="Recipes that it may propose for one task.", rich_help_panel=_PANEL
    ),
]
MaxCostOption = Annotated[
    float | None,
    limit_option(
        "--repair-max-cost", "USD", "Stop before repairs cost more than this, over all mines into DATASET.", _PANEL
    ),
]
MaxTokensOption = Annotated[
    int | None, limit_option("--repair-max-tokens", "N", "The same limit in tokens read and written.", _PANEL)
]


def see_that_it_can(settings: Settings, executor: Kind, *, validate: bool) -> None:
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
    asked: model_options.ModelOptions,
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
    with model_options.opened(model, asked, settings, earlier=earlier, jobs=jobs, warn=warn) as (wrapped, endpoint):
        yield Repairer(wrapped, name=model, host=endpoint.host, rounds=rounds, place=place, warn=warn)


def as_json(repairer: Repairer | None) -> dict[str, object]:
    """What `mine --json` says of repairs; nothing where none was asked for."""
    if repairer is None:
        return {}
    return {"repairs": {"tried": repairer.tried, "mended": repairer.mended, "spent": repairer.spent.as_json()}}


def line(repairer: Repairer) -> Text:
    """The same for a person."""
    return Text(
        f"repairs: {repairer.mended} of {repairer.tried} environments repaired; {model_options.bill(repairer.spent)}",
        style="bright_black",
    )

"""What the commands share: options that mean the same everywhere, and how a result is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType

from harness.cli.shell import complete
from harness.cli.shell.command import argument, option
from harness.cli.shell.help import ADVANCED
from harness.cli.views import terminal
from harness.core.errors import InputError
from harness.core.files import STANDARD_OUTPUT
from harness.dataset.folder import Dataset, open_dataset
from harness.dataset.seal.identity import load_keys
from harness.interop.mirrors import local_copy
from harness.interop.store import masked
from harness.sandbox.executors.choose import Kind

RuntimeOption = Annotated[
    str | None,
    option(
        "--runtime NAME",
        "Container runtime of the engine, such as runsc or kata.",
        ADVANCED,
        env="GOLDSEAM_RUNTIME",
        shown="the engine's own",
    ),
]
ExecutorOption = Annotated[
    Kind, option("--executor", "Run containers on this machine or on a Ray cluster.", ADVANCED, env="GOLDSEAM_EXECUTOR")
]
AddressOption = Annotated[
    str | None,
    option(
        "--address HOST:PORT",
        "The Ray cluster's address; `auto` finds one on this machine.",
        ADVANCED,
        env="GOLDSEAM_ADDRESS",
    ),
]
JobsOption = Annotated[
    int | None,
    option("-j, --jobs N", "Tasks to run in parallel.", min=1, env="GOLDSEAM_JOBS", shown="one per processor"),
]
EngineWaitOption = Annotated[
    float,
    option(
        "--engine-wait SECONDS",
        "Wait this long for a container engine to come back; twice as long for a registry.",
        ADVANCED,
        min=0,
        env="GOLDSEAM_ENGINE_WAIT",
    ),
]
JsonFlag = Annotated[bool, option("--json", "Print one JSON document on standard output, and nothing else there.")]
IdsOption = Annotated[
    list[str] | None, option("-i, --id TASK", "Only this task (repeatable).", autocompletion=complete.task_ids)
]
SplitOption = Annotated[
    str | None,
    option(
        "--split SPLIT",
        "Only tasks of this split: holdout, dev or retired.",
        shown="all",
        autocompletion=complete.splits,
    ),
]
DryRunFlag = Annotated[bool, option("--dry-run", "Show what would change, and write nothing.")]


def _folder(text: str) -> Path:
    """A dataset's folder; a store's URL is refused, since what a command changes in a copy would not get there."""
    if "://" in text and not complete.is_running():
        raise InputError(
            f"this command changes a dataset, and {masked(text)} is a store",
            hint="`goldseam holdout pull URL FOLDER`, run it on the folder, then `goldseam holdout push FOLDER URL`",
        )
    return Path(text)


def output_folder(text: str) -> Path:
    """A folder to write; standard output is refused, since nobody wants a folder called `-`."""
    if Path(text) == STANDARD_OUTPUT:
        raise InputError("-o: this command writes a folder, which standard output can't take", hint="name a folder")
    return Path(text)


def _folder_or_copy(text: str) -> Path:
    """A dataset's folder, or that of a copy of what a store holds."""
    if "://" not in text or complete.is_running():
        return Path(text)

    return local_copy(text)


DatasetArgument = Annotated[Path, argument("DATASET", "Dataset folder.", parser=_folder)]
DatasetSource = Annotated[
    Path, argument("DATASET", "Dataset folder, or the URL of a store it was pushed to.", parser=_folder_or_copy)
]
"""For commands that change nothing in a dataset but its ledger."""

IdentityOption = Annotated[
    str | None,
    option(
        "--identity FILE|env:VAR|command:CMD",
        "Key that opens a sealed dataset: an age or SSH private key, or its passphrase.",
        ADVANCED,
        env="GOLDSEAM_IDENTITY",
    ),
]
"""As `harness.dataset.seal.identity.load_keys` takes it."""


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def show(result: RenderableType | dict[str, Any] | list[Any], *, soft_wrap: bool = True) -> None:
    """Print a result: as one JSON document where it is values, anything else for a person."""
    if isinstance(result, dict | list):
        print_json(result)
    else:
        terminal.results().print(result, soft_wrap=soft_wrap)


def open_with(path: Path, identity: str | None) -> Dataset:
    """A dataset, with the keys that an `IdentityOption` names.

    Raises:
        InputError: there is no dataset, or the identity holds no key.

    """
    dataset = open_dataset(path)
    if identity is None or not dataset.sealed:
        return dataset

    return dataset.with_keys(load_keys(identity, path))


def one_result_on_stdout(*paths: Path | None, other: bool = False) -> bool:
    """Whether a file is named `-`, standard output; `other` tells that a flag writes there too.

    Raises:
        InputError: two results would be mixed there.

    """
    count = paths.count(STANDARD_OUTPUT)
    if count + other > 1:
        raise InputError("two results can't both go to standard output", hint="name a file for one of them")
    return count > 0

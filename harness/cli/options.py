"""What the commands share: options that mean the same everywhere, and how JSON is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.core.errors import InputError
from harness.core.files import STANDARD_OUTPUT
from harness.dataset.folder import open_dataset
from harness.dataset.seal.identity import load_keys
from harness.interop.mirrors import local_copy
from harness.interop.store import shown
from harness.sandbox.executors.choose import Kind

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

RuntimeOption = Annotated[
    str | None,
    typer.Option(envvar="GOLDSEAM_RUNTIME", help="OCI runtime of the engine for containers, such as runsc or kata."),
]
ExecutorOption = Annotated[
    Kind,
    typer.Option("--executor", envvar="GOLDSEAM_EXECUTOR", help="Where containers run: here, or on a Ray cluster."),
]
AddressOption = Annotated[
    str | None,
    typer.Option(envvar="GOLDSEAM_ADDRESS", help="The Ray cluster: host:port, or auto for the one on this machine."),
]
JobsOption = Annotated[int | None, typer.Option("-j", "--jobs", min=1, envvar="GOLDSEAM_JOBS", help="At once.")]
EngineWaitOption = Annotated[
    float,
    typer.Option(
        min=0,
        envvar="GOLDSEAM_ENGINE_WAIT",
        help="Seconds an engine may take to come back; a registry twice that.",
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]


def _folder(text: str) -> Path:
    """A dataset's folder; a store's URL is refused, since what a command changes in a copy would not get there."""
    if "://" in text:
        raise InputError(
            f"this command changes a dataset, and {shown(text)} is a store",
            hint="`goldseam holdout pull URL FOLDER`, run it on the folder, then `goldseam holdout push FOLDER URL`",
        )
    return Path(text)


def _folder_or_copy(text: str) -> Path:
    """A dataset's folder, or that of a copy of what a store holds."""
    if "://" not in text:
        return Path(text)

    return local_copy(text)


DatasetArgument = Annotated[
    Path, typer.Argument(metavar="DATASET", help="Dataset folder.", show_default=False, parser=_folder)
]
DatasetSource = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help="Dataset folder, or the URL of a store that one was pushed to.",
        show_default=False,
        parser=_folder_or_copy,
    ),
]
"""For commands that change nothing in a dataset but its ledger."""

IdentityOption = Annotated[
    str | None,
    typer.Option(
        envvar="GOLDSEAM_IDENTITY",
        show_envvar=True,
        metavar="FILE|env:VAR|command:CMD",
        help="What opens a sealed dataset: an age or SSH private key, or its passphrase.",
    ),
]
"""As `harness.dataset.seal.identity.load_keys` takes it."""


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def open_with(path: Path, identity: str | None) -> Dataset:
    """A dataset, with the keys that an `IdentityOption` names.

    Raises:
        InputError: there is no dataset, or the identity holds no key.

    """
    dataset = open_dataset(path)
    if identity is None or not dataset.sealed:
        return dataset

    return dataset.with_keys(load_keys(identity, path))


def one_result_on_stdout(*named: Path | None, other: bool = False) -> bool:
    """Whether a file is named `-`, standard output; `other` tells that a flag writes there too.

    Raises:
        InputError: two results would be mixed there.

    """
    count = named.count(STANDARD_OUTPUT)
    if count + other > 1:
        raise InputError("two results can't both go to standard output", hint="name a file for one of them")
    return count > 0

"""What the commands share: options that mean the same everywhere, and how JSON is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

RuntimeOption = Annotated[
    str | None,
    typer.Option(envvar="GOLDSEAM_RUNTIME", help="OCI runtime of the engine for containers, such as runsc or kata."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Dataset folder.", show_default=False)]


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")

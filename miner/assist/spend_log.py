"""What mines into a dataset spent on a model's answers, kept on disk so that limits hold over all of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.core import files
from harness.core.errors import InputError
from harness.solve.models.meter import Spending

if TYPE_CHECKING:
    from pathlib import Path


def keep(path: Path, spent: Spending) -> None:
    """Write down what was spent by now, earlier mines included."""
    files.write_json(path, asdict(spent))


def earlier(path: Path, spent_on: str) -> Spending:
    """What earlier mines spent on `spent_on`.

    Raises:
        InputError: the file that says so is broken, so that a limit could be passed unseen.

    """
    try:
        return Spending(**json.loads(path.read_bytes()))
    except FileNotFoundError:
        return Spending()
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{path} does not say what was spent on {spent_on}: {error}", hint="delete it, and limits count from zero"
        ) from error

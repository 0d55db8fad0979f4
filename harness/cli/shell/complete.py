"""Values that a shell completes: ids of tasks, splits, models. Read from folder names alone, so that it is fast.

Nothing here fails: what can't be read has no completions.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_MOST = 500
_SPLITS = ("holdout", "dev", "retired", "all")
_DATASETS = ("dataset",)
_RUNS = ("runs", "run", "candidate", "candidates", "base", "baseline", "runs_dir")


def is_running() -> bool:
    """Whether this call of the program answers a shell, so that no address may be opened."""
    return "_GOLDSEAM_COMPLETE" in os.environ


def task_ids(ctx: Any, incomplete: str) -> list[str]:
    """Ids of the dataset that the command line names so far."""
    folders = (folder / "tasks" for folder in _paths(ctx, _DATASETS))
    return _beginning(incomplete, (name for folder in folders for name in _folders_in(folder)))


def splits(incomplete: str) -> list[str]:
    """Names of splits."""
    return _beginning(incomplete, _SPLITS)


def models(ctx: Any, incomplete: str) -> list[str]:
    """Models of the runs that the command line names so far."""
    results = [folder / "results" for folder in _paths(ctx, _RUNS)]
    names = (_model_of(place / name) for place in results for name in _folders_in(place))
    return _beginning(incomplete, (name for name in names if name))


def _model_of(folder: Path) -> str:
    """A model's own name, which its folder's name may shorten: from the first report in it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        for report in folder.glob("*/*/report.json"):
            return str(json.loads(report.read_bytes()).get("model_name_or_path", ""))
    return ""


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})[:_MOST]


def _paths(ctx: Any, names: Iterable[str]) -> list[Path]:
    values = (ctx.params.get(name) for name in names)
    flat = (item for value in values for item in (value if isinstance(value, (list, tuple)) else (value,)))
    return [Path(str(item)) for item in flat if item is not None] or _folders_typed()


def _folders_typed() -> list[Path]:
    """Folders among the words typed: behind an option that still lacks its value, Typer gives none of them."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    with contextlib.suppress(ValueError):
        return [Path(word) for word in shlex.split(line) if Path(word).is_dir()]
    return []


def _folders_in(folder: Path) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    return []

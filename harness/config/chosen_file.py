"""The settings file that `--config` names. By itself, so that it need not load pydantic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ChosenFile:
    """The file; None for goldseam.toml of the current folder."""

    path: Path | None = None

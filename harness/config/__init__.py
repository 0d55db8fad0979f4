"""Settings, and what this machine has and lacks."""

from __future__ import annotations

from pathlib import Path


class ChosenFile:
    """The settings file that `--config` names; None for goldseam.toml of the current folder."""

    path: Path | None = None

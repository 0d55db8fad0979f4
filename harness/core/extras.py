"""How an optional part of goldseam is added to the installation that runs."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

_MARKERS = {"uv-receipt.toml": "uv tool install --force", "pipx_metadata.json": "pipx install --force"}
"""Installer by the file that it leaves in an environment of its own."""


def install_command(extra: str, *, prefix: Path | None = None) -> str:
    """The command that adds an extra, from the clone or wheel that goldseam was installed from."""
    place = prefix or Path(sys.prefix)
    installer = next((command for marker, command in _MARKERS.items() if (place / marker).exists()), "pip install")
    return f"{installer} {shlex.quote(f'{_source()}[{extra}]')}"


def _source() -> str:
    """Path of the clone or wheel; the name alone if goldseam came from an index."""
    text = metadata.distribution("goldseam").read_text("direct_url.json")
    url = urlsplit(json.loads(text)["url"]) if text else None
    return unquote(url.path) if url and url.scheme == "file" else "goldseam"

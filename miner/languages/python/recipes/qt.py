"""Projects whose tests draw with Qt: what its wheels load of Debian, and how it goes without a screen. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from miner.evidence.tree import Evidence, Tree, text_at

PACKAGES = ("libgl1", "libegl1", "libglib2.0-0", "libfontconfig1", "libdbus-1-3", "libxkbcommon0")
"""Debian packages that hold what the wheels of all bindings load when windows are imported; desktops have them."""
VARIABLES = {"QT_QPA_PLATFORM": "offscreen"}
"""See https://doc.qt.io/qt-6/qpa.html: without a screen all other platforms end the process."""
_BINDING = re.compile(r"(?:^|[\"'\s])(?:pyqt[56]|pyside[26])(?![\w.])", re.IGNORECASE | re.MULTILINE)
_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")


def is_needed(tree: Tree, rungs: Iterable[Evidence]) -> bool:
    """Whether evidence, the files that it names, or those that describe the project name a binding of Qt."""
    needed = list(rungs)
    files = {*_MANIFESTS, *(file for rung in needed for file in rung.files)}
    texts = (text_at(tree, file) for file in sorted(files))
    requirements = (requirement for rung in needed for requirement in rung.requirements)
    return any(map(_BINDING.search, (*requirements, *texts)))

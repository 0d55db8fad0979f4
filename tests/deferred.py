"""Libraries that take long to import, imported where something of them is asked for: every worker imports all tests."""

from __future__ import annotations

import importlib
from typing import Any


class Deferred:
    """A module by its name, not imported yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)

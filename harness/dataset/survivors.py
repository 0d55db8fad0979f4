"""The files of wrong patches that a task's hidden tests let live: hidden, and no part of what decides a verdict."""

from __future__ import annotations

import re

_NAME = re.compile(r"survivor-\d{2,}-[a-z]+\.patch")


def is_survivor(name: str) -> bool:
    """Whether a file of a task's folder, by its name, is one of them."""
    return _NAME.fullmatch(name) is not None

"""The known name that a mistyped one was probably meant to be."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, choices: Iterable[str], *, cutoff: float = 0.5) -> str | None:
    """The choice most like `name`; None if none is similar enough. `cutoff` is difflib's ratio, from 0 to 1."""
    return next(iter(difflib.get_close_matches(name, list(choices), n=1, cutoff=cutoff)), None)


def did_you_mean(name: str, choices: Iterable[str], *, otherwise: str | None = None) -> str | None:
    """A hint that names the nearest choice, or `otherwise`."""
    by_word = {choice.lstrip("-"): choice for choice in choices}
    likely = by_word.get(nearest(name.lstrip("-"), by_word, cutoff=0.6) or "")
    return f"did you mean {likely}?" if likely else otherwise

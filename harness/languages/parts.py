"""Programs that are sent into containers. Each is read once, so that a run never mixes two versions of it."""

from __future__ import annotations

import functools
from importlib import resources


@functools.cache
def part(name: str, language: str = "") -> str:
    """A file of a language's folder `inside`, or of the one that all languages share."""
    package = ".".join(("harness.languages", *filter(None, (language,)), "inside"))
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def shared(*names: str) -> tuple[tuple[str, bytes], ...]:
    """Programs in Python that all languages share, by name, as they are sent."""
    return tuple((name, part(f"{name}.py").encode()) for name in names)

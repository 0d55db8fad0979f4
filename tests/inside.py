"""The programs that run inside containers, for tests that run them here."""

from __future__ import annotations

from importlib import resources

_ROOMS = ("harness.grading.inside", "harness.languages.inside", "harness.languages.python.inside")


def part(*names: str) -> str:
    """The source of parts of the runner, one after the other."""
    places = [resources.files(room).joinpath(f"{name}.py") for name in names for room in _ROOMS]
    return "\n".join(place.read_text("utf-8") for place in places if place.is_file())

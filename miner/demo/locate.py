"""Where the demo's data is: in a checkout, or beside the installed package."""

from __future__ import annotations

from pathlib import Path

from harness.core.errors import InputError

_PACKAGE = Path(__file__).resolve().parent.parent


def locate_data() -> Path:
    """The folder with `history.yaml`: `datasets/demo` of a checkout, or `miner/_demo` of an installed wheel.

    Raises:
        InputError: neither is there.

    """
    places = (_PACKAGE.parent / "datasets" / "demo", _PACKAGE / "_demo")
    for place in places:
        if (place / "history.yaml").is_file():
            return place
    raise InputError(
        f"the demo's data was expected in {places[0]} or {places[1]} and is in neither",
        hint="install goldseam again, or run it from a full checkout",
    )

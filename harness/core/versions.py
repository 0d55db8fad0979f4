"""Files of a newer goldseam than this one. Pure."""

from __future__ import annotations

from harness.core.errors import InputError


def refuse_newer(where: object, version: object, ours: int) -> None:
    """Refuse what has a larger `schema_version` than this goldseam reads; `where` names the file, or the place in it.

    Raises:
        InputError: it is newer.

    """
    if isinstance(version, int) and version > ours:
        raise InputError(
            f"{where} has schema_version {version}; this goldseam reads up to {ours}", hint="upgrade goldseam"
        )

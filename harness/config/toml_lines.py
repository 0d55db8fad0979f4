"""Where in a TOML file a key stands, so that an error names its line; tomllib tells no places."""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")
_KEY = re.compile(r"\s*([\w.\-\"']+)\s*=")


def lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Lines, from 1, by key with its sections: `("mining", "min_score")`; sections themselves are among the keys.

    Keys inside multi-line values may be listed too; nobody asks for these.
    """
    lines: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            section = _parts(header[1])
            for depth in range(1, len(section) + 1):
                lines.setdefault(section[:depth], number)
        elif key := _KEY.match(line):
            lines.setdefault((*section, *_parts(key[1])), number)
    return lines


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.strip().split("."))

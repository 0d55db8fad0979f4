"""Poetry's version constraints as PEP 440 specifiers. Pure."""

from __future__ import annotations

import re

_PART = re.compile(r"(\^|~(?!=))\s*v?(\d+(?:\.\d+)*)(.*)$")


def caret_to_specifier(constraint: str) -> str:
    """A Poetry constraint as a PEP 440 specifier, by Poetry's documentation on `^`, `~`, `*` and bare versions.

    Alternatives (`||`) become the range from the first one's lower bound: a specifier knows no "or".
    """
    first = re.sub(r"(?<=[<>=!~^])\s+", "", re.split(r"\|\|?", constraint)[0])
    return ",".join(filter(None, (_specifier(part) for part in re.split(r"[,\s]+", first))))


def _specifier(part: str) -> str:
    if part in {"", "*"}:
        return ""
    match = _PART.match(part)
    if match:
        numbers = [int(number) for number in match[2].split(".")]
        return f">={match[2]}{match[3]},<{_upper(match[1], numbers)}"
    if re.match(r"\d+(\.\d+)*\.\*$", part):
        return f"=={part}"
    return f"=={part}" if part[0].isdigit() else part


def _upper(sign: str, numbers: list[int]) -> str:
    """The version that a caret or tilde constraint stays below."""
    if sign == "~":
        digits = min(len(numbers), 2)
    else:
        digits = next((place + 1 for place, number in enumerate(numbers) if number), len(numbers))
    return ".".join(str(number) for number in (*numbers[: digits - 1], numbers[digits - 1] + 1))

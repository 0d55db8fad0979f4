"""Text that others can influence (models, tests, issue writers, engines), made fit for a line that somebody reads.

Whatever has no look of its own stands there by its number: terminal controls, bidirectional and zero-width characters,
bytes that were not UTF-8. `terminal` applies it to all that is printed, `gate/ci` and `report/text` build on it.
"""

from __future__ import annotations

import re

INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
"""Controls but tab and line feed, bidi and zero-width characters, tags, and bytes that were not UTF-8."""
_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|#(?=#\w*\[)", re.MULTILINE)
"""Where a space ends a command to a CI system: GitHub takes a line that begins with `::`, after spaces, for one, and
`##[` anywhere; Azure and TeamCity take `##vso[` and `##teamcity[`."""


def number(character: str) -> str:
    """The name of a character that can't be shown: `U+202E`, or `0xE9` for a byte (PEP 383)."""
    code = ord(character)
    return f"0x{code - 0xDC00:02X}" if 0xDC80 <= code <= 0xDCFF else f"U+{code:04X}"  # noqa: PLR2004 - PEP 383's range


def neutral(text: str) -> str:
    """A text in which nothing hides and nothing acts on a terminal; its lines stay."""
    return INVISIBLE.sub(lambda match: f"<{number(match[0])}>", text)


def one_line(text: str) -> str:
    """As `neutral`, on one line: white space is one space each."""
    return " ".join(neutral(text.replace("\r\n", "\n")).split())


def visible(text: str, *, limit: int = 300) -> str:
    """As `one_line`, of at most `limit` characters."""
    plain = one_line(text)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def commands(text: str) -> list[int]:
    """The offsets in printed text where a space keeps a CI system from reading a command."""
    return [match.end() for match in _COMMAND.finditer(text)]

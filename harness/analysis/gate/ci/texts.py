"""Names and reasons that others wrote, made fit for the formats of CI systems."""

from __future__ import annotations

import re

from harness.core.printable import one_line

_MARKDOWN = re.compile(r"[\\`*\[\]#|<>~&@$:]|(?<!\w)_|_(?!\w)")
"""What GitHub's Markdown may take for markup inside a line; an underscore within a word is none."""


def visible(text: str, *, limit: int = 300) -> str:
    """A text in one line of at most `limit` characters, in which nothing hides."""
    plain = one_line(text)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def markdown(text: str, *, limit: int = 300) -> str:
    """A text that Markdown shows as it is: nothing in it is markup, a link, a mention or a table's edge."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match.group())};", visible(text, limit=limit))

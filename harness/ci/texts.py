"""Names and reasons that others wrote, made fit for the formats of CI systems."""

from __future__ import annotations

import re

from harness.report.text import INVISIBLE, clean

_MARKDOWN = re.compile(r"[\\`*\[\]#|<>~&@$:]|(?<!\w)_|_(?!\w)")
"""What GitHub's Markdown may take for markup inside a line; an underscore within a word is none."""
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
"""What XML refuses, beside what is invisible anyway."""


def visible(text: str, *, limit: int = 300) -> str:
    """A text in one line: no control, bidi or zero-width character and no lone surrogate, those by their number."""
    plain = " ".join(clean(text).split())
    for kind in (INVISIBLE, _NO_CHARACTER):
        plain = kind.sub(lambda found: f"<U+{ord(found.group()):04X}>", plain)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def markdown(text: str, *, limit: int = 300) -> str:
    """A text that Markdown shows as it is: nothing in it is markup, a link, a mention or a table's edge."""
    return _MARKDOWN.sub(lambda found: f"&#{ord(found.group())};", visible(text, limit=limit))


def logged(text: str, *, limit: int = 300) -> str:
    """As `visible`, for output that a CI system reads along: nothing in it is a command to one.

    GitHub takes a line that begins with `::`, after spaces, for a command, and `##[` anywhere; Azure and TeamCity take
    `##vso[` and `##teamcity[`.
    """
    plain = re.sub(":(?=:)", ": ", visible(text, limit=limit))
    return re.sub("#(?=#)", "# ", plain)

"""Source files of any language, read as text: names alone, as no parser is known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miner.languages.unparsed import UnparsedCode

if TYPE_CHECKING:
    from harness.languages.base import TestReport

_QUALIFIED = r"(?:[\w\\]+(?:::|\\|\.))*"
_WANTED = re.compile(
    r"(?:undefined|undeclared|implicit declaration|no member|cannot find|unresolved|unknown|too (?:many|few) arguments)"
    rf"\b[^\n‘'`\"]{{0,80}}[‘'`\"]{_QUALIFIED}(\w+)"
    rf"|[‘'`\"]{_QUALIFIED}(\w+)['’`\"] (?:undeclared|not found|was not declared)"
    rf"|uninitialized constant {_QUALIFIED}(\w+)"
    rf"|undefined (?:method|function|constant) {_QUALIFIED}(\w+)",
    re.IGNORECASE,
)
"""How compilers and interpreters tell which name they miss: gcc, clang, ld, Ruby, PHP, and others that speak alike."""


class DeclaredCode(UnparsedCode):
    """Names alone; which of them is missing stands in what compilers and interpreters print."""

    def __init__(self) -> None:
        super().__init__("")

    def is_source(self, path: str) -> bool:
        """None: whether a file is code, nobody says."""
        del path
        return False

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """The first that the end of the output misses."""
        matches = ((path, _WANTED.search(text)) for path, text in report.collect_errors.items())
        return {path: next(filter(None, match.groups())) if match else "" for path, match in matches}

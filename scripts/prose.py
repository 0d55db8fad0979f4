"""Hold README, documentation and messages to the word list: plain English, as a native technical writer has it.

Run as `python scripts/prose.py`; it prints each place with the word to use, and ends with 1 if there is one. Rooms are
arguments: Markdown files, or folders of Python whose messages are read (texts of several words, docstrings of
commands). Code in Markdown is not read.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]

WORDS = {
    r"mend(?:s|ed|ing)?": "fix",
    r"of ours": "our",
    r"at once": "in parallel, immediately, together",
    r"told(?! apart)": "reported, said, given",
    r"stand(?:s|ing)? (?:in|on|at|beside|below|above|there)": "is",
    r"(?:brings?|brought) (?!up\b|down\b|it about\b)": "import, add, include",
    r"part(?:s|ed|ing)? (?:a|the|it|them|tasks)(?: \w+)? into": "split",
    r"(?:is|are|was|were) left(?! (?:out|behind|over|as|to)\b)(?=[.,;:]| by| at| in place)": "skipped, kept",
    r"go(?:es)? on|went on": "continue",
    r"hang(?:s)? on": "depend on",
    r"says? what is there": "show",
    r"for want of": "without",
    r"stop(?:s)? to hold": "stop holding",
    r"anew": "again",
    r"(?:is|are|was|were) (?:called|named) so": "has that name",
    r"holds? (?:it|them|\w+) against": "compare with",
    r"what is more": "also",
    r"makes? sure of": "check, prepare",
    r"lies? open": "is readable, is not sealed",
    r"looked through": "searched",
    r"nobody knows": "unknown",
    r"that (?:we|you) may see": "can see",
}
"""A pattern of whole words, and what to write in its place."""
_PATTERNS = {
    re.compile(rf"\b(?:{pattern})(?<!\w)|\b(?:{pattern})\b", re.IGNORECASE): word for pattern, word in WORDS.items()
}

ROOMS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "goldseam", "harness", "miner")
HISTORY = ("docs/adr", "docs/reference")
"""Decisions keep the words of their day; the reference has the program's."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=ROOMS, help="files or folders; by default the documentation")
    options = parser.parse_args()
    places = [place for room in options.rooms for place in _of_room(ROOT / room)]
    print("".join(f"{place}\n" for place in places) + f"{len(places)} words of the list")
    return 1 if places else 0


def _of_room(path: Path) -> Iterator[str]:
    files = [path] if path.is_file() else sorted((*path.rglob("*.md"), *path.rglob("*.py")))
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(HISTORY) or "/inside/" in name or "/tools/" in name:
            continue
        text = file.read_text(encoding="utf-8")
        for number, line in _prose(text) if file.suffix == ".md" else _messages(text):
            for pattern, word in _PATTERNS.items():
                for hit in pattern.finditer(line):
                    yield f"{name}:{number}: {hit[0].strip()!r}: {word}"


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Lines of Markdown without code, addresses and headings' anchors."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)|#[\w-]+", " ", line)


def _messages(text: str) -> Iterator[tuple[int, str]]:
    """Texts that a user may see: all of several words, but of docstrings only those of commands."""
    tree = ast.parse(text)
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            if " " in node.value.strip():
                yield node.lineno, node.value
        elif isinstance(node, ast.FunctionDef) and any("command" in ast.unparse(mark) for mark in node.decorator_list):
            yield node.lineno, ast.get_docstring(node) or ""


if __name__ == "__main__":
    sys.exit(main())

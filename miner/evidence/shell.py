"""Shell commands of strangers, split into words and never run. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 50_000
_MOST = 500
_ENDS = frozenset({"&&", "||", ";", "|", "&", ";;", "(", ")", "|&"})
_OPENERS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "command"})
_WITHOUT_MEANING = frozenset({"sudo", "env", "nice", "retry", "travis_retry", "travis_wait", "xvfb-run", "call", "-"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}|\$\([\w.]+\)|<<\s*\w[\w.-]*\s*>>")
"""What a CI service puts values in for."""
_DUPLICATED = re.compile(r"\s(?:\d?>&\d|&>)(?=\s|$)")
_CONTINUED = re.compile(r"[ \t]*[\\`^]\r?\n[ \t]*")


def commands(text: str) -> Iterator[tuple[str, ...]]:
    """The simple commands in a script, as words; redirections, assignments and `sudo` are left out.

    A line that can't be split (an open quote) is skipped. Conditions are not judged: both branches are given.
    """
    depth_given = 0
    for line in _CONTINUED.sub(" ", text[:_LONGEST]).splitlines():
        for words in _split(line):
            plain = _plain(words)
            if plain:
                yield plain
                depth_given += 1
            if depth_given >= _MOST:
                return


def _split(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(
        _DUPLICATED.sub(" ", _EXPRESSION.sub("$expression", line)), posix=True, punctuation_chars=";&|()"
    )
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words: list[str] = []
    try:
        for word in lexer:
            if word in _ENDS:
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _plain(words: list[str]) -> tuple[str, ...]:
    """A command without what stands before it and without redirections."""
    start = 0
    while start < len(words) and (
        words[start] in _OPENERS | _WITHOUT_MEANING
        or _ASSIGNMENT.match(words[start])
        or (start and words[start - 1] == "sudo" and words[start].startswith("-"))
    ):
        start += 1
    words_kept: list[str] = []
    skip = False
    for word in words[start:]:
        if skip:
            skip = False
        elif re.fullmatch(r"\d?(?:>>?|<)", word):
            skip = True
        elif not re.match(r"\d?(?:>>?&?|<)\S", word) or _VERSION.match(word):
            words_kept.append(word)
    return tuple(words_kept)


_VERSION = re.compile(r"[<>]=?\d")

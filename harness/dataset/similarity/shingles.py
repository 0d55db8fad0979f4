"""Text as runs of tokens, so that a copy is found whatever became of its layout. Pure.

A token is a word or one sign of code, in lower case. White space, quotes, brackets of calls, commas, Markdown, HTML
tags and the markers of a diff are none: a text that was wrapped, indented anew, reformatted, quoted in JSON or put
on a page has the tokens it had. A character outside ASCII is a token of its own, so that its escape in JSON is the
same token.

A shingle is a run of tokens (w-shingling: Broder, "On the resemblance and containment of documents", 1997), known by
64 bits of a hash: over 10 GB of text and 100,000 shingles the chance of any false match is about 1 in 10,000.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Ids = NDArray[np.int32]
    Hashes = NDArray[np.uint64]
    Places = NDArray[np.int64]

WORDS = 6
"""Words in a shingle of prose."""
CODE = 10
"""Tokens in a shingle of code; its signs count."""

_TOKEN = re.compile(
    rb"[a-z0-9_]+|[-=+*/%<>!&|^~@:.\[\]{}?]"
    rb"|[\xc3-\xdf][\x80-\xbf]|\xe2[\x82-\xbf][\x80-\xbf]|[\xe0\xe1\xe3-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_SIGNS = tuple(bytes([sign]) for sign in b"-=+*/%<>!&|^~@:.[]{}?")
_ESCAPE = re.compile(rb'\\+(?:u([0-9a-f]{4})|[nrt"/])')
_ENTITY = re.compile(rb"&(?:lt|gt|amp|quot|nbsp|#39|#x27|#34);")
_ENTITIES = {b"&lt;": b"<", b"&gt;": b">", b"&amp;": b"&"}
_REMOVED = re.compile(rb"(?<=\n)-[^\n]*|(?<=\\n)-(?:(?!\\n)[^\n])*")
"""Lines that a diff takes away, also of one quoted in JSON: they part what stands together after it."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
_TAG = re.compile(rb"<[^<>]{1,400}>")


def plain(text: bytes, *, html: bool = False) -> bytes:
    """Lower case, without escapes, entities and markers of a diff; as long as it was, so that places stay the same."""
    text = text.lower()
    if html:
        text = _TAG.sub(lambda match: b" " * len(match[0]), text)
    if b"@@ -" in text:
        text = _REMOVED.sub(lambda match: b" " * len(match[0]), text)
    if b"\\" in text:
        text = text.replace(b"\\n+", b"\\n ").replace(b"\\n-", b"\\n ")
        text = _ESCAPE.sub(_unescaped, text)
    if b"&" in text:
        text = _ENTITY.sub(lambda match: _ENTITIES.get(match[0], b"").ljust(len(match[0])), text)
    if text[:1] in (b"+", b"-"):
        text = b" " + text[1:]
    return text.replace(b"\n+", b"\n ").replace(b"\n-", b"\n ")


def _unescaped(match: re.Match[bytes]) -> bytes:
    """What an escape stands for, filled up with spaces; half of a surrogate pair is dropped, as no token."""
    code = match[1]
    if code is None:
        return b" " * len(match[0])
    return chr(int(code, 16)).encode("utf-8", "replace").replace(b"?", b" ").lower().ljust(len(match[0]))


def tokens(text: bytes) -> list[bytes]:
    """The tokens of a text that is plain."""
    return _TOKEN.findall(text)


def places(text: bytes) -> list[int]:
    """Where each token of a text that is plain begins, in bytes."""
    return [match.start() for match in _TOKEN.finditer(text)]


@functools.lru_cache(maxsize=1 << 16)
def _value(token: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(token, digest_size=8).digest(), "big")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The tokens that matter, numbered from 1; 0 is any other. Signs come first."""

    numbers: Mapping[bytes, int]
    table: Hashes
    """A random-looking number for each token by its number, the same for the same token always."""

    @classmethod
    def of(cls, texts: Iterable[list[bytes]]) -> Vocabulary:
        """The tokens of these texts."""
        numbers = {sign: number for number, sign in enumerate(_SIGNS, start=1)}
        for text in texts:
            for token in text:
                numbers.setdefault(token, len(numbers) + 1)
        values = [_value(token) for token in (b"", *numbers)]
        return cls(numbers=numbers, table=np.array(values, dtype=np.uint64))

    def ids(self, text: list[bytes]) -> Ids:
        """The number of each token."""
        return np.fromiter(map(self.numbers.get, text, repeat(0)), dtype=np.int32, count=len(text))

    def shingles(self, ids: Ids, length: int) -> tuple[Places, Hashes]:
        """The shingles whose tokens all are known: at which token each begins, and its hash."""
        if len(ids) < length:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        unknown = np.concatenate(([0], np.cumsum(ids == 0)))
        begins = np.flatnonzero(unknown[length:] == unknown[:-length])
        hashes = np.zeros(len(begins), dtype=np.uint64)
        for offset in range(length if len(begins) else 0):
            hashes = hashes * _ODD + self.table[ids[begins + offset]]  # wraps around; the order counts
        return begins, hashes


def words_only(ids: Ids) -> Places:
    """The places of the tokens that are no signs: what prose is made of."""
    return np.flatnonzero((ids == 0) | (ids > len(_SIGNS)))


def words(text: list[bytes]) -> list[bytes]:
    """The tokens that are no signs."""
    signs = frozenset(_SIGNS)
    return [token for token in text if token not in signs]

"""Text as runs of tokens, so that a copy is found whatever became of its layout. Pure.

A token is a word or one sign of code, in lower case. White space, quotes, brackets of calls, commas, Markdown, HTML
tags and the markers of a diff are none: a text that was wrapped, indented anew, reformatted, quoted in JSON or put
on a page has the tokens it had. A character outside ASCII is a token of its own, so that its escape in JSON is the
same token.

A shingle is a run of tokens (w-shingling: Broder, "On the resemblance and containment of documents", 1997). Where the
tokens that matter are known it is a text of one character a token, see `Vocabulary`; else it is known by 64 bits of a
hash.

An inverted index (`Postings`) holds a set against all others at once, exactly. Its work and memory grow with what is
indexed and what is shared, not with the number of pairs; docs/adr/0006-near-duplicates-are-found-exactly.md says why it
is no MinHash.
"""

from __future__ import annotations

import hashlib
import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

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
    """The character of an escape, filled up with spaces; half of a surrogate pair is dropped, as no token."""
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


def hashes(text: list[bytes], length: int) -> set[int]:
    """The shingles of a text, as numbers of 64 bits that are the same wherever they are worked out."""
    runs = (b" ".join(text[begin : begin + length]) for begin in range(len(text) - length + 1))
    return {int.from_bytes(hashlib.blake2b(run, digest_size=8).digest(), "big") for run in runs}


_UNKNOWN = "\0"
_CHARACTERS = sys.maxunicode + 1
_SIGN_CHARACTERS = frozenset(map(chr, range(1, len(_SIGNS) + 1)))
_SIGN_RUN = re.compile(f"[{chr(1)}-{chr(len(_SIGNS))}]+")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The tokens that matter, with a character for each; signs come first. Any other token is the character 0.

    So a text is spelled as a `str`, and its shingles are slices of that. Beyond a million tokens two may have the same
    character.
    """

    characters: Mapping[bytes, str]

    @classmethod
    def of(cls, texts: Iterable[list[bytes]]) -> Vocabulary:
        """The tokens of these texts."""
        tokens_seen = dict.fromkeys((*_SIGNS, *chain.from_iterable(texts)))
        return cls(characters={token: chr(number % _CHARACTERS) for number, token in enumerate(tokens_seen, start=1)})

    def spell(self, text: list[bytes]) -> str:
        """The character of each token."""
        return "".join(map(self.characters.get, text, repeat(_UNKNOWN)))


def shingles(spelled: str, length: int) -> set[str]:
    """The shingles whose tokens all are known."""
    return {spelled[begin : begin + length] for begin in begins(spelled, length)}


def begins(spelled: str, length: int) -> Iterator[int]:
    """At which token each shingle begins whose tokens all are known."""
    return chain.from_iterable(
        range(run.start(), run.end() - length + 1) for run in re.finditer(f"[^{_UNKNOWN}]{{{length},}}", spelled)
    )


def prose(spelled: str) -> str:
    """The tokens that are no signs: what prose is made of."""
    return _SIGN_RUN.sub("", spelled)


def prose_places(spelled: str) -> list[int]:
    """At which token of the whole text each of `prose` is."""
    return [place for place, character in enumerate(spelled) if character not in _SIGN_CHARACTERS]


def words(text: list[bytes]) -> list[bytes]:
    """The tokens that are no signs."""
    signs = frozenset(_SIGNS)
    return [token for token in text if token not in signs]


@dataclass(frozen=True, kw_only=True)
class Postings:
    """Sets of 64-bit hashes, numbered from 0."""

    hashes: array[int]
    """Every hash as often as sets hold it, sorted."""
    owners: array[int]
    """The number of the set that each of them stands for."""

    @classmethod
    def of(cls, sets: Sequence[array[int]]) -> Postings:
        """An index of sets; in none of them a hash stands twice."""
        hashes = array("Q", chain.from_iterable(sets))
        owners = array("i", chain.from_iterable(repeat(number, len(members)) for number, members in enumerate(sets)))
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        return cls(hashes=array("Q", map(hashes.__getitem__, order)), owners=array("i", map(owners.__getitem__, order)))

    def shared(self, hashes: array[int]) -> dict[int, int]:
        """How many hashes a set shares with each one that it shares any with, by number."""
        return Counter(chain.from_iterable(self.owners[slice(*self._range(value))] for value in hashes))

    def held_by_at_most(self, hashes: array[int], most: int) -> array[int]:
        """Those of some hashes that so many sets hold, or fewer."""
        ranges = {value: self._range(value) for value in hashes}
        return array("Q", (value for value, (begin, end) in ranges.items() if end - begin <= most))

    def _range(self, value: int) -> tuple[int, int]:
        begin = bisect_left(self.hashes, value)
        is_held = begin < len(self.hashes) and self.hashes[begin] == value
        return begin, bisect_right(self.hashes, value, lo=begin) if is_held else begin

"""How hard a value is to guess, in bits, for somebody who knows some words and a value near it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from harness.judging.values import Approx, ClassName, Pattern, Record
from miner.languages.guessing import simple_values
from miner.languages.guessing.known import A_LOOK
from miner.languages.guessing.words import WORD, parts_of

_SPECIAL = re.compile(r"\\.|\[[^]]*\]|\{\d*,?\d*\}|[^\w\s]")
"""What of a regular expression is no text to be found."""
_OPTIONAL = re.compile(r"(?:\([^()]*\)|\[[^]]*\]|\\.|[^\\\[\]()])(?:[?*]|\{0?,\d*\})\??")
"""What of one a text need not have."""
_SHOWN = re.compile(r"[&*]?(?:[A-Z]\w*\s?)?[\[({].*[\])}]", re.DOTALL)
"""An object as a language shows it, or as JSON."""
_FIELD = re.compile(r"\b([A-Za-z_]\w*)(?=\"?\s*[:=]|\s?[\[({])")
"""What such a text has by itself, once it shows that object: names of fields and classes."""
_BITS_A_LETTER = 3.0
"""Of a word that is nowhere to be read: less than the letters of English text at random, more than in sentences."""
MOST_BITS = 128.0
A_CLASS = 3.0
"""Of a class, also of an exception or warning, or a constant: few are common."""


def exact(value: Any) -> Any:
    """Numbers without their tolerance, at any depth."""
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    return value.expected if isinstance(value, Approx) else value


def holds_record(value: Any) -> bool:
    """Whether it is an object, one that is shown in a text, or has one inside."""
    if isinstance(value, str):
        return _SHOWN.fullmatch(value) is not None
    return isinstance(value, Record) or any(isinstance(part, Record) for part in parts_of(value))


def bits_of(value: Any, near: Any, words: Mapping[str, float]) -> float:
    """Bits of a value for somebody who knows these words, and one value that may be near it."""
    match value:
        case Pattern(pattern=str(pattern)):
            parts = _OPTIONAL.sub(" ", pattern).split("|")
            return min(_bits_of_text(" ".join(_SPECIAL.sub(" ", part).split()), words) for part in parts)
        case Approx(expected=int() | float() as number):
            width = max(abs(number) * (value.rel if value.rel is not None else 1e-6), value.abs or 1e-12)
            return min(bits_of(number, near, words), math.log2(abs(number) / width + 2))
    return min(_bits_of_kind(value, near, words), words.get(repr(value), math.inf))


def _bits_of_kind(value: Any, near: Any, words: Mapping[str, float]) -> float:
    match value:
        case None | bool():
            return 1.0
        case int():
            small = simple_values.of_int(value)
            shift = 2 + 2 * math.log2(abs(value - near) + 1) if type(near) is int else small
            return min(small, shift, words.get(str(value), small))
        case float() if value.is_integer():
            return bits_of(int(value), near, words)
        case float():
            return min(words.get(str(value), 24.0), simple_values.of_float(value))
        case str():
            return min(_bits_of_text(value, words), _bits_of_edits(near, value, words))
        case bytes() | bytearray():
            text = bytes(value).decode("latin-1")
            near = bytes(near).decode("latin-1") if isinstance(near, bytes | bytearray) else near
            return min(_bits_of_text(text, words), 1 + _bits_of_edits(near, text, words))
        case list() | tuple() | set() | frozenset():
            whole = 2 + _bits_of_all(value, words)
            alike = simple_values.of_list(exact(list(value)), lambda item: bits_of(item, None, words))
            return min(whole, alike, _bits_of_edits(near, value, words))
        case dict():
            whole = 2 + _bits_of_all((*value.keys(), *value.values()), words)
            return min(whole, _bits_of_edits(near, value, words))
    return _bits_of_object(value, near, words)


def _bits_of_object(value: Any, near: Any, words: Mapping[str, float]) -> float:
    match value:
        case Record(attrs=()):
            return A_CLASS - 1  # two names may come out
        case ClassName():
            return A_CLASS
        case Record(attrs=fields):
            fields_near = dict(near.attrs) if isinstance(near, Record) else {}
            differing = {
                repr(part): part for name, part in fields if name not in fields_near or fields_near[name] != part
            }
            others = [part for part in differing.values() if part]
            return A_CLASS + _bits_of_all(others, words) + (len(others) < len(differing))  # most others are defaults
    return min(_bits_of_text(str(value), words), 24.0)


def _bits_of_all(items: Iterable[Any], words: Mapping[str, float]) -> float:
    """Bits of some values, each that is there again for one."""
    bits_by_key: dict[str, float] = {}
    again = 0
    for item in items:
        key = repr(item)
        again += key in bits_by_key
        bits_by_key.setdefault(key, bits_of(item, None, words))
    return min(sum(bits_by_key.values()) + again, MOST_BITS)


def _bits_of_text(text: str, words: Mapping[str, float]) -> float:
    bits_by_word = {word: _bits_of_word(word, words) for word in WORD.findall(text)}
    simple = simple_values.of_text(text, lambda part: _bits_of_text(part, words))
    if _SHOWN.fullmatch(text):
        rest = _FIELD.sub(lambda match: "" if match[1] in words else match[1], text)
        simple = min(simple, A_LOOK + sum(bits_by_word.get(word, 0.0) for word in set(re.findall(r"\w+", rest))))
    return min(1 + sum(bits_by_word.values()), simple, MOST_BITS)


def _bits_of_word(word: str, words: Mapping[str, float]) -> float:
    simple = simple_values.of_text(word, lambda part: _bits_of_word(part, words))
    return min(words.get(word, math.inf), _BITS_A_LETTER * len(word), simple)


def _bits_of_edits(near: Any, value: Any, words: Mapping[str, float]) -> float:
    """Bits of what has to be changed of a value near it: of a text letter by letter or word by word."""
    if isinstance(value, set | frozenset | dict):
        return _bits_of_other_members(near, value, words)
    if type(near) is not type(value) or not isinstance(value, str | list | tuple) or not len(near):
        return MOST_BITS
    if isinstance(value, str):
        parts = [(near, value), (WORD.findall(near), WORD.findall(value))]
    else:
        parts = [([repr(item) for item in near], [repr(item) for item in value])]
    return min(_bits_of_opcodes(before, after, value, words) for before, after in parts)


def _bits_of_opcodes(
    before: Sequence[str], after: Sequence[str], value: Sequence[Any], words: Mapping[str, float]
) -> float:
    """Bits of turning some parts into others: letters or words of a text, or items; one that comes again is known."""
    if len(before) + len(after) > 2000:  # noqa: PLR2004 - long enough to take long
        return MOST_BITS
    bits, seen = 1.0, set[str]()
    for tag, start, end, left, right in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            bits += 1 + math.log2(len(before) + 1) + (math.log2(end - start + 1) if end > start else 0)
            part = "".join(after[left:right]) if isinstance(value, str) else value[left:right]
            if (key := repr(part)) not in seen:
                bits += _bits_of_text(part, words) if isinstance(part, str) else _bits_of_all(part, words)
            seen.add(key)
    return min(bits, MOST_BITS)


def _bits_of_other_members(near: Any, value: Collection[Any], words: Mapping[str, float]) -> float:
    """Bits of what a set or a mapping has that one near it has not, and of what it lacks of that."""
    if not isinstance(near, dict if isinstance(value, dict) else set | frozenset) or not len(near):
        return MOST_BITS
    before, after = (
        {repr(member): member for member in (one.items() if isinstance(one, dict) else one)} for one in (near, value)
    )
    lacking = len(before.keys() - after.keys())
    more = [
        part
        for key in after.keys() - before.keys()
        for part in (after[key] if isinstance(value, dict) else (after[key],))
    ]
    return min(2 + lacking * (1 + math.log2(len(before) + 1)) + _bits_of_all(more, words), MOST_BITS)

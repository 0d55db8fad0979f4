"""Which types of Rust can be compared by `==`, as far as they are of the standard library. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"\s*(?:(?:'\w+(?:,\s*)?)|(?:dyn|mut)\b|((?:\w+::)*\{?\w+\}?|[&<>\[\](),;]))")
_CLOSING = {"<": ">", "[": "]", "(": ")"}
_INTEGERS = frozenset(f"{sign}{size}" for sign in "ui" for size in ("8", "16", "32", "64", "128", "size"))
_FLOATS = frozenset({"f32", "f64"})
_TEXTS = frozenset({"str", "String"})
_SEQUENCES = frozenset({"[", "Vec", "VecDeque"})
_POINTERS = frozenset({"Box", "Rc", "Arc", "NonZero", "Wrapping", "Saturating", "Pin"})
"""What is not equal to what it holds, though `Debug` tells that alone."""
_SETS = frozenset({"HashSet", "BTreeSet"})
_CLOSED = _SETS | {"Option", "Result", "HashMap", "BTreeMap", "("}
"""What equals nothing but its own, of which all that is in it has to have one type."""
_SHOWN_AS_TEXT = frozenset({"OsString", "OsStr", "CString", "CStr"})
"""What `Debug` tells as it tells texts, beside those and paths."""
_KNOWN = (
    _INTEGERS | _FLOATS | _TEXTS | _SEQUENCES | _POINTERS | _CLOSED
    | {"LinkedList", "CString", "CStr", "bool", "char", "{int}", "{float}", "&"}
)  # fmt: skip
_OF_VARIANT = re.compile(r"\{[A-Z]\w*\}")
"""A type that is written in front of its variant."""
_MOST_DEPTH = 30


@dataclass(frozen=True)
class _Type:
    head: str
    """Its last name, or the sign that it begins with."""
    inner: tuple[_Type, ...] = ()
    is_array: bool = False
    """Whether a list says how long it is."""


def are_comparable(kind: str, written: str) -> bool:
    """Whether a value of a type may stand beside one that is written; so it may where either is not known."""
    try:
        left, other = (_unlent(_Reader(text).whole()) for text in (kind, written))
    except (ValueError, IndexError):
        return True
    return _are_comparable(left, other)


def stand_beside(left: str, other: str) -> bool:
    """Whether references and lists of these types may stand on both sides of `==`, as far as they are known."""
    try:
        return _stand_beside(_Reader(left).whole(), _Reader(other).whole())
    except (ValueError, IndexError):
        return True


def _stand_beside(left: _Type, other: _Type) -> bool:
    while left.head == other.head == "&":
        left, other = left.inner[0], other.inner[0]
    heads = tuple(map(_form, (left, other)))
    if not {_unlent(left).head, _unlent(other).head} <= _KNOWN:
        return True
    if {left.head, other.head} <= _SEQUENCES and not all(map(_stand_beside, left.inner[:1], other.inner[:1])):
        return False
    if "&" not in {left.head, other.head}:
        return not set(heads) <= set(_BESIDE) or heads[1] in _BESIDE[heads[0]].split()
    return heads[1] in _BESIDE.get(heads[0], "").split()


def _form(kind: _Type) -> str:
    """A list or text by what it is, with a sign for a reference to one."""
    if kind.head == "&":
        return f"&{_form(kind.inner[0])}"
    return f"[{'N' if kind.is_array else 'T'}]" if kind.head == "[" else kind.head


_BESIDE = {
    "str": "str String Cow", "&str": "String Cow", "String": "str &str String Cow",
    "[T]": "[T] [N] Vec", "&[T]": "[N] Vec", "[N]": "[N] [T] &[T]", "&[N]": "",
    "Vec": "Vec [T] &[T] [N] &[N] Cow", "VecDeque": "VecDeque Vec &[T] [N] &[N]",
}  # fmt: skip
"""What lists and texts are compared with by `==`, where they stand before it."""


def may_match(kind: str, pattern: Sequence[Any]) -> bool:
    """Whether a value of a type may be of a pattern of stripping, as far as both are known."""
    try:
        return _may_match(_Reader(kind).whole(), pattern)
    except (ValueError, IndexError):
        return True


def may_contain(kind: str, asked: str) -> bool:
    """Whether a value of a type has a `contains` that takes such an argument, as far as both are known."""
    try:
        return _may_contain(_unlent(_Reader(kind).whole()), _Reader(asked).whole())
    except (ValueError, IndexError):
        return True


def _may_contain(kind: _Type, asked: _Type) -> bool:
    lent = asked.inner[0] if asked.head == "&" else asked
    if kind.head in _POINTERS and kind.inner:
        return _may_contain(kind.inner[0], asked)
    if kind.head in _TEXTS:
        return asked.head != "&" or lent.head != "char"
    if kind.head not in _SEQUENCES | _SETS | {"LinkedList"} or not kind.inner:
        return kind.head not in _SHOWN_AS_TEXT | {"char", "Path", "PathBuf"}
    own = kind.inner[0]
    is_part = own.head == "String" and lent.head == "str"
    is_lent = kind.head in _SETS and (is_part or (own.head == "&" and _are_same(own.inner[0], lent)))
    is_number = {own.head, lent.head} <= _INTEGERS or {own.head, lent.head} <= _FLOATS
    return asked.head == "&" and (is_number or is_lent or _are_same(own, lent))


def begins(kind: str) -> bool:
    """Whether a type that `Debug` tells as a text may say what it begins or ends with."""
    try:
        return _unlent(_Reader(kind).whole()).head not in _SHOWN_AS_TEXT | {"char"}
    except (ValueError, IndexError):
        return True


def _may_match(kind: _Type, pattern: Sequence[Any]) -> bool:
    kind = _unlent(kind)
    match pattern[0]:
        case "any":
            return True
        case "or":
            return all(_may_match(kind, choice) for choice in pattern[1])
        case "s" if kind.head in _SHOWN_AS_TEXT | {"String", "Cow", "Path", "PathBuf"}:
            return False
        case "slice" if kind.head in ("Vec", "VecDeque", "LinkedList"):
            return False
        case "name" | "tuple" | "struct" if (owner := pattern[1].rpartition("::")[0]) and kind.head != owner:
            return False  # a variant of another type
    if kind.head in _POINTERS:
        return False
    if pattern[0] != "tuple" or pattern[3] is not None:
        return True
    inner: Sequence[_Type] = {"(": kind.inner, "Option": kind.inner[:1], "Result": kind.inner[:1]}.get(kind.head, ())
    if kind.head == "Result" and pattern[1] == "Err":
        inner = kind.inner[1:2]
    return all(map(_may_match, inner, pattern[2]))


def _are_comparable(left: _Type, other: _Type) -> bool:
    left, other = _unlent(left), _unlent(other)
    if {left.head, other.head} <= _TEXTS:
        return True
    if {left.head, other.head} <= _SEQUENCES and left.inner and other.inner:
        return _are_comparable(left.inner[0], other.inner[0])
    if left.head not in _KNOWN and not _OF_VARIANT.fullmatch(other.head):
        return other.head not in _CLOSED  # it may have an `==` of its own for others
    return _are_same(left, other)


def _are_same(left: _Type, other: _Type) -> bool:
    if _OF_VARIANT.fullmatch(other.head):
        return left.head == other.head[1:-1]
    if other.head not in _KNOWN:
        return True
    if other.head in ("{int}", "{float}"):
        return left.head in (_INTEGERS if other.head == "{int}" else _FLOATS)
    heads = {left.head, other.head}
    is_alike = len(heads) == 1 or ("[" in heads and heads <= _SEQUENCES)
    pairs = zip(left.inner, other.inner, strict=False)
    return is_alike and all(_are_same(*pair) for pair in pairs)


def _unlent(kind: _Type) -> _Type:
    while kind.head == "&":
        kind = kind.inner[0]
    return kind


class _Reader:
    """Reads a type as the compiler writes it, or as a source does."""

    def __init__(self, text: str) -> None:
        self._words = [word for word in _WORD.findall(text) if word]
        self._at = 0

    def whole(self, depth: int = 0) -> _Type:
        word = self._words[self._at]
        self._at += 1
        if depth > _MOST_DEPTH or word in (">", "]", ")", ",", ";"):
            raise ValueError("not a type")
        if word == "&":
            return _Type("&", (self.whole(depth + 1),))
        if word in ("[", "("):
            inner = self._inner(word, depth)
            return _Type(word, inner[:1], len(inner) > 1) if word == "[" else _Type(word, inner)
        is_with = self._at < len(self._words) and self._words[self._at] == "<"
        self._at += is_with
        return _Type(word.rpartition("::")[2], self._inner("<", depth) if is_with else ())

    def _inner(self, sign: str, depth: int) -> tuple[_Type, ...]:
        types: list[_Type] = []
        while self._words[self._at] != _CLOSING[sign]:
            if self._words[self._at] in (",", ";"):
                self._at += 1
            else:
                types.append(self.whole(depth + 1))
        self._at += 1
        return tuple(types)

"""Changes of one value that come to mind: what functions and methods of the standard library make of it. Pure."""

from __future__ import annotations

import ast
import base64
import codecs
import csv
import hashlib
import html
import ipaddress
import itertools
import json
import math
import posixpath
import re
import statistics
import string
import textwrap
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any
from unicodedata import combining, normalize
from urllib.parse import parse_qs, parse_qsl, quote, quote_plus, unquote, unquote_plus, urlencode, urlsplit
from uuid import UUID

from miner.languages.guessing import web_values
from miner.languages.guessing.calculations import OF_ONE, flat

_SEPARATORS = re.compile(r"[/\\:=,;&|\s]+")
_NUMBER = re.compile(r"-?\d{1,18}")
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^<>]*>")
_AROUND = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), (">", "<"), ('"', '"'), ("'", "'"), ("`", "`"), ("{{", "}}"))
_SIGNS = (*":=,;|#?&@/", "://", "--", "->", *".- \n\t", "==", *"*_%")
"""What parts of a text are told apart by."""
_LONGEST_RANGE = 30
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
_REFUSED = (
    'strconv.Atoi: parsing "{}": invalid syntax',
    'strconv.ParseInt: parsing "{}": invalid syntax',
    'strconv.ParseFloat: parsing "{}": invalid syntax',
    'strconv.ParseBool: parsing "{}": invalid syntax',
    'For input string: "{}"',
    "invalid literal for int() with base 10: '{}'",
    "could not convert string to float: '{}'",
    "Cannot read properties of undefined (reading '{}')",
)
"""What standard libraries say of a text that is none of what they read."""
_LARGEST = 1 << 64
_KINDS = (str, bytes, int, float, complex, date, datetime, time, timedelta, Decimal, Fraction, UUID, PurePosixPath)
"""Standard classes whose values no method changes."""
_NAMES = dict.fromkeys(name for kind in (*_KINDS, ipaddress.IPv4Address) for name in dir(kind) if name[0] != "_")


def json_of(value: Any) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=repr)


def _own(name: str) -> Callable[[Any], Any]:
    """An attribute of a value, or what its method of that name gives."""

    def of(value: Any) -> Any:
        if not isinstance(value, (*_KINDS, ipaddress.IPv4Address)):
            raise TypeError(type(value).__name__)
        attribute = getattr(value, name)
        return attribute() if callable(attribute) else attribute

    return of


def _number(value: Any) -> Any:
    if not isinstance(value, int | float | Decimal):
        raise TypeError("no number")
    return value


def _behind(sign: str) -> Callable[[str], str]:
    return lambda value: textwrap.indent(value, sign)


def _digest(name: str) -> Callable[[Any], str]:
    return lambda value: hashlib.new(name, value.encode() if isinstance(value, str) else value).hexdigest()


def _between(left: str, right: str) -> Callable[[str], str]:
    return lambda value: value.split(left, 1)[1].split(right, 1)[0]


def _all_between(left: str, right: str) -> Callable[[str], list[str]]:
    return lambda value: [part.split(right)[0] for part in value.split(left)[1:] if right in part]


def _cut(value: str, sign: str) -> list[str]:
    """A text in two, at a sign that it has."""
    front, back = value.split(sign, 1)
    return [front, back]


def _in_go(value: Any) -> str:
    """A list or mapping as Go's `fmt` shows it."""
    if isinstance(value, list | tuple):
        return f"[{' '.join(map(_in_go, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{_in_go(key)}:{_in_go(value[key])}' for key in sorted(value))}]"
    return str(value).lower() if isinstance(value, bool) else "<nil>" if value is None else str(value)


def _in_java(value: Any) -> str:
    """A collection or map as Java shows it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_in_java, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_in_java(key)}={_in_java(item)}' for key, item in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)


def _hash_in_java(value: str) -> int:
    number = 0
    for unit in memoryview(value.encode("utf-16-le")).cast("H"):
        number = (31 * number + unit) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _list_hash_in_java(value: list[int]) -> int:
    number = 1
    for item in value:
        number = (31 * number + item) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _fnv(value: str, bits: int) -> int:
    number, prime = {32: (0x811C9DC5, 0x01000193), 64: (0xCBF29CE484222325, 0x100000001B3)}[bits]
    for byte in value.encode():
        number = ((number ^ byte) * prime) & ((1 << bits) - 1)
    return number


def _seconds(value: str) -> float:
    """A duration as Go writes it."""
    if not re.fullmatch(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms]))+", value):
        raise ValueError("no duration")
    parts = re.findall(r"([\d.]+)(ms|[dhms])", value)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "".join((f"{hours}h" if hours else "", f"{minutes}m" if hours or minutes else "", f"{rest}s"))


CHANGES: Mapping[str, Callable[[Any], Any]] = {
    "as it is, without the error": lambda v: v,
    "the opposite": lambda v: not v,
    "one more": lambda v: v + 1,
    "one less": lambda v: v - 1,
    "negated": lambda v: -v,
    "its absolute value": abs,
    "doubled": lambda v: v * 2,
    "halved": lambda v: v // 2,
    "as a number": int,
    "as a fraction": float,
    "as text": str,
    "as bytes": lambda v: v.encode(),
    "as characters": lambda v: v.decode(),
    "stripped": lambda v: v.strip(),
    "stripped at its end": lambda v: v.rstrip(),
    "in small letters": lambda v: v.lower(),
    "in capitals": lambda v: v.upper(),
    "as a title": lambda v: v.title(),
    "without blanks": lambda v: v.replace(" ", ""),
    "with a line end": lambda v: v + "\n",
    "in quotes": lambda v: f'"{v}"',
    "its lines": lambda v: v.splitlines(),
    "its parts": _SEPARATORS.split,
    "its first part": lambda v: _SEPARATORS.split(v)[0],
    "its last part": lambda v: _SEPARATORS.split(v)[-1],
    "its words": lambda v: v.split(),
    "without its first": lambda v: v[1:],
    "without its last": lambda v: v[:-1],
    "backwards": lambda v: v[::-1],
    "sorted": sorted,
    "each once": lambda v: list(dict.fromkeys(v)),
    "without what is false": lambda v: [element for element in v if element],
    "flattened": lambda v: [inner for element in v for inner in element],
    "its first": lambda v: v[0],
    "its last": lambda v: v[-1],
    "its size": len,
    "as a list": list,
    "as a tuple": tuple,
    "as a set": set,
    "in a list": lambda v: [v],
    "in a tuple": lambda v: (v,),
    "its keys": lambda v: list(v.keys()),
    "its values": lambda v: list(v.values()),
    "as JSON": json_of,
    "read as JSON": json.loads,
    "with percent signs": lambda v: quote(v, safe="!'()*~"),
    "without percent signs": unquote,
    "with percent signs outside of ASCII": lambda v: quote(v, safe=string.punctuation),
    "with percent signs and a plus": quote_plus,
    "without percent signs and plus": unquote_plus,
    "as HTML": html.escape,
    "of HTML": html.unescape,
    "in base64": lambda v: base64.b64encode(v.encode() if isinstance(v, str) else v).decode(),
    "of base64": lambda v: base64.b64decode(v).decode(),
    "in hexadecimal": lambda v: format(v, "x") if isinstance(v, int) else v.encode().hex(),
    "with underscores": lambda v: re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s-]+", "_", v).lower(),
    "with hyphens": lambda v: re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s_]+", "-", v).lower(),
    "in camel case": lambda v: re.sub(r"[\s_-]+(\w)", lambda found: found[1].upper(), v),
    "with a capital": lambda v: v[:1].upper() + v[1:],
    "with one blank at most": lambda v: " ".join(v.split()),
    "with a blank behind commas": lambda v: re.sub(r",(?=\S)", ", ", v),
    "without quotes": lambda v: v.strip("\"'`"),
    "without accents": lambda v: "".join(c for c in normalize("NFKD", v) if not combining(c)),
    "with plain line ends": lambda v: v.replace("\r\n", "\n"),
    "without indentation": textwrap.dedent,
    "rounded": round,
    "rounded to two digits": lambda v: round(v, 2),
    "sorted backwards": lambda v: sorted(v, reverse=True),
    "sorted, each once": lambda v: sorted(set(v)),
    "its pairs": lambda v: [list(pair) for pair in v.items()],
    "the other way round": lambda v: {value: key for key, value in v.items()},
    "without what is nothing": lambda v: {key: value for key, value in v.items() if value is not None},
    "as JSON with blanks": lambda v: json.dumps(v, ensure_ascii=False),
    "as JSON in lines": lambda v: json.dumps(v, indent=2, ensure_ascii=False),
    "as a query": urlencode,
    "joined by blanks": lambda v: " ".join(map(str, v)),
    "joined by commas": lambda v: ",".join(map(str, v)),
    "joined by commas and blanks": lambda v: ", ".join(map(str, v)),
    "joined by line ends": lambda v: "\n".join(map(str, v)),
    "joined": lambda v: "".join(map(str, v)),
    "as a range": lambda v: list(range(min(v, _LONGEST_RANGE))),
    "as a range from one": lambda v: list(range(1, min(v, _LONGEST_RANGE) + 1)),
    "its sum": sum,
    "its least": min,
    "its largest": max,
    "as a boolean": bool,
    "its first line": lambda v: v.splitlines()[0],
    "sorted lines": lambda v: "\n".join(sorted(v.splitlines())),
    "each line once": lambda v: "\n".join(dict.fromkeys(v.splitlines())),
    "its words backwards": lambda v: " ".join(reversed(v.split())),
    "indented": lambda v: textwrap.indent(v, "    "),
    "between signs": lambda v: f"<{v}>",
    "with commas": lambda v: f"{v:,}",
    "in percent": lambda v: f"{v:.2%}",
    "in binary": bin,
    "in octal": oct,
    "in hexadecimal with 0x": hex,
    "of hexadecimal": lambda v: int(v, 16),
    "as Python shows it": repr,
    "read as Python": ast.literal_eval,
    "as a character": chr,
    "as the number of a character": ord,
    "squared": lambda v: v * v if abs(v) < _LARGEST else None,
    "its square root": math.sqrt,
    "as a Decimal": Decimal,
    "as a Decimal, by its text": lambda v: Decimal(str(v)),
    "as a fraction of whole numbers": lambda v: Fraction(v) if isinstance(v, float) else None,
    "as a date": date.fromisoformat,
    "as a time": datetime.fromisoformat,
    "in UTC": lambda v: v.replace(tzinfo=UTC),
    "without its time zone": lambda v: v.replace(tzinfo=None),
    "as a path": PurePosixPath,
    "as a UUID": UUID,
    "as an address": ipaddress.ip_address,
    "of a query": lambda v: dict(parse_qsl(v)),
    "of a query, in lists": parse_qs,
    "its host": lambda v: urlsplit(v).netloc,
    "its path": lambda v: urlsplit(v).path,
    "in UTF-16": lambda v: v.encode("utf-16-le"),
    "in Latin 1": lambda v: v.encode("latin-1"),
    "as bytes of these numbers": lambda v: bytes([*v]),
    "as a mapping": dict,
    "how often each is there": lambda v: dict(Counter(v)),
    "numbered": lambda v: list(map(list, enumerate(v))),
    "numbered from one": lambda v: list(map(list, enumerate(v, 1))),
    "numbered, in tuples": lambda v: list(enumerate(v)),
    "turned on its side": lambda v: list(map(list, zip(*v, strict=True))),
    "turned on its side, in tuples": lambda v: list(zip(*v, strict=True)),
    "its running sums": lambda v: list(itertools.accumulate(map(_number, v))),
    "its distances": lambda v: [after - before for before, after in itertools.pairwise(v)],
    "two by two": lambda v: [v[at : at + 2] for at in range(0, len(v), 2)],
    "its first behind the others": lambda v: [*v[1:], v[0]],
    "its pairs, in tuples": lambda v: list(v.items()),
    "its pairs, sorted": lambda v: sorted(v.items()),
    "without what is false, by key": lambda v: {key: value for key, value in v.items() if value},
    "its first number": lambda v: int(_NUMBER.findall(v)[0]),
    "its last number": lambda v: int(_NUMBER.findall(v)[-1]),
    "its numbers": lambda v: list(map(int, _NUMBER.findall(v))),
    "its digits": lambda v: "".join(re.findall(r"\d", v)),
    "without its digits": lambda v: re.sub(r"\d", "", v),
    "its letters and digits": lambda v: re.sub(r"[\W_]", "", v),
    "its first word": lambda v: _WORD.findall(v)[0],
    "its last word": lambda v: _WORD.findall(v)[-1],
    "its longest word": lambda v: max(_WORD.findall(v), key=len),
    "what its words begin with": lambda v: "".join(word[0] for word in _WORD.findall(v)),
    "its last line": lambda v: v.splitlines()[-1],
    "without tags": lambda v: _TAG.sub("", v),
    "without tags, stripped": lambda v: _TAG.sub("", v).strip(),
    "its slug": lambda v: re.sub(r"[\W_]+", "-", v.lower()).strip("-"),
    "in base64 for addresses": lambda v: base64.urlsafe_b64encode(v.encode() if isinstance(v, str) else v).decode(),
    "its cells": lambda v: next(csv.reader([v])),
    "its pairs of names and values": lambda v: dict(re.findall(r"(?<!\w)(\w+)=([^,;&\s]*)", v)),
    "flattened at any depth": lambda v: list(flat(v)),
    "sorted by size": lambda v: sorted(v, key=len),
    "by their first": lambda v: {key: [item for item in v if item[0] == key] for key in dict.fromkeys(x[0] for x in v)},
    "its median": statistics.median,
    "for a pattern": re.escape,
    "with letters turned": lambda v: codecs.encode(v, "rot13"),
    "as hours, minutes and seconds": lambda v: str(timedelta(seconds=v)),
    "since 1970": lambda v: datetime.fromisoformat(v).timestamp(),
    "multiplied up to it": lambda v: math.factorial(v) if v <= _LONGEST_RANGE else None,
    "joined, the last by and": lambda v: f"{', '.join(v[:-1])} and {v[-1]}",
    **{f"each line behind {sign!r}": _behind(sign) for sign in ("> ", "# ", "- ", "* ")},
    **{f"its {name}": _digest(name) for name in ("md5", "sha1", "sha256", "sha512")},
    "as Go shows it": _in_go,
    "as Java shows it": _in_java,
    "its hash in Java": _hash_in_java,
    "the hash of its numbers in Java": _list_hash_in_java,
    "a UUID by its md5": lambda v: str(UUID(_digest("md5")(v), version=3)),
    **{
        f"its {size} bytes, {order}{name}": lambda v, size=size, order=order, kind=kind: kind(v.to_bytes(size, order))  # type: ignore[misc]
        for size in (2, 4, 8)
        for order in ("big", "little")
        for name, kind in (("", bytes), (" in numbers", list))
    },
    "its four bytes turned": lambda v: int.from_bytes(v.to_bytes(4, "big"), "little"),
    "its CRC-32": lambda v: zlib.crc32(v.encode()),
    "its CRC-32 in hexadecimal": lambda v: f"{zlib.crc32(v.encode()):08x}",
    "its Adler-32": lambda v: zlib.adler32(v.encode()),
    **{f"its FNV-1a of {bits} bits": lambda v, bits=bits: _fnv(v, bits) for bits in (32, 64)},  # type: ignore[misc]
    "a duration in seconds": _seconds,
    "a duration in milliseconds": lambda v: _seconds(v) * 1000,
    "a duration in nanoseconds": lambda v: int(_seconds(v) * 10**9),
    "as a duration": _duration,
    **{f"refused: {form}": form.format for form in _REFUSED},
    "its ending": lambda v: posixpath.splitext(v)[1],
    "without its ending": lambda v: posixpath.splitext(v)[0],
    **OF_ONE,
    **web_values.OF_ONE,
    "all but its first, by key": lambda v: dict(list(v.items())[1:]),
    **{f"all between {left!r} and {right!r}": _all_between(left, right) for left, right in _AROUND},
    **{f"what is between {left!r} and {right!r}": _between(left, right) for left, right in _AROUND},
    **{f"in front of {sign!r}": lambda v, sign=sign: _cut(v, sign)[0].strip() for sign in _SIGNS},  # type: ignore[misc]
    **{f"behind {sign!r}": lambda v, sign=sign: _cut(v, sign)[1].strip() for sign in _SIGNS},  # type: ignore[misc]
    **{f"in two at {sign!r}": lambda v, sign=sign: tuple(map(str.strip, _cut(v, sign))) for sign in _SIGNS},  # type: ignore[misc]
    **{f"its parts at {sign!r}": lambda v, sign=sign: list(map(str.strip, v.split(sign))) for sign in _SIGNS},  # type: ignore[misc]
    **{f"its {name}": _own(name) for name in _NAMES},
}
"""By what they are called."""


def of_each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A change of each item of a list, or of the value of each key."""
    if isinstance(value, dict):
        return {key: change(item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        raise TypeError(type(value).__name__)
    return [change(item) for item in value]


def of_keys(value: Any, change: Callable[[Any], Any]) -> Any:
    """A change of each key."""
    return {change(key): item for key, item in value.items()}


def of_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """A change of all that is inside of lists and mappings, at any depth."""
    if isinstance(value, dict | list):
        return of_each(value, lambda item: of_leaves(item, change))
    return change(value)

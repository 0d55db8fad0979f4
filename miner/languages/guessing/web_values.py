"""Changes of one or two values that come to mind where a language has the web's standard functions. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

_HUMP = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$]*")
_HASHES = ("md5", "sha1", "sha256", "sha384", "sha512")
_MILLISECONDS = {
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
    "w": 604_800_000,
    "y": 31_557_600_000,
}
_AGE = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?) ?(ms|millis|[smhdwy])[a-z]*", re.IGNORECASE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MOST = 1 << 10
_LONGEST = 10_000
"""Of a text with an element that is looked at."""
_MOST_PLACES = 20
"""After the point, as `toFixed` has it in practice."""
_ELEMENT = re.compile(r"(<(\w++)[^<>]*+>).*(</\2>\s*+)", re.DOTALL)


def _raw(value: Any) -> bytes:
    """A text, bytes, or a list of small numbers, as bytes."""
    if not isinstance(value, str | bytes | list | tuple):
        raise TypeError("no bytes")
    return value.encode() if isinstance(value, str) else bytes(value)


def _plain(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _for_addresses(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _digest(name: str, form: Callable[[bytes], str]) -> Callable[[Any], str]:
    return lambda value: form(hashlib.new(name, _raw(value)).digest())


def _named_digest(name: str) -> Callable[[Any], str]:
    return lambda value: f"{name}-{_digest(name, _plain)(value)}"


def _signature(name: str, form: Callable[[bytes], str]) -> Callable[[Any, Any], str]:
    return lambda value, key: form(hmac.digest(_raw(key), _raw(value), name))


def _in_base(base: int) -> Callable[[Any], str]:
    def written(value: int) -> str:
        digits = []
        rest = abs(value)
        if rest >> _MOST:
            raise ValueError("too large")
        while rest:
            rest, digit = divmod(rest, base)
            digits.append(_DIGITS[digit])
        return "-" * (value < 0) + ("".join(reversed(digits)) or "0")

    return written


def _humps(value: str) -> list[str]:
    """The words of a name, however they are put together."""
    found = _HUMP.findall(value)
    if not found:
        raise ValueError("no words")
    return found


def in_node(value: Any) -> str:
    """A value as `util.inspect` shows it on one line."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case str():
            sign = next((sign for sign in "'\"`" if sign not in value), "'")
            return sign + value.replace("\\", "\\\\").replace("\n", "\\n") + sign
        case list() | tuple():
            return f"[ {', '.join(map(in_node, value))} ]" if value else "[]"
        case dict():
            pairs = (f"{key if _PLAIN_KEY.fullmatch(key) else in_node(key)}: {in_node(value[key])}" for key in value)
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return str(value)


def _moment(value: Any) -> datetime:
    """A time of its milliseconds since 1970, or of its text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return datetime.fromtimestamp(value / 1000, UTC)
    return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def _iso(timespec: str) -> Callable[[Any], str]:
    return lambda value: _moment(value).isoformat(timespec=timespec).replace("+00:00", "Z")


def _age(value: str) -> int | float:
    match = _AGE.fullmatch(value)
    if match is None:
        raise ValueError("no duration")
    unit = match[2].lower()
    milliseconds = float(match[1]) * _MILLISECONDS["ms" if unit == "millis" else unit]
    return int(milliseconds) if milliseconds.is_integer() else milliseconds


def _href(value: str) -> str:
    parts = urlsplit(value)
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()


def _paths(value: Any, front: str = "") -> Iterator[tuple[str, Any]]:
    """What is inside of mappings and lists, by keys in brackets."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        path = f"{front}[{key}]" if front else str(key)
        if isinstance(inner, dict | list | tuple):
            yield from _paths(inner, path)
        else:
            yield path, inner


def _declarations(sign: str, end: str) -> Callable[[Any], str]:
    def written(value: Mapping[str, Any]) -> str:
        return end.join(f"{'-'.join(_humps(key)).lower()}{sign}{inner}" for key, inner in value.items())

    return written


def in_element(given: str, inner: str) -> str:
    """A text in the element that another is."""
    match = _ELEMENT.fullmatch(given) if len(given) <= _LONGEST else None
    if match is None:
        raise ValueError("no element")
    return f"{match[1]}{inner}{match[3]}"


def _fixed(value: Any, places: int) -> str:
    return f"{value:.{places if 0 <= places <= _MOST_PLACES else 0}f}"


OF_ONE: Mapping[str, Callable[[Any], Any]] = {
    "in base64 for addresses, without =": lambda v: _for_addresses(_raw(v)),
    "its bytes of base64": base64.b64decode,
    "its bytes of hexadecimal": bytes.fromhex,
    "its bytes in hexadecimal": lambda v: _raw(v).hex(),
    "its sha384": lambda v: hashlib.sha384(_raw(v)).hexdigest(),
    **{f"its {name} in base64": _digest(name, _plain) for name in _HASHES},
    **{f"its {name} in base64 for addresses": _digest(name, _for_addresses) for name in _HASHES},
    **{f"its {name}, named": _named_digest(name) for name in _HASHES},
    **{f"by base {base}": _in_base(base) for base in (2, 8, 16, 36)},
    "in hexadecimal capitals": lambda v: format(v, "X"),
    "with two digits behind the point": lambda v: f"{v:.2f}",
    "in dollars": lambda v: f"${v:,.2f}",
    "its words in one, each with a capital": lambda v: "".join(word.capitalize() for word in _humps(v)),
    "its words in one, the first small": lambda v: (
        _humps(v)[0].lower() + "".join(w.capitalize() for w in _humps(v)[1:])
    ),
    "its words in capitals": lambda v: "_".join(_humps(v)).upper(),
    "its words with points": lambda v: ".".join(_humps(v)).lower(),
    "its words with blanks": lambda v: " ".join(_humps(v)).lower(),
    "its words, each with a capital": lambda v: " ".join(word.capitalize() for word in _humps(v)),
    "its words, as a sentence": lambda v: " ".join(_humps(v)).capitalize(),
    "its query": lambda v: f"?{urlsplit(v).query}" if urlsplit(v).query else "",
    "its fragment": lambda v: f"#{urlsplit(v).fragment}" if urlsplit(v).fragment else "",
    "as a whole address": _href,
    "a time of JavaScript": _moment,
    "since 1970 in milliseconds": lambda v: int(_moment(v).timestamp() * 1000),
    "a time in ISO's form": _iso("milliseconds"),
    "a time in ISO's form by seconds": _iso("seconds"),
    "a time in HTTP's form": lambda v: format_datetime(_moment(v), usegmt=True),
    "a duration, in its milliseconds": _age,
    "sorted as texts": lambda v: sorted(v, key=str),
    "as Node shows it": in_node,
    "as HTML, by numbers": lambda v: html.escape(v).replace("&#x27;", "&#39;"),
    "as HTML, but for quotes": lambda v: html.escape(v, quote=False),
    "as HTML, but for single quotes": lambda v: html.escape(v, quote=False).replace('"', "&quot;"),
    "in a paragraph, as HTML": lambda v: f"<p>{html.escape(v, quote=False)}</p>",
    "as a query with percent signs": lambda v: urlencode(v, doseq=True, quote_via=quote),
    "as a query with its sign": lambda v: f"?{urlencode(v, doseq=True)}",
    "as a query with brackets": lambda v: urlencode([*_paths(v)], safe="[]"),
    "by keys in brackets": lambda v: dict(_paths(v)),
    "its code points": lambda v: [*map(ord, v)],
    "with escapes": lambda v: json.dumps(v)[1:-1],
    "as JSON in ASCII": json.dumps,
    "as JSON by sorted keys": lambda v: json.dumps(v, separators=(",", ":"), sort_keys=True, ensure_ascii=False),
    "as JSON behind tabs": lambda v: json.dumps(v, indent="\t", ensure_ascii=False),
    "as attributes": lambda v: " ".join(f'{key}="{inner}"' for key, inner in v.items()),
    "as declarations": _declarations(":", ";"),
    "as declarations with blanks": _declarations(": ", "; "),
    "in quotes, doubled inside": lambda v: "'" + v.replace("'", "''") + "'",
    "as a text of data": lambda v: f"data:text/plain;base64,{_plain(_raw(v))}",
}
"""Of one value, by what they are called."""
OF_TWO: Mapping[str, Callable[[Any, Any], Any]] = {
    "with so many digits behind the point": _fixed,
    "so many of it": lambda a, b: [a] * min(b, _MOST),
    "as the password of the first": lambda a, b: f"Basic {_plain(f'{a}:{b}'.encode())}",
    "as the value of a cookie": lambda a, b: f"{a}={quote(b, safe='')}",
    **{
        f"signed by the other with {name}{ending}": _signature(name, form)
        for name in ("sha1", "sha256", "sha512")
        for ending, form in (("", bytes.hex), (" in base64", _plain), (" for addresses", _for_addresses))
    },
}
"""Of two values, by what they are called."""

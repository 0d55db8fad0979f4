"""Values as snapshots show them: the form of jest's and vitest's printer, for what is plain. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from harness.judging.javascript.values import HOLE, UNDEFINED, Cycle, Matcher, Object, Opaque, Symbol

_WORDS = {None: "null", True: "true", False: "false", UNDEFINED: "undefined"}
_MOST_LETTERS = 1 << 20
_PLAIN_NUMBERS = 21
"""Digits before the point from which on JavaScript writes a power of ten."""


class UnshownError(ValueError):
    """A value that versions of the printer show differently, or that is none of plain data."""


def forms(value: object) -> Iterator[str]:
    """A value as each version shows it: with or without names of plain classes, with and without escapes in texts.

    Raises:
        UnshownError: it has no form that all of them have.

    """
    for names in (False, True):
        for escapes in (False, True):
            yield _Printer(names=names, escapes=escapes).shown(value, "")


def text_of_number(value: float) -> str:
    """A number as JavaScript writes it (ECMA-262, Number::toString), but for -0, which snapshots tell."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digits_told, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digits_told))
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if len(digits) <= point <= _PLAIN_NUMBERS:
        return minus + digits + "0" * (point - len(digits))
    if 0 < point <= _PLAIN_NUMBERS:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:  # noqa: PLR2004 - six zeros after the point at most
        return f"{minus}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def text_of_error(error: Object) -> str:
    """As `String(error)`."""
    name, message = error.text
    return f"{name}: {message}" if name and message else name or message


def as_written(text: str) -> str:
    """A snapshot that stands in a test, without the indentation that the runner gave it."""
    lines = text.split("\n")
    first = re.search(r"^([^\S\n]*)\S", text, re.MULTILINE)
    indentation = first[1] if first else ""
    inner = lines[1:-1]
    is_indented = indentation and inner and not lines[0].strip() and not lines[-1].strip()
    if is_indented and all(not line or line.startswith(indentation) for line in inner):
        return "\n".join(line[len(indentation) :] for line in inner).strip()
    return text.strip()


class _Printer:
    def __init__(self, *, names: bool, escapes: bool) -> None:
        self._names, self._escapes = names, escapes
        self._letters = 0

    def shown(self, value: object, indent: str) -> str:
        """One value, whose further lines begin with `indent`."""
        text = self._shown(value, indent)
        self._letters += len(text)
        if self._letters > _MOST_LETTERS:
            raise UnshownError("too long")
        return text

    def _shown(self, value: object, indent: str) -> str:
        if value is None or isinstance(value, bool) or value is UNDEFINED:
            return _WORDS[value]
        if isinstance(value, float):
            return text_of_number(value)
        if isinstance(value, int):
            return f"{value}n"
        if isinstance(value, str):
            return self._quoted(value)
        if isinstance(value, Symbol):
            return f"Symbol({value.text[4:]})" if value.text.startswith("for ") else value.text
        if isinstance(value, Cycle):
            return "[Circular]"
        if isinstance(value, Opaque) and value.why == "a function":
            return "[Function]"
        if isinstance(value, Object):
            return self._object(value, indent)
        if isinstance(value, Matcher) and not value.inverse:
            return self._matcher(value, indent)
        raise UnshownError("not plain data")

    def _quoted(self, text: str) -> str:
        return '"' + (re.sub(r'["\\]', r"\\\g<0>", text) if self._escapes else text) + '"'

    def _matcher(self, matcher: Matcher, indent: str) -> str:
        match matcher.name, matcher.sample:
            case "Any", Opaque(chain=(name, *_)):
                return f"Any<{name}>"
            case "Anything", _:
                return "Anything"
            case "StringContaining" | "StringMatching", str() | Object(tag="R") as sample:
                return f"{matcher.name} {self.shown(sample, indent)}"
        raise UnshownError("a matcher that versions show differently")

    def _object(self, value: Object, indent: str) -> str:
        if value.tag == "E":
            return f"[{text_of_error(value)}]"
        if value.tag == "D":
            return _date(value.text[0])
        if value.tag == "R":
            source, flags = value.text
            escaped = re.sub(r"[$()*+.?\[\\\]^{|}]", r"\\\g<0>", source) if self._escapes else source
            return f"/{escaped}/{flags}"
        further = indent + "  "
        if value.tag == "a" and HOLE not in value.items:
            front = "Array " if self._names or value.name != "Array" else ""
            named = front if value.name in ("Array", None, "") else f"{value.name} "
            return self._listed(f"{named}[", [self.shown(item, further) for item in value.items], "]", indent)
        if value.tag == "T" and value.name not in ("ArrayBuffer", "DataView"):
            return self._listed(f"{value.name} [", [text_of_number(float(item)) for item in value.items], "]", indent)
        if value.tag == "S":
            return self._listed("Set {", [self.shown(item, further) for item in value.items], "}", indent)
        if value.tag == "M":
            pairs = [f"{self.shown(key, further)} => {self.shown(inner, further)}" for key, inner in value.items]
            return self._listed("Map {", pairs, "}", indent)
        if value.tag == "O" and all(isinstance(key, str) for key, _ in value.props):
            props = sorted(value.props, key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
            pairs = [f"{self._quoted(key)}: {self.shown(inner, further)}" for key, inner in props]
            named = f"{value.name or 'Object'} " if self._names or value.name not in ("Object", None) else ""
            return self._listed(f"{named}{{", pairs, "}", indent)
        raise UnshownError("an object that versions show differently")

    def _listed(self, front: str, parts: Sequence[str], back: str, indent: str) -> str:
        if not parts:
            return front + back
        return front + "".join(f"\n{indent}  {part}," for part in parts) + f"\n{indent}{back}"


def _date(milliseconds: str) -> str:
    """As `toISOString` has it.

    Raises:
        UnshownError: it is no date of four digits' years.

    """
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=int(milliseconds))
    except (ValueError, OverflowError) as error:
        raise UnshownError("not such a date") from error
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"

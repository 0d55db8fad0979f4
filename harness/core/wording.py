"""What libraries say about values and files, in our voice: what was expected, found, and probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from harness.core.errors import InputError

_PERCENT = 0.01
_PROBLEMS = 5
_PREFIXES = ("Value error, ", "Assertion failed, ")
_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "dictionary": "a table",
    "list": "a list",
    "tuple": "a list",
}
_TYPES = {
    type(None): "nothing",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}
_LIMITS = (
    ("greater than or equal to ", "{} or more"),
    ("less than or equal to ", "{} or less"),
    ("greater than ", "more than {}"),
    ("less than ", "less than {}"),
)


def expectation(message: str) -> str | None:
    """What pydantic says was expected, such as `a whole number`; None where its message is no such sentence."""
    lowered = message[:1].lower() + message[1:]
    if not lowered.startswith("input should be "):
        return None
    rest = lowered.removeprefix("input should be ").partition(", unable")[0]
    for words, form in _LIMITS:
        if rest.startswith(words):
            return form.format(rest.removeprefix(words))
    kind = re.fullmatch(r"(?:a |an )?(?:valid )?(\w+)", rest)
    if kind and kind[1] in _KINDS:
        return _KINDS[kind[1]]
    return rest


def problem(message: str, value: object = None, *, is_known: bool = True) -> str:
    """One sentence about a wrong value: what was expected and, where `is_known`, what was found."""
    expected = expectation(message)
    if expected is None:
        for prefix in _PREFIXES:
            message = message.removeprefix(prefix)
        return message
    return f"expected {expected}, found {value!r}" if is_known else f"expected {expected}"


def kind_of(value: object) -> str:
    """What a value of JSON, YAML or TOML is, in a sentence after `found`."""
    return _TYPES.get(type(value), "a value of another kind")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: `a, b or c`."""
    return " or ".join((", ".join(names[:-1]), *names[-1:]) if len(names) > 1 else names)


def first_of(names: Sequence[str], most: int) -> str:
    """Names as a sentence has them where they may be many: `a, b and 7 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def place_of(error: Mapping[str, Any]) -> str:
    """Where one of pydantic's errors is, such as `tasks.0.image`; empty for the whole."""
    return ".".join(str(part) for part in error["loc"])


def problems(errors: Sequence[Mapping[str, Any]], *, whole: str = "", most: int = 1) -> str:
    """The first of pydantic's errors in its own words, each with its place; `whole` is what has none."""
    return "; ".join(f"{place_of(error) or whole}: {error['msg']}" for error in errors[:most])


def one_of(option: str, value: str, choices: Iterable[str]) -> str:
    """The value of an option, if it is one of the choices.

    Raises:
        InputError: it is none; what was expected, what was found and what was probably meant.

    """
    names = list(choices)
    if value not in names:
        raise InputError(f"{option}: expected {listed(names)}, found {value!r}", hint=did_you_mean(value, names))
    return value


def field_problem(place: str, error: Mapping[str, Any], *, keys: Iterable[str] = ()) -> str:
    """One of pydantic's errors about a file as a sentence; `keys` are those that may be in its place."""
    kind, value = error["type"], error["input"]
    if kind == "missing":
        return f"{place}: is missing"
    if kind == "extra_forbidden":
        likely = did_you_mean(place.rpartition(" ")[2], keys)
        return f"{place}: unknown key" + (f"; {likely}" if likely else "")
    if kind == "json_invalid":
        return f"{place}: not one JSON document"
    likely = did_you_mean(value, re.findall(r"'([^']*)'", error["msg"])) if isinstance(value, str) else None
    text = problem(error["msg"], value, is_known=isinstance(value, str | int | float))
    return f"{place}: {text}" + (f"; {likely}" if likely else "")


def file_problems(errors: Iterable[Mapping[str, Any]]) -> str:
    """The first of pydantic's errors about a file, as one line."""
    return "; ".join(field_problem(place_of(error) or "file", error) for error in islice(errors, _PROBLEMS))


def not_readable(kind: str, error: Exception) -> str:
    """Why a text is not YAML, JSON or TOML: the line, and what is wrong there; or the byte that is no UTF-8."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte {error.start} of the file)"
    mark = getattr(error, "problem_mark", None)  # yaml.MarkedYAMLError
    line = mark.line + 1 if mark else getattr(error, "lineno", None)  # json.JSONDecodeError
    text = getattr(error, "problem", None) or getattr(error, "msg", None) or " ".join(str(error).split())
    if inside := re.fullmatch(r"(.*) \(at line (\d+), column \d+\)", text):  # tomllib.TOMLDecodeError
        text, line = inside[1], inside[2]
    return f"not {kind}: " + (f"line {line}: " if line else "") + text[:300]


def fence(text: str) -> str:
    """Backticks that a text does not hold, to stand around it in Markdown."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, such as `1 task` or `2 tasks`; `many` is the plural where an `s` does not make it."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def percent(share: float | None) -> str:
    """A share for a person; never rounded to 0% or 100% unless it is."""
    if share is None:
        return "–"
    if 0 < share < _PERCENT:
        return "<1%"
    return ">99%" if 1 - _PERCENT < share < 1 else f"{share:.0%}"


def span(low: float, high: float) -> str:
    """An interval of shares for a person, such as `57–98%`."""
    ends = (percent(low), percent(high))
    if ends[0] == ends[1]:
        return ends[0]
    return f"{ends[0]} to {ends[1]}" if any(end[0] in "<>" for end in ends) else f"{ends[0][:-1]}–{ends[1]}"


def nearest(name: str, choices: Iterable[str], *, cutoff: float = 0.5) -> str | None:
    """The choice most like `name`; None if none is similar enough. `cutoff` is difflib's ratio, from 0 to 1."""
    return next(iter(difflib.get_close_matches(name, list(choices), n=1, cutoff=cutoff)), None)


def did_you_mean(name: str, choices: Iterable[str], *, otherwise: str | None = None) -> str | None:
    """A hint that names the nearest choice, or `otherwise`."""
    by_word = {choice.lstrip("-"): choice for choice in choices}
    likely = by_word.get(nearest(name.lstrip("-"), by_word, cutoff=0.6) or "")
    return f"did you mean {likely}?" if likely else otherwise

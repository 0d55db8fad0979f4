"""pydantic's messages about values in our voice: what was expected."""

from __future__ import annotations

import re

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

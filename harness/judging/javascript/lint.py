"""How the host decides a case of ESLint's RuleTester: by what its linter reported, and what its fixes make. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.judging.javascript.values import UNDEFINED, Object
from harness.judging.patterns import of_javascript
from harness.judging.search import matches

_PLACES = ("line", "column", "endLine", "endColumn")
_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_REFUSES_FATAL, _ASKS_FOR_OUTPUT, _ASKS_FOR_SUGGESTIONS = 7, 7, 9
"""The versions of ESLint whose tester does so, whatever a case says."""


def reported(operands: list[Any], _options: Mapping[str, Any]) -> bool:
    """Whether the messages of a case are those that its test expects, with what they fix.

    Raises:
        ValueError: it expects something in a form that is not known.

    """
    outcome, spec = map(_fields, operands)
    messages, errors, since = list(map(_fields, _items(outcome["messages"]))), spec["errors"], spec["since"]
    if since >= _REFUSES_FATAL and any(message.get("fatal") is True for message in messages):
        return False
    if since >= _ASKS_FOR_SUGGESTIONS and any(map(_suggests_alike, messages)):
        return False
    if isinstance(errors, float):
        return len(messages) == errors and _is_fixed(outcome, spec)
    expected = _items(errors)
    if len(messages) != len(expected) or not (not messages or any(message["own"] is True for message in messages)):
        return False
    case = _Case(since)
    return all(map(case.is_error, messages, expected)) and _is_fixed(outcome, spec)


def _fields(value: object) -> dict[Any, Any]:
    if not isinstance(value, Object) or value.tag != "O":
        raise ValueError("not a plain object")
    return dict(value.props)


def _items(value: object) -> tuple[Any, ...]:
    if not isinstance(value, Object) or value.tag != "a":
        raise ValueError("not an array")
    return value.items


def _suggests_alike(message: Mapping[Any, Any]) -> bool:
    """Whether two suggestions of a message say the same."""
    texts = [_fields(suggestion)["desc"] for suggestion in _items(message["suggestions"])]
    return any(text in texts[:place] for place, text in enumerate(texts))


def _is_fixed(outcome: Mapping[Any, Any], spec: Mapping[Any, Any]) -> bool:
    """Whether fixes make what they should: nothing, where a case says so or, from some version on, says nothing."""
    output = spec.get("output", UNDEFINED)
    if output is None or output is UNDEFINED:
        return outcome["isFixed"] is False or (output is UNDEFINED and bool(spec["since"] < _ASKS_FOR_OUTPUT))
    return _same(outcome["output"], _text(output))


class _Case:
    """What one version of the tester holds messages against."""

    def __init__(self, since: float) -> None:
        self._since = since

    def is_error(self, message: Mapping[Any, Any], error: object) -> bool:
        """Whether a message is what a case expects: a text, a pattern, or an object."""
        if isinstance(error, str) or (isinstance(error, Object) and error.tag == "R"):
            return self._is_text(message["message"], error) and self._has_suggestions(message, UNDEFINED)
        spec = _fields(error)
        if "message" in spec and not self._is_text(message["message"], spec["message"]):
            return False
        if not self._is_called(message, spec, message["message"]):
            return False
        if spec.get("type") and spec["type"] is not UNDEFINED and message["type"] != spec["type"]:
            return False
        if any(key in spec and not _same(message[key], spec[key]) for key in _PLACES):
            return False
        return self._has_suggestions(message, spec.get("suggestions", UNDEFINED))

    def _is_text(self, text: object, spec: object) -> bool:
        if isinstance(spec, Object) and spec.tag == "R" and isinstance(text, str):
            return matches(of_javascript(*spec.text), text)
        return isinstance(text, str) and text == spec

    def _is_called(self, message: Mapping[Any, Any], spec: Mapping[Any, Any], text: object) -> bool:
        """Whether it has the identifier that is expected, and the text of that with the data that are."""
        if "messageId" not in spec:
            return True
        template, data_spec = message["template"], spec.get("data", UNDEFINED)
        if message["messageId"] != spec["messageId"] or not isinstance(template, str) or not isinstance(text, str):
            return False
        data = {} if data_spec is UNDEFINED else {key: _shown(value) for key, value in _fields(data_spec).items()}
        missing = (part for part in _PLACEHOLDER.finditer(template) if part[1] not in data)
        if self._since >= _ASKS_FOR_SUGGESTIONS and any(part[0] in text for part in missing):
            return False
        return data_spec is UNDEFINED or text == _PLACEHOLDER.sub(lambda part: data.get(part[1], part[0]), template)

    def _has_suggestions(self, message: Mapping[Any, Any], spec: object) -> bool:
        suggestions = _items(message["suggestions"])
        if spec is UNDEFINED:
            return not suggestions or self._since < _ASKS_FOR_SUGGESTIONS
        if not isinstance(spec, Object):
            return len(suggestions) == (spec or 0) if spec is not True else bool(suggestions)
        expected = _items(spec)
        return len(suggestions) == len(expected) and all(map(self._is_suggestion, map(_fields, suggestions), expected))

    def _is_suggestion(self, suggestion: Mapping[Any, Any], expected: object) -> bool:
        spec = _fields(expected)
        if any(key in spec and not _same(suggestion[key], spec[key]) for key in ("desc", "output")):
            return False
        return self._is_called(suggestion, spec, suggestion["desc"])


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("what several passes make")


def _same(value: object, spec: object) -> bool:
    return type(value) is type(spec) and value == spec


def _shown(value: object) -> str:
    """What is put into a message for a value."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        return value
    raise ValueError("neither a text nor a whole number")

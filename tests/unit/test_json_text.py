"""JSON as it is read everywhere."""

from __future__ import annotations

import json
import time

import pytest

from harness.core import json_text


@pytest.mark.parametrize("text", ["[" * 100_000, b'{"a": "]\\"]",\n "b": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"])
def test_what_is_nested_too_deeply_is_broken_json_and_says_where(text):
    with pytest.raises(ValueError, match=r"^nested too deeply: line \d column \d+ ") as error:
        json_text.loads(text)
    assert isinstance(error.value, json.JSONDecodeError)
    at = error.value.pos
    assert (text[at : at + 1], text[at + 1 : at + 2] in ("", b"]"), text.count(text[at : at + 1], 0, at)) == (
        text[at : at + 1], True, 99_999,
    )  # fmt: skip


def test_the_place_is_found_in_time_that_grows_with_the_text():
    text = "[" * 100_000 + '"' + '\\"' * 500_000
    started = time.monotonic()
    with pytest.raises(json_text.NestedError):
        json_text.loads(text)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'"{}"', b"\xff", b"1" * 5000, b"[" * 100_000])
def test_what_is_no_object_is_none(text):
    assert json_text.read_object(text) is None

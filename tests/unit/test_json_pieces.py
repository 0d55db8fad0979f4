"""JSON of any size, read piece by piece."""

from __future__ import annotations

import io
import json
import random

import pytest

from harness.runs import json_stream
from harness.runs.json_stream import Pieces, TooMuchError, loads

TEXTS = ("", "a", '"', "\\", '\\"', "[", "}]", "\n", "\x00", "é", "\u202e", "😀", "\ud800", "long " * 9)


def some(chance: random.Random, depth: int = 4):
    """A value of JSON."""
    kind = chance.randrange(7 if depth else 5)
    if kind < 5:
        return (
            None,
            chance.random() < 0.5,
            chance.randint(-(10**20), 10**20),
            chance.gauss(0, 1e9),
            chance.choice(TEXTS),
        )[kind]
    inner = [some(chance, depth - 1) for _ in range(chance.randrange(4))]
    return inner if kind == 5 else {chance.choice(TEXTS): one for one in inner}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Every boundary between pieces is met."""
    monkeypatch.setattr(json_stream, "_PIECE", 3)


def pieces(data: bytes, **options) -> Pieces:
    return Pieces(io.BytesIO(data), **options)


def test_a_value_is_what_json_says_and_ends_where_it_ends():
    for seed in range(300):
        chance = random.Random(seed)
        text = json.dumps(some(chance), indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)
        data = text.encode("utf-8", "surrogatepass")
        found = pieces(b" " + data + b" ,")
        assert found.value(len(data)) == data, seed
        assert found.peek() == b",", seed


def test_the_members_of_an_object_come_one_by_one():
    for seed in range(100):
        value = {"a": some(random.Random(seed)), "b": some(random.Random(-seed))}
        found = pieces(json.dumps(value).encode())
        assert {name: loads(found.value(10_000)) for name in found.members()} == value, seed
        found.end()


def test_the_values_of_a_list_come_one_by_one():
    found = pieces(b' [1, "a", {"b": []}] ')
    assert [loads(found.value(100)) for _ in found.items()] == [1, "a", {"b": []}]


def test_a_value_longer_than_asked_is_passed_over():
    found = pieces(b'{"a": "' + b'\\"x' * 1000 + b'", "b": [[1], {"c": "]}"}]}')
    assert [(name, found.value(20)) for name in found.members()] == [("a", None), ("b", b'[[1], {"c": "]}"}]')]


@pytest.mark.parametrize("data", [b"", b",", b"]", b'"a', b'"a\\', b'"a\n"', b"[1", b'{"a": "b}', b"{[", b"\xff"])
def test_what_does_not_begin_or_end_is_told(data):
    with pytest.raises(ValueError, match=r"expected a value|does not end"):
        pieces(data).value(100)


@pytest.mark.parametrize("data", [b"[1,\n2]", b'{"a":\n 1}', b"\n1"])
def test_a_value_of_a_line_ends_on_it(data):
    with pytest.raises(ValueError, match=r"expected a value|does not end"):
        pieces(data, by_line=True).value(100)


@pytest.mark.parametrize("data", [b"{1: 2}", b'{"a" 1}', b'{"a": 1 "b": 2}', b'{"a": 1,}', b'{"a": 1', b"[]"])
def test_what_is_no_object_is_told(data):
    found = pieces(data)
    with pytest.raises(ValueError, match="expected"):
        [found.value(10) for _ in found.members()]


@pytest.mark.parametrize("text", ["[" * 101 + "]" * 101, "[" * 100_000, "1" * 1001, '{"a": -' + "1" * 5000 + "}"])
def test_what_is_too_much_is_told_apart_from_what_is_wrong(text):
    with pytest.raises(TooMuchError, match=r"100 levels|1001 digits|5001 digits"):
        loads(text)


def test_what_is_deep_or_long_and_not_too_much_is_taken():
    assert loads("[" * 100 + "]" * 100)
    assert loads("1" * 1000) == int("1" * 1000)

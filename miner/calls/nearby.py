"""Inputs near recorded ones: a call with one argument or two changed, of the same type. Pure, repeatable by seed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.differential.corpus import Steps

_MOST_BITS = 128
_LONGEST = 2000
Place = tuple[int, ...]
Pool = dict[str, list[Any]]


def pool_of(calls: Iterable[Steps]) -> Pool:
    """The values that calls are made with, by the function and the type of value: each may stand in another's place."""
    pool: dict[str, dict[str, Any]] = {}
    for steps in calls:
        for step in steps:
            for place in places(step):
                value = _at(step, place)
                pool.setdefault(_kind(step, value), {})[json.dumps(value)] = value
    return {kind: list(values.values()) for kind, values in pool.items()}


def variants(
    steps: Steps, pool: Mapping[str, Sequence[Any]], *, most: int, seed: str, pairs: int = 0
) -> tuple[Steps, ...]:
    """Up to so many calls near one, and up to `pairs` with two changes, each different from it and from each other."""
    rng = random.Random(seed)  # noqa: S311 - repeatable
    every = {json.dumps(neighbour): neighbour for neighbour in _all(steps, pool)}
    every.pop(json.dumps(steps), None)
    texts = list(every)
    rng.shuffle(texts)
    twice: dict[str, Steps] = {}
    for text in (rng.choice(texts) for _ in range(pairs if texts else 0)):
        further = list(_all(every[text], pool))
        if further and (variant := rng.choice(further)) != steps:
            twice[json.dumps(variant)] = variant
    chosen = {text: every[text] for text in texts[:most]} | twice
    return tuple(chosen.values())


def _all(steps: Steps, pool: Mapping[str, Sequence[Any]]) -> Iterator[Steps]:
    for number, step in enumerate(steps):
        for place in places(step):
            value = _at(step, place)
            for other in (*changed(value), *pool.get(_kind(step, value), ())):
                if other != value:
                    new = copy.deepcopy(steps)
                    _replace(new[number], place, copy.deepcopy(other))
                    yield new


def places(step: Sequence[Any]) -> Iterator[Place]:
    """Where values stand in a step's arguments; objects and names of the product are left alone."""
    _, _, args, keywords = step
    for index, value in enumerate(args):
        yield from _inside(value, (2, index))
    for index, (_, value) in enumerate(keywords):
        yield from _inside(value, (3, index, 1))


def _inside(value: Any, place: Place) -> Iterator[Place]:
    if isinstance(value, bool):
        yield place
    if not isinstance(value, list) or value[0] in ("v", "g", "k"):
        return
    yield place
    if value[0] in ("l", "t"):
        for index, item in enumerate(value[1]):
            yield from _inside(item, (*place, 1, index))
    elif value[0] == "d":
        for index, _ in enumerate(value[1]):
            yield from _inside(value[1][index][0], (*place, 1, index, 0))
            yield from _inside(value[1][index][1], (*place, 1, index, 1))


def changed(value: Any) -> Sequence[Any]:
    """Values near one, as harness/languages/python/inside/calls.py writes them."""
    if isinstance(value, bool):
        return [not value]
    tag, body = value[0], value[1]
    if tag == "n":
        return _of_named(body, value[2:])
    near = _NEAR.get(tag)
    return [[tag, body_near] for body_near in near(body)] if near else []


def _integers(number: int) -> list[int]:
    near = [number + 1, number - 1, 0, 1, -number, 2 * number, number // 2, 10 * number, number * number]
    return [value for value in near if value.bit_length() <= _MOST_BITS]


def _floats(number: float) -> list[float]:
    near = [number + 1, number - 1, 0.0, 1.0, -number, 2 * number, number / 2, number + 0.5, number * number]
    return [value for value in near if abs(value) < 2.0**_MOST_BITS]


def _texts(text: str) -> list[str]:
    half = len(text) // 2
    near = [
        *("", text[:-1], text[1:], text + text[-1:], text[:1] + text, text[::-1], text + text),
        *(text.upper(), text.lower(), text.title(), text.swapcase(), f" {text}", f"{text} ", f"{text}\n"),
        *(text[:half], text[half:], text[:half] + " " + text[half:], text[:half] + text[half + 1 :]),
        *(text[:half] + text[half : half + 1] + text[half:], f"{text}s", f"x{text}", f"{text}1"),
    ]
    return near if text else ["a", " ", "0"]


def _lists(items: Sequence[Any]) -> list[list[Any]]:
    if not items:
        return [[["i", "0"]], [["s", "a"]], [None]]
    items = list(items)
    return [[], items[:-1], items[1:], items[::-1], items + items[-1:], items[:1] + items, items + items]


def _items(items: Sequence[Any]) -> list[list[Any]]:
    if not items:
        return []
    items = list(items)
    keys, values = [key for key, _ in items], [value for _, value in items]
    turned = [[key, value] for key, value in zip(keys, values[1:] + values[:1], strict=True)]
    return [[], items[:-1], items[1:], items[::-1], turned]


def _of_named(name: str, texts: Sequence[str]) -> list[Any]:
    match name:
        case "range":
            start, stop, step = (int(text) for text in texts)
            near = ((start, stop + 1, step), (start, stop - 1, step), (start + 1, stop, step), (start, start, step))
            return [["n", name, *map(str, number)] for number in near]
        case "datetime.timedelta":
            days, seconds, micro = (int(text) for text in texts)
            near = ((days + 1, seconds, micro), (0, 0, 0), (-days, -seconds, -micro), (days, seconds + 1, micro))
            return [["n", name, *map(str, number)] for number in near]
        case "pathlib.PurePath":
            return [["n", name, texts[0] + "x"], ["n", name, texts[0].rpartition("/")[0] or "/"]]
    return []


def _hex_bytes(text: str) -> list[str]:
    data = bytes.fromhex(text)
    return [variant.hex() for variant in (b"", data[:-1], data + data[-1:], data[::-1], data.swapcase())]


def _parts(items: list[Any]) -> list[list[Any]]:
    return [items[1:], items[:-1], []]


_NEAR: Mapping[str, Callable[[Any], Sequence[Any]]] = {
    "i": lambda body: [format(number, "x") for number in _integers(int(body, 16))],
    "f": lambda body: [number.hex() for number in _floats(float.fromhex(body))],
    "s": lambda body: [text for text in _texts(body) if len(text) <= _LONGEST],
    "b": _hex_bytes,
    "B": _hex_bytes,
    "l": _lists,
    "t": _lists,
    "S": _parts,
    "F": _parts,
    "d": _items,
}


def _kind(step: Sequence[Any], value: Any) -> str:
    return f"{step[0]} {step[1]} {'bool' if isinstance(value, bool) else value[0]}"


def _at(step: Any, place: Place) -> Any:
    for index in place:
        step = step[index]
    return step


def _replace(step: Any, place: Place, value: Any) -> None:
    for index in place[:-1]:
        step = step[index]
    step[place[-1]] = value

"""YAML of strangers, read for its strings alone: no tag is obeyed, no alias multiplied, no number guessed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_LARGEST = 200_000
"""Bytes; the largest workflow file known to us has a third of it."""
_NODES = 20_000
"""How many nodes of a document are looked at, however often aliases repeat them."""
_DEEPEST = 60
_MERGES = 4
"""How many mappings one merges, and how deep that goes."""


class NotReadError(ValueError):
    """A file that can't be read, in words."""


def load(data: bytes) -> Any:
    """A document of mappings, lists and strings; `3.10` stays `3.10`.

    Raises:
        NotReadError: it is too large or no YAML.

    """
    if len(data) > _LARGEST:
        raise NotReadError(f"larger than {_LARGEST} bytes")
    try:
        # every scalar becomes a string and every tag is ignored, which is safer than the loader of that name
        return yaml.load(data.decode("utf-8", "replace"), Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise NotReadError(" ".join(str(error).split())[:200]) from error
    except (RecursionError, ValueError, TypeError) as error:
        raise NotReadError(f"{type(error).__name__}") from error


def mapping(value: Any) -> dict[str, Any]:
    """A mapping with what it merges (`<<`) put in; empty where it is something else."""
    return _merged(value, 0)


def _merged(value: Any, depth: int) -> dict[str, Any]:
    if not isinstance(value, dict) or depth > _MERGES:
        return {}
    below: dict[str, Any] = {}
    for part in sequence(value.get("<<"))[:_MERGES]:
        below = {**_merged(part, depth + 1), **below}
    return {**below, **{key: element for key, element in value.items() if isinstance(key, str) and key != "<<"}}


def sequence(value: Any) -> list[Any]:
    """A list as it is, nothing as none, anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def strings(value: Any) -> list[str]:
    """The strings of a value that is one, or a list of them."""
    return [text for text in sequence(value) if isinstance(text, str)]


def walk(document: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every node below a document with the keys that lead to it (of lists, none), up to a bound; parents first."""
    left = _NODES
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting and left:
        keys, node = waiting.pop()
        left -= 1
        yield keys, node
        if len(keys) > _DEEPEST or len(waiting) > _NODES:
            continue
        if isinstance(node, dict):
            waiting += [((*keys, str(key)), value) for key, value in reversed(list(node.items())[:_NODES])]
        elif isinstance(node, list):
            waiting += [(keys, value) for value in reversed(node[:_NODES])]

"""Methods of other test files in Java that do no more than to compare what they are given. Pure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.languages.java.stripping import sites
from miner.languages.java.stripping.scopes import Scopes, name_of, named, parse
from miner.languages.java.stripping.static import LOOKING, Statics
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tree_sitter import Node

    from miner.languages.java.stripping.sites import Assertion, Operand

_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_IMPORTED = re.compile(rb"^\s*import\s+(static\s+)?([\w.]+?)(\.\*)?\s*;", re.MULTILINE)
_NAMED = re.compile(rb"\b([A-Z]\w*)\.assert\w*\(|\bextends\s+([A-Z]\w*)")


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a method compares: an argument, with what it makes of it."""

    argument: int
    front: str
    back: str
    is_looking: bool
    """Whether nothing of the product is called on the way."""


@dataclass(frozen=True, kw_only=True)
class Helper:
    """A method whose one statement asserts something of its arguments."""

    arguments: int
    sides: tuple[Side, ...]
    op: str
    options: Mapping[str, object]
    compares: str


def places_of(path: str, source: bytes) -> Iterator[str]:
    """Where the classes may be that a test file takes assertions of: what it extends, names or imports."""
    package = _PACKAGE.search(source)
    folder = posixpath.dirname(path)
    inner = package[1].decode().replace(".", "/") if package else ""
    root = folder.removesuffix(inner).rstrip("/") if folder.endswith(inner) else None
    for match in _NAMED.findall(source):
        yield f"{folder}/{b''.join(match).decode()}.java"
    for is_static, name, is_whole in _IMPORTED.findall(source):
        parts = name.decode().split(".")
        parts = parts[:-1] if is_static and not is_whole else parts
        if root is not None and parts[-1:] and parts[-1][:1].isupper():
            yield "/".join(filter(None, (root, *parts))) + ".java"


def helpers_in(sources: Iterable[bytes]) -> dict[str, Helper]:
    """Those of some files by name; none of a name that several of them have."""
    helpers: dict[str, list[Helper]] = {}
    for source in sources:
        try:
            root = parse(source)
        except ValueError:
            continue
        scopes = Scopes(root)
        reader = sites.Reader(scopes, Statics(scopes))
        for node in walk(root):
            if node.type == "method_declaration" and (helper := _helper(node, reader)) is not None:
                helpers.setdefault(name_of(node), []).append(helper)
    return {name: same[0] for name, same in helpers.items() if len(same) == 1}


def _helper(method: Node, reader: sites.Reader) -> Helper | None:
    parameters = [name_of(node) for node in named(method.child_by_field_name("parameters"))]
    statements = named(method.child_by_field_name("body"))
    if len(statements) != 1 or "" in parameters:
        return None
    call = named(statements[0])[0] if statements[0].type == "expression_statement" else statements[0]
    assertion: Assertion | None = reader.of_guard(call)
    if call.type == "method_invocation":
        assertion = reader.of_call(call)
    if assertion is None or assertion.form != "values":
        return None
    sides = tuple(side for operand in assertion.operands for side in _sides(operand, parameters))
    if not sides or len(sides) != len(assertion.operands):
        return None
    return Helper(
        arguments=len(parameters),
        sides=sides,
        op=assertion.op,
        options=assertion.options,
        compares=assertion.compares,
    )


def _sides(operand: Operand, parameters: list[str]) -> Iterator[Side]:
    """The one argument that an operand is made of; none where it is made of anything else."""
    node = operand.node
    calls = [part for part in walk(node) if part.type == "method_invocation"]
    names = {part.child_by_field_name("name") for part in calls}
    used = [part for part in walk(node) if part.type in ("identifier", "this", "super") and part not in names]
    if len(used) != 1 or text_of(used[0]) not in parameters:
        return
    text, start = node.text or b"", used[0].start_byte - node.start_byte
    end = start + len(used[0].text or b"")
    is_alone = len(text) == end - start
    front, back = ("", "") if is_alone else (f"{text[:start].decode()}(", f"){text[end:].decode()}")
    yield Side(
        argument=parameters.index(text_of(used[0])),
        front=f"{operand.front}{front}",
        back=f"{back}{operand.back}",
        is_looking={name_of(call) for call in calls} <= LOOKING and not operand.back,
    )

"""Methods of other test files in Java that do no more than to compare what they are given. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import field_of, field_text, named, upward, walk
from miner.languages.java.stripping import sites
from miner.languages.java.stripping.fluent import OBJECTS
from miner.languages.java.stripping.scopes import CLASSES, Scopes, name_of, parse
from miner.languages.java.stripping.static import PRIMITIVE, Statics
from miner.languages.stripping.helpers import Helper, Side, helpers_by_name, sides_of

if TYPE_CHECKING:
    from miner.languages.java.stripping.sites import Assertion, Operand

_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_IMPORTED = re.compile(rb"^\s*import\s+(static\s+)?([\w.]+?)(\.\*)?\s*;", re.MULTILINE)
_NAMED = re.compile(rb"\b([A-Z]\w*)\.assert\w*\(|\bextends\s+([A-Z]\w*)")
_HIDING = re.compile(
    rb"\b(?:extends|implements)\s+(?:\w+\.)*([A-Z]\w*)|^\s*import\s+static\s+([\w.]+)\.\*", re.MULTILINE
)
_DECLARED = re.compile(rb"\b(?!new\b|return\b|else\b|throw\b)[\w>\]]+\s+(\w+)\s*\([^;{}]*\)[^;{}()]*\{")
"""Methods that a file declares with a body."""
_ASSERTING = re.compile(r"assert\w*|fail")


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


def classes_beside(paths: Iterable[str]) -> Callable[[bytes], set[str]]:
    """Tells of a file which classes are in its package, by the paths of all files."""
    folders = grouped((posixpath.dirname(path), posixpath.basename(path).partition(".")[0]) for path in paths)

    def beside(source: bytes) -> set[str]:
        package = _PACKAGE.search(source)
        inner = "/" + package[1].decode().replace(".", "/") if package else ""
        return set().union(*(names for folder, names in folders.items() if f"/{folder}".endswith(inner)))

    return beside


def ancestors(sources: Mapping[str, bytes]) -> Callable[[bytes], list[bytes]]:
    """Tells of a file those of what its classes extend, and of what it imports as a whole; the nearest first."""
    by_class = grouped((path.rpartition("/")[2].removesuffix(".java"), path) for path in sources)

    def bases(source: bytes) -> Iterator[str]:
        for extended, imported in _HIDING.findall(source):
            end = "/" + (extended or imported).decode().replace(".", "/") + ".java"
            name = end.rpartition("/")[2].removesuffix(".java")
            yield from (path for path in by_class.get(name, ()) if f"/{path}".endswith(end))

    def above(source: bytes) -> list[bytes]:
        paths = list(bases(source))
        for path in paths:
            paths += (base for base in bases(sources[path]) if base not in paths)
        return [sources[path] for path in paths]

    return above


def inheritance(sources: Mapping[str, bytes]) -> Callable[[bytes], set[str]]:
    """Tells of a file the assertions that its classes have of others: of what they extend, and import as a whole."""
    above = ancestors(sources)
    return lambda source: set(filter(_ASSERTING.fullmatch, _declared(above(source))))


def relatives(sources: Mapping[str, bytes], others: Mapping[str, bytes]) -> Callable[[str], tuple[set[str], set[str]]]:
    """Tells of a file which methods those declare that its classes have some of, and those that have some of its."""
    above = ancestors({**others, **sources})
    bases = {path: above(source) for path, source in sources.items()}

    def around(path: str) -> tuple[set[str], set[str]]:
        below = (source for other, source in sources.items() if other != path and sources[path] in bases[other])
        return _declared(bases[path]), _declared(below)

    return around


def _declared(sources: Iterable[bytes]) -> set[str]:
    return {name.decode() for source in sources for name in _DECLARED.findall(source)}


def undeclared(source: bytes) -> bytes:
    """A file without the heads of its methods, which look like calls."""
    return _DECLARED.sub(b"", source)


def helpers_in(sources: Iterable[bytes]) -> dict[str, Helper]:
    """Those of some files by name; none of a name that several of them, or of their classes, have."""
    sources = list(sources)
    owners = grouped(pair for source in sources for pair in _methods_in(source))
    helpers = helpers_by_name(sources, _read)
    return {name: helper for name, helper in helpers.items() if {*owners[name]} == {helper.owner}}


def helpers_for(sources: Mapping[str, bytes]) -> Callable[[str], dict[str, Helper]]:
    """Tells of a file those of what it extends, names or imports, and of what these do."""

    def reached(path: str) -> dict[str, Helper]:
        paths = [path]
        for at in paths:
            paths += ({*places_of(at, sources[at])} & sources.keys()) - {*paths}
        return helpers_in(sources[at] for at in sorted(paths))

    return cache(reached)


@lru_cache(maxsize=1024)
def _methods_in(source: bytes) -> tuple[tuple[str, str], ...]:
    """The methods of a file by name, each with its class; none of one that the grammar does not read."""
    try:
        root = parse(source)
    except ValueError:
        return ()
    found = _PACKAGE.search(source)
    package = found[1].decode() if found else ""
    methods = (node for node in walk(root) if node.type == "method_declaration")
    return tuple((name_of(node), f"{package}.{_class_around(node)}".lstrip(".")) for node in methods)


@lru_cache(maxsize=1024)
def _read(source: bytes) -> tuple[tuple[str, Helper], ...]:
    return tuple(_found_in(source))


def _found_in(source: bytes) -> Iterator[tuple[str, Helper]]:
    root = parse(source)
    scopes = Scopes(root)
    reader = sites.Reader(scopes, Statics(scopes))
    for node in walk(root):
        if node.type == "method_declaration" and (helper := _helper(node, reader)) is not None:
            yield name_of(node), replace(helper, owner=f"{scopes.package}.{_class_around(node)}".lstrip("."))


def _class_around(method: Node) -> str:
    return ".".join(name_of(at) for at in reversed(list(upward(method))) if at.type in CLASSES)


def _helper(method: Node, reader: sites.Reader) -> Helper | None:
    parameters = [name_of(node) for node in named(field_of(method, "parameters"))]
    statements = named(field_of(method, "body"))
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
    types = [field_text(node, "type") for node in named(field_of(method, "parameters"))]
    options = _taken_as([types[side.argument] for side in sides], assertion)
    return Helper(arguments=len(parameters), sides=sides, op=assertion.op, options=options, compares=assertion.compares)


def _taken_as(types: Sequence[str], assertion: Assertion) -> Mapping[str, object]:
    """The options of an assertion whose operands are given as other types than their own."""
    if assertion.op != "java.equals":
        return assertion.options
    options = {name: value for name, value in assertion.options.items() if name != "promotes"}
    return options if PRIMITIVE.issuperset(types) else {**options, **OBJECTS}


def _sides(operand: Operand, parameters: list[str]) -> Iterator[Side]:
    """The one argument that an operand is made of; none where it is made of anything else."""
    node = operand.node
    calls = [part for part in walk(node) if part.type == "method_invocation"]
    names = {field_of(part, "name") for part in calls}
    used = [part for part in walk(node) if part.type in ("identifier", "this", "super") and part not in names]
    back = operand.around[1]
    yield from sides_of(node, used, parameters, operand.around, [*map(name_of, calls), *([back] if back else [])])

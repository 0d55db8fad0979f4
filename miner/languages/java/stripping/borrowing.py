"""Assertions of base classes in Java, copied into the classes of a test file to be taken out there. Pure.

Copied are the methods that assert: those of the class's own name go before them, as of any base class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from harness.core.syntax import Place, field_of, named, text_of, walk, words
from miner.languages.java.stripping.scopes import has_modifier, modifiers_of, name_of, parse

_ASSERTING = re.compile(rb"\b(?:assert|fail|verify)\w*\s*\(")
_HINDERING = ("private", "abstract", "final", "native")
_NAMES = frozenset({"identifier", "type_identifier"})
_LANG = words("Boolean Double Exception Integer Iterable Long Math Object Override String Throwable")
"""What any file may name without an import."""


def borrow(source: bytes, others: Sequence[bytes]) -> bytes:
    """A test file with what its classes have of base classes in `others`; as it is where that is nothing, or unclear.

    A method stays where it is if it reaches what the base class alone has, or its names mean other things in the file.
    """
    try:
        root = parse(source)
        bases: _Bases = {}
        for other in map(parse, others):
            bases |= {name_of(node): (other, node) for node in named(other) if node.type == "class_declaration"}
        edits = [edit for node in named(root) if node.type == "class_declaration" for edit in _edits(root, node, bases)]
    except (ValueError, RecursionError):
        return source
    for (start, end), text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


_Bases = dict[str, tuple[Node, Node]]
"""By name: a file and a class of its top level."""


def _edits(root: Node, node: Node, bases: _Bases) -> Iterator[tuple[Place, bytes]]:
    """What one of a file's classes gets, and loses, each at its place."""
    body, own = field_of(node, "body"), {_form(method) for method in _methods(node)}
    calls = [call for call in walk(body) if text_of(field_of(call, "object")) == "super" and _form(call) not in own]
    last = [child for child in named(root) if child.type in ("import_declaration", "package_declaration")][-1:]
    imports, declared, seen = _imports(root), _declared(root) | _declared(body), set[str]()
    package = _package(root)
    while body is not None and (base := bases.get(_base_of(node))) and name_of(base[1]) not in seen:
        file, node = base
        seen.add(name_of(node))
        theirs = _imports(file)
        for method in _methods(node):
            names = {text_of(part) for part in walk(method) if part.type in _NAMES}
            unknown = {name for name in names - theirs.keys() - _LANG if name[:1].isupper()}
            brings = ("import static ", "import ") if unknown else ("import static ",)
            many = {name for name in theirs if name.endswith("*;") and name.startswith(brings)}
            needed = {name: text for name, text in theirs.items() if name in names | many}
            is_clear = bool(last) and all(imports.get(name, text) == text for name, text in needed.items())
            is_clear = is_clear and (package == _package(file) or not unknown)
            if not is_clear or _form(method) in own or names & declared or not _may_move(method, node, names):
                continue
            own.add(_form(method))
            for text in (needed[name] for name in needed.keys() - imports.keys()):
                yield (last[0].end_byte, last[0].end_byte), b" " + text
            imports |= needed
            yield (body.end_byte - 1, body.end_byte - 1), (method.text or b"") + b"\n"
            for call in calls:
                name = field_of(call, "name")
                if name is not None and _form(call) == _form(method):
                    yield (call.start_byte, name.start_byte), b""


def _may_move(method: Node, base: Node, names: set[str]) -> bool:
    """Whether a method that asserts means the same in a class that extends its own."""
    body = field_of(base, "body")
    hidden = {name for member in named(body) if has_modifier(member, "private") for name in _names_of(member)}
    is_marked = any(child.type.endswith("annotation") for child in named(modifiers_of(method)))
    is_bound = field_of(base, "type_parameters") is not None or any(part.type == "super" for part in walk(method))
    is_plain = not (is_marked or is_bound or has_modifier(method, *_HINDERING) or hidden & names)
    return is_plain and bool(_ASSERTING.search(method.text or b""))


def _names_of(member: Node) -> list[str]:
    return [name_of(node) for node in (member, *member.children_by_field_name("declarator"))]


def _declared(body: Node | None) -> set[str]:
    """The names of classes and fields that stand in a file or a class."""
    members = [member for member in named(body) if member.type != "method_declaration"]
    return {name for member in members for name in _names_of(member) if name}


def _methods(node: Node) -> list[Node]:
    return [member for member in named(field_of(node, "body")) if member.type == "method_declaration"]


def _form(method: Node) -> tuple[str, int]:
    """The name of a method, or of one that is called, and how many parameters it has."""
    return name_of(method), len(named(field_of(method, "parameters") or field_of(method, "arguments")))


def _base_of(node: Node) -> str:
    """The name of the class that one extends; empty where it extends none."""
    extended = next((part for part in walk(field_of(node, "superclass")) if part.type == "type_identifier"), None)
    return text_of(extended)


def _package(root: Node) -> str:
    return next((text_of(node) for node in named(root) if node.type == "package_declaration"), "")


def _imports(root: Node) -> dict[str, bytes]:
    """By the name that it brings, or by its text where it brings many: each import of a file."""
    texts = [text_of(node) for node in named(root) if node.type == "import_declaration"]
    return {text if "*" in text else text.rpartition(".")[2].rstrip("; "): text.encode() for text in texts}

"""What the test files of one package in Go say of each other. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, is_field, named, text_of, walk
from miner.languages.go.stripping import scopes
from miner.languages.go.stripping.scopes import Scopes
from miner.languages.go.stripping.sites import Check, Package, Reader
from miner.languages.go.stripping.static import Statics

_CLAUSE = re.compile(rb"^package\s+(\w+)", re.MULTILINE)
_SUITE = re.compile(r"\*?suite\.Suite")


def name_of(source: bytes) -> bytes:
    """The package that a file says it is of."""
    match = _CLAUSE.search(source)
    return match[1] if match is not None else b""


def package_of(sources: Iterable[bytes], is_own: Callable[[str], bool] = lambda _: False) -> Package:
    """What these files of one package say; those that the grammar does not read say nothing.

    `is_own` tells packages of the tree by their paths.
    """
    checks: dict[str, list[Check | None]] = {}
    embedded: dict[str, set[str]] = {}
    methods: dict[str, set[str]] = {}
    for source in sources:
        try:
            root = scopes.parse(source)
        except ValueError:
            continue
        bindings = Scopes(root)
        bindings.mark_own(is_own)
        reader = Reader(bindings, Statics(bindings), Package(), "testing")
        for node in named(root):
            if node.type == "function_declaration":
                checks.setdefault(field_text(node, "name"), []).append(reader.check_of(node))
            if node.type == "method_declaration":
                methods.setdefault(_owner_of(node), set()).add(field_text(node, "name"))
        embedded |= _embedded(root)
    suites: set[str] = set()
    while more := {name for name, inner in embedded.items() if inner & {*suites, ""} and name not in suites}:
        suites |= more
    alone = {name: same[0] for name, same in checks.items() if len(same) == 1 and same[0] is not None}
    return Package(alone, frozenset(suites), frozenset().union(*(methods.get(name, ()) for name in suites)))


def named_by_others(sources: Mapping[str, bytes]) -> dict[str, set[str]]:
    """By file of one package: the names that the others have from outside of them; of what is not read each word.

    What they only go over, or ask for its length, does not count.
    """
    names = {path: _from_outside(source) for path, source in sources.items()}
    return {path: set().union(*(names[other] for other in sources if other != path)) for path in sources}


def _from_outside(source: bytes) -> set[str]:
    try:
        root = scopes.parse(source)
    except ValueError:
        return {word.decode() for word in re.findall(rb"\w+", source)}
    bindings = Scopes(root)
    names = (node for node in walk(root) if node.type == "identifier" and not _is_gone_over(node))
    return {text_of(node) for node in names if bindings.resolve(node) is None}


def _is_gone_over(name: Node) -> bool:
    around = name.parent
    if around is not None and around.type == "argument_list":
        return field_text(around.parent, "function") == "len"
    return around is not None and around.type == "range_clause" and is_field(around, "right", name)


def _owner_of(method: Node) -> str:
    """The type that a method is of."""
    names = (text_of(node) for node in walk(field_of(method, "receiver")) if node.type == "type_identifier")
    return next(names, "")


def _embedded(root: Node) -> Mapping[str, set[str]]:
    """By type what is embedded in it; testify's suite has no name."""
    embedded: dict[str, set[str]] = {}
    for spec in (node for node in walk(root) if node.type == "type_spec"):
        fields = [field for field in walk(spec) if field.type == "field_declaration"]
        kinds = [text_of(field) for field in fields if field_of(field, "name") is None]
        names = {"" if _SUITE.fullmatch(kind) else kind.lstrip("*") for kind in kinds}
        embedded[field_text(spec, "name")] = names
    return embedded

"""What the test files of one package in Go say of each other. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, named, text_of, walk
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


def package_of(sources: Iterable[bytes]) -> Package:
    """What these files of one package say; those that the grammar does not read say nothing."""
    checks: dict[str, Check] = {}
    embedded: dict[str, set[str]] = {}
    for source in sources:
        try:
            root = scopes.parse(source)
        except ValueError:
            continue
        bindings = Scopes(root)
        reader = Reader(bindings, Statics(bindings), Package(), "testing")
        for node in named(root):
            check = reader.check_of(node) if node.type == "function_declaration" else None
            if check is not None:
                checks[field_text(node, "name")] = check
        embedded |= _embedded(root)
    suites: set[str] = set()
    while more := {name for name, inner in embedded.items() if inner & {*suites, ""} and name not in suites}:
        suites |= more
    return Package(checks, frozenset(suites))


def _embedded(root: Node) -> Mapping[str, set[str]]:
    """By type what is embedded in it; testify's suite has no name."""
    embedded: dict[str, set[str]] = {}
    for spec in (node for node in walk(root) if node.type == "type_spec"):
        fields = [field for field in walk(spec) if field.type == "field_declaration"]
        kinds = [text_of(field) for field in fields if field_of(field, "name") is None]
        names = {"" if _SUITE.fullmatch(kind) else kind.lstrip("*") for kind in kinds}
        embedded[field_text(spec, "name")] = names
    return embedded

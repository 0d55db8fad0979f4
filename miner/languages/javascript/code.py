"""Source files of JavaScript and TypeScript, read as text by their syntax trees."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from miner.languages.javascript import mutants
from miner.languages.javascript.stripping.scopes import parse, text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tree_sitter import Node

    from miner.languages.base import FaultySource

SOURCES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_TYPED = frozenset({"as_expression", "satisfies_expression", "non_null_expression"})
_PARAMETERS = frozenset({"required_parameter", "optional_parameter"})
_CLOSING = frozenset({")", "]", "}"})


class JavaScriptCode:
    """By the syntax tree, whatever it is compiled by."""

    mutator = "tree_sitter"

    def reads(self, path: str) -> bool:
        """Not declarations of types, which never run."""
        return path.endswith(SOURCES) and not path.endswith(_DECLARATIONS)

    def form(self, path: str, source: bytes) -> str | None:
        """A digest of what runs: comments, layout, quotes, semicolons and types count nowhere."""
        try:
            tokens = "\0".join(_tokens(parse(source, path)))
        except (ValueError, RecursionError):
            return None
        return hashlib.sha256(tokens.encode("utf-8", "surrogateescape")).hexdigest()

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """See `mutants.faulty`."""
        return mutants.faulty(source, path, changed)


def _tokens(node: Node) -> Iterator[str]:
    """What there is of a node when it runs, with the tree's own brackets: a line end can stand for a semicolon."""
    if node.type in mutants.TYPES or node.type in ("comment", '"', "'"):
        return
    if node.type == "import_statement" and any(child.type == "type" for child in node.children):
        return
    if node.type in _TYPED:
        yield from _tokens(node.named_children[0])
    elif not node.children:
        yield text_of(node)
    else:
        yield "(parameter" if node.type in _PARAMETERS else f"({node.type}"
        for child in node.children:
            if not _is_layout(child, node):
                yield from _tokens(child)
        yield ")"


def _is_layout(node: Node, around: Node) -> bool:
    if node.type == ";":
        return around.type != "for_statement"
    if node.type == "?":
        return around.type in _PARAMETERS
    return node.type == "," and node.next_sibling is not None and node.next_sibling.type in _CLOSING

"""Source files of JavaScript and TypeScript, read as text by their syntax trees."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping

from tree_sitter import Node

from harness.core.syntax import text_of
from harness.languages.base import TestReport
from harness.languages.javascript.source import SOURCES, parse
from harness.quality.base import Keyword, Names
from harness.quality.change import FileChange
from miner.evidence.tree import Tree
from miner.languages.base import Code, Described, FaultySource
from miner.languages.javascript import artefacts, mutants, names
from miner.languages.javascript.manifest import read_manifest

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_TYPED = frozenset({"as_expression", "satisfies_expression", "non_null_expression"})
_LINKS, _OF_TYPES = ("import_statement", "export_statement"), mutants.TYPES | {"type"}
_PARAMETERS = frozenset({"required_parameter", "optional_parameter"})
_CLOSING = frozenset({")", "]", "}"})


class JavaScriptCode(Code):
    """By the syntax tree, whatever it is compiled by."""

    mutator = "tree_sitter"

    def is_source(self, path: str) -> bool:
        """Declarations of types as well."""
        return path.endswith(SOURCES)

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """See `names.names`."""
        root = _parsed(path, source)
        return names.names(root, lines) if root else None

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """As code has them, types among it; not those in texts."""
        root = _parsed(path, source)
        return names.identifiers(root) if root else None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """What functions take out of objects that they are given."""
        root = _parsed(path, source)
        return names.options(root) if root else frozenset()

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """By what they are called, or what they are the value of."""
        root = _parsed(path, source)
        return dict(names.functions(root)) if root else None

    def imported(self, path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterable[str]:
        """By relative paths, as Node and TypeScript complete them."""
        return artefacts.imported(path, source, files)

    def described(self, tree: Tree) -> Described:
        """By package.json; no index of packages is asked."""
        licence = read_manifest(tree).get("license")
        word = licence.get("type") if isinstance(licence, dict) else licence
        return Described(licence=word if isinstance(word, str) else None)

    def added_names(self, change: FileChange) -> frozenset[str]:
        """Modules by their paths, with and without their endings."""
        if not self.is_source(change.path):
            return frozenset()
        return frozenset(names.added_names(change, _parsed(change.path, change.after or b"")))

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """In the words of Node and of what compiles for it."""
        return names.missing_names(report)

    def reads(self, path: str) -> bool:
        """Not declarations of types, which never run."""
        return path.endswith(SOURCES) and not path.endswith(_DECLARATIONS)

    def form(self, path: str, source: bytes) -> str | None:
        """A digest of what runs: comments, layout, quotes, semicolons and types count nowhere."""
        root = _parsed(path, source)
        if root is None:
            return None
        tokens = "\0".join(_tokens(root))
        return hashlib.sha256(tokens.encode("utf-8", "surrogateescape")).hexdigest()

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """See `Mutations.faulty`."""
        root = _parsed(path, source)
        return mutants.MUTATIONS.faulty(source, root, changed) if root else None


def _parsed(path: str, source: bytes) -> Node | None:
    try:
        return parse(source, path)
    except ValueError:
        return None


def _tokens(node: Node) -> Iterator[str]:
    """What there is of a node when it runs, with the tree's own brackets: a line end can stand for a semicolon."""
    if node.type in mutants.TYPES or node.type in ("comment", '"', "'"):
        return
    if node.type in _LINKS and any(child.type in _OF_TYPES for child in node.children):
        return
    if node.type in _TYPED:
        yield from _tokens(node.named_children[0])
    elif not node.children and node.parent is not None:
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

"""Source files of Java, read as text by their syntax trees. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.core.syntax import field_of, text_of, words
from miner.languages.java.stripping.scopes import parse
from miner.languages.parsed import Grammar, ParsedCode

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES = words(
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
)
_FOR_THE_COMPILER = words("Override SuppressWarnings Deprecated SafeVarargs FunctionalInterface")
_OF_METHODS = words("formal_parameter spread_parameter catch_formal_parameter resource local_variable_declaration")
"""Where `final` is of a name that nothing outside of the method knows."""


def _is_idle(node: Node) -> bool:
    """Annotations that only the compiler reads, `final` of what is a method's own, imports of what nothing names."""
    match node.type:
        case "annotation" | "marker_annotation":
            return text_of(field_of(node, "name")).rpartition(".")[2] in _FOR_THE_COMPILER
        case "modifiers":
            return all(map(_is_idle, node.children))
        case "final":
            holder = node.parent.parent if node.parent else None
            return holder is not None and holder.type in _OF_METHODS
        case "import_declaration":
            return _is_unused(node)
    return False


def _is_unused(imported: Node) -> bool:
    *_, name = imported.named_children
    if name.type == "asterisk" or imported.parent is None:
        return False
    word = re.escape(text_of(name).rpartition(".")[2])
    rest = (text_of(node) for node in imported.parent.named_children if node.type != "import_declaration")
    return not any(re.search(rf"\b{word}\b", text) for text in rest)


class JavaCode(ParsedCode):
    """Java's, whose tests have no name of their file's class."""

    def test_ids(self, path: str, function: str) -> tuple[str, ...]:
        """As JUnit 4 and Jupiter name it."""
        name = function.partition("::")[2]
        return f"{path}::{name}", f"{path}::{name}()"


CODE = JavaCode(
    Grammar(
        suffix=".java",
        parse=parse,
        declared=_TYPES | {"variable_declarator", "enum_constant"},
        functions=frozenset({"method_declaration", "constructor_declaration"}),
        owners=_TYPES,
        bodies=frozenset({"block", "constructor_body"}),
        strings=frozenset({"string_literal"}),
        left_alone=words(
            "line_comment block_comment package_declaration import_declaration annotation marker_annotation"
            " throw_statement assert_statement"
        ),
        told=re.compile(r"(?:\w+\.)*(?:log|logger|LOG|LOGGER|System\.(?:err|out))\.\w+\("),
        methods=(
            *(("toLowerCase", "toUpperCase"), ("stripLeading", "stripTrailing"), ("indexOf", "lastIndexOf")),
            *(("startsWith", "endsWith"), ("anyMatch", "allMatch"), ("findFirst", "findAny")),
        ),
        called=("name",),
        idle=_is_idle,
    )
)

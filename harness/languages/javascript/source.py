"""Files of JavaScript and TypeScript as syntax trees. Pure."""

from __future__ import annotations

import re

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Node

from harness.core import syntax
from harness.core.syntax import field_of, field_text, is_field, text_of

FUNCTIONS = frozenset(
    {
        *("function_declaration", "function_expression", "arrow_function", "method_definition"),
        *("generator_function", "generator_function_declaration"),
    }
)
SOURCES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
"""What files of code are called."""
_TYPESCRIPT = (".ts", ".mts", ".cts")
_ESCAPED = re.compile(r"\\[ux][^`$]*")


def _is_of_tagged(error: Node) -> bool:
    r"""Whether an error is no more than an escape in a tagged template, which may be any there: tag`\unicode`."""
    around = error.parent
    is_tagged = around is not None and around.type == "template_string" and is_field(around.parent, "arguments", around)
    return is_tagged and _ESCAPED.fullmatch(text_of(error)) is not None


_READERS = dict.fromkeys(_TYPESCRIPT, syntax.reader(tree_sitter_typescript.language_typescript(), _is_of_tagged))
_READERS[".tsx"] = syntax.reader(tree_sitter_typescript.language_tsx(), _is_of_tagged)
_JAVASCRIPT = syntax.reader(tree_sitter_javascript.language(), _is_of_tagged)


def is_typescript(path: str) -> bool:
    """Whether a file is TypeScript, by its name."""
    return path.endswith((*_TYPESCRIPT, ".tsx"))


def parse(source: bytes, path: str) -> Node:
    """The syntax tree of a file, by the grammar that its name says; types of Flow are read as those of TypeScript.

    Raises:
        ValueError: it is not of this grammar, or too large.

    """
    if is_typescript(path):
        return _READERS["." + path.rpartition(".")[2]](source)
    try:
        return _JAVASCRIPT(source)
    except ValueError:
        return _READERS[".tsx"](source)


def arguments_of(call: Node) -> list[Node]:
    """What a call is given, without comments; empty for another node and for a tagged template."""
    arguments = field_of(call, "arguments") if call.type in ("call_expression", "new_expression") else None
    if arguments is None or arguments.type != "arguments":
        return []
    return syntax.named(arguments)


def property_of(node: Node | None) -> str:
    """The property that a member access names: `t.throws`, or `t["throws"]`; empty of another node."""
    if node is None:
        return ""
    index = field_of(node, "index")
    if index is not None:
        return text_of(index)[1:-1] if index.type == "string" else ""
    return field_text(node, "property")


def root_of(node: Node | None) -> Node | None:
    """What a chain of members and calls begins with."""
    while node is not None and node.type in ("member_expression", "subscript_expression", "call_expression"):
        node = field_of(node, "function" if node.type == "call_expression" else "object")
    return node

"""What names of a Go file are bound to, and where they are used. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tree_sitter_go

from miner.languages import syntax, tree_source
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
_SCOPES = FUNCTIONS | {
    *("source_file", "block", "if_statement", "for_statement", "expression_switch_statement", "type_switch_statement"),
    *("expression_case", "default_case", "type_case", "communication_case", "select_statement"),
}
_COUNTING = frozenset({"inc_statement", "dec_statement"})
_VERSION = re.compile(r"v\d+")


parse = syntax.reader(tree_sitter_go.language())
"""The syntax tree of a file; see `syntax.reader`."""


def named(node: Node | None) -> list[Node]:
    """The named children of a node, without comments; none of no node."""
    if node is None:
        return []
    return [child for child in node.named_children if child.type != "comment"]


def listed(node: Node | None) -> list[Node]:
    """What an `expression_list` lists; another node alone."""
    return named(node) if node is not None and node.type == "expression_list" else [node] if node is not None else []


def arguments_of(call: Node) -> list[Node]:
    """What a call is given, without comments."""
    return named(call.child_by_field_name("arguments"))


def statements_of(block: Node | None) -> list[Node]:
    """The statements of a block or of a list of them, without comments."""
    inner = named(block)
    return named(inner[0]) if len(inner) == 1 and inner[0].type == "statement_list" else inner


def bare(node: Node) -> Node:
    """An expression without parentheses around it."""
    while node.type == "parenthesized_expression" and named(node):
        node = named(node)[0]
    return node


def is_field(around: Node, name: str, node: Node) -> bool:
    """Whether a node is this field of the one around it."""
    return any(child.id == node.id for child in around.children_by_field_name(name))


def function_around(node: Node) -> Node | None:
    """The innermost function that a node is in."""
    at = node.parent
    while at is not None and at.type not in FUNCTIONS:
        at = at.parent
    return at


def top_function(node: Node) -> str:
    """The name of the function of the file that a node is in; empty where it is in none."""
    at: Node | None = node
    while at is not None and at.type not in ("function_declaration", "method_declaration"):
        at = at.parent
    return text_of(at.child_by_field_name("name")) if at is not None else ""


@dataclass(eq=False)
class Binding(tree_source.Binding):
    """A name in one scope: a `var`, `const`, `param`, `range`, `func`, `type`, `import` or `other`."""

    is_key: bool = False
    """Of `range`: whether it is the key or index."""
    path: str = ""
    """Of an import: the package's path."""
    is_written: bool = False
    sets: list[Node] = field(default_factory=list)
    """Assignments that set it alone, to one value."""
    is_changed: bool = False
    """It is written in another way."""

    @property
    def is_local(self) -> bool:
        """Whether the compiler asks for a use of it."""
        return self.kind in ("var", "range") and function_around(self.declared) is not None


class Scopes:
    """The bindings of one file, each with its uses."""

    def __init__(self, root: Node) -> None:
        self._bindings: dict[int, dict[str, list[Binding]]] = {}
        self._declared: dict[int, Binding] = {}
        for node in walk(root):
            self._declare(node)
        for node in walk(root):
            if node.type in ("identifier", "type_identifier", "package_identifier") and node.id not in self._declared:
                self._use(node)

    def resolve(self, node: Node) -> Binding | None:
        """What a name stands for where it is used; None for one of another file, and for a standard one."""
        if node.id in self._declared:
            return self._declared[node.id]
        name = text_of(node)
        at: Node | None = node
        while at is not None:
            for binding in reversed(self._bindings.get(at.id, {}).get(name, ())):
                is_of_file = at.type == "source_file"
                if (
                    is_of_file
                    or binding.kind == "param"
                    or binding.statement.end_byte <= node.start_byte
                    or (binding.kind == "range" and not _within(node, binding.statement))
                ):
                    return binding
            at = at.parent
        return None

    def bindings(self) -> list[Binding]:
        """All of them, in the order in which they are declared."""
        return list(self._declared.values())

    def parameters(self, function: Node) -> list[Binding]:
        """Those of a function, in order."""
        inner = function.child_by_field_name("parameters")
        nodes = walk(inner) if inner is not None else ()
        return [self._declared[node.id] for node in nodes if node.id in self._declared]

    def _use(self, node: Node) -> None:
        around = node.parent
        if around is None or (around.type == "literal_element" and _is_field_name(around)):
            return
        if node.type == "package_identifier" and around.type != "qualified_type":
            return
        binding = self.resolve(node)
        if binding is None:
            return
        target = around if around.type == "expression_list" else node
        outer = target.parent
        is_left = outer is not None and is_field(outer, "left", target)
        if outer is not None and outer.type == "assignment_statement" and is_left:
            binding.is_written = True
            is_set = text_of(outer.child_by_field_name("operator")) == "="
            if is_set and len(listed(outer.child_by_field_name("right"))) == len(listed(target)) == 1:
                binding.sets.append(outer)
                return
            binding.is_changed = True
            if is_set:
                return
        is_changed = outer is not None and (outer.type in _COUNTING or (outer.type == "range_clause" and is_left))
        is_changed = is_changed or text_of(around.child_by_field_name("operator")) == "&"
        binding.is_written = binding.is_written or is_changed
        binding.is_changed = binding.is_changed or is_changed
        binding.uses.append(node)

    def _bind(self, node: Node, binding: Binding) -> None:
        scope = _scope(node)
        known = self._bindings.setdefault(scope.id, {}).setdefault(binding.name, [])
        self._declared[binding.declared.id] = binding
        if known and node.type == "short_var_declaration":  # set anew, as another name of the statement is fresh
            known[-1].is_written = known[-1].is_changed = True
            self._declared[binding.declared.id] = known[-1]
        elif binding.name != "_":
            known.append(binding)

    def _declare(self, node: Node) -> None:  # noqa: C901 - a case for each way to declare
        left = listed(node.child_by_field_name("left"))
        match node.type:
            case "short_var_declaration":
                self._set(node, left, listed(node.child_by_field_name("right")), "var")
            case "var_spec" | "const_spec":
                names = node.children_by_field_name("name")
                self._set(node, names, listed(node.child_by_field_name("value")), node.type.partition("_")[0])
            case "parameter_declaration" | "variadic_parameter_declaration":
                for name in node.children_by_field_name("name"):
                    self._bind(node, Binding(text_of(name), "param", name, node))
            case "range_clause" if any(child.type == ":=" for child in node.children):
                init = node.child_by_field_name("right")
                for place, name in enumerate(left):
                    self._bind(node, Binding(text_of(name), "range", name, node, init=init, is_key=place == 0))
            case "function_declaration" | "type_spec" | "type_alias":
                kind = "func" if node.type == "function_declaration" else "type"
                for name in node.children_by_field_name("name"):
                    self._bind(node.parent or node, Binding(text_of(name), kind, name, node, init=node))
            case "import_spec":
                self._import(node)
            case "type_switch_statement" | "receive_statement":
                for name in (*listed(node.child_by_field_name("alias")), *left):
                    if name.type == "identifier":
                        self._bind(node, Binding(text_of(name), "other", name, node))

    def _set(self, node: Node, names: list[Node], values: list[Node], kind: str) -> None:
        for place, name in enumerate(names):
            if name.type == "identifier":
                init = values[place] if len(values) == len(names) else values[0] if len(values) == 1 else None
                self._bind(node, Binding(text_of(name), kind, name, node, init=init))

    def _import(self, node: Node) -> None:
        path = text_of(node.child_by_field_name("path")).strip('"`')
        alias = node.child_by_field_name("name")
        parts = path.split("/")
        name = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
        name = text_of(alias) or re.sub(r"\.v\d+$|^go-", "", name)
        declared = alias if alias is not None else node
        self._bind(node, Binding(name, "import", declared, node, path=path))


def _scope(node: Node) -> Node:
    at = node
    while at.type not in _SCOPES and at.parent is not None:
        at = at.parent
    return at


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _is_field_name(element: Node) -> bool:
    """Whether an element of a composite literal is a key that may name a field."""
    pair = element.parent
    if pair is None or pair.type != "keyed_element" or not is_field(pair, "key", element):
        return False
    literal = pair.parent.parent if pair.parent is not None else None
    kind = literal.child_by_field_name("type") if literal is not None and literal.type == "composite_literal" else None
    return kind is None or kind.type not in ("map_type", "slice_type", "array_type", "implicit_length_array_type")

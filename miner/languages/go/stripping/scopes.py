"""What names of a Go file are bound to, and where they are used. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import tree_sitter_go
from tree_sitter import Node

from harness.core import syntax
from harness.core.syntax import covers, enclosing, field_of, field_text, is_field, named, place_of, text_of, walk
from miner.languages.stripping import scopes as stripping

FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
_COUNTING = frozenset({"inc_statement", "dec_statement"})
OWN = "./"
"""What the path of a package of the tree itself begins with, whatever other package is called like it."""
_VERSION = re.compile(r"v\d+")


_read = syntax.reader(tree_sitter_go.language())
_TEXT = rb'"(?:\\.|[^"\\\n]){0,1000}"|`[^`]{0,1000}`|\'(?:\\.|[^\'\\\n]){0,9}\''
_IN_PARENTHESES = _TEXT
for _ in range(4):
    _IN_PARENTHESES = rb"(?:%s|[^()\"'`]|\((?:%s)\)){0,300}" % (_TEXT, _IN_PARENTHESES)
_WORDS = rb'"(?:\\.|[^"\\\n])*"?|`[^`]*`?|\'(?:\\.|[^\'\\\n])*\'?|//[^\n]*|/\*.*?(?:\*/|\Z)'
_NEW = re.compile(rb"%s|\bnew\((%s)\)" % (_WORDS, _IN_PARENTHESES), re.DOTALL)
"""A text, a comment, or a call of `new`; of bounded length, so that no source takes long."""
_NAMED = re.compile(rb"([A-Za-z_]\w*)(?:\.\w+)*")
_SET = re.compile(rb"([\w, \t]{1,200}):=")
NEW_OF_VALUE = "neW"
"""What `new` is called in a tree where it is given a value, as from Go 1.26 on: the grammar knows that of types."""


def parse(source: bytes) -> Node:
    """The syntax tree of a file; see `syntax.reader`."""
    variables = {name for names in _SET.findall(source) for name in re.findall(rb"\w+", names)}

    def read_as(call: re.Match[bytes]) -> bytes:
        if call[1] is None:
            return call[0]
        name = _NAMED.fullmatch(call[1])
        is_value = name[1] in variables if name is not None else not _is_type(call[1])
        return NEW_OF_VALUE.encode() + call[0][3:] if is_value else call[0]

    return _read(_NEW.sub(read_as, source))


@lru_cache(maxsize=1024)
def _is_type(text: bytes) -> bool:
    try:
        _read(b"package a\nvar _ = new(" + text + b")")
    except ValueError:
        return False
    return True


def listed(node: Node | None) -> list[Node]:
    """What an `expression_list` lists; another node alone."""
    return named(node) if node is not None and node.type == "expression_list" else [node] if node is not None else []


def statements_of(block: Node | None) -> list[Node]:
    """The statements of a block or of a list of them, without comments."""
    inner = named(block)
    return named(inner[0]) if len(inner) == 1 and inner[0].type == "statement_list" else inner


def function_around(node: Node) -> Node | None:
    """The innermost function that a node is in."""
    return enclosing(node.parent, FUNCTIONS)


def top_function(node: Node) -> str:
    """The name of the function of the file that a node is in; empty where it is in none."""
    return field_text(enclosing(node, ("function_declaration", "method_declaration")), "name")


@dataclass(eq=False)
class Binding(stripping.Binding):
    """A name in one scope: a `var`, `const`, `param`, `range`, `func`, `type`, `import` or `other`."""

    is_key: bool = False
    """Of `range`: whether it is the key or index."""
    path: str = ""
    """Of an import: the package's path."""
    sets: list[Node] = field(default_factory=list)
    """Assignments that set it alone, to one value."""
    is_changed: bool = False
    """It is written in another way."""

    @property
    def is_local(self) -> bool:
        """Whether the compiler asks for a use of it."""
        return self.kind in ("var", "range") and function_around(self.declared) is not None


class Scopes(stripping.Scopes[Binding]):
    """The bindings of one file, each with its uses."""

    opening = FUNCTIONS | {
        *("source_file", "block", "if_statement", "for_statement", "expression_switch_statement"),
        *("type_switch_statement", "expression_case", "default_case", "type_case", "communication_case"),
        "select_statement",
    }
    names = frozenset({"identifier", "type_identifier", "package_identifier"})

    def _is_seen(self, binding: Binding, scope: Node, node: Node) -> bool:
        if scope.type == "source_file" or binding.kind == "param" or binding.statement.end_byte <= node.start_byte:
            return True
        return binding.kind == "range" and not covers(place_of(binding.statement), place_of(node))

    def mark_own(self, is_own: Callable[[str], bool]) -> None:
        """Tell packages of the tree from those that are called like a library or like Go's own."""
        for binding in self.bindings():
            if binding.kind == "import" and is_own(binding.path):
                binding.path = OWN + binding.path

    def parameters(self, function: Node) -> list[Binding]:
        """Those of a function, in order."""
        nodes = walk(field_of(function, "parameters"))
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
        is_left = is_field(outer, "left", target)
        if outer is not None and outer.type == "assignment_statement" and is_left:
            binding.is_written = True
            is_set = field_text(outer, "operator") == "="
            if is_set and len(listed(field_of(outer, "right"))) == len(listed(target)) == 1:
                binding.sets.append(outer)
                return
            binding.is_changed = True
            if is_set:
                return
        is_changed = outer is not None and (outer.type in _COUNTING or (outer.type == "range_clause" and is_left))
        is_changed = is_changed or field_text(around, "operator") == "&"
        binding.is_written = binding.is_written or is_changed
        binding.is_changed = binding.is_changed or is_changed
        binding.uses.append(node)

    def _bind(self, at: Node | None, binding: Binding) -> None:
        scope = enclosing(at, self.opening)
        known = self._bindings.get(scope.id, {}).get(binding.name) if scope is not None else None
        if known and at is not None and at.type == "short_var_declaration":  # another name of the statement is fresh
            known[-1].is_written = known[-1].is_changed = True
            self._declared[binding.declared.id] = known[-1]
        elif binding.name == "_":
            self._declared[binding.declared.id] = binding
        else:
            super()._bind(at, binding)

    def _declare(self, node: Node) -> None:  # noqa: C901 - a case for each way to declare
        left = listed(field_of(node, "left"))
        match node.type:
            case "short_var_declaration":
                self._set(node, left, listed(field_of(node, "right")), "var")
            case "var_spec" | "const_spec":
                names = node.children_by_field_name("name")
                self._set(node, names, listed(field_of(node, "value")), node.type.partition("_")[0])
            case "parameter_declaration" | "variadic_parameter_declaration":
                for name in node.children_by_field_name("name"):
                    self._bind(node, Binding(text_of(name), "param", name, node))
            case "range_clause" if any(child.type == ":=" for child in node.children):
                init = field_of(node, "right")
                for place, name in enumerate(left):
                    self._bind(node, Binding(text_of(name), "range", name, node, init=init, is_key=place == 0))
            case "function_declaration" | "type_spec" | "type_alias":
                kind = "func" if node.type == "function_declaration" else "type"
                for name in node.children_by_field_name("name"):
                    self._bind(node.parent or node, Binding(text_of(name), kind, name, node, init=node))
            case "import_spec":
                self._import(node)
            case "type_switch_statement" | "receive_statement":
                for name in (*listed(field_of(node, "alias")), *left):
                    if name.type == "identifier":
                        self._bind(node, Binding(text_of(name), "other", name, node))

    def _set(self, node: Node, names: list[Node], values: list[Node], kind: str) -> None:
        for place, name in enumerate(names):
            if name.type == "identifier":
                init = values[place] if len(values) == len(names) else values[0] if len(values) == 1 else None
                self._bind(node, Binding(text_of(name), kind, name, node, init=init))

    def _import(self, node: Node) -> None:
        path = field_text(node, "path").strip('"`')
        alias = field_of(node, "name")
        parts = path.split("/")
        name = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
        name = text_of(alias) or re.sub(r"\.v\d+$|^go-", "", name)
        declared = alias if alias is not None else node
        self._bind(node, Binding(name, "import", declared, node, path=path))


def _is_field_name(element: Node) -> bool:
    """Whether an element of a composite literal is a key that may name a field."""
    pair = element.parent
    if pair is None or pair.type != "keyed_element" or not is_field(pair, "key", element):
        return False
    literal = pair.parent.parent if pair.parent is not None else None
    kind = field_of(literal, "type") if literal is not None and literal.type == "composite_literal" else None
    return kind is None or kind.type not in ("map_type", "slice_type", "array_type", "implicit_length_array_type")

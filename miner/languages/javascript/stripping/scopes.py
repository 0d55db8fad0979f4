"""What names of a source file are bound to, and where they are used. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import tree_sitter_javascript
import tree_sitter_typescript

from miner.languages import syntax
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset(
    {
        *("function_declaration", "function_expression", "arrow_function", "method_definition"),
        *("generator_function", "generator_function_declaration"),
    }
)
_SCOPES = FUNCTIONS | {"program", "statement_block", "for_statement", "for_in_statement", "catch_clause", "class_body"}
_DECLARING = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_USING = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_LOADED = re.compile(r"""\b(?:require|import)\(\s*["']([^"']+)["']""")
_TYPESCRIPT = (".ts", ".mts", ".cts")


_READERS = dict.fromkeys(_TYPESCRIPT, syntax.reader(tree_sitter_typescript.language_typescript()))
_READERS[".tsx"] = syntax.reader(tree_sitter_typescript.language_tsx())
_JAVASCRIPT = syntax.reader(tree_sitter_javascript.language())


def is_typescript(path: str) -> bool:
    """Whether a file is TypeScript, by its name."""
    return path.endswith((*_TYPESCRIPT, ".tsx"))


def parse(source: bytes, path: str) -> Node:
    """The syntax tree of a file, by the grammar that its name says.

    Raises:
        ValueError: it is not of this grammar, or too large.

    """
    return _READERS.get("." + path.rpartition(".")[2], _JAVASCRIPT)(source)


def arguments_of(call: Node) -> list[Node]:
    """What a call is given, without comments; empty for another node and for a tagged template."""
    arguments = call.child_by_field_name("arguments") if call.type in ("call_expression", "new_expression") else None
    if arguments is None or arguments.type != "arguments":
        return []
    return [node for node in arguments.named_children if node.type != "comment"]


def property_of(node: Node | None) -> str:
    """The property that a member access names: `t.throws`, or `t["throws"]`; empty of another node."""
    if node is None:
        return ""
    index = node.child_by_field_name("index")
    if index is not None:
        return text_of(index)[1:-1] if index.type == "string" else ""
    return text_of(node.child_by_field_name("property"))


def dotted(node: Node | None) -> tuple[list[str], Node | None]:
    """The properties that a chain of members names, and what the first of them is taken of."""
    names: list[str] = []
    while node is not None and property_of(node):
        names.insert(0, property_of(node))
        node = node.child_by_field_name("object")
    return names, node


def root_of(node: Node | None) -> Node | None:
    """What a chain of members and calls begins with."""
    while node is not None and node.type in ("member_expression", "subscript_expression", "call_expression"):
        node = node.child_by_field_name("function" if node.type == "call_expression" else "object")
    return node


@dataclass(eq=False)
class Binding:
    """A name in one scope."""

    name: str
    kind: str
    """`const`, `let`, `var`, `param`, `function`, `class`, `import` or `catch`."""
    declared: Node
    """Its identifier where it is declared."""
    init: Node | None = None
    """What the whole declarator is set to, where the name is all of it or (`pattern`) a part of its pattern."""
    pattern: Node | None = None
    module: str = ""
    """Of an import or of a `require`: the module."""
    imported: str = ""
    """What is taken of the module: `default`, `*` or a name."""
    uses: list[Node] = field(default_factory=list)
    is_written: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it stands for all that it is set to."""
        return self.pattern is None


class Scopes:
    """The bindings of one file, each with its uses."""

    def __init__(self, root: Node, runner: str = "") -> None:
        """`runner` is the framework that runs the file."""
        self.runner = runner
        self._bindings: dict[int, dict[str, Binding]] = {}
        self._declared: dict[int, Binding] = {}
        """By the id of the identifier that declares it."""
        self._required: set[str] = set()
        """Modules that are required anywhere, or imported for what they do alone."""
        for node in walk(root):
            self._declare(node)
            self._required.add(required(node)[0] or text_of(node.child_by_field_name("source"))[1:-1])
            for parameter in parameters(node) if node.type in FUNCTIONS else ():
                self._pattern(node, parameter, "param", None)
        for node in walk(root):
            if node.type in _USING and node.id not in self._declared:
                binding = self.resolve(node)
                if binding is not None:
                    binding.uses.append(node)
                    binding.is_written = binding.is_written or _is_written(node)

    def resolve(self, node: Node) -> Binding | None:
        """What a name stands for where it is used; None for a global one."""
        name = text_of(node)
        at: Node | None = node
        while at is not None:
            binding = self._bindings.get(at.id, {}).get(name)
            if binding is not None:
                return binding
            at = at.parent
        return None

    def bindings(self) -> list[Binding]:
        """All of them, in the order in which they are declared."""
        return list(self._declared.values())

    def imports(self, module: str) -> bool:
        """Whether the file takes anything of a module, or loads it."""
        return module in self._required or any(binding.module == module for binding in self._declared.values())

    def set_to(self, binding: Binding) -> str:
        """The module of which a name is set after it was declared: `expect = require("…")`, `await import("…")`."""
        values = [text_of(value) for use in binding.uses if (value := _value_set(use)) is not None]
        modules = {module for value in values for module in _LOADED.findall(value)}
        return modules.pop() if len(modules) == 1 and binding.init is None else ""

    def calls_of(self, function: Node) -> list[Node]:
        """The calls of a function by its name; none where it may be called in other ways."""
        name = function.child_by_field_name("name") if function.type.endswith("declaration") else None
        if function.parent is not None and function.parent.type == "variable_declarator":
            name = function.parent.child_by_field_name("name")
        binding = self._declared.get(name.id) if name is not None else None
        if binding is None or binding.is_written or not binding.is_whole or is_exported(binding.declared):
            return []
        uses = [use for use in binding.uses if use.parent is not None and use.parent.id != function.id]
        calls = [use.parent for use in uses if use.parent is not None]
        called = [call.child_by_field_name("function") for call in calls]
        is_called = all(node is not None and node.id == use.id for node, use in zip(called, uses, strict=True))
        return calls if is_called else []

    def declared_in(self, node: Node) -> list[Binding]:
        """The bindings that a pattern or parameter declares, in the order of the text."""
        return [self._declared[part.id] for part in walk(node) if part.id in self._declared]

    def _bind(self, scope: Node, binding: Binding) -> None:
        self._declared[binding.declared.id] = binding
        known = self._bindings.setdefault(scope.id, {}).setdefault(binding.name, binding)
        if known is not binding:
            known.is_written = True  # declared twice: nobody knows which

    def _declare(self, node: Node) -> None:
        match node.type:
            case "variable_declarator":
                self._declarator(node)
            case "import_statement":
                self._import(node)
            case "function_declaration" | "generator_function_declaration" | "class_declaration":
                named = node.child_by_field_name("name")
                if named is not None and node.parent is not None:
                    kind = "class" if node.type == "class_declaration" else "function"
                    self._bind(_scope(node.parent), Binding(text_of(named), kind, named, init=node))
            case "catch_clause":
                parameter = node.child_by_field_name("parameter")
                if parameter is not None:
                    self._pattern(node, parameter, "catch", None)
            case "for_in_statement":
                left, kind = node.child_by_field_name("left"), text_of(node.child_by_field_name("kind"))
                if left is not None and kind:
                    self._pattern(node, left, kind, None)

    def _declarator(self, node: Node) -> None:
        named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        around = node.parent
        if named is None or around is None:
            return
        kind = "var" if around.type == "variable_declaration" else text_of(around.child_by_field_name("kind"))
        scope = _scope(around)
        while kind == "var" and scope.type not in FUNCTIONS and scope.parent is not None:
            scope = _scope(scope.parent)
        self._pattern(scope, named, kind, value)
        module, member = required(value)
        if module:
            for binding in self.declared_in(named):
                binding.module = module
                binding.imported = member or (key_of(binding.declared) if named.type == "object_pattern" else "*")

    def _import(self, node: Node) -> None:
        module = text_of(node.child_by_field_name("source")).strip("\"'")
        scope = _scope(node)
        for part in walk(node):
            if part.type == "identifier" and part.parent is not None and part.id not in self._declared:
                around = part.parent
                imported = {"import_clause": "default", "namespace_import": "*"}.get(around.type, "")
                named = part
                if around.type == "import_specifier":
                    imported = text_of(around.child_by_field_name("name"))
                    named = around.child_by_field_name("alias") or part
                if named.id not in self._declared:
                    self._bind(scope, Binding(text_of(named), "import", named, module=module, imported=imported))

    def _pattern(self, scope: Node, node: Node, kind: str, init: Node | None) -> None:
        """Bind the names of a pattern; defaults in it are no names."""
        whole = node.type == "identifier" or (
            node.type in ("required_parameter", "optional_parameter")
            and (inner := node.child_by_field_name("pattern")) is not None
            and inner.type == "identifier"
        )
        rest = [node]
        while rest:
            part = rest.pop()
            if part.type in _DECLARING:
                self._bind(scope, Binding(text_of(part), kind, part, init=init, pattern=None if whole else node))
            elif part.type in ("assignment_pattern", "object_assignment_pattern"):
                left = part.child_by_field_name("left")
                rest += [left] if left is not None else []
            elif part.type == "pair_pattern":
                value = part.child_by_field_name("value")
                rest += [value] if value is not None else []
            elif part.type in ("required_parameter", "optional_parameter"):
                inner = part.child_by_field_name("pattern")
                rest += [inner] if inner is not None else []
            elif part.type in ("object_pattern", "array_pattern", "rest_pattern"):
                rest += part.named_children


def place_among(function: Node, parameter: Node) -> int:
    """Which of a function's parameters a name or pattern is; -1 for one with a default, or inside of a pattern."""
    for place, node in enumerate(parameters(function)):
        pattern = node.child_by_field_name("pattern") if node.type.endswith("_parameter") else node
        has_default = node.child_by_field_name("value") is not None
        if pattern is not None and pattern.id == parameter.id and not has_default:
            return place
    return -1


def parameters(function: Node) -> list[Node]:
    """The parameters of a function, in order."""
    single = function.child_by_field_name("parameter")
    listed = function.child_by_field_name("parameters")
    return [single] if single is not None else [] if listed is None else listed.named_children


def _scope(node: Node) -> Node:
    """The innermost scope that a node stands in, or is."""
    at = node
    while at.type not in _SCOPES and at.parent is not None:
        at = at.parent
    return at


def required(value: Node | None) -> tuple[str, str]:
    """The module of `require("x")` or `require("x").member`, and the member."""
    member = ""
    if value is not None and value.type == "member_expression":
        member = text_of(value.child_by_field_name("property"))
        value = value.child_by_field_name("object")
    if value is None or value.type != "call_expression" or text_of(value.child_by_field_name("function")) != "require":
        return "", ""
    arguments = value.child_by_field_name("arguments")
    module = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    return (text_of(module).strip("\"'"), member) if module is not None and module.type == "string" else ("", "")


def is_exported(declared: Node) -> bool:
    """Whether other files can read a name."""
    around = declared.parent
    outer = around.parent if around is not None else None  # of a function, and beyond it of a variable
    return any(
        node is not None and node.type == "export_statement" for node in (outer, outer.parent if outer else None)
    )


def key_of(declared: Node) -> str:
    """The property that a name of an object pattern takes."""
    around = declared.parent
    if around is not None and around.type == "pair_pattern":
        return text_of(around.child_by_field_name("key"))
    return text_of(declared)


def _value_set(use: Node) -> Node | None:
    """What an assignment sets a name to, by itself or as the property of a pattern that is called so."""
    at: Node = use
    while at.parent is not None and at.parent.type in ("object_pattern", "parenthesized_expression"):
        at = at.parent
    around = at.parent
    is_left = around is not None and around.type == "assignment_expression"
    left = around.child_by_field_name("left") if around is not None and is_left else None
    return around.child_by_field_name("right") if around is not None and left is not None and left.id == at.id else None


def _is_written(node: Node) -> bool:
    """Whether a use of a name sets it."""
    at: Node = node
    while at.parent is not None and at.parent.type in (
        *("array_pattern", "object_pattern", "pair_pattern", "assignment_pattern", "rest_pattern"),
        "object_assignment_pattern",
    ):
        at = at.parent
    around = at.parent
    if around is None:
        return False
    if around.type in ("assignment_expression", "augmented_assignment_expression"):
        left = around.child_by_field_name("left")
        return left is not None and left.id == at.id
    if around.type == "for_in_statement":
        left = around.child_by_field_name("left")
        return left is not None and left.id == at.id and not text_of(around.child_by_field_name("kind"))
    return around.type == "update_expression"

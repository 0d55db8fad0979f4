"""What names of a source file are bound to, and where they are used. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import enclosing, field_of, field_text, is_field, outermost, text_of, upward, walk, words
from harness.languages.javascript.source import FUNCTIONS, property_of
from miner.languages.stripping import scopes as stripping

_DECLARING = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_PARAMETERS = ("required_parameter", "optional_parameter")
_NAMED_IN = dict.fromkeys(_PARAMETERS, "pattern") | {
    **dict.fromkeys(("assignment_pattern", "object_assignment_pattern"), "left"),
    "pair_pattern": "value",
}
"""By the type of a pattern: the part of it that has names."""
_PATTERNS = words("array_pattern object_pattern pair_pattern assignment_pattern rest_pattern object_assignment_pattern")
_SETTING = words("assignment_expression augmented_assignment_expression for_in_statement")
SETUP = words("before beforeEach beforeAll setup suiteSetup")
"""What runs a function in front of tests."""
_LOADED = re.compile(r"""\b(?:require|import)\(\s*["']([^"']+)["']""")


def dotted(node: Node | None) -> tuple[list[str], Node | None]:
    """The properties that a chain of members names, and what the first of them is taken of."""
    names: list[str] = []
    while node is not None and property_of(node):
        names.insert(0, property_of(node))
        node = field_of(node, "object")
    return names, node


@dataclass(eq=False)
class Binding(stripping.Binding):
    """A name in one scope: a `const`, `let`, `var`, `param`, `function`, `class`, `import` or `catch`.

    It is set to `init` as a whole, or its pattern is.
    """

    pattern: Node | None = None
    """What it is a part of, where it does not stand for all that it is set to."""
    module: str = ""
    """Of an import or of a `require`: the module."""
    imported: str = ""
    """What is taken of the module: `default`, `*` or a name."""

    @property
    def is_whole(self) -> bool:
        """Whether it stands for all that it is set to."""
        return self.pattern is None


class Scopes(stripping.Scopes[Binding]):
    """The bindings of one file, each with its uses."""

    opening = FUNCTIONS | words("program statement_block for_statement for_in_statement catch_clause class_body")
    names = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})

    def __init__(self, root: Node, runner: str = "") -> None:
        """`runner` is the framework that runs the file."""
        self.runner = runner
        self._required: set[str] = set()
        """Modules that are required anywhere, or imported for what they do alone."""
        super().__init__(root)
        for binding in self.bindings():
            _set_up(binding)

    def resolve(self, node: Node) -> Binding | None:
        """What a name stands for where it is used; None for a global one."""
        return self._seen_from(node)

    def _is_seen(self, binding: Binding, scope: Node, node: Node) -> bool:
        return True

    def _use(self, node: Node) -> None:
        if (binding := self.resolve(node)) is not None:
            binding.uses.append(node)
            binding.is_written = binding.is_written or _is_written(node)

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
        name = field_of(function, "name") if function.type.endswith("declaration") else None
        if function.parent is not None and function.parent.type == "variable_declarator":
            name = field_of(function.parent, "name")
        binding = self._declared.get(name.id) if name is not None else None
        if binding is None or binding.is_written or not binding.is_whole or is_exported(binding.declared):
            return []
        calls = [(use.parent, use) for use in binding.uses if use.parent is not None and use.parent.id != function.id]
        return [call for call, _ in calls] if all(is_field(call, "function", use) for call, use in calls) else []

    def of_module(self, node: Node | None, modules: Collection[str]) -> list[str] | None:
        """The names by which an expression asks a module for something; None where it is of none of these modules."""
        names, first = dotted(node)
        binding = self.of_name(first)
        if binding is None or binding.is_written or binding.module not in modules:
            return None
        return names if binding.imported in ("default", "*") else [binding.imported, *names]

    def declared_in(self, node: Node) -> list[Binding]:
        """The bindings that a pattern or parameter declares, in the order of the text."""
        return [self._declared[part.id] for part in walk(node) if part.id in self._declared]

    def _bind(self, at: Node | None, binding: Binding) -> None:
        scope = enclosing(at, self.opening)
        known = self._bindings.get(scope.id, {}).get(binding.name) if scope is not None else None
        if known:
            known[0].is_written = True  # declared twice: nobody knows which
            self._declared[binding.declared.id] = known[0]
        else:
            super()._bind(at, binding)

    def _declare(self, node: Node) -> None:
        self._required.add(required(node)[0] or field_text(node, "source")[1:-1])
        self._declare_names(node)
        for parameter in parameters(node) if node.type in FUNCTIONS else ():
            self._pattern(node, parameter, "param", None)

    def _declare_names(self, node: Node) -> None:
        match node.type:
            case "variable_declarator":
                self._declarator(node)
            case "import_statement":
                self._import(node)
            case "function_declaration" | "generator_function_declaration" | "class_declaration":
                named = field_of(node, "name")
                if named is not None and node.parent is not None:
                    kind = "class" if node.type == "class_declaration" else "function"
                    self._bind(node.parent, Binding(text_of(named), kind, named, node, init=node))
            case "catch_clause":
                parameter = field_of(node, "parameter")
                if parameter is not None:
                    self._pattern(node, parameter, "catch", None)
            case "for_in_statement":
                left, kind = field_of(node, "left"), field_text(node, "kind")
                if left is not None and kind:
                    self._pattern(node, left, kind, None)

    def _declarator(self, node: Node) -> None:
        named, value = field_of(node, "name"), field_of(node, "value")
        around = node.parent
        if named is None or around is None:
            return
        kind = "var" if around.type == "variable_declaration" else field_text(around, "kind")
        scope = enclosing(around, FUNCTIONS | {"program"} if kind == "var" else self.opening)
        self._pattern(scope or around, named, kind, value)
        module, member = required(value)
        if module:
            for binding in self.declared_in(named):
                binding.module = module
                binding.imported = member or (key_of(binding.declared) if named.type == "object_pattern" else "*")

    def _import(self, node: Node) -> None:
        module = field_text(node, "source").strip("\"'")
        for part in walk(node):
            if part.type == "identifier" and part.parent is not None and part.id not in self._declared:
                around = part.parent
                imported = {"import_clause": "default", "namespace_import": "*"}.get(around.type, "")
                named = part
                if around.type == "import_specifier":
                    imported = field_text(around, "name")
                    named = field_of(around, "alias") or part
                if named.id not in self._declared:
                    self._bind(node, Binding(text_of(named), "import", named, node, module=module, imported=imported))

    def _pattern(self, scope: Node, node: Node, kind: str, init: Node | None) -> None:
        """Bind the names of a pattern; defaults in it are no names."""
        inner = field_of(node, "pattern") if node.type in _PARAMETERS else node
        pattern = None if inner is not None and inner.type == "identifier" else node
        rest: list[Node | None] = [node]
        while rest:
            part = rest.pop()
            if part is None:
                continue
            if part.type in _DECLARING:
                self._bind(scope, Binding(text_of(part), kind, part, node, init=init, pattern=pattern))
            elif part.type in _NAMED_IN:
                rest.append(field_of(part, _NAMED_IN[part.type]))
            elif part.type in ("object_pattern", "array_pattern", "rest_pattern"):
                rest += part.named_children


def place_among(function: Node, parameter: Node) -> int:
    """Which of a function's parameters a name or pattern is; -1 for one with a default, or inside of a pattern."""
    for place, node in enumerate(parameters(function)):
        pattern = field_of(node, "pattern") if node.type.endswith("_parameter") else node
        has_default = field_of(node, "value") is not None
        if pattern is not None and parameter.id in (node.id, pattern.id) and not has_default:
            return place
    return -1


def parameters(function: Node) -> list[Node]:
    """The parameters of a function, in order."""
    single, listed = field_of(function, "parameter"), field_of(function, "parameters")
    return [single] if single is not None else [] if listed is None else listed.named_children


def required(value: Node | None) -> tuple[str, str]:
    """The module of `require("x")` or `require("x").member`, and the member."""
    member = ""
    if value is not None and value.type == "member_expression":
        member = field_text(value, "property")
        value = field_of(value, "object")
    if value is None or value.type != "call_expression" or field_text(value, "function") != "require":
        return "", ""
    arguments = field_of(value, "arguments")
    module = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    return (text_of(module).strip("\"'"), member) if module is not None and module.type == "string" else ("", "")


def is_exported(declared: Node) -> bool:
    """Whether other files can read a name."""
    around = declared.parent
    above = itertools.islice(upward(around.parent if around is not None else None), 2)
    return any(node.type == "export_statement" for node in above)  # of a function, and beyond it of a variable


def key_of(declared: Node) -> str:
    """The property that a name of an object pattern takes."""
    around = declared.parent
    if around is not None and around.type == "pair_pattern":
        return field_text(around, "key")
    return text_of(declared)


def _value_set(use: Node) -> Node | None:
    """What an assignment sets a name to, by itself or as the property of a pattern that is called so."""
    at = outermost(use, ("object_pattern", "parenthesized_expression"))
    is_set = at.parent is not None and at.parent.type == "assignment_expression" and is_field(at.parent, "left", at)
    return field_of(at.parent, "right") if is_set else None


def _set_up(binding: Binding) -> None:
    """Have a name that is declared empty be what a function in front of tests sets it to, where nothing else does."""
    writes = list(filter(_is_written, binding.uses)) if binding.init is None and binding.kind in ("let", "var") else []
    around = writes[0].parent if len(writes) == 1 else None
    if around is None or around.type != "assignment_expression" or around.parent is None:
        return
    statement, value = around.parent, field_of(around, "right")
    function = statement.parent.parent if statement.parent is not None else None
    outer = function.parent if function is not None and function.type in FUNCTIONS else None
    hook = field_of(outer.parent, "function") if outer is not None and outer.type == "arguments" else None
    is_hook = (property_of(hook) or text_of(hook)) in SETUP and statement.type == "expression_statement"
    is_hook = is_hook and not any(part.type == "return_statement" for part in walk(function))  # it may end before
    if is_hook and value is not None and not _LOADED.search(text_of(value)):
        binding.uses.remove(writes[0])
        binding.init, binding.is_written = value, False


def _is_written(node: Node) -> bool:
    """Whether a use of a name sets it."""
    at = outermost(node, _PATTERNS)
    around = at.parent
    if around is None or around.type == "update_expression":
        return around is not None
    if around.type == "for_in_statement" and field_text(around, "kind"):
        return False
    return around.type in _SETTING and is_field(around, "left", at)

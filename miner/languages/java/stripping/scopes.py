"""What names of a Java file are bound to, and where they are used. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter_java
from tree_sitter import Node

from harness.core import syntax
from harness.core.syntax import enclosing, field_of, field_text, is_field, named, text_of, upward, walk, words
from miner.languages.stripping import scopes as stripping

CLASSES = frozenset({"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"})
METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})
BODIES = frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations"})
_LOCALS = {"local_variable_declaration": "local", "field_declaration": "field", "constant_declaration": "field"}
_NAMED = {
    "formal_parameter": "parameter",
    "enhanced_for_statement": "each",
    "catch_formal_parameter": "catch",
    **dict.fromkeys(("resource", "instanceof_expression"), "other"),
    **dict.fromkeys(("type_pattern", "record_pattern_component"), "pattern"),
}
"""What declares one name, and its kind."""


parse = syntax.reader(tree_sitter_java.language())
"""The syntax tree of a file; see `syntax.reader`."""


def name_of(node: Node) -> str:
    """What a declaration or a call is called."""
    return field_text(node, "name")


def modifiers_of(node: Node) -> Node | None:
    """The modifiers and annotations of a declaration."""
    return next((child for child in node.children if child.type == "modifiers"), None)


def has_modifier(node: Node, *words: str) -> bool:
    """Whether a declaration has one of these modifiers."""
    modifiers = modifiers_of(node)
    return modifiers is not None and any(child.type in words for child in modifiers.children)


def annotation_of(node: Node, *names: str) -> Node | None:
    """An annotation of a declaration by its name without a package."""
    for child in named(modifiers_of(node)):
        if child.type.endswith("annotation") and name_of(child).rpartition(".")[2] in names:
            return child
    return None


def method_around(node: Node) -> Node | None:
    """The innermost method that a node is in, or is."""
    return enclosing(node, METHODS)


def function_of(node: Node) -> tuple[str, ...]:
    """The names of the method that a node is in and of the classes around it but for the outermost; empty in none."""
    names: list[str] = []
    for at in upward(node):
        if at.type in METHODS or (names and at.type in CLASSES):
            names.insert(0, name_of(at))
    return tuple(names[1:])


@dataclass(eq=False)
class Binding(stripping.Binding):
    """A name in one scope: a `local`, `field`, `parameter`, `each` (of a loop), `catch`, `pattern` or `other`."""

    @property
    def type_name(self) -> str:
        """Its type as it is written; empty where it has none."""
        return field_text(self.statement, "type") + field_text(self.declared.parent, "dimensions")


class Scopes(stripping.Scopes[Binding]):
    """The bindings of one file, each with its uses; its imports and methods."""

    opening = (
        METHODS
        | BODIES
        | words("program block constructor_body lambda_expression for_statement enhanced_for_statement catch_clause")
        | words("try_with_resources_statement switch_block_statement_group switch_rule")
    )

    def __init__(self, root: Node) -> None:
        self.imports: dict[str, str] = {}
        """By the last name: the path of each class that is imported."""
        self.members: dict[str, str] = {}
        """By name: the class of each member that is imported alone."""
        self.packages: list[str] = []
        """Packages, and classes whose members, are imported as a whole."""
        self.calls_of_objects: dict[str, list[Node]] = {}
        """By name: calls of methods of an object, or of a class of the file by its name."""
        self.referred: set[str] = set()
        """Names in references to methods."""
        packages = (text_of(named(node)[-1]) for node in named(root) if node.type == "package_declaration")
        self.package = next(packages, "")
        self.classes = {name_of(node) for node in walk(root) if node.type in CLASSES}
        super().__init__(root)

    def resolve(self, node: Node) -> Binding | None:
        """What a name or a field of the file's own classes stands for; None for what is declared elsewhere."""
        return self._own_field(node) if node.type == "field_access" else super().resolve(node)

    def _is_seen(self, binding: Binding, scope: Node, node: Node) -> bool:
        return scope.type in BODIES or binding.declared.end_byte <= node.start_byte

    def parameters(self, method: Node) -> list[Binding]:
        """Those of a method, in order."""
        nodes = named(field_of(method, "parameters"))
        names = [field_of(node, "name") for node in nodes]
        return [self._declared[name.id] for name in names if name is not None and name.id in self._declared]

    def class_of(self, name: str) -> str:
        """The path of a class that a name stands for; the name itself of one that no import names."""
        return name if "." in name else self.imports.get(name, name)

    def _own_field(self, node: Node) -> Binding | None:
        holder, name = field_of(node, "object"), field_of(node, "field")
        if holder is None or name is None or not (holder.type == "this" or text_of(holder) in self.classes):
            return None
        fields = [
            binding for binding in self._declared.values() if binding.kind == "field" and binding.name == text_of(name)
        ]
        of_class = [binding for binding in fields if _is_of(binding.declared, holder)]
        return next(iter(of_class or (fields if len(fields) == 1 else [])), None)

    def _use(self, node: Node) -> None:
        if _is_no_use(node):
            return
        around = node.parent
        is_member = around is not None and around.type == "field_access" and is_field(around, "field", node)
        used = around if is_member and around is not None else node
        binding = self.resolve(used)
        if binding is None:
            self._use_elsewhere(used)
            return
        binding.is_written |= _is_set(used)
        binding.uses.append(used)

    def _use_elsewhere(self, used: Node) -> None:
        """A field of some object: it may be that of a class in this file."""
        name, holder = field_of(used, "field"), field_of(used, "object")
        if name is None or holder is None:
            return
        of = self.of_name(holder)
        is_class = of is None and holder.type == "identifier" and text_of(holder)[:1].isupper()
        is_another_s = is_class or (of is not None and of.type_name not in {*self.classes, "var", ""})
        is_set = _is_set(used)
        for binding in self._declared.values() if is_set or not is_another_s else ():
            if binding.kind == "field" and binding.name == text_of(name):
                binding.is_written |= is_set
                binding.uses += [] if is_another_s else [used]

    def _name(self, node: Node, name: Node | None, kind: str, init: Node | None = None, at: Node | None = None) -> None:
        if name is not None:
            self._bind(at or node, Binding(name=text_of(name), kind=kind, declared=name, statement=node, init=init))

    def _declare(self, node: Node) -> None:  # noqa: C901 - a case for each way to declare
        match node.type:
            case "local_variable_declaration" | "field_declaration" | "constant_declaration":
                for declarator in node.children_by_field_name("declarator"):
                    name, value = (field_of(declarator, word) for word in ("name", "value"))
                    self._name(node, name, _LOCALS[node.type], value)
            case "spread_parameter":
                for declarator in named(node):
                    self._name(node, field_of(declarator, "name"), "other")
            case "lambda_expression":
                for name in _inferred(field_of(node, "parameters")):
                    self._name(node, name, "other")
            case "method_declaration":
                self.functions.setdefault(name_of(node), []).append(node)
            case "method_invocation" if field_text(node, "object") in ("", "this"):
                self.calls.setdefault(name_of(node), []).append(node)
            case "method_invocation" if self._may_be_own(field_of(node, "object")):
                self.calls_of_objects.setdefault(name_of(node), []).append(node)
            case "method_reference":
                self.referred.add(text_of(named(node)[-1]))
            case "import_declaration":
                self._import(node)
        if kind := _NAMED.get(node.type):
            around = node.parent.parent if node.parent is not None else None
            of_record = field_of(around, "body") if around is not None and around.type == "record_declaration" else None
            name = named(node)[-1] if kind == "pattern" else field_of(node, "name")
            self._name(node, name, kind, field_of(node, "value"), of_record)

    def _may_be_own(self, holder: Node | None) -> bool:
        """Whether a method of the file may be called of this."""
        return holder is not None and (text_of(holder) in self.classes or not text_of(holder)[:1].isupper())

    def _import(self, node: Node) -> None:
        path = text_of(next(iter(named(node)), None))
        head, _, name = path.rpartition(".")
        is_static = any(child.type == "static" for child in node.children)
        if any(child.type == "asterisk" for child in node.children):
            self.packages.append(path)
        elif is_static:
            self.members[name] = head
        else:
            self.imports[name] = path


def _is_set(used: Node) -> bool:
    """Whether a name is set where it is used, or a part of an array that it stands for."""
    while used.parent is not None and used.parent.type == "array_access" and is_field(used.parent, "array", used):
        used = used.parent
    outer = used.parent
    is_left = outer is not None and outer.type == "assignment_expression" and is_field(outer, "left", used)
    return is_left or (outer is not None and outer.type == "update_expression")


def _is_of(declared: Node, holder: Node) -> bool:
    """Whether a field is of the class that `this` is of, or that has a name."""
    if holder.type == "this":
        return enclosing(declared, BODIES) == enclosing(holder, BODIES)
    return name_of(next(at for at in upward(declared) if at.type in CLASSES)) == text_of(holder)


def _is_no_use(node: Node) -> bool:
    """Whether an identifier is no use of a variable."""
    around = node.parent
    if around is None:
        return True
    if around.type in ("method_invocation", "annotation", "marker_annotation") or around.type in CLASSES | METHODS:
        return is_field(around, "name", node)
    if around.type == "method_reference":
        return named(around)[-1].id == node.id and len(named(around)) > 1
    return around.type in ("scoped_identifier", "package_declaration", "labeled_statement", "break_statement") or (
        around.type == "element_value_pair" and is_field(around, "key", node)
    )


def _inferred(parameters: Node | None) -> list[Node]:
    """The names of a lambda's parameters that have no type."""
    return [name for name in (parameters, *named(parameters)) if name is not None and name.type == "identifier"]

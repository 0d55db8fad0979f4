"""What of a test file in JavaScript does not depend on the product: literals, and names and columns of them. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import (
    callee_of,
    covers,
    enclosing,
    field_of,
    field_text,
    is_field,
    named,
    overlap,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from harness.languages.javascript.source import FUNCTIONS, arguments_of, root_of
from miner.languages.javascript.stripping.libraries import COUNTED, GIVING, call_given, given_by, is_hook, is_own_test
from miner.languages.javascript.stripping.scopes import Binding, Scopes, dotted, is_exported, parameters, place_among
from miner.languages.stripping import static

if TYPE_CHECKING:
    from miner.languages.stripping.static import Step

_LITERALS = words("string number true false null undefined regex")
_TRANSPARENT = words("parenthesized_expression as_expression satisfies_expression non_null_expression type_assertion")
_PRIMITIVES = _LITERALS - {"regex"} | {"template_string", "unary_expression", "binary_expression"}
_CHOOSING = words("|| && ??")
"""Operators that give one of their sides as it is."""
_GLOBALS = words("undefined NaN Infinity __dirname __filename")
_OF_PATHS = words("join resolve normalize dirname basename extname relative sep delimiter")
_OF_MODULES = {
    **dict.fromkeys(("path", "node:path", "path/posix", "node:path/posix"), _OF_PATHS),
    **dict.fromkeys(("os", "node:os"), words("EOL tmpdir")),
}
"""By node's module: what of it depends on nothing but what it is given and where the tests are, and is a text."""
_ERRORS = words("Error EvalError RangeError ReferenceError SyntaxError TypeError URIError")
_MADE = _ERRORS | words(
    "Map Set RegExp Date Array Object Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array"
    " Float64Array BigInt64Array BigUint64Array"
)
_CALLED = _ERRORS | words(
    "BigInt Symbol.for String Number Boolean parseInt parseFloat JSON.stringify JSON.parse Object.freeze Object.assign"
    " Object.create Object.fromEntries Array.of Array.from Buffer.from Date.UTC Math.min Math.max Math.pow"
    " encodeURIComponent decodeURIComponent encodeURI"
)
EXPECT_MODULES = words("vitest @jest/globals expect bun:test")
_PARTIAL = words("any anything objectContaining arrayContaining stringContaining stringMatching closeTo")
"""Of `expect`: what takes more than one value; the host has the same (harness/judging/javascript)."""
_KINDS = _MADE | words("String Number Boolean BigInt Symbol Function Promise")
_OBJECTS = words("Number Math Symbol")
_METHODS = words(
    "repeat join concat slice trim toUpperCase toLowerCase split padStart padEnd toString replace replaceAll substring"
    " at getTime toISOString flat"
)
_TEXTS = _OF_PATHS | words(
    "tmpdir repeat join trim toUpperCase toLowerCase padStart padEnd toString replace replaceAll substring getTime"
    " toISOString String Number Boolean BigInt parseInt parseFloat stringify raw UTC min max pow encodeURIComponent"
    " decodeURIComponent encodeURI"
)
"""Functions and methods that give texts or numbers, where what they are of is static."""
_LOOPS = frozenset({"forEach", "map"})
_RUNNING = _LOOPS | words("every some filter find findIndex flatMap reduce then catch finally")
"""Methods that call what they are given as what they are of says."""
_LATER = words("setTimeout setImmediate queueMicrotask process.nextTick")
_CASES, _DECLARATIONS = words("switch_case switch_default"), words("variable_declaration lexical_declaration")
_PARTS_OF, _SAME_PARTS = words("Object.entries Object.values"), words("slice concat flat at")
"""Functions and methods that give parts of an object, and not copies of them."""
_GIVING_ON = _TRANSPARENT | words(
    "array object pair spread_element subscript_expression binary_expression unary_expression ternary_expression"
)
"""Expressions that may give an object that is in them, or a part of it."""
_MOST_NAMES = 8


@dataclass(frozen=True)
class Column:
    """What stands at one place of each row of a table."""

    rows: tuple[Node | tuple[Node, ...], ...]
    steps: tuple[Step, ...]
    array: Node
    """The literal that holds the rows."""
    is_shared: bool
    """Whether the rows are used elsewhere as well."""
    each: Node | None = None
    """The call of `each` that makes a test of every row."""

    @property
    def key(self) -> tuple[int, tuple[Step, ...]]:
        return self.array.id, self.steps

    @property
    def is_listed(self) -> bool:
        """Whether its rows are elements, and not pairs of a key and a value or what calls give."""
        return not any(isinstance(row, tuple) for row in self.rows)

    def cells(self) -> list[Node] | None:
        """What stands there, row by row, without what is missing; None where a row does not tell."""
        cells: list[Node] = []
        for row in self.rows:
            cell: Node | tuple[Node, ...] | None = row
            for step in self.steps:
                if cell is None:
                    break
                cell = _part(cell, step)
                if cell is _UNKNOWN:
                    return None
            if isinstance(cell, tuple):
                return None
            cells += [cell] if cell is not None else []
        return cells


_UNKNOWN: tuple[Node, ...] = ()


def _part(value: Node | tuple[Node, ...], step: Step) -> Node | tuple[Node, ...] | None:
    """A property or element of a literal; None where it has none, `_UNKNOWN` where that can't be told."""
    if isinstance(value, tuple):
        return (value[step] if step < len(value) else None) if isinstance(step, int) else _UNKNOWN
    value = bare(value)
    children = named(value)
    if any(child.type == "spread_element" for child in children):
        return _UNKNOWN
    if value.type == "array" and isinstance(step, int):
        if b",," in (value.text or b"").replace(b" ", b""):
            return _UNKNOWN  # a hole moves what comes after it
        return children[step] if step < len(children) else None
    if value.type == "object" and isinstance(step, str):
        return _property(children, step)
    return _UNKNOWN


def _property(children: Sequence[Node], name: str) -> Node | tuple[Node, ...] | None:
    found: Node | tuple[Node, ...] | None = None
    for child in children:
        key = field_of(child, "key")
        if key is not None and key.type == "computed_property_name":
            return _UNKNOWN
        if key is not None and text_of(key).strip("\"'") == name:
            found = field_of(child, "value")
        elif key is None and text_of(field_of(child, "name") or child) == name:
            return _UNKNOWN  # a method, a getter or a shorthand
    return found


def bare(node: Node) -> Node:
    """An expression without parentheses and types around it."""
    while node.type in _TRANSPARENT and node.named_children:
        node = node.named_children[0 if node.type != "type_assertion" else -1]
    return node


class Statics(static.Statics[Scopes]):
    """Tells what of one file is static."""

    literals = _LITERALS
    functions = FUNCTIONS
    made_of = words("array spread_element unary_expression binary_expression ternary_expression")

    def __init__(self, scopes: Scopes, asserts: frozenset[str]) -> None:
        """`asserts` are the modules whose functions only look at what they are given."""
        super().__init__(scopes)
        self._asserts = asserts
        self._asked: set[int] = set()
        self._is_any_left = False

    def _by_type(self) -> Mapping[str, Callable[[Node, int], bool]]:
        return {
            "identifier": self._is_static_name,
            "template_string": self._is_static_template,
            "object": self._is_static_object,
            **dict.fromkeys(("member_expression", "subscript_expression"), self._is_static_member),
            **dict.fromkeys(("new_expression", "call_expression"), self._is_static_call),
        }

    def _bare(self, node: Node) -> Node:
        return bare(node)

    def _is_static_template(self, node: Node, depth: int) -> bool:
        parts = [part.named_children[0] for part in node.named_children if part.type == "template_substitution"]
        return self._are_static(parts, depth)

    def _is_static_object(self, node: Node, depth: int) -> bool:
        return all(self._is_static_part(part, depth) for part in named(node))

    def _is_static_part(self, part: Node, depth: int) -> bool:
        if part.type == "pair":
            key, value = field_of(part, "key"), field_of(part, "value")
            if key is None or value is None:
                return False
            computed = key.named_children[:1] if key.type == "computed_property_name" else []
            return self._are_static([*computed, value], depth)
        if part.type == "shorthand_property_identifier":
            return self._is_static_name(part, depth)
        return part.type == "comment" or (part.type == "spread_element" and self.is_static(part, depth))

    def _is_static_name(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None or self._is_of_node(node):
            return binding is not None or text_of(node) in _GLOBALS
        if id(binding) in self._assumed:
            return not binding.is_written
        tells = partial(self._is_static_as, binding, node, depth)
        return not binding.is_written and self._unless_open(id(binding), tells)

    def _is_static_as(self, binding: Binding, node: Node, depth: int) -> bool:
        if (column := self.column_of(node)) is not None:
            return self._is_static_column(column, binding, depth) and not self._is_of_chosen_row(node, column, binding)
        return self.is_static_binding(binding, depth) and not self._is_of_chosen_turn(binding, node)

    def _is_of_chosen_turn(self, binding: Binding, use: Node) -> bool:
        """Whether a name is made of a row in each turn of a loop, and the product says of which rows a use is."""
        rest, visited = [binding], {id(binding)}
        while rest:
            name = rest.pop()
            if not any(map(self._is_turn, upward(name.declared))):
                continue
            for part in (part for part in walk(name.init) if part.type == "identifier"):
                inner, column = self._scopes.resolve(part), self.column_of(part)
                if inner is None or id(inner) in visited:
                    continue
                if column is not None and self._is_of_chosen_row(use, column, inner):
                    return True
                visited.add(id(inner))
                rest += [inner] if column is None else []
        return False

    def is_static_binding(self, binding: Binding, depth: int = 0) -> bool:
        """Whether a name is set once, to something static that nothing can change."""
        init = binding.init
        if binding.kind not in ("const", "let", "var") or init is None or not binding.is_whole or binding.is_written:
            return False
        if not self.is_static(init, depth) or self._is_set_by_choice(binding):
            return False
        return _is_primitive(init) or self._is_left(binding)

    def _is_set_by_choice(self, binding: Binding) -> bool:
        """Whether the product says if a name is set that is read outside of the block where that stands."""
        declaration = enclosing(binding.declared, _DECLARATIONS)
        home = declaration.parent if declaration is not None else None
        if home is None or not (binding.kind == "var" or home.type in _CASES):
            return False
        is_read_there = all(covers(place_of(home), place_of(use)) for use in binding.uses)
        return not is_read_there and self._is_by_choice(binding.declared)

    def _is_left(self, binding: Binding, column: Column | None = None) -> bool:
        """Whether all uses of a name leave what it stands for as it is, or a column of it.

        What is in a table is that of the file until a first use changes it, so it counts as left while that is asked.
        """
        if self._is_any_left or id(binding) in self._asked:
            return True
        self._asked.add(id(binding))
        try:
            return all(self._only_looks(use, column) for use in binding.uses)
        finally:
            self._asked.discard(id(binding))

    def _only_looks(self, use: Node, column: Column | None = None) -> bool:
        """Whether a use of a name can't change the object that it stands for, or a column of the table that it is."""
        at: Node | bool = use
        while not isinstance(at, bool):
            at = self._looked_at(at, at.parent, column)
        return at

    def _looked_at(self, at: Node, around: Node | None, column: Column | None) -> Node | bool:
        """Whether what is around an expression only looks at its object; else what may give that, or parts of it."""
        call = around.parent if around is not None else None
        if around is None or call is None:
            return False
        if _gives_parts(call, around):
            return self._has_primitives(at) or call
        if _is_method(call, around, _LOOPS):
            return self._has_primitives(at) or self._leaves_parts(_parts_given(call), column)
        match around.type:
            case "arguments":
                return self._looks(call, at, column) or self._hands_on(call, at)
            case "member_expression":
                is_looked_at = _looks_by_member(around)
                return around if is_looked_at is None else is_looked_at
            case "for_in_statement":
                return is_field(around, "right", at) and self._is_looped(around, column)
            case "template_substitution":
                return not is_field(call.parent, "arguments", call)  # of a template that a function is given
            case "binary_expression" if field_text(around, "operator") not in _CHOOSING:
                return field_text(around, "operator") != "instanceof"  # of which a class may say what it is
        return around if around.type in _GIVING_ON else around.type == "if_statement"

    def _is_looped(self, loop: Node, column: Column | None) -> bool:
        """Whether a loop over the parts of an object leaves them as they are; its keys nobody can change."""
        left, over = field_of(loop, "left"), field_of(loop, "right")
        if left is None or over is None or field_text(loop, "operator") == "in":
            return True
        return bool(field_text(loop, "kind")) and (self._has_primitives(over) or self._leaves_parts([left], column))

    def _leaves_parts(self, names: Sequence[Node] | None, column: Column | None) -> bool:
        """Whether what patterns name in a loop is left as it is; None stands for a function that is not known."""
        bindings = [binding for pattern in names or () for binding in self._scopes.declared_in(pattern)]
        return names is not None and not any(
            binding.is_written or not all(self._leaves(use, column) for use in binding.uses) for binding in bindings
        )

    def _has_primitives(self, node: Node) -> bool:
        """Whether an array or object that is written out holds nothing that can be changed."""
        whole = self._written_out(node)
        if whole is None or whole.type not in ("array", "object"):
            return False
        parts = (field_of(part, "value") if part.type == "pair" else part for part in named(whole))
        return all(map(self._is_unchangeable, parts))

    def _is_unchangeable(self, node: Node | None, depth: int = 0) -> bool:
        """Whether an expression gives what nobody can change: by what it is, or what names and loops stand for."""
        part = self._written_out(node)
        if part is not None or node is None or depth > _MOST_NAMES:
            return part is not None and _is_primitive(part)
        column = self._as_written(partial(self.column_of, node))
        cells = column.cells() if column is not None else None
        return cells is not None and all(self._is_unchangeable(cell, depth + 1) for cell in cells)

    def _written_out(self, node: Node | None, depth: int = 0) -> Node | None:
        """What an expression stands for at first, where it is written out in the file, by a name or a part of one."""
        if node is None or depth > _MOST_NAMES:
            return None
        node = bare(node)
        if node.type in ("member_expression", "subscript_expression"):
            step, of = _step(node), self._written_out(field_of(node, "object"), depth + 1)
            part = _part(of, step) if step is not None and of is not None else None
            return bare(part) if isinstance(part, Node) else None
        if node.type == "call_expression":
            inner = arguments_of(node)[0] if _is_of_parts(node) else None
            return node if _is_primitive(node) else self._written_out(inner, depth + 1)
        if node.type != "identifier":
            return node
        binding = self._scopes.resolve(node)
        is_set_once = binding is not None and binding.is_whole and not binding.is_written
        return self._written_out(binding.init, depth + 1) if binding is not None and is_set_once else None

    def _hands_on(self, call: Node, argument: Node) -> bool:
        """Whether a call gives something to a function of the file that only looks at it."""
        binding, arguments = self._scopes.of_name(field_of(call, "function")), arguments_of(call)
        function = binding.init if binding is not None and not binding.is_written and binding.is_whole else None
        place = next((i for i, node in enumerate(arguments) if node.id == argument.id), -1)
        if function is None or function.type not in FUNCTIONS or _takes_arguments(function):
            return False
        if not 0 <= place < len(parameters(function)) or any(node.type == "spread_element" for node in arguments):
            return False
        inner = self._scopes.declared_in(parameters(function)[place])
        return self._unless_open(function.id, lambda: all(map(self._is_only_looked_at, inner)))

    def _is_only_looked_at(self, binding: Binding) -> bool:
        return not binding.is_written and self._is_left(binding)

    def _looks(self, call: Node, argument: Node, column: Column | None) -> bool:
        """Whether a call does nothing to what it is given: an assertion, a table of tests, a standard function."""
        function = field_of(call, "function")
        if function is None:
            return False
        if text_of(function) in ("Object.keys", "JSON.stringify", "structuredClone"):
            return True
        name = field_text(function, "property")
        at = root_of(function)
        if at is None or at.type != "identifier":
            return False
        binding = self._scopes.resolve(at)
        if text_of(at) == "expect" or (binding is not None and binding.module in self._asserts):
            return True
        if name == "each":
            return self._has_primitives(argument) or self._leaves_parts(_rows_given(call), column)
        return name in COUNTED and bool(given_by(self._scopes, at, GIVING))

    def _is_static_member(self, node: Node, depth: int) -> bool:
        inner = field_of(node, "object")
        if inner is None:
            return False
        column = self.column_of(node)
        if column is not None:
            return self._is_static_row(node, column, depth)
        if self._is_of_node(node):
            return True
        if inner.type == "identifier" and self._scopes.resolve(inner) is None:
            return text_of(inner) in _OBJECTS and node.type == "member_expression"
        index = field_of(node, "index")
        is_static = self.is_static(inner, depth) and (index is None or self.is_static(index, depth))
        return is_static and self._is_own(inner, index or field_of(node, "property"))

    def _is_own(self, inner: Node, name: Node | None) -> bool:
        """Whether what is asked of an object that is written out may be its own; a product can add all else."""
        binding = self._scopes.of_name(inner)
        if id(binding) in self._assumed:
            return False
        made = bare(binding.init if binding is not None and binding.init is not None else inner)
        if made.type != "object" or name is None:
            return True
        keys = [field_of(part, "key") or part for part in made.named_children]
        is_plain = name.type in ("property_identifier", "string") and all(
            key.type in ("property_identifier", "string", "shorthand_property_identifier") for key in keys
        )
        return not is_plain or text_of(name).strip("\"'") in {text_of(key).strip("\"'") for key in keys}

    def _is_static_call(self, node: Node, depth: int) -> bool:
        given, template = arguments_of(node), field_of(node, "arguments")
        if template is not None and template.type == "template_string":
            return field_text(node, "function") == "String.raw" and self.is_static(template, depth)
        if self._takes_more(node):
            return all(self._is_kind(child) or self.is_static(child, depth) for child in given)
        if any(child.type in FUNCTIONS or not self.is_static(child, depth) for child in given):
            return False
        if node.type == "new_expression":
            made = field_of(node, "constructor")
            name = text_of(made)
            if made is None or made.type != "identifier" or self._scopes.resolve(made) is not None:
                return False
            return name in _MADE and (name != "Date" or bool(given))
        function = field_of(node, "function")
        if function is None:
            return False
        if function.type == "member_expression":
            receiver = field_of(function, "object")
            is_method = receiver is not None and field_text(function, "property") in _METHODS
            if is_method and receiver is not None and self.is_static(receiver, depth):
                return True
        if self._is_of_node(function):
            return (field_text(function, "property") or text_of(function)) != "resolve" or self._is_whole_path(given)
        root = field_of(function, "object") if function.type == "member_expression" else function
        own = self._scopes.of_name(root)
        return text_of(function) in _CALLED if own is None else self._gives_static(function, own, len(given), depth)

    def _gives_static(self, called: Node, own: Binding, count: int, depth: int) -> bool:
        """Whether a function of the file gives what it makes of its arguments alone, where these are static."""
        is_set_once = own.is_whole and not own.is_written and called.type == "identifier"
        function = bare(own.init) if own.init is not None and is_set_once else None
        body = field_of(function, "body")
        if function is None or body is None or function.type not in ("arrow_function", "function_declaration"):
            return False
        names = [self._scopes.resolve(field_of(part, "pattern") or part) for part in parameters(function)]
        steps = named(body) if body.type == "statement_block" else []
        if steps:
            body = next(iter(named(steps[-1])), None) if steps[-1].type == "return_statement" else None
        is_plain = all(step.type == "lexical_declaration" for step in steps[:-1]) and len(names) == count
        if not is_plain or text_of(function).startswith("async") or None in names:
            return False
        with self._assuming(*map(id, names)):
            return self._unless_open(id(own), lambda: self.is_static(body, depth))

    def _is_whole_path(self, parts: Sequence[Node]) -> bool:
        """Whether a path of some parts is not of the folder that the process is in, which the product may change."""
        first = parts[0] if parts else None
        binding = self._scopes.of_name(first)
        first = binding.init if binding is not None else first
        return first is not None and (first.type != "string" or text_of(first)[1:2] == "/")

    def _is_of_node(self, node: Node) -> bool:
        """Whether an expression is a function or constant of node's that is the same in each run."""
        return any(
            names is not None and len(names) == 1 and names[0] in members
            for module, members in _OF_MODULES.items()
            for names in [self._scopes.of_module(node, (module,))]
        )

    def _takes_more(self, call: Node) -> bool:
        """Whether a call makes what stands for more than one value, as `expect.any(Number)`."""
        names, first = dotted(field_of(call, "function"))
        names = names[1:] if names[:1] == ["not"] else names
        if first is None or text_of(first) != "expect" or len(names) != 1 or names[0] not in _PARTIAL:
            return False
        binding = self._scopes.resolve(first)
        return binding is None or binding.module in EXPECT_MODULES

    def _is_kind(self, node: Node) -> bool:
        return node.type == "identifier" and text_of(node) in _KINDS and self._scopes.resolve(node) is None

    # -- tables of rows

    def _is_static_row(self, node: Node, column: Column, depth: int) -> bool:
        keys: list[Binding] = []
        while node.type in ("member_expression", "subscript_expression"):
            inner = field_of(node, "object")
            key = self._scopes.of_name(field_of(node, "index"))
            keys += [key] if key is not None else []
            if inner is None:
                return False
            node = inner
        binding = self._scopes.resolve(node)
        if binding is None or not self._is_static_column(column, binding, depth):
            return False
        return not any(self._is_of_chosen_row(node, column, name) for name in (binding, *keys))

    def _is_of_chosen_row(self, use: Node, column: Column, binding: Binding) -> bool:
        """Whether the product says of which rows, or calls, a use is, where these differ; a row of `each` is alone."""
        loop = next((at for at in upward(binding.declared) if self._is_turn(at)), None)
        cells = column.cells() or ()
        if column.each is not None or loop is None or len(set(map(text_of, cells))) <= 1:
            return False
        if any(is_own_test(at, self._scopes) for at in itertools.takewhile(lambda at: at != loop, upward(use))):
            return False
        is_helper = loop.type in FUNCTIONS and not _is_row(loop)
        if is_helper and not (self._where_they_differ(cells) or any(map(self._is_in_hook, cells))):
            return False  # each is of a test of its own
        return self._is_unawaited(loop, use) or self._is_by_choice(use, loop)

    def _is_by_choice(self, node: Node, within: Node | None = None) -> bool:
        """Also where the product runs a function that a node is in, or says in which order those that wait go on."""
        functions = _functions_around(node, within) if within is not None or node.type in FUNCTIONS else iter(())
        for function in functions:
            if self._is_handed_out(function, within) or self._is_unawaited(function, node):
                return True
            if within is None:
                break
        return super()._is_by_choice(node, within)

    def _is_handed_out(self, function: Node, within: Node | None) -> bool:
        """Whether something of the product may say when and how often a function runs."""
        call = call_given(function)
        if call is None:
            calls = self._scopes.calls_of(function)
            is_any_chosen = any(self._is_by_choice(use, within) for use in calls) if within is not None else False
            return is_any_chosen or not (calls or _call_of(function))
        if call.type == "new_expression":
            return field_text(call, "constructor") != "Promise"
        callee = field_of(call, "function")
        if is_own_test(call, self._scopes) or is_hook(call, self._scopes) or text_of(callee) in _LATER:
            return False
        if self._looks(call, function, None):
            return False
        of = field_of(callee, "object")
        return of is None or field_text(callee, "property") not in _RUNNING or not self._is_settled(of)

    def _is_unawaited(self, function: Node, node: Node) -> bool:
        """Whether a function waits for something before it comes to a node, and others run meanwhile."""
        end = next((at.end_byte for at in upward(node) if at.type.endswith("statement")), function.end_byte)
        waits = any(part.type == "await_expression" and part.start_byte < end for part in walk(function))
        if not waits or not any(child.type == "async" for child in function.children):
            return False
        call_around = call_given(function)
        if is_own_test(call_around, self._scopes) or is_hook(call_around, self._scopes):
            return False
        call = _call_of(function)
        calls = [call] if call is not None else self._scopes.calls_of(function)
        return not calls or not all(map(self._is_awaited, calls))

    def _is_awaited(self, call: Node) -> bool:
        """Whether a test goes on when what a call gives has ended."""
        around = call.parent
        if around is None or around.type == "await_expression":
            return around is not None
        is_given = around.type == "return_statement" or is_field(around, "body", call)
        function = next((at for at in upward(call) if at.type in FUNCTIONS), None)
        return is_given and function is not None and is_own_test(call_given(function), self._scopes)

    def _is_in_hook(self, node: Node) -> bool:
        return any(is_hook(at, self._scopes) for at in upward(node))

    def _calls_to(self, function: Node | None) -> list[Node]:
        if function is None:
            return []
        around = itertools.takewhile(lambda at: at.type not in FUNCTIONS, upward(function.parent))
        is_run_alone = any(is_own_test(at, self._scopes) or is_hook(at, self._scopes) for at in around)
        return self._scopes.calls_of(function) or ([] if is_run_alone else [function])

    def _is_turn(self, node: Node) -> bool:
        """Whether a node is come to once for each row of a loop, or for each call of a function."""
        is_called = node.type in FUNCTIONS and bool(self._scopes.calls_of(node))
        return is_called or node.type == "for_in_statement" or _is_row(node)

    def _is_static_column(self, column: Column, binding: Binding, depth: int) -> bool:
        """Whether a column holds nothing but what is static, and no use of the loop's name can change that."""
        cells = column.cells()
        if cells is None or not all(self.is_static(cell, depth) for cell in cells):
            return False
        return all(self._leaves(use, column) for use in binding.uses)

    def _leaves(self, use: Node, column: Column | None) -> bool:
        """Whether a use of a loop's name leaves a column as it is: it only looks, or takes what nobody can change."""
        if self._only_looks(use):
            return True
        top = member_of(use)
        whole = self._as_written(partial(self.column_of, use))
        other = self._as_written(partial(self.column_of, top)) or whole
        if other is None or (top.parent is not None and _sets(top.parent, top)):
            return False
        for part in (other, whole):
            cells = part.cells() if part is not None else None
            if cells is not None and all(map(self._is_unchangeable, cells)):
                return True
        return column is not None and column.is_listed == other.is_listed and not overlap(other.steps, column.steps)

    def _as_written(self, tells: Callable[[], Column | None]) -> Column | None:
        """What this tells of a column as it is in the file, whatever uses of its table may change."""
        was, self._is_any_left = self._is_any_left, True
        try:
            return tells()
        finally:
            self._is_any_left = was

    def column_of(self, node: Node) -> Column | None:
        """The column of a table that a name or `row.member` stands for, inside of a loop over its rows."""
        steps: list[Step] = []
        while node.type in ("member_expression", "subscript_expression"):
            step = _step(node)
            inner = field_of(node, "object")
            if step is None or inner is None:
                return self._by_key(node, steps) if inner is not None else None
            steps.insert(0, step)
            node = inner
        if node.type not in ("identifier", "shorthand_property_identifier"):
            return None
        binding = self._scopes.resolve(node)
        return None if binding is None or binding.is_written else self.column(binding, steps)

    def _by_key(self, node: Node, steps: Sequence[Step]) -> Column | None:
        """What `table[key]` stands for where a loop goes over the keys of the table, which is written out.

        So may be what a name of a loop or of a parameter stands for each time.
        """
        table, key = field_of(node, "object"), field_of(node, "index")
        if table is None or key is None or {table.type, key.type} != {"identifier"}:
            return None
        binding, of_key = self._scopes.resolve(table), self._scopes.resolve(key)
        if binding is None or of_key is None or of_key.is_written or binding.is_written:
            return None
        over = _keys_of(of_key.declared)
        if over is None or self._scopes.resolve(over) is not binding:
            return None
        others = [use for use in binding.uses if use.id != over.id and not _is_at(use, key, self._scopes)]
        if binding.init is not None and binding.is_whole:
            is_shared = bool(others) or is_exported(binding.declared)
            tables = [bare(binding.init)]
        else:
            tables, is_shared = self._tables_of(binding)
            is_shared = is_shared or not all(_is_member(use.parent) for use in others)
        read = {field_text(use.parent, "property") for use in others}
        rows = [entry for table in tables for entry in _entries(table) if text_of(entry[0]).strip("\"'") not in read]
        column = Column(rows=tuple(rows), steps=(1, *steps), array=tables[0], is_shared=is_shared) if rows else None
        return column if all(map(_entries, tables)) else None

    def _tables_of(self, binding: Binding) -> tuple[list[Node], bool]:
        """The objects that a name stands for, one each time, if they are static; and whether others read them too."""
        column = self.column(binding)
        cells = column.cells() if column is not None else None
        written = [self._written_out(cell) for cell in cells or ()]
        tables = [table for table in written if table is not None]
        if column is None or len(tables) < len(written) or not self._are_static(cells or (), 0):
            return [], True
        places = {cell.id for cell in cells or ()}
        names = [name for cell in cells or () if (name := self._scopes.of_name(bare(cell))) is not None]
        uses = (use for name in names for use in name.uses)
        return tables, column.is_shared or any(use.id not in places for use in uses)

    def column(self, binding: Binding, steps: Sequence[Step] = ()) -> Column | None:
        """The column that a name of a loop stands for, and what is inside of that."""
        path: list[Step] = []
        at = binding.declared
        while at.parent is not None:
            around = at.parent
            if around.type == "pair_pattern":
                path.insert(0, field_text(around, "key").strip("\"'"))
            elif around.type == "object_pattern" and at.type != "pair_pattern":
                path.insert(0, text_of(binding.declared))
            elif around.type == "array_pattern":
                siblings = [child for child in around.children if child.type != "comment"]
                path.insert(0, sum(child.type == "," for child in siblings[: siblings.index(at)]))
            elif around.type == "for_in_statement":
                if field_text(around, "operator") != "of" or not is_field(around, "left", at):
                    return None
                return self._table(field_of(around, "right"), (*path, *steps), None)
            elif around.type in ("formal_parameters", "arrow_function"):
                return self._of_parameter(at, around, [*path, *steps])
            elif around.type not in ("required_parameter", "object_pattern"):
                return None
            at = around
        return None

    def _of_parameter(self, parameter: Node, around: Node, steps: list[Step]) -> Column | None:
        function = around if around.type in FUNCTIONS else around.parent
        if function is not None and (calls := self._scopes.calls_of(function)):
            return self._of_calls(function, calls, parameter, steps)
        if function is None or function.parent is None or function.parent.type != "arguments":
            return None
        place = next((i for i, node in enumerate(parameters(function)) if node.id == parameter.id), None)
        call = function.parent.parent
        called = field_of(call, "function")
        if place is None or called is None:
            return None
        if called.type == "member_expression" and field_text(called, "property") in _LOOPS:
            return self._table(field_of(called, "object"), tuple(steps), None) if place == 0 else None
        each = callee_of(called)
        if each is None or field_text(each, "property") != "each":
            return None
        given = arguments_of(called)
        table = self._as_written(partial(self._table, given[0], (), called)) if len(given) == 1 else None
        if table is None:
            return None
        if all(isinstance(row, tuple) or bare(row).type == "array" for row in table.rows):
            return self._table(given[0], (place, *steps), called)
        return self._table(given[0], tuple(steps), called) if place == 0 else None

    def _of_calls(self, function: Node, calls: Sequence[Node], parameter: Node, steps: list[Step]) -> Column | None:
        """What all calls of a function of the file give one of its parameters."""
        place, rows = place_among(function, parameter), [tuple(arguments_of(call)) for call in calls]
        is_known = place >= 0 and all(node.type != "spread_element" for row in rows for node in row)
        operands = [node for row in rows for node in row[place:][:1]]
        if not is_known or _takes_arguments(function) or self._is_choice(operands):
            return None
        return Column(rows=tuple(row[place:][:1] for row in rows), steps=(0, *steps), array=parameter, is_shared=False)

    def _table(self, node: Node | None, steps: tuple[Step, ...], each: Node | None) -> Column | None:
        if node is None:
            return None
        node = bare(node)
        by_name = False
        if node.type == "call_expression" and field_text(node, "function") == "Object.entries":
            given = arguments_of(node)
            if len(given) != 1:
                return None
            node, by_name = bare(given[0]), True
        parts = _entries if by_name else _elements
        is_shared = False
        if (column := self.column_of(node)) is not None:  # a loop over what is in another table
            root = root_of(node)
            binding = self._scopes.resolve(root) if root is not None else None
            cells = column.cells()
            if binding is None or cells is None or not all(parts(bare(cell)) for cell in cells):
                return None
            rows = tuple(row for cell in cells for row in parts(bare(cell)))
            is_shared = column.is_shared or len(binding.uses) > 1
            return Column(rows=rows, steps=steps, array=binding.declared, is_shared=is_shared, each=each)
        if node.type == "identifier":
            binding = self._scopes.resolve(node)
            if binding is None or binding.init is None or not binding.is_whole or binding.is_written:
                return None
            uses = [use for use in binding.uses if not _is_length(use.parent)]
            is_shared = len(uses) > 1 or is_exported(binding.declared)
            node = bare(binding.init)
            column = Column(rows=parts(node), steps=steps, array=node, is_shared=is_shared, each=each)
            return column if column.rows and self._is_left(binding, column) else None
        rows = parts(node)
        return Column(rows=rows, steps=steps, array=node, is_shared=is_shared, each=each) if rows else None


def _functions_around(node: Node, within: Node | None) -> Iterator[Node]:
    """The functions that a node is in, itself among them, from within outwards; not what it is asked within."""
    above = itertools.takewhile(lambda at: at != within, upward(node))
    return (at for at in above if at.type in FUNCTIONS)


def _call_of(function: Node) -> Node | None:
    """The call of a function that is called where it stands."""
    around = function.parent
    call = around.parent if around is not None and around.type == "parenthesized_expression" else around
    return call if call is not None and call.type == "call_expression" and call_given(function) is None else None


def _is_row(function: Node) -> bool:
    """Whether a function is called with the parts of a table, one each time."""
    call = function.parent.parent if function.type in FUNCTIONS and function.parent is not None else None
    called = field_of(call, "function")
    return called is not None and field_text(called, "property") in _LOOPS


def _elements(node: Node) -> tuple[Node, ...]:
    """The elements of an array that is written out; none where it is not."""
    children = tuple(named(node))
    return children if node.type == "array" and all(child.type != "spread_element" for child in children) else ()


def _entries(node: Node) -> tuple[tuple[Node, ...], ...]:
    """The keys and values of an object that is written out; none where it is not."""
    pairs: list[tuple[Node, ...]] = []
    for child in node.named_children:
        key, value = field_of(child, "key"), field_of(child, "value")
        if key is not None and value is not None and key.type != "computed_property_name":
            pairs.append((key, value))
        elif child.type != "comment":
            return ()
    return tuple(pairs) if node.type == "object" else ()


def _is_primitive(node: Node) -> bool:
    """Whether an expression gives what nobody can change."""
    node = bare(node)
    if node.type == "call_expression":
        return (dotted(field_of(node, "function"))[0] or [field_text(node, "function")])[-1] in _TEXTS
    return node.type in _PRIMITIVES and field_text(node, "operator") not in _CHOOSING


def _is_of_parts(call: Node) -> bool:
    """Whether a call is one of `Object.entries` and its like with one argument."""
    return text_of(field_of(call, "function")) in _PARTS_OF and len(arguments_of(call)) == 1


def _is_method(call: Node, member: Node, names: Collection[str]) -> bool:
    """Whether a call is one of a member, by one of these names."""
    is_called = member.type == "member_expression" and is_field(call, "function", member)
    return is_called and field_text(member, "property") in names


def _gives_parts(call: Node, around: Node) -> bool:
    """Whether a call gives parts of what it is given, or of the object whose method it is."""
    if around.type == "arguments":
        return call.type == "call_expression" and _is_of_parts(call)
    return _is_method(call, around, _SAME_PARTS)


def _parts_given(call: Node) -> list[Node] | None:
    """What a callback of `forEach` or `map` calls the elements and the whole; None of one that is not written there."""
    function = next(iter(arguments_of(call)), None)
    if function is None or function.type not in FUNCTIONS or _takes_arguments(function):
        return None
    return [node for place, node in enumerate(parameters(function)) if place != 1]  # its second is a number


def _rows_given(each: Node) -> list[Node] | None:
    """What a test that `each` makes of every row calls the cells; None of one that is not written there."""
    test = each.parent
    functions = [node for node in arguments_of(test) if node.type in FUNCTIONS] if test is not None else []
    if len(functions) != 1 or _takes_arguments(functions[0]):
        return None
    return parameters(functions[0])


def _looks_by_member(member: Node) -> bool | None:
    """Whether a property that is asked for changes nothing; None where that depends on what is done with it."""
    called = member.parent
    if called is not None and called.type == "call_expression" and is_field(called, "function", member):
        return field_text(member, "property") in _LOOPS | _METHODS
    if called is not None and _sets(called, member):
        return False
    return True if _is_length(member) else None


def _takes_arguments(function: Node) -> bool:
    """Whether a function reads what it is given by `arguments`."""
    return any(text_of(node) == "arguments" for node in walk(function) if node.type == "identifier")


def _is_member(node: Node | None) -> bool:
    return node is not None and node.type == "member_expression"


def _is_length(member: Node | None) -> bool:
    return member is not None and field_text(member, "property") == "length"


def _keys_of(declared: Node) -> Node | None:
    """The name of the object whose keys a loop gives this name: `for (const key in table)`, `Object.keys(table)`."""
    around = declared.parent
    over = field_of(around, "right") if around is not None and around.type == "for_in_statement" else None
    if around is not None and over is not None and field_text(around, "operator") == "in":
        return over if over.type == "identifier" else None
    if over is None:
        function = around.parent if around is not None and around.type == "formal_parameters" else around
        call = function.parent.parent if function is not None and function.parent is not None else None
        called = field_of(call, "function") if call is not None and function in arguments_of(call) else None
        is_loop = called is not None and field_text(called, "property") in _LOOPS
        over = field_of(called, "object") if called is not None and is_loop else None
    given = arguments_of(over) if over is not None else []
    is_keys = over is not None and field_text(over, "function") == "Object.keys"
    return given[0] if is_keys and len(given) == 1 and given[0].type == "identifier" else None


def _is_at(use: Node, key: Node, scopes: Scopes) -> bool:
    """Whether a use of a table only asks for what is at a key."""
    index = field_of(use.parent, "index")
    return index is not None and index.type == "identifier" and scopes.resolve(index) is scopes.resolve(key)


def member_of(use: Node) -> Node:
    """The longest member access that begins with a name, but for a method that is called."""
    return static.member_of(use, ("member_expression", "subscript_expression"), "object")


def _step(node: Node) -> Step | None:
    """What a member access takes, where it is written out."""
    if node.type == "member_expression":
        return field_text(node, "property")
    index = field_of(node, "index")
    if index is not None and index.type == "number" and text_of(index).isdigit():
        return int(text_of(index))
    return text_of(index).strip("\"'") if index is not None and index.type == "string" else None


def _sets(around: Node, node: Node) -> bool:
    """Whether a node is what an assignment sets or `delete` takes away."""
    if around.type in ("assignment_expression", "augmented_assignment_expression"):
        return is_field(around, "left", node)
    return around.type == "update_expression" or field_text(around, "operator") == "delete"

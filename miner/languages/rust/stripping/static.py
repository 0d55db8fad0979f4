"""What of a test file in Rust does not depend on the product: literals, and what is made of them. Pure."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tree_sitter import Node

from harness.core.syntax import (
    arguments_of,
    bare,
    callee_of,
    field_of,
    field_text,
    named,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.rust.stripping.branches import Ways, conditions, macro_named
from miner.languages.rust.stripping.scopes import CAPTURED, TEXTS, Binding, Scopes, functions_around, hands_on, macro_of
from miner.languages.stripping import static
from miner.languages.stripping.static import member_of

if TYPE_CHECKING:
    from miner.languages.rust.stripping.cases import Cases
    from miner.languages.rust.stripping.macros import Macro
    from miner.languages.stripping.static import Step

LITERALS = TEXTS | {"integer_literal", "float_literal", "char_literal", "boolean_literal"}
_PRELUDE = words(
    "String Vec Box Option Result bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64"
)
_TYPES = _PRELUDE | words(
    "Rc Arc Cow HashMap BTreeMap HashSet BTreeSet VecDeque BinaryHeap LinkedList Duration PathBuf Path OsString OsStr"
    " Ipv4Addr Ipv6Addr IpAddr SocketAddr Ordering Wrapping Reverse CString"
    " NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroUsize"
)
"""Types whose functions make the same of the same."""
_STANDARD = re.compile(r"(?:::)?(?:std|core|alloc)(?:::.*)?")
_MODULES = words(
    "cmp iter str char string array slice vec consts f32 f64 u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize"
)
"""Modules whose functions do."""
_MAKING = words(
    "new from from_iter from_fn from_str from_str_radix from_utf8 from_utf8_lossy from_digit from_u32 from_bits"
    " from_be_bytes from_le_bytes from_ne_bytes from_secs from_millis from_micros from_nanos from_secs_f32"
    " from_secs_f64 from_octets from_segments with_capacity with_hasher pin some none max min pow abs sqrt powi powf"
    " repeat Some None Ok Err"
)
"""Functions of these types that are the standard library's: others may come by a trait of the product."""
_FIXED = words(
    "MAX MIN BITS EPSILON INFINITY NEG_INFINITY NAN MIN_POSITIVE DIGITS RADIX MANTISSA_DIGITS ZERO LOCALHOST"
    " UNSPECIFIED BROADCAST REPLACEMENT_CHARACTER"
)
"""Their constants."""
LOOKING = words(
    "to_string to_owned as_bytes as_str as_ref as_slice len repeat to_vec clone unwrap iter into_iter copied cloned"
    " collect into_boxed_str into_boxed_slice"
)
"""Methods of literals and collections that nothing of the product can stand behind."""
_OF_TYPE = words("to_string as_str as_ref")
"""Of these what a type says of itself, or of what is in it."""
_SHOWN = _TYPES | words("Some None Ok Err")
_COUNTING = words("rev step_by")
"""Methods of ranges that are ranges again."""
_UNWRAPPING = words("unwrap expect")
"""Methods behind which a test fails where there is an error."""
_HANDING_ON = words("call_expression await_expression return_expression expression_statement")
"""What has a value that a part of it has."""
_WRAPPING = words("new Some Ok Err")
"""Functions that only put a value into another."""
_HEAD = re.compile(r"(?:&(?:'\w+ )?)?([\w:]+)")
"""Of the text of a type, without what is in it."""
_ADAPTING = words("enumerate rev copied cloned skip take step_by zip")
"""Methods of what is gone over that go over as much, or over as much as is written."""
TYPE = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z]")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")


@dataclass(frozen=True, kw_only=True)
class Column:
    """What a name stands for in a loop, row by row."""

    cells: tuple[Node, ...]
    is_own: bool
    """Nothing reads the rows but this loop."""
    loop: Node


class Statics(static.Statics[Scopes]):
    """Tells what of one file is static."""

    literals = LITERALS
    made_of = words("parenthesized_expression tuple_expression array_expression range_expression unit_expression")
    functions = frozenset({"function_item"})

    def __init__(
        self,
        scopes: Scopes,
        shared: Collection[str] = (),
        cases: Cases | None = None,
        is_test: Callable[[Node], bool] = lambda _node: True,
    ) -> None:
        """`shared` are functions that other hidden files call, `cases` what attributes give parameters.

        `is_test` tells of a part of the file whether it is none of the product.
        """
        super().__init__(scopes, shared)
        self._cases = cases or {}
        self._is_test = is_test
        self._computed: set[int] = set()
        """Functions of which it is being asked what they make of what is static."""
        self.is_of_standard = False
        """Whether what was asked of is static only if it is of a type of the standard library."""
        self._asked: set[int] = set()
        """Functions of which it is being asked whether the product says which of their arguments comes by."""
        self.arguments: Mapping[str, Sequence[Node]] = {}
        """By name: what stands for a macro's parameters while that macro is read."""
        self.names: Mapping[str, Node] = {}
        """By name: what that macro binds it to."""
        self._rule: Macro | None = None
        """That macro."""

    told_by: ClassVar[Mapping[str, str]] = {
        "reference_expression": "value", "generic_function": "function"
    }  # fmt: skip

    def _by_type(self) -> Mapping[str, Callable[[Node, int], bool]]:
        return {
            "identifier": self._is_static_name,
            "scoped_identifier": self._is_static_path,
            "call_expression": self._is_static_call,
            "field_expression": self._is_static_cell,
            "struct_expression": self._is_static_struct,
            "index_expression": lambda node, depth: (
                self._are_static(named(node), depth) and not self._is_own(named(node)[0])
            ),
            **dict.fromkeys(
                ("binary_expression", "unary_expression", "type_cast_expression"), self._is_static_operation
            ),
        }

    def _is_static_operation(self, node: Node, depth: int) -> bool:
        """What an operator makes of a value may be up to its type."""
        parts = [field_of(node, "value")] if node.type == "type_cast_expression" else named(node)
        return not self.shows_own(node) and all(self.is_static(part, depth) for part in parts)

    def is_static_binding(self, binding: Binding, depth: int = 0) -> bool:
        """Whether a name is set once, to something static that nothing can change."""
        return (
            (binding.kind == "local" or (binding.kind == "constant" and not self._scopes.is_of_others(binding.name)))
            and not binding.is_written
            and binding.init is not None
            and self._are_fixed([binding.init], depth)
        )

    def _are_fixed(self, operands: Sequence[Node], depth: int) -> bool:
        """Whether what a name stands for is static, and nobody who gets the name can change it."""
        return self._are_static(operands, depth) and not any(map(_is_mutable, operands))

    def calls_of(self, binding: Binding) -> list[Node] | None:
        """What a parameter of the file's own function is given, call by call; None where that can't be told."""
        function = next(iter(functions_around(binding.statement)), None)
        if binding.kind != "parameter" or function is None:
            return None
        name, parameters = field_text(function, "name"), self._scopes.parameters(function)
        if binding in parameters and (cells := self._cases.get(function.id, {}).get(parameters.index(binding))):
            return list(cells)
        return self._given_to(function, binding) if self._scopes.is_called_alone(name) else None

    def _given_to(self, function: Node, binding: Binding) -> list[Node] | None:
        """What a parameter of a function is given; of functions of one name each has calls of its own."""
        name, parameters = field_text(function, "name"), self._scopes.parameters(function)
        calls = [(call, self._scopes.function_called(call)) for call in self._scopes.calls.get(name, [])]
        if binding not in parameters or self._is_shared(function):
            return None
        own = [call for call, called in calls if called == function]
        is_told = all(called is not None for _, called in calls)
        if not own or not is_told or any(len(arguments_of(call)) != len(parameters) for call in own):
            return None
        return [arguments_of(call)[parameters.index(binding)] for call in own]

    def _is_shared(self, function: Node) -> bool:
        """Whether another file may call a function: one that is private is called in modules of its own file alone."""
        is_open = any(child.type == "visibility_modifier" for child in function.children)
        return field_text(function, "name") in self._shared and (is_open or self._scopes.has_modules)

    def are_mixed(self, node: Node) -> bool:
        """Whether the product says which of several rows or arguments an expression is of each time.

        What comes out is counted and not named by rows, so that what is expected of one would be held against another.
        """
        passed: set[tuple[int, str]] = set()
        rest = [node]
        while rest:
            for name in (part for part in walk(rest.pop()) if part.type == "identifier"):
                binding, member = self._scopes.resolve(name), member_of(name, ("field_expression",), "value")
                if (id(binding), text_of(member)) in passed:
                    continue
                passed.add((id(binding), text_of(member)))
                if self._is_mixed_name(node, member, binding):
                    return True
                init = self.names.get(text_of(name)) if binding is None else binding.init
                rest += [init] if init is not None else []
        return False

    def _is_mixed_name(self, node: Node, member: Node, binding: Binding | None) -> bool:
        if binding is None:
            return self._is_mixed_argument(node, self.arguments.get(text_of(member), ()))
        function = next(iter(functions_around(binding.statement)), None)
        if binding.kind == "parameter" and function is not None and function.id not in {*self._cases, *self._asked}:
            self._asked.add(function.id)
            is_mixed = self._is_mixed_argument(node, self.calls_of(binding) or (), function)
            self._asked.discard(function.id)
            return is_mixed
        column = self.column_of(member) if binding.kind == "each" else None
        is_alike = column is not None and len(set(map(text_of, column.cells))) == 1
        return binding.kind == "each" and not is_alike and self._is_by_choice(node, binding.statement)

    def _is_mixed_argument(self, node: Node, arguments: Sequence[Node], function: Node | None = None) -> bool:
        """Whether the product says which of several arguments of a function, or of a macro, it is at a node."""
        is_unread = function is None and self._rule is not None and not self._rule.is_block
        is_by_choice = is_unread or self._is_by_choice(node, function)
        for of_test in self._where_they_differ(arguments):
            chosen = [forms for call, forms in of_test if is_by_choice or self._is_by_choice(call)]
            if len(set().union(*chosen)) > 1:
                return True
        return any(map(self.are_mixed, arguments))

    def _upward(self, node: Node) -> Iterator[Node]:
        """From what a macro is given, on from the call that gives it."""
        for at in super()._upward(node):
            if self._rule is not None and at.id in self._rule.calls:
                yield from super()._upward(self._rule.calls[at.id])
                return
            yield at

    def _conditions(self, around: Node, at: Node) -> list[Node]:
        calls = self._calls_to(next(iter(functions_around(around)), None))
        is_heeded = all(map(self._is_heeded, calls))
        return conditions(around, at, Ways(is_called=bool(calls), is_heeded=is_heeded, macros=self._scopes.leaving))

    def _is_heeded(self, call: Node, depth: int = 0) -> bool:
        """Whether a test fails where what it calls gives an error: it is unwrapped or handed on."""
        around = call.parent
        if around is None or depth > static.MOST_DEPTH:
            return False
        if around.type == "field_expression":
            return field_text(around, "field") in _UNWRAPPING or self._is_heeded(around, depth + 1)
        if around.type == "block":
            function = around.parent
            is_last = named(around)[-1] == call and function is not None and function.type == "function_item"
            return is_last and all(self._is_heeded(of, depth + 1) for of in self._calls_to(function))
        if around.type == "arguments" and around.parent is not None and hands_on(around.parent):
            return True
        return hands_on(around) or (around.type in _HANDING_ON and self._is_heeded(around, depth + 1))

    def _is_settled(self, condition: Node) -> bool:
        """Whether the product has no part in what says this, or in how often a loop goes round."""
        condition = field_of(condition, "value") or condition if condition.type == "let_condition" else condition
        while (method := callee_of(condition)) is not None and field_text(method, "field") in _ADAPTING:
            if not all(map(self._is_settled, arguments_of(condition))):
                return False
            condition = field_of(method, "value") or condition
        is_told = self.is_static(condition) or macro_named(condition) == "cfg"
        return is_told or bool(self._tables(condition)[0])

    def column_of(self, node: Node) -> Column | None:
        """What a name or a field stands for in a loop over rows that are written out; None of anything else."""
        steps: list[Step] = []
        while node.type == "field_expression":
            name = field_text(node, "field")
            steps.insert(0, int(name) if name.isdigit() else name)
            holder = field_of(node, "value")
            if holder is None:
                return None
            node = bare(holder)
        binding = self._scopes.of_name(node)
        if binding is None or binding.kind != "each" or binding.init is None or binding.is_written:
            return None
        tables, is_own = self._tables(binding.init)
        cells = [cell_of(row, (*binding.steps, *steps)) for table in tables for row in named(table)]
        if not cells or None in cells:
            return None
        return Column(cells=tuple(cell for cell in cells if cell is not None), is_own=is_own, loop=binding.statement)

    def _counted(self, node: Node) -> tuple[tuple[Node, ...], Node | None]:
        """The ends of the range that a name counts through, and its loop; none of another name."""
        binding = self._scopes.of_name(node)
        at = binding.init if binding is not None and binding.kind == "each" and not binding.is_written else None
        if binding is None or at is None or binding.steps or field_of(binding.statement, "pattern") != binding.declared:
            return (), None
        steps: list[Node] = []
        while (function := callee_of(at := bare(at))) is not None and field_text(function, "field") in _COUNTING:
            steps += arguments_of(at)
            at = field_of(function, "value") or at
        return (*named(at), *steps), binding.statement if at.type == "range_expression" else None

    def _tables(self, node: Node) -> tuple[list[Node], bool]:
        """What a loop goes over, row by row in arrays, and whether nothing else does; no arrays if that isn't told."""
        if _is_mutable(node):
            return [], False
        node = _gone_over(node)
        if node.type == "array_expression":
            return ([node], True) if field_of(node, "length") is None else ([], False)
        binding = self._scopes.of_name(node)
        if binding is None or binding.is_written or binding.kind not in ("local", "constant", "parameter"):
            return [], False
        operands = self.calls_of(binding) if binding.kind == "parameter" else [binding.init] if binding.init else []
        inner = [self._tables(table) for table in operands or ()]
        if not all(tables for tables, _ in inner):
            return [], False
        tables = [table for tables, _ in inner for table in tables]
        return tables, len(binding.uses) == 1 and all(is_own for _, is_own in inner)

    def _is_static_name(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None and (operands := self._of_macro(text_of(node))):
            return self._are_fixed(operands, depth)
        if binding is None:
            path = self._scopes.imports.get(text_of(node), "")
            if _CONSTANT.fullmatch(text_of(node)) and _STANDARD.fullmatch(path):
                return True
            return self._is_variant(path.rpartition("::")[0], text_of(node))  # or a structure without fields
        if binding.kind == "each":
            return self._is_static_cell(node, depth)
        return self._unless_open(id(binding), lambda: self._is_static_as(binding, node, depth))

    @contextlib.contextmanager
    def reading(self, rule: Macro) -> Iterator[None]:
        """While a rule of a macro is being read."""
        self.arguments, self.names, self._rule = rule.arguments, rule.names, rule
        yield
        self.arguments, self.names, self._rule = {}, {}, None

    def _of_macro(self, name: str) -> list[Node]:
        """What a name stands for in the macro that is being read; nothing of another name."""
        return [self.names[name]] if name in self.names else list(self.arguments.get(name, ()))

    def _is_static_as(self, binding: Binding, node: Node, depth: int) -> bool:
        if binding.kind == "parameter":
            around = functions_around(binding.statement)
            if around and around[0].id in self._computed:
                return True
            operands = self.calls_of(binding)
            return bool(operands) and self._are_fixed(operands or (), depth)
        return self.is_static_binding(binding, depth)

    def _is_static_cell(self, node: Node, depth: int) -> bool:
        column = self.column_of(node)
        cells, loop = (column.cells, column.loop) if column is not None else self._counted(node)
        return loop is not None and self._unless_open(loop.id, lambda: self._are_fixed(cells, depth))

    def _is_static_path(self, node: Node, _depth: int) -> bool:
        path, name = field_text(node, "path"), field_text(node, "name")
        if self._is_variant(path, name):
            return True
        is_own = self._is_type(path) and (name not in _FIXED or (name == "ZERO" and not path.endswith("Duration")))
        return _CONSTANT.fullmatch(name) is not None and self._is_known(path) and not is_own

    def _is_variant(self, path: str, name: str) -> bool:
        """Whether a name is one of a variant; one letter may be a constant or a parameter."""
        is_of_type = name in self._scopes.types or TYPE.fullmatch(path.rpartition("::")[2]) is not None
        return TYPE.fullmatch(name) is not None and (len(name) > 1 or is_of_type)

    def _is_type(self, path: str) -> bool:
        """Whether a path is one of a type, or may be."""
        last = re.sub(r"(?:::)?<.*", "", path).rpartition("::")[2]
        return last in _TYPES and (last not in _MODULES or not _STANDARD.match(path))

    def _is_known(self, path: str) -> bool:
        """Whether a type or module is of the standard library."""
        path = re.sub(r"(?:::)?<.*", "", path)
        first, last = path.lstrip(":").partition("::")[0], path.rpartition("::")[2]
        whole = self._scopes.imports.get(first, first if "::" in path else "")
        if last in self._scopes.types:
            return False
        if _STANDARD.fullmatch(whole):
            return last in _TYPES or last in _MODULES
        return path in _PRELUDE and path not in self._scopes.imports

    def _is_static_call(self, node: Node, depth: int) -> bool:
        function, arguments = field_of(node, "function"), arguments_of(node)
        if function is None or not all(self.is_static(argument, depth) for argument in arguments):
            return False
        if macro_of(node):
            has_names = any(CAPTURED.search(text_of(part)) for part in arguments)
            return macro_of(node) in ("format", "concat") and not has_names and not any(map(self.shows_own, arguments))
        if function.type == "generic_function":
            function = field_of(function, "function") or function
        if function.type == "field_expression":
            value = field_of(function, "value")
            method = field_text(function, "field")
            if value is None or method not in {*LOOKING, "into"} or not self.is_static(value, depth):
                return False
            if method == "into":  # of such types into such a type, no trait of the product makes it
                self.is_of_standard = True
                return not self.shows_own(value)
            is_collected = method != "collect" or self._is_standard(_type_of(node))
            return is_collected and not (self.shows_own(value) if method in _OF_TYPE else self._is_own(value))
        name = text_of(function).rpartition("::")[2]
        if function.type in ("identifier", "scoped_identifier") and TYPE.fullmatch(name):
            return True  # a variant or a structure of its parts
        if function.type == "identifier":
            own = self._scopes.function_called(node)
            is_seen = own is not None and any(at == own.parent for at in upward(node))
            return own is not None and is_seen and self._is_computed(own, arguments, depth)
        path = field_text(function, "path")
        is_made = name in _WRAPPING or not any(map(self._is_own, arguments))
        if function.type != "scoped_identifier" or not is_made or not self._is_known(path):
            return False
        return name in _MAKING if self._is_type(path) else True

    def _is_computed(self, function: Node, arguments: Sequence[Node], depth: int) -> bool:
        """Whether a function of the tests makes the same of the same, which must be of a standard type then."""
        body = named(field_of(function, "body"))
        if not self._is_test(function) or any(map(_is_mutable, arguments)) or any(map(self.shows_own, arguments)):
            return False
        if not body or any(part.type != "let_declaration" for part in body[:-1]):
            return False

        def tells() -> bool:
            self._computed.add(function.id)
            parts = [field_of(part, "value") for part in body[:-1]]
            is_static = all(self.is_static(part, depth) for part in (*parts, body[-1]))
            self._computed.discard(function.id)
            return is_static

        self.is_of_standard = True
        return self._unless_open(function.id, tells)

    def _is_standard(self, kind: Node | None) -> bool:
        """Whether a type is of the standard library, whatever is in it."""
        head = _HEAD.match(text_of(kind))
        return head is not None and self._is_known(head[1])

    def _is_own(self, node: Node, depth: int = 0) -> bool:
        """Whether a value is of a type that is not of the standard library, which may say what its methods give."""
        values = [part for value in self.stands_for(node) for part in (bare(value),)]
        return depth > static.MOST_DEPTH or any(self._is_of_own(value, depth + 1) for value in values)

    def _is_of_own(self, node: Node, depth: int) -> bool:
        if node.type in ("array_expression", "tuple_expression", "range_expression"):
            return False
        function = callee_of(node)
        is_method = function is not None and function.type == "field_expression"
        if field_text(function, "field") == "into":
            return True  # or may be
        inner = field_of(function if is_method else node, "value")
        if inner is not None and (is_method or node.type == "reference_expression"):
            return self.shows_own(inner) if field_text(function, "field") == "unwrap" else self._is_own(inner, depth)
        if function is not None and not macro_of(node):
            name = text_of(function).rpartition("::")[2]
            return TYPE.fullmatch(name) is not None and name not in _SHOWN
        return self.shows_own(node)

    def shows_own(self, node: Node, depth: int = 0) -> bool:
        """Whether there is something in a value of a type that is not of the standard library."""
        if depth > static.MOST_DEPTH:
            return True
        values = self.stands_for(node)
        if values != [node]:
            return any(self.shows_own(value, depth + 1) for value in values)
        function = callee_of(node)
        if function is not None and field_text(function, "field") == "into":
            return True
        if node.type in ("identifier", "type_identifier"):
            return TYPE.fullmatch(text_of(node)) is not None and text_of(node) not in _SHOWN
        return any(self.shows_own(child, depth + 1) for child in node.children)

    def stands_for(self, node: Node) -> list[Node]:
        """What a name or a column of a loop's rows is set to; an expression of another kind itself."""
        binding = self._scopes.of_name(node)
        if binding is None and node.type == "identifier" and (operands := self._of_macro(text_of(node))):
            return operands
        column = self.column_of(node) if node.type in ("identifier", "field_expression") else None
        if column is not None:
            return list(column.cells)
        if binding is None:
            return [node]
        return (self.calls_of(binding) or []) if binding.kind == "parameter" else [binding.init] if binding.init else []

    def _is_static_struct(self, node: Node, depth: int) -> bool:
        fields = named(field_of(node, "body"))
        values = [field_of(part, "value") or part for part in fields]
        if any(part.type == "base_field_initializer" for part in fields):
            return False
        values = [named(value)[0] if value.type == "shorthand_field_initializer" else value for value in values]
        return all(self.is_static(value, depth) for value in values)


def _is_mutable(node: Node) -> bool:
    """Whether a part of an expression is lent to be changed."""
    return any(part.type == "mutable_specifier" for part in walk(node))


def _type_of(call: Node) -> Node | None:
    """The type that a call is written to give: its own argument, or that of the name that it alone is bound to."""
    function, around = field_of(call, "function"), call.parent
    if function is not None and function.type == "generic_function":
        return next(iter(named(field_of(function, "type_arguments"))), None)
    return field_of(around, "type") if around is not None and around.type == "let_declaration" else None


def _gone_over(node: Node) -> Node:
    """What a loop goes over, without references and `iter()`."""
    while True:
        node = bare(node)
        inner = field_of(node, "value") if node.type == "reference_expression" else None
        function = callee_of(node)
        if function is not None and field_text(function, "field") in ("iter", "into_iter"):
            inner = field_of(function, "value")
        if inner is None:
            return node
        node = inner


def cell_of(row: Node, steps: tuple[Step, ...]) -> Node | None:
    """The part of a row that is written out; None where it is not."""
    for step in steps:
        row = _gone_over(row)
        if isinstance(step, int) and row.type in ("tuple_expression", "array_expression"):
            parts = named(row)
            if step >= len(parts):
                return None
            row = parts[step]
        elif isinstance(step, str) and row.type == "struct_expression":
            fields = named(field_of(row, "body"))
            values = [field_of(part, "value") for part in fields if field_text(part, "field") == step]
            if len(values) != 1 or values[0] is None:
                return None
            row = values[0]
        elif isinstance(step, int) and row.type == "call_expression":  # a structure without names of its parts
            parts = arguments_of(row)
            if step >= len(parts) or not field_text(row, "function").rpartition("::")[2][:1].isupper():
                return None
            row = parts[step]
        else:
            return None
    return row


def literals_in(node: Node) -> list[Node]:
    """All literals in an expression, but for lengths of arrays and what is divided by."""
    return [part for part in walk(node) if part.type in LITERALS and not _is_size(part)]


def _is_size(node: Node) -> bool:
    around = node.parent
    if around is None:
        return False
    if around.type == "binary_expression":
        return field_text(around, "operator") in ("/", "%", "<<", ">>", "-")
    if around.type == "index_expression":
        return True
    length = field_of(around, "length") if around.type == "array_expression" else None
    return length is not None and length.id == node.id

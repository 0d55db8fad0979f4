"""What of a test file in Rust does not depend on the product: literals, and what is made of them. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.languages.rust.stripping.scopes import arguments_of, bare, functions_around, macro_of, named
from miner.languages.syntax import text_of, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tree_sitter import Node

    from miner.languages.rust.stripping.cases import Cases
    from miner.languages.rust.stripping.scopes import Binding, Scopes

TEXTS = frozenset({"string_literal", "raw_string_literal"})
LITERALS = TEXTS | {"integer_literal", "float_literal", "char_literal", "boolean_literal"}
_MADE_OF = frozenset(
    {
        *("parenthesized_expression", "unary_expression", "binary_expression", "tuple_expression", "array_expression"),
        *("reference_expression", "range_expression", "unit_expression", "index_expression"),
    }
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRELUDE = _words(
    "String Vec Box Option Result bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64"
)
_TYPES = _PRELUDE | _words(
    "Rc Arc Cow HashMap BTreeMap HashSet BTreeSet VecDeque BinaryHeap LinkedList Duration PathBuf Path OsString OsStr"
    " Ipv4Addr Ipv6Addr IpAddr SocketAddr Ordering Wrapping Reverse Cell RefCell CString"
    " NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroUsize"
)
"""Types whose functions make the same of the same."""
_STANDARD = re.compile(r"(?:::)?(?:std|core|alloc)(?:::.*)?")
LOOKING = _words(
    "to_string to_owned as_bytes as_str as_ref as_slice len repeat to_vec clone unwrap iter into_iter copied cloned"
    " collect into_boxed_str into_boxed_slice"
)
"""Methods of literals and collections that nothing of the product can stand behind."""
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z]")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
_CAPTURED = re.compile(r"(?<!\{)(?:\{\{)*\{[a-z_]\w*[:}]")
_MOST_DEPTH = 60
Step = int | str


@dataclass(frozen=True, kw_only=True)
class Column:
    """What a name stands for in a loop, row by row."""

    cells: tuple[Node, ...]
    is_own: bool
    """Nothing reads the rows but this loop."""


class Statics:
    """Tells what of one file is static."""

    def __init__(self, scopes: Scopes, shared: Collection[str] = (), cases: Cases | None = None) -> None:
        """`shared` are functions that other hidden files call, `cases` what attributes give parameters."""
        self._scopes, self._shared, self._cases = scopes, shared, cases or {}
        self._open: set[int] = set()
        self.arguments: Mapping[str, Sequence[Node]] = {}
        """By name: what stands for a macro's parameters while that macro is read."""

    def is_static(self, node: Node, depth: int = 0) -> bool:
        """Whether an expression depends on nothing of the product."""
        node, within = bare(node), depth + 1
        if depth > _MOST_DEPTH:
            return False
        if node.type in LITERALS:
            return True
        if node.type in _MADE_OF:
            if node.type in ("binary_expression", "unary_expression") and any(map(_is_of_type, walk(node))):
                return False  # what an operator makes of it may be up to its type
            return all(self.is_static(child, within) for child in named(node) if child.type != "mutable_specifier")
        reads = {
            "identifier": self._is_static_name,
            "scoped_identifier": self._is_static_path,
            "call_expression": self._is_static_call,
            "field_expression": self._is_static_cell,
            "type_cast_expression": self._is_static_cast,
            "struct_expression": self._is_static_struct,
            "generic_function": self._is_static_generic,
        }.get(node.type)
        return reads is not None and reads(node, within)

    def is_static_binding(self, binding: Binding, depth: int = 0) -> bool:
        """Whether a name is set once, to something static that nothing can change."""
        if binding.kind not in ("local", "constant") or binding.init is None or binding.is_mutable:
            return False
        return self.is_static(binding.init, depth)

    def calls_of(self, binding: Binding) -> list[Node] | None:
        """What a parameter of the file's own function is given, call by call; None where that can't be told."""
        function = next(iter(functions_around(binding.statement)), None)
        if binding.kind != "parameter" or function is None:
            return None
        name, parameters = text_of(function.child_by_field_name("name")), self._scopes.parameters(function)
        if binding in parameters and (cells := self._cases.get(function.id, {}).get(parameters.index(binding))):
            return list(cells)
        if binding not in parameters or name in self._shared or len(self._scopes.functions[name]) != 1:
            return None
        calls = self._scopes.calls.get(name, [])
        if not calls or any(len(arguments_of(call)) != len(parameters) for call in calls):
            return None
        return [arguments_of(call)[parameters.index(binding)] for call in calls]

    def column_of(self, node: Node) -> Column | None:
        """What a name or a field stands for in a loop over rows that are written out; None of anything else."""
        steps: list[Step] = []
        while node.type == "field_expression":
            name = text_of(node.child_by_field_name("field"))
            steps.insert(0, int(name) if name.isdigit() else name)
            holder = node.child_by_field_name("value")
            if holder is None:
                return None
            node = bare(holder)
        binding = self._scopes.resolve(node) if node.type == "identifier" else None
        if binding is None or binding.kind != "each" or binding.init is None or binding.is_mutable:
            return None
        tables, is_own = self._tables(binding.init)
        cells = [_cell(row, (*binding.steps, *steps)) for table in tables for row in named(table)]
        if not cells or None in cells:
            return None
        return Column(cells=tuple(cell for cell in cells if cell is not None), is_own=is_own)

    def _tables(self, node: Node) -> tuple[list[Node], bool]:
        """What a loop goes over, row by row in arrays, and whether nothing else does; no arrays if that isn't told."""
        node = _gone_over(node)
        if node.type == "array_expression":
            return ([node], True) if node.child_by_field_name("length") is None else ([], False)
        binding = self._scopes.resolve(node) if node.type == "identifier" else None
        if binding is None or binding.is_mutable or binding.kind not in ("local", "constant", "parameter"):
            return [], False
        operands = self.calls_of(binding) if binding.kind == "parameter" else [binding.init] if binding.init else []
        inner = [self._tables(table) for table in operands or ()]
        if not all(tables for tables, _ in inner):
            return [], False
        tables = [table for tables, _ in inner for table in tables]
        return tables, len(binding.uses) == 1 and all(is_own for _, is_own in inner)

    def _is_static_name(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None and text_of(node) in self.arguments:
            return all(self.is_static(argument, depth) for argument in self.arguments[text_of(node)])
        if binding is None:
            return _TYPE.fullmatch(text_of(node)) is not None  # a variant, or a structure without fields
        if id(binding) in self._open:
            return False
        self._open.add(id(binding))
        try:
            if binding.kind == "parameter":
                operands = self.calls_of(binding)
                return bool(operands) and all(self.is_static(operand, depth) for operand in operands or ())
            if binding.kind == "each":
                return self._is_static_cell(node, depth)
            return self.is_static_binding(binding, depth)
        finally:
            self._open.discard(id(binding))

    def _is_static_cell(self, node: Node, depth: int) -> bool:
        column = self.column_of(node)
        return column is not None and all(self.is_static(cell, depth) for cell in column.cells)

    def _is_static_path(self, node: Node, _depth: int) -> bool:
        path, name = text_of(node.child_by_field_name("path")), text_of(node.child_by_field_name("name"))
        if _TYPE.fullmatch(name) is not None:
            return True
        return _CONSTANT.fullmatch(name) is not None and self._is_known(path)

    def _is_known(self, path: str) -> bool:
        """Whether a type or module is of the standard library."""
        path = re.sub(r"(?:::)?<.*", "", path)
        first, last = path.lstrip(":").partition("::")[0], path.rpartition("::")[2]
        whole = self._scopes.imports.get(first, first if "::" in path else "")
        if last in self._scopes.types:
            return False
        if _STANDARD.fullmatch(whole):
            return last in _TYPES or last.islower()
        return path in _PRELUDE and path not in self._scopes.imports

    def _is_static_call(self, node: Node, depth: int) -> bool:
        function, arguments = node.child_by_field_name("function"), arguments_of(node)
        if function is None or not all(self.is_static(argument, depth) for argument in arguments):
            return False
        if macro_of(node):
            has_names = any(_CAPTURED.search(text_of(part)) for part in arguments)
            return macro_of(node) in ("format", "concat") and not has_names
        if function.type == "generic_function":
            function = function.child_by_field_name("function") or function
        if function.type == "field_expression":
            value = function.child_by_field_name("value")
            is_looking = text_of(function.child_by_field_name("field")) in LOOKING
            return is_looking and value is not None and self.is_static(value, depth)
        name = text_of(function).rpartition("::")[2]
        if function.type in ("identifier", "scoped_identifier") and _TYPE.fullmatch(name):
            return True  # a variant or a structure of its parts
        path = text_of(function.child_by_field_name("path"))
        return function.type == "scoped_identifier" and self._is_known(path) and name not in ("now", "default")

    def _is_static_generic(self, node: Node, depth: int) -> bool:
        """A variant with its types, such as `None::<u8>`."""
        function = node.child_by_field_name("function")
        return function is not None and self.is_static(function, depth)

    def _is_static_cast(self, node: Node, depth: int) -> bool:
        value = node.child_by_field_name("value")
        return value is not None and self.is_static(value, depth)

    def _is_static_struct(self, node: Node, depth: int) -> bool:
        fields = named(node.child_by_field_name("body"))
        values = [part.child_by_field_name("value") or part for part in fields]
        if any(part.type == "base_field_initializer" for part in fields):
            return False
        values = [named(value)[0] if value.type == "shorthand_field_initializer" else value for value in values]
        return all(self.is_static(value, depth) for value in values)


def _is_of_type(node: Node) -> bool:
    return node.type in ("identifier", "type_identifier") and _TYPE.fullmatch(text_of(node)) is not None


def _gone_over(node: Node) -> Node:
    """What a loop goes over, without references and `iter()`."""
    while True:
        node = bare(node)
        inner = node.child_by_field_name("value") if node.type == "reference_expression" else None
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is not None and text_of(function.child_by_field_name("field")) in ("iter", "into_iter"):
            inner = function.child_by_field_name("value")
        if inner is None:
            return node
        node = inner


def _cell(row: Node, steps: tuple[Step, ...]) -> Node | None:
    for step in steps:
        row = _gone_over(row)
        if isinstance(step, int) and row.type in ("tuple_expression", "array_expression"):
            parts = named(row)
            if step >= len(parts):
                return None
            row = parts[step]
        elif isinstance(step, str) and row.type == "struct_expression":
            fields = named(row.child_by_field_name("body"))
            values = [
                part.child_by_field_name("value")
                for part in fields
                if text_of(part.child_by_field_name("field")) == step
            ]
            if len(values) != 1 or values[0] is None:
                return None
            row = values[0]
        elif isinstance(step, int) and row.type == "call_expression":  # a structure without names of its parts
            parts = arguments_of(row)
            if step >= len(parts) or not text_of(row.child_by_field_name("function")).rpartition("::")[2][:1].isupper():
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
        return text_of(around.child_by_field_name("operator")) in ("/", "%", "<<", ">>", "-")
    if around.type == "index_expression":
        return True
    length = around.child_by_field_name("length") if around.type == "array_expression" else None
    return length is not None and length.id == node.id

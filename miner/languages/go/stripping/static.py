"""What of a test file in Go does not depend on the product: literals, and names and columns of tables of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, Literal

from tree_sitter import Node

from harness.core.syntax import (
    arguments_of,
    bare,
    callee_of,
    covers,
    enclosing,
    field_of,
    field_text,
    is_field,
    is_in,
    named,
    place_of,
    text_of,
    upward,
    walk,
    words,
)
from miner.languages.go.stripping import libraries
from miner.languages.go.stripping.scopes import (
    FUNCTIONS,
    NEW_OF_VALUE,
    OWN,
    Binding,
    Scopes,
    function_around,
    listed,
    statements_of,
)
from miner.languages.stripping import static

if TYPE_CHECKING:
    from miner.languages.stripping.static import Step

TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal"})
_NUMBERS = frozenset({"int_literal", "float_literal", "imaginary_literal", "rune_literal"})
_LITERALS = TEXTS | _NUMBERS | {"nil", "true", "false"}
_GIVEN = words("argument_list variadic_argument")
_KEYED = words("slice_type array_type implicit_length_array_type map_type")
_TYPES = words(
    "bool string byte rune int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64"
    " complex64 complex128"
)
_SORTED = words("string byte rune int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64")
"""Types of keys by whose order a map is gone over (GoldseamRows of harness/languages/go/inside/handout.go)."""
_BUILTINS = _TYPES | words("len cap append make new complex real imag") | {NEW_OF_VALUE}
"""Without `min` and `max`, which a package often has of its own."""
_STANDARD = words(
    "archive bufio builtin bytes cmp compress container context crypto database debug embed encoding errors expvar flag"
    " fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime slices"
    " sort strconv strings structs sync syscall testing text time unicode unique unsafe weak"
)
"""How paths of Go's own packages begin: another module may have a name without a dot as well."""
_PURE = words(
    "strings strconv math math/big errors bytes unicode unicode/utf8 path encoding/hex path/filepath math/bits"
    " encoding/base64 regexp net/netip html net/url sort slices"
)
"""Packages whose functions give the same for the same, but for what ends in a surrounding."""
_PURE_OF = {
    "fmt": words("Sprint Sprintf Sprintln Errorf"),
    "time": words("Date Duration Unix UnixMilli UnixMicro FixedZone Month"),
    "net": words("ParseIP IPv4 ParseMAC CIDRMask IPv4Mask"),
    "net/http": words("StatusText"),
    "reflect": words("TypeOf ValueOf"),
}
_SHOWING = words("fmt reflect")
"""Packages that ask values for their methods and types."""
_LOOKING_AROUND = words("Abs EvalSymlinks Glob Walk WalkDir")
"""Functions of paths that read what is there."""
_BLOCK = words("block expression_case default_case type_case communication_case for_clause")
_AGAIN = ("for_statement", "func_literal")
"""What may run more than once."""
_LEAVING = words("continue_statement break_statement goto_statement return_statement")
"""What leaves a turn."""
_CHOOSING = words("if_statement expression_switch_statement type_switch_statement select_statement")
_FIXED = words("errors.New fmt.Errorf fmt.Sprint fmt.Sprintf")
"""What makes a value that nobody can change."""
_READING = words("Equal String Error Cmp Compare Len Less Before After IsZero Unix Format Is As Unwrap")
"""Methods that change nothing, by what they are called."""
_FILLING = re.compile(
    r"Read(?!File|Dir)|Unmarshal|F?S?[Ss]can|Decode|Encode(?!ToString)|Append|Copy|Shuffle|Put|NewBuffer$|Delete"
    r"|As$|ValueOf|Swapper"
)
"""How functions of Go's own packages begin that may set what they are given."""
_HOLDING = re.compile(
    r"append|context\.With\w+|bytes\.(?:Trim|Split|Fields|Cut)\w*|maps\.(?!Equal|Keys)\w+|net/http\.Header|net/url\.Values"
    r"|net/textproto\.MIMEHeader|encoding/json\.RawMessage|net\.(?:IP|IPMask|HardwareAddr)|reflect\.Append\w*"
)
"""Functions whose result may hold what they are given, or be it by another type."""
_SETTING = words("sort slices sync/atomic container/heap")
"""Packages whose functions may set what they are given."""
_UNCHANGED = words("time regexp net/netip errors")
"""Packages whose values nothing changes."""
_CHANGING = re.compile(
    r"Set|Add|Sub|Mul|Quo|Rem|Div|Mod|Exp|Neg|Abs|And|Or|Xor|Not|Lsh|Rsh|Sqrt|GCD|Binomial|Rand|Swap|Append|Fill"
    r"|Del|Write|Read|Unread|Seek|Reset|Next|Truncate|Grow|Scan|Unmarshal|Push|Insert|Move|Remove|Init|Store|Load\w+|Clear"
    r"|Parse"
)
"""How methods of the other values begin that may change what they are of."""
_LOOKING = re.compile(r"(?!\./).*/go-cmp/cmp|gotest\.tools(?:/v\d+)?/assert/cmp")
"""Packages beside libraries of assertions whose functions only look at what they are given."""


Settled = Callable[[str, str], bool]
"""Whether the product has a constant that the fix leaves alone, by the path of its package, or none, and its name."""


def unsettled(_path: str, _name: str) -> bool:
    """Of no constant it is known that the fix leaves it alone."""
    return False


@dataclass(frozen=True)
class MapLoop:
    """A loop over a map that is written out, whose keys have an order."""

    over: Node
    names: tuple[str, str]
    """Of the key and of what is under it; `_` for what the loop does not name."""
    key_type: str


@dataclass(frozen=True)
class Column:
    """What stands at one place of each row of a table."""

    table: Node
    """The composite literal that holds the rows."""
    rows: tuple[Node, ...]
    kind: Node | None
    """The type of what stands there, where the file says it."""
    steps: tuple[Step, ...] = ()
    values: tuple[Node, ...] | None = None
    """What stands there, row by row, without what is missing; None where a row does not tell."""

    @property
    def key(self) -> tuple[int, tuple[Step, ...]]:
        return self.table.id, self.steps


class Statics(static.Statics[Scopes]):
    """Tells what of one file is static."""

    literals = _LITERALS
    made_of = frozenset({"binary_expression", "slice_expression", "literal_value", "literal_element"})
    told_by: ClassVar[Mapping[str, str]] = {"composite_literal": "body"}

    def __init__(
        self,
        scopes: Scopes,
        shared: Collection[str] = (),
        settled: Settled = unsettled,
        iterating: Collection[str] = (),
    ) -> None:
        """`iterating` are functions, fields and types of the product that may say what a loop over them counts by."""
        super().__init__(scopes, shared)
        self._settled, self._iterating = settled, iterating
        self._counting = False

    def _by_type(self) -> Mapping[str, Callable[[Node, int], bool]]:
        return {
            "identifier": self._is_static_name,
            "unary_expression": self._is_static_unary,
            "keyed_element": self._is_static_pair,
            "selector_expression": self._is_static_member,
            "index_expression": self._is_static_item,
            "call_expression": self._is_static_call,
            "type_conversion_expression": self._is_static_conversion,
        }

    def _is_static_unary(self, node: Node, depth: int) -> bool:
        return field_text(node, "operator") != "<-" and self.is_static(field_of(node, "operand"), depth)

    def _is_static_item(self, node: Node, depth: int) -> bool:
        column = self.column_of(node)
        if column is not None:
            return self._is_static_column(column, node, depth)
        index = field_of(node, "index")
        operand = field_of(node, "operand")
        is_counted = self._counting and self._counts(index) and not self._is_map(operand)
        return (is_counted or self.is_static(index, depth)) and self.is_static(operand, depth)

    def is_static_as_counted(self, node: Node) -> bool:
        """The same, or an item of something static by what a loop counts by, whatever that goes over."""
        self._counting = True
        try:
            return self.is_static(node)
        finally:
            self._counting = False

    def _counts(self, index: Node | None) -> bool:
        """Whether a loop counts by a name: in every run the same is asked for in the same order."""
        binding = self._scopes.of_name(index)
        if binding is None:
            return False
        if binding.is_key:  # what a call alone gives may be a channel
            is_alone = len(listed(field_of(binding.statement, "left"))) == 1
            over = self._scopes.of_name(binding.init)
            value = over.init if over is not None and over.kind == "var" else binding.init
            called = callee_of(value)
            if text_of(called if called is not None else value).rpartition(".")[2] in self._iterating:
                return False
            return called is None or called != callee_of(binding.init) or not is_alone or text_of(called) == "len"
        clause = binding.statement.parent
        if clause is None or clause.type != "for_clause" or not self.is_static(binding.init):
            return False
        step = field_of(clause, "update")
        steps = (use for use in (*binding.uses, *map(_target_of, binding.sets)) if _is_set(use))
        return all(
            is_in(use, [place_of(step)] if step is not None else [])
            and self._are_static(listed(field_of(step, "right")), 0)
            for use in steps
        )

    def _is_static_pair(self, pair: Node, depth: int) -> bool:
        key, value = field_of(pair, "key"), field_of(pair, "value")
        if key is None or value is None or not self.is_static(value, depth):
            return False
        inner = named(key)
        if len(inner) == 1 and inner[0].type in ("identifier", "field_identifier") and not self._has_keys(pair.parent):
            return self._scopes.resolve(inner[0]) is None or self.is_static(inner[0], depth)
        return self.is_static(key, depth)

    def _has_keys(self, body: Node | None) -> bool:
        """Whether what a literal is of has keys or indices and no fields, as far as it is known."""
        kind = self._kind_of_literal(body)
        if kind is not None and kind.type in ("type_identifier", "qualified_type", "generic_type"):
            return text_of(kind).partition("[")[0].rpartition(".")[2] in self._iterating
        return kind is not None and kind.type in _KEYED

    def _kind_of_literal(self, body: Node | None) -> Node | None:
        """The type that a literal is of, which may be left out in another; None where it is not known."""
        around = body.parent if body is not None else None
        if around is None or around.type == "composite_literal":
            return self._resolved(field_of(around, "type"))
        pair = around.parent if around.parent is not None and around.parent.type == "keyed_element" else None
        kind = self._kind_of_literal((pair if pair is not None else around).parent)
        if kind is None or kind.type not in _KEYED:
            name = field_text(pair, "key")
            return self._resolved(dict(fields(kind)).get(name))
        is_key = pair is not None and is_field(pair, "key", around)
        return self._resolved(field_of(kind, "key" if is_key else "value") or field_of(kind, "element"))

    def _is_static_name(self, node: Node, depth: int) -> bool:
        binding = self._scopes.resolve(node)
        if binding is None:
            return self._settled("", text_of(node))
        if id(binding) in self._assumed:
            return True
        if id(binding) in self._open or not self._is_set_statically(binding, depth):
            return False
        return self._unless_open(id(binding), lambda: self._is_static_as(binding, node, depth))

    def _is_static_as(self, binding: Binding, node: Node, depth: int) -> bool:
        if (column := self.column_of(node)) is not None:
            return self._is_static_column(column, node, depth)
        if binding.kind == "range":
            return binding.is_key and self._table(binding.init) is not None
        if binding.kind == "param":
            return self._is_static_parameter(binding, depth)
        return self.is_static_binding(binding, depth)

    def is_static_binding(self, binding: Binding, depth: int = 0) -> bool:
        """Whether a name is set once, to something static that nothing can change."""
        init = binding.init
        if binding.kind not in ("var", "const") or text_of(init) == "iota" or self._is_of_others(binding):
            return False
        is_unset = init is None and bool(binding.sets) and field_of(binding.statement, "type") is not None
        if not self._is_set_statically(binding, depth) or not (is_unset or self.is_static(init, depth)):
            return False
        is_fixed = binding.kind == "const" or (init is not None and self._is_fixed(init))
        return is_fixed or all(map(self._only_looks, binding.uses))

    def _is_of_others(self, binding: Binding) -> bool:
        """Whether other files may set a name of this one, or what it holds."""
        return binding.kind == "var" and binding.name in self._shared and not binding.is_local

    def _is_fixed(self, node: Node) -> bool:
        """Whether what an expression gives has no parts that whoever gets it could set."""
        node = bare(node)
        if node.type == "unary_expression":
            return field_text(node, "operator") != "&"
        if node.type == "identifier" and self._scopes.resolve(node) is None:
            return self._settled("", text_of(node))
        if node.type == "selector_expression":
            column = self.column_of(node)
            cells = column.values if column is not None else ()
            return bool(self.package_of(field_of(node, "operand")) or (cells and all(map(self._is_fixed, cells))))
        return node.type in _LITERALS or node.type == "binary_expression" or text_of(callee_of(node)) in _FIXED

    def _is_set_statically(self, binding: Binding, depth: int) -> bool:
        """Whether a name is written only where it is set to something static, and is so wherever it is read after."""
        if not binding.is_written:
            return True
        if binding.is_changed or binding.kind not in ("var", "param"):
            return False
        with self._assuming(id(binding)):
            return all(
                all(
                    is_in(use, [place_of(self._reach(node, binding, depth))])
                    and (use.start_byte > node.end_byte or self._is_come_to(node, binding))
                    for use in binding.uses
                    if use.start_byte > node.end_byte or _may_follow(use, node, binding)
                )
                and self.is_static(listed(field_of(node, "right"))[0], depth)
                for node in binding.sets
            )

    def _reach(self, node: Node, binding: Binding, depth: int) -> Node:
        """The block in which nothing but what is static says whether a name is set there."""
        block = enclosing(node, _BLOCK) or node
        if _again(node, binding):
            return block
        at = block.parent
        while at is not None and at.type == "if_statement" and self.is_static(field_of(at, "condition"), depth):
            at = at.parent
            if at is not None and at.type != "if_statement":
                block = enclosing(at, _BLOCK) or block
                at = block.parent
        return block

    def _is_come_to(self, node: Node, binding: Binding) -> bool:
        """Whether each turn of the loops and functions around an assignment comes to it that begins."""
        leaves = (
            at
            for around in _again(node, binding)
            for at in walk(field_of(around, "body"))
            if at.type in _LEAVING and at.end_byte < node.start_byte
        )
        return not any(map(self._is_chosen_by_product, leaves))

    def _is_chosen_by_product(self, node: Node) -> bool:
        """Whether something that is not static says if a statement of a turn is come to."""
        around = (at for at in takewhile(lambda at: at.type not in _AGAIN, upward(node)) if at.type in _CHOOSING)
        conditions = (field_of(at, "condition") if at.type == "if_statement" else None for at in around)
        return any(not self.is_static(condition) for condition in conditions)

    def calls_of(self, binding: Binding) -> list[Node] | None:
        """What a parameter of the file's own function is given, call by call; None where that can't be told."""
        inner = binding.statement.parent
        function = inner.parent if inner is not None else None
        if function is None or function.type != "function_declaration":
            return None
        if binding.statement.type != "parameter_declaration":
            return None
        name_node = field_of(function, "name")
        own = self._scopes.resolve(name_node) if name_node is not None else None
        place = next((i for i, argument in enumerate(self._scopes.parameters(function)) if argument is binding), None)
        if own is None or place is None or not own.uses or own.name in self._shared:
            return None
        nodes: list[Node] = []
        for use in own.uses:
            call = use.parent
            if call is None or call.type != "call_expression" or not is_field(call, "function", use):
                return None
            arguments = arguments_of(call)
            if len(arguments) <= place or any(argument.type == "variadic_argument" for argument in arguments):
                return None
            nodes.append(arguments[place])
        return nodes

    def _is_static_parameter(self, binding: Binding, depth: int) -> bool:
        arguments = self.calls_of(binding)
        if arguments is None or not self._are_static(arguments, depth):
            return False
        return all(map(self._is_fixed, arguments)) or all(map(self._only_looks, binding.uses))

    def _only_looks(self, use: Node) -> bool:
        """Whether a use of a name can't change what it stands for."""
        at = use
        while at.parent is not None:
            around = at.parent
            if around.type in _GIVEN:
                given = self._given_to(around, at)
                if isinstance(given, bool):
                    return given
                around = given
            elif around.type == "unary_expression":
                if field_text(around, "operator") == "&":
                    return False
            elif around.type == "range_clause":
                items = map(self._scopes.of_name, listed(field_of(around, "left"))[1:])
                return is_field(around, "right", at) and (
                    self._holds_plain_items(at) or all(item is None or self._is_looking(item) for item in items)
                )
            elif around.type in ("short_var_declaration", "var_spec", "assignment_statement"):
                return self._are_looking(around, at)
            elif around.type == "call_expression":
                return self._is_reading(field_of(at, "operand"), field_text(at, "field"))
            elif around.type not in (
                *("parenthesized_expression", "selector_expression", "index_expression", "slice_expression"),
                *("binary_expression", "literal_element", "literal_value", "composite_literal", "keyed_element"),
                *("type_conversion_expression", "expression_list"),
            ):
                return around.type in ("expression_case", "expression_switch_statement", "if_statement")
            at = around
        return False

    def _given_to(self, listing: Node, value: Node) -> Node | bool:
        """The call that is given a value, where what it gives may hold that; of others, whether it only looks at it."""
        call = enclosing(listing, ("call_expression",))
        if call is None or not self._looks(call) or _is_written_over(value):
            return False
        if listing.type == "variadic_argument":
            return self._holds_plain_items(value) and text_of(callee_of(call)) == "append"
        return call if self._hands_on(call) else True

    def _are_looking(self, statement: Node, value: Node) -> bool:
        """Whether names that are set to a value, or to what has it in it, only look at it as well."""
        targets = statement.children_by_field_name("name") or listed(field_of(statement, "left"))
        values = listed(field_of(statement, "value") or field_of(statement, "right"))
        place = next((place for place, other in enumerate(values) if is_in(value, [place_of(other)])), None)
        if is_field(statement, "left", value) or place is None:
            return False
        for target in targets[place : place + 1] if len(targets) == len(values) else targets:
            binding = self._scopes.of_name(target)
            if text_of(target) != "_" and (binding is None or not self._is_looking(binding)):
                return False
        return True

    def _is_looking(self, binding: Binding) -> bool:
        return self._unless_open(id(binding.uses), lambda: all(map(self._only_looks, binding.uses)))

    def _holds_plain_items(self, node: Node) -> bool:
        """Whether the items of a list or map are of a type that has no parts which could be set."""
        column, binding = self.column_of(node), self._scopes.of_name(node)
        kind = column.kind if column is not None else None
        if column is None and binding is not None:
            init = bare(binding.init) if binding.init is not None else None
            kind = field_of(init, "type") or field_of(binding.statement, "type")
        kind = self._resolved(kind)
        return text_of(field_of(kind, "value") or field_of(kind, "element")) in _TYPES

    def _is_reading(self, node: Node | None, method: str) -> bool:
        """Whether a method changes nothing of what a name is set to, as Go's own are known to where one makes that."""
        if method in _READING:
            return True
        binding = self._scopes.of_name(node)
        made = bare(binding.init) if binding is not None and binding.init is not None else None
        kind = field_of(made, "type" if made is not None and made.type == "composite_literal" else "function")
        path = self.package_of(next(iter(named(kind)), None))
        return bool(path) and is_standard(path) and (path in _UNCHANGED or not _CHANGING.match(method))

    def _looks(self, call: Node) -> bool:
        """Whether a call does nothing to what it is given: of the standard library, of an assertion or of a test."""
        function = field_of(call, "function")
        if function is None:
            return False
        if function.type == "identifier":
            return text_of(function) in _BUILTINS and self._scopes.resolve(function) is None
        root = field_of(function, "operand") if function.type == "selector_expression" else None
        binding, name = self._scopes.of_name(root), field_text(function, "field")
        if binding is None:
            return False
        if binding.kind == "import":
            is_own = is_standard(binding.path) and binding.path not in _SETTING
            is_library = libraries.called(binding.path) is not None or _LOOKING.fullmatch(binding.path) is not None
            return is_library or (is_own and not _FILLING.match(name))
        if binding.kind == "param" and self.is_tester(binding):
            return True
        is_method = binding.kind == "param" and _is_receiver(binding)
        is_asserting = is_method or binding.name in ("assert", "require", "is", "a", "r")
        return is_asserting and libraries.form_of(libraries.TESTIFY, name) is not None

    def _hands_on(self, call: Node) -> bool:
        """Whether what a call gives may hold what it is given, or a part of it, so that who gets it can set that."""
        function = callee_of(call)
        path = self.package_of(field_of(function, "operand"))
        return _HOLDING.fullmatch(f"{path}.{field_text(function, 'field')}" if path else text_of(function)) is not None

    def is_tester(self, parameter: Binding) -> bool:
        """Whether a parameter is a test, or something of a library of assertions, by the package of its type."""
        package, _, name = field_text(parameter.statement, "type").lstrip("*").rpartition(".")
        imports = (binding for binding in self._scopes.bindings() if binding.kind == "import")
        paths = [binding.path for binding in imports if binding.name == (package or ".")]
        is_named = bool(package) or name == "C"
        return is_named and any(path == "testing" or libraries.called(path) is not None for path in paths)

    def package_of(self, node: Node | None) -> str:
        """The path of the package that a name stands for; empty for another."""
        binding = self._scopes.of_name(node)
        return binding.path if binding is not None and binding.kind == "import" else ""

    def _is_static_member(self, node: Node, depth: int) -> bool:
        operand = field_of(node, "operand")
        if operand is None:
            return False
        if path := self.package_of(operand):
            name = field_text(node, "field")
            is_of_others = not path.startswith(OWN) and "." in path.partition("/")[0] and "Err" not in name
            if is_standard(path):
                is_of_others = path not in ("os", "runtime", "flag") or name.startswith("Err")
            return is_of_others or self._settled(path, name)
        column = self.column_of(node)
        return self._is_static_column(column, node, depth) if column else self.is_static(operand, depth)

    def _is_static_call(self, node: Node, depth: int) -> bool:
        function = field_of(node, "function")
        arguments = arguments_of(node)
        if function is None or not all(_is_type(child) or self.is_static(child, depth) for child in arguments):
            return False
        if function.type == "parenthesized_expression":
            function = bare(function)
            if field_text(function, "operator") == "*":  # a pointer's type, or what a pointer leads to
                binding = self._scopes.of_name(field_of(function, "operand"))
                return binding is None or binding.kind in ("type", "import")
        if function.type in ("slice_type", "map_type", "array_type"):
            return True  # a conversion
        if function.type == "identifier":
            return self._gives_static(function, arguments)
        if function.type != "selector_expression":
            return False
        operand, name = field_of(function, "operand"), field_text(function, "field")
        path = self.package_of(operand)
        if path:
            is_pure = _gives_the_same(path, name)
            return is_pure and (path not in _SHOWING or all(map(self.is_shown_by_go, arguments)))
        made = field_of(bare(operand), "function") if operand is not None else None
        return made is not None and made.type == "selector_expression" and self.is_static(operand, depth)

    def _is_static_conversion(self, node: Node, depth: int) -> bool:
        """Of a conversion, or a call of a generic function with one argument, which looks alike."""
        operand = field_of(node, "operand")
        generic = _generic_of(node)
        if operand is None or not self.is_static(operand, depth):
            return False
        return generic is None or self._gives_static(generic, [operand])

    def _gives_static(self, function: Node, arguments: list[Node]) -> bool:
        """Whether what is called by a name alone, with what is static, gives the same for the same."""
        binding = self._scopes.resolve(function)
        init = binding.init if binding is not None and not binding.is_written else None
        if init is not None and init.type in FUNCTIONS:
            return self._is_pure(init) and (not self._shows(init) or all(map(self.is_shown_by_go, arguments)))
        if binding is not None:
            return binding.kind == "type"
        return text_of(function) in _BUILTINS and all(map(self._has_length_here, arguments))

    def _has_length_here(self, node: Node) -> bool:
        """Whether no type of the product says how long a value is."""
        node = bare(node)
        binding = self._scopes.of_name(node)
        if binding is not None and binding.kind == "var" and binding.init is not None:
            node = bare(binding.init)
        kind = self._resolved(field_of(node, "type")) if node.type == "composite_literal" else None
        return kind is None or kind.type not in ("type_identifier", "qualified_type", "generic_type")

    def is_shown_by_go(self, node: Node, depth: int = 0) -> bool:
        """Whether a value has no type but Go's own, so that no method of the product says how it is shown."""
        node = bare(node)
        column, binding = self.column_of(node), self._scopes.of_name(node)
        if column is not None:
            parts = [*(column.values or ()), *([column.kind] if column.kind is not None else [])]
        elif node.type == "type_identifier":
            return text_of(node) in _TYPES or text_of(node) in ("error", "any")
        elif node.type in ("qualified_type", "selector_expression") and node.children:
            path = self.package_of(node.children[0])
            if path:
                return is_standard(path)
            parts = named(node)
        elif node.type == "identifier" and binding is None:
            return text_of(node) in _BUILTINS
        elif binding is not None and binding.kind in ("var", "const", "param"):
            kind = field_of(binding.statement, "type")
            arguments = self.calls_of(binding) if binding.kind == "param" else None
            parts = [part for part in (kind, binding.init, *(arguments or ())) if part is not None]
        else:
            parts = named(node)
        return depth < static.MOST_DEPTH and all(self.is_shown_by_go(part, depth + 1) for part in parts)

    def _shows(self, function: Node) -> bool:
        """Whether a function of the file asks values for how they are shown, or for their types."""
        called = (field_of(callee_of(node), "operand") for node in walk(field_of(function, "body")))
        return any(self.package_of(operand) in _SHOWING for operand in called)

    def _is_pure(self, function: Node) -> bool:
        """Whether a function of the file asks nothing but what it is given and functions that give the same for it."""
        body = field_of(function, "body")
        for node in walk(body):
            if node.type == "call_expression":
                called = field_of(node, "function")
                path = self.package_of(field_of(called, "operand"))
                name = text_of(called).rpartition(".")[2]
                is_known = _gives_the_same(path, name) or (not path and text_of(called) in _BUILTINS)
                if path in _SHOWING and not all(map(self.is_shown_by_go, arguments_of(node))):
                    return False
                if not is_known and not (called is not None and _is_type(called)):
                    return False
            elif (generic := _generic_of(node)) is not None:
                binding = self._scopes.resolve(generic)
                if binding is None or binding.kind != "type":
                    return False
            elif node.type == "identifier":
                binding = self._scopes.resolve(node)
                is_own = binding is not None and is_in(binding.declared, [place_of(function)])
                if is_own or (binding is None and text_of(node) in _BUILTINS | {"_"}):
                    continue
                if binding is None or binding.kind != "import" or not self._is_static_member(node.parent or node, 0):
                    return False
        return body is not None

    # -- tables of rows

    def _is_static_column(self, column: Column, node: Node, depth: int) -> bool:
        """Whether a column holds nothing but what is static, and no use of the loop's name can change that."""
        cells = column.values
        if column.key in self._assumed:
            return True
        if cells is None or not all(self.is_static(cell, depth) for cell in cells):
            return False
        root: Node | None = node
        while root is not None and root.type in ("selector_expression", "index_expression", "parenthesized_expression"):
            root = field_of(root, "operand") or next(iter(named(root)), None)
        binding = self._scopes.resolve(root) if root is not None else None
        are_plain = all(map(self._is_fixed, cells)) and not self._has_pointers(column.table)
        return binding is not None and all(self._leaves(use, column, are_plain=are_plain) for use in binding.uses)

    def _leaves(self, use: Node, column: Column, *, are_plain: bool) -> bool:
        top = member_of(use)
        other = self.column_of(top)
        if top.parent is not None and _is_set(top):
            value = _value_of_set(top)
            if value is None or other is None or other.key != column.key:
                return False
            with self._assuming(column.key):
                return self.is_static(value)
        called = self.column_of(top.parent) if top.parent is not None else None  # a field that is a function
        other = called if called is not None and called.values else other
        if other is not None and other.table.id == column.table.id:
            length = min(len(other.steps), len(column.steps))
            if other.steps[:length] != column.steps[:length]:
                return True
        if called is not None and not called.values and called.steps[:-1] == () and not _is_by_value(top.parent):
            return False
        alias = declared_as(top)
        binding = self._scopes.of_name(alias)
        if are_plain or binding is None or binding.is_written:
            return are_plain or self._only_looks(use)
        return all(self._leaves(again, column, are_plain=are_plain) for again in binding.uses)

    def _only_looks_at_rows(self, use: Node) -> bool:
        """The same of a table: what a loop's name, or one that is set to a row, is used for shows column by column."""
        if use.parent is not None and use.parent.type == "range_clause":
            return is_field(use.parent, "right", use)
        at = use.parent if is_field(use.parent, "operand", use) else use
        return (at is not None and declared_as(at) is not None) or self._only_looks(use)

    def _has_pointers(self, table: Node) -> bool:
        """Whether the rows of a table are pointers, so that who is given one may set what is in it."""
        kind = self._resolved(field_of(table, "type"))
        element = field_of(kind, "value") or field_of(kind, "element")
        return element is not None and element.type == "pointer_type"

    def set_of_itself(self, use: Node) -> tuple[Node, Node] | None:
        """Where a name is used in setting a column to what is made of it: what is set, and to what."""
        at = enclosing(use, ("assignment_statement",))
        target = next(iter(listed(field_of(at, "left"))), None)
        value = _value_of_set(target) if target is not None else None
        column, own = (self.column_of(node) if node is not None else None for node in (target, member_of(use)))
        is_same = column is not None and own is not None and own.key == column.key
        return (target, value) if is_same and target is not None and value is not None else None

    def column_of(self, node: Node) -> Column | None:
        """The column of a table that a name or a member stands for, inside of a loop over its rows."""
        node = bare(node)
        if node.type == "selector_expression":
            operand = field_of(node, "operand")
            column = self.column_of(operand) if operand is not None else None
            return column and self._inside(column, field_text(node, "field"))
        if node.type == "index_expression":
            operand, index = field_of(node, "operand"), field_of(node, "index")
            if operand is None or index is None:
                return None
            column = self.column_of(operand)
            if column is not None:
                return self._inside(column, int(text_of(index))) if text_of(index).isdigit() else None
            return self._table(operand) if operand.type == "identifier" and self._counts(index) else None
        if node.type != "identifier":
            return None
        binding = self._scopes.resolve(node)
        if binding is None or binding.is_written:
            return None
        if binding.kind == "range":
            return None if binding.is_key else self._table(binding.init)
        return self.column_of(binding.init) if binding.kind == "var" and binding.init is not None else None

    def _inside(self, column: Column, step: Step) -> Column | None:
        kind = self._resolved(column.kind)
        cells: list[Node] = []
        for row in column.values or ():
            cell = _part(row, step, kind)
            if cell is False:
                return replace(column, steps=(*column.steps, step), values=None, kind=None)
            cells += [cell] if cell is not None else []
        values = tuple(cells) if column.values is not None else None
        return replace(column, steps=(*column.steps, step), values=values, kind=_kind_of_part(kind, step))

    def is_ordered(self, node: Node, is_subtest: Callable[[Node], bool]) -> bool:
        """Whether an expression gives the same each time that a run comes to it.

        A loop over a map does not, unless it is gone over by its keys' order (`map_loop`), but for tests with names of
        their own, nor do goroutines that a loop begins.
        """
        around = list(upward(node))
        within = takewhile(lambda at: at.type not in FUNCTIONS or not is_subtest(at), around)
        loops = list(filter(self._goes_over_map, within))
        begun = next((place for place, at in enumerate(around) if _is_begun(at)), len(around))
        loops += [at for at in around[begun:] if at.type == "for_statement"]
        used = (self._scopes.resolve(name) for name in walk(node) if name.type == "identifier")
        places = [place_of(binding.declared) for binding in used if binding is not None]
        return not any(covers(place_of(loop), place) for loop in loops for place in places)

    def _goes_over_map(self, loop: Node) -> bool:
        clause = _range_of(loop)
        if clause is None or self.map_loop(loop) is not None:
            return False
        keys = (self._scopes.resolve(name) for name in listed(field_of(clause, "left"))[:1])
        around = [
            use.parent for key in keys if key is not None for use in key.uses if is_field(use.parent, "index", use)
        ]
        over = field_of(clause, "right")
        is_own = self._is_map(over, least=1)
        asked = (field_of(node, "operand") for node in around)
        return self._is_map(over) or any(self._is_map(operand, least=2 if is_own else 1) for operand in asked)

    def map_loop(self, loop: Node) -> MapLoop | None:
        """What a loop over a map goes over by its keys' order where it is stripped; None where these have none."""
        clause = _range_of(loop)
        over, left = field_of(clause, "right"), listed(field_of(clause, "left"))
        column = self._table(over)
        kind = self._resolved(field_of(column.table, "type")) if column is not None else None
        key = field_of(kind, "key")
        if clause is None or over is None or column is None or key is None or not left:
            return None
        pairs = named(field_of(column.table, "body"))
        is_declaring = any(child.type == ":=" for child in clause.children)
        is_sorted = text_of(key) in _SORTED and self._scopes.resolve(key) is None
        if not is_declaring or not is_sorted or not self._are_static([pair.named_children[0] for pair in pairs], 0):
            return None
        names = [*map(text_of, left), "_"]
        return MapLoop(over=over, names=(names[0], names[1]), key_type=text_of(key))

    def _is_map(self, node: Node | None, least: int = 2) -> bool:
        """Whether an expression is a map, as far as the file says so, and of so many entries where these are known."""
        node = bare(node) if node is not None else None
        if node is None:
            return False
        kind, body = field_of(node, "type"), field_of(node, "body")
        if node.type == "identifier":
            binding = self._scopes.resolve(node)
            if binding is None or binding.kind not in ("var", "param"):
                return False
            if binding.init is not None and bare(binding.init).type != "identifier":
                return self._is_map(binding.init, least)
            kind = field_of(binding.statement, "type")
        elif node.type in ("selector_expression", "index_expression"):
            column = self.column_of(node)
            kind = column.kind if column is not None else None
        elif field_text(node, "function") == "make":
            kind = next(iter(arguments_of(node)), None)
        kind = self._resolved(kind)
        return kind is not None and kind.type == "map_type" and (body is None or len(named(body)) >= least)

    def _resolved(self, kind: Node | None) -> Node | None:
        """A type that the file has a name for, as it is written there, and without a pointer."""
        for _ in range(4):
            if kind is not None and kind.type == "pointer_type":
                kind = next(iter(named(kind)), None)
            binding = self._scopes.resolve(kind) if kind is not None and kind.type == "type_identifier" else None
            if binding is None or binding.kind != "type" or binding.init is None:
                return kind
            kind = field_of(binding.init, "type")
        return kind

    def is_written(self, node: Node | None) -> bool:
        """Whether an expression is static, or a table or a list in one that is written out, whatever is in it."""
        column = self.column_of(node) if node is not None else None
        return self.is_static(node) or self._table(node) is not None or (column is not None and bool(column.values))

    def is_made_of_rows(self, node: Node) -> bool:
        """Whether functions of Go's own, which ask no type of the product, make an expression of what is written."""
        node = bare(node)
        if self.column_of(node) is not None or self.is_static(node):
            return True
        function, parts = callee_of(node), arguments_of(node)
        if node.type == "binary_expression":
            return all(map(self.is_made_of_rows, named(node)))
        if function is None or not all(map(self.is_made_of_rows, parts)):
            return False
        path, name = self.package_of(field_of(function, "operand")), field_text(function, "field")
        is_shown = path not in _SHOWING or all(map(self.is_shown_by_go, parts))
        return text_of(function) in _TYPES or (_gives_the_same(path, name) and is_shown)

    def _given_by(self, call: Node) -> Node | None:
        """What a function of the file does no more than give, that only loops call, and without arguments."""
        own = self._scopes.of_name(field_of(call, "function"))
        function = own.statement if own is not None and own.kind == "func" and own.name not in self._shared else None
        if own is None or field_of(function, "result") is None or named(field_of(function, "parameters")):
            return None
        statements = statements_of(field_of(function, "body"))
        calls = (use.parent for use in own.uses)
        if any(call is None or not is_field(call.parent, "right", call) for call in calls) or len(statements) != 1:
            return None
        values = listed(next(iter(named(statements[0])), None))
        return bare(values[0]) if statements[0].type == "return_statement" and len(values) == 1 else None

    def _table(self, node: Node | None) -> Column | None:
        """The rows of a table that is written out."""
        if node is None:
            return None
        node = bare(node)
        if node.type == "identifier":
            binding = self._scopes.resolve(node)
            if binding is None or binding.kind != "var" or binding.init is None or binding.is_written:
                return None
            uses = binding.uses
            is_table = self._unless_open(id(binding.sets), lambda: all(map(self._only_looks_at_rows, uses)))
            if self._is_of_others(binding) or not is_table:
                return None
            node = bare(binding.init)
        node = self._given_by(node) if node.type == "call_expression" else node
        body = field_of(node, "body")
        if node is None or node.type != "composite_literal" or body is None:
            return None
        kind = self._resolved(field_of(node, "type"))
        if kind is None or kind.type not in _KEYED:
            return None
        keys = [field_of(child, "key") for child in named(body) if child.type == "keyed_element"]
        if kind.type != "map_type" and not self._are_static(filter(None, keys), 0):
            return None  # the product says in which order they are
        rows = tuple(_value(child) for child in named(body))
        element = field_of(kind, "value" if kind.type == "map_type" else "element")
        return Column(table=node, rows=rows, kind=element, values=rows)


def _function_of(node: Node) -> Node | None:
    """The declaration of a function that a node is in; None where it is in none."""
    return enclosing(node, ("function_declaration", "method_declaration"))


def _may_follow(use: Node, node: Node, binding: Binding) -> bool:
    """Whether a use of a name may run after one that sets it though it stands before: in a loop, or in a function."""
    if function_around(binding.declared) is None and _function_of(use) != _function_of(node):
        return True
    return is_in(use, list(map(place_of, _again(node, binding)))) or any(
        around.type == "func_literal" and not covers(place_of(around), place_of(node)) for around in upward(use)
    )


def _again(node: Node, binding: Binding) -> list[Node]:
    """What is around a node, and not around where a name is declared, that may run more than once."""
    return [
        around
        for around in upward(node)
        if around.type in _AGAIN and not covers(place_of(around), place_of(binding.declared))
    ]


def _gives_the_same(path: str, name: str) -> bool:
    """Whether a function of a package gives the same for the same."""
    return (path in _PURE and name not in _LOOKING_AROUND) or name in _PURE_OF.get(path, ())


def is_standard(path: str) -> bool:
    """Whether a package is one of Go's own."""
    return path.split("/", maxsplit=1)[0] in _STANDARD


def _generic_of(node: Node) -> Node | None:
    """The name of the generic type, or function, of what may be a conversion to one; None of any other node."""
    kind = field_of(node, "type") if node.type == "type_conversion_expression" else None
    return named(kind)[0] if kind is not None and kind.type == "generic_type" else None


def _is_receiver(parameter: Binding) -> bool:
    """Whether a parameter is what a method is of."""
    listing = parameter.statement.parent
    return listing is not None and is_field(listing.parent, "receiver", listing)


def _is_type(node: Node) -> bool:
    return node.type.endswith("_type")


def _value(element: Node) -> Node:
    """What an element of a composite literal holds."""
    if element.type == "keyed_element":
        value = field_of(element, "value")
        return _value(value) if value is not None else element
    inner = named(element)
    return inner[0] if element.type == "literal_element" and len(inner) == 1 else element


def _part(value: Node, step: Step, kind: Node | None) -> Node | Literal[False] | None:
    """A field or element of a literal; None where it has none, False where that can't be told."""
    value = bare(value)
    if value.type == "unary_expression":
        operand = field_of(value, "operand")
        value = bare(operand) if operand is not None else value
    body = field_of(value, "body") if value.type == "composite_literal" else value
    if body is None or body.type != "literal_value":
        return False
    elements = named(body)
    declared = dict(fields(kind))
    if declared and step not in declared:
        return False  # of what is embedded
    if isinstance(step, str) and any(element.type == "keyed_element" for element in elements):
        pairs = {field_text(element, "key"): element for element in elements}
        return _value(pairs[step]) if step in pairs else None
    if any(element.type == "keyed_element" for element in elements):
        return False
    place = step if isinstance(step, int) else _place(kind, step)
    if place is None or not elements:
        return None if not elements else False
    return _value(elements[place]) if place < len(elements) else None


def fields(kind: Node | None) -> list[tuple[str, Node]]:
    """The fields of a struct type, in order, with their types."""
    if kind is None or kind.type != "struct_type":
        return []
    pairs: list[tuple[str, Node]] = []
    for part in named(kind):
        for declaration in named(part):
            type_node = field_of(declaration, "type")
            names = declaration.children_by_field_name("name")
            if type_node is not None:
                pairs += [(text_of(name), type_node) for name in names] or [
                    (text_of(type_node).lstrip("*").rpartition(".")[2], type_node)
                ]
    return pairs


def _place(kind: Node | None, name: str) -> int | None:
    return next((place for place, (own, _) in enumerate(fields(kind)) if own == name), None)


def _kind_of_part(kind: Node | None, step: Step) -> Node | None:
    if isinstance(step, str):
        return dict(fields(kind)).get(step)
    return field_of(kind, "element")


def member_of(use: Node) -> Node:
    """The longest member access that begins with a name, but for a method that is called."""
    return static.member_of(use, ("selector_expression", "index_expression"), "operand")


def _is_by_value(called: Node | None) -> bool:
    """Whether a method that is called is the file's own and gets a copy."""
    *_, root = upward(called)
    methods = [node for node in named(root) if node.type == "method_declaration"]
    receivers = [
        field_text(node, "receiver") for node in methods if field_text(node, "name") == field_text(called, "field")
    ]
    return bool(receivers) and not any("*" in receiver for receiver in receivers)


def _range_of(loop: Node) -> Node | None:
    """What a loop goes over, with the names that it gives that; None of another loop."""
    parts = loop.named_children if loop.type == "for_statement" else ()
    return next((child for child in parts if child.type == "range_clause"), None)


def _is_begun(node: Node) -> bool:
    """Whether a node begins a goroutine."""
    return node.type == "go_statement" or field_text(callee_of(node), "field") == "Go"


def _target_of(assignment: Node) -> Node:
    """What an assignment to one name sets."""
    return listed(field_of(assignment, "left"))[0]


def _is_written_over(argument: Node) -> bool:
    """Whether `append` may write over what lies behind the part of a list that it is given."""
    listing = argument.parent
    is_first = listing is not None and named(listing)[:1] == [argument]
    is_part = argument.type == "slice_expression" and field_of(argument, "capacity") is None
    return is_first and is_part and field_text(listing.parent if listing is not None else None, "function") == "append"


def declared_as(value: Node) -> Node | None:
    """The one name that is declared as a value; None of what is anything else."""
    listing = value.parent
    around = listing.parent if listing is not None and listing.type == "expression_list" else listing
    if around is None or around.type not in ("short_var_declaration", "var_spec"):
        return None
    names = around.children_by_field_name("name") or listed(field_of(around, "left"))
    values = listed(field_of(around, "value") or field_of(around, "right"))
    return names[0] if len(names) == len(values) == 1 and values[0].id == value.id else None


def _value_of_set(node: Node) -> Node | None:
    """What a member alone is set to; None where it is written otherwise."""
    target = node.parent if node.parent is not None and node.parent.type == "expression_list" else node
    outer = target.parent
    if outer is None or outer.type != "assignment_statement" or not is_field(outer, "left", target):
        return None
    values = listed(field_of(outer, "right"))
    is_plain = field_text(outer, "operator") == "=" and len(listed(target)) == len(values) == 1
    return values[0] if is_plain else None


def _is_set(node: Node) -> bool:
    """Whether a node is what an assignment sets, or its address is taken."""
    around = node.parent
    if around is None:
        return False
    if around.type == "unary_expression":
        return field_text(around, "operator") == "&"
    target = around if around.type == "expression_list" else node
    outer = target.parent
    if outer is None:
        return False
    return outer.type in ("inc_statement", "dec_statement") or (
        outer.type == "assignment_statement" and is_field(outer, "left", target)
    )

"""A test file in Rust without its expectations: its bytes edited, all else as it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import Piece, Place, arguments_of, field_of, field_text, is_in, place_of, text_of, walk
from harness.languages.rust.inside import inline
from harness.languages.rust.language import HANDOUT
from miner.languages.base import Mode, Slot
from miner.languages.rust.stripping import scopes
from miner.languages.rust.stripping.cases import cases_in
from miner.languages.rust.stripping.macros import Macros, module_of
from miner.languages.rust.stripping.scopes import (
    TEXTS,
    Binding,
    Scopes,
    function_of,
    functions_around,
    macro_of,
    modules_around,
)
from miner.languages.rust.stripping.sites import Assertion, Reader
from miner.languages.rust.stripping.static import LITERALS, Statics, literals_in
from miner.languages.rust.stripping.unstopped import unstopped
from miner.languages.stripping.source import Edits, TreeSource, lines_of, missing_lines, removed_by
from miner.languages.stripping.static import member_of

if TYPE_CHECKING:
    from miner.languages.rust.stripping.macros import Macro
    from miner.languages.stripping.helpers import Helper
    from miner.languages.stripping.sites import Operand

MODULE = "goldseam"
"""What a stripped test calls, in its own file: harness/languages/rust/inside/handout.rs."""
HAND_OUT = re.compile(rf"(?:self|(?:super::)*super)::{MODULE}::(hand|panics)")
_ADDED = f'#[cfg(test)] #[path = "{HANDOUT}"] mod {MODULE};'
_SUFFIX = re.compile(r"(?:[iu](?:8|16|32|64|128|size)|f32|f64)$")
_TWO_SIDES = 2
_VEC = re.compile(rb"(?:(?:::)?\b(?:std|alloc)::)?\bvec\s*!\s*\Z")
_PLAIN = LITERALS | {"identifier", "self"}
_BETWEEN = frozenset(",.&")
_NAMING = frozenset({"=", "assignment_expression"})
_HOLE = re.compile(r"\{\{|\}\}|\{([a-z_]\w*)?[^{}]*\}")
"""In a text: where something is shown, and the name of that where it stands there."""
_SHOWING = frozenset({"print", "println", "eprint", "eprintln", "dbg"})


def _untyped(function: Node) -> Iterator[tuple[str, int]]:
    """Names in a function that may have their types of an assertion, and the lines that declare them."""
    for node in walk(function):
        pattern = field_of(node, "pattern")
        if node.type == "let_declaration" and pattern is not None and field_of(node, "type") is None:
            yield from ((text_of(part), part.start_point[0] + 1) for part in walk(pattern) if part.type == "identifier")


class StrippedSource(TreeSource[Assertion]):
    """A test file whose assertions can be taken out, one by one."""

    def __init__(
        self,
        source: bytes,
        *,
        path: str,
        first: int,
        shared: Collection[str] = (),
        helpers: Mapping[str, Helper] | None = None,
        is_code: bool = False,
        has_snapshots: bool = False,
    ) -> None:
        """Parse a file; `first` is the number of its first slot, `shared` what other hidden files call.

        `helpers` are functions of other files that only compare. With `is_code` it holds code as well: of that nothing
        is taken out, and nothing is in what comes of it. Where it `has_snapshots`, those in files are taken out.

        Raises:
            ValueError: the grammar does not read it.

        """
        self._source, self._path, self._is_code = source, path, is_code
        self._opened, self._root = scopes.opened(source)
        self._tests = _places(source) if is_code else [(0, len(source))]
        self._scopes = Scopes(self._root)
        for binding in self._scopes.bindings():
            binding.is_written |= not is_in(binding.declared, self._tests)  # the product's
        is_test = partial(is_in, places=self._tests)
        self._statics = Statics(self._scopes, shared, cases_in(self._opened, self._root), is_test)
        macros = Macros(source, self._opened, self._root, self._scopes).read()
        macros = {name: rules for name, rules in macros.items() if is_in(rules[0].body, self._tests)}
        self._macros = [rule for rules in macros.values() for rule in rules]
        self._untyped: dict[int, list[tuple[str, int]]] = {}
        """By the start of a function: what `_untyped` gives of it."""
        reader = Reader(
            *(source, self._scopes, self._statics, self._root, helpers or {}, macros.keys()),
            has_snapshots=has_snapshots,
        )
        self.slots = self._numbered(self._assertions(reader), first)

    def unstopped(self, text: str, output: str, attempt: int) -> str:
        """The file without what the compiler complained of in it, as far as it can go on without."""
        return unstopped(text, self._path, output)

    # -- assertions

    def _function(self, node: Node) -> tuple[str, ...]:
        return function_of(node)

    def _lines(self, node: Node) -> Collection[int]:
        names = {text_of(part) for part in walk(node) if part.type == "identifier"}
        untyped = (pair for function in functions_around(node)[-1:] for pair in self._untyped_in(function))
        return {*super()._lines(node), *(line for name, line in untyped if name in names)}

    def _untyped_in(self, function: Node) -> list[tuple[str, int]]:
        if function.start_byte not in self._untyped:
            self._untyped[function.start_byte] = list(_untyped(function))
        return self._untyped[function.start_byte]

    def _assertions(self, reader: Reader) -> Iterator[Assertion]:
        for rule in self._macros:
            yield from reader.of_macro(rule)
        rest = [self._root]
        while rest:
            node = rest.pop()
            if node.type == "macro_definition":
                continue
            is_test = any(start <= node.start_byte and node.end_byte <= end for start, end in self._tests)
            read = reader.of_node(node) if is_test else []
            yield from read
            if node.type == "function_item" and read:  # what panics in there belongs to what is around it
                unread = (part for part in walk(node) if reader.is_unread(part) or macro_of(part) in scopes.ASSERTIONS)
                yield from (Assertion(op="rust.truth", operands=(), replaced=part, is_unread=True) for part in unread)
            elif is_test and not read and reader.is_unread(node):
                yield Assertion(op="rust.truth", operands=(), replaced=node, is_unread=True)
            if not read:
                rest.extend(reversed(node.named_children))

    # -- the text

    def _take_out(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode], *, is_recording: bool) -> None:
        for _, group in groupby(self.slots, lambda slot: slot.assertion.replaced.id):
            taken = self._taken_out(tuple(group), modes, keeps=is_recording)
            edits |= taken
            removed += removed_by(taken)

    def _completed(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode]) -> bytes:
        text = super()._completed(self._in_tests(edits), removed, modes)
        return self._with_module(inline.without_code(text) if self._is_code else text)

    def _in_tests(self, edits: Edits) -> Edits:
        return {
            place: pieces
            for place, pieces in edits.items()
            if any(start <= place[0] and place[1] <= end for start, end in self._tests)
        }

    def _with_module(self, text: bytes) -> bytes:
        """With the module of the hand-out, behind the last test where there is code as well."""
        if not self._is_code:
            return text.rstrip(b"\n") + f"\n{_ADDED}\n".encode()
        lines = inline.lines_of(text)
        end = max(inline.test_lines(lines), default=len(lines) - 1) + 1
        last = lines[end - 1].rstrip(b"\n") + b"\n"
        return b"".join([*lines[: end - 1], last, f"{_ADDED}\n".encode(), *lines[end:]])

    def _taken_out(self, slots: Sequence[Slot[Assertion]], modes: Mapping[int, Mode], *, keeps: bool) -> Edits:
        """The edits that have what one statement asserts handed out; with `keeps`, what is expected as well."""
        node = slots[0].assertion.replaced
        if all(modes[slot.number] is Mode.INSIDE for slot in slots):
            return {}
        around = slots[0].assertion.modules or (module_of(node),)
        others = around if len(around) > 1 else ()
        imports = {place: pieces for module in others for place, pieces in _import_into(module).items()}
        module = f"self::{MODULE}" if imports else _path_from(around[0])
        traits = f"use {module}::{{Hidden as _, Shown as _}}; "
        if slots[0].assertion.op == "rust.panics":
            expected = [operand for operand in slots[0].assertion.operands if keeps]
            return _of_function(node, f"{module}::panics({slots[0].number}, ", traits, self._listed(module, expected))
        parts = [self._handing(slot, modes[slot.number], module, keeps=keeps) for slot in slots]
        text = (f"{{ {traits}", *(piece for part in parts for piece in (*part, " ")))
        text += self._asked(node) if not slots[0].assertion.modules else ()
        return {**imports, place_of(node): (*text, missing_lines(node, text), "}")}

    def _handing(self, slot: Slot[Assertion], mode: Mode, module: str, *, keeps: bool) -> tuple[Piece, ...]:
        """What hands out one assertion, or makes it as it was."""
        assertion, number = slot.assertion, slot.number
        sides = [operand for operand in assertion.operands if keeps or mode is Mode.RESULT or not operand.static]
        if assertion.form:
            told = f"(&{module}::Of(&goldseam_text)).told_goldseam(), " * len(sides)
            return (
                *(f'match ::std::format!("{assertion.form}", ', self._place(sides[0].node), ").trim_end()"),
                f".trim_start_matches('\\n') {{ goldseam_text => {module}::hand({number}, &[{told}], None) }};",
            )
        if assertion.condition is not None and mode is Mode.INSIDE:
            return f"assert!({'' if assertion.has_to_hold else '!'}(", self._place(assertion.condition), "));"
        if assertion.condition is not None and mode is Mode.RESULT:
            return (
                "let goldseam_holds = ",
                self._place(assertion.condition),
                f"; {module}::hand({number}, &[(&{module}::Of(&goldseam_holds)).told_goldseam()], ",
                f"{module}::Some({'' if assertion.has_to_hold else '!'}goldseam_holds));",
            )
        if len(sides) != _TWO_SIDES or assertion.op != "rust.==":
            return f"{module}::hand({number}, ", *self._listed(module, sides, assertion.op), ", None);"
        sign = "!=" if assertion.options.get("not") else "=="
        left, other = map(self._pieces, sides)
        names = ("goldseam_left", "goldseam_right")
        compared = f"*{names[0]} {sign} *{names[1]}"
        matched = (*("match (&(", *left, "), &(", *other, f")) {{ ({', '.join(names)}) => {{ "),)
        if mode is Mode.RESULT:
            listed = ", ".join(f"(&{module}::Of({name})).told_goldseam()" for name in names)
            return *matched, f"{module}::hand({number}, &[{listed}], {module}::Some({compared})) }} }};"
        listed = ", ".join(f"(&{module}::Of({module}::held({name}, goldseam_holds))).told_goldseam()" for name in names)
        return *matched, f"let goldseam_holds = {compared}; {module}::hand({number}, &[{listed}], None) }} }};"

    def _listed(self, module: str, operands: Sequence[Operand], op: str = "") -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        lent, end = (f"{module}::same(&(", "))") if op == "rust.==" else ("&(", ")")
        for operand in operands:
            pieces += [f"(&{module}::Of({lent}", *self._pieces(operand), f"{end})).told_goldseam(), "]
        return "&[", *pieces, "]"

    def _pieces(self, operand: Operand) -> tuple[Piece, ...]:
        front, back = operand.around
        return front, self._place(operand.node), back

    def _place(self, node: Node) -> Place:
        """Where an expression stands in the file, whose first array may be one of `vec!` there."""
        before = _VEC.search(self._source, max(0, node.start_byte - 32), node.start_byte)
        return (before.start() if before else node.start_byte), node.end_byte

    # -- what only expectations read

    def _silence(self, edits: Edits, removed: list[Place]) -> None:
        """Take out what statements show and nothing else, and what they say without names."""
        for node in walk(self._root):
            if node.type != "macro_invocation" or field_text(node, "macro") not in _SHOWING:
                continue
            around = node.parent
            if around is None or around.type != "expression_statement":
                continue
            words = [part for part in walk(node) if part.type in TEXTS]
            arguments = _tokens_of_arguments(node)
            message = self._message(arguments)
            if message:
                taken = {(arguments[0][0].start_byte, arguments[-1][-1].end_byte): message}
                edits |= taken
                removed += removed_by(taken)
            elif all(part.type in _PLAIN or text_of(part) in _BETWEEN for parts in arguments for part in parts):
                edits[place_of(around)] = (lines_of(around),)
                removed.append(place_of(around))
            elif not any("{" in text_of(word) for word in words):
                edits |= {place_of(word): ('""', lines_of(word)) for word in words}

    def _asked(self, node: Node) -> tuple[Piece, ...]:
        """What never runs, but asks of types what the message of an assertion does."""
        if macro_of(node):
            arguments = arguments_of(node)[2 if macro_of(node).endswith(("eq", "ne")) else 1 :]
            message = self._message([[argument] for argument in arguments])
        else:
            panics = [part for part in walk(field_of(node, "consequence")) if part.type == "macro_invocation"]
            message = self._message(_tokens_of_arguments(panics[0])) if panics else ()
        return ("if false { panic!(", *message, "); } ") if message else ()

    def _message(self, arguments: Sequence[Sequence[Node]]) -> tuple[Piece, ...]:
        """What a message shows of the product, without its words and all that is static; nothing where that is all.

        `arguments` are the nodes of each: a text first, but of `dbg!`.
        """
        texts = [part for parts in arguments[:1] for part in parts if part.type in TEXTS]
        values = arguments[len(texts) :]
        holes = [hole for text in texts for hole in _HOLE.finditer(text_of(text)) if hole[0][0] != hole[0][1]]
        is_named = any({part.type, text_of(part)} & _NAMING for parts in values for part in parts)
        if is_named or any("$" in hole[0] for hole in holes):
            return ()
        parts_shown = [
            hole[0] for hole in holes if not hole[1] or self._is_of_product(self._scopes.seen(hole[1], texts[0]))
        ]
        are_shown = list(map(self._is_shown, values))
        if not any(are_shown) and not any(hole[1] for hole in holes if hole[0] in parts_shown):
            return ()
        pieces: list[Piece] = [f'"{"".join(parts_shown)}"'] if texts else []
        for parts, is_shown in zip(values, are_shown, strict=True):
            pieces += [", "] if pieces else []
            pieces.append((parts[0].start_byte, parts[-1].end_byte) if is_shown else "0")
        return tuple(pieces)

    def _is_shown(self, parts: Sequence[Node]) -> bool:
        """Whether an argument is a name that the product has a part in, or is made of one, and of nothing written."""
        inner = [node for part in parts for node in walk(part)]
        names = [self._scopes.resolve(node) for node in inner if node.type == "identifier"]
        is_first = bool(names) and self._is_of_product(names[0])
        is_alone = all(name is None or self._is_of_product(name) for name in names)
        return is_first and is_alone and not any(node.type in LITERALS for node in inner)

    def _is_of_product(self, binding: Binding | None) -> bool:
        return binding is not None and not self._statics.is_static(binding.declared)

    def _blank(self, edits: Edits, removed: list[Place]) -> None:
        """Values, cells and arguments that nothing reads but what is taken out, and add them to it."""
        rest = partial(self._blanked_beside, removed)
        self._blank_bindings(edits, removed, partial(self._blanked, removed), beside=rest)

    def _blanked(self, removed: Sequence[Place], binding: Binding) -> Edits:
        if not all(is_in(text, removed) for text in binding.shown):
            return {}
        if binding.kind == "parameter":
            cells: Sequence[Node] = self._statics.calls_of(binding) or ()
            cells = cells if binding.uses and self._statics.is_static(binding.uses[0]) else ()
            return {place: pieces for cell in cells for place, pieces in _unread(cell).items()}
        if binding.kind == "each":
            return self._without_column(binding.uses[0])
        statement = binding.statement
        is_alone = binding.kind == "constant" or field_of(statement, "pattern") == binding.declared
        if not self._statics.is_static_binding(binding):
            return {}
        if not is_alone:  # of several that one statement sets
            return _unread(binding.init) if binding.init is not None else {}
        if scopes.attributes_of(statement) or any(child.type == "visibility_modifier" for child in statement.children):
            return {}
        return {place_of(statement): (lines_of(statement),)}

    def _blanked_beside(self, removed: Sequence[Place], _unread_ones: object) -> Edits:
        """Fields of rows, and what macros are given, that nothing reads but what is removed."""
        edits: Edits = {}
        for rule in self._macros:
            with self._statics.reading(rule):
                edits |= self._blanked_in(rule, removed)
        for binding in self._scopes.bindings():
            uses = (
                [member_of(use, ("field_expression",), "value") for use in binding.uses]
                if binding.kind == "each"
                else []
            )
            if any(use.type == "identifier" for use in uses):
                continue  # a row as a whole
            names = {text_of(use) for use in uses}
            read = {text_of(use) for use in uses if not is_in(use, removed)}
            for name in names:
                if not any(f"{other}.".startswith(f"{name}.") or f"{name}.".startswith(f"{other}.") for other in read):
                    edits |= self._without_column(next(use for use in uses if text_of(use) == name))
        return edits

    def _blanked_in(self, rule: Macro, removed: Sequence[Place]) -> Edits:
        """What a rule is given, and what it binds names to, that nothing reads but what is removed."""
        edits: Edits = {}
        for name, operands in {**rule.arguments, **{name: [init] for name, init in rule.names.items()}}.items():
            uses = rule.occurrences(name)
            is_unread = bool(uses) and all(is_in(use, removed) for use in uses)
            if not is_unread or not all(map(self._statics.is_static, operands)):
                continue
            statement = operands[0].parent if name in rule.names else None
            if statement is not None and statement.type == "let_declaration":
                edits[place_of(statement)] = (lines_of(statement),)
            else:
                edits |= {place: pieces for part in operands for place, pieces in _unread(part).items()}
        return edits

    def _without_column(self, use: Node) -> Edits:
        column = self._statics.column_of(use)
        if column is None or not column.is_own or not all(map(self._statics.is_static, column.cells)):
            return {}
        return {place: pieces for cell in column.cells for place, pieces in _zeros(cell).items()}


def _tokens_of_arguments(macro: Node) -> list[list[Node]]:
    """The tokens of each argument of a macro."""
    arguments: list[list[Node]] = [[]]
    for token in next(child for child in macro.children if child.type == "token_tree").children[1:-1]:
        if text_of(token) == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)
    return [tokens for tokens in arguments if tokens]


def _places(source: bytes) -> list[Place]:
    """Where the lines of tests are in a file of code."""
    starts = [0]
    for line in inline.lines_of(source):
        starts.append(starts[-1] + len(line))
    places = inline.test_lines(inline.lines_of(source))
    return [(starts[start], starts[end]) for start, end in inline.stretches(places)]


def _path_from(module: Node | None) -> str:
    """The path to the hand-out from a module of the file, or from the file itself."""
    levels = len(modules_around(module)) + 1 if module is not None else 0
    return "super::" * levels + MODULE if levels else f"self::{MODULE}"


def _import_into(module: Node | None) -> Edits:
    """The edit by which a module has the hand-out as the file has it."""
    body = field_of(module, "body")
    start = body.start_byte if body is not None else 0
    return {(start, start + 1): (f"{{ #[allow(unused_imports)] use {_path_from(module)};",)} if body is not None else {}


def _unread(argument: Node) -> Edits:
    """An argument that nothing reads: names in it stay, and count as read by nobody."""
    return {place_of(argument): (place_of(argument),), **_zeros(argument)}


def _zeros(node: Node) -> Edits:
    """The edits that leave nothing of an expression's literals."""
    return {place_of(literal): (_zero(literal), lines_of(literal)) for literal in literals_in(node)}


def _zero(literal: Node) -> str:
    text = text_of(literal)
    if literal.type in TEXTS:
        return 'b""' if text.startswith("b") else '""'
    if literal.type == "char_literal":
        return "b'0'" if text.startswith("b") else "'0'"
    if literal.type == "boolean_literal":
        return "false"
    suffix = "" if text.startswith("0x") else next(iter(_SUFFIX.findall(text)), "")
    return ("0.0" if literal.type == "float_literal" else "0") + suffix


def _of_function(function: Node, call: str, traits: str, expected: Sequence[Piece]) -> Edits:
    """`should_panic` goes, and how its body ends is handed out."""
    body = field_of(function, "body")
    edits: Edits = {
        place_of(attribute): (lines_of(attribute),)
        for attribute in scopes.attributes_of(function)
        if "should_panic" in text_of(attribute)
    }
    if body is None:
        return {}
    start, end = body.start_byte, body.end_byte
    edits[start, start + 1] = (f"{{ {traits}{call}|| {{",)
    edits[end - 1, end] = ("}, ", *expected, "); }")
    return edits

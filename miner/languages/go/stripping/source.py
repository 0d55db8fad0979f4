"""A test file in Go without its expectations: its bytes edited, all else as it is. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import (
    Piece,
    Place,
    Stretches,
    arguments_of,
    bare,
    callee_of,
    covers,
    field_of,
    field_text,
    is_in,
    named,
    place_of,
    text_of,
    upward,
    walk,
    with_next,
)
from miner.languages.base import Mode, Slot
from miner.languages.go.stripping import scopes
from miner.languages.go.stripping.libraries import ERRORS
from miner.languages.go.stripping.package import package_of
from miner.languages.go.stripping.scopes import Binding, Scopes
from miner.languages.go.stripping.sites import Assertion, Operand, Package, Reader
from miner.languages.go.stripping.static import Column, Settled, Statics, member_of, unsettled
from miner.languages.go.stripping.unstopped import TRYING, unstopped
from miner.languages.stripping.source import Edits, TreeSource, blank_all, missing_lines, removed_by
from miner.languages.stripping.static import unread_columns

HAND_OUT = "Goldseam"
"""Of the testing package: what a stripped test calls (harness/languages/go/inside/handout.go)."""
TRY, IN, KNOW, ROWS = HAND_OUT + TRYING, HAND_OUT + "In", HAND_OUT + "Know", HAND_OUT + "Rows"
TESTING = "goldseamTesting"
"""What a file calls the testing package that does not import it."""
MARK, MARK_KEPT = "goldseam", "goldseam+"
"""What begins the output that an example is said to have: the slot follows, and in a recording what is expected."""
_SAYING = frozenset({"Log", "Logf", "Skip", "Skipf", "Error", "Errorf", "Fatal", "Fatalf"})
_OF_ERRORS = frozenset({"go.==", "go.deep", "go.is", "go.of", "go.cmp"})
"""Operators that ask which error something is."""
_RUNNING = frozenset({"Run", "Cleanup", "Fuzz"})
"""What a test is given functions by that it runs."""
_CATCHING = re.compile(rb"[Ss]td(?:out|err)|SetOutput|[Cc]aptur|[Rr]edirect")
"""Where a file has what is printed go elsewhere."""
_ZEROS = {"int_literal": "0", "float_literal": "0.0", "rune_literal": "'0'", "imaginary_literal": "0i"}
_ZEROS |= dict.fromkeys(("interpreted_string_literal", "raw_string_literal"), '""') | {
    "true": "false",
    "false": "false",
}
_RULING = re.compile(r"//(?:go:|line |export |\s*\+build)|/\*line ")
_OUTPUT = re.compile(r"//\s*(unordered )?output:[ \t]*", re.IGNORECASE)
_EXAMPLE = re.compile(r"Example(?:[^a-z]\w*)?")


class StrippedSource(TreeSource[Assertion]):
    """A test file whose assertions can be taken out, one by one."""

    def __init__(
        self,
        source: bytes,
        *,
        path: str,
        first: int,
        shared: Collection[str] = (),
        package: Package | None = None,
        settled: Settled = unsettled,
        iterating: Collection[str] = (),
        is_own: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Parse a file; `first` is the number of its first slot, `shared` what other files of its package name.

        `package` is what these say, `settled` tells of constants of the product, `iterating` of its iterators, `is_own`
        of its packages.

        Raises:
            ValueError: the grammar does not read it, or code of C is in it.

        """
        self._source, self._name = source, path.rpartition("/")[2]
        self._is_catching = _CATCHING.search(source) is not None
        self._root = scopes.parse(source)
        self._scopes = Scopes(self._root)
        self._scopes.mark_own(is_own)
        self._statics = Statics(self._scopes, shared, settled, iterating)
        imports = {binding.path: binding for binding in self._scopes.bindings() if binding.kind == "import"}
        if "C" in imports:
            raise ValueError("a file with code of C")
        self._imports_testing = "testing" in imports
        self._testing = imports["testing"].name if self._imports_testing else TESTING
        package = package or package_of([source], is_own)
        reader = Reader(self._scopes, self._statics, package, self._testing)
        self.slots = self._numbered(self._assertions(reader), first)
        comments = [slot.assertion.replaced for slot in self.slots if slot.assertion.is_output]
        self._outputs = {place for comment in comments for place in _group(comment)}

    def unstopped(self, text: str, output: str, attempt: int) -> str:
        """The file without what the compiler complained of in it, or what a panic came from."""
        return unstopped(text, self._name, output, is_first=attempt == 0, hand_out=HAND_OUT)

    # -- assertions

    def _assertions(self, reader: Reader) -> Iterator[Assertion]:
        rest = [self._root]
        while rest:
            node = rest.pop()
            other = reader.of_statement(node)
            assertions = [other] if other is not None else reader.of_guard(node)
            is_example = node.type == "function_declaration" and _EXAMPLE.fullmatch(scopes.top_function(node))
            comment = _output_of(node) if is_example else None
            if comment is not None:
                assertions = [_of_output(comment)]
            if not assertions and (assertion := reader.of_asked(node)) is not None:
                assertions = [assertion]
            if not assertions and reader.is_unread(node):
                assertions = [Assertion(op="go.truth", operands=(), replaced=node, is_unread=True)]
            yield from assertions
            if not assertions or is_example:
                rest.extend(reversed(node.named_children))
            elif (fails := assertions[0].fails) is not None:
                ways = (field_of(node, name) for name in ("alternative", "consequence"))
                rest.extend(way for way in ways if way is not None and way != fails)

    def _function(self, node: Node) -> tuple[str, ...]:
        return (scopes.top_function(node),)

    # -- the text

    def _take_out(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode], *, is_recording: bool) -> None:
        outside = self._outside(modes)
        for slot in outside:
            assertion, mode = slot.assertion, modes[slot.number]
            if assertion.is_output:
                edits |= _output_edits(assertion.replaced, slot.number, is_recording=is_recording)
                continue
            edits[place_of(assertion.replaced)] = self._called(slot, mode, is_recording=is_recording)
            if assertion.initializer is not None:
                edits[with_next(assertion.initializer, ";")] = ("",)
            removed += self._removed(assertion, keeps=is_recording or mode is Mode.RESULT)
        removed += map(place_of, self._bodies(outside))
        if not all(slot.assertion.is_output for slot in outside):
            self._sort_maps(edits)

    def _sort_maps(self, edits: Edits) -> None:
        """Have loops over maps that are written out come to their rows in one order."""
        for loop in walk(self._root):
            body, way = field_of(loop, "body"), self._statics.map_loop(loop)
            if way is None or body is None or way.over.parent is None:
                continue
            key, item = way.names
            at, name = body.start_byte + 1, "goldseamKey" if key == "_" else key
            edits[way.over.parent.start_byte, way.over.start_byte] = ("goldseamMap, goldseamRows := ",)
            rows = f", new({self._testing}.{ROWS}); goldseamRows.Next(goldseamMap); "
            edits[way.over.end_byte, way.over.end_byte] = (rows,)
            named_item = "" if item == "_" else f" {item} := goldseamMap[{name}]; _ = {item};"
            edits[at, at] = (f" {name} := goldseamRows.Key.({way.key_type}); _ = {name};{named_item}",)

    def _completed(self, edits: Edits, removed: list[Place], modes: Mapping[int, Mode]) -> bytes:
        outside = self._outside(modes)
        self._use_names(edits, self._bodies(outside), outside, removed)
        self._import(edits, [slot.assertion for slot in outside])
        return self._imports_used(super()._completed(edits, removed, modes))

    def _outside(self, modes: Mapping[int, Mode]) -> list[Slot[Assertion]]:
        return [slot for slot in self.slots if modes[slot.number] is not Mode.INSIDE]

    def _called(self, slot: Slot[Assertion], mode: Mode, *, is_recording: bool) -> tuple[Piece, ...]:
        """`testing.Goldseam(t, NUMBER, func() []interface{} { a := OPERAND; return []interface{}{&a} }, nil)`."""
        assertion = slot.assertion
        keeps = is_recording or mode is Mode.RESULT
        names, statements = self._declared([other for other in assertion.operands if keeps or not other.static])
        statements += [piece for node in assertion.questions for piece in ("_ = ", place_of(node), "; ")]
        if mode is Mode.RESULT:
            statements += ["goldseamHolds := ", f"{assertion.condition}; "]
            names.append("goldseamHolds")
        values: list[Piece] = ["nil"]
        if statements or names:
            values = [
                "func() []interface{} { ",
                *statements,
                f"return []interface{{}}{{{', '.join(names)}}} }}",
            ]
        call: list[Piece] = ["nil"]
        if assertion.body is not None:
            call = ["func() { (", place_of(assertion.body), ")() }"]
        lines = missing_lines(assertion.replaced, (*values, *call))
        head = (
            f"{'!' if assertion.is_asked else ''}{self._testing}.{HAND_OUT}({lines}{assertion.tester}, {slot.number}, "
        )
        return (head, *values, ", ", *call, ")")

    def _declared(self, operands: Sequence[Operand]) -> tuple[list[str], list[Piece]]:
        """What is handed out, and what sets names to it, so that each has its type."""
        names: list[str] = []
        statements: list[Piece] = []
        for place, operand in enumerate(operands):
            if operand.is_none or bare(operand.node).type == "nil":
                names.append("nil")
                continue
            if operand.is_answer:
                answer = f"{self._testing}.{IN}(goldseam{place - 2}, goldseam{place - 1})"
                statements.append(f"goldseam{place} := {answer}; ")
                names.append(f"&goldseam{place}")
                continue
            name, (front, back) = f"goldseam{place}", operand.around
            if operand.is_later:
                front = f"{self._testing}.{TRY}(func() interface{{}} {{ {name} := {front}"
                back += f"; return &{name} }})"
            further: list[Piece] = [", ", place_of(operand.beside)] if operand.beside is not None else []
            statements += [f"{name} := {front}", place_of(operand.node), *further, f"{back}; "]
            names.append(name if operand.is_later else f"&{name}")
        return names, statements

    # -- what only expectations read

    def _removed(self, assertion: Assertion, *, keeps: bool) -> list[Place]:
        """The stretches of an assertion that are not in what takes its place."""
        handed = [part for part in assertion.operands if not part.is_none and (keeps or not part.static)]
        nodes = [node for operand in handed for node in (operand.node, operand.beside) if node is not None]
        nodes += [*assertion.questions, *([assertion.body] if assertion.body is not None else [])]
        outer = [assertion.replaced, *([assertion.initializer] if assertion.initializer is not None else [])]
        kept = [place_of(node) for node in nodes]
        return removed_by({place_of(node): tuple(kept) for node in outer})

    def _bodies(self, outside: Sequence[Slot[Assertion]]) -> list[Node]:
        """What guards do that are taken out as a whole."""
        numbers = {slot.number for slot in outside}
        inside = {slot.assertion.fails for slot in self.slots if slot.number not in numbers}
        bodies = dict.fromkeys(slot.assertion.fails for slot in outside)
        return [body for body in bodies if body is not None and body not in inside]

    def _silence(self, edits: Edits, removed: list[Place]) -> None:
        """Take out what is written in calls that do no more than show it, and in statements that do nothing."""
        silenced: list[Place] = []
        edited = Stretches(edits)
        for node in walk(self._root):
            words: Sequence[Node] = ()
            if node.type == "call_expression" and self._is_said(node):
                words = arguments_of(node)
            elif node.type == "assignment_statement" and field_text(node, "left") == "_":
                words = scopes.listed(field_of(node, "right"))
            for word in words:
                if self._statics.is_static(word) and not edited.have(word):
                    edits[place_of(word)] = ('""',)
                    silenced.append(place_of(word))
        removed += silenced

    def _is_said(self, call: Node) -> bool:
        """Whether a call does no more with what it is given than to show it to people."""
        function = field_of(call, "function")
        if function is None or function.type == "identifier":
            return text_of(function) in ("print", "println")
        if function.type != "selector_expression" or scopes.top_function(call).startswith("Example"):
            return False
        operand, name = field_of(function, "operand"), field_text(function, "field")
        if self._statics.package_of(operand) in ("fmt", "log"):
            return name.startswith(("Print", "Fatal", "Panic")) and not self._may_be_caught(call)
        binding = self._scopes.of_name(operand)
        is_test = field_text(callee_of(operand), "field") == "T" or (
            binding is not None and binding.kind == "param" and self._statics.is_tester(binding)
        )
        return is_test and name in _SAYING

    def _may_be_caught(self, call: Node) -> bool:
        """Whether the product may be given what is printed, by a function that is handed on or in any other way."""
        lists = (at.parent for at in upward(call) if at.type == "func_literal")
        handed = (at.parent for at in lists if at is not None and at.type == "argument_list")
        return any(field_text(callee_of(at), "field") not in _RUNNING for at in handed) or self._is_catching

    def _blank(self, edits: Edits, removed: list[Place]) -> None:
        """Values, cells of tables and arguments that nothing reads but what is taken out, and add them to it."""
        bindings = list(dict.fromkeys(self._scopes.bindings()))

        def fresh() -> Edits:
            removals = Stretches(removed)
            blanked = [self._blanked_binding(binding, removals) for binding in bindings]
            blanked.append(self._blanked_cells(bindings, removals))
            return {place: pieces for part in blanked for place, pieces in part.items()}

        blank_all(edits, removed, fresh)

    def _blanked_binding(self, binding: Binding, removals: Stretches) -> Edits:
        sets = [place_of(node) for node in binding.sets]
        if not binding.uses or not all(removals.have(use) or is_in(use, sets) for use in binding.uses):
            return {}
        values = [field_of(node, "right") for node in binding.sets]
        unset: Edits = {place_of(value): (binding.name,) for value in values if value is not None}
        if binding.kind == "param":
            type_node = field_of(binding.statement, "type")
            operands = self._statics.calls_of(binding) if self._statics.is_static(binding.uses[0]) else None
            zeros = {place_of(node): (f"*new({text_of(type_node)})",) for node in operands or ()}
            return {**zeros, **unset} if zeros else {}
        if binding.kind not in ("var", "const") or not self._statics.is_static_binding(binding):
            return {}
        statement = binding.statement
        names = statement.children_by_field_name("name") or scopes.listed(field_of(statement, "left"))
        around = statement.parent
        group = [] if around is None else [other for other in around.children if other.type == "const_spec"]
        if len(names) != 1 or around is None or around.type == "for_clause" or len(group) > 1 or sets:
            zero = _zero_of(binding.init)
            return {**({place_of(zero[0]): (zero[1],)} if zero is not None else {}), **unset}
        is_alone = around.type in ("var_declaration", "const_declaration")
        return {with_next(around if is_alone else statement, ";"): ("",)}

    def _blanked_cells(self, bindings: Iterable[Binding], removals: Stretches) -> Edits:
        sets: dict[object, Edits] = {}
        edits: Edits = {}
        for column in unread_columns(self._uses_of_columns(bindings, removals, sets)):
            without = {} if self._is_read_whole(column) else self._without(column)
            edits |= {**without, **sets.get(column.key, {})} if without else {}
        return edits

    def _uses_of_columns(
        self, bindings: Iterable[Binding], removals: Stretches, sets: dict[object, Edits]
    ) -> Iterator[tuple[Column, bool]]:
        """Each use of a column, and whether it reads it; to `sets` is added what sets one to what is made of itself."""
        for use in (use for binding in bindings for use in binding.uses):
            if (column := self._column_at(use)) is None:
                continue
            if (own := self._statics.set_of_itself(use)) is not None:
                sets.setdefault(column.key, {})[place_of(own[1])] = (text_of(own[0]),)
            yield column, own is None and not removals.have(use) and not self._is_alias(use)

    def _without(self, column: Column) -> Edits:
        """A column of zero values, where it is static."""
        edits: Edits = {}
        cells = column.values or ()
        for cell in cells if all(map(self._statics.is_static, cells)) else ():
            pair = cell.parent.parent if cell.parent is not None else None
            if column.kind is not None:
                edits[place_of(cell)] = (f"*new({text_of(column.kind)})",)
            elif pair is not None and pair.type == "keyed_element":
                edits[with_next(pair, ",")] = ("",)
        return edits

    def _column_at(self, use: Node) -> Column | None:
        """The innermost column that a use of a name stands for."""
        top = member_of(use)
        called = top.parent if top.parent is not None and top.parent.type == "selector_expression" else None
        column = self._statics.column_of(called) if called is not None else None
        if column is not None and column.values:  # a field that is called, as rows have it
            return column
        column = self._statics.column_of(top)
        while column is None and top.id != use.id:
            top = field_of(top, "operand") or use
            column = self._statics.column_of(top)
        return column

    def _is_alias(self, use: Node) -> bool:
        """Whether a use only gives what it names another name, whose uses count."""
        around = use.parent.parent if use.parent is not None and use.parent.type == "expression_list" else use.parent
        if around is None or around.type != "short_var_declaration":
            return False
        names = scopes.listed(field_of(around, "left"))
        binding = self._scopes.resolve(names[0]) if len(names) == 1 else None
        return binding is not None and not binding.is_written and text_of(names[0]) != "_"

    def _is_read_whole(self, column: Column) -> bool:
        """Whether something looks at the table as a whole."""
        holder = column.table.parent
        while holder is not None and holder.type in ("expression_list", "parenthesized_expression"):
            holder = holder.parent
        if holder is None or holder.type in ("range_clause", "return_statement"):
            return False
        for binding in self._scopes.bindings():
            if binding.init is not None and bare(binding.init).id == column.table.id:
                return not all(map(_goes_over, binding.uses))
        return True

    def _rules(self, comment: Node) -> bool:
        return _RULING.match(text_of(comment)) is not None or place_of(comment) in self._outputs

    def _blank_comment(self, comment: Node) -> str:
        return re.sub(r"[^\r\n]", "", text_of(comment)) if text_of(comment).startswith("/*") else ""

    # -- what the compiler asks for

    def _use_names(
        self,
        edits: Edits,
        bodies: Sequence[Node],
        outside: Sequence[Slot[Assertion]],
        removed: Sequence[Place],
    ) -> None:
        """Let names of functions that nothing uses any more be used."""
        removals = Stretches(removed)
        undeclared = Stretches([*removed, *(place for place, pieces in edits.items() if pieces == ("",))])
        lost = [
            binding
            for binding in dict.fromkeys(self._scopes.bindings())
            if binding.is_local
            and binding.uses
            and all(removals.have(use) for use in binding.uses)
            and not undeclared.have(binding.declared)
        ]
        conditions = grouped((slot.assertion.fails, slot.assertion.replaced) for slot in outside)
        for body in bodies:
            names = _names_in(place_of(body), lost)
            for condition in conditions.get(body, ()):
                names |= _names_in(place_of(condition), lost)
            lines = "\n" * text_of(body).count("\n")
            end = "}\n" if body.type == "statement_list" else "}"
            edits[place_of(body)] = ("{ " + _using(names) + lines + end,)
        for slot in outside:
            assertion = slot.assertion
            if _is_statement(assertion):
                names = _names_in(place_of(assertion.replaced), lost)
                if names:
                    edits[place_of(assertion.replaced)] = (*edits[place_of(assertion.replaced)], "; ", _using(names))
        body_places = list(map(place_of, bodies))
        settled = (slot.assertion for slot in outside if slot.assertion.fails or _is_statement(slot.assertion))
        replaced = Stretches([*body_places, *(place_of(assertion.replaced) for assertion in settled)])
        for binding in lost:  # names that only blanked values read
            if not any(replaced.have(use) for use in binding.uses) and (used := _use_of(binding)) is not None:
                at, use = used
                edits[at, at] = (*edits.get((at, at), ()), use)

    def _import(self, edits: Edits, assertions: Sequence[Assertion]) -> None:
        """Import the testing package where the file does not, and use what is imported without a name."""
        clause = next(node for node in self._root.named_children if node.type == "package_clause")
        if not self._imports_testing and not all(assertion.is_output for assertion in assertions):
            edits[clause.end_byte, clause.end_byte] = (f'; import {TESTING} "testing"',)
        dotted = {assertion.dotted for assertion in assertions if assertion.dotted}
        errors = [f'"{path}.{name}": {package}.{name}' for path, package, name in self._known_errors()]
        if errors and any(assertion.op in _OF_ERRORS for assertion in assertions):
            dotted.add(f"{self._testing}.{KNOW}(map[string]error{{{', '.join(errors)}}})")
        end = len(self._source)
        uses = "".join(f"\nvar _ = {name}" for name in sorted(dotted))
        if uses:
            edits[end, end] = (*edits.get((end, end), ()), uses)

    def _known_errors(self) -> Iterator[tuple[str, str, str]]:
        """Errors of packages of Go's own that the file imports: path, name of the package there, name."""
        for binding in self._scopes.bindings():
            if binding.kind == "import" and binding.uses and binding.name not in ("_", "."):
                yield from ((binding.path, binding.name, name) for name in ERRORS.get(binding.path, "").split())

    def _imports_used(self, text: bytes) -> bytes:
        """The text with each import blank that nothing uses any more."""
        root = scopes.parse(text)
        bindings = [binding for binding in Scopes(root).bindings() if binding.kind == "import"]
        imports = [binding for binding in self._scopes.bindings() if binding.kind == "import" and binding.uses]
        imported = {binding.path.removeprefix(scopes.OWN) for binding in imports}
        unused = [binding for binding in bindings if not binding.uses and binding.path in imported]
        for binding in sorted(unused, key=lambda other: other.statement.start_byte, reverse=True):
            path = field_of(binding.statement, "path")
            start, end = binding.statement.start_byte, binding.statement.end_byte
            text = text[:start] + b"_ " + text_of(path).encode() + text[end:]
        return text


def _is_statement(assertion: Assertion) -> bool:
    """Whether it stands alone, so that another statement can stand behind it."""
    return assertion.fails is None and not assertion.is_asked and not assertion.is_output


def _use_of(binding: Binding) -> tuple[int, str] | None:
    """Where a use of a name can stand that has no other, and the use; None where it can't be told."""
    statement = binding.statement
    around = statement.parent
    if around is not None and around.type == "statement_list":
        return statement.end_byte, f"; _ = {binding.name}"
    body = field_of(around, "body") if around is not None and statement.type == "range_clause" else None
    return (body.start_byte + 1, f" _ = {binding.name};") if body is not None else None


def _zero_of(value: Node | None) -> tuple[Node, str] | None:
    """The part of a literal that can go, and what is of the same type in its place; None of another expression."""
    inner = bare(value) if value is not None else None
    if inner is None:
        return None
    body = field_of(inner, "body") if inner.type == "composite_literal" else None
    if body is not None:
        return (body, "{}") if named(body) else None
    zero = _ZEROS.get(inner.type)
    return (inner, zero) if zero is not None and text_of(inner) != zero else None


def _names_in(place: Place, lost: Iterable[Binding]) -> set[str]:
    return {binding.name for binding in lost if any(covers(place, place_of(use)) for use in binding.uses)}


def _using(names: Collection[str]) -> str:
    if not names:
        return ""
    return f"{', '.join('_' for _ in names)} = {', '.join(sorted(names))}"


def _goes_over(use: Node) -> bool:
    """Whether a use of a table's name goes over its rows, asks how many there are, or takes one."""
    around = use.parent
    if around is None:
        return False
    if around.type == "argument_list" and around.parent is not None:
        return field_text(around.parent, "function") in ("len", "cap")
    return around.type in ("range_clause", "index_expression")


def _output_of(function: Node) -> Node | None:
    """The comment that says what an example prints: the last in it."""
    body = field_of(function, "body")
    comments = [node for node in walk(body) if node.type == "comment"] if body is not None else []
    group: list[Node] = []
    for comment in comments:
        is_next = bool(group) and comment.start_point[0] == group[-1].end_point[0] + 1
        group = [*group, comment] if is_next else [comment]
    return group[0] if group and _OUTPUT.match(text_of(group[0])) else None


def _of_output(comment: Node) -> Assertion:
    match = _OUTPUT.match(text_of(comment))
    options: dict[str, object] = {"unordered": True} if match is not None and match[1] else {}
    operands = (Operand(node=comment), Operand(node=comment, static=True))
    return Assertion(op="go.output", operands=operands, replaced=comment, options=options, is_output=True)


def _group(comment: Node) -> list[Place]:
    places = [place_of(comment)]
    after = comment.next_named_sibling
    while after is not None and after.type == "comment":
        places.append(place_of(after))
        after = after.next_named_sibling
    return places


def _output_edits(comment: Node, number: int, *, is_recording: bool) -> Edits:
    match = _OUTPUT.match(text_of(comment))
    head = match[0].rstrip() if match is not None else "// Output:"
    rest = text_of(comment)[match.end() :] if match is not None else ""
    if is_recording:
        return {place_of(comment): (f"{head} {MARK_KEPT} {number}\n\t// {rest}",)}
    edits: Edits = dict.fromkeys(_group(comment), ("",))
    edits[place_of(comment)] = (f"{head} {MARK} {number}",)
    return edits

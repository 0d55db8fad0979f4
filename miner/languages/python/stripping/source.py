"""A test file without its expectations, written anew from its syntax tree; or handing these out as well. Pure."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import cast

from harness.core import python_source
from miner.languages.base import Mode, Slot
from miner.languages.python.stripping import helpers, plain, tables, unstopped
from miner.languages.python.stripping.nodes import attribute_of, call_of, name_of, names_read
from miner.languages.python.stripping.reading.flow import may_catch
from miner.languages.python.stripping.reading.module import Module, Settled, module_of, unsettled
from miner.languages.python.stripping.reading.scope import Scope
from miner.languages.python.stripping.reading.syntax import Function
from miner.languages.python.stripping.sites import HAND_OUT, Assertion, Form, Reader

_SITE = unstopped.SITE
_HANDING = {
    "in": "looked_up", "not_in": "looked_up", "truth": "truth_alone", "not": "truth_alone", "calls": "called",
    "isinstance": "of_kind", "not_isinstance": "of_kind",
}  # fmt: skip
"""By operator: how a site hands out the last operand that it hands out, where not as any value."""
_OF_FIRST = ("calls", "isinstance", "not_isinstance")
"""Operators whose last operand is always kept."""
_RECORDING = {
    "in": "recorded_lookup", "not_in": "recorded_lookup", "truth": "recorded_truth", "not": "recorded_truth",
    "calls": "recorded_calls", "isinstance": "recorded_kind", "not_isinstance": "recorded_kind",
}  # fmt: skip
"""By operator: how a recording does it."""
_Given = dict[Function, dict[str, tuple[ast.expr, ...]]]
_LINE_END = re.compile(r"\r\n|\r|\n")
_PASSES = 4
"""How often names are looked through until it is settled which of them only expectations read."""


class StrippedSource:
    """A test file whose assertions can be taken out, one by one."""

    def __init__(
        self,
        source: bytes,
        *,
        first: int,
        product: Callable[[str], bool],
        settled: Settled = unsettled,
    ) -> None:
        """Parse a file; `first` is the number of its first slot, `product` tells the repository's own modules.

        `settled` tells names of those that the fix leaves as they were.

        Raises:
            SyntaxError: it is not Python that this interpreter reads.
            ValueError: it holds a NUL.
            RecursionError: it is nested too deeply.

        """
        self._original, self._source, self._first = source, _separated(plain.written(source), product), first
        self._module_of = partial(module_of, product=product, settled=settled)
        self.slots: tuple[Slot[Assertion], ...] = tuple(self._write(lambda _: Mode.INSIDE, recording=False)[1])

    def recording(self, modes: Mapping[int, Mode]) -> str:
        """The file handing out both sides of each assertion; nothing of it is blanked. For the fix alone."""
        return ast.unparse(ast.fix_missing_locations(self._write(modes.__getitem__, recording=True)[0])) + "\n"

    def stripped(self, modes: Mapping[int, Mode], whole: Collection[str] = ()) -> str:
        """The file that enters a container when patches are judged; functions of these names stay whole."""
        tree, _ = self._write(modes.__getitem__, recording=False, whole=whole)
        module = self._module_of(tree)
        pairs = zip(_functions(tree, ()), _functions(python_source.parse(self._source), ()), strict=True)
        before = {function: original for (function, names), (original, _) in pairs if names[-1] not in whole}
        functions = list(before)
        for _ in range(_PASSES):
            # what only a helper's expectations read goes from its callers, and then what they made it of
            called = helpers.arguments(functions, tree)
            static_values = _static_given(called, module)
            for function in functions:
                arguments, cells = static_values.get(function, {}), tables.values(function, module)
                scope = Scope(module=module, function=function, tables=cells, arguments=arguments)
                tables.blank(function, before[function], tree, scope)
            if not helpers.blank_unread(called, module, _plain_scope(module, static_values)):
                break
        tables.blank_shared(functions, tree, module)
        tables.blank_constants(tree, module, self._source)
        helpers.drop_unused(tree, module, self._source)
        tables.blank_constants(tree, module, self._source)
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        return _as_written(text, self._original, whole) if whole else text

    def unstopped(self, text: str, _output: str, attempt: int) -> str:
        """The stripped file with each statement in a `try` of its own, and what it misses made up."""
        return unstopped.unstopped(text, HAND_OUT) if attempt == 0 else text

    def _write(
        self, choose: Callable[[int], Mode], *, recording: bool, whole: Collection[str] = ()
    ) -> tuple[ast.Module, list[Slot[Assertion]]]:
        tree = python_source.parse(self._source)
        module = self._module_of(tree)
        slots: list[Slot[Assertion]] = []
        functions = _functions(tree, ())
        plain_functions = [function for function, _ in functions]
        called = helpers.arguments(plain_functions, tree)
        static_values = _static_given(called, module)
        own = _methods(tree)
        readers = {
            function: _settled(module, function, own, static_values.get(function, {})) for function in plain_functions
        }
        for function, names in functions:
            if any(_is_generated(decorator, module) for decorator in function.decorator_list):
                continue
            writer = _Writer(
                reader=readers[function],
                names=names,
                slots=slots,
                first=self._first,
                choose=choose,
                recording=recording,
                quietens=not recording and names[-1] not in whole and _is_of_tests(names),
            )
            function.body = writer.block(function.body)
        if any(choose(slot.number) is not Mode.INSIDE for slot in slots) and not recording:
            _drop_words(tree, whole)
        return tree, slots


def _functions(node: ast.AST, names: tuple[str, ...]) -> list[tuple[Function, tuple[str, ...]]]:
    """Functions and methods of a file's top level and classes, by their names; inner ones belong to theirs."""
    functions: list[tuple[Function, tuple[str, ...]]] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            functions += _functions(child, (*names, child.name))
        elif isinstance(child, Function):
            functions.append((child, (*names, child.name)))
        elif isinstance(child, ast.If | ast.Try):
            functions += _functions(child, names)
    return functions


def _as_written(text: str, original: bytes, whole: Collection[str]) -> str:
    """The text of a file with functions of these names to the letter, if they say the same: a test may read itself."""
    were = {names: function for function, names in _functions(python_source.parse(original), ()) if names[-1] in whole}
    lines, lines_before = text.split("\n"), _LINE_END.split(original.decode("utf-8", "replace"))
    for function, names in reversed(_functions(python_source.parse(text), ())):
        was = were.get(names)
        if was is not None and was.col_offset == function.col_offset and ast.dump(was) == ast.dump(function):
            lines[_rows(function)] = lines_before[_rows(was)]
    return "\n".join(lines)


def _rows(function: Function) -> slice:
    """The lines of a function with its decorators."""
    first = min(node.lineno for node in (function, *function.decorator_list))
    return slice(first - 1, function.end_lineno)


def _is_generated(decorator: ast.expr, module: Module) -> bool:
    """Whether a test is run for examples that differ from run to run."""
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    return module.dotted(call).startswith("hypothesis.")


def _separated(source: bytes, product: Callable[[str], bool]) -> bytes:
    """A file with copies of its helpers for calls that do not say what is expected as others do."""
    tree = python_source.parse(source)
    module, methods = module_of(tree, product), _methods(tree)

    def expected(function: Function, parameters: Collection[str]) -> set[str]:
        arguments = dict.fromkeys(parameters, (ast.Constant(value=None),))
        scope = Scope(module=module, function=function, tables={}, arguments=arguments)
        return _expected_names(Reader(module, scope, methods, every=True), function).keys() & parameters

    functions = [function for function, _ in _functions(tree, ())]
    return ast.unparse(tree).encode() if helpers.separate(functions, tree, _plain_scope(module), expected) else source


def _plain_scope(module: Module, static_values: _Given | None = None) -> Callable[[Function], Scope]:
    """The scopes in which calls of helpers stand, before it is known what only expectations read; each made once.

    `static_values` are those that helpers get which call others.
    """

    def scope(function: Function) -> Scope:
        arguments = (static_values or {}).get(function, {})
        return Scope(module=module, function=function, tables=tables.values(function, module), arguments=arguments)

    return cache(scope)


def _static_given(called: Mapping[Function, Mapping[str, Sequence[helpers.Argument]]], module: Module) -> _Given:
    """By helper and parameter: what it gets, if that is static; also from helpers that hand on what they get."""
    static_values: _Given = {}
    for _ in range(_PASSES):
        scope = _plain_scope(module, static_values)
        again = {function: helpers.static_given(function, given, scope) for function, given in called.items()}
        if again == static_values:
            break
        static_values = again
    return static_values


def _methods(tree: ast.Module) -> frozenset[str]:
    """The names of all methods of a file's classes, and of what unittest compares otherwise where they ask for that."""
    nodes = list(ast.walk(tree))
    classes = (node for node in nodes if isinstance(node, ast.ClassDef))
    names = {inner.name for node in classes for inner in node.body if isinstance(inner, Function)}
    is_otherwise = any(isinstance(node, ast.Attribute) and node.attr == "addTypeEqualityFunc" for node in nodes)
    return frozenset({*names, *(("assertEqual", "assertEquals") if is_otherwise else ())})


def _settled(
    module: Module, function: Function, overridden: frozenset[str], arguments: Mapping[str, tuple[ast.expr, ...]]
) -> Reader:
    """A reader that knows which names only expectations read."""
    scope = Scope(module=module, function=function, tables=tables.values(function, module), arguments=arguments)
    scope.assume_expected()
    scope.expecting(_expected_names(Reader(module, scope, overridden, every=True), function))
    reader = Reader(module, scope, overridden)
    expecting: dict[str, int] | None = None
    for _ in range(_PASSES):
        names = _expected_names(reader, function)
        if names == expecting:
            break
        scope.expecting(names)
        expecting = names
    return reader


def _expected_names(reader: Reader, function: Function) -> Counter[str]:
    names: Counter[str] = Counter()
    for statement in ast.walk(function):
        if isinstance(statement, ast.With | ast.AsyncWith):
            assertions = [assertion for assertion in map(reader.of_item, statement.items) if assertion]
        elif isinstance(statement, ast.Try):
            assertions = [assertion] if (assertion := reader.of_try(statement)) else []
        elif isinstance(statement, ast.stmt):
            assertions = list(reader.of_statement(statement))
        else:
            continue
        for assertion in assertions:
            expected = [operand.node for operand in assertion.operands if operand.static]
            for node in (*expected, *assertion.kept.values()):
                names.update(names_read(node))
        if assertions:  # what they say when they fail goes with them
            for part in _said(statement):
                names.update(names_read(part))
    return names


def _said(statement: ast.stmt) -> Iterable[ast.AST]:
    """What a statement with an assertion does or reads only where that fails."""
    match statement:
        case ast.If(body=body):
            return body
        case ast.Assert(msg=ast.expr() as message):
            return [message]
        case ast.Expr(value=ast.Call(keywords=keywords)):
            return [keyword.value for keyword in keywords if keyword.arg == "msg"]
    return []


@dataclass(kw_only=True)
class _Writer:
    """Rewrites the statements of one test function."""

    reader: Reader
    names: tuple[str, ...]
    slots: list[Slot[Assertion]]
    first: int
    choose: Callable[[int], Mode]
    recording: bool
    quietens: bool
    passes_on: bool = False
    """Whether a block around waits for what assertions raise."""

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new for statement in statements for new in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.With | ast.AsyncWith):
            return [self._with(statement)]
        if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            return self._try(cast("ast.Try", statement))
        assertions = self.reader.of_statement(statement)
        if assertions:
            return self._sites(statement, assertions)
        if isinstance(statement, ast.Expr) and self.quietens:
            self.reader.quieten(statement.value)
        if isinstance(statement, ast.Raise) and statement.exc is not None and self.quietens:
            self.reader.quieten(statement.exc)
        quietens = self.quietens
        self.quietens = quietens and not isinstance(statement, Function | ast.ClassDef)
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, name, self.block(inner))
        self.quietens = quietens
        for case in getattr(statement, "cases", ()):
            case.body = self.block(case.body)
        return [statement]

    def _try(self, statement: ast.Try) -> list[ast.stmt]:
        assertion = self.reader.of_try(statement)
        if assertion is not None:
            return self._raising(statement, assertion)
        if all(self.reader.never_passes(handler.body) for handler in statement.handlers):
            statement.body = self.block(statement.body)  # any other handler may wait for what an assertion raises
        for handler in statement.handlers:
            handler.body = self.block(handler.body)
        statement.orelse = self.block(statement.orelse)
        statement.finalbody = self.block(statement.finalbody)
        return [statement]

    def _raising(self, statement: ast.Try, assertion: Assertion) -> list[ast.stmt]:
        """`with __goldseam__(…) as error: f(x)` and what the handler does, of a `try` whose handler is waited for."""
        number = self._number(assertion)
        [handler] = statement.handlers
        handled = self.block(handler.body)
        if self.choose(number) is Mode.INSIDE:
            handler.body = handled
            return [statement]
        body = statement.body if statement.orelse else statement.body[:-1]
        caught = ast.Name(id=handler.name or _SITE, ctx=ast.Store())
        block = ast.With(items=[ast.withitem(self._site(number, assertion), caught)], body=body or [ast.Pass()])
        error = attribute_of(name_of(caught.id), "exception")
        names = [ast.Assign(targets=[caught], value=error)] if handler.name else []
        return [block, *names, *handled]

    def _with(self, statement: ast.With | ast.AsyncWith) -> ast.stmt:
        catches = passes_on = False
        for item in statement.items:
            assertion = self.reader.of_item(item)
            if assertion is None:
                _quieten(item.context_expr)
                continue
            number = self._number(assertion)
            if self.choose(number) is not Mode.INSIDE:
                item.context_expr = self._site(number, assertion)
            passes_on = passes_on or assertion.may_wait
            catches = catches or (assertion.op == "raises" and not assertion.may_wait)
        if passes_on or not (catches or may_catch(statement)):
            before, self.passes_on = self.passes_on, self.passes_on or passes_on
            statement.body = self.block(statement.body)
            self.passes_on = before
        return statement

    def _number(self, assertion: Assertion) -> int:
        number = self.first + len(self.slots)
        self.slots.append(Slot(number=number, function=self.names, assertion=assertion))
        return number

    def _sites(self, statement: ast.stmt, assertions: Sequence[Assertion]) -> list[ast.stmt]:
        numbers = [self._number(assertion) for assertion in assertions]
        modes = [self.choose(number) for number in numbers]
        if Mode.INSIDE in modes:
            return [statement]  # of several conditions in one statement all come out or none
        if assertions[0].form is Form.CALL:
            return self._catching(statement, numbers[0], assertions[0])
        return [
            self._handing(number, assertion, mode)
            for number, assertion, mode in zip(numbers, assertions, modes, strict=True)
        ]

    def _site(self, number: int, assertion: Assertion) -> ast.expr:
        """`__goldseam__(NUMBER)`, for a recording called with what is kept of a block."""
        site = call_of(HAND_OUT, ast.Constant(value=number))
        if assertion.is_of_pytest:
            site.keywords = [ast.keyword(arg="by_pytest", value=ast.Constant(value=True))]
        if self.recording and assertion.may_wait:
            site = call_of(attribute_of(site, "waiting"), assertion.operands[0].node)
        elif self.recording:
            site = call_of(site, assertion.operands[0].node, *assertion.kept.values())
        return call_of(attribute_of(site, "warning")) if assertion.op == "warns" else site

    def _catching(self, statement: ast.stmt, number: int, assertion: Assertion) -> list[ast.stmt]:
        """`with __goldseam__(…) as info: f(x)`, of `info = pytest.raises(E, f, x)`.

        Where a method of a test case gives something, it is the exception itself.
        """
        if assertion.called is not None:
            item = ast.withitem(context_expr=self._site(number, assertion))
            return [ast.With(items=[item], body=[ast.Expr(value=assertion.called)])]
        call = cast("ast.Call", cast("ast.Expr | ast.Assign", statement).value)
        skipped = 1 + (len(assertion.kept) if assertion.kept else 0)
        node = ast.Call(func=call.args[skipped], args=call.args[skipped + 1 :], keywords=call.keywords)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        item = ast.withitem(context_expr=self._site(number, assertion), optional_vars=target)
        block = ast.With(items=[item], body=[ast.Expr(value=node)])
        if not isinstance(target, ast.Name) or not ast.unparse(call.func).startswith("self."):
            return [block]
        caught = attribute_of(name_of(target.id), "exception")
        return [block, ast.Assign(targets=[target], value=caught)]

    def _handing(self, number: int, assertion: Assertion, mode: Mode) -> ast.stmt:
        """`with __goldseam__(NUMBER) as site: site(operand, …)`."""
        site = name_of(_SITE)
        nodes = [operand.node for operand in assertion.operands]
        of_mock = [ast.Constant(value=assertion.call_list)] if assertion.call_list else []
        if mode is Mode.RESULT and assertion.whole is None:
            call = call_of(attribute_of(site, "check"), ast.Constant(value=assertion.op), *nodes)
        elif mode is Mode.RESULT:
            call = call_of(attribute_of(site, "truth"), cast("ast.expr", assertion.whole))
        elif self.recording:
            word = _RECORDING.get(assertion.op, "recorded" if assertion.compares_inside else "recorded_alone")
            call = call_of(call_of(attribute_of(site, word), *nodes, *of_mock), *assertion.kept.values())
            if assertion.data_paths:
                call = call_of(attribute_of(call, "unwritten"), *assertion.data_paths)
        else:
            word = _HANDING.get(assertion.op, "")
            is_last_out = not assertion.operands[-1].static or assertion.op in _OF_FIRST
            handing = attribute_of(site, word) if word and is_last_out else site
            out = [operand.node for operand in assertion.operands if not operand.static]
            call = call_of(handing, *out, *of_mock)
        if self.recording and assertion.is_of_sure:
            call = call_of(attribute_of(call, "by_sure"))
        passes_on = [ast.Constant(value=True)] if self.passes_on else []
        hand_out = call_of(HAND_OUT, ast.Constant(value=number), *passes_on)
        item = ast.withitem(context_expr=hand_out, optional_vars=ast.Name(id=_SITE, ctx=ast.Store()))
        return ast.With(items=[item], body=[ast.Expr(value=call)])


def _quieten(call: ast.expr) -> None:
    """Take the words out of `self.subTest(…)`: they may tell what is expected."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "subTest":
        call.args, call.keywords = [], []


def _is_of_tests(names: Iterable[str]) -> bool:
    """Whether a function or class is there to test: the words of any other may be what is tested."""
    return "test" in ".".join(names).lower()


def _drop_words(tree: ast.Module, whole: Collection[str]) -> None:
    """Take out docstrings, annotations of tests, and why a mark is there: they may tell what is expected."""
    functions = [function for function, names in _functions(tree, ()) if names[-1] not in whole and _is_of_tests(names)]
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and _is_of_tests((node.name,))]
    for owner in (tree, *functions, *classes):
        if ast.get_docstring(owner, clean=False) is not None:
            owner.body[:1] = [] if len(owner.body) > 1 else [ast.Pass()]
    for decorated in (*functions, *classes):
        for keyword in (
            node for call in decorated.decorator_list if isinstance(call, ast.Call) for node in call.keywords
        ):
            if keyword.arg == "reason":
                keyword.value = ast.Constant(value="-")
    for function in functions:
        if function.name.startswith("test"):
            _drop_annotations(function)


def _drop_annotations(function: Function) -> None:
    """Take out annotations of a test and of its names; those of functions and classes in it may be what is tested."""
    function.returns = None
    nodes: list[ast.AST] = [function.args, *function.body]
    for node in nodes:
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = name_of("object")
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            nodes.extend(ast.iter_child_nodes(node))

"""Twins and blind forms of a test file, made from its syntax tree. Pure; miner/harden.py proves them.

A twin has another expectation in chosen tests. Where the expectation is a constant it is another constant (nothing but
the right answer then tells a twin from the real file); where it is a computed value, real file and twin both pass it
through the runner, which in a twin hands back another one; else the assertion is the opposite one. A blind form hands
the value out instead of asserting. All forms are written from the tree, so layout and comments tell nothing.
"""

from __future__ import annotations

import ast
import copy
import string
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, cast

from miner import columns

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Collection, Iterator, Mapping

HAND_OUT = "__goldseam_value__"
"""The name under which the runner takes a blind value; see harness/runner/supervisor.py."""

EXPECT = "__goldseam_expect__"
"""The name under which the runner takes an expected value and gives it back, or another one in a twin."""

Function = tuple[str, ...]
"""Names from the module down to a test function: classes, then the function."""

_TRIVIAL: tuple[object, ...] = (None, True, False, 0, 1, -1, 0.0, 1.0, "", b"", [], (), {}, set())
"""Values that a forger would guess; a test that expects one of them is twinned, not blind."""

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPPOSITE_METHODS = {
    "assertEqual": "assertNotEqual",
    "assertEquals": "assertNotEqual",
    "assertTrue": "assertFalse",
    "assertIn": "assertNotIn",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
    "assertIsInstance": "assertNotIsInstance",
    "assertGreater": "assertLessEqual",
    "assertLess": "assertGreaterEqual",
    "assertAlmostEqual": "assertNotAlmostEqual",
}
_OPPOSITE_METHODS |= {other: method for method, other in _OPPOSITE_METHODS.items() if method != "assertEquals"}
_EQUAL_METHODS = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual"}
    | {"assertMultiLineEqual", "assertSequenceEqual", "assertCountEqual"}
)
_OTHER_ERROR = "BufferError"
"""Raised by next to nothing, and neither base nor subclass of what tests expect."""


class SiteKind(IntEnum):
    """Where an expectation can be turned, best first."""

    CONSTANT = 0
    MATCH = 1
    EXPECT = 2
    ARGUMENT = 3
    """A constant handed to a helper that asserts."""
    RAISES = 4
    INVERT = 5


@dataclass(frozen=True, kw_only=True)
class Site:
    """One expectation in a test function; `place` is its node's number in the order of `ast.walk`."""

    place: int
    kind: SiteKind
    function: Function = ()
    blindable: bool = False
    parameter: str | None = None
    """The parameter of a table that the expectation comes from, where it can be blind."""


class TestSource:
    """A test file as a tree, with the expectations of its test functions."""

    __test__ = False

    def __init__(self, source: bytes) -> None:
        """Parse a file.

        Raises:
            SyntaxError: it is not Python that this interpreter reads.
            ValueError: it holds a NUL.

        """
        self._tree = ast.parse(source)
        self._numbers = {id(node): number for number, node in enumerate(ast.walk(self._tree))}
        self._functions = dict(_functions(self._tree, ()))

    def real(self) -> str:
        """The file, written anew from its tree."""
        return ast.unparse(self._tree) + "\n"

    def sites(self, function: Function) -> tuple[Site, ...]:
        """The expectations of a test function, best first; empty for a function that is not in this file."""
        node = self._functions.get(function)
        if node is None:
            return ()
        table = columns.columns(node)
        found = [self._site(inner, function, table) for inner in ast.walk(node)]
        sites = [site for site in found if site is not None]
        sites = [replace(site, blindable=site.blindable and _is_whole(site, sites, node)) for site in sites]
        return tuple(sorted(sites, key=lambda site: site.kind))

    def sites_at(self, function: Function, lines: Collection[int]) -> tuple[Site, ...]:
        """The expectations of a test function, those first that stand at lines of the file as `real` writes it."""
        written = list(ast.walk(ast.parse(self.real())))
        sites = self.sites(function)
        if [type(node) for node in written] != [type(node) for node in ast.walk(self._tree)]:
            return sites  # written anew it is another tree, so that numbers of nodes say nothing
        return tuple(sorted(sites, key=lambda site: not _covers(written[site.place], lines)))

    def rewritten(
        self,
        *,
        turned: Collection[Site] = (),
        wrapped: Collection[Site] = (),
        blind: Mapping[Site, int] | None = None,
        rng: random.Random,
    ) -> str:
        """The file with some expectations turned, some passed through the runner, some handed out blind.

        `blind` has a number for each, under which its value comes out.
        """
        tree = copy.deepcopy(self._tree)
        nodes = list(ast.walk(tree))
        for site in wrapped:
            _wrap(nodes[site.place])
        for site in turned:
            _turn(nodes[site.place], site.kind, rng)
        tables: dict[Function, set[str]] = {}
        for site, number in (blind or {}).items():
            _hand_out(nodes[site.place], number, parameter=site.parameter)
            if site.parameter:
                tables.setdefault(site.function, set()).add(site.parameter)
        for function, names in tables.items():
            node = cast("columns.Function", nodes[self._numbers[id(self._functions[function])]])
            columns.blank(node, {name: column for name, column in columns.columns(node).items() if name in names})
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def expected(self, site: Site, blind_id: str) -> str | None:
        """The literal that a blind test expects at a site, as source; None where its id names no row of the table."""
        if site.parameter is not None:
            table = columns.columns(self._functions[site.function])
            return table[site.parameter].value(blind_id.partition("[")[2])
        sides = _equal_sides(list(ast.walk(self._tree))[site.place])
        assert sides is not None  # noqa: S101 - blindable sites have them
        return ast.unparse(sides[1])

    def _site(self, node: ast.AST, function: Function, table: Mapping[str, columns.Column]) -> Site | None:
        place = self._numbers[id(node)]
        sides = _equal_sides(node)
        if sides is not None and _is_constant(sides[1]):
            blindable = columns.is_literal(sides[1]) and not _is_trivial(sides[1])
            return Site(place=place, kind=SiteKind.CONSTANT, function=function, blindable=blindable)
        if sides is not None:
            name = next((side.id for side in sides[::-1] if isinstance(side, ast.Name) and side.id in table), None)
            blindable = name is not None and not all(map(_is_trivial, table[name].values))
            return Site(place=place, kind=SiteKind.EXPECT, function=function, blindable=blindable, parameter=name)
        if isinstance(node, ast.Assert):
            return Site(place=place, kind=SiteKind.INVERT)
        if isinstance(node, ast.Expr) and _method(node.value) in _OPPOSITE_METHODS:
            return Site(place=place, kind=SiteKind.INVERT)
        if isinstance(node, ast.Expr) and _constant_argument(node.value) is not None:
            return Site(place=place, kind=SiteKind.ARGUMENT)
        if isinstance(node, ast.Call) and _raises(node):
            match = _match_of(node)
            return Site(place=place, kind=SiteKind.MATCH if match is not None else SiteKind.RAISES)
        return None


def _covers(node: ast.AST, lines: Collection[int]) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return any(first <= line <= last for line in lines)


def _constant_argument(node: ast.expr) -> ast.expr | None:
    """The last constant that a call hands on."""
    if not isinstance(node, ast.Call):
        return None
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    return next((argument for argument in reversed(arguments) if _is_constant(argument)), None)


def _is_whole(site: Site, sites: Collection[Site], function: columns.Function) -> bool:
    """Whether a table's column is used as an expectation only, so that nothing misses its literals."""
    if site.parameter is None:
        return True
    expected = sum(other.parameter == site.parameter for other in sites)
    return columns.used(function, site.parameter) == expected


def _functions(node: ast.AST, names: Function) -> Iterator[tuple[Function, columns.Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, (*names, child.name))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (*names, child.name), child


def _equal_sides(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What is compared and what is expected in `assert x == y` and `self.assertEqual(x, y)`; a literal is expected."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        test = node.test
        pair = (test.left, test.comparators[0]) if len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq) else None
    elif isinstance(node, ast.Expr) and _method(node.value) in _EQUAL_METHODS:
        arguments = cast("ast.Call", node.value).args
        pair = (arguments[0], arguments[1]) if len(arguments) >= 2 else None  # noqa: PLR2004 - two sides
    else:
        pair = None
    if pair is None or (columns.is_literal(pair[0]) and columns.is_literal(pair[1])):
        return None
    return (pair[1], pair[0]) if columns.is_literal(pair[0]) else pair


def _is_constant(node: ast.expr) -> bool:
    """A literal, or literals inside of containers, arithmetic and calls, such as `[date(2024, 2, 29)]`."""
    match node:
        case ast.Constant():
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return all(map(_is_constant, parts))
        case ast.Dict(keys=keys, values=values):
            return all(part is not None and _is_constant(part) for part in (*keys, *values))
        case ast.UnaryOp(operand=operand):
            return _is_constant(operand)
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name()), args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
            return bool(parts) and all(map(_is_constant, parts))
    return columns.is_literal(node)


def _is_trivial(node: ast.expr) -> bool:
    value = ast.literal_eval(node)
    return any(type(value) is type(known) and value == known for known in _TRIVIAL)


def _method(node: ast.expr) -> str | None:
    """The name of a `self.assertSomething(…)` call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.attr if node.func.value.id == "self" else None
    return None


def _raises(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp") and bool(node.args)


def _match_of(node: ast.Call) -> ast.Constant | None:
    """The text that the error's message has to match, where it is a literal."""
    if _method(node) in ("assertRaisesRegex", "assertRaisesRegexp"):
        found = node.args[1] if len(node.args) > 1 else None
    else:
        found = next((keyword.value for keyword in node.keywords if keyword.arg == "match"), None)
    return found if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def _turn(node: ast.AST, kind: SiteKind, rng: random.Random) -> None:
    """Make an expectation expect something else, in place."""
    if kind is SiteKind.EXPECT:
        return  # the runner turns it
    if kind is SiteKind.CONSTANT:
        sides = _equal_sides(node)
        assert sides is not None  # noqa: S101 - the site was found by them
        _change_constant(node, sides[1], rng)
    elif kind is SiteKind.ARGUMENT:
        argument = _constant_argument(cast("ast.Expr", node).value)
        assert argument is not None  # noqa: S101 - the site was found by it
        _change_constant(node, argument, rng)
    elif kind is SiteKind.MATCH:
        match = _match_of(cast("ast.Call", node))
        assert match is not None  # noqa: S101
        match.value = _other_text(str(match.value), rng)
    elif kind is SiteKind.RAISES:
        cast("ast.Call", node).args[0] = ast.Name(id=_OTHER_ERROR, ctx=ast.Load())
    elif isinstance(node, ast.Assert):
        node.test = _opposite(node.test)
    else:
        func = cast("ast.Attribute", cast("ast.Call", cast("ast.Expr", node).value).func)
        func.attr = _OPPOSITE_METHODS[func.attr]


def _opposite(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        test.ops = [_OPPOSITES[type(test.ops[0])]()]
        return test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(op=ast.Not(), operand=test)


def _wrap(node: ast.AST) -> None:
    """Pass what is expected through the runner."""
    sides = _equal_sides(node)
    assert sides is not None  # noqa: S101 - sites of this kind have them
    call = ast.Call(func=ast.Name(id=EXPECT, ctx=ast.Load()), args=[sides[1]], keywords=[])
    _replace(node, sides[1], call)


def _change_constant(node: ast.AST, literal: ast.expr, rng: random.Random) -> None:
    """Put another constant of the same form in a constant's place."""
    before = _value_of(literal)
    leaves = [leaf for leaf in ast.walk(literal) if isinstance(leaf, ast.Constant)]
    rng.shuffle(leaves)
    for leaf in leaves:
        kept = leaf.value
        leaf.value = _other_value(kept, rng)  # type: ignore[assignment]  # of the type it replaces
        if _value_of(literal) != before:
            return
        leaf.value = kept
    _replace(node, literal, ast.List(elts=[ast.Constant(value=0)], ctx=ast.Load()))


def _value_of(constant: ast.expr) -> object:
    """The value of a literal; for other constants their source, which differs where they do."""
    return ast.literal_eval(constant) if columns.is_literal(constant) else ast.unparse(constant)


def _replace(node: ast.AST, old: ast.expr, new: ast.expr) -> None:
    for parent in ast.walk(node):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is old for item in value):
                setattr(parent, name, [new if item is old else item for item in value])


def _other_value(value: object, rng: random.Random) -> object:
    change = _CHANGES.get(type(value))
    return change(value, rng) if change else 0


def _other_text(text: str, rng: random.Random) -> str:
    """The text with one letter or digit changed into another of its kind."""
    places = [index for index, char in enumerate(text) if char in string.ascii_letters + string.digits]
    if not places:
        return text + rng.choice(string.ascii_lowercase)
    index = rng.choice(places)
    kind = next(kind for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase) if text[index] in kind)
    other = rng.choice([char for char in kind if char != text[index]])
    return text[:index] + other + text[index + 1 :]


_CHANGES: dict[type, Callable[..., object]] = {
    bool: lambda value, _: not value,
    int: lambda value, rng: value + rng.choice((1, 2, 3)),
    float: lambda value, rng: value * rng.choice((2.0, 3.0)) + 1.0,
    complex: lambda value, _: value + 1,
    str: _other_text,
    bytes: lambda value, rng: _other_text(value.decode("latin-1"), rng).encode("latin-1"),
}


def _hand_out(node: ast.AST, place: int, *, parameter: str | None) -> None:
    """Turn an equality with a literal into handing the value out; the literal is gone from the file."""
    sides = _equal_sides(node)
    assert sides is not None  # noqa: S101 - blindable sites have them
    if parameter is not None and isinstance(sides[0], ast.Name) and sides[0].id == parameter:
        sides = (sides[1], sides[0])
    call = ast.Call(func=ast.Name(id=HAND_OUT, ctx=ast.Load()), args=[ast.Constant(value=place), sides[0]], keywords=[])
    if isinstance(node, ast.Assert):
        # A statement can't change its class in place: an assertion on a call that always returns true is the same.
        node.test = ast.BoolOp(op=ast.Or(), values=[call, ast.Constant(value=True)])
        node.msg = None
    else:
        cast("ast.Expr", node).value = call

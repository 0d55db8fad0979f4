"""What chains of the library sure claim, as conditions of Python that hold just when they do. Pure."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.core.wording import words
from miner.languages.python.stripping.nodes import attribute_of, call_of

_SUBJECTS = frozenset(f"sure.{name}" for name in ("expect", "it", "the", "these", "this", "those"))
_DENIES = words("dont do_not doesnt does_not doesnot not_be not_being not_have should_not shouldnot shouldnt to_not")
_AFFIRMS = words("should does do must when")
"""Words after which a claim is affirmative, whatever was before."""
_ADDED = words("should must when should_not shouldnot shouldnt")
"""Words that sure adds to all objects."""
_LINKS = _AFFIRMS | _DENIES | words("be being have to which called_with")
_ORDERS: Mapping[str, type[ast.cmpop]] = {
    "greater_than": ast.Gt, "above": ast.Gt, "greater_than_or_equal_to": ast.GtE, "lower_than": ast.Lt,
    "below": ast.Lt, "lower_than_or_equal_to": ast.LtE, "be": ast.Is, "being": ast.Is, "within": ast.In,
    "equal": ast.Eq, "eql": ast.Eq, "equals": ast.Eq, "equal_to": ast.Eq,
}  # fmt: skip
_RAISED = words("throw thrown raised")
_Link = tuple[str, ast.Call | None, ast.expr]
"""A word, the call of it, and what it is said of."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a statement claims of a value, or of a call."""

    condition: ast.expr | None = None
    is_equality: bool = False
    """Whether it compares as sure does, which versions do differently."""
    called: ast.Call | None = None
    """The call that is to raise."""
    raised: tuple[ast.expr, ...] = ()
    """The class of what it raises, and a text that this says."""


def of_sure(
    statement: ast.expr, dotted: Callable[[ast.expr], str], stands_for: Callable[[ast.expr], Sequence[ast.expr]]
) -> Claim | None:
    """What a chain claims: `expect(x).to.equal(1)`, `x.should_not.be.empty`; None of what is no such chain.

    `dotted` gives the dotted name of what is imported, `stands_for` what a name is bound to.
    """
    subject, links = _chain(statement, dotted)
    calls = [call for _, call, _ in links[:-1] if call is not None]
    names = [name for name, _, _ in links]
    if subject is None or len(links) < 2 or not {*names[:-1]} <= _LINKS:  # noqa: PLR2004 - a link and a claim
        return None
    denied = [place for place, name in enumerate(names) if name in _DENIES]
    is_affirmed_after = any(name in _AFFIRMS for name in names[denied[0] :]) if denied else False
    last, terminal = names[-1], links[-1][1]
    if len(denied) > 1 or is_affirmed_after or (terminal is not None and not _is_plain(terminal)):
        return None
    if last in _RAISED and terminal is not None:
        return None if denied else _raising(subject, calls, terminal.args, dotted, stands_for)
    condition = None if calls else _condition(subject, last, terminal.args if terminal is not None else None)
    if condition is None:
        return None
    condition = ast.UnaryOp(op=ast.Not(), operand=condition) if denied else condition
    return Claim(condition=condition, is_equality=_ORDERS.get(last) is ast.Eq)


def _chain(statement: ast.expr, dotted: Callable[[ast.expr], str]) -> tuple[ast.expr | None, list[_Link]]:
    """What a chain is said of, None where that is not to be seen, and its words in order."""
    links = list(_links(statement))[::-1]
    root = links[0][2] if links else statement
    match root:
        case ast.Call(func=func, args=[subject], keywords=[]) if dotted(func) in _SUBJECTS:
            return subject, links
    first = next((place for place, (name, _, _) in enumerate(links) if name in _ADDED), None)
    return (None, []) if first is None else (links[first][2], links[first:])


def _links(node: ast.expr) -> Iterator[_Link]:
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) as call:
                yield name, call, inner
            case ast.Attribute(value=inner, attr=name):
                yield name, None, inner
            case _:
                return
        node = inner


def _is_plain(call: ast.Call) -> bool:
    return not call.keywords and not any(isinstance(arg, ast.Starred) for arg in call.args)


def _condition(subject: ast.expr, name: str, args: Sequence[ast.expr] | None) -> ast.expr | None:
    """What a word claims with these arguments, None where it is not called; None of what is not known."""
    length = call_of("len", subject)
    match name, args:
        case "ok" | "true" | "truthy", None:
            return subject
        case "false" | "falsy", None:
            return ast.UnaryOp(op=ast.Not(), operand=subject)
        case "a" | "an", [ast.Name() | ast.Attribute() as kind]:
            return call_of("isinstance", subject, kind)
        case "property", [ast.Constant() as attribute]:
            return call_of("hasattr", subject, attribute)
        case "none", None:
            return _compared(subject, ast.Is, ast.Constant(value=None))
        case "empty", None:
            return _compared(length, ast.Eq, ast.Constant(value=0))
        case "length_of", [ast.Constant(value=int()) as count]:
            return _compared(length, ast.Eq, count)
        case _, [other]:
            return _of_two(subject, name, other)
    return None


def _of_two(subject: ast.expr, name: str, other: ast.expr) -> ast.expr | None:
    if name in ("key", "contain"):
        return _compared(other, ast.In, subject)
    is_known = name in _ORDERS and (name != "within" or isinstance(other, ast.List | ast.Tuple))
    return _compared(subject, _ORDERS[name], other) if is_known else None


def _compared(left: ast.expr, op: type[ast.cmpop], right: ast.expr) -> ast.expr:
    return ast.Compare(left=left, ops=[op()], comparators=[right])


def _raising(
    subject: ast.expr,
    calls: Sequence[ast.Call],
    args: Sequence[ast.expr],
    dotted: Callable[[ast.expr], str],
    stands_for: Callable[[ast.expr], Sequence[ast.expr]],
) -> Claim | None:
    """That a call raises: one that the chain notes itself, or that another chain did which has a name."""
    match args:
        case [ast.Name() | ast.Attribute()] | [ast.Name() | ast.Attribute(), ast.Constant(value=str())]:
            pass
        case _:
            return None
    if calls:
        [noted, *others] = calls
        if others:
            return None
        return Claim(called=ast.Call(func=subject, args=noted.args, keywords=noted.keywords), raised=tuple(args))
    bound = stands_for(subject)
    if len(bound) == 1 and bound[0] is not subject:
        _, links = _chain(bound[0], dotted)
        if [name for name, call, _ in links if call is not None] != ["called_with"]:
            return None
        obj, more_args, more_keywords = (
            attribute_of(subject, name) for name in ("obj", "_callable_args", "_callable_kw")
        )
        starred = ast.Starred(value=more_args, ctx=ast.Load())
        call = ast.Call(func=obj, args=[starred], keywords=[ast.keyword(arg=None, value=more_keywords)])
        return Claim(called=call, raised=tuple(args))
    return None

"""Cases of ESLint's RuleTester: what its linter reports of each is handed out, and what a case expects goes. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import Piece, covers, field_of, field_text, place_of, text_of, walk, words
from harness.languages.javascript.source import arguments_of, property_of
from miner.languages.javascript.stripping.sites import Assertion, Operand

if TYPE_CHECKING:
    from miner.languages.javascript.stripping.scopes import Scopes

_TESTER = re.compile(r"(?:\w+\.)*\w*RuleTester")
_EXPECTED = {"errors": "[]", "output": '""'}
"""What a case expects, and what stands in its place."""
_OF_NO_PRODUCT = words(
    "outdent dedent ts-dedent common-tags path node:path util node:util fs node:fs semver eslint eslint/package.json"
)
"""Modules that may make what is expected, or say which version of ESLint it is."""
_MOST_DEPTH = 20
_RUN_WITH = 3
"""A name, a rule and its cases."""


def read(call: Node, root: Node, scopes: Scopes) -> Assertion | None:
    """What `ruleTester.run(name, rule, cases)` asserts: unread where the product says what; None of another call."""
    function = field_of(call, "function")
    tester = field_of(function, "object") if property_of(function) == "run" else None
    arguments = arguments_of(call)
    if tester is None or len(arguments) != _RUN_WITH or any(node.type == "spread_element" for node in arguments):
        return None
    if not _is_tester(tester, scopes):
        return None
    expected = tuple(_expected(root))
    if not expected or not all(is_made(node, scopes) for node in expected):
        return Assertion(op="js.truth", operands=(), replaced=call, is_unread=True)
    operands = (Operand(node=None), Operand(node=None, static=True))
    return Assertion(op="js.lint", operands=operands, replaced=call, cases=expected)


def handing(number: int, call: Node, hand_out: str, *, is_recording: bool) -> tuple[Piece, ...]:
    """The call as it is written in the file that hands out; in a recording with what its cases expect."""
    tester = field_of(field_of(call, "function"), "object")
    parts = [place_of(node) for node in (tester, *arguments_of(call)) if node is not None]
    pieces: Sequence[Piece] = [piece for place in parts for piece in (", ", place)]
    return (f"{hand_out}.linted({number}", *pieces, f", {'true' if is_recording else 'false'})")


def without(expected: Node) -> str:
    """What stands in a case in place of what it expects."""
    if expected.type == "shorthand_property_identifier":
        return f"{text_of(expected)}: {_EXPECTED[text_of(expected)]}"
    return _EXPECTED[_key(expected.parent)]


def _is_tester(node: Node, scopes: Scopes) -> bool:
    """Whether an expression is a new RuleTester, or a name that is set to one."""
    binding = scopes.of_name(node)
    if binding is not None:
        if binding.is_written or not binding.is_whole or binding.init is None:
            return False
        node = binding.init
    return node.type == "new_expression" and _TESTER.fullmatch(field_text(node, "constructor")) is not None


def _expected(root: Node) -> Iterator[Node]:
    """What the cases of a file expect: objects with code, or with parts from elsewhere; a list of errors anywhere."""
    for node in walk(root):
        parts = {_key(part): part for part in node.named_children} if node.type == "object" else {}
        is_case = "code" in parts or any(part.type == "spread_element" for part in node.named_children)
        for key in sorted(_EXPECTED.keys() & parts.keys()):
            value = field_of(parts[key], "value") or parts[key]
            if value.type != "method_definition" and (is_case or (key == "errors" and value.type == "array")):
                yield value


def _key(part: Node | None) -> str:
    if part is not None and part.type == "shorthand_property_identifier":
        return text_of(part)
    return field_text(part, "key").strip("\"'")


def is_made(node: Node, scopes: Scopes, depth: int = 0) -> bool:
    """Whether a value is made of literals, of names of the file that are and of standard functions."""
    for part in walk(node):
        if part.type not in ("identifier", "shorthand_property_identifier"):
            continue
        binding = scopes.resolve(part)
        if binding is None and text_of(part) in ("require", "eval", "process"):
            return False
        if binding is None or binding.kind == "param" or binding.module in _OF_NO_PRODUCT:
            continue
        if covers(place_of(node), place_of(binding.declared)) and not binding.module:
            continue
        if binding.init is None or binding.module or depth > _MOST_DEPTH:
            return False
        if not is_made(binding.init, scopes, depth + 1):
            return False
    return True

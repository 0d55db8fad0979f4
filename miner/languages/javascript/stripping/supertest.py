"""What supertest is told to expect of a response: `request(app).get("/").expect(200, done)`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from harness.core.syntax import field_of, field_text, text_of, walk
from harness.languages.javascript.source import FUNCTIONS, arguments_of, root_of
from miner.languages.javascript.stripping.sites import Assertion, Operand

if TYPE_CHECKING:
    from miner.languages.javascript.stripping.scopes import Scopes
    from miner.languages.javascript.stripping.static import Statics

_DEEP: Mapping[str, object] = {"rules": "strict"}
_TEXTS = frozenset({"string", "template_string"})
_MOST_PARTS = 2
"""A status and a body, or the name of a header and its value."""


def read(call: Node, scopes: Scopes, statics: Statics) -> Assertion | None:
    """The assertion that a call in a chain of supertest makes; None of another call."""
    function = field_of(call, "function")
    if function is None or not _is_told(call, scopes):
        return None
    *parts, last = [None, *arguments_of(call)]
    callback = last if last is not None and _is_callback(last, scopes) else None
    given = [node for node in (*parts, last) if node is not None and node is not callback]
    known = all(map(statics.is_static, given)) and 1 <= len(given) <= _MOST_PARTS
    found = _compared(given) if known else None
    if callback is not None and callback.type in FUNCTIONS and not given:
        return None  # it looks at the response itself
    if found is None:
        return Assertion(op="js.truth", operands=(), replaced=call, is_unread=True)
    op, options, handed, kept = found
    operands = (Operand(node=None, text=handed), kept)
    return Assertion(op=op, operands=operands, replaced=call, options=options, receiver=function, callback=callback)


def _is_told(call: Node, scopes: Scopes) -> bool:
    """Whether a call is `expect` of what a request of supertest began, by itself or by the name that it has."""
    function = field_of(call, "function")
    if function is None or field_text(function, "property") != "expect":
        return False
    root = root_of(function)
    for _ in range(2):  # a name that is set to a request, or to an agent and then to a request of it
        binding = scopes.of_name(root)
        if binding is None or binding.is_written:
            return False
        if binding.module:
            return binding.module == "supertest"
        root = root_of(binding.init) if binding.kind in ("const", "let", "var") and binding.is_whole else None
    binding = scopes.of_name(root)
    return binding is not None and binding.module == "supertest" and not binding.is_written


def _is_callback(node: Node, scopes: Scopes) -> bool:
    binding = scopes.of_name(node)
    if binding is not None and binding.init is not None and binding.is_whole and not binding.is_written:
        return binding.init.type in FUNCTIONS | {"call_expression"}  # such as `after(2, done)`
    return node.type in FUNCTIONS or (binding is not None and binding.kind in ("param", "function"))


def _compared(given: Sequence[Node]) -> tuple[str, Mapping[str, object], str, Operand] | None:
    """Operator and options, what is handed out of the response, and what is kept."""
    first, *rest = given
    if not rest:
        handed = "__response__.status" if first.type == "number" else "__response__.text"
        if first.type == "object":  # an array may be statuses of which one is right
            return "js.deep", _DEEP, "__response__.body", Operand(node=first, static=True)
        op = {"number": "js.is", "regex": "js.match", **dict.fromkeys(_TEXTS, "js.is")}.get(first.type)
        return (op, {}, handed, Operand(node=first, static=True)) if op else None
    [second] = rest
    if first.type in _TEXTS and second.type in _TEXTS | {"regex"}:
        handed = f"__response__.headers[{text_of(first)}.toLowerCase()]"
        op = "js.match" if second.type == "regex" else "js.is"
        return op, {}, handed, Operand(node=second, static=True)
    is_written_out = not any(node.type == "identifier" for node in walk(second))
    body = {"object": "body", "array": "body", **dict.fromkeys(_TEXTS, "text")}.get(second.type)
    if first.type != "number" or body is None or not is_written_out:
        return None
    kept = Operand(node=None, static=True, text=f"[{text_of(first)}, {text_of(second)}]")
    return "js.deep", _DEEP, f"[__response__.status, __response__.{body}]", kept

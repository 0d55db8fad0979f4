"""A stripped test file in JavaScript in which nothing that throws ends a test, and missing names are made up. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tree_sitter import Node

from harness.core.syntax import Piece, callee_of, field_of, field_text, place_of, rendered, text_of, walk
from harness.languages.javascript.source import parse
from miner.languages.javascript.stripping.scopes import Binding, Scopes, required
from miner.languages.stripping.source import Edits

_BLOCKS = frozenset({"program", "statement_block"})
_LOOPS = frozenset({"while_statement", "do_statement"})
"""Without an error, one may never end."""
_KEPT_WHOLE = frozenset({"try_statement", "export_statement"})
"""A handler would never run; what is exported has to be declared as it is."""
_HOISTED = frozenset({"vitest", "@jest/globals", "node:test"})
"""What is imported of these may be called before anything else of the file runs."""
_IMPORTED, _REQUIRED = "(await import(", "(require("
_LEND, _ABLE = "__lend__(", "__able__("
_HEAD = (
    "var __made_up__ = new Proxy(function () {}, {"
    " get: (_, name) => (name === 'then' || typeof name === 'symbol' ? undefined : __made_up__),"
    " apply: (_, self, given) => (typeof given[0] === 'function' ? given[0] : __made_up__),"
    " construct: () => __made_up__ });"
    " var __of__ = (from, name) => {"
    " const value = name === 'default' && !from.__esModule && !('default' in from) ? from : from[name];"
    " return value === undefined ? __made_up__ : value; };"
    " var __lend__ = (to, names) => { for (const name of names)"
    " try { if (to[name] === undefined) to[name] = __made_up__; } catch {} return to; };"
    " var __able__ = (of, name) => { try { if (of != null && of[name] === undefined)"
    " Object.defineProperty(of, name, { value: () => of, configurable: true }); } catch {} return of; }; "
)
"""What stands for a name that a module does not have, or for all names of a module that is not there."""


def unstopped(text: str, path: str, hand_out: str, attempt: int, *, is_required: bool) -> str:
    """The file with statements and simple declarations in a `try` each; bodies of assertions (`hand_out(…)`) stay.

    Modules are imported while it runs, or, in the next attempt and where `is_required` says so in the first, required.
    """
    if attempt > 0:
        turn = (_REQUIRED, _IMPORTED) if is_required else (_IMPORTED, _REQUIRED)
        return text.replace(*turn) if attempt == 1 else text
    source = text.encode()
    root = parse(source, path)
    names = Scopes(root)
    edits: Edits = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        called = field_text(node, "function") if node.type == "call_expression" else ""
        if node.type in _LOOPS:
            continue
        if node.type in _KEPT_WHOLE or called == hand_out:
            edits |= {place: pieces for inner in walk(node) for place, pieces in _able(inner, hand_out).items()}
            continue
        waiting += node.named_children
        edits |= _able(node, hand_out)
        if node.type == "import_statement":
            edits |= _imported(node, names, _REQUIRED if is_required else _IMPORTED)
        elif node.parent is not None and node.parent.type in _BLOCKS:
            edits |= _tried(node, names, hand_out)
    at = next((node.start_byte for node in root.named_children if not _is_before_all(node)), None)
    if at is not None and any(
        name in str(piece) for name in (_LEND, _ABLE) for pieces in edits.values() for piece in pieces
    ):
        edits[at, at] = (_HEAD,)
    return rendered(source, 0, len(source), edits).decode()


def _is_before_all(node: Node) -> bool:
    is_directive = node.type == "expression_statement" and node.named_children[0].type == "string"
    return node.type in ("comment", "hash_bang_line") or is_directive


def _imported(statement: Node, names: Scopes, call: str) -> Edits:
    module = field_of(statement, "source")
    is_plain = [text_of(child) for child in statement.children[1:2]] not in (["type"], ["typeof"])
    if module is None or not is_plain or text_of(module).strip("\"'") in _HOISTED:
        return {}
    if any(child.type == "import_attribute" for child in statement.named_children):
        return {}
    value = f"__module_{statement.start_byte}__"
    pieces = f"var {value} = {{}}; try {{ {value} = {call}{text_of(module)})); }} catch {{}} "
    for binding in names.declared_in(statement):
        taken = f"{{ ...{value} }}" if binding.imported == "*" else f"__of__({value}, {json.dumps(binding.imported)})"
        pieces += f"var {binding.name} = {_LEND}{taken}, {_members(binding)}); "
    return {place_of(statement): (pieces,)}


def _members(binding: Binding) -> str:
    """The properties of a name that the file asks for, as JSON."""
    around = (use.parent for use in binding.uses)
    members = (field_of(node, "property") for node in around if node is not None)
    return json.dumps(sorted({text_of(member) for member in members if member is not None}))


def _tried(statement: Node, names: Scopes, hand_out: str) -> Edits:
    """A statement in a `try`; nothing where it stays: a directive, and what is no call or plain declaration."""
    if statement.type == "expression_statement" and statement.named_children[0].type != "string":
        return {place_of(statement): ("try { ", place_of(statement.named_children[0]), "; } catch {}")}
    declared = [child for child in statement.named_children if child.type == "variable_declarator"]
    if statement.type not in ("lexical_declaration", "variable_declaration") or not declared:
        return {}
    pieces: list[Piece] = []
    kind = "var" if statement.type == "variable_declaration" else "let"
    for declarator in declared:
        pattern, value = field_of(declarator, "name"), field_of(declarator, "value")
        if pattern is None or value is None or text_of(pattern) == hand_out:
            return {}
        bindings = names.declared_in(pattern)
        own = [binding.name for binding in bindings]
        pieces += [f"{kind} {', '.join(own)}; " if own else "", "try { (", place_of(pattern), " = "]
        pieces += [place_of(value), "); } catch {} "]
        pieces += _made_up(bindings) if required(value)[0] else ()
    return {place_of(statement): tuple(pieces)}


def _able(call: Node, hand_out: str) -> Edits:
    """The object that a method is called of, with such a method: one that gives that object."""
    function = callee_of(call)
    of = field_of(function, "object")
    if function is None or of is None or of.type in ("super", "import") or text_of(of) == hand_out:
        return {}
    name = field_of(function, "property")
    if function.type != "member_expression" or name is None or name.type != "property_identifier":
        return {}
    return {place_of(of): (f"{_ABLE}", place_of(of), f", {json.dumps(text_of(name))})")}


def _made_up(bindings: Iterable[Binding]) -> Iterable[str]:
    for binding in bindings:
        value = f"{binding.name} === undefined ? __made_up__ : {binding.name}"
        yield f"{binding.name} = {_LEND}{value}, {_members(binding)}); "

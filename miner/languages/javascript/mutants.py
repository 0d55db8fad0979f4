"""Faults that can be put into a file of JavaScript or TypeScript, by the names of mutmut's operators. Pure.

The text is edited at the ranges of nodes of the syntax tree, and nowhere else.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from miner.languages.base import Fault, FaultySource
from miner.languages.javascript.stripping.scopes import FUNCTIONS, arguments_of, dotted, parse
from miner.languages.syntax import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from tree_sitter import Node

Change = tuple["Node", str]
"""A node, and what comes in its place."""

_SWAPS = (
    {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "**": "*", "<<": ">>", ">>": "<<", ">>>": ">>"}
    | {"&": "|", "|": "&", "^": "&", "&&": "||", "||": "&&", "??": "&&", "++": "--", "--": "++"}
    | {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
)
_METHODS = (
    *(("toLowerCase", "toUpperCase"), ("trimStart", "trimEnd"), ("trimLeft", "trimRight"), ("padStart", "padEnd")),
    *(("indexOf", "lastIndexOf"), ("startsWith", "endsWith"), ("findIndex", "findLastIndex")),
)
_OTHER_METHOD = {**dict(_METHODS), **{other: method for method, other in _METHODS}}
_NOTHING = frozenset({"undefined", "null"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LETTERS = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\}|.)|([^\\]+)", re.DOTALL)
_CODECS = re.compile(r"utf-?8|ascii|latin1|hex|base64(?:url)?|binary|ucs-?2|utf-?16le", re.IGNORECASE)
_TELLING = frozenset({"debug", "info", "log", "warn", "error", "trace", "emitWarning", "deprecate"})
_LOGGERS = frozenset({"console", "log", "logger", "process", "util"})
TYPES = frozenset(
    {
        *("type_annotation", "type_parameters", "type_arguments", "type_predicate_annotation", "asserts_annotation"),
        *("interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature"),
        *("abstract_method_signature", "method_signature", "implements_clause", "accessibility_modifier"),
        *("override_modifier", "readonly"),
    }
)
"""What TypeScript alone reads."""
_LEFT_ALONE = TYPES | {"comment", "import_statement", "throw_statement", "decorator"}


def faulty(source: bytes, path: str, changed: Collection[int]) -> FaultySource | None:
    """The faults of nodes on some lines; None where the file can't be read. What is spared: docs/quality.md."""
    text = source.decode("utf-8", "surrogateescape")
    try:
        nodes = tuple(_nodes(parse(source, path), changed, ""))
    except (ValueError, RecursionError):
        return None
    is_ascii = text.isascii()

    def at(offset: int) -> int:
        return offset if is_ascii else len(source[:offset].decode("utf-8", "surrogateescape"))

    faults = (
        Fault(
            function=function, node=number, operator=operator, start=at(old.start_byte), end=at(old.end_byte), text=new
        )
        for number, (node, function) in enumerate(nodes)
        for operator, change in _OPERATORS.get(node.type, ())
        for old, new in change(node)
        if new != text_of(old)
    )
    return FaultySource(text=text, encoding="utf-8", faults=tuple(faults))


def _nodes(node: Node, changed: Collection[int], function: str) -> Iterator[tuple[Node, str]]:
    """Nodes on changed lines that may be mutated, each with the names of what it stands in."""
    if not any(node.start_point.row < line <= node.end_point.row + 1 for line in changed) or _is_left_alone(node):
        return
    yield node, function
    inside = f"{function}.{name}".lstrip(".") if (name := _name(node)) else function
    for child in node.named_children:
        yield from _nodes(child, changed, inside)


def _name(node: Node) -> str:
    """What a function or class is called, by itself or by what it is the value of."""
    if node.type in FUNCTIONS or node.type in ("class_declaration", "class"):
        around = node.parent
        name_node = node.child_by_field_name("name")
        if (
            name_node is None
            and around is not None
            and around.type in ("variable_declarator", "pair", "field_definition")
        ):
            name_node = next(filter(None, map(around.child_by_field_name, ("name", "key", "property"))), None)
        return text_of(name_node)
    return ""


def _is_left_alone(node: Node) -> bool:
    """What no test of behaviour would look at: types, imports, errors and what else is told to people."""
    if node.type in _LEFT_ALONE:
        return True
    if node.type == "expression_statement":
        return len(node.named_children) == 1 and node.named_children[0].type == "string"  # "use strict"
    if node.type == "export_statement":
        return node.child_by_field_name("source") is not None
    if node.type != "call_expression":
        return False
    names, first = dotted(node.child_by_field_name("function"))
    return text_of(first) in ("require", "import", "assert") or (
        bool(names) and names[-1] in _TELLING and (names[-2] if len(names) > 1 else text_of(first)) in _LOGGERS
    )


# -- operators: of a node, the changes that each is a fault


def _number(node: Node) -> Iterator[Change]:
    text = text_of(node)
    if _is_key(node):
        return
    if _NUMBER.fullmatch(text) and not re.match(r"0\d", text):
        yield node, repr(float(text) + 1) if "." in text else str(int(text) + 1)
    else:
        yield node, f"({text} + {'1n' if text.endswith('n') else '1'})"


def _is_key(node: Node) -> bool:
    around = node.parent
    key = around.child_by_field_name("key") if around is not None else None
    return key is not None and key.id == node.id


def _string(node: Node) -> Iterator[Change]:
    text = text_of(node)
    quote, inside = text[:1], text[1:-1]
    yield node, f"{quote}XX{inside}XX{quote}"
    if node.type == "string" and not _CODECS.fullmatch(inside):
        yield node, quote + _LETTERS.sub(lambda match: match[1].lower() if match[1] else match[0], inside) + quote
        yield node, quote + _LETTERS.sub(lambda match: match[1].upper() if match[1] else match[0], inside) + quote


def _template(node: Node) -> Iterator[Change]:
    if node.parent is None or node.parent.type != "call_expression":  # a tag reads it by rules of its own
        yield from _string(node)


def _boolean(node: Node) -> Iterator[Change]:
    yield node, "false" if node.type == "true" else "true"


def _assignment(node: Node) -> Iterator[Change]:
    value = node.child_by_field_name("right" if node.type == "assignment_expression" else "value")
    if value is not None and text_of(value) not in _NOTHING and not _is_left_alone(value):
        yield value, "undefined"


def _augmented(node: Node) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    if operator is not None:
        yield operator, "="


def _unary(node: Node) -> Iterator[Change]:
    argument = node.child_by_field_name("argument")
    if argument is not None and text_of(node.child_by_field_name("operator")) in ("!", "~"):
        yield node, text_of(argument)


def _swap(node: Node) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    other = _SWAPS.get(text_of(operator).removesuffix("=")) if node.type.startswith("augmented") else None
    other = f"{other}=" if other else _SWAPS.get(text_of(operator))
    if operator is not None and other:
        yield operator, other


def _arguments(node: Node) -> Iterator[Change]:
    """Each argument as nothing; and left out, where others follow it."""
    arguments = arguments_of(node)
    for argument, following in zip_longest(arguments, arguments[1:]):
        if argument.type == "spread_element":
            return
        if text_of(argument) != "undefined":
            yield argument, "undefined"
        around = node.child_by_field_name("arguments")
        if following is not None and around is not None:
            rest = [text_of(other) for other in arguments if other.id != argument.id]
            yield around, f"({', '.join(rest)})"


def _methods(node: Node) -> Iterator[Change]:
    function = node.child_by_field_name("function")
    method = function.child_by_field_name("property") if function is not None else None
    if method is not None and (other := _OTHER_METHOD.get(text_of(method))):
        yield method, other


def _lambda(node: Node) -> Iterator[Change]:
    body = node.child_by_field_name("body")
    if body is not None and body.type != "statement_block":
        yield body, "0" if text_of(body) in _NOTHING else "undefined"


def _break(node: Node) -> Iterator[Change]:
    around = node.parent
    while around is not None and around.type not in FUNCTIONS:
        around = around.parent
    if around is not None and not node.named_children:
        yield node, text_of(node).replace("break", "return", 1)


def _continue(node: Node) -> Iterator[Change]:
    yield node, text_of(node).replace("continue", "break", 1)


def _membership(node: Node) -> Iterator[Change]:
    if text_of(node.child_by_field_name("operator")) in ("in", "instanceof"):
        yield node, f"!({text_of(node)})"


def _cases(node: Node) -> Iterator[Change]:
    body = node.child_by_field_name("body")
    cases = body.named_children if body is not None else []
    if sum(case.type != "comment" for case in cases) > 1:
        yield from ((case, "") for case in cases if case.type != "comment")


def _ternary(node: Node) -> Iterator[Change]:
    condition = node.child_by_field_name("condition")
    if condition is not None:
        yield condition, f"(({text_of(condition)}) && false)"
        yield condition, f"(({text_of(condition)}) || true)"


_OPERATORS: Mapping[str, tuple[tuple[str, Callable[[Node], Iterator[Change]]], ...]] = {
    "number": (("number", _number),),
    "string": (("string", _string),),
    "template_string": (("string", _template),),
    "true": (("name", _boolean),),
    "false": (("name", _boolean),),
    "variable_declarator": (("assignment", _assignment),),
    "assignment_expression": (("assignment", _assignment),),
    "field_definition": (("assignment", _assignment),),
    "public_field_definition": (("assignment", _assignment),),
    "augmented_assignment_expression": (("augmented_assignment", _augmented), ("swap_op", _swap)),
    "unary_expression": (("remove_unary_ops", _unary), ("swap_op", _swap)),
    "update_expression": (("swap_op", _swap),),
    "binary_expression": (("swap_op", _swap), ("keywords", _membership)),
    "call_expression": (("arg_removal", _arguments), ("symmetric_string_methods_swap", _methods)),
    "new_expression": (("arg_removal", _arguments),),
    "arrow_function": (("lambda", _lambda),),
    "break_statement": (("keywords", _break),),
    "continue_statement": (("keywords", _continue),),
    "switch_statement": (("match", _cases),),
    "ternary_expression": (("if_exp", _ternary),),
}

"""Faults that can be put into a file of JavaScript or TypeScript. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from tree_sitter import Node

from harness.core.syntax import enclosing, field_text, text_of
from harness.languages.javascript.source import FUNCTIONS, arguments_of
from miner.languages import mutants
from miner.languages.javascript.stripping.scopes import dotted
from miner.languages.mutants import Change, Mutations

_METHODS = (
    *(("toLowerCase", "toUpperCase"), ("trimStart", "trimEnd"), ("trimLeft", "trimRight"), ("padStart", "padEnd")),
    *(("indexOf", "lastIndexOf"), ("startsWith", "endsWith"), ("findIndex", "findLastIndex")),
)
_NOTHING = frozenset({"undefined", "null"})
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


def _name(node: Node) -> str:
    """What a function or class is called, by itself or by what it is the value of."""
    if node.type not in FUNCTIONS and node.type not in ("class_declaration", "class"):
        return ""
    around = node.parent
    is_value = around is not None and around.type in ("variable_declarator", "pair", "field_definition")
    names = (field_text(around, name) for name in ("name", "key", "property")) if is_value else ()
    return field_text(node, "name") or next(filter(None, names), "")


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


def _template(node: Node) -> Iterator[Change]:
    if node.parent is None or node.parent.type != "call_expression":  # a tag reads it by rules of its own
        yield from mutants.string(node)


def _assignment(node: Node) -> Iterator[Change]:
    value = node.child_by_field_name("right" if node.type == "assignment_expression" else "value")
    if value is not None and text_of(value) not in _NOTHING and not _is_left_alone(value):
        yield value, "undefined"


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


def _lambda(node: Node) -> Iterator[Change]:
    body = node.child_by_field_name("body")
    if body is not None and body.type != "statement_block":
        yield body, "0" if text_of(body) in _NOTHING else "undefined"


def _break(node: Node) -> Iterator[Change]:
    if enclosing(node.parent, FUNCTIONS) is not None and not node.named_children:
        yield node, text_of(node).replace("break", "return", 1)


def _membership(node: Node) -> Iterator[Change]:
    if field_text(node, "operator") in ("in", "instanceof"):
        yield node, f"!({text_of(node)})"


MUTATIONS = Mutations(
    is_left_alone=_is_left_alone,
    name=_name,
    operators={
        "number": (("number", mutants.number),),
        "string": (("string", mutants.cased_string),),
        "template_string": (("string", _template),),
        "true": (("name", mutants.boolean),),
        "false": (("name", mutants.boolean),),
        "variable_declarator": (("assignment", _assignment),),
        "assignment_expression": (("assignment", _assignment),),
        "field_definition": (("assignment", _assignment),),
        "public_field_definition": (("assignment", _assignment),),
        "augmented_assignment_expression": (("augmented_assignment", mutants.augmented), ("swap_op", mutants.swap)),
        "unary_expression": (("remove_unary_ops", mutants.unary), ("swap_op", mutants.swap)),
        "update_expression": (("swap_op", mutants.swap),),
        "binary_expression": (("swap_op", mutants.swap), ("keywords", _membership)),
        "call_expression": (
            ("arg_removal", _arguments),
            ("symmetric_string_methods_swap", mutants.other_method(_METHODS, "function", "property")),
        ),
        "new_expression": (("arg_removal", _arguments),),
        "arrow_function": (("lambda", _lambda),),
        "break_statement": (("keywords", _break),),
        "continue_statement": (("keywords", mutants.continued),),
        "switch_statement": (("match", mutants.cases),),
        "ternary_expression": (("if_exp", mutants.ternary),),
    },
)

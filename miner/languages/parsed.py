"""Source files of a compiled language, read by a grammar of tree-sitter. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import field_of, text_of, upward, walk
from harness.quality.base import Names
from miner.languages import mutants
from miner.languages.base import FaultySource, UnparsedCode
from miner.languages.mutants import Mutations

_STRING = re.compile(r"b?(?:r#*)?(\"{3}|[\"`])(.*)\1#*", re.DOTALL)
_LAYOUT = frozenset({"\n", ";", ","})
"""What stands between parts of a tree that tells them apart by itself."""


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """What the nodes of a language's trees are called."""

    suffix: str
    parse: Callable[[bytes], Node]
    """Raises ValueError where it can't be read."""
    declared: frozenset[str]
    """What has a `name` that other files can ask for; functions are named beside them."""
    functions: frozenset[str]
    owners: frozenset[str]
    """What functions stand in, by a `name` or a `type`."""
    bodies: frozenset[str]
    """What functions do: the names declared in there are their own."""
    strings: frozenset[str]
    left_alone: frozenset[str]
    """What no test of behaviour would look at."""
    told: re.Pattern[str]
    """How calls begin that tell people something."""
    methods: tuple[tuple[str, str], ...]
    """Names of what is called, in pairs of opposites."""
    called: tuple[str, ...]
    """The fields that lead from a call to that name."""
    idle: Callable[[Node], bool] = lambda _: False
    """What of a tree makes no difference to what runs, beside comments and layout."""


class ParsedCode(UnparsedCode):
    """By the syntax tree; which names a change brings and a compiler misses is told by their texts."""

    mutator = "tree_sitter"

    def __init__(self, grammar: Grammar) -> None:
        super().__init__(grammar.suffix)
        self._grammar = grammar
        methods = mutants.other_method(grammar.methods, *grammar.called)
        self._mutations = Mutations(
            operators={
                **dict.fromkeys(_NUMBERS, (("number", mutants.number),)),
                **dict.fromkeys(grammar.strings, (("string", mutants.string),)),
                **dict.fromkeys(_CALLS, (("symmetric_string_methods_swap", methods),)),
                **_OPERATORS,
            },
            is_left_alone=self._is_left_alone,
            name=self._name,
        )

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """What these lines declare for others, and every name on them; nothing is given by name."""
        if (root := self._parsed(source)) is None:
            return None
        nodes = [node for node in walk(root) if node.start_point.row + 1 in lines]
        return Names(
            introduced=frozenset(text_of(node) for node in self._declared(root) if node.start_point.row + 1 in lines),
            asked=frozenset(text_of(node) for node in nodes if node.type.endswith("identifier")),
            keywords=frozenset(),
            texts=frozenset(self._texts(nodes)),
        )

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """Those of code; none of texts and comments."""
        root = self._parsed(source)
        return frozenset(text_of(node) for node in walk(root) if node.type.endswith("identifier")) if root else None

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """By the types that they belong to, and their names."""
        root = self._parsed(source)
        return dict(self._functions(root)) if root else None

    def reads(self, path: str) -> bool:
        """By its ending."""
        return self.is_source(path)

    def form(self, path: str, source: bytes) -> str | None:
        """A digest of the tree; comments and layout count nowhere."""
        if (root := self._parsed(source)) is None:
            return None
        tokens = "\0".join(_tokens(root, self._grammar.idle))
        return hashlib.sha256(tokens.encode("utf-8", "surrogateescape")).hexdigest()

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """See `Mutations.faulty`."""
        root = self._parsed(source)
        return self._mutations.faulty(source, root, changed) if root else None

    def _parsed(self, source: bytes) -> Node | None:
        try:
            return self._grammar.parse(source)
        except ValueError:
            return None

    def _is_left_alone(self, node: Node) -> bool:
        grammar = self._grammar
        return node.type in grammar.left_alone or (
            node.type in _CALLS and grammar.told.match(text_of(node)) is not None
        )

    def _name(self, node: Node) -> str:
        if node.type not in self._grammar.functions | self._grammar.owners:
            return ""
        name = text_of(field_of(node, "name") or field_of(node, "type"))
        receiver = field_of(node, "receiver")
        owners = (text_of(part) for part in walk(receiver) if part.type == "type_identifier") if receiver else iter(())
        return ".".join(filter(None, (next(owners, ""), name)))

    def _functions(self, root: Node) -> Iterator[tuple[str, range]]:
        for node in walk(root, self._grammar.bodies):
            if node.type in self._grammar.functions:
                names = map(self._name, upward(node))
                lines = range(node.start_point.row + 1, node.end_point.row + 2)
                yield ".".join(filter(None, reversed(list(names)))), lines

    def _declared(self, root: Node) -> Iterator[Node]:
        """Names that other files can ask for."""
        for node in walk(root, self._grammar.bodies):
            if node.type in self._grammar.declared | self._grammar.functions:
                yield from node.children_by_field_name("name")

    def _texts(self, nodes: Iterable[Node]) -> Iterator[str]:
        for node in nodes:
            is_module = node.parent is not None and node.parent.type in self._grammar.left_alone
            match = _STRING.fullmatch(text_of(node)) if node.type in self._grammar.strings and not is_module else None
            if match:
                yield match[2].strip()


def _tokens(root: Node, idle: Callable[[Node], bool]) -> Iterator[str]:
    """The leaves of a tree, with its own brackets."""
    rest: list[Node | None] = [root]
    while rest:
        node = rest.pop()
        if node is None:
            yield ")"
        elif idle(node):
            continue
        elif not node.children:
            yield from () if node.type in _LAYOUT or "comment" in node.type else (text_of(node),)
        elif "comment" not in node.type:
            yield f"({node.type}"
            rest += [None, *reversed(node.children)]


_NUMBERS = (
    *("int_literal", "float_literal", "integer_literal", "decimal_integer_literal", "hex_integer_literal"),
    *("octal_integer_literal", "binary_integer_literal", "decimal_floating_point_literal"),
)
_CALLS = ("call_expression", "method_invocation", "macro_invocation")
_OPERATORS: Mapping[str, tuple[tuple[str, mutants.Operator], ...]] = {
    **dict.fromkeys(("true", "false", "boolean_literal"), (("name", mutants.boolean),)),
    **dict.fromkeys(
        ("assignment_statement", "assignment_expression", "compound_assignment_expr"),
        (("augmented_assignment", mutants.augmented), ("swap_op", mutants.swap)),
    ),
    **dict.fromkeys(
        ("binary_expression", "inc_statement", "dec_statement", "update_expression"), (("swap_op", mutants.swap),)
    ),
    **dict.fromkeys(("continue_statement", "continue_expression"), (("keywords", mutants.continued),)),
    **dict.fromkeys(
        ("expression_switch_statement", "type_switch_statement", "switch_expression"), (("match", mutants.cases),)
    ),
    "unary_expression": (("remove_unary_ops", mutants.unary),),
    "ternary_expression": (("if_exp", mutants.ternary),),
}
"""Those of Python's that make code which most often compiles, for any grammar."""

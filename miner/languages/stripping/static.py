"""What of a test file does not depend on the product: what is the same of it in each language. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from tree_sitter import Node

from harness.core.grouping import grouped
from harness.core.syntax import arguments_of, bare, field_of, is_field, named, overlap, text_of, upward, walk
from miner.languages.stripping.branches import conditions
from miner.languages.stripping.scopes import Binding, Scopes

Step = str | int
"""From a row of a table to what is in it: a field or property, or an index."""
MOST_DEPTH = 60
Scopes_T = TypeVar("Scopes_T", bound=Scopes[Any])


class Statics(Generic[Scopes_T]):
    """Tells what of one file is static; a language says of each type of node what it takes for that."""

    literals: ClassVar[Collection[str]]
    """Nodes that are written out."""
    made_of: ClassVar[Collection[str]]
    """Nodes that are static where all that is in them is."""
    functions: ClassVar[Collection[str]] = ()
    """Nodes of functions."""
    told_by: ClassVar[Mapping[str, str]] = {}
    """Nodes that are static where one part of them is, with the name of that."""

    def __init__(self, scopes: Scopes_T, shared: Collection[str] = ()) -> None:
        """`shared` are functions that other files call."""
        self._scopes, self._shared = scopes, shared
        self._open: set[int] = set()
        self._assumed: set[object] = set()
        """Names, and columns of tables, that are taken for static while it is asked what is made of them."""
        self._tells = self._by_type()
        self._named = grouped((node.id, name) for name, nodes in scopes.functions.items() for node in nodes)
        """By the id of a function: its names."""

    def is_static(self, node: Node | None, depth: int = 0) -> bool:
        """Whether an expression depends on nothing of the product; False of none."""
        if node is None or depth > MOST_DEPTH:
            return False
        node = self._bare(node)
        if node.type in self.made_of:
            return self._are_static(_parts(node), depth + 1)
        if node.type in self.told_by:
            return self.is_static(field_of(node, self.told_by[node.type]), depth + 1)
        tells = self._tells.get(node.type)
        return tells(node, depth + 1) if tells is not None else node.type in self.literals

    def _by_type(self) -> Mapping[str, Callable[[Node, int], bool]]:
        """By the type of a node of another kind: what tells whether it is static, at some depth."""
        raise NotImplementedError

    def _bare(self, node: Node) -> Node:
        return bare(node)

    def _are_static(self, nodes: Iterable[Node], depth: int) -> bool:
        return all(self.is_static(node, depth) for node in nodes)

    def _unless_open(self, key: int, tells: Callable[[], bool]) -> bool:
        """What this tells; False where that is being asked already, as a name may come back to itself."""
        if key in self._open:
            return False
        self._open.add(key)
        try:
            return tells()
        finally:
            self._open.discard(key)

    @contextmanager
    def _assuming(self, *keys: object) -> Iterator[None]:
        fresh = set(keys) - self._assumed
        self._assumed |= fresh
        try:
            yield
        finally:
            self._assumed -= fresh

    def _given(self, name: str, parameters: Sequence[Binding | None], binding: Binding) -> list[Node] | None:
        """What a parameter of the file's own function is given, call by call; None where that can't be told."""
        if binding not in parameters or name in self._shared or len(self._scopes.functions[name]) != 1:
            return None
        calls = self._scopes.calls.get(name, [])
        if not calls or any(len(arguments_of(call)) != len(parameters) for call in calls):
            return None
        return [arguments_of(call)[parameters.index(binding)] for call in calls]

    def _is_choice(self, operands: Iterable[Node]) -> bool:
        """Whether the product says which of several operands it is, as calls of one function stand in its branches.

        So it is where functions with these calls are called in its branches themselves.
        """
        return any(self._is_by_choice(node) for of in self._where_they_differ(operands) for node, _ in of)

    def _where_they_differ(self, operands: Iterable[Node]) -> list[list[tuple[Node, set[tuple[object, ...]]]]]:
        """Of each function in which several operands stand, or calls that lead to some, these, where they differ.

        With each is what is the same for two of one value.
        """
        sites: dict[int, dict[int, tuple[Node, set[tuple[object, ...]]]]] = {}
        rest = [(operand, {self._form(operand)}) for operand in operands]
        while rest:
            node, forms = rest.pop()
            function = next((at for at in self._upward(node) if at != node and at.type in self.functions), None)
            site = sites.setdefault(function.id if function is not None else 0, {}).setdefault(node.id, (node, set()))
            if not forms <= site[1]:
                site[1].update(forms)
                rest += [(call, set(site[1])) for call in self._calls_to(function)]
        groups = [list(of.values()) for of in sites.values() if len(of) > 1]
        return [of for of in groups if len(set().union(*(forms for _, forms in of))) > 1]

    def _calls_to(self, function: Node | None) -> list[Node]:
        """Where a function of the file is called by its name alone, or stands where something else may run it."""
        if function is None:
            return []
        return [call for name in self._named.get(function.id, ()) for call in self._scopes.calls.get(name, [])]

    def _form(self, operand: Node) -> tuple[object, ...]:
        """What is the same for two operands if they have one value, as far as the file tells."""
        bindings = [self._scopes.resolve(name) for name in walk(operand) if name.type == "identifier"]
        is_set = any(binding is not None and binding.is_written for binding in bindings)
        return text_of(operand), *map(id, bindings), operand.id if is_set else None

    def _is_by_choice(self, node: Node, within: Node | None = None) -> bool:
        """Whether the product says if a function, or one turn of a loop, comes to a node; a function if it is run."""
        for at in self._upward(node):
            around = at.parent
            is_whole = within is None and at.type in self.functions and at != node
            if around is None or at == within or is_whole:
                return False
            if not all(map(self._is_settled, self._conditions(around, at))):
                return True
        return False

    def _upward(self, node: Node) -> Iterator[Node]:
        """A node and what is around it, the innermost first."""
        return upward(node)

    def _conditions(self, around: Node, at: Node) -> list[Node]:
        """What says whether a part of a node is come to, and how often."""
        return conditions(around, at, self.functions)

    def _is_settled(self, condition: Node) -> bool:
        """Whether all names in a condition are static, or what the language has: its classes, the platform."""
        for name in walk(condition):
            binding = self._scopes.resolve(name) if name.type == "identifier" else None
            is_open = binding is not None and id(binding) in self._open
            if name.type == "identifier" and not (is_open or self._is_of_language(name) or self.is_static(name)):
                return False
        return True

    def _is_of_language(self, name: Node) -> bool:
        """Whether a name is none of a file."""
        return self._scopes.resolve(name) is None


def _parts(node: Node) -> list[Node]:
    """What is in a node; of a sum its terms, as many as there are."""
    parts = named(node)
    while node.type == "binary_expression" and parts and parts[0].type == node.type:
        node = parts[0]
        parts = [*named(node), *parts[1:]]
    return parts


class Column(Protocol):
    """What stands at one place of each row of a table."""

    @property
    def key(self) -> tuple[int, tuple[Step, ...]]:
        """The table, and the steps from a row of it to there."""


Column_T = TypeVar("Column_T", bound=Column)


def unread_columns(uses: Iterable[tuple[Column_T, bool]]) -> Iterator[Column_T]:
    """The columns of which nothing is read; of each use of one it is told whether that reads it."""
    columns: dict[tuple[int, tuple[Step, ...]], Column_T] = {}
    read: set[tuple[int, tuple[Step, ...]]] = set()
    for column, is_read in uses:
        columns[column.key] = column
        read |= {column.key} if is_read else set()
    for (table, steps), column in columns.items():
        if not any(other == table and overlap(path, steps) for other, path in read):
            yield column


def member_of(use: Node, kinds: Collection[str], part: str) -> Node:
    """The longest member access that begins with a name, but for a method that is called.

    `kinds` are the nodes of members, `part` is what they are of.
    """
    top = use
    while top.parent is not None and top.parent.type in kinds and is_field(top.parent, part, top):
        if is_field(top.parent.parent, "function", top.parent):
            break
        top = top.parent
    return top

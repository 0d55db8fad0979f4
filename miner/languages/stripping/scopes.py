"""What names of a file are bound to, and where they are used: what is the same in each language. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from tree_sitter import Node

from harness.core.syntax import enclosing, text_of, walk


@dataclass(eq=False)
class Binding:
    """A name in one scope."""

    name: str
    kind: str
    """A word for what declares it; each language has its own."""
    declared: Node
    """Its identifier where it is declared."""
    statement: Node
    """What declares it: a statement, specification or parameter."""
    init: Node | None = None
    """What it alone is set to there; of a loop's what is gone over."""
    uses: list[Node] = field(default_factory=list)
    is_written: bool = False
    """It is, or may be, set again."""


Binding_T = TypeVar("Binding_T", bound=Binding)


class Scopes(Generic[Binding_T]):
    """The bindings of one file, each with its uses; a language says what declares names and where they are seen."""

    opening: ClassVar[Collection[str]]
    """Nodes that open a scope, the file among them."""
    names: ClassVar[Collection[str]] = frozenset({"identifier"})
    """Nodes that may use a name."""

    def __init__(self, root: Node) -> None:
        self._bindings: dict[int, dict[str, list[Binding_T]]] = {}
        self._declared: dict[int, Binding_T] = {}
        """By the id of the identifier that declares it."""
        self.functions: dict[str, list[Node]] = {}
        """By name: those of the file, where a language tells."""
        self.calls: dict[str, list[Node]] = {}
        """By name: all calls of what is called so alone."""
        for node in walk(root):
            self._declare(node)
        for node in walk(root):
            if node.type in self.names and node.id not in self._declared:
                self._use(node)

    def resolve(self, node: Node) -> Binding_T | None:
        """What a name stands for where it is used; None for what is declared elsewhere."""
        return self._declared.get(node.id) or self._seen_from(node)

    def of_name(self, node: Node | None) -> Binding_T | None:
        """What an expression stands for that is a name alone; None of any other."""
        return self.resolve(node) if node is not None and node.type == "identifier" else None

    def bindings(self) -> list[Binding_T]:
        """All of them, in the order in which they are declared."""
        return list(self._declared.values())

    def _declare(self, node: Node) -> None:
        """Bind the names that a node declares."""
        raise NotImplementedError

    def _is_seen(self, binding: Binding_T, scope: Node, node: Node) -> bool:
        """Whether a name of a scope around a node is known there."""
        raise NotImplementedError

    def _use(self, node: Node) -> None:
        """Add a use to what it is one of."""
        if (binding := self.resolve(node)) is not None:
            binding.uses.append(node)

    def _bind(self, at: Node | None, binding: Binding_T) -> None:
        """Bind a name in the scope that a node opens or stands in."""
        if (scope := enclosing(at, self.opening)) is not None:
            self._declared[binding.declared.id] = binding
            self._bindings.setdefault(scope.id, {}).setdefault(binding.name, []).append(binding)

    def _seen_from(self, node: Node) -> Binding_T | None:
        return self.seen(text_of(node), node)

    def seen(self, name: str, node: Node) -> Binding_T | None:
        """What a name stands for at a node; None for what is declared elsewhere."""
        scope: Node | None = node
        while scope is not None:  # most of the time that a file takes is spent here
            for binding in reversed(self._bindings.get(scope.id, {}).get(name, ())):
                if self._is_seen(binding, scope, node):
                    return binding
            scope = scope.parent
        return None

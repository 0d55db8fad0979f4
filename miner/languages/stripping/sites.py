"""The assertions of a test file: what is the same of them in each language. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tree_sitter import Node

from miner.languages import base
from miner.languages.base import Mode
from miner.languages.stripping.static import Statics

if TYPE_CHECKING:
    from miner.languages.stripping.helpers import Helper

Options = dict[str, object]
NOT: Options = {"not": True}
AS_IT_IS = ("", "")


@dataclass(frozen=True, kw_only=True)
class Operand:
    """One side of an assertion."""

    node: Node
    static: bool = False
    around: tuple[str, str] = AS_IT_IS
    """What is put before and after its text: the assertion looks at a part of it, or as at a value of another type."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Assertion(base.Assertion):
    """One assertion, in the terms of the host's judge (harness/judging)."""

    operands: tuple[Any, ...]
    replaced: Node
    """What of the file changes: a statement, a call, a condition or a part of one, a function."""
    body: Node | None = None
    """What is called, and watched for what it throws."""
    is_unread: bool = False
    """It is one in a form that is not known, so that it stays as it is."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What can be tried, best first."""
        if self.is_unread:
            return (Mode.INSIDE,)
        result = (Mode.RESULT,) if self.has_result else ()
        return (Mode.EXPECTED if self.is_expected else Mode.OPERANDS, *result, Mode.INSIDE)

    @property
    def is_expected(self) -> bool:
        """Whether something of it is kept outside."""
        return self.op == "no_raise" or self.body is not None or any(operand.static for operand in self.operands)

    @property
    def has_result(self) -> bool:
        """Whether what comes of comparing can be handed out as well."""
        return False


Statics_T = TypeVar("Statics_T", bound=Statics[Any])


class Reader(Generic[Statics_T]):
    """Reads the assertions of one file."""

    _statics: Statics_T

    def _operand(self, node: Node, around: tuple[str, str] = AS_IT_IS) -> Operand:
        return Operand(node=node, static=self._statics.is_static(node), around=around)

    def _sides_of(self, helper: Helper, arguments: Sequence[Node], looking: Collection[str]) -> tuple[Any, ...]:
        """What a function of another file compares; `looking` are methods that nothing of the product stands behind."""
        return tuple(
            replace(operand, static=operand.static and side.methods <= frozenset(looking))
            for side in helper.sides
            for operand in [self._operand(arguments[side.argument], side.around)]
        )


def contrary(options: Mapping[str, object]) -> Options:
    """The options of an assertion that holds where another does not."""
    rest = {name: value for name, value in options.items() if name != "not"}
    return rest if options.get("not") else {**rest, "not": True}

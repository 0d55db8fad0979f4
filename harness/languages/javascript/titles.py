"""Tests of a source by the titles that its calls give them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from harness.core.syntax import callee_of, field_of, named, text_of, upward, walk, words
from harness.languages.javascript.source import arguments_of, property_of, root_of

_TESTS = words("it test xit fit xtest specify xspecify")
_MAKERS = _TESTS | words("describe context suite xdescribe fdescribe xcontext experiment QUnit")
_HOOKS = ("before", "after")
_ROWS = re.compile(r"%[%a-zA-Z#$]|\$\{?[\w.#]+\}?")
_ANY = ".*"


@dataclass(frozen=True, kw_only=True)
class TitledCall:
    """A call that makes a test or a suite."""

    node: Node
    titles: tuple[str, ...]
    """Patterns of the titles around it and of its own."""
    is_suite: bool
    """Whether it has other such calls in it."""

    @property
    def is_made(self) -> bool:
        """Whether a part of its titles is made when it runs."""
        return self.looseness[0] > 0

    @property
    def looseness(self) -> tuple[int, int]:
        """How much its titles leave open, to compare: parts that are made, and letters that are written out."""
        letters = sum(map(len, self.titles))
        return sum(title.count(_ANY) for title in self.titles), -letters


def titled_calls(root: Node) -> list[TitledCall]:
    """The calls of a source that make tests and suites, in the order of the text."""
    suites = _own_makers(root)
    titles = {node.id: title for node in walk(root) if (title := _title_of(node, suites)) is not None}
    calls = [node for node in walk(root) if node.id in titles]
    paths = {node.id: [at.id for at in upward(node) if at.id in titles][::-1] for node in calls}
    outer = {above for path in paths.values() for above in path[:-1]}
    return [
        TitledCall(node=node, titles=tuple(titles[at] for at in paths[node.id]), is_suite=node.id in outer)
        for node in calls
    ]


def called(name: str, calls: Sequence[TitledCall]) -> list[TitledCall]:
    """The calls that make the test of a name: all titles around it and its own in one text.

    Runners that know the last title alone (tape), or one more than the source shows (uvu, QUnit), are met where no
    call has all of them.
    """
    ways = (
        lambda call: " > ".join(call.titles),
        lambda call: f"(?:.* > )?{' > '.join(call.titles)}",
        lambda call: call.titles[-1],
    )
    for pattern_of in ways:
        found = [call for call in calls if re.fullmatch(pattern_of(call), name, re.DOTALL)]
        if found:
            closest = min(call.looseness for call in found)
            return [call for call in found if call.looseness == closest]
    return []


def _own_makers(root: Node) -> frozenset[str]:
    """Names that a file gives to what makes its tests: `const Prices = suite("…")` of uvu."""
    return frozenset(
        text_of(field_of(node, "name"))
        for node in walk(root)
        if node.type == "variable_declarator" and text_of(callee_of(field_of(node, "value"))) == "suite"
    )


def _title_of(node: Node, makers: frozenset[str]) -> str | None:
    """The pattern of the title that a call gives a test or a suite; None of another node."""
    callee = callee_of(node)
    given = arguments_of(node) if callee is not None else []
    if callee is None or len(given) < 2:  # noqa: PLR2004 - a title and a function
        return None
    if property_of(callee).startswith(_HOOKS) or property_of(callee) == "each":
        return None
    is_made = property_of(callee) in _TESTS or text_of(root_of(callee)) in _MAKERS | makers
    return "".join(_pattern(given[0])) if is_made else None


def _pattern(node: Node) -> Iterator[str]:
    """What a title can be."""
    if node.type == "binary_expression":
        for side in (field_of(node, "left"), field_of(node, "right")):
            yield from _pattern(side) if side is not None else (_ANY,)
    elif node.type in ("string", "template_string"):
        for part in named(node):
            if part.type == "string_fragment":
                yield _ANY.join(map(_plain, _ROWS.split(text_of(part))))
            else:
                yield _escape(text_of(part)) if part.type == "escape_sequence" else _ANY
    else:
        yield _ANY


def _plain(text: str) -> str:
    return re.escape(re.sub(r"\s+", " ", text))


def _escape(text: str) -> str:
    letter = text[1:]
    if letter in ("n", "t", "r"):
        return " "
    return re.escape(letter) if len(letter) == 1 and not letter.isalnum() else _ANY

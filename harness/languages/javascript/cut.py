"""A test file of JavaScript or TypeScript cut down: as it was before the change, plus some of the change's tests. Pure.

What is kept is named by titles. A test brings what it needs of its file: names, what runs before and after it, and of a
table that its titles are made of the row that has them. Everything else that the change brought stays out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from tree_sitter import Node

from harness.core.syntax import Place, covers, named, place_of, text_of, upward, walk
from harness.languages.base import CannotCutError, Names, lines_of
from harness.languages.javascript.changes import STATEMENTS, Piece, defined, is_name, pieces
from harness.languages.javascript.source import parse
from harness.languages.javascript.titles import TitledCall, called, titled_calls

_LITERALS = frozenset({"string_fragment", "number", "template_substitution", "true", "false", "null", "undefined"})


def cut(path: str, before: str | None, after: str, keep: Collection[Names]) -> str:
    """The file as it was before (None where it is new), with these tests of how it is after.

    Raises:
        CannotCutError: a test or what it needs cannot be told from the rest.

    """
    for text in (before or "", after):
        lines_of(text)
    old, new = _parsed(before or "", path), _parsed(after, path)
    titles = [name for names in keep for name in names]
    text = _Writing(before or "", after, _Choice(old, new, titles).chosen).text()
    _check(old, _parsed(text, path), titles)
    return text


def _parsed(text: str, path: str) -> Node:
    try:
        return parse(text.encode(), path)
    except (ValueError, RecursionError) as error:
        raise CannotCutError("the file cannot be read as its name says") from error


class _Choice:
    """The pieces of a change that some tests need."""

    def __init__(self, old: Node, new: Node, titles: Collection[str]) -> None:
        calls = titled_calls(new)
        self._tests = [place_of(call.node) for call in calls]
        self._pieces = pieces(old, new, self._holds_tests)
        self._all = [part for piece in self._pieces for part in piece.all()]
        found = {title: called(title, calls) for title in titles}
        if not all(found.values()):
            raise CannotCutError("a test is not written out in its file")
        self._targets = [call.node for group in found.values() for call in group]
        around = {at.id: at for target in self._targets for at in upward(target) if at.type in STATEMENTS}
        self._definitions = [
            (names, node)
            for scope in around.values()
            for node in named(scope)
            if (names := defined(node)) and not self._holds_tests(node)
        ]
        self.chosen: set[Piece] = set()
        self._passed_over: set[Piece] = set()
        for title, group in found.items():
            for call in group:
                self._add_test(call, title)
        self._add_needs()
        if not self.chosen:
            raise CannotCutError("what makes a test fail is not in its own file")

    def _holds_tests(self, node: Node) -> bool:
        return any(covers(place_of(node), test) for test in self._tests)

    def _add_test(self, call: TitledCall, title: str) -> None:
        """Take in a test itself, and the row of a table that has its title."""
        place = place_of(call.node)
        names = self._needed(_names_around(call.node))
        rows = [
            piece
            for piece in self._all
            if piece.is_row
            and call.is_made
            and (
                covers(place_of(piece.statement), place) or (self._is_seen(piece, [call.node]) and piece.names & names)
            )
        ]
        best = max(rows, key=lambda piece: _likeness(piece.node, title), default=None)
        if best is not None and _likeness(best.node, title):
            self.chosen.add(best)
            self._passed_over.update(rows)
        for piece in self._all:
            own = place_of(piece.node)
            if piece not in self._passed_over and (covers(own, place) or covers(place, own)):
                self.chosen.add(piece)

    def _is_seen(self, piece: Piece, nodes: Collection[Node]) -> bool:
        """Whether what a piece defines can be used where some nodes are."""
        scope = piece.statement.parent
        return scope is None or any(covers(place_of(scope), place_of(node)) for node in nodes)

    def _add_needs(self) -> None:
        """Take in what runs for every test, and what is needed by name, of the change or through what was there."""
        for piece in self._all:
            if self._is_seen(piece, self._targets) and _runs_by_itself(piece) and not self._holds_tests(piece.node):
                self.chosen.add(piece)
        needed = {name for target in self._targets for name in _names_around(target)}
        needed |= {name for piece in self.chosen for name in self._names_in(piece)}
        size = 0
        while size < len(needed := self._needed(needed)):
            size = len(needed)
            for piece in self._all:
                if piece.names & needed and self._is_seen(piece, self._targets):
                    self._add(piece)
                    needed |= set(self._names_in(piece)) if piece in self.chosen else set()

    def _needed(self, names: Iterable[str]) -> set[str]:
        """Names and all that their definitions need, of the change or not."""
        needed = set(names)
        size = 0
        while size < len(needed):
            size = len(needed)
            for own, node in self._definitions:
                if own & needed:
                    needed |= {text_of(part) for part in walk(node) if is_name(part)} - own
        return needed

    def _add(self, piece: Piece) -> None:
        if piece in self._passed_over | self.chosen:
            return
        if self._holds_tests(piece.node):
            raise CannotCutError("a test needs a block that holds hidden tests")
        self.chosen.add(piece)

    def _names_in(self, piece: Piece) -> Iterator[str]:
        left_out = [place_of(part.node) for part in piece.all() if part not in self.chosen and part is not piece]
        for node in walk(piece.node):
            if is_name(node) and not any(covers(place, place_of(node)) for place in left_out):
                yield text_of(node)


def _names_around(target: Node) -> Iterator[str]:
    """The names that a test uses, and the loops and suites that it stands in."""
    for node in walk(target):
        if is_name(node):
            yield text_of(node)
    for at in upward(target.parent):
        for node in walk(at, STATEMENTS) if at.type not in STATEMENTS else ():
            if is_name(node):
                yield text_of(node)


def _runs_by_itself(piece: Piece) -> bool:
    """Whether it does something without being named: what sets up, an import for what it does alone."""
    is_bare = piece.node.type == "import_statement" and not defined(piece.node)
    return is_bare or piece.node.type == "expression_statement"


def _likeness(row: Node, title: str) -> int:
    """How many letters of a title are those of a row's values."""
    texts = {text_of(node) for node in walk(row) if node.type in _LITERALS}
    return sum(len(text) for text in texts if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", title))


class _Writing:
    """The file as it was, with what is chosen put in."""

    def __init__(self, before: str, after: str, chosen: Collection[Piece]) -> None:
        self._before, self._after, self._chosen = before.encode(), after.encode(), chosen

    def text(self) -> str:
        """All of it."""
        edits = [
            self._edit(piece, piece.old_list)
            for piece in sorted(self._chosen, key=lambda piece: piece.node.start_byte)
            if piece.old_list is not None
        ]
        text = self._before
        for (start, end), put in sorted(edits, key=lambda edit: edit[0])[::-1]:
            text = text[:start] + put + text[end:]
        return text.decode() if self._before else text.decode().strip("\n") + "\n"

    def _edit(self, piece: Piece, into: Node) -> tuple[Place, bytes]:
        if piece.old is not None:
            return place_of(piece.old), self._of(piece, piece.node, piece.node)
        first, last = _first(piece.node), _last(piece.node)
        gap = self._after[_end_before(first) : first.start_byte]
        if into.type not in STATEMENTS:
            text = gap + self._of(piece, first, piece.node)
            if piece.after is None:
                return (into.start_byte + 1,) * 2, text + b","
            end = _last(piece.after)
            behind = piece.after.next_sibling
            has_comma = behind is not None and behind.type == ","
            return (end.end_byte,) * 2, text + b"," if has_comma else b"," + text
        text = self._of(piece, first, last)
        if piece.after is not None:
            return (_last(piece.after).end_byte,) * 2, gap + text
        if into.type == "statement_block" or not self._before:
            start = into.start_byte + len(text_of(into)[:1])
            return (start, start), gap + text
        start = next((node.start_byte for node in named(into)), len(self._before))
        return (start, start), text + b"\n"

    def _of(self, piece: Piece, first: Node, last: Node) -> bytes:
        """A piece from one node to another, without those of its parts that are not chosen."""
        text, at = b"", first.start_byte
        for start, end in sorted(self._left_out(piece)):
            text, at = text + self._after[at:start], end
        return text + self._after[at : last.end_byte]

    def _left_out(self, piece: Piece) -> Iterator[Place]:
        for part in piece.parts:
            if part in self._chosen:
                yield from self._left_out(part)
            else:
                yield _end_before(_first(part.node)), _last(part.node).end_byte


def _first(node: Node) -> Node:
    """The first of the comments right above a node; itself where there is none."""
    while (above := node.prev_sibling) is not None and above.type == "comment":
        is_near = above.end_point.row >= node.start_point.row - 1
        around = above.prev_sibling
        if not is_near or (around is not None and around.end_point.row == above.start_point.row):
            break
        node = above
    return node


def _last(node: Node) -> Node:
    """A node's own comma and comment behind it on its line, the last of them; itself where there is none."""
    row = node.end_point.row
    for kind in (",", ";", "comment"):
        behind = node.next_sibling
        if behind is not None and behind.type == kind and behind.start_point.row == row:
            node = behind
    return node


def _end_before(node: Node) -> int:
    """Where what is before a node ends."""
    return node.prev_sibling.end_byte if node.prev_sibling is not None else node.start_byte


def _check(old: Node, result: Node, titles: Collection[str]) -> None:
    """No test is new or other than before but the kept ones, and each of these is there."""
    before = {(call.titles, text_of(call.node)) for call in titled_calls(old)}
    calls = titled_calls(result)
    kept = [[place_of(call.node) for call in called(title, calls)] for title in titles]
    if not all(kept):
        raise CannotCutError("a test would not be there")
    places = [place for found in kept for place in found]
    for call in calls:
        is_kept = any(covers(place, place_of(call.node)) for place in places)
        if not call.is_suite and not is_kept and (call.titles, text_of(call.node)) not in before:
            raise CannotCutError("another hidden test would come along")

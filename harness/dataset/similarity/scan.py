"""`holdout scan`: the canary, the statements and the hidden code of a dataset, looked for in any text. Pure.

A stream is searched in pieces, so that a corpus of any size takes the same memory. What was found is told by place,
task and amount, and never quoted.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from harness.core.grouping import grouped
from harness.dataset.similarity import shingles
from harness.dataset.similarity.leak_fingerprints import Index, Kind
from harness.dataset.similarity.shingles import CODE, WORDS

PIECE = 1 << 20
"""Bytes that are searched at once."""
_LONGEST_TOKEN = 1 << 16
"""Bytes without any white space after which a piece is cut anywhere."""
_GAP = 200
"""Tokens between two shingles from which on they are two finds."""
_HTML = (b"<!doctype html", b"<html")


@dataclass(frozen=True, kw_only=True)
class Find:
    """One place where something of the dataset stands."""

    source: str
    line: int
    """From 1."""
    offset: int
    """Of the first byte, from 0; in what a compressed file holds."""
    kind: Kind
    task: str | None
    """None for a canary, which is the dataset's."""
    matched: int
    """Different shingles of the task's text of this kind that stand there; of a canary how often it does."""
    of: int
    """How many there are to be found; of a canary 1."""

    @property
    def share(self) -> float:
        return min(1.0, self.matched / self.of)


@dataclass(kw_only=True)
class _ShingleRun:
    """Shingles of one unit that stand close together, while they come."""

    last: int
    line: int
    offset: int
    matching: set[str] = field(default_factory=set)


@dataclass(kw_only=True)
class _Stream:
    """One source, as far as it has been read."""

    index: Index
    source: str
    html: bool = False
    bytes_before: int = 0
    lines_before: int = 0
    tokens_before: dict[int, int] = field(default_factory=lambda: {WORDS: 0, CODE: 0})
    tail: dict[int, str] = field(default_factory=lambda: dict.fromkeys((WORDS, CODE), ""))
    runs: dict[int, _ShingleRun] = field(default_factory=dict)
    guids: dict[bytes, Find] = field(default_factory=dict)

    def feed(self, piece: bytes) -> Iterator[Find]:
        """Search the next piece, which ends between two tokens."""
        text = shingles.plain(piece, html=self.html)
        self._canaries(text)
        if self.index.units:
            spelled = self.index.vocabulary.spell(shingles.tokens(text))
            where = _Places(text, spelled)
            yield from self._search(CODE, spelled, where)
            yield from self._search(WORDS, shingles.prose(spelled), where)
        self.bytes_before += len(piece)
        self.lines_before += piece.count(b"\n")

    def end(self) -> Iterator[Find]:
        """The source has been read."""
        for number in sorted(self.runs):
            yield from self._close(number)
        yield from self.guids.values()

    def _canaries(self, text: bytes) -> None:
        for guid in self.index.canaries:
            at = text.find(guid)
            if at < 0:
                continue
            find = self.guids.get(guid)
            self.guids[guid] = Find(
                source=self.source,
                line=find.line if find else self._line(text, at),
                offset=find.offset if find else self.bytes_before + at,
                kind=Kind.CANARY,
                task=None,
                matched=text.count(guid) + (find.matched if find else 0),
                of=1,
            )

    def _line(self, text: bytes, at: int) -> int:
        return self.lines_before + text.count(b"\n", 0, at) + 1

    def _search(self, length: int, spelled: str, where: _Places) -> Iterator[Find]:
        """Shingles of one length."""
        tail, owners = self.tail[length], self.index.owners[length]
        joined = tail + spelled
        hits = [at for at in shingles.begins(joined, length) if joined[at : at + length] in owners]
        for begin in hits:
            shingle = joined[begin : begin + length]
            place = self.tokens_before[length] + begin - len(tail)
            own = max(0, begin - len(tail))  # a shingle that began in the piece before is told by this one's start
            for number in owners[shingle]:
                yield from self._hit(number, shingle, place, where, own, length)
        self.tokens_before[length] += len(spelled)
        self.tail[length] = joined[max(0, len(joined) - length + 1) :]

    def _hit(self, number: int, shingle: str, place: int, where: _Places, token: int, length: int) -> Iterator[Find]:
        run = self.runs.get(number)
        if run is not None and place - run.last > _GAP:
            yield from self._close(number)
            run = None
        if run is None:
            at = where.of(token, prose=length == WORDS)
            run = _ShingleRun(last=place, line=self._line(where.text, at), offset=self.bytes_before + at)
            self.runs[number] = run
        run.last = place
        run.matching.add(shingle)

    def _close(self, number: int) -> Iterator[Find]:
        run, unit = self.runs.pop(number), self.index.units[number]
        if len(run.matching) >= unit.needed:
            yield Find(
                source=self.source,
                line=run.line,
                offset=run.offset,
                kind=unit.kind,
                task=unit.task,
                matched=len(run.matching),
                of=self.index.sizes[unit.task, unit.kind],
            )


class _Places:
    """Where the tokens of a piece begin; worked out only where something was found."""

    def __init__(self, text: bytes, spelled: str) -> None:
        self.text, self._spelled = text, spelled

    @functools.cached_property
    def _all(self) -> list[int]:
        return shingles.places(self.text)

    @functools.cached_property
    def _prose(self) -> list[int]:
        return [self._all[place] for place in shingles.prose_places(self._spelled)]

    def of(self, token: int, *, prose: bool) -> int:
        """The byte at which a token begins, counted among all or among those of prose."""
        return (self._prose if prose else self._all)[token]


def scan(index: Index, source: str, blocks: Iterable[bytes]) -> tuple[Find, ...]:
    """Everything of the dataset that one source holds, by place. Hunks of one task that stand there are told as one.

    Args:
        index: what to look for.
        source: its name, for people.
        blocks: its bytes, in order, cut anywhere.

    """
    stream = _Stream(index=index, source=source)
    finds: list[Find] = []
    for number, piece in enumerate(_pieces(blocks)):
        if number == 0:
            head = piece[:2048].lower()
            stream.html = any(sign in head for sign in _HTML)
        finds += stream.feed(piece)
    return _joined([*finds, *stream.end()])


def _joined(finds_in: Iterable[Find]) -> tuple[Find, ...]:
    """One find for each task and kind: the first place, and what stands at all of them."""
    by_task = grouped(((find.kind, find.task), find) for find in finds_in)
    joined = []
    for finds in by_task.values():
        first = min(finds, key=lambda find: find.offset)
        most = first.of if first.task else sum(find.matched for find in finds)
        total = min(most, sum(find.matched for find in finds))
        joined.append(replace(first, matched=total))
    return tuple(sorted(joined, key=lambda find: (find.offset, find.kind, find.task or "")))


def _pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of about `PIECE` that end at white space, so that no token is cut in two."""
    buffered = b""
    for block in blocks:
        buffered += block
        while len(buffered) >= PIECE:
            end = max(buffered.rfind(b"\n", 0, PIECE), buffered.rfind(b" ", PIECE - _LONGEST_TOKEN, PIECE)) + 1
            end = end if end > PIECE - _LONGEST_TOKEN else PIECE
            yield buffered[:end]
            buffered = buffered[end:]
    if buffered:
        yield buffered

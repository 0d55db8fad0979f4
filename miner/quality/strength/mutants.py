"""Wrong patches of a fix: some of its pieces left out, or one fault put into its lines. Pure."""

from __future__ import annotations

import itertools
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from harness.core.grouping import grouped
from miner.languages.base import Fault
from miner.quality.strength.result import Kind, Variant

if TYPE_CHECKING:
    from miner.quality.strength.pieces import Fix


_LINE_END = re.compile(r"\r\n?|\n")
_LONGEST = 200
LINE_MOST = 3
"""Mutants of one line, so that a line that no test runs is not told of ten times."""
Piece = tuple[int, int]
_DRAWS = 20
"""How often a random choice is made for each place that is left."""


@dataclass(frozen=True, kw_only=True)
class _Source:
    """A fixed file that can be mutated."""

    section: int
    text: str
    encoding: str
    starts: tuple[int, ...]
    """Offset of each line."""
    forms: frozenset[str | None]
    """What the file comes to with the fix, and without."""

    def line(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def touched(self, fault: Fault) -> tuple[int, int]:
        """First and last line that differ with a fault."""
        old = self.text[fault.start : fault.end]
        common = _common(old, fault.text)
        tail = _common(old[common:][::-1], fault.text[common:][::-1])
        first, last = fault.start + common, max(fault.start + common, fault.end - tail - 1)
        return self.line(first), self.line(last)


def mutants(fix: Fix, *, most: int, seed: str) -> tuple[Variant, ...]:
    """Mutants of the lines that a fix adds or changes in source files, at most `most`.

    They are spread over functions first, then over places and operators, with no more than three of one line, by a
    choice that is the same for the same seed. A mutant that runs as the fix does, or as the code did without it, is
    none; docs/quality.md lists what is left alone.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable, no secret
    groups = grouped(((source.section, fault.function), (source, fault)) for source, fault in _faults(fix))
    queues = [_spread(group, rng) for _, group in sorted(groups.items())]
    rng.shuffle(queues)
    variants: list[Variant] = []
    states_seen: set[object] = set()
    on_line: Counter[tuple[int, int]] = Counter()
    for source, fault in (pair for row in zip_longest(*queues) for pair in row if pair is not None):
        if len(variants) == most:
            break
        line = (source.section, source.touched(fault)[0])
        variant = _variant(fix, source, fault, states_seen) if on_line[line] < LINE_MOST else None
        if variant is not None:
            variants.append(variant)
            on_line[line] += 1
    return tuple(variants)


def _faults(fix: Fix) -> Iterator[tuple[_Source, Fault]]:
    """Every fault that stays within the lines of the fix."""
    for at, section in enumerate(fix.sections):
        changed = frozenset(fix.changed_lines().get(section.path, ()))
        data = section.fixed() if changed else None
        faulty = fix.code.faulty(section.path, data, changed) if data is not None else None
        if data is None or faulty is None:
            continue
        source = _Source(
            section=at,
            text=faulty.text,
            encoding=faulty.encoding,
            starts=(0, *(match.end() for match in _LINE_END.finditer(faulty.text))),
            forms=frozenset(fix.code.form(section.path, side) for side in (section.old, data) if side is not None),
        )
        for fault in faulty.faults:
            first, last = source.touched(fault)
            if changed.issuperset(range(first, last + 1)):
                yield source, fault


def _spread(faults: Iterable[tuple[_Source, Fault]], rng: random.Random) -> list[tuple[_Source, Fault]]:
    """The faults of one function, so that the first ones are of different places, and of different operators."""
    shuffled = list(faults)
    rng.shuffle(shuffled)
    places: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    ranked = []
    for source, fault in shuffled:
        places[fault.node] += 1
        kinds[fault.operator] += 1
        ranked.append((places[fault.node], kinds[fault.operator], (source, fault)))
    return [ranked_fault[2] for ranked_fault in sorted(ranked, key=lambda ranked_fault: ranked_fault[:2])]


def _variant(fix: Fix, source: _Source, fault: Fault, states_seen: set[object]) -> Variant | None:
    """The mutant as a patch; None where nothing that runs differs, or an earlier one is the same."""
    text = source.text[: fault.start] + fault.text + source.text[fault.end :]
    content = text.encode(source.encoding, "surrogateescape")
    section = fix.sections[source.section]
    form = fix.code.form(section.path, content)
    if form is None or form in source.forms or (source.section, form) in states_seen:
        return None
    states_seen.add((source.section, form))
    first, last = source.touched(fault)
    shift = len(fault.text) - (fault.end - fault.start)
    path, begin = section.path, source.starts[first - 1]
    end = source.starts[last] if last < len(source.starts) else len(source.text)
    return Variant(
        kind=Kind.MUTANT,
        patch=fix.with_content(source.section, content),
        path=path,
        line=first,
        description=f"{fault.operator.replace('_', ' ')} in {fault.function or 'the module'}, {path}:{first}",
        operator=fault.operator,
        before=source.text[begin:end][:_LONGEST],
        after=text[begin : end + shift][:_LONGEST],
    )


def _common(first: str, other: str) -> int:
    """Length of the common beginning of two texts."""
    for number, (left, right) in enumerate(zip(first, other, strict=False)):
        if left != right:
            return number
    return min(len(first), len(other))


def subsets(fix: Fix, *, most: int, seed: str) -> tuple[Variant, ...]:
    """Proper, non-empty parts of a fix, at most `most`, each of another effect.

    Pieces that change nothing that runs (documentation, comments, types of arguments) stay in every part. Of the
    others every choice is taken where there are no more than `most`; else the fix less one piece for up to two thirds
    of them, single pieces, and a random choice, the same for the same seed. A part that is no Python any more is
    none, nor is one that does what the whole fix does, or nothing, or what another part does.
    """
    all_pieces = frozenset(fix.pieces)
    whole = fix.state(all_pieces)
    live = [piece for piece in fix.pieces if fix.state(all_pieces - {piece}) != whole]
    inert = all_pieces - set(live)
    states_seen = {whole, fix.state(inert), fix.state(frozenset())}
    variants: list[Variant] = []
    for choice in _choices(live, most, random.Random(seed)):  # noqa: S311 - repeatable, no secret
        if len(variants) == most:
            break
        state = fix.state(inert | choice)
        if state is None or state in states_seen:
            continue
        states_seen.add(state)
        variants.append(
            _part_left_out(fix, inert | choice, [piece for piece in live if piece not in choice], len(live))
        )
    return tuple(variants)


def _choices(live: Sequence[Piece], most: int, rng: random.Random) -> Iterator[frozenset[Piece]]:
    every = frozenset(live)
    if 2 ** len(live) - 2 <= most:
        for size in range(len(live) - 1, 0, -1):
            yield from map(frozenset, itertools.combinations(live, size))
        return
    shuffled = rng.sample(live, len(live))
    yield from (every - {piece} for piece in shuffled[: max(1, most * 2 // 3)])
    yield from (frozenset({piece}) for piece in shuffled[: max(1, most // 3)])
    for _ in range(_DRAWS * most):
        yield frozenset(rng.sample(live, rng.randint(1, len(live) - 1)))


def _part_left_out(fix: Fix, pieces_kept: Collection[Piece], left_out: Sequence[Piece], count: int) -> Variant:
    where = [fix.where(piece) for piece in left_out]
    return Variant(
        kind=Kind.PART,
        patch=fix.written(pieces_kept),
        path=fix.sections[left_out[0][0]].path,
        line=0,
        description=f"without {len(left_out)} of {count} pieces: {', '.join(where)}",
    )

"""The fix with some of its pieces left out: each a patch that should not resolve the task. Pure."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

from miner.quality.strength.variant import Kind, Variant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from miner.quality.strength.pieces import Fix

Piece = tuple[int, int]
_DRAWS = 20
"""How often a random choice is made for each place that is left."""


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
        variants.append(_variant(fix, inert | choice, [piece for piece in live if piece not in choice], len(live)))
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


def _variant(fix: Fix, pieces_kept: Collection[Piece], left_out: Sequence[Piece], count: int) -> Variant:
    where = [fix.where(piece) for piece in left_out]
    return Variant(
        kind=Kind.PART,
        patch=fix.written(pieces_kept),
        path=fix.sections[left_out[0][0]].path,
        line=0,
        description=f"without {len(left_out)} of {count} pieces: {', '.join(where)}",
    )

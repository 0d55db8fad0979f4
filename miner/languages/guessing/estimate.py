"""How hard the values of assertions are to guess, by what is known and by what stands near them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.judging import judge, values
from harness.judging.values import Approx, Pattern, Record
from miner.languages.base import WrittenForm
from miner.languages.guessing import simple_values
from miner.languages.guessing.bits import A_CLASS, bits_of, exact, holds_record
from miner.languages.guessing.known import A_LOOK, KnownLiterals
from miner.languages.guessing.needed import NEARS, Needed
from miner.languages.guessing.words import WORD, example_value, nearest_text, parts_of

_FEW = {"!=": 0.5, "<": 1.0, "<=": 1.0, ">": 1.0, ">=": 1.0, "is_not": 0.5, "not_in": 0.5, "truth": 1.0, "not": 1.0,
        "isinstance": 2.0, "not_isinstance": 0.5, "no_raise": 1.0, "not_almost": 0.5, "not_regex": 0.5}  # fmt: skip
"""Operators that one value of very few satisfies."""
_ONE_OF = frozenset(
    {
        *((op, ("out", "kept")) for op in ("in", "startswith", "endswith")),
        *((op, ("kept", "out")) for op in ("js.contain", "js.contain_equal", "go.in")),
        *((op, ("kept", "out")) for op in ("java.contains", "rust.contains")),
    }
)
"""Operators, and which side is kept, with which one of several values does."""
_BY_SIZE = frozenset({"<", "<=", ">", ">="})
_MOST_PLACES = 4
"""Literals of a call at most that one change is made of."""
_WITHIN = 8
"""Literals at most whose words are those of an assertion itself."""
_A_RANGE = 3.0
"""Of a number that only has to lie between two others."""


def is_single(needed: Needed) -> bool:
    """Whether one value has to be found, which not every second one would be."""
    return needed.op not in _FEW and len(needed.sought) == 1


def sought_together(needed: Iterable[Needed]) -> dict[int | str, dict[str, None]]:
    """What is sought by one assertion (its slot), and by one test, in order."""
    together: dict[int | str, dict[str, None]] = {}
    for one in needed:
        for key in (one.expected.slot, one.test_id):
            together.setdefault(key, {}).update(dict.fromkeys(map(repr, exact(one.sought))))
    return together


def _known_cost(
    needed: Needed, words: Mapping[str, float], written: KnownLiterals, in_column: set[int | str]
) -> tuple[str, float]:
    """As `_cost`; what a table or the name of the test tells is one look, however many there are."""
    key, cost = _cost_of_claims(needed, words, written)
    in_sight = needed.written is not None and needed.written.is_readable
    is_told = in_sight or needed.is_named or not in_column.isdisjoint((needed.expected.slot, needed.test_id))
    if cost > A_LOOK / 2 and is_told:  # two such would cost as much
        return "what the tests have elsewhere", A_LOOK
    return key, cost


def costs_of(
    needed: Iterable[Needed], words: Mapping[str, float], written: KnownLiterals, in_column: set[int | str]
) -> Iterator[tuple[str, float]]:
    """As `_known_cost` for each in turn: what was guessed for one is known for the next, whole or by its words."""
    known_words = dict(words)
    guessed_parts: set[str] = set()
    costs: dict[str, float] = {}
    constants: dict[str, str] = {}
    spent: dict[int, list[float]] = {}
    """By slot: what its values cost, which is no more together than how its test has them all."""
    for need in needed:
        key, cost = _known_cost(need, known_words, written, in_column)
        if need.constants:  # a call of their class, or their order, may give all
            kind, name = need.constants
            is_first = constants.setdefault(kind, name) == name
            key, cost = f"constants of {kind}{'' if is_first else ', more'}", min(cost, 2 * A_CLASS)
        if key not in costs and need.written is not None and not need.written.columns:
            left = _bits_of_written(need.written, words) - sum(spent.get(need.expected.slot, ()))
            cost = min(cost, max(left, 0.0))
            spent.setdefault(need.expected.slot, []).append(cost)
        yield key, costs.setdefault(key, cost)
        for part in map(repr, parts_of(need.sought)):
            guessed_parts.add(part)
            known_words[part] = min(known_words.get(part, math.inf), 1 + math.log2(len(guessed_parts) + 1))


def _cost_of_claims(needed: Needed, words: Mapping[str, float], written: KnownLiterals) -> tuple[str, float]:
    """As `_cost`, of several claims together: a number between two others is one."""
    if len(needed.claims) == 1:
        return _cost(needed, words, written)
    costs = dict(_cost(claim, words, written) for claim in needed.claims if claim.op not in _BY_SIZE)
    ends = [claim.expected.kept for claim in needed.claims if claim.op in _BY_SIZE]
    costs |= {f"between {ends}": _A_RANGE if len(ends) > 1 else _FEW["<"]} if ends else {}
    return " and ".join(costs), sum(costs.values())


def _cost(needed: Needed, words: Mapping[str, float], written: KnownLiterals) -> tuple[str, float]:
    """What the value is known by, so that it counts once, and its bits; those `written` in the tests count as one."""
    op, expected = needed.op, needed.expected
    if op in _FEW:
        return f"{op}", _FEW[op]
    values_kept = needed.sought
    if op == "almost" and (tolerance := _tolerance({**needed.site.options, **expected.options})):
        values_kept = [_approximate(value, tolerance) for value in values_kept]
    if op == "doctest":
        values_kept = [example_value(want) if message is None else message for want, message in values_kept]
    if op == "chain" or expected.options.get("delta") is not None:
        return f"{op} {expected.kept}", _A_RANGE
    if op == "doctest" and "IGNORE_EXCEPTION_DETAIL" in str(expected.options.get("flags")) and _is_raising(needed):
        return f"{op} {expected.kept}", A_CLASS
    if (needed.site.op, needed.site.sides) in _ONE_OF:
        values_kept = [min(_choices(value), key=lambda choice: bits_of(choice, None, words)) for value in values_kept]
    if op == "regex":
        values_kept = [Pattern(pattern=value) if isinstance(value, str) else value for value in values_kept]
    if op in ("raises", "warns"):
        key = "what the tests raise" if any(map(needed.is_of_test, values_kept)) else f"{op} {expected.kept}"
        return key, A_CLASS + _bits_of_message(needed, words)
    if values_kept and (place := written.place_of(exact(values_kept))):
        return place, A_LOOK
    bits = _bits_near(needed, values_kept, words)
    is_among = needed.site.options.get("how", "called_with") not in ("called_with", "called_once_with")
    few = (
        1.0 if op in ("==", "is", "almost", "count_equal", "calls", "doctest") and not is_among else 0.5
    )  # `in` and its like take more values
    return f"{expected.kept}", max(bits * few - _bits_of_tries(needed), min(bits * few, 1.0))


def _bits_of_message(needed: Needed, words: Mapping[str, float]) -> float:
    """Bits of what an exception is to say: one message may hold all words there are, but not in each order."""
    room = judge.largest(needed.expected, is_message=True)
    forms = needed.message.split("|") if needed.message is not None else []
    return min((_bits_of_phrase(form, room, words) for form in forms), default=0.0)


def _bits_of_phrase(phrase: str, room: int, words: Mapping[str, float]) -> float:
    """Bits of a text, or of one that a pattern finds, somewhere in what may have so many letters."""
    bits = min(bits_of(phrase, None, words), bits_of(Pattern(pattern=phrase), None, words))
    tries = math.log2(max(room / (len(phrase) + 1), 1.0))
    return max(min(bits, A_CLASS), bits / 2 - tries)


def _bits_of_tries(needed: Needed) -> float:
    """What is gained by as many tries in one value as are let through, where one of them does."""
    expected = needed.expected
    if not _is_somewhere(needed) or len(expected.kept) != 1:
        return 0.0
    size = values.load(expected.kept[0], kept=True).size
    return math.log2(max(judge.largest(expected) / (size + 1), 1.0)) if size else 0.0


def _is_somewhere(needed: Needed) -> bool:
    """Whether what is kept only has to be somewhere in what comes out, which other languages name first."""
    sides = ("kept", "out") if needed.site.op == "in" else ("out", "kept")
    return needed.op in ("in", "regex") and needed.site.sides == sides


def _tolerance(options: Mapping[str, Any]) -> dict[str, float]:
    """How far a number may be off, relative to its size and as such; empty where an assertion says nothing of it."""
    told = {name: values.decode(told, kept=True) if isinstance(told, list) else told for name, told in options.items()}
    match told:
        case {"places": int() as places} | {"decimal": int() as places}:
            return {"rel": 0.0, "abs": 10.0**-places}
        case {"rtol": int() | float() as rtol, "atol": int() | float() as atol}:
            return {"rel": float(rtol), "abs": float(atol)}
    return {}


def _approximate(value: Any, tolerance: Mapping[str, float]) -> Any:
    """A number with its tolerance, or each of a list."""
    if isinstance(value, list | tuple):
        return [_approximate(item, tolerance) for item in value]
    return Approx(expected=value, rel=tolerance["rel"], abs=tolerance["abs"])


def _bits_near(needed: Needed, values_kept: Sequence[Any], words: Mapping[str, float]) -> float:
    """Bits of some values for somebody who sees the call, its row and what the base gives."""
    items = needed.base_value if isinstance(needed.base_value, list | tuple | set | frozenset) else ()
    nears = (needed.base_value, *needed.row, *itertools.islice(items, NEARS), *needed.literals[:NEARS])
    if _is_somewhere(needed) and isinstance(needed.base_value, str):
        nears = (nearest_text(needed.base_value.splitlines(), values_kept), *nears[1:])
    own = {word for text in needed.literals[:_WITHIN] if isinstance(text, str) for word in WORD.findall(text)}
    words = {**words, **dict.fromkeys(own, 1 + math.log2(len(own) + 1))} if own else words
    bits = sum(
        min(bits_of(value, near, words) + math.log2(place + 1) for place, near in enumerate(nears))
        for value in values_kept
    )
    is_object = any(map(holds_record, values_kept))
    if is_object or any(isinstance(value, dict) for value in values_kept):
        literals = needed.literals[:_WITHIN]
        parts = (part for literal in literals for part in (parts_of(literal) if is_object else (literal,)))
        words_near = {**words, **dict.fromkeys(map(repr, parts), 0.0), **(dict.fromkeys(own, 0.0) if is_object else {})}
        bits = min(bits, A_LOOK + sum(bits_of(value, needed.base_value, words_near) for value in values_kept))
    if needed.written is not None:
        bits = min(bits, _bits_of_written(needed.written, words))
    return bits


def _bits_of_written(written: WrittenForm, words: Mapping[str, float]) -> float:
    """Bits of finding what a test has in place of a value: steps and literals; the easiest row of a table."""
    literals = sum(bits_of(literal, None, words) for literal in written.literals)
    columns = sum(min(_bits_of_written(form, words) for form in column) for column in written.columns)
    return A_CLASS * written.steps + literals + columns


def bits_of_change(group: Sequence[Needed], words: Mapping[str, float]) -> float:
    """Bits of one change that does for all of a group, of what the base gives or of what is written in a call."""
    if not group:
        return math.inf
    nears: list[Callable[[Needed], Any]] = [
        lambda needed: needed.base_value,
        *(lambda needed, place=place: needed.literals[place] for place in range(_MOST_PLACES)),
    ]
    best = math.inf
    for place, near in enumerate(nears):
        try:
            pairs = [(_as_fields(near(needed)), _as_fields(needed.sought[0])) for needed in group]
        except IndexError:
            break
        bits = simple_values.of_change(pairs, lambda value: bits_of(value, None, words))
        best = min(best, bits + math.log2(len(nears)) * (place > 0))
    return best


def _as_fields(value: Any) -> Any:
    """An object as a mapping of its fields."""
    return dict(value.attrs) if isinstance(value, Record) and value.attrs else value


def _choices(value: Any) -> Sequence[Any]:
    """The values of which any one does, where the test has several."""
    return [*value] if isinstance(value, list | tuple | set | frozenset | dict) and value else [value]


def _is_raising(needed: Needed) -> bool:
    """Whether an example of a doctest is to fail."""
    return any(isinstance(value, tuple) and value[1] is not None for value in map(needed.loaded, needed.expected.kept))

"""How hard the expectations of a task are to guess, in bits: the smaller of an estimate and of rules that get through.

A forger sees the stripped tests, the base, the statement and this folder, and has one try. Here one gets more than
that: to know which assertions the bug changes, so that all others can be left as the base has them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.core.expectations import Expectations
from harness.core.grouping import grouped
from harness.judging.values import Event
from miner.languages.base import Guess, KnownText, WrittenForm
from miner.languages.guessing.bits import MOST_BITS, exact
from miner.languages.guessing.estimate import bits_of_change, costs_of, is_single, sought_together
from miner.languages.guessing.known import (
    A_LOOK,
    KnownLiterals,
    functions_of,
    known_literals,
    known_words,
    made_by_lines,
    texts_of,
    unchanged_tests,
)
from miner.languages.guessing.needed import Needed, Rule, needed_by, without_inner
from miner.languages.guessing.rules import all_rules, gets_through
from miner.languages.guessing.tree import InTree, look_up
from miner.languages.guessing.visible import Visible
from miner.languages.guessing.words import example_value

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading

_A_RULE = 7.8
"""Of a rule at most: whatever one of them makes is guessable."""


def guess(
    expectations: Expectations,
    before: Iterable[Event],
    fail_to_pass: Collection[str],
    known: KnownText,
    reading: Reading,
    written_by_slot: Mapping[int, WrittenForm] | None = None,
) -> Guess:
    """How hard it is to make FAIL_TO_PASS pass.

    `before` is what the base hands out, `written_by_slot` how tests have what they expect.

    Bits are those of all assertions that tell the fix from the base by values,
    each value once. One rule need not do for all of them: what can be seen of an assertion and of what the base hands
    out there may decide which is taken.
    """
    before = tuple(before)
    needed = without_inner(
        replace(need, written=(written_by_slot or {}).get(need.expected.slot))
        for need in needed_by(expectations, before, fail_to_pass, reading)
    )
    sources = expectations.files.values()
    words = known_words(expectations, before, known, reading)
    written = known_literals(sources, known, reading)
    texts = tuple(dict.fromkeys(text for source in known.changed for text in texts_of(source, reading)))
    test_texts = tuple(dict.fromkeys(text for source in sources for text in texts_of(source, reading)))
    tree = _in_tree(needed, sources, known.tree)
    words = _at_most(_at_most(words, tree.bits), made_by_lines(_texts_sought(needed), known.changed))
    visible = Visible(tuple(functions_of(known.old_tests, expectations.files, reading)))
    in_tree = {"a part of the tree": tree.blocks, "a line of the tree": tree.lines}
    rules = dict(all_rules(known.words, texts, test_texts, visible, in_tree, reading))

    def of(some: Sequence[Needed]) -> Guess:
        anywhere = _of_needed(some, words, written, rules)
        if not tree.in_file:
            return anywhere
        there = replace(written, sequences=(*written.sequences, *tree.pieces))
        in_file = _of_needed(some, _at_most(words, tree.in_file), there, rules)
        return _easier(anywhere, replace(in_file, bits=round(in_file.bits + tree.of_file, 1)))

    whole = of(needed)
    unchanged = unchanged_tests(known.old_tests, known.tests, expectations.files, reading)
    hidden = tuple(need for need in needed if reading.function(need.test_id).partition("::")[2] not in unchanged)
    if len(hidden) == len(needed):
        return whole
    rest = of(hidden)
    return _easier(whole, replace(rest, bits=round(rest.bits + A_LOOK, 1)))


def _easier(first: Guess, second: Guess) -> Guess:
    return min(first, second, key=lambda guess_made: guess_made.bits)


def _at_most(words: Mapping[str, float], bits: Mapping[str, float]) -> dict[str, float]:
    """What words and values cost, which is no more than these bits."""
    known = dict(words)
    for key, cost in bits.items():
        for name in (key, key[1:-1]) if key.startswith(("'", '"')) else (key,):
            known[name] = min(known.get(name, math.inf), cost)
    return known


def _texts_sought(needed: Iterable[Needed]) -> Iterator[str]:
    """Whole texts that are sought, and what is to be said."""
    for need in needed:
        yield from (value for value in (*exact(need.sought), need.message) if isinstance(value, str))


def _in_tree(needed: Sequence[Needed], sources: Collection[str], tree: Mapping[str, bytes]) -> InTree:
    """What a tree has of all that is sought, for whoever sees the calls and what the base gives."""
    sought = [value for need in needed for value in exact(need.sought)]
    sought += [need.message for need in needed if need.message is not None]
    shown = [example_value(want) for need in needed if need.op == "doctest" for want, _ in need.sought if want]
    near = (value for need in needed for value in (need.base_value, *need.literals))
    return look_up([*sought, *shown], near, sources, tree)


def _of_needed(
    needed: Sequence[Needed],
    words: Mapping[str, float],
    written: KnownLiterals,
    rules: Mapping[str, Rule],
) -> Guess:
    """How hard it is to make some assertions hold."""
    in_column = {key for key, sought in sought_together(needed).items() if written.has_column(sought)}
    alike = grouped((need.form, need) for need in needed)
    names_seen: set[str] = set()
    rules_taken: list[str] = []
    bits = 0.0
    all_costs = dict(zip(map(id, needed), costs_of(needed, words, written, in_column), strict=True))
    for group in alike.values():
        known_costs = [all_costs[id(need)] for need in group]
        costs = {key: cost for key, cost in known_costs if key not in names_seen}
        names_seen.update(costs)
        alone = [need for need in group if is_single(need)]
        in_change = {key for need, (key, _) in zip(group, known_costs, strict=True) if is_single(need)}
        beside = sum(cost for key, cost in costs.items() if key not in in_change)
        estimate = min(sum(costs.values()), bits_of_change(alone, words) + beside) if costs else 0.0
        if any(_all_get_through(rules[name], group) for name in rules_taken):
            continue
        through = (place for place, rule in enumerate(rules.values()) if _all_get_through(rule, group))
        first = next(through, None)
        if first is not None:
            rules_taken.append(list(rules)[first])
            bits += min(estimate, _of_rule(first))
        else:
            needs = [(need, key) for need, (key, _) in zip(group, known_costs, strict=True) if key in costs]
            bits += _of_rule_and_rest(rules.values(), needs, costs, min(estimate, MOST_BITS))
    return Guess(bits=round(min(bits, MOST_BITS), 1), rule="; ".join(rules_taken))


def _all_get_through(rule: Rule, group: Iterable[Needed]) -> bool:
    return all(map(partial(gets_through, rule), group))  # a generator would take as long as the question


def _of_rule(place: int) -> float:
    """Bits of choosing a rule: the likelier ones come first."""
    return min(_A_RULE, 1 + math.log2(place + 2))


def _of_rule_and_rest(
    rules: Iterable[Rule],
    needs: Sequence[tuple[Needed, str]],
    costs: Mapping[str, float],
    best: float,
) -> float:
    """Bits of a rule that gets through most of a group's assertions, and of the values of the others; `best` at most.

    Which those are is one bit each.
    """
    for place, rule in enumerate(rules):
        bits, rest = _of_rule(place), set[str]()
        for need, key in needs:
            if bits >= best:
                break
            if key not in rest and not gets_through(rule, need):
                rest.add(key)
                bits += 1 + costs[key]
        best = min(best, bits)
    return best

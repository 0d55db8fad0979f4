"""The assertions that tell the fix from the base, and what can be seen of each."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.core.expectations import Expectations, Expected, Site
from harness.judging import judge, values
from harness.judging.values import ClassName, Event, MalformedError, Pattern, Record
from miner.languages.base import WrittenForm
from miner.languages.guessing.combinations import outermost
from miner.languages.guessing.conversions import json_of
from miner.languages.guessing.words import example_value, parts_of

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading

NEARS = 30
"""Literals at most that a value is taken to be near to."""


@dataclass(frozen=True, kw_only=True)
class Needed:
    """An assertion that the base fails, and what the base hands out there."""

    test_id: str
    site: Site
    expected: Expected
    before: Event | None
    literals: tuple[Any, ...]
    """What is written out in its operands, in order, and then in its whole function."""
    reading: Reading
    name: str = ""
    """What its test, and those inside of that, are called in the container."""
    place: int = 0
    """The how manieth assertion of its test it is."""
    row: tuple[Any, ...] = ()
    """What is written out in the row of a table that is its own."""
    answers: tuple[Any, ...] = ()
    """What the base gives at each assertion of its test; None where that is nothing, or several values."""
    written: WrittenForm | None = None
    """How its test has what it expects, where that is more than literals."""
    judged: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    """Whether it holds by what came out: most rules come to what another came to before."""

    def holds(self, event: Event) -> bool:
        """Whether the assertion holds where this comes out."""
        if self._is_unlike(event.values):
            return False
        outcome = repr((event.values, event.raised))
        if outcome not in self.judged:
            self.judged[outcome] = judge.event_holds(self.site, self.expected, event)
        return self.judged[outcome]

    def _is_unlike(self, handed: Sequence[Any]) -> bool:
        """Whether a glance tells that values are not equal to the one that is kept: most that are tried are not."""
        if self.site.op != "==" or self.site.decides == "result" or len(self.expected.kept) != 1:
            return False
        target = self.expected.kept[0]
        kind = kind_of(target)
        if kind is str:
            return any(value != target for value in handed)
        return kind is not None and any(kind_of(value) not in (kind, None) for value in handed)

    @property
    def op(self) -> str:
        """Its operator, in Python's words."""
        return self.reading.operator(self.site)

    def loaded(self, encoded: Any) -> Any:
        """A value as Python's; None where it can't be read."""
        try:
            return self.reading.decode(encoded)
        except (MalformedError, ValueError):
            return None

    @cached_property
    def in_row(self) -> Needed | None:
        """The same for somebody who looks at its row first."""
        return replace(self, literals=(*self.row, *self.literals), row=()) if self.row else None

    @cached_property
    def passed(self) -> dict[Rule, bool]:
        """By rule, whether what it makes is right."""
        return {}

    @cached_property
    def right(self) -> dict[str, bool]:
        """By what comes out, whether the assertion holds by that, or by another form of it."""
        return {}

    @cached_property
    def base_value(self) -> Any:
        """What the base gives there; of a doctest the value that is shown."""
        value = handed_by(self.before, self.reading)
        return example_value(value[0]) if self.op == "doctest" and isinstance(value, tuple) else value

    @cached_property
    def outer(self) -> list[Any]:
        """The first different values that are written out, without what is inside of others."""
        return list({repr(value): value for value in outermost(self.literals[:NEARS])}.values())

    @property
    def form(self) -> tuple[object, ...]:
        """What a forger can see of it while the tests run."""
        event = self.before
        values_of = event.values if event is not None else ()
        return (
            self.op in ("raises", "warns"),
            event is None,
            event is not None and event.raised is not None,
            tuple(map(_kind, values_of)),
        )

    @cached_property
    def sought(self) -> list[Any]:
        """What has to be found to satisfy it."""
        return self.reading.sought(self.site, list(map(self.loaded, self.expected.kept)))

    @cached_property
    def message(self) -> str | None:
        """What an exception is to say, a pattern as the text that it is most like; None where nothing is asked for."""
        encoded = self.reading.message(self.expected) if self.op in ("raises", "warns") else None
        value = self.loaded(encoded) if encoded is not None else None
        text = value.pattern if isinstance(value, Pattern) else value
        return re.sub(r"\\(\W)", r"\1", text) if isinstance(text, str) else None

    @cached_property
    def claims(self) -> list[Needed]:
        """What it says of its one value, each part by itself."""
        parts = self.reading.claims(self.site, self.expected)
        return [replace(self, site=site, expected=expected, judged={}) for site, expected in parts]

    @property
    def is_named(self) -> bool:
        """Whether the name of its test tells all that is sought, as a text or as JSON."""
        texts = [value if isinstance(value, str) else json_of(value) for value in self.sought]
        return bool(texts) and all(
            re.search(r"\w", text)
            and re.search(rf"(?<![^\W_]){re.escape(text.replace(' ', '_'))}(?![^\W_])", self.name.replace(" ", "_"))
            for text in texts
        )

    @cached_property
    def constants(self) -> tuple[str, str] | None:
        """The one class whose constants are all that is sought, and which; None of anything else."""
        parts = [part for value in self.sought for part in parts_of(value)]
        kinds = {part.name for part in parts if isinstance(part, Record) and not part.attrs and part.items}
        if len(kinds) != 1 or not all(isinstance(part, Record) and not part.attrs for part in parts):
            return None
        return kinds.pop(), repr(sorted({repr(part.items) for part in parts}))

    def is_of_test(self, value: Any) -> bool:
        """Whether a class is one of its test file: only the tests can raise it, and the product pass it on."""
        *folders, name = self.test_id.partition("::")[0].split("/")
        parts = (*folders, name.rpartition(".")[0])
        modules = (".".join(parts[place:]) + "." for place in range(len(parts)))
        return isinstance(value, ClassName) and value.name.startswith(tuple(modules))


def needed_by(
    expectations: Expectations, before: Iterable[Event], fail_to_pass: Collection[str], reading: Reading
) -> Iterator[Needed]:
    events = {(expectations.ids.get(event.test_id, event.test_id), event.slot, event.n): event for event in before}
    names = {listed: inside for inside, listed in expectations.ids.items()}
    by_slot: dict[int, tuple[Any, ...]] = {}
    by_function: dict[str, tuple[Any, ...]] = {}
    for path, source in expectations.files.items():
        slots, functions = reading.handed(path, source)
        by_slot.update(slots)
        by_function.update({f"{path}::{name}": literals for name, literals in functions.items()})
    places = _places(expectations)
    tables = tuple(_tables(expectations.files.values(), reading))
    for test_id in fail_to_pass:
        test = expectations.tests.get(test_id)
        around = by_function.get(reading.function(test_id), ())
        listed = test.events if test else ()
        answers = tuple(handed_by(events.get((test_id, expected.slot, expected.n)), reading) for expected in listed)
        for place, expected in enumerate(listed):
            row, count = places[test_id, expected.slot]
            site, event = expectations.sites[expected.slot], events.get((test_id, expected.slot, expected.n))
            if site.is_decided_outside and not judge.event_holds(site, expected, event):
                literals = (*by_slot.get(expected.slot, ()), *around)
                yield Needed(
                    test_id=test_id,
                    site=site,
                    expected=expected,
                    before=event,
                    literals=literals,
                    reading=reading,
                    place=place,
                    row=_row(tables, expected.n or row, count),
                    answers=answers,
                    name="\n".join(names.get(other, other) for other in fail_to_pass if _is_or_is_in(other, test_id)),
                )


def without_inner(needed: Iterable[Needed]) -> tuple[Needed, ...]:
    """Without what a test only has from tests inside of it."""
    all_needed = tuple(needed)
    tests: dict[tuple[int, str], set[str]] = {}
    for need in all_needed:
        tests.setdefault((need.expected.slot, repr(need.expected.kept)), set()).add(need.test_id)
    return tuple(
        need
        for need in all_needed
        if not any(
            other != need.test_id and _is_or_is_in(other, need.test_id)
            for other in tests[need.expected.slot, repr(need.expected.kept)]
        )
    )


def _places(expectations: Expectations) -> dict[tuple[str, int], tuple[int, int]]:
    """By test and slot: the how manieth test it is that comes there, and how many rows there are: tests, or times."""
    tests_by_slot: dict[int, list[str]] = {}
    times: Counter[tuple[str, int]] = Counter()
    for test_id, test in expectations.tests.items():
        times.update((test_id, expected.slot) for expected in test.events)
    for test_id, slot in times:
        if times[test_id, slot] == 1:
            tests_by_slot.setdefault(slot, []).append(test_id)
    places = {
        (test_id, slot): (place, len(tests))
        for slot, tests in tests_by_slot.items()
        for place, test_id in enumerate(tests)
    }
    return {key: places.get(key, (0, count)) for key, count in times.items()}


def _tables(sources: Iterable[str], reading: Reading) -> Iterator[Sequence[Any]]:
    """What is written with several rows in some files."""
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            for table in reading.written(source):
                rows = list(table.items()) if isinstance(table, dict) else table
                if isinstance(rows, list | tuple) and len(rows) > 1:
                    yield rows


def _row(tables: Iterable[Sequence[Any]], place: int, count: int) -> tuple[Any, ...]:
    """The row of the first table with so many rows."""
    rows = next((rows for rows in tables if len(rows) == count), None)
    row = rows[place] if rows is not None else ()
    return tuple(value for value in (row if isinstance(row, list | tuple) else [row]) if value is not None)


def _is_or_is_in(test_id: str, other: str) -> bool:
    """Whether a test is another, or a test of its own inside of it."""
    return test_id == other or test_id.startswith((f"{other} > ", f"{other}/"))


def _kind(encoded: Any) -> str:
    """What kind of value came out, in any language."""
    if not isinstance(encoded, list) or not encoded:
        return type(encoded).__name__
    return _kind(encoded[1]) if values.language_of(encoded) else str(encoded[0])


_KINDS = {"s": str, "b": bytes, "i": float, "f": float, "l": list, "t": tuple, "S": set, "F": set}
_KINDS |= {"d": dict, "D": dict, "C": dict}


def kind_of(encoded: Any) -> type | None:
    """Of a value of Python that equals none of another kind, its kind; None of any other."""
    if isinstance(encoded, bool):
        return float
    return _KINDS.get(encoded[0]) if isinstance(encoded, list) and encoded else None


def handed_by(event: Event | None, reading: Reading) -> Any:
    """The one value of an event as Python's; None where there is none, or it can't be read."""
    if event is not None and len(event.values) == 1:
        with contextlib.suppress(MalformedError, ValueError):
            return reading.decode(event.values[0])
    return None


Value = Callable[[Needed], Any]
"""What a rule hands out for an assertion; raises where it has nothing."""
Rule = Callable[[Needed], Event | None]

"""How hard the expectations of a task are to guess, in bits: the smaller of an estimate and of rules that get through.

A forger sees the stripped tests, the base, the statement and this file, and has one try. Here one gets more than that:
to know which assertions the bug changes, so that all others can be left as the base has them.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, cached_property, lru_cache, partial
from typing import Any

from harness.core import python_source, test_ids
from harness.core.expectations import Expectations, Expected, Site
from harness.judging import judge, values
from harness.judging.values import Approx, ClassName, Event, MalformedError, Pattern, Record
from miner.languages import simple_values
from miner.languages.base import Guess, KnownText, WrittenForm
from miner.languages.combinations import PAIRS, SEVERAL, TRIPLES, outermost, percent_formatted, short
from miner.languages.conversions import CHANGES, json_of, of_each, of_keys, of_leaves
from miner.languages.web_values import in_element

_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_SPECIAL = re.compile(r"\\.|\[[^]]*\]|\{\d*,?\d*\}|[^\w\s]")
"""What of a regular expression is no text to be found."""
_OPTIONAL = re.compile(r"(?:\([^()]*\)|\[[^]]*\]|\\.|[^\\\[\]()])(?:[?*]|\{0?,\d*\})\??")
"""What of one a text need not have."""
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'")
_SIGN = re.compile(r"->|=>|→|==|=|:|\b(?:returns?|gives?|be|is|get|got|expected)\b", re.IGNORECASE)
"""After which comes what something is or is to be."""
_TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|-?\d+(?:\.\d+)?|\w+")
_NUMBER = re.compile(r"\b\d+\b")
_WORK = "/testbed"
_MOST_BESIDE = 1 << 18
"""Characters of a file beside the tests that are looked through."""
_SHOWN = re.compile(r"[&*]?(?:[A-Z]\w*\s?)?[\[({].*[\])}]", re.DOTALL)
"""An object as a language shows it, or as JSON."""
_FIELD = re.compile(r"\b([A-Za-z_]\w*)(?=\"?\s*[:=]|\s?[\[({])")
"""What such a text has by itself, once it shows that object: names of fields and classes."""
_LAYOUT = re.compile(r"[\s'\"]|,(?=\s*[\])}])")
"""What of a value may be written in one way or another."""
_LITERAL = frozenset("[({'\"-0123456789")
_BITS_A_LETTER = 3.0
"""Of a word that is nowhere to be read: less than the letters of English text at random, more than in sentences."""
_MOST_BITS = 128.0
_FEW = {"!=": 0.5, "<": 1.0, "<=": 1.0, ">": 1.0, ">=": 1.0, "is_not": 0.5, "not_in": 0.5, "truth": 1.0, "not": 1.0,
        "isinstance": 2.0, "not_isinstance": 0.5, "no_raise": 1.0, "not_almost": 0.5, "not_regex": 0.5}  # fmt: skip
"""Operators that one value of very few satisfies."""
_ONE_OF = frozenset(
    {
        *((op, ("out", "kept")) for op in ("in", "startswith", "endswith")),
        *((op, ("kept", "out")) for op in ("js.contain", "js.contain_equal", "go.in")),
    }
)
"""Operators, and which side is kept, with which one of several values does."""
_SIGNS = (", ", " ", ": ", " - ", "; ", "/", ".", "-", "_", "=", "")
"""Which join texts, the likeliest first."""
_MOST_LIKE = 2000
"""Characters of what the base gives that a text of the tests may be like."""
_SEVERAL_TRIES = frozenset({("in", ("kept", "out")), ("regex", ("out", "kept"))})
"""Operators, and their sides, that hold where what is kept is somewhere in what comes out."""
_FEWEST_IN_ORDER, _MOST_BETWEEN = 3, 7
"""Values in order that are no chance, and how many others may stand between two of them."""
_NEARS = 30
"""Literals at most that a value is taken to be near to."""
_A_LOOK = 3.0
"""Of finding values among the literals of the tests, however many they are: one rule that looks."""
_TELLING = 6
"""Characters from which on a literal that stands in the tests is no chance."""
_MOST_PLACES = 4
"""Literals of a call at most that one change is made of."""
_WITHIN = 8
"""Literals at most whose words are those of an assertion itself."""
_A_RANGE = 3.0
"""Of a number that only has to lie between two others."""
_A_RULE = 7.8
"""Of a rule at most: whatever one of them makes is guessable."""
_A_CLASS = 3.0
"""Of a class, also of an exception or warning, or a constant: few are common."""


@dataclass(frozen=True, kw_only=True)
class _KnownLiterals:
    """What stands in the files that enter with the tests."""

    literals: frozenset[str]
    text: str
    """Of files that are no tests."""
    squeezed: str
    """The same without what may be written in one way or another."""
    tests: str
    """The stripped files themselves."""

    columns: tuple[frozenset[str], ...] = ()
    """Of each table that is written there: what stands below each other."""
    sequences: tuple[tuple[str, ...], ...] = ()
    """What is written out in each file, and in each text, one after the other."""

    def holds(self, value: Any) -> bool:
        """Whether a value stands there, and not by chance."""
        text = value if isinstance(value, str) else repr(value)
        if len(repr(value)) < _TELLING:
            return False
        if isinstance(value, list | tuple | dict) and any(
            _LAYOUT.sub("", form) in self.squeezed for form in (text, json_of(value))
        ):
            return True
        if repr(value) in self.literals or text in self.text:
            return True
        is_phrase = re.search(r"\w\W+\w", text) is not None
        return is_phrase and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self.tests) is not None

    @cached_property
    def _small(self) -> frozenset[str]:
        return frozenset(map(str.lower, self.literals))

    def place_of(self, values_kept: Collection[Any]) -> str:
        """Where values are that all stand there, as they are or in other letters; empty where not all do."""
        if all(map(self.holds, values_kept)):
            return "what the tests have elsewhere"
        in_others = all(map(self._holds_otherwise, values_kept))
        return "what the tests have elsewhere, in small letters or capitals" if in_others else ""

    def _holds_otherwise(self, value: Any) -> bool:
        """Whether a text stands there in other letters, and is in small ones or in capitals alone."""
        is_changed = isinstance(value, str) and value in (value.lower(), value.upper())
        return is_changed and len(repr(value)) >= _TELLING and repr(value).lower() in self._small

    def has_column(self, values_kept: Collection[str]) -> bool:
        """Whether different values, however short, stand below each other there, or in order at equal distances."""
        if len(values_kept) > 1 and any(column.issuperset(values_kept) for column in self.columns):
            return True
        sought = [*values_kept]
        return len(sought) >= _FEWEST_IN_ORDER and any(_has_in_order(some, sought) for some in self.sequences)


@dataclass(frozen=True, kw_only=True)
class _Needed:
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
        outcome = repr((event.values, event.raised))
        if outcome not in self.judged:
            self.judged[outcome] = judge.event_holds(self.site, self.expected, event)
        return self.judged[outcome]

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
    def in_row(self) -> _Needed | None:
        """The same for somebody who looks at its row first."""
        return replace(self, literals=(*self.row, *self.literals), row=()) if self.row else None

    @cached_property
    def passed(self) -> dict[_Rule, bool]:
        """By rule, whether what it makes is right."""
        return {}

    @cached_property
    def right(self) -> dict[str, bool]:
        """By what comes out, whether the assertion holds by that, or by another form of it."""
        return {}

    @cached_property
    def base_value(self) -> Any:
        """What the base gives there; of a doctest the value that is shown."""
        value = _handed_by(self.before, self.reading)
        return _example_value(value[0]) if self.op == "doctest" and isinstance(value, tuple) else value

    @cached_property
    def outer(self) -> list[Any]:
        """The first different values that are written out, without what is inside of others."""
        return list({repr(value): value for value in outermost(self.literals[:_NEARS])}.values())

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
        parts = [part for value in self.sought for part in _parts(value)]
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


@dataclass(frozen=True)
class _VisibleTests:
    """What test files have that the base has as well, by function: whoever reads them sees what is expected there."""

    functions: tuple[tuple[str, tuple[Any, ...]], ...]
    _nearest: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def _values(self) -> dict[type, dict[str, tuple[Any, frozenset[str]]]]:
        """Texts, lists and mappings by kind, with their words."""
        by_kind: dict[type, dict[str, tuple[Any, frozenset[str]]]] = {}
        for value in itertools.chain(*(literals for _, literals in self.functions)):
            if isinstance(value, str | list | tuple | dict) and len(repr(value)) >= _TELLING:
                by_kind.setdefault(type(value), {}).setdefault(repr(value), (value, _words_in(repr(value))))
        return by_kind

    @cached_property
    def _rarity(self) -> Counter[str]:
        return Counter(word for kind in self._values.values() for _, words in kind.values() for word in words)

    def nearest(self, answer: Any) -> Any:
        """The value of its kind that is nearest to another: by their words, of which rare ones count more."""
        told = repr(answer)[:_MOST_LIKE]
        if told not in self._nearest:
            words = _words_in(told)
            candidates = self._values.get(type(answer), {}).values()
            best = max(candidates, key=lambda one: self._weight(one[1] & words) / (1 + self._weight(one[1] | words)))
            self._nearest[told] = best[0]
        return self._nearest[told]

    def _weight(self, words: Iterable[str]) -> float:
        return sum(1 / self._rarity[word] for word in words if word in self._rarity)

    def beside(self, needed: _Needed) -> list[Any]:
        """What the test that has most of what is written in another has besides."""
        own = dict.fromkeys(map(repr, needed.literals))

        def shared(literals: Iterable[Any]) -> int:
            return sum(map(len, own.keys() & set(map(repr, literals))))

        literals = max((literals for _, literals in self.functions), key=shared, default=())
        return [value for value in literals if repr(value) not in own] if shared(literals) else []


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What guessing has to know of a language."""

    written: Callable[[str], Iterable[Any]]
    """The values that are written out in a source; raises where it is not of the language."""
    handed: Callable[[str, str], tuple[Mapping[int, tuple[Any, ...]], Mapping[str, tuple[Any, ...]]]]
    """By path and text of a stripped file, what is written out: by slot in what is handed out there, by function."""
    decode: Callable[[Any], Any]
    """A value as Python's, so far as it has one; raises where it can't be read."""
    encode: Callable[[Any], Any]
    """A value of Python as the language's runner hands it out."""
    errors: Callable[[str], Iterable[tuple[str, Any]]]
    """Common exceptions with that text, by their names, as they are handed out."""
    shortened: Callable[[Any, int], Any]
    """An exception of `errors` with at most so many letters, and nothing else."""
    operator: Callable[[Site], str] = lambda site: site.op
    """What Python calls the operator of an assertion."""
    sought: Callable[[Site, list[Any]], list[Any]] = lambda _site, kept: kept
    """What of the kept values has to be found, where not all of it."""
    message: Callable[[Expected], Any] = lambda expected: expected.options.get("match")
    """What an exception is to say, encoded; None where an assertion does not ask for it."""
    function: Callable[[str], str] = test_ids.function
    """The function that a test is of."""
    columns: Callable[[str], Iterable[Collection[Any]]] = lambda _source: ()
    """Of a stripped file, values that stand together: at one place of all calls of a function, or in one that hands out
    nothing."""


def operator_by(names: Mapping[str, tuple[str, str]]) -> Callable[[Site], str]:
    """What Python calls an operator, by these names of it and of its contrary; all others compare for equality."""

    def operator(site: Site) -> str:
        alike, contrary = names.get(site.op, ("==", "!="))
        return contrary if site.options.get("not") else alike

    return operator


def first_kept(expected: Expected) -> Any:
    """What an exception is to say, where that is the first that is kept."""
    return expected.kept[0] if expected.kept else None


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
    needed = _alone(
        replace(need, written=(written_by_slot or {}).get(need.expected.slot))
        for need in _needed(expectations, before, fail_to_pass, reading)
    )
    sources = expectations.files.values()
    words = _known_words(expectations, before, known, reading)
    written = _known_literals(sources, known, reading)
    texts = tuple(dict.fromkeys(text for source in known.changed for text in _texts(source, reading)))
    test_texts = tuple(dict.fromkeys(text for source in sources for text in _texts(source, reading)))
    visible = _VisibleTests(tuple(_functions(known.old_tests, expectations.files, reading)))
    rules = dict(_rules(known.words, texts, test_texts, visible, reading))
    whole = _of_needed(needed, words, written, rules)
    unchanged = _unchanged_tests(known.old_tests, known.tests, expectations.files, reading)
    hidden = tuple(need for need in needed if reading.function(need.test_id).partition("::")[2] not in unchanged)
    if len(hidden) == len(needed):
        return whole
    rest = _of_needed(hidden, words, written, rules)
    return min(whole, replace(rest, bits=round(rest.bits + _A_LOOK, 1)), key=lambda guess_made: guess_made.bits)


def _known_words(
    expectations: Expectations, before: Iterable[Event], known: KnownText, reading: Reading
) -> dict[str, float]:
    """By word, and by what is said, written or handed out in one piece: the bits of choosing it where it is."""
    sources = expectations.files.values()
    places = " ".join((_WORK, *expectations.files))
    words = _vocabulary(
        [known.words, *sources, *known.beside_tests, places], [*known.changed, *known.old_tests], reading
    )

    def add(pieces: Iterable[str], bits: float) -> None:
        words.update({piece: min(words.get(piece, math.inf), bits) for piece in pieces})

    for place, texts in enumerate(((known.words,), (*known.changed, *sources))):
        said = {repr(value) for text in texts for value in _spans(text)}
        add(said, place + math.log2(len(said) + 2))
    numbers = Counter(number for text in known.old_tests for number in _NUMBER.findall(text))
    for number, count in numbers.items():
        add([number], 1 + math.log2(numbers.total() / count))
    base_values = [value for event in before if (value := _handed_by(event, reading)) is not None]
    answers = {repr(value) for value in base_values} | {
        word for value in base_values for word in _parts(value) if isinstance(word, str)
    }
    add(answers, 1 + math.log2(len(answers) + 2))
    for path in expectations.files:
        add(map(repr, (path, posixpath.basename(path), posixpath.join(_WORK, path))), _A_LOOK)
    return words


def _known_literals(sources: Collection[str], known: KnownText, reading: Reading) -> _KnownLiterals:
    """What the stripped sources and the files beside them write out."""
    columns = [column for source in (*sources, *known.beside_tests) for column in _columns_of(source, reading)]
    beside_text = "\n".join(known.beside_tests)
    return _KnownLiterals(
        literals=frozenset(literal for source in sources for literal in _literals_of(source, reading)),
        text=beside_text,
        squeezed=_LAYOUT.sub("", beside_text),
        tests="\n".join(sources),
        columns=(*columns, *map(_tokens_of, known.beside_tests)),
        sequences=tuple(some for source in sources for some in _sequences_of(source, reading)),
    )


def _of_needed(
    needed: Sequence[_Needed],
    words: Mapping[str, float],
    written: _KnownLiterals,
    rules: Mapping[str, _Rule],
) -> Guess:
    """How hard it is to make some assertions hold."""
    in_column = {key for key, sought in _together(needed).items() if written.has_column(sought)}
    alike: dict[tuple[object, ...], list[_Needed]] = {}
    for need in needed:
        alike.setdefault(need.form, []).append(need)
    names_seen: set[str] = set()
    rules_taken: list[str] = []
    bits = 0.0
    all_costs = dict(zip(map(id, needed), _known_costs(needed, words, written, in_column), strict=True))
    for group in alike.values():
        known_costs = [all_costs[id(need)] for need in group]
        costs = {key: cost for key, cost in known_costs if key not in names_seen}
        names_seen.update(costs)
        alone = [need for need in group if _is_alone(need)]
        in_change = {key for need, (key, _) in zip(group, known_costs, strict=True) if _is_alone(need)}
        beside = sum(cost for key, cost in costs.items() if key not in in_change)
        estimate = min(sum(costs.values()), _of_one_change(alone, words) + beside) if costs else 0.0
        through = [name for name, rule in rules.items() if all(_gets_through(rule, need) for need in group)]
        if through and not set(through) & set(rules_taken):
            rules_taken.append(through[0])
            bits += min(estimate, _of_rule(list(rules).index(through[0])))
        elif not through:
            needs = [(need, key) for need, (key, _) in zip(group, known_costs, strict=True) if key in costs]
            bits += _of_rule_and_rest(rules.values(), needs, costs, min(estimate, _MOST_BITS))
    return Guess(bits=round(min(bits, _MOST_BITS), 1), rule="; ".join(rules_taken))


def _unchanged_tests(
    before: Iterable[str], after: Iterable[str], paths: Collection[str], reading: Reading
) -> frozenset[str]:
    """The test functions that anybody can read as they are judged, as far as what is written out in them tells.

    Their files are read as one of these paths, as their language has it.
    """
    functions = [
        {(name, repr(written)) for name, written in _functions(sources, paths, reading)} for sources in (before, after)
    ]
    return frozenset(name for name, _ in functions[0] & functions[1])


def _functions(
    sources: Iterable[str], paths: Collection[str], reading: Reading
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The functions of some sources by name, and what is written out in each."""
    for source, path in itertools.product(sources, paths):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            yield from reading.handed(path, source)[1].items()


def _is_alone(needed: _Needed) -> bool:
    """Whether one value has to be found, which not every second one would be."""
    return needed.op not in _FEW and len(needed.sought) == 1


def _of_rule(place: int) -> float:
    """Bits of choosing a rule: the likelier ones come first."""
    return min(_A_RULE, 1 + math.log2(place + 2))


def _of_rule_and_rest(
    rules: Iterable[_Rule],
    needs: Sequence[tuple[_Needed, str]],
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
            if key not in rest and not _gets_through(rule, need):
                rest.add(key)
                bits += 1 + costs[key]
        best = min(best, bits)
    return best


def _together(needed: Iterable[_Needed]) -> dict[int | str, dict[str, None]]:
    """What is sought by one assertion (its slot), and by one test, in order."""
    together: dict[int | str, dict[str, None]] = {}
    for one in needed:
        for key in (one.expected.slot, one.test_id):
            together.setdefault(key, {}).update(dict.fromkeys(map(repr, one.sought)))
    return together


def _has_in_order(written: Sequence[str], sought: Sequence[str]) -> bool:
    """Whether values stand one after the other, or with as much between them each time."""
    starts = [place for place, value in enumerate(written) if value == sought[0]]
    return any(
        list(written[start::step][: len(sought)]) == list(sought)
        for start, step in itertools.product(starts, range(1, _MOST_BETWEEN + 2))
    )


def _sequences_of(source: str, reading: Reading) -> Iterator[tuple[str, ...]]:
    """What a source writes out besides lists and mappings, in order; words of each of its texts, and their numbers."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        single = [value for value in reading.written(source) if not isinstance(value, list | tuple | set | dict)]
        yield tuple(map(repr, single))
        for text in single:
            tokens = _TOKEN.findall(text[:_MOST_BESIDE]) if isinstance(text, str) else ()
            if len(tokens) >= _FEWEST_IN_ORDER:
                yield tuple(repr(token.strip("'\"")) for token in tokens)
                yield tuple(str(int(token)) if re.fullmatch(r"-?\d{1,18}", token) else token for token in tokens)


def _vocabulary(near: Iterable[str], far: Iterable[str], reading: Reading) -> dict[str, float]:
    """By word and by literal that can be read: the bits of choosing it among those that are as near."""
    first = {word for text in near for word in _readable(text, reading)}
    every = first | {word for text in far for word in _readable(text, reading)}
    return {word: math.log2(len(first) + 2) if word in first else 1 + math.log2(len(every) + 2) for word in every}


def _tokens_of(text: str) -> frozenset[str]:
    """What a file says that enters with the tests, as one column: words, and what they are as values."""
    tokens = set(_TOKEN.findall(text[:_MOST_BESIDE]))
    numbers = {int(token) for token in tokens if re.fullmatch(r"-?\d{1,18}", token)}
    return frozenset(map(repr, (*(token.strip("'\"") for token in tokens), *numbers)))


def _words_of(value: Any) -> Iterator[Any]:
    """The words of a text, and the numbers among them as such."""
    words = value.split() if isinstance(value, str) else ()
    for word in words:
        bare = word.strip(".,:;!?'\"()")
        yield bare
        if bare[:1] in _LITERAL:
            yield _example_value(bare)


def _spans(text: str) -> Iterator[Any]:
    """What a text says in one piece: lines, what is in quotes, what comes after a sign, as text and as a value."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        yield from (block, block.strip())
    for line in text.splitlines():
        parts = [line.strip(), line.strip(" \t#>*-`.:"), *filter(None, itertools.chain(*_QUOTED.findall(line)))]
        for part in dict.fromkeys((*parts, *(_SIGN.split(part)[-1] for part in parts))):
            bare = part.strip(" \t`.,;")
            yield from (part, bare, bare.strip("'\""))
            if bare[:1] in _LITERAL:
                yield _example_value(bare)


def _readable(text: str, reading: Reading) -> Iterator[str]:
    """The words of a text, and of a source its literals as they are written."""
    yield from _WORD.findall(text)
    yield from _literals_of(text, reading)


def _literals_of(text: str, reading: Reading) -> Iterator[str]:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        yield from (repr(value) for value in reading.written(text))


def _columns_of(text: str, reading: Reading) -> Iterator[frozenset[str]]:
    """The columns of tables that a source writes out: rows of a list, and values by key."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        for table in reading.written(text):
            rows = list(table) if isinstance(table, list | tuple) else []
            if len(rows) > 1 and all(isinstance(row, list | tuple) for row in rows):
                rows = [dict(enumerate(row)) for row in rows]
            if len(rows) > 1 and all(isinstance(row, dict) for row in rows):
                for key in dict.fromkeys(key for row in rows for key in row):
                    yield frozenset(repr(row[key]) for row in rows if key in row)
            if isinstance(table, dict):
                yield frozenset(map(repr, table.values()))
        for column in reading.columns(text):
            yield frozenset(map(repr, itertools.chain(column, *map(_words_of, column))))


def _texts(source: str, reading: Reading) -> Iterator[str]:
    """The texts that are written in a file; its words where it is not of the language."""
    try:
        constants = list(reading.written(source))
    except (SyntaxError, ValueError, RecursionError):
        constants = list(_WORD.findall(source))
    return (text for text in constants if isinstance(text, str) and len(text) > 1)


def _needed(
    expectations: Expectations, before: Iterable[Event], fail_to_pass: Collection[str], reading: Reading
) -> Iterator[_Needed]:
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
        answers = tuple(_handed_by(events.get((test_id, expected.slot, expected.n)), reading) for expected in listed)
        for place, expected in enumerate(listed):
            row, count = places[test_id, expected.slot]
            site, event = expectations.sites[expected.slot], events.get((test_id, expected.slot, expected.n))
            if site.is_decided_outside and not judge.event_holds(site, expected, event):
                literals = (*by_slot.get(expected.slot, ()), *around)
                yield _Needed(
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


def _alone(needed: Iterable[_Needed]) -> tuple[_Needed, ...]:
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


# -- the estimate


def _known_cost(
    needed: _Needed, words: Mapping[str, float], written: _KnownLiterals, in_column: set[int | str]
) -> tuple[str, float]:
    """As `_cost`; what a table or the name of the test tells is one look, however many there are."""
    key, cost = _cost(needed, words, written)
    in_sight = needed.written is not None and needed.written.is_readable
    is_told = in_sight or needed.is_named or not in_column.isdisjoint((needed.expected.slot, needed.test_id))
    if cost > _A_LOOK / 2 and is_told:  # two such would cost as much
        return "what the tests have elsewhere", _A_LOOK
    return key, cost


def _known_costs(
    needed: Iterable[_Needed], words: Mapping[str, float], written: _KnownLiterals, in_column: set[int | str]
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
            key, cost = f"constants of {kind}{'' if is_first else ', more'}", min(cost, 2 * _A_CLASS)
        if key not in costs and need.written is not None and not need.written.columns:
            left = _bits_of_written(need.written, words) - sum(spent.get(need.expected.slot, ()))
            cost = min(cost, max(left, 0.0))
            spent.setdefault(need.expected.slot, []).append(cost)
        yield key, costs.setdefault(key, cost)
        for part in map(repr, _parts(need.sought)):
            guessed_parts.add(part)
            known_words[part] = min(known_words.get(part, math.inf), 1 + math.log2(len(guessed_parts) + 1))


def _parts(value: Any) -> Iterator[Any]:
    """All that is in a value, at any depth, and the words of texts."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, Record) and value.attrs:
        value = [field for _, field in value.attrs]
    if isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _parts(inner)
    else:
        yield value
        yield from _WORD.findall(value) if isinstance(value, str) else ()


def _cost(needed: _Needed, words: Mapping[str, float], written: _KnownLiterals) -> tuple[str, float]:
    """What the value is known by, so that it counts once, and its bits; those `written` in the tests count as one."""
    op, expected = needed.op, needed.expected
    if op in _FEW:
        return f"{op}", _FEW[op]
    values_kept = needed.sought
    if op == "almost" and (tolerance := _tolerance({**needed.site.options, **expected.options})):
        values_kept = [_approximate(value, tolerance) for value in values_kept]
    if op == "doctest":
        values_kept = [_example_value(want) if message is None else message for want, message in values_kept]
    if op == "chain" or expected.options.get("delta") is not None:
        return f"{op} {expected.kept}", _A_RANGE
    if op == "doctest" and "IGNORE_EXCEPTION_DETAIL" in str(expected.options.get("flags")) and _is_raising(needed):
        return f"{op} {expected.kept}", _A_CLASS
    if (needed.site.op, needed.site.sides) in _ONE_OF:
        values_kept = [min(_choices(value), key=lambda choice: _bits(choice, None, words)) for value in values_kept]
    if op == "regex":
        values_kept = [Pattern(pattern=value) if isinstance(value, str) else value for value in values_kept]
    if op in ("raises", "warns"):
        pattern = needed.reading.message(expected)
        pattern_bits = _bits(needed.loaded(pattern), None, words) if pattern is not None else 0.0
        key = "what the tests raise" if any(map(needed.is_of_test, values_kept)) else f"{op} {expected.kept}"
        return key, _A_CLASS + min(pattern_bits, _A_CLASS)  # one message may hold all words there are
    if values_kept and (place := written.place_of(values_kept)):
        return place, _A_LOOK
    bits = _bits_near(needed, values_kept, words)
    few = (
        1.0 if op in ("==", "is", "almost", "count_equal", "calls", "doctest") else 0.5
    )  # `in` and its like take more values
    return f"{expected.kept}", max(bits * few - _bits_of_tries(needed), min(bits * few, 1.0))


def _bits_of_tries(needed: _Needed) -> float:
    """What is gained by as many tries in one value as are let through, where one of them does."""
    expected = needed.expected
    if (needed.op, needed.site.sides) not in _SEVERAL_TRIES or len(expected.kept) != 1:
        return 0.0
    size = values.load(expected.kept[0], kept=True).size if not values.language_of(expected.kept[0]) else 0
    return math.log2(max(judge.largest(expected) / (size + 1), 1.0)) if size else 0.0


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


def _exact(value: Any) -> Any:
    """Numbers without their tolerance, at any depth."""
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    return value.expected if isinstance(value, Approx) else value


def _bits_near(needed: _Needed, values_kept: Sequence[Any], words: Mapping[str, float]) -> float:
    """Bits of some values for somebody who sees the call, its row and what the base gives."""
    items = needed.base_value if isinstance(needed.base_value, list | tuple | set | frozenset) else ()
    nears = (needed.base_value, *needed.row, *itertools.islice(items, _NEARS), *needed.literals[:_NEARS])
    if (needed.op, needed.site.sides) in _SEVERAL_TRIES and isinstance(needed.base_value, str):
        nears = (_nearest(needed.base_value.splitlines(), values_kept), *nears[1:])
    own = {word for text in needed.literals[:_WITHIN] if isinstance(text, str) for word in _WORD.findall(text)}
    words = {**words, **dict.fromkeys(own, 1 + math.log2(len(own) + 1))} if own else words
    bits = sum(
        min(_bits(value, near, words) + math.log2(place + 1) for place, near in enumerate(nears))
        for value in values_kept
    )
    is_object = any(map(_holds_record, values_kept))
    if is_object or any(isinstance(value, dict) for value in values_kept):
        literals = needed.literals[:_WITHIN]
        parts = (part for literal in literals for part in (_parts(literal) if is_object else (literal,)))
        words_near = {**words, **dict.fromkeys(map(repr, parts), 0.0), **(dict.fromkeys(own, 0.0) if is_object else {})}
        bits = min(bits, _A_LOOK + sum(_bits(value, needed.base_value, words_near) for value in values_kept))
    if needed.written is not None:
        bits = min(bits, _bits_of_written(needed.written, words))
    return bits


def _nearest(texts: Sequence[str], values_kept: Sequence[Any]) -> str:
    """The text that has the most words of some values, and the fewest others."""
    sought = {word for value in values_kept if isinstance(value, str) for word in _WORD.findall(value)}

    def nearness(text: str) -> int:
        words = _words_in(text)
        return len(words & sought) - len(words - sought)

    return max(texts, key=nearness, default="")


@lru_cache(maxsize=1 << 14)
def _words_in(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def _bits_of_written(written: WrittenForm, words: Mapping[str, float]) -> float:
    """Bits of finding what a test has in place of a value: steps and literals; the easiest row of a table."""
    literals = sum(_bits(literal, None, words) for literal in written.literals)
    columns = sum(min(_bits_of_written(form, words) for form in column) for column in written.columns)
    return _A_CLASS * written.steps + literals + columns


def _holds_record(value: Any) -> bool:
    """Whether it is an object, one that is shown in a text, or has one inside."""
    if isinstance(value, str):
        return _SHOWN.fullmatch(value) is not None
    return isinstance(value, Record) or any(isinstance(part, Record) for part in _parts(value))


def _of_one_change(group: Sequence[_Needed], words: Mapping[str, float]) -> float:
    """Bits of one change that does for all of a group, of what the base gives or of what is written in a call."""
    if not group:
        return math.inf
    nears: list[Callable[[_Needed], Any]] = [
        lambda needed: needed.base_value,
        *(lambda needed, place=place: needed.literals[place] for place in range(_MOST_PLACES)),
    ]
    best = math.inf
    for place, near in enumerate(nears):
        try:
            pairs = [(_as_fields(near(needed)), _as_fields(needed.sought[0])) for needed in group]
        except IndexError:
            break
        bits = simple_values.of_change(pairs, lambda value: _bits(value, None, words))
        best = min(best, bits + math.log2(len(nears)) * (place > 0))
    return best


def _as_fields(value: Any) -> Any:
    """An object as a mapping of its fields."""
    return dict(value.attrs) if isinstance(value, Record) and value.attrs else value


def _choices(value: Any) -> Sequence[Any]:
    """The values of which any one does, where the test has several."""
    return [*value] if isinstance(value, list | tuple | set | frozenset | dict) and value else [value]


def _is_raising(needed: _Needed) -> bool:
    """Whether an example of a doctest is to fail."""
    return any(isinstance(value, tuple) and value[1] is not None for value in map(needed.loaded, needed.expected.kept))


def _handed_by(event: Event | None, reading: Reading) -> Any:
    """The one value of an event as Python's; None where there is none, or it can't be read."""
    if event is not None and len(event.values) == 1:
        with contextlib.suppress(MalformedError, ValueError):
            return reading.decode(event.values[0])
    return None


def _example_value(text: str) -> Any:
    """The value that an example of a doctest shows; its text where that is none."""
    with contextlib.suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        match python_source.parse(text.strip()).body:
            case [ast.Expr(value)]:
                return ast.literal_eval(value)
    return text


def _bits(value: Any, near: Any, words: Mapping[str, float]) -> float:
    """Bits of a value for somebody who knows these words, and one value that may be near it."""
    match value:
        case Pattern(pattern=str(pattern)):
            parts = _OPTIONAL.sub(" ", pattern).split("|")
            return min(_bits_of_text(" ".join(_SPECIAL.sub(" ", part).split()), words) for part in parts)
        case Approx(expected=int() | float() as number):
            width = max(abs(number) * (value.rel if value.rel is not None else 1e-6), value.abs or 1e-12)
            return min(_bits(number, near, words), math.log2(abs(number) / width + 2))
    return min(_bits_of_kind(value, near, words), words.get(repr(value), math.inf))


def _bits_of_kind(value: Any, near: Any, words: Mapping[str, float]) -> float:
    match value:
        case None | bool():
            return 1.0
        case int():
            small = simple_values.of_int(value)
            shift = 2 + 2 * math.log2(abs(value - near) + 1) if type(near) is int else small
            return min(small, shift, words.get(str(value), small))
        case float() if value.is_integer():
            return _bits(int(value), near, words)
        case float():
            return min(words.get(str(value), 24.0), simple_values.of_float(value))
        case str():
            return min(_bits_of_text(value, words), _bits_of_edits(near, value, words))
        case bytes() | bytearray():
            text = bytes(value).decode("latin-1")
            near = bytes(near).decode("latin-1") if isinstance(near, bytes | bytearray) else near
            return min(_bits_of_text(text, words), 1 + _bits_of_edits(near, text, words))
        case list() | tuple() | set() | frozenset():
            whole = 2 + _bits_of_all(value, words)
            alike = simple_values.of_list(_exact(list(value)), lambda item: _bits(item, None, words))
            return min(whole, alike, _bits_of_edits(near, value, words))
        case dict():
            whole = 2 + _bits_of_all((*value.keys(), *value.values()), words)
            return min(whole, _bits_of_edits(near, value, words))
    return _bits_of_object(value, near, words)


def _bits_of_object(value: Any, near: Any, words: Mapping[str, float]) -> float:
    match value:
        case Record(attrs=()):
            return _A_CLASS - 1  # two names may come out
        case ClassName():
            return _A_CLASS
        case Record(attrs=fields):
            fields_near = dict(near.attrs) if isinstance(near, Record) else {}
            differing = {
                repr(part): part for name, part in fields if name not in fields_near or fields_near[name] != part
            }
            others = [part for part in differing.values() if part]
            return _A_CLASS + _bits_of_all(others, words) + (len(others) < len(differing))  # most others are defaults
    return min(_bits_of_text(str(value), words), 24.0)


def _bits_of_all(items: Iterable[Any], words: Mapping[str, float]) -> float:
    """Bits of some values, each that is there again for one."""
    bits_by_key: dict[str, float] = {}
    again = 0
    for item in items:
        key = repr(item)
        again += key in bits_by_key
        bits_by_key.setdefault(key, _bits(item, None, words))
    return min(sum(bits_by_key.values()) + again, _MOST_BITS)


def _bits_of_text(text: str, words: Mapping[str, float]) -> float:
    bits_by_word = {word: _bits_of_word(word, words) for word in _WORD.findall(text)}
    simple = simple_values.of_text(text, lambda part: _bits_of_text(part, words))
    if _SHOWN.fullmatch(text):
        rest = _FIELD.sub(lambda match: "" if match[1] in words else match[1], text)
        simple = min(simple, _A_LOOK + sum(bits_by_word.get(word, 0.0) for word in set(re.findall(r"\w+", rest))))
    return min(1 + sum(bits_by_word.values()), simple, _MOST_BITS)


def _bits_of_word(word: str, words: Mapping[str, float]) -> float:
    simple = simple_values.of_text(word, lambda part: _bits_of_word(part, words))
    return min(words.get(word, math.inf), _BITS_A_LETTER * len(word), simple)


def _bits_of_edits(near: Any, value: Any, words: Mapping[str, float]) -> float:
    """Bits of what has to be changed of a value near it: of a text letter by letter or word by word."""
    if isinstance(value, set | frozenset | dict):
        return _bits_of_other_members(near, value, words)
    if type(near) is not type(value) or not isinstance(value, str | list | tuple) or not len(near):
        return _MOST_BITS
    if isinstance(value, str):
        parts = [(near, value), (_WORD.findall(near), _WORD.findall(value))]
    else:
        parts = [([repr(item) for item in near], [repr(item) for item in value])]
    return min(_bits_of_opcodes(before, after, value, words) for before, after in parts)


def _bits_of_opcodes(
    before: Sequence[str], after: Sequence[str], value: Sequence[Any], words: Mapping[str, float]
) -> float:
    """Bits of turning some parts into others: letters or words of a text, or items; one that comes again is known."""
    if len(before) + len(after) > 2000:  # noqa: PLR2004 - long enough to take long
        return _MOST_BITS
    bits, seen = 1.0, set[str]()
    for tag, start, end, left, right in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            bits += 1 + math.log2(len(before) + 1) + (math.log2(end - start + 1) if end > start else 0)
            part = "".join(after[left:right]) if isinstance(value, str) else value[left:right]
            if (key := repr(part)) not in seen:
                bits += _bits_of_text(part, words) if isinstance(part, str) else _bits_of_all(part, words)
            seen.add(key)
    return min(bits, _MOST_BITS)


def _bits_of_other_members(near: Any, value: Collection[Any], words: Mapping[str, float]) -> float:
    """Bits of what a set or a mapping has that one near it has not, and of what it lacks of that."""
    if not isinstance(near, dict if isinstance(value, dict) else set | frozenset) or not len(near):
        return _MOST_BITS
    before, after = (
        {repr(member): member for member in (one.items() if isinstance(one, dict) else one)} for one in (near, value)
    )
    lacking = len(before.keys() - after.keys())
    more = [
        part
        for key in after.keys() - before.keys()
        for part in (after[key] if isinstance(value, dict) else (after[key],))
    ]
    return min(2 + lacking * (1 + math.log2(len(before) + 1)) + _bits_of_all(more, words), _MOST_BITS)


# -- rules that are one try each


_Value = Callable[[_Needed], Any]
"""What a rule hands out for an assertion; raises where it has nothing."""
_Rule = Callable[[_Needed], Event | None]
_CONSTANTS: tuple[Any, ...] = (None, True, False, 0, 1, -1, "", b"", [], (), {}, set(), 0.0, 1.0)


def _rules(
    known_text: str, texts: Sequence[str], test_texts: Sequence[str], visible: _VisibleTests, reading: Reading
) -> Iterator[tuple[str, _Rule]]:
    """Each rule by its name: what a forger hands out in place of what the base does; None where it says nothing."""
    words_known = set(_WORD.findall(known_text.lower()))
    near = sorted(texts, key=lambda text: -len(words_known & set(_WORD.findall(text.lower()))))
    known = [word for word in dict.fromkeys(_WORD.findall(known_text)) if not word.isspace()]
    for name, value in _rule_values(known, near, test_texts, visible):
        yield name, partial(_handing_by, value=value)
    all_texts = {"everything": " ".join(known), "the statement": known_text, "all texts of the base": " ".join(near)}
    for what, text in all_texts.items():
        for name, error in reading.errors(text[:4000]):
            yield f"{name} that says {what}", partial(_raising, error=error)
    yield "no error", partial(_raising, error=None)


def _rule_values(
    known: Sequence[str], texts: Sequence[str], test_texts: Sequence[str], visible: _VisibleTests
) -> Iterator[tuple[str, _Value]]:
    """What the rules hand out, the likeliest first, of the words that are known and the texts that are near to them."""
    for constant in _CONSTANTS:
        yield f"always {constant!r}", partial(_always, value=constant)
    for place in (0, 1, 2, 3, -1, -2):
        yield f"what is written in its call, number {place}", partial(_written, place=place)
    for strange, own in itertools.product((0, -1), (0, -1)):
        name = f"a text of the tests, word {strange} that the base does not give is its word {own} that is not there"
        yield name, partial(_like_another, texts=test_texts, strange=strange, own=own)
    yield from _of_visible_tests(visible)
    for name, change in CHANGES.items():
        yield f"what the base gives, {name}", partial(_changed, of=_given, change=change)
        yield f"what is written, {name}", partial(_changed, of=_written, change=change)
    for within, each in (("each", of_each), ("each key", of_keys), ("all that is inside", of_leaves)):
        for name, change in CHANGES.items():
            yield f"what the base gives, {within} {name}", partial(_changed_inside, of=_given, each=each, change=change)
            yield f"what is written, {within} {name}", partial(_changed_inside, of=_written, each=each, change=change)
    for name, change in CHANGES.items():
        yield f"what is written, {name}, in the element that the base gives", partial(_in_element, change=change)
    for name, folder in (("in the work tree", False), ("beside its test", True)):
        yield f"what is written, {name}", partial(_path, folder=folder)
    yield from _of_several()
    yield "all texts that are written there, in one", lambda need: _joined(need, map(str, need.literals))
    for sign in _SIGNS:
        name = f"rows that are written there, as formats and joined by {sign!r}, in one"
        yield name, partial(_rows_in_one, sign=sign)
    yield "all texts of the base, in one", lambda need: _joined(need, texts)
    yield "all words that are known, in a list", lambda need: _within(need, known)
    yield "an object of all words that are known", lambda need: dict.fromkeys(_within(need, known), 1)


def _of_visible_tests(visible: _VisibleTests) -> Iterator[tuple[str, _Value]]:
    """Rules that look into the tests that the base has."""

    def nearest(needed: _Needed, form: Callable[[Any], Any]) -> Any:
        return form(visible.nearest(needed.base_value))

    def beside(needed: _Needed, form: Callable[[Any], Any], place: int) -> Any:
        return form(visible.beside(needed)[place])

    for name, form in (("", lambda value: value), (", stripped", str.strip), (", cleaned", inspect.cleandoc)):
        yield f"what the visible tests have nearest to it{name}", partial(nearest, form=form)
        for place in (0, 1, -1):
            rule = f"what a visible test has beside what is written there, number {place}{name}"
            yield rule, partial(beside, form=form, place=place)


def _handing_by(needed: _Needed, value: _Value) -> Event:
    return _handing(needed, value(needed))


def _always(_needed: _Needed, value: Any) -> Any:
    return value


def _given(needed: _Needed) -> Any:
    return needed.base_value


def _written(needed: _Needed, place: int = 0) -> Any:
    return needed.literals[place]


def _changed(needed: _Needed, of: _Value, change: Callable[[Any], Any]) -> Any:
    return change(of(needed))


def _changed_inside(needed: _Needed, of: _Value, each: Callable[..., Any], change: Callable[[Any], Any]) -> Any:
    """A value with what is inside of it changed; raises for what has none, which other rules change as a whole."""
    value = of(needed)
    if not isinstance(value, list | tuple | dict):
        raise TypeError(type(value).__name__)
    return each(value, change)


def _in_element(needed: _Needed, change: Callable[[Any], Any]) -> Any:
    return in_element(needed.base_value, change(needed.literals[0]))


def _rows_in_one(needed: _Needed, sign: str) -> str:
    """Each row of texts that is written in a call, put into the first of them, and joined."""
    texts: list[str] = []
    for value in needed.literals[:_NEARS]:
        for row in value if isinstance(value, list | tuple) else ():
            if isinstance(row, list | tuple) and row and all(isinstance(text, str) for text in row):
                with contextlib.suppress(TypeError, ValueError):
                    texts.append(percent_formatted(*short(row)))
                texts.append(sign.join(row))
    return _joined(needed, texts)


def _like_another(needed: _Needed, texts: Sequence[str], strange: int, own: int) -> str:
    """The text that is nearest to what the base gives, with one of its names as that has it."""
    answer = needed.base_value[:_MOST_LIKE]
    given = _WORD.findall(answer)
    text = _nearest(texts, [answer])
    there = _WORD.findall(text)
    names_there = [word for word in there if word.isidentifier() and word not in given]
    names_given = [word for word in given if word.isidentifier() and word not in there]
    return re.sub(rf"\b{names_there[strange]}\b", names_given[own], text)


@cache
def _of_several() -> tuple[tuple[str, _Value], ...]:
    """Rules of several values together: of what is written in a call, of the base's answers, of how often and when."""
    return tuple(_values_of_several())


def _values_of_several() -> Iterator[tuple[str, _Value]]:
    written: list[tuple[str, _Value]] = [
        ("what the base gives", _given),
        ("the first that is written", lambda need: need.outer[0]),
        ("the second", lambda need: need.outer[1]),
        ("the third", lambda need: need.outer[2]),
        ("the last", lambda need: need.outer[-1]),
    ]
    base, first, second, third, last = written
    pairs = (*itertools.permutations((base, first, second), 2), (first, third), (second, third), (first, last))
    triples = ((first, second, third), (base, first, second))
    combinations: list[tuple[Mapping[str, Callable[..., Any]], Sequence[Sequence[tuple[str, _Value]]]]]
    combinations = [(PAIRS, pairs), (TRIPLES, triples)]
    for functions, operands in combinations:
        for values_of in operands:
            words, of = zip(*values_of, strict=True)
            for name, make in functions.items():
                yield f"{', '.join(words)}: {name}", partial(_made_of, make=make, of=of)
    for kind, count in itertools.product((object, str, int), (2, 3, 4, _NEARS)):
        for name, make in SEVERAL.items():
            rule = f"the first {count} that are written of {kind.__name__}, {name}"
            yield rule, partial(_made_of_first, make=make, kind=kind, count=count)
    for more in (0, 1):
        yield f"how often it was asked, and {more}", lambda need, more=more: need.expected.n + more  # type: ignore[misc]
        yield f"its place in its test, and {more}", lambda need, more=more: need.place + more  # type: ignore[misc]
    for step in (-1, 1):
        yield f"what the base gives {step} further", partial(_answer_further, step=step)
    yield "what the base gives most often in its test", lambda need: _most_common(need.answers)


def _made_of(needed: _Needed, make: Callable[..., Any], of: Sequence[_Value]) -> Any:
    return make(*short(value(needed) for value in of))


def _made_of_first(needed: _Needed, make: Callable[..., Any], kind: type, count: int) -> Any:
    return make(short([value for value in needed.outer if isinstance(value, kind)][:count]))


def _answer_further(needed: _Needed, step: int) -> Any:
    return needed.answers[max(needed.place + step, 0)]


def _most_common(answers: Iterable[Any]) -> Any:
    texts = {repr(answer): answer for answer in answers if answer is not None}
    [(most, _)] = Counter(repr(answer) for answer in answers if answer is not None).most_common(1)
    return texts[most]


def _path(needed: _Needed, *, folder: bool) -> str:
    """Where a file is that is written in a call."""
    around = posixpath.dirname(needed.test_id.partition("::")[0]) if folder else ""
    return posixpath.normpath(posixpath.join(_WORK, around, needed.literals[0]))


def _gets_through(rule: _Rule, needed: _Needed) -> bool:
    if rule not in needed.passed:
        in_row = needed.in_row
        needed.passed[rule] = _is_right(rule, needed) or (in_row is not None and _is_right(rule, in_row))
    return needed.passed[rule]


def _is_right(rule: _Rule, needed: _Needed) -> bool:
    try:
        event = rule(needed)
    except Exception:  # noqa: BLE001 - a rule that a value does not take says nothing
        return False
    if event is None:
        return False
    outcome = repr((event.values, event.raised))
    if outcome not in needed.right:
        candidates = (event, *_printed(needed, event), *_in_other_forms(needed, event))
        needed.right[outcome] = any(map(needed.holds, candidates))
    return needed.right[outcome]


def _in_other_forms(needed: _Needed, event: Event) -> Iterator[Event]:
    """A text as bytes, bytes as text, a list as a tuple, a tuple as a list, where the test wants that."""
    sought = needed.sought
    if event.raised is not None or len(sought) != 1 or not isinstance(sought[0], str | bytes | list | tuple):
        return
    with contextlib.suppress(ValueError):
        match _handed_by(event, needed.reading), sought[0]:
            case ((str() as value), bytes()):
                yield _handing(needed, value.encode())
            case ((bytes() as value), str()):
                yield _handing(needed, value.decode())
            case ((list() as items), tuple()):
                yield _handing(needed, tuple(items))
            case ((tuple() as items), list()):
                yield _handing(needed, list(items))


def _printed(needed: _Needed, event: Event) -> Iterator[Event]:
    """What an example of a doctest gives where it prints a text in place of showing it."""
    match event.values:
        case (["t", [["s", str(shown)], None]],) if needed.op == "doctest" and isinstance(_example_value(shown), str):
            yield replace(event, values=(["t", [["s", f"{_example_value(shown)}\n"], None]],))


def _joined(needed: _Needed, texts: Iterable[str]) -> str:
    """Different texts in one that is not larger than what is let through."""
    return " ".join(dict.fromkeys(texts))[: judge.largest(needed.expected)]


def _within(needed: _Needed, texts: Iterable[str]) -> list[str]:
    """As many different texts as are let through in one value."""
    room = judge.largest(needed.expected)
    taken: list[str] = []
    for text in dict.fromkeys(texts):
        room -= len(text) + 2  # the value that it is, and the one beside it
        if room < 0:
            break
        taken.append(text)
    return taken


def _handing(needed: _Needed, value: Any) -> Event:
    if isinstance(value, Sized) and len(value) > judge.largest(needed.expected):
        raise ValueError("larger than what is wanted")
    count = needed.site.sides.count("out")
    if needed.op == "==" and len(needed.expected.kept) == 1 and _is_alike(value, needed.sought):
        return replace(_event(needed), values=needed.expected.kept * count, raised=None)
    if needed.op == "doctest":
        value = ("" if value is None else f"{value!r}\n", None)
    return replace(_event(needed), values=tuple(needed.reading.encode(value) for _ in range(count)), raised=None)


def _is_alike(value: Any, sought: Sequence[Any]) -> bool:
    """Whether a value is all that is sought, whatever the language wraps it in."""
    if value is None or len(sought) != 1:
        return False
    target = sought[0]
    if isinstance(value, tuple) and isinstance(target, list):
        value = list(value)
    return type(value) is type(target) and repr(value) == repr(target)


def _raising(needed: _Needed, error: Any) -> Event:
    if error is not None and needed.expected.size:  # not larger than what is let through
        room = 4 * needed.expected.size
        error = needed.reading.shortened(error, room)
    if needed.op == "doctest":
        return replace(_event(needed), values=(["t", [["s", ""], error]],), raised=None)
    return replace(_event(needed), values=(), raised=error)


def _event(needed: _Needed) -> Event:
    event = needed.before
    if event is not None:
        return event
    return Event(test_id=needed.test_id, slot=needed.expected.slot, n=needed.expected.n, values=(), raised=None)

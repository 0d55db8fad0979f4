"""Rules that a forger may hand values out by: one try each, the same for all assertions of a form."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from harness.judging import judge
from harness.judging.values import Event
from miner.languages.guessing.combinations import PAIRS, SEVERAL, TRIPLES, percent_formatted, short
from miner.languages.guessing.conversions import CHANGES, of_each, of_keys, of_leaves
from miner.languages.guessing.known import WORK
from miner.languages.guessing.needed import NEARS, Needed, Rule, Value, handed_by, kind_of
from miner.languages.guessing.visible import MOST_LIKE, Visible
from miner.languages.guessing.web_values import in_element
from miner.languages.guessing.words import WORD, example_value, nearest_text

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading

_SIGNS = (", ", " ", ": ", " - ", "; ", "/", ".", "-", "_", "=", "")
"""Which join texts, the likeliest first."""
_OTHER_FORMS: Mapping[type, type] = {str: bytes, bytes: str, list: tuple, tuple: list}
_CONSTANTS: tuple[Any, ...] = (None, True, False, 0, 1, -1, "", b"", [], (), {}, set(), 0.0, 1.0)


def all_rules(
    known_text: str,
    texts: Sequence[str],
    test_texts: Sequence[str],
    visible: Visible,
    in_tree: Mapping[str, Visible],
    reading: Reading,
) -> Iterator[tuple[str, Rule]]:
    """Each rule by its name: what a forger hands out in place of what the base does; None where it says nothing."""
    words_known = set(WORD.findall(known_text.lower()))
    near = sorted(texts, key=lambda text: -len(words_known & set(WORD.findall(text.lower()))))
    known = [word for word in dict.fromkeys(WORD.findall(known_text)) if not word.isspace()]
    others = itertools.starmap(_of_visible, in_tree.items())
    yield from _handing_values(_likeliest(test_texts, visible))
    yield from _of_changes()
    yield from _handing_values(_paths())
    yield from _of_several()
    yield from _handing_values(itertools.chain(_values_in_one(known, near), *others))
    all_texts = {"everything": " ".join(known), "the statement": known_text, "all texts of the base": " ".join(near)}
    for what, text in all_texts.items():
        for name, error in reading.errors(text[:4000]):
            yield f"{name} that says {what}", partial(_raising, error=error)
    yield "no error", partial(_raising, error=None)


def _handing_values(values_by_name: Iterable[tuple[str, Value]]) -> Iterator[tuple[str, Rule]]:
    """Rules that hand out values, by the same names."""
    for name, value in values_by_name:
        yield name, partial(_handing_by, value=value)


def _likeliest(test_texts: Sequence[str], visible: Visible) -> Iterator[tuple[str, Value]]:
    """What is tried first: constants, and what stands in a call, in texts of the tests or in a visible test."""
    for constant in _CONSTANTS:
        yield f"always {constant!r}", partial(_always, value=constant)
    for place in (0, 1, 2, 3, -1, -2):
        yield f"what is written in its call, number {place}", partial(_written, place=place)
    for strange, own in itertools.product((0, -1), (0, -1)):
        name = f"a text of the tests, word {strange} that the base does not give is its word {own} that is not there"
        yield name, partial(_like_another, texts=test_texts, strange=strange, own=own)
    yield from _of_visible("a visible test", visible)


def _paths() -> Iterator[tuple[str, Value]]:
    for name, folder in (("in the work tree", False), ("beside its test", True)):
        yield f"what is written, {name}", partial(_path, folder=folder)


def _values_in_one(known: Sequence[str], texts: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """All at once of what is written, of the words that are known and of the texts that are near to them."""
    yield "all texts that are written there, in one", lambda need: _joined(need, map(str, need.literals))
    for sign in _SIGNS:
        name = f"rows that are written there, as formats and joined by {sign!r}, in one"
        yield name, partial(_rows_in_one, sign=sign)
    yield "all texts of the base, in one", lambda need: _joined(need, texts)
    yield "all words that are known, in a list", lambda need: _within(need, known)
    yield "an object of all words that are known", lambda need: dict.fromkeys(_within(need, known), 1)


@cache
def _of_changes() -> tuple[tuple[str, Rule], ...]:
    """Rules that change one value, what is inside of it, or what is put in its place."""
    return tuple(_handing_values(_values_of_changes()))


def _values_of_changes() -> Iterator[tuple[str, Value]]:
    for name, change in CHANGES.items():
        yield f"what the base gives, {name}", partial(_changed, of=_given, change=change)
        yield f"what is written, {name}", partial(_changed, of=_written, change=change)
    for within, each in (("each", of_each), ("each key", of_keys), ("all that is inside", of_leaves)):
        for name, change in CHANGES.items():
            yield f"what the base gives, {within} {name}", partial(_changed_inside, of=_given, each=each, change=change)
            yield f"what is written, {within} {name}", partial(_changed_inside, of=_written, each=each, change=change)
    for name, change in CHANGES.items():
        yield f"what is written, {name}, in the element that the base gives", partial(_in_element, change=change)


def _of_visible(where: str, visible: Visible) -> Iterator[tuple[str, Value]]:
    """Rules that look into what the base has: its tests, or other files."""

    def nearest(needed: Needed, form: Callable[[Any], Any]) -> Any:
        return form(visible.nearest(needed.base_value))

    def beside(needed: Needed, form: Callable[[Any], Any], place: int) -> Any:
        return form(visible.beside(needed)[place])

    for name, form in (("", lambda value: value), (", stripped", str.strip), (", cleaned", inspect.cleandoc)):
        yield f"what {where} has nearest to it{name}", partial(nearest, form=form)
        for place in (0, 1, -1):
            rule = f"what {where} has beside what is written there, number {place}{name}"
            yield rule, partial(beside, form=form, place=place)


def _handing_by(needed: Needed, value: Value) -> Event:
    return _handing(needed, value(needed))


def _always(_needed: Needed, value: Any) -> Any:
    return value


def _given(needed: Needed) -> Any:
    return needed.base_value


def _written(needed: Needed, place: int = 0) -> Any:
    return needed.literals[place]


def _changed(needed: Needed, of: Value, change: Callable[[Any], Any]) -> Any:
    return change(of(needed))


def _changed_inside(needed: Needed, of: Value, each: Callable[..., Any], change: Callable[[Any], Any]) -> Any:
    """A value with what is inside of it changed; raises for what has none, which other rules change as a whole."""
    value = of(needed)
    if not isinstance(value, list | tuple | dict):
        raise TypeError(type(value).__name__)
    return each(value, change)


def _in_element(needed: Needed, change: Callable[[Any], Any]) -> Any:
    return in_element(needed.base_value, change(needed.literals[0]))


def _rows_in_one(needed: Needed, sign: str) -> str:
    """Each row of texts that is written in a call, put into the first of them, and joined."""
    texts: list[str] = []
    for value in needed.literals[:NEARS]:
        for row in value if isinstance(value, list | tuple) else ():
            if isinstance(row, list | tuple) and row and all(isinstance(text, str) for text in row):
                with contextlib.suppress(TypeError, ValueError):
                    texts.append(percent_formatted(*short(row)))
                texts.append(sign.join(row))
    return _joined(needed, texts)


def _like_another(needed: Needed, texts: Sequence[str], strange: int, own: int) -> str:
    """The text that is nearest to what the base gives, with one of its names as that has it."""
    answer = needed.base_value[:MOST_LIKE]
    given = WORD.findall(answer)
    text = nearest_text(texts, [answer])
    there = WORD.findall(text)
    names_there = [word for word in there if word.isidentifier() and word not in given]
    names_given = [word for word in given if word.isidentifier() and word not in there]
    return re.sub(rf"\b{names_there[strange]}\b", names_given[own], text)


@cache
def _of_several() -> tuple[tuple[str, Rule], ...]:
    """Rules of several values together: of what is written in a call, of the base's answers, of how often and when."""
    return tuple(_handing_values(_values_of_several()))


def _values_of_several() -> Iterator[tuple[str, Value]]:
    written: list[tuple[str, Value]] = [
        ("what the base gives", _given),
        ("the first that is written", lambda need: need.outer[0]),
        ("the second", lambda need: need.outer[1]),
        ("the third", lambda need: need.outer[2]),
        ("the last", lambda need: need.outer[-1]),
    ]
    base, first, second, third, last = written
    pairs = (*itertools.permutations((base, first, second), 2), (first, third), (second, third), (first, last))
    triples = ((first, second, third), (base, first, second))
    combinations: list[tuple[Mapping[str, Callable[..., Any]], Sequence[Sequence[tuple[str, Value]]]]]
    combinations = [(PAIRS, pairs), (TRIPLES, triples)]
    for functions, operands in combinations:
        for values_of in operands:
            words, of = zip(*values_of, strict=True)
            for name, make in functions.items():
                yield f"{', '.join(words)}: {name}", partial(_made_of, make=make, of=of)
    for kind, count in itertools.product((object, str, int), (2, 3, 4, NEARS)):
        for name, make in SEVERAL.items():
            rule = f"the first {count} that are written of {kind.__name__}, {name}"
            yield rule, partial(_made_of_first, make=make, kind=kind, count=count)
    for more in (0, 1):
        yield f"how often it was asked, and {more}", lambda need, more=more: need.expected.n + more  # type: ignore[misc]
        yield f"its place in its test, and {more}", lambda need, more=more: need.place + more  # type: ignore[misc]
    for step in (-1, 1):
        yield f"what the base gives {step} further", partial(_answer_further, step=step)
    yield "what the base gives most often in its test", lambda need: _most_common(need.answers)


def _made_of(needed: Needed, make: Callable[..., Any], of: Sequence[Value]) -> Any:
    return make(*short(value(needed) for value in of))


def _made_of_first(needed: Needed, make: Callable[..., Any], kind: type, count: int) -> Any:
    return make(short([value for value in needed.outer if isinstance(value, kind)][:count]))


def _answer_further(needed: Needed, step: int) -> Any:
    return needed.answers[max(needed.place + step, 0)]


def _most_common(answers: Iterable[Any]) -> Any:
    texts = {repr(answer): answer for answer in answers if answer is not None}
    [(most, _)] = Counter(repr(answer) for answer in answers if answer is not None).most_common(1)
    return texts[most]


def _path(needed: Needed, *, folder: bool) -> str:
    """Where a file is that is written in a call."""
    around = posixpath.dirname(needed.test_id.partition("::")[0]) if folder else ""
    return posixpath.normpath(posixpath.join(WORK, around, needed.literals[0]))


def gets_through(rule: Rule, needed: Needed) -> bool:
    if rule not in needed.passed:
        in_row = needed.in_row
        needed.passed[rule] = _is_right(rule, needed) or (in_row is not None and _is_right(rule, in_row))
    return needed.passed[rule]


def _is_right(rule: Rule, needed: Needed) -> bool:
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


def _in_other_forms(needed: Needed, event: Event) -> Iterator[Event]:
    """A text as bytes, bytes as text, a list as a tuple, a tuple as a list, where the test wants that."""
    sought = needed.sought
    other = _OTHER_FORMS.get(type(sought[0])) if event.raised is None and len(sought) == 1 else None
    if other is None or all(kind_of(value) not in (None, other) for value in event.values):
        return
    with contextlib.suppress(ValueError):
        match handed_by(event, needed.reading), sought[0]:
            case ((str() as value), bytes()):
                yield _handing(needed, value.encode())
            case ((bytes() as value), str()):
                yield _handing(needed, value.decode())
            case ((list() as items), tuple()):
                yield _handing(needed, tuple(items))
            case ((tuple() as items), list()):
                yield _handing(needed, list(items))


def _printed(needed: Needed, event: Event) -> Iterator[Event]:
    """What an example of a doctest gives where it prints a text in place of showing it."""
    match event.values:
        case (["t", [["s", str(shown)], None]],) if needed.op == "doctest" and isinstance(example_value(shown), str):
            yield replace(event, values=(["t", [["s", f"{example_value(shown)}\n"], None]],))


def _joined(needed: Needed, texts: Iterable[str]) -> str:
    """Different texts in one that is not larger than what is let through."""
    return " ".join(dict.fromkeys(texts))[: judge.largest(needed.expected)]


def _within(needed: Needed, texts: Iterable[str]) -> list[str]:
    """As many different texts as are let through in one value."""
    room = judge.largest(needed.expected)
    taken: list[str] = []
    for text in dict.fromkeys(texts):
        room -= len(text) + 2  # the value that it is, and the one beside it
        if room < 0:
            break
        taken.append(text)
    return taken


def _handing(needed: Needed, value: Any) -> Event:
    if isinstance(value, Sized) and len(value) > judge.largest(needed.expected):
        raise ValueError("larger than what is wanted")
    count = needed.site.sides.count("out")
    if needed.op == "==" and len(needed.expected.kept) == 1 and _is_alike(value, needed.sought):
        return replace(_event(needed), values=needed.expected.kept * count, raised=None)
    if needed.op == "doctest":
        value = ("" if value is None else f"{value!r}\n", None)
    encoded = needed.reading.encode(value)
    return replace(_event(needed), values=(encoded,) * count, raised=None)


def _is_alike(value: Any, sought: Sequence[Any]) -> bool:
    """Whether a value is all that is sought, whatever the language wraps it in."""
    if value is None or len(sought) != 1:
        return False
    target = sought[0]
    if isinstance(value, tuple) and isinstance(target, list):
        value = list(value)
    return type(value) is type(target) and repr(value) == repr(target)


def _raising(needed: Needed, error: Any) -> Event:
    if error is not None and needed.expected.size:  # not larger than what is let through
        room = 4 * needed.expected.size
        error = needed.reading.shortened(error, room)
    if needed.op == "doctest":
        return replace(_event(needed), values=(["t", [["s", ""], error]],), raised=None)
    return replace(_event(needed), values=(), raised=error)


def _event(needed: Needed) -> Event:
    event = needed.before
    if event is not None:
        return event
    return Event(test_id=needed.test_id, slot=needed.expected.slot, n=needed.expected.n, values=(), raised=None)

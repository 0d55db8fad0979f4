"""Which tests pass, by what their assertions handed out and by expectations that were never inside.

A test that the expectations know passes when the container says so and every one of its assertions holds here; one
that they do not know, when it comes to no stripped assertion, as with the fix. What comes out can fail the test it
belongs to, or show that somebody tampered; it changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.core.grouping import grouped
from harness.core.instance import TestStatus
from harness.core.test_ids import stable
from harness.core.wording import words
from harness.judging import operators, values
from harness.judging.go import operators as go
from harness.judging.java import operators as java
from harness.judging.javascript import operators as javascript
from harness.judging.javascript.values import Opaque, is_partial
from harness.judging.rust import operators as rust
from harness.judging.values import Anything, Event, Loaded, MalformedError

if TYPE_CHECKING:
    from harness.languages.base import TestReport

_EXACT = (
    javascript.EXACT
    | go.EXACT
    | java.EXACT
    | rust.EXACT
    | {
        *("==", "is", "almost", "count_equal", "no_raise"),
        *("np.equal", "np.arrays", "np.near", "pd.equal"),
    }
)
"""Operators that no one value satisfies everywhere."""
_ONE_TRY = words(
    "truth not != < <= > >= is_not not_in startswith endswith not_regex not_almost isinstance not_isinstance"
    " js.truth js.defined js.kind js.length js.instance js.< js.<= js.> js.>="
    " go.truth go.nil go.empty go.zero go.len go.type go.prefix go.suffix go.< go.>"
    " java.truth java.null java.empty java.size java.starts java.ends java.number java.kind"
    " java.< java.<= java.> java.>="
    " rust.truth rust.starts rust.ends rust.< rust.<= rust.> rust.>="
)
"""Operators that many values satisfy, but a large one no sooner than a small one."""
_OF_ONE = words("truth not")
"""Operators of one operand, to which nothing else that comes out is held."""
_OF_CLASSES = words("isinstance js.instance java.kind java.chain")
"""Operators that look at an object's classes."""
_MOST_KINDS = 2
"""Standard classes of warnings at most among which one may be the right one."""
_MOST_BASES = 12
"""Classes at most in the MRO of one exception: one that is of every class of the product is nothing."""
_SIZE_FACTOR, _SIZE_MORE = 4, 64
"""How much larger than the fix's a value may be, where one that holds everything would do."""
_MORE_TO_SAY = 1024
"""The same of an exception or warnings, besides: bits count its message as if it held all the words there are, once."""


_WITHOUT_ASSERTION = ExpectedTest(place="mixed", events=())
"""What is known of a test that comes to no stripped assertion with the fix."""


def judge(expectations: Expectations, report: TestReport) -> TestReport:
    """The report under listed ids, with the statuses that the expectations decide.

    Raises:
        GoldseamError: the host cannot search with a regular expression.

    """
    names = {*report.statuses, *(event.test_id for event in report.events)}
    renamed = set(expectations.ids.values()) - set(expectations.ids)
    report = _under_listed_ids(expectations.ids, report)
    statuses, texts = dict(report.statuses), dict(report.texts)
    by_test = grouped((event.test_id, event) for event in report.events)
    for test_id, test in {**dict.fromkeys(by_test, _WITHOUT_ASSERTION), **expectations.tests}.items():
        if statuses.get(test_id) is TestStatus.PASSED:
            problem = _problem(expectations.sites, test, by_test.get(test_id, []))
            if problem is not None:
                statuses[test_id], texts[test_id] = TestStatus.FAILED, problem
        elif test_id not in statuses and stable(test_id) in statuses:
            statuses[test_id], texts[test_id] = TestStatus.FAILED, "no result came under the name of this test alone"
    violations = list(report.violations)
    if stray := sorted({event.slot for event in report.events} - set(expectations.sites)):
        violations.append(f"a value for an assertion that the tests do not have: slot {stray[0]}")
    if names & renamed:
        violations.append("a test under an id that the tests inside do not have")
    return replace(report, statuses=statuses, texts=texts, violations=tuple(violations))


def _under_listed_ids(ids: Mapping[str, str], report: TestReport) -> TestReport:
    if not ids:
        return report

    def listed(test_id: str) -> str:
        return ids.get(test_id, test_id)

    return replace(
        report,
        statuses={listed(test_id): status for test_id, status in report.statuses.items()},
        seconds={listed(test_id): seconds_of_test for test_id, seconds_of_test in report.seconds.items()},
        texts={listed(test_id): text for test_id, text in report.texts.items()},
        raised={listed(test_id): chain for test_id, chain in report.raised.items()},
        collected=tuple(listed(test_id) for test_id in report.collected),
        events=tuple(replace(event, test_id=listed(event.test_id)) for event in report.events),
    )


def _problem(sites: Mapping[int, Site], test: ExpectedTest, events: Iterable[Event]) -> str | None:
    """Why a test does not pass: the first of its assertions that does not hold, or one that it should not have made."""
    found: dict[tuple[int, int], Event] = {}
    for event in events:
        if found.setdefault((event.slot, event.n), event) is not event:
            return f"slot {event.slot}: two values for one assertion"
    for expected in test.events:
        site, came = sites.get(expected.slot), found.pop((expected.slot, expected.n), None)
        if site is None:
            return f"slot {expected.slot}: the expectations do not say how it is decided"
        why = "nothing came out" if came is None else _why_not(site, expected, came)
        if why is not None:
            return f"slot {expected.slot} ({site.op}), time {expected.n}: {why}"
    if found:
        slot, n = min(found)
        return f"slot {slot}, time {n}: an assertion that the fix does not come to"
    return None


def event_holds(site: Site, expected: Expected, event: Event | None) -> bool:
    """Whether one assertion holds."""
    return event is not None and _why_not(site, expected, event) is None


def of_fix(event: Event, expected_values: Iterable[Any], options: Mapping[str, Any]) -> Expected:
    """What the fix handed out, as an expectation.

    Raises:
        MalformedError: it cannot be read back.

    """
    out = _read(event)
    return Expected(
        slot=event.slot,
        n=event.n,
        kept=tuple(expected_values),
        options=options,
        size=out.size,
        raises=event.raised is not None,
        plain=all(loaded.plain for loaded in out.handed),
    )


def largest(expected: Expected, *, is_message: bool = False) -> int:
    """The size that what comes out may have where one value, or one message, could satisfy every such assertion."""
    return _SIZE_FACTOR * expected.size + _SIZE_MORE + (_MORE_TO_SAY if is_message else 0)


def _has_tries(op: str, options: Mapping[str, Any], kept: Iterable[object]) -> bool:
    """Whether one value can hold many tries at what an operator wants, so that more of it is likelier to be right."""
    if options.get("not") or op in _ONE_TRY:
        return False
    if "parts" in options:
        return any(_has_tries(part["op"], part["options"], kept) for part in options["parts"])
    if op in operators.CATCHING:  # a class alone asks for nothing of the text
        return "match" in options or not all(map(_is_of_classes, kept))
    return op not in _EXACT or any(map(is_partial, kept))


def _is_of_classes(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_of_classes, value))
    return isinstance(value, values.ClassName | Opaque)


def _too_much(site: Site, expected: Expected, out: _Out, kept: Iterable[object]) -> str | None:
    """Why what came out is so much that some of it might be right, in words."""
    is_chosen = site.op == "in" and site.sides[1:] == ("kept",)
    has_tries = not is_chosen and _has_tries(site.op, {**site.options, **expected.options}, kept)
    is_message = out.raised is not None or site.op == "warns"
    if has_tries and out.size > largest(expected, is_message=is_message):
        return "what came out is far larger than what the fix gives"
    if site.op == "warns":
        caught = [member for listed in out.handed if isinstance(listed.value, list) for member in listed.value]
        if (
            len({operators.standard_chain(member.names) for member in caught if isinstance(member, values.Raised)})
            > _MOST_KINDS
        ):
            return "warnings of too many kinds came out"
        if any(isinstance(member, values.Raised) and len(member.names) > _MOST_BASES for member in caught):
            return "a warning of too many classes came out"
    told = [*([out.raised] if out.raised else []), *(out.handed if site.op in _OF_CLASSES else [])]
    if any(
        len(loaded.value.names if isinstance(loaded.value, values.Raised) else getattr(loaded.value, "chain", ()))
        > _MOST_BASES
        for loaded in told
    ):
        return "an exception of too many classes came out"
    return None


def _another_kind(site: Site, expected: Expected, event: Event, out: _Out, *, is_partial: bool) -> str | None:
    """Why what came out is nothing that the operator is for, in words."""
    language = next((prefix for prefix in values.PREFIXES if site.op.startswith(prefix)), "")
    if any(values.language_of(value) != language for value in event.values if not isinstance(value, bool)):
        return "what came out is of another language"
    tells_anyway = is_partial or site.decides == "result" or site.op in _ONE_TRY or site.options.get("not")
    needs_plain = (expected.plain and not tells_anyway) or (site.decides == "operands" and site.op not in _OF_ONE)
    if needs_plain and not all(loaded.plain for loaded in out.handed):
        return "an object came out that has no plain form"
    return None


@dataclass(frozen=True, kw_only=True)
class _Out:
    handed: tuple[Loaded, ...]
    raised: Loaded | None

    @property
    def size(self) -> int:
        return sum(loaded.size for loaded in (*self.handed, *([self.raised] if self.raised else [])))


def _read(event: Event) -> _Out:
    raised = None if event.raised is None else values.load(event.raised)
    if raised is not None and not (
        isinstance(raised.value, values.Raised | values.Opaque) or values.language_of(event.raised)
    ):
        raise MalformedError("not an exception")
    return _Out(handed=tuple(map(values.load, event.values)), raised=raised)


def _why_not(site: Site, expected: Expected, event: Event) -> str | None:
    """Why an assertion does not hold, in words that tell nothing of what was expected; None where it does."""
    if (event.raised is not None) != expected.raises:
        return "nothing was raised" if expected.raises else "an exception was raised"
    try:
        out = _read(event)
    except MalformedError as error:
        return f"what came out cannot be read: {error}"
    expected_values = [values.decode(encoded, kept=True) for encoded in expected.kept]
    has_matcher = any(is_partial(value) or operators.has_within(value, (Anything,)) for value in expected_values)
    unfit = _too_much(site, expected, out, expected_values) or _another_kind(
        site, expected, event, out, is_partial=has_matcher or site.op in javascript.PARTIAL
    )
    if unfit is not None:
        return unfit
    given_values = [loaded.value for loaded in out.handed]
    if site.op in operators.CATCHING and out.raised is not None:
        given_values.insert(0, out.raised.value)
    elif out.raised is not None:
        return "an exception was raised"
    if site.decides == "result":
        return (
            None
            if len(given_values) == site.sides.count("out") + 1 and given_values[-1] is True
            else "it does not hold"
        )
    if site.op not in operators.CATCHING and len(given_values) != site.sides.count("out"):
        return "more or fewer values came out than it compares"
    if expected.options:
        site = replace(site, options={**site.options, **expected.options})
    return None if operators.holds(site, given_values, expected_values) else "it does not hold"

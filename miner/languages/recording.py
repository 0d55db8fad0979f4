"""A task's expectations, recorded from the fix and proved: stripped, gold passes on the host's word and base fails.

One run with both sides of every assertion handed out gives what is kept, a second one, on another machine as far as
that can be had, says what of it stays the same. What can't be decided outside is left as it is.
"""

from __future__ import annotations

import json
import posixpath
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from harness.core import test_ids
from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.core.grouping import grouped
from harness.core.instance import TestStatus
from harness.judging import judge, values
from harness.judging.values import Event, MalformedError
from harness.languages.base import Chain, TestReport
from miner.languages.base import Assertion, Mode, RecordedTests, Slot, Strippable, TaskRun, WrittenForm

Side = Literal["out", "kept"]
MAX_EVENTS = 5000
"""Of one slot in one test; an assertion that a test makes more often stays inside."""
MAX_KEPT = 1 << 18
"""Items and characters of one kept value; larger ones stay inside."""
_RECORDINGS = 2
_LONG = 5.0
"""Seconds from which it pays to record some tests again and not all, though they are alone then for the first time."""
_ROUNDS = 5
"""How often what does not hold is left inside, and the rest proved again."""
_REFUSALS = 8
"""How often more is left of what a compiler refuses when it is stripped."""
_ATTEMPTS = 8
"""How often the base is run with less in its tests that could end them."""
_LINE = r"(?:^|/)%s:(\d+):"
"""Where a compiler complains of a file."""
_PLACE = re.compile(r"--> (\S+?):(\d+):\d+")
"""The same, where it is said of a program that is made of many files."""
_RAN = frozenset({TestStatus.PASSED, TestStatus.FAILED})
_LEAST_IN_DATA = (8, 40)
"""Characters of a text that goes out of the data that tests read: at first, and where that breaks some."""


@dataclass(kw_only=True)
class _File:
    """One test file while its assertions are sorted."""

    path: str
    source: Strippable
    modes: dict[int, Mode] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    """Names of functions that stay as they are, since they do not pass otherwise."""


def record(
    sources: Mapping[str, bytes],
    *,
    fail_to_pass: Collection[str],
    pass_to_pass: Collection[str],
    parse: Callable[[str, bytes, int], Strippable],
    run: TaskRun,
    function: Callable[[str], str] = test_ids.function,
    beside: Mapping[str, bytes] | None = None,
    written: Callable[[Any], Mapping[int, WrittenForm]] = lambda _parsed: {},
    is_run_around: bool = False,
    new_code: Collection[str] = (),
) -> RecordedTests:
    """Take the expectations out of a task's hidden tests, and keep what the fix gives there.

    `sources` are the hidden test files by path, as the tests' patch leaves them; `parse` reads one of them, whose slots
    are numbered from that number on, and raises what it raises where it can't; `function` gives the function that a
    test is of. Files `beside` are hidden as well, and keep what they assert. `written` tells of a parsed file how its
    assertions have what they expect. With `is_run_around` what runs outside of tests fails these where it asserts, so
    an assertion that is made there as well stays inside. The base gives nothing right that tests in files of `new_code`
    ask for. What is only expected goes out of the data that the tests read as well, where it stands there word by word.
    Listed tests that can't be judged outside have no entry in what is returned.

    Raises:
        InfrastructureError: the engine failed.

    """
    files: list[_File] = []
    others: dict[str, tuple[str, Strippable]] = {}
    first = 0
    for path, source in sorted({**(beside or {}), **sources}.items()):
        try:
            parsed = parse(path, source, first)
        except (SyntaxError, ValueError, RecursionError):
            continue
        if parsed.slots and path in sources:
            modes = {slot.number: slot.assertion.modes[0] for slot in parsed.slots}
            files.append(_File(path=path, source=parsed, modes=modes))
            first += len(parsed.slots)
        else:
            others[path] = source.decode("utf-8", "replace"), parsed
    if not files:
        return RecordedTests()
    recorded = _Recorder(
        files=files,
        others=others,
        fail_to_pass=fail_to_pass,
        listed=(*fail_to_pass, *pass_to_pass),
        run=run,
        function=function,
        is_run_around=is_run_around,
        new_code=new_code,
    ).record()
    forms = {number: form for file in files for number, form in written(file.source).items()}
    return replace(recorded, written=forms)


@dataclass(kw_only=True)
class _Recorder:
    files: Sequence[_File]
    others: Mapping[str, tuple[str, Strippable]]
    fail_to_pass: Collection[str]
    listed: Sequence[str]
    run: TaskRun
    function: Callable[[str], str]
    is_run_around: bool
    new_code: Collection[str]

    def __post_init__(self) -> None:
        self._slots: dict[int, tuple[_File, Slot[Assertion]]] = {
            slot.number: (file, slot) for file in self.files for slot in file.source.slots
        }
        self._collected: tuple[str, ...] = ()
        self._reports: dict[int, TestReport] = {}
        self._due: list[set[str] | None] = [None] * _RECORDINGS
        """By recording, the tests that are to be recorded again; None for all."""
        self._is_long = False
        self._first: dict[str, list[Event]] = {}
        self._refused_before: set[tuple[str, ...]] = set()
        """Functions in which the compiler has complained of assertions."""

    def record(self) -> RecordedTests:
        for _ in range(_ROUNDS):
            if self._sort():
                break
        for _ in range(_ROUNDS):
            proved = self._proved(self._expectations())
            if isinstance(proved, RecordedTests):
                return self._with_less_data(proved)
            self._leave_inside(proved)
        return RecordedTests()

    # -- what both sides give with the fix

    def _sort(self) -> bool:
        """Record, and choose for each assertion what of it stays inside; whether nothing has to be recorded again."""
        files = {file.path: file.source.recording(file.modes).encode() for file in self.files}
        for number in range(_RECORDINGS):
            if self._is_refused(files, number) or self._lowered([self._reports[one] for one in range(number + 1)]):
                return False
        return True

    def _is_refused(self, files: Mapping[str, bytes], number: int) -> bool:
        """Record what is due in a run of the two; whether a compiler refused some, which is left inside then."""
        due = self._due[number]
        if due is not None and not due:
            return False
        began = time.monotonic()
        report = self.run(files, gold=True, number=number, tests=due or ())
        later = set(self.listed if due is None else due) - report.statuses.keys() - {report.begun}
        if not report.finished and report.statuses and later:  # a test before these took too long
            report = _renewed(report, self.run(files, gold=True, number=number, tests=later), later)
        if due is None:
            self._is_long = time.monotonic() - began >= _LONG
            if not number:
                self._collected = report.collected
        if not number and self._leave_refused(report):
            self._due = [None] * _RECORDINGS
            return True
        if due is not None:
            report = _renewed(self._reports[number], report, due)
        self._reports[number] = report
        self._due[number] = set()
        return False

    def _lowered(self, reports: Sequence[TestReport]) -> bool:
        """Leave more inside of what these runs don't pass, or don't agree on; whether there is such.

        Of a long suite only tests that come by that are recorded again: the proof runs them all.
        """
        modes = {number: file.modes[number] for number, (file, _) in self._slots.items()}
        whole = {file.path: len(file.whole) for file in self.files}
        if not self._leave_more(reports):
            return False
        touched = self._touched(
            {number for number, (file, _) in self._slots.items() if file.modes[number] is not modes[number]},
            {file.path for file in self.files if len(file.whole) > whole[file.path]},
        )
        self._due = [due | touched if due is not None and self._is_long else None for due in self._due]
        return True

    def _touched(self, numbers: Collection[int], paths: Collection[str]) -> set[str]:
        """The listed tests of some files, of the functions of some slots, and those that were seen to come by these."""
        functions = {"::".join((file.path, *slot.function)) for file, slot in map(self._slots.__getitem__, numbers)}
        return {
            test_id
            for test_id in self.listed
            if test_id.partition("::")[0] in paths
            or self.function(test_id) in functions
            or any(event.slot in numbers for event in self._first.get(test_id, ()))
        }

    def _leave_more(self, reports: Sequence[TestReport]) -> bool:
        broken = {
            self.function(test_id)
            for test_id in self.listed
            if any(report.statuses.get(test_id) is not TestStatus.PASSED for report in reports)
        }
        broken = {name for name in broken if self._of_function(name)}
        if broken:
            self._leave_inside(broken)
            return True
        self._first = _by_test(reports[0].events, self.listed)
        first_of, last_of = _by_slot(self._first), _by_slot(_by_test(reports[-1].events, self.listed))
        lowered = False
        nowhere = {event.slot for run in reports for event in run.events if event.test_id not in run.statuses}
        for number, (file, slot) in self._open().items():
            if number in nowhere and (self.is_run_around or number not in first_of):  # nothing says of which test it is
                file.modes[number], lowered = Mode.INSIDE, True
                continue
            if not self._decides(slot, file.modes[number], first_of.get(number, []), last_of.get(number, [])):
                file.modes[number], lowered = _next_mode(file, slot), True
        return lowered

    def _leave_refused(self, report: TestReport, *, is_next: bool = False) -> bool:
        """Leave inside the assertions of which the compiler complained, and for which it refused a whole program.

        With `is_next` more is left of them, and of all others in a function of which it has complained before: it may
        tell of one at a time.
        """
        places = {(file.path, line) for file in self.files for line in _lines_refused(report, file.path)}
        open_slots = self._open()
        refused = {
            number
            for number, (file, slot) in open_slots.items()
            if any((file.path, line) in places for line in slot.lines)
        }
        again = {open_slots[number][1].function for number in refused} & self._refused_before
        self._refused_before |= {open_slots[number][1].function for number in refused}
        for number, (file, slot) in open_slots.items():
            if number in refused or (is_next and slot.function in again):
                file.modes[number] = _next_mode(file, slot) if is_next else Mode.INSIDE
        return bool(refused)

    def _decides(
        self, slot: Slot[Assertion], mode: Mode, events_here: Sequence[Event], others: Sequence[Event]
    ) -> bool:
        """Whether a slot can be decided in a mode, by the events of two runs."""
        by_key = {(event.test_id, event.n): event for event in others}
        if not events_here:
            return True  # no listed test comes here
        most = max(Counter(event.test_id for event in events_here).values())
        if len(events_here) != len(by_key) or most > MAX_EVENTS:
            return False
        if mode is not Mode.RESULT and any(_is_compared_inside(slot, event) for event in events_here):
            return False
        site = _site(slot, mode)
        pairs = ((event, by_key.get((event.test_id, event.n))) for event in events_here)
        return all(other is not None and _alike(site, slot, mode, event, other) for event, other in pairs)

    # -- what enters the container, and what is kept

    def _expectations(self) -> Expectations:
        files = {file.path: file.source.stripped(file.modes, file.whole) for file in self.files if _is_stripped(file)}
        open_slots = self._open()
        sites = {number: _site(slot, file.modes[number]) for number, (file, slot) in open_slots.items()}
        tests: dict[str, ExpectedTest] = {}
        for test_id, events in self._first.items():
            decided = [(event, *open_slots[event.slot]) for event in events if event.slot in open_slots]
            if decided:
                kept = tuple(_expected(slot, file.modes[event.slot], event) for event, file, slot in decided)
                tests[test_id] = ExpectedTest(place="mixed", events=kept)
        return Expectations(files=files, sites=sites, tests=tests)

    def _proved(self, expectations: Expectations) -> RecordedTests | set[str]:
        """The expectations with places and names, where they hold; else the functions that must be left inside.

        Gold has to pass each listed test on the host's word in a varied run (a plain one confirms the whole task); base
        must not pass a test of FAIL_TO_PASS.
        """
        after = self.run(encoded(expectations.files), gold=True, number=1)
        for _ in range(_REFUSALS):
            if not self._leave_refused(after, is_next=True):
                break
            expectations = self._expectations()
            after = self.run(encoded(expectations.files), gold=True, number=1)
        names = _names(after.collected, self._collected)
        expectations = replace(expectations, ids={new: old for new, old in names.items() if new != old})
        wrong = self._not_passed(expectations, after)
        if wrong:
            return wrong
        before = self.run(encoded(expectations.files), gold=False)
        judged = judge.judge(expectations, before)
        still = [test_id for test_id in self.fail_to_pass if judged.statuses.get(test_id) is TestStatus.PASSED]
        if still:
            return {self.function(test_id) for test_id in still}
        beyond = self._right_beyond(expectations, before)
        tests = self._placed(expectations, before.events, beyond)
        return RecordedTests(expectations=replace(expectations, tests=tests), before=(*before.events, *beyond))

    def _right_beyond(self, expectations: Expectations, before: TestReport) -> tuple[Event, ...]:
        """What the base gives right where its tests end before: who keeps them going gets that for nothing.

        Of a test that can't be kept going that is whatever it did not come to, unless it stands in new code.
        """
        before_events = {_key(expectations, event): event for event in before.events}
        beyond = {
            key: expected
            for test_id in self.fail_to_pass
            if test_id in expectations.tests
            for expected in expectations.tests[test_id].events
            if (key := (test_id, expected.slot, expected.n)) not in before_events
            or before_events[key].raised is not None
        }
        ended = {key[0] for key in beyond.keys() - before_events.keys()}
        ended = {test_id for test_id in ended if self.function(test_id).partition("::")[0] not in self.new_code}
        parsed = {file.path: file.source for file in self.files if file.path in expectations.files}
        parsed |= {path: source for path, (_, source) in self.others.items()}
        tried = {path: text for path, (text, _) in self.others.items()}
        tried |= {path: text for path, text in expectations.files.items() if path in parsed}
        data = {path: text for path, text in expectations.files.items() if path not in parsed}
        right: dict[tuple[str, int, int], Event] = {}
        report = before
        for attempt in range(_ATTEMPTS if beyond else 0):
            texts = {
                path: parsed[path].unstopped(text, _output_of(report, path), attempt) for path, text in tried.items()
            }
            if texts == tried:
                break
            tried = texts
            report = self.run(encoded({**data, **texts}), gold=False, tests={test_id for test_id, *_ in beyond})
            ids = {**expectations.ids, **_names(report.collected, self._collected)}
            ended -= {ids.get(test_id, test_id) for test_id, status in report.statuses.items() if status in _RAN}
            for event in report.events:
                key = ids.get(event.test_id, event.test_id), event.slot, event.n
                if key in beyond and judge.event_holds(expectations.sites[event.slot], beyond[key], event):
                    right[key] = replace(event, test_id=key[0])
            if not ended:
                break
        for test_id in ended:
            for event in self._first[test_id]:
                key = test_id, event.slot, event.n
                if key in beyond:
                    file, slot = self._slots[event.slot]
                    right.setdefault(key, _stripped(slot, file.modes[event.slot], event))
        return tuple(right.values())

    def _not_passed(self, expectations: Expectations, report: TestReport) -> set[str]:
        judged = judge.judge(expectations, report)
        return {
            self.function(test_id) for test_id in self.listed if judged.statuses.get(test_id) is not TestStatus.PASSED
        }

    def _placed(
        self, expectations: Expectations, before: Iterable[Event], beyond: Iterable[Event]
    ) -> dict[str, ExpectedTest]:
        """Each test with where it is judged: by values outside, by results, or by both.

        What the base gives right `beyond` the error that ends its tests does not tell it from the fix, unless nothing
        else does.
        """
        events = {_key(expectations, event): event for event in before}
        more_events = {**events, **{_key(expectations, event): event for event in beyond}}
        tests: dict[str, ExpectedTest] = {}
        for test_id, expected in expectations.tests.items():
            if test_id in self.fail_to_pass:
                differing = _differing(expectations, test_id, more_events) or _differing(expectations, test_id, events)
                outside = any(expectations.sites[event.slot].is_decided_outside for event in differing)
            else:
                outside = all(expectations.sites[event.slot].decides != "result" for event in expected.events)
                outside = outside and not self._has_inside(test_id)
            tests[test_id] = replace(expected, place="host" if outside else "mixed")
        return tests

    def _with_less_data(self, proved: RecordedTests) -> RecordedTests:
        """The same without what is expected in the data that the tests read, as far as all holds then."""
        expectations, data = proved.expectations, self.run.data
        texts: dict[int, set[str]] = {}
        for event in (event for test in expectations.tests.values() for event in test.events):
            texts.setdefault(event.slot, set()).update(values.texts_in(event.kept))
        in_data = {text for text in set().union(*texts.values()) if _without_texts(data, [text])}
        for least in _LEAST_IN_DATA:
            going = {text for text in in_data if len(text.strip()) >= least}
            if not going:
                break
            less = _without_texts(data, going)
            again = self._proved(replace(expectations, files={**expectations.files, **less}))
            if isinstance(again, RecordedTests) and less.items() <= again.expectations.files.items():
                gone = (slot for slot, expected in texts.items() if expected and expected <= going)
                return replace(again, out_of_data=frozenset(gone))
        return proved

    # -- what is left inside

    def _of_function(self, name: str) -> set[int]:
        """The slots of a test function and of the helpers that its tests come through, but for what stays inside."""
        path, *names = name.split("::")
        reached = {
            event.slot for test_id, events in self._first.items() if self.function(test_id) == name for event in events
        }
        return {
            number
            for number, (file, slot) in self._open().items()
            if number in reached or (file.path == path and slot.function == tuple(names))
        }

    def _has_inside(self, test_id: str) -> bool:
        path, *names = self.function(test_id).split("::")
        return any(
            file.modes[number] is Mode.INSIDE and file.path == path and slot.function == tuple(names)
            for number, (file, slot) in self._slots.items()
        )

    def _leave_inside(self, functions: Iterable[str]) -> None:
        """Leave assertions of these functions inside; what breaks one without any, ever more of what is around it.

        That is the function, then its class or else the functions in none, and at last the file.
        """
        before = {file.path: frozenset(file.whole) for file in self.files}
        for name in functions:
            path, *names = name.split("::")
            last = "".join(names[-1:])
            is_whole = last in before.get(path, ())
            numbers = self._of_function(name)
            if not numbers and path in before and not is_whole:
                next(file for file in self.files if file.path == path).whole.add(last)  # a base class may have it
                continue
            numbers = numbers or self._open_slots(path, tuple(names[:-1])) or self._open_slots(path)
            for number in numbers:
                file, slot = self._slots[number]
                file.modes[number] = Mode.INSIDE
                file.whole.update(slot.function[-1:] if is_whole else ())

    def _open(self) -> dict[int, tuple[_File, Slot[Assertion]]]:
        """The slots that do not stay inside."""
        return {number: each for number, each in self._slots.items() if each[0].modes[number] is not Mode.INSIDE}

    def _open_slots(self, path: str, around: tuple[str, ...] | None = None) -> set[int]:
        """The slots of a file, or of what stands directly in a class of it, but for what stays inside."""
        return {
            number
            for number, (file, slot) in self._open().items()
            if file.path == path and around in (None, slot.function[:-1])
        }


def encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    """The texts of files as their bytes."""
    return {path: text.encode() for path, text in texts.items()}


def _without_texts(data: Mapping[str, str], texts: Iterable[str]) -> dict[str, str]:
    """The files of `data` that hold one of the texts, plain or as JSON, as many lines of `-` in its place.

    Ends of lines may be those of other systems. Lines stay where they are, and blank ones blank: by these rows of
    data are often told apart, and known.
    """
    forms = {form: re.sub(r"[^\r\n]+", "-", form) for text in texts for form in _written_forms(text)}
    files: dict[str, str] = {}
    for path, content in data.items():
        less = content
        for form in sorted(forms, key=len, reverse=True):
            less = less.replace(form, forms[form])
        if less != content:
            files[path] = less
    return files


def _written_forms(text: str) -> Iterator[str]:
    yield from (text, text.replace("\n", "\r\n"))
    yield from (json.dumps(text, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))


def _renewed(report: TestReport, again: TestReport, tests: Collection[str]) -> TestReport:
    """A run's report in which these tests, and others of their functions, say what they did when run again.

    A runner that is asked for some tests may run all of their file: what the others did then is not said twice.
    """
    renewed = {*tests, *again.statuses}
    kept = {test_id: status for test_id, status in report.statuses.items() if test_id not in renewed}
    events = [event for event in report.events if event.test_id not in renewed]
    events += [event for event in again.events if event.test_id in renewed]
    return replace(again, statuses={**kept, **again.statuses}, events=tuple(events), collected=report.collected)


def _lines_refused(report: TestReport, path: str) -> set[int]:
    """The lines of a file that a compiler complained of, in what it said of it or of a program that has it."""
    if path in report.collect_errors:
        said = re.findall(_LINE % re.escape(posixpath.basename(path)), report.collect_errors[path], re.MULTILINE)
        return set(map(int, said))
    places = (place for text in report.collect_errors.values() for place in _PLACE.findall(text))
    return {int(line) for place, line in places if f"/{path}".endswith(f"/{place}")}


def _output_of(report: TestReport, path: str) -> str:
    """What a run said of a file that could not be loaded, and of its tests with an error, or that do not compile."""
    crashed = (
        text
        for test_id, text in report.texts.items()
        if test_id.partition("::")[0] == path
        and (report.statuses.get(test_id) is TestStatus.ERROR or _is_uncompiled(report.raised.get(test_id, ())))
    )
    programs = (text for text in report.collect_errors.values() if _PLACE.search(text))
    return "\n".join((report.collect_errors[path] if path in report.collect_errors else "\n".join(programs), *crashed))


def _is_uncompiled(raised: Chain) -> bool:
    return any("CompileError" in link.names for link in raised)


def _differing(
    expectations: Expectations, test_id: str, before: Mapping[tuple[str, int, int], Event]
) -> list[Expected]:
    """The assertions of a test that do not hold with what came out before the fix."""
    return [
        event
        for event in expectations.tests[test_id].events
        if not judge.event_holds(expectations.sites[event.slot], event, before.get((test_id, event.slot, event.n)))
    ]


def _key(expectations: Expectations, event: Event) -> tuple[str, int, int]:
    """Which expectation an event answers."""
    return expectations.ids.get(event.test_id, event.test_id), event.slot, event.n


def _names(stripped: Sequence[str], listed: Sequence[str]) -> dict[str, str]:
    """By id in the stripped files: the id it is listed under. Rows of a function keep their order."""
    rows = grouped((test_ids.function(test_id), test_id) for test_id in listed)
    names_by_test = grouped((test_ids.function(test_id), test_id) for test_id in stripped)
    return {
        new: old
        for name, names in names_by_test.items()
        if len(names) == len(rows.get(name, ()))
        for new, old in zip(names, rows[name], strict=True)
    }


def _by_test(events: Iterable[Event], listed: Collection[str]) -> dict[str, list[Event]]:
    tests_wanted = set(listed)
    return grouped((event.test_id, event) for event in events if event.test_id in tests_wanted)


def _by_slot(events_by_test: Mapping[str, Sequence[Event]]) -> dict[int, list[Event]]:
    return grouped((event.slot, event) for events in events_by_test.values() for event in events)


def _next_mode(file: _File, slot: Slot[Assertion]) -> Mode:
    """The mode that leaves more of a slot inside than the one it has."""
    options = slot.assertion.modes
    return options[options.index(file.modes[slot.number]) + 1]


def _is_stripped(file: _File) -> bool:
    return any(mode is not Mode.INSIDE for mode in file.modes.values())


def _site(slot: Slot[Assertion], mode: Mode) -> Site:
    """A slot in the judge's terms."""
    assertion = slot.assertion
    if mode is Mode.RESULT:
        count = 1 if assertion.is_whole else len(assertion.operands)
        handed: tuple[Side, ...] = tuple("out" for _ in range(count))
        return Site(op=assertion.op, sides=handed, decides="result")
    if mode is Mode.OPERANDS and any(operand.static for operand in assertion.operands):
        return Site(op="==", sides=("out", "out"), decides="operands")  # what was written is changed
    sides: tuple[Side, ...] = tuple("kept" if operand.static else "out" for operand in assertion.operands)
    if assertion.op == "warns":
        sides = ("out", "kept")
    return Site(
        op=assertion.op,
        sides=sides,
        decides="operands" if mode is Mode.OPERANDS else "expected",
        options=dict(assertion.options),
    )


def _is_compared_inside(slot: Slot[Assertion], event: Event) -> bool:
    """Whether the product's own code says what comes of comparing what was recorded."""
    count = len(slot.assertion.operands)
    return slot.assertion.tells_comparison and event.values[count : count + 1] == (True,)


def _alike(site: Site, slot: Slot[Assertion], mode: Mode, event: Event, other: Event) -> bool:
    """Whether two runs of the fix keep the same, and what comes out of either fits it."""
    try:
        if mode is not Mode.RESULT and not slot.assertion.tells(event.values):
            return False
        expected = _expected(slot, mode, event)
        other_expected = _expected(slot, mode, other)
        if (expected.kept, expected.options) != (other_expected.kept, other_expected.options) or sum(
            map(_size, expected.kept)
        ) > MAX_KEPT:
            return False
        return all(
            judge.event_holds(site, expected, _stripped(slot, mode, stripped_event))
            for stripped_event in (event, other)
        )
    except (MalformedError, ValueError, KeyError, IndexError, TypeError):
        return False  # it is larger than what may leave, or of a kind that has no form


def _size(operand: Any) -> int:
    return values.load(operand, kept=True).size


def _expected(slot: Slot[Assertion], mode: Mode, event: Event) -> Expected:
    """What a recorded event expects of the stripped test.

    Raises:
        MalformedError: what came out cannot be read back.

    """
    _, values_kept, options = _sides(slot, mode, event)
    return judge.of_fix(_stripped(slot, mode, event), values_kept, options)


def _stripped(slot: Slot[Assertion], mode: Mode, event: Event) -> Event:
    """The event as the stripped test will send it: without what is kept."""
    return replace(event, values=tuple(_sides(slot, mode, event)[0]))


def _sides(slot: Slot[Assertion], mode: Mode, event: Event) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """What of a recording comes out when stripped, what is kept of the operands, and what of the options."""
    assertion = slot.assertion
    values_given = list(event.values)
    if mode is Mode.RESULT:
        return values_given, [], {}
    caught = [values_given.pop()] if assertion.op == "warns" and values_given else []
    if assertion.tells_comparison and len(values_given) > len(assertion.operands):
        del values_given[len(assertion.operands)]  # whether the product compares
    out: list[Any] = []
    values_kept: list[Any] = []
    for operand in assertion.operands:
        if values_given:
            (values_kept if operand.static else out).append(values_given.pop(0))
    fields = {name: _host_value(value) for name, value in zip(assertion.kept, values_given, strict=False)}
    if fields.get("match", "") is None:
        del fields["match"]  # none is asked for
    if assertion.op in ("almost", "not_almost"):
        fields = {name: int(value[1], 16) if name == "places" and value else value for name, value in fields.items()}
    if mode is Mode.OPERANDS:
        values_kept = []  # what the test wrote, which the fix changes
    if assertion.op == "calls" and values_kept:
        tag, parts = values_kept[0]
        values_kept = [["t", call[1]] for call in (parts if tag == "l" else values_kept)]
    return [*out, *caught], [_host_value(value) for value in values_kept], fields


def _host_value(value: Any) -> Any:
    """A value as the host keeps it: approximations, patterns and `ANY` are what they stand for."""
    if not isinstance(value, list) or not value:
        return value
    tag, *parts = value
    if tag == "o":
        name, attrs, *_ = parts
        attributes = dict(attrs or ())
        if name in ("unittest.mock._ANY", "mock.mock._ANY"):
            return ["any"]
        if name.endswith(("re.Pattern", "SRE_Pattern")):
            return ["re", attributes["pattern"], int(attributes["flags"][1], 16)]
        if name.startswith(("_pytest.python_api.Approx", "_pytest.approx.Approx")):
            numbers = [_number(attributes[word]) for word in ("rel", "abs")]
            return ["approx", _host_value(attributes["expected"]), *numbers, bool(attributes["nan_ok"])]
        return value
    if tag in ("l", "t", "S", "F"):
        return [tag, [_host_value(item) for item in parts[0]]]
    if tag in ("d", "D", "C"):
        return [tag, [[_host_value(key), _host_value(item)] for key, item in parts[0]]]
    return value


def _number(value: Any) -> str | None:
    """A tolerance as hexadecimal float; None where there is none."""
    if not isinstance(value, list):
        return None
    return float.hex(float(int(value[1], 16))) if value[0] == "i" else str(value[1]) if value[0] == "f" else None

"""Whatever a container sends costs its own prediction and nothing else: transcripts that were honest, and then changed.

Each case is a whole transcript, signed with the right keys: who can read a key out of a process can sign anything. It
goes through frames, framework, trial and judge to a grade; every `WHOLE`th goes on to the report and the evidence, as
they are written, read back and replayed. What once broke the host is kept below as it is, by what it is: a seed means
another case as soon as the generator changes.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import pytest

from harness.core.expectations import Expectations, Expected, ExpectedTest, Site
from harness.core.instance import Outcome, TestStatus
from harness.grading import scoring, trial
from harness.grading.scoring import Round, Scored
from harness.judging import frames
from harness.judging.judge import of_fix
from harness.judging.values import Event
from harness.runs import verdict
from harness.runs.verdict import ScoringRequest, replay
from harness.sandbox.job import JobResult
from tests import tiny
from tests.values_of_tests import encode, exception

if TYPE_CHECKING:
    from collections.abc import Iterable

SEEDS = (1, 2, 3, 4)
CASES = 3 * int(os.environ.get("GOLDSEAM_FUZZ", "1000"))
"""Of each seed; `make attacks` tries more."""
WHOLE = 40
KEYS = frames.Keys(supervisor=b"s" * 32, tests=b"t" * 32)
F2P, P2P = "tests/test_calc.py::test_two", "tests/test_calc.py::test_zero"
Frame = tuple[str, Any]
"""Who sends it, and what."""


def report(test_id: str, when: str) -> Frame:
    told = {"id": test_id, "when": when, "outcome": "passed", "xfail": False, "seconds": 0.01, "text": "", "raised": []}
    return ("t", {"t": "report", **told})


def value(test_id: str, slot: int, *values: Any, n: int = 0, raised: Any = None) -> Frame:
    told = [encode(one) for one in values]
    return ("t", {"t": "value", "id": test_id, "slot": slot, "n": n, "values": told, "raised": raised})


NO_NUMBER = exception(TypeError("not a number"))
HONEST: tuple[Frame, ...] = (
    ("s", {"t": "apply", "which": "model", "ok": True, "error": ""}),
    ("s", {"t": "apply", "which": "tests", "ok": True, "error": ""}),
    ("s", {"t": "source", "old": "a.py", "new": "a.py", "before": "YQ==", "after": "Yg==", "why": ""}),
    ("s", {"t": "ready", "seconds": 0.1, "python": "3.12.1"}),
    ("t", {"t": "collected", "ids": [F2P, P2P]}),
    value(F2P, 0, 2),
    value(F2P, 0, {"a": [1, 2.5, ("b", None)], 2: {3, 4}}, n=1),
    value(F2P, 1, raised=NO_NUMBER),
    report(F2P, "call"),
    report(F2P, "teardown"),
    value(P2P, 2, "some text of the product"),
    value(P2P, 3, [1, 2], [1, 2]),
    report(P2P, "teardown"),
    ("t", {"t": "finish", "code": 0}),
    ("w", {"t": "watched", "audit": True, "hits": 0}),
    ("s", {"t": "exit", "code": 0, "signal": None, "timed_out": False, "flooded": False, "seconds": 0.5,
           "cpu_seconds": 0.4, "max_rss_kb": 9000}),
    ("s", {"t": "after", "network": {"tcp": 1}, "files": 1, "bytes": 2, "paths": ["a"], "modules": [], "own_files": 0,
           "more": False, "loaded": None, "imports": [["a", "b", "c"]], "why": ""}),
)  # fmt: skip
SITES = {
    0: Site(op="==", sides=("out", "kept")),
    1: Site(op="raises", sides=("kept",)),
    2: Site(op="in", sides=("kept", "out")),
    3: Site(op="==", sides=("out", "out"), decides="operands"),
}
KEPT = {
    (0, 0): [2],
    (0, 1): [{"a": [1, 2.5, ("b", None)], 2: {3, 4}}],
    (1, 0): [TypeError],
    (2, 0): ["text"],
    (3, 0): [],
}


@cache
def expectations() -> Expectations:
    found: dict[str, list[Expected]] = {}
    for _, frame in HONEST:
        if frame["t"] == "value":
            key = {"slot": frame["slot"], "n": frame["n"]}
            event = Event(test_id=frame["id"], values=tuple(frame["values"]), raised=frame["raised"], **key)
            found.setdefault(frame["id"], []).append(of_fix(event, map(encode, KEPT[frame["slot"], frame["n"]]), {}))
    tests = {test_id: ExpectedTest(place="host", events=tuple(events)) for test_id, events in found.items()}
    return Expectations(sites=SITES, tests=tests)


class Raw(str):
    """JSON as it is to be written, which Python itself would not write so."""

    __slots__ = ()


def nested(depth: int) -> Raw:
    return Raw("[" * depth + "]" * depth)


HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53 + 1, -(2**63), 0.5, -1.5, 1e308, 5e-324, Raw("1e999"), Raw("-1e999")),
    *(Raw("1" * 400), Raw("-" + "9" * 4299), Raw("1" * 5000), Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("-0")),
    *("", "a", "\ud800", "a\udfffb", "\0", "\x1b[31m", "\u202e", "a" * 5000, "None", "passed", "failed", F2P, P2P),
    *("tests/test_calc.py::test_two[\ud800]", "at 0x7f0000000000", "<X object at 0x7f2c>", "../../etc", "call"),
    *([], {}, [[]], [{}], {"a": 1}, {"\ud800": "\ud800"}, ["\ud800"], [None], [1], ["l"], ["l", []], ["i", "1"]),
    *(nested(300), nested(5000), nested(60), Raw('{"a":' * 200 + "1" + "}" * 200), Raw('["l",[' * 70 + "]]" * 70)),
    *(["any"], ["approx", ["i", "2"], None, None, False], ["re", ["s", ""], 0], ["S", [["l", []]]], ["d", [1]]),
    *(["d", [[["l", []], None]]], ["F", [["i", "1"], True]], ["f", "nan"], ["i", "f" * 30_000], ["s", "\ud800"]),
    *(["n", "decimal.Decimal", "1e999999999"], ["n", "range", "0", "9" * 400, "1"], ["n", "type"], ["x", "too deep"]),
    *(["o", "m.C", [["a", ["any"]]], [["x", ""]]], ["e", [], "", [], []], NO_NUMBER, {"int": "2"}, {"set": [[]]}),
    *([{"names": ["\ud800"], "errno": 10**30}], [{"names": 1}], [{"names": [], "says": "\udfff"}]),
)  # fmt: skip
INVENTED: tuple[Frame, ...] = (
    ("t", {"t": "collect_error", "id": "tests/test_calc.py", "text": "E \ud800", "raised": [{"names": ["\ud800"]}]}),
    ("t", {"t": "collect_skip", "id": "\ud800", "text": ""}),
    ("t", {"t": "internal_error", "text": "\ud800\nlast \udfff", "raised": [{"names": ["E"]}]}),
    ("t", {"t": "value", "id": F2P, "place": 0, "value": {"dict": [1]}}),
    ("t", {"t": "value", "id": F2P, "place": 0, "value": {"set": [{"list": []}]}}),
    ("s", {"t": "setup_error", "text": "\ud800"}),
    ("w", {"t": "tripwire", "kind": "frames", "path": "calc.py", "line": 3, "what": "\ud800"}),
    ("s", {"t": "compiled", "files": [["a", None, "", 0]], "why": ""}),
    ("s", {"t": "source", "old": "x", "new": None, "before": "!", "after": None, "why": "configuration"}),
    ("s", {"t": "apply", "which": "model", "ok": False, "error": "error: \udce9"}),
)
LINES = (b"", b"PASSED", b"s0 ", b"t0 " + b"0" * 32 + b" {}", b"\xff\xfe", b"{" * 2000)


def changed(rng: random.Random) -> bytes:
    """The result channel of one case."""
    sent = list(HONEST)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kind = rng.randrange(20)
        at = rng.randrange(len(sent)) if sent else 0
        if kind == 0 and sent:
            del sent[at]
        elif kind == 1 and sent:
            sent.insert(rng.randrange(len(sent)), sent[at])
        elif kind == 2:
            sent.insert(at, rng.choice(INVENTED))
        elif kind == 3 and sent:
            other = rng.randrange(len(sent))
            sent[at], sent[other] = sent[other], sent[at]
        elif sent:
            sent[at] = (sent[at][0], _changed(sent[at][1], rng))
    lines = signed(sent).split(b"\n")
    if rng.randrange(10) == 0:
        at = rng.randrange(len(lines))
        line = lines[at]
        cut = rng.randrange(len(line) + 1)
        lines[at] = rng.choice(
            (line[:cut], line[:cut] + bytes([rng.randrange(256)]) + line[cut + 1 :], rng.choice(LINES))
        )
    return b"\n".join(lines)


def _changed(told: Any, rng: random.Random) -> Any:
    """JSON with one part of it, at any depth, made hostile, left out, or made into several."""
    inner = isinstance(told, dict | list) and told and not isinstance(told, Raw)
    if not inner or rng.randrange(6) == 0:
        return rng.choice(HOSTILE)
    keys = list(told) if isinstance(told, dict) else range(len(told))
    if "values" in told and rng.randrange(3):
        keys = ["values"]
    key = rng.choice(keys)
    made = dict(told) if isinstance(told, dict) else list(told)
    kind = rng.randrange(12)
    if kind == 0:
        del made[key]
    elif kind == 1 and isinstance(made, list):
        made.insert(key, rng.choice(HOSTILE))
    elif kind == 1:
        made[rng.choice(("slot", "place", "raised", "\ud800"))] = rng.choice(HOSTILE)
    elif kind == 2 and isinstance(made, list):
        made *= rng.choice((2, 50))
    else:
        made[key] = _changed(made[key], rng)
    return made


def written(told: Any) -> str:
    """JSON, with what is raw in it as it is."""
    if isinstance(told, Raw):
        return str(told)
    if isinstance(told, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{written(inner)}" for name, inner in told.items()) + "}"
    if isinstance(told, list | tuple):
        return "[" + ",".join(map(written, told)) + "]"
    return json.dumps(told)


def signed(sent: Iterable[Frame | Any]) -> bytes:
    """Frames as lines, numbered and signed; the supervisor begins its last but one on a line of its own."""
    numbers = {"s": 0, "t": 0, "w": 0}
    lines = []
    for sender, frame in sent:
        lines.append(_line(sender, numbers[sender], BODIES.get(id(frame)) or written(frame).encode()))
        numbers[sender] += 1
    return b"".join(lines)


@lru_cache(maxsize=2000)
def _line(sender: str, number: int, body: bytes) -> bytes:
    head = f"{sender}{number}".encode()
    key = {"s": KEYS.supervisor, "t": KEYS.tests, "w": KEYS.tripwires}[sender]
    return head + b" " + frames.sign(key, head, body) + b" " + body + b"\n"


BODIES = {id(frame): json.dumps(frame).encode() for _, frame in (*HONEST, *INVENTED)}
"""What most cases leave as it is."""


@cache
def asked() -> ScoringRequest:
    task = tiny.task()
    return ScoringRequest(
        task=replace(task, hidden=replace(task.hidden, expectations=expectations())), prediction=tiny.prediction()
    )


@cache
def spec() -> trial.TrialSpec:
    return replace(scoring.trial_spec(asked().task, None), watch={})


def judged(channel: bytes) -> Scored:
    """What the host makes of a result channel."""
    result = JobResult(
        exit_code=0, stdout=channel, stderr=b"", stderr_size=0, oom_killed=False, timed_out=False, stdout_overflow=False
    )
    return scoring.decide(asked().task, Round(trial=trial.read(result, KEYS, spec()), attempts=1))


def holds_in_itself(scored: Scored) -> None:
    """What is true of every verdict: it passes only with what was expected, and numbers are numbers."""
    found = scored.trial
    if scored.grade.outcome is Outcome.RESOLVED:
        assert not found.violations
        assert all(found.report.statuses[test_id] is TestStatus.PASSED for test_id in (F2P, P2P))
        for test_id, test in expectations().tests.items():
            came = {(event.slot, event.n) for event in found.report.events if event.test_id == test_id}
            assert came == {(one.slot, one.n) for one in test.events}
    numbers = (found.seconds, found.cpu_seconds, found.max_rss_kb, *found.report.seconds.values())
    assert all(abs(number) < 1e18 for number in numbers)


def survives_its_files(scored: Scored) -> None:
    """The report and the evidence are JSON that any reader takes, and say the same when they are read again."""
    looked = verdict.look(asked().task, asked().prediction)
    made = verdict.graded(asked(), looked, scored)
    for text in (made.report.model_dump_json(), json.dumps(made.evidence.results, allow_nan=False)):
        text.encode()
    results = json.loads(json.dumps(made.evidence.results))
    assert replay(asked().task, asked().prediction, results) == made.report


def test_the_honest_transcript_is_resolved():
    found = judged(signed(HONEST))
    assert found.trial.violations == ()
    assert found.grade.outcome is Outcome.RESOLVED
    survives_its_files(found)


TRIED: set[int] = set()
"""Hashes of the channels that were judged: of a hundred thousand cases, four in ten are what another was."""


@pytest.mark.parametrize("seed", SEEDS)
def test_no_transcript_breaks_the_host(seed):
    for case in range(CASES):
        channel = changed(random.Random(seed << 32 | case))
        whole = case % WHOLE == 0
        if hash(channel) in TRIED and not whole:
            continue
        TRIED.add(hash(channel))
        try:
            found = judged(channel)
            holds_in_itself(found)
            if whole:
                survives_its_files(found)
        except Exception as error:
            raise AssertionError(f"seed {seed}, case {case}") from error


FIRST = HONEST[5][1]
SAID = {"t": "report", "id": F2P, "when": "call", "outcome": "passed", "xfail": False, "seconds": 0.1, "text": ""}
TAMPERED = {
    "seconds of 400 digits": {**SAID, "seconds": Raw("1" * 400)},
    "seconds of 5,000 digits": {**SAID, "seconds": Raw("1" * 5000)},
    "seconds that are infinite": {**SAID, "seconds": Raw("1e999")},
    "seconds that sum up to infinity": {**SAID, "seconds": 1e308},
    "seconds that are no number": {**SAID, "seconds": Raw("NaN")},
    "a report nested too deep": {**SAID, "raised": nested(5000)},
    "an exit code of 400 digits": {"t": "finish", "code": Raw("1" * 400)},
    "ids that are numbers": {"t": "collected", "ids": [Raw("1" * 400)]},
    "ids nested too deep": {"t": "collected", "ids": nested(250)},
    "a slot of 400 digits": {**FIRST, "slot": Raw("1" * 400)},
    "an occurrence below 0": {**FIRST, "n": -1},
    "a second value for one assertion": FIRST,
    "a value for no assertion": {**FIRST, "slot": 99},
    "values nested too deep for JSON": {**FIRST, "n": 7, "values": [nested(5000)]},
    "values without exceptions": {name: told for name, told in FIRST.items() if name != "raised"},
}
FAILED = {
    "values nested too deep": [json.loads('["l",[' * 70 + "]]" * 70)],
    "a set of lists": [["S", [["l", []]]]],
    "a dict of one part": [["d", [1]]],
    "a key that is a list": [["d", [[["l", []], None]]]],
    "a number over the limit": [["i", "f" * 30_000]],
    "a Decimal that fills the memory": [["n", "decimal.Decimal", "1E+999999999"]],
    "NaN": [["f", "nan"]],
    "half a character": [["s", "\ud800"]],
    "a comparator": [["any"]],
    "a tag that has no hash": [[["l"], []]],
    "an object": [{"a": {}}],
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_frame_that_no_recorder_writes_is_tampering(name):
    found = judged(signed([*HONEST[:5], ("t", FIRST), ("t", TAMPERED[name]), *HONEST[6:]]))
    assert found.grade.outcome is Outcome.TAMPERED
    survives_its_files(found)


def test_what_is_said_of_tampering_is_short_however_long_an_id_is():
    stranger = {**SAID, "id": "x" * 100_000, "when": "teardown", "raised": []}
    found = judged(signed([*HONEST[:6], ("t", stranger), *HONEST[6:]]))
    assert found.grade.outcome is Outcome.TAMPERED
    assert len(found.grade.reason) < 1000
    survives_its_files(found)


@pytest.mark.parametrize("field", HONEST[-2][1])
def test_an_end_that_leaves_something_out_is_tampering(field):
    told = {name: inner for name, inner in HONEST[-2][1].items() if name != field or field == "t"}
    found = judged(signed([*HONEST[:-2], ("s", told if field != "t" else {**told, "t": "end"})]))
    assert found.grade.outcome is Outcome.TAMPERED
    survives_its_files(found)


@pytest.mark.parametrize("name", FAILED)
def test_a_value_that_cannot_be_judged_fails_its_test_alone(name):
    found = judged(signed([*HONEST[:5], ("t", {**FIRST, "values": FAILED[name]}), *HONEST[6:]]))
    assert found.trial.report.statuses == {F2P: TestStatus.FAILED, P2P: TestStatus.PASSED}
    survives_its_files(found)

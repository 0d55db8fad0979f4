"""What the frames of reporters mean that run in a language's own test runners."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.core.grouping import grouped
from harness.core.instance import TestStatus
from harness.core.test_ids import readable
from harness.judging import values
from harness.judging.frames import Shapes, has_shape
from harness.judging.values import Event
from harness.languages.base import Chain, TestReport, chain

SHAPES: Shapes = {
    "collected": {"ids": (list,)},
    "collect_error": {"id": (str,), "text": (str,)},
    "internal_error": {"text": (str,)},
    "value": values.EVENT_FIELDS,
    "finish": {"code": (int,)},
}
"""Frames that the recorders of all languages write."""
_SHAPES: Shapes = {
    **SHAPES,
    "begun": {"id": (str,)},
    "report": {"id": (str,), "status": (str,), "seconds": (int, float), "text": (str,)},
    "compiled": {"seconds": (int, float)},
}
_STATUSES = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "skipped": TestStatus.SKIPPED,
    "todo": TestStatus.SKIPPED,
    "crashed": TestStatus.ERROR,
}
_FAILURES = frozenset({TestStatus.FAILED, TestStatus.ERROR})


class Runner:
    """A test runner with a reporter of ours."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results, each test once; a frame that no reporter writes is a violation, and nothing else counts."""
        if not all(map(_is_ours, frames)):
            return TestReport(violations=("a frame that the reporter does not write",))
        statuses: dict[str, TestStatus] = {}
        seconds: dict[str, float] = {}
        texts: dict[str, str] = {}
        collected: dict[str, None] = {}
        raised: dict[str, Chain] = {}
        errors: dict[str, str] = {}
        collect_raised: dict[str, Chain] = {}
        internal = ""
        compile_seconds: float | None = None
        code: int | None = None
        begun = ""
        repeated: list[str] = []
        events: list[Event] = []
        for frame in frames:
            kind = frame["t"]
            if kind == "collected":
                collected |= dict.fromkeys(map(readable, frame["ids"]))
            elif kind == "begun":
                begun = readable(frame["id"])
            elif kind == "report":
                test_id = readable(frame["id"])
                repeated += [test_id] if test_id in statuses else []
                statuses[test_id] = _STATUSES[frame["status"]]
                seconds[test_id] = float(frame["seconds"])
                texts |= {test_id: frame["text"]} if frame["text"] else {}
                raised |= {test_id: chain(frame["raised"])} if "raised" in frame else {}
            elif kind == "collect_error":
                path = readable(frame["id"])
                errors[path] = frame["text"]
                collect_raised |= {path: chain(frame["raised"])} if "raised" in frame else {}
            elif kind == "value":
                events.append(values.event_of({**frame, "id": readable(frame["id"])}))
            elif kind == "compiled":
                compile_seconds = float(frame["seconds"])
            elif kind == "internal_error":
                internal = frame["text"]
            else:
                code = frame["code"]
        events = _under_reported(events, {*collected, *statuses})
        bad = bool(errors) or not _FAILURES.isdisjoint(statuses.values())
        return TestReport(
            statuses=statuses,
            seconds=seconds,
            texts=texts,
            collected=tuple({**collected, **statuses}),
            begun=begun,
            raised=raised,
            collect_errors=errors,
            collect_raised=collect_raised,
            internal_error=internal,
            events=tuple(events),
            compile_seconds=compile_seconds,
            finished=code is not None,
            exit_code=code,
            violations=(
                *(("two results for one test",) if repeated else ()),
                *values.repeated(events),
                *(("the runner ended with success although tests failed",) if code == 0 and bad else ()),
            ),
        )


def _is_ours(frame: Mapping[str, Any]) -> bool:
    return is_of(frame, _SHAPES) and (frame["t"] != "report" or frame["status"] in _STATUSES)


def is_of(frame: Mapping[str, Any], shapes: Shapes) -> bool:
    """Whether a frame has one of these forms, with what its recorder writes in it."""
    if not has_shape(frame, shapes):
        return False
    if frame["t"] == "collected":
        return all(isinstance(test_id, str) for test_id in frame["ids"])
    return frame["t"] != "value" or values.has_bounds(frame)


def _under_reported(events: Iterable[Event], reported: Collection[str]) -> list[Event]:
    """The events under the ids of reports: a runner that tells a test's titles in one text means the only such test."""
    by_text = grouped((test_id.replace(" > ", " "), test_id) for test_id in reported)
    alike = {text: ids[0] for text, ids in by_text.items() if len(ids) == 1}
    return [
        event
        if event.test_id in reported
        else replace(event, test_id=alike.get(event.test_id.replace(" > ", " "), event.test_id))
        for event in events
    ]

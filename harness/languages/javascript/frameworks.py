"""What the frames of our reporters for JavaScript's test runners mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core.instance import TestStatus
from harness.core.test_ids import readable
from harness.judging.frames import has_shape
from harness.languages.base import TestReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SHAPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "collected": {"ids": (list,)},
    "report": {"id": (str,), "status": (str,), "seconds": (int, float), "text": (str,)},
    "collect_error": {"id": (str,), "text": (str,)},
    "internal_error": {"text": (str,)},
    "finish": {"code": (int,)},
}
_STATUSES = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "skipped": TestStatus.SKIPPED,
    "todo": TestStatus.SKIPPED,
}


@dataclass(frozen=True)
class Runner:
    """A test runner with a reporter of ours, `inside/driver.cjs` and what it is given."""

    name: str
    reporter: str
    """The part that is the reporter."""
    package: str | None
    """What has to be installed for it; None for Node itself."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """Per-test results, each test once; a frame that no reporter writes is a violation, and nothing else counts."""
        if not all(map(_is_ours, frames)):
            return TestReport(violations=("a frame that the reporter does not write",))
        statuses: dict[str, TestStatus] = {}
        seconds: dict[str, float] = {}
        texts: dict[str, str] = {}
        collected: dict[str, None] = {}
        errors: dict[str, str] = {}
        internal = ""
        code: int | None = None
        repeated: list[str] = []
        for frame in frames:
            kind = frame["t"]
            if kind == "collected":
                collected |= dict.fromkeys(map(readable, frame["ids"]))
            elif kind == "report":
                test_id = readable(frame["id"])
                repeated += [test_id] if test_id in statuses else []
                statuses[test_id] = _STATUSES[frame["status"]]
                seconds[test_id] = float(frame["seconds"])
                texts |= {test_id: frame["text"]} if frame["text"] else {}
            elif kind == "collect_error":
                errors[readable(frame["id"])] = frame["text"]
            elif kind == "internal_error":
                internal = frame["text"]
            else:
                code = frame["code"]
        bad = bool(errors) or TestStatus.FAILED in statuses.values()
        return TestReport(
            statuses=statuses,
            seconds=seconds,
            texts=texts,
            collected=tuple({**collected, **statuses}),
            collect_errors=errors,
            internal_error=internal,
            finished=code is not None,
            exit_code=code,
            violations=(
                *(("two results for one test",) if repeated else ()),
                *(("the runner ended with success although tests failed",) if code == 0 and bad else ()),
            ),
        )


def _is_ours(frame: Mapping[str, Any]) -> bool:
    if not has_shape(frame, _SHAPES):
        return False
    if frame["t"] == "collected":
        return all(isinstance(test_id, str) for test_id in frame["ids"])
    return frame["t"] != "report" or frame["status"] in _STATUSES


FRAMEWORKS: Mapping[str, Runner] = {
    "jest": Runner("jest", "jest", "jest"),
    "vitest": Runner("vitest", "vitest", "vitest"),
    "mocha": Runner("mocha", "mocha", "mocha"),
    "node:test": Runner("node:test", "nodetest", None),
    "tap": Runner("tap", "tap", None),
    "ava": Runner("ava", "ava", "ava"),
    "jasmine": Runner("jasmine", "jasmine", "jasmine"),
}

"""Results files of test runners: JUnit XML, TAP, CTRF, TRX, RSpec's JSON. Pure; every byte of them is untrusted.

Each reader gives the results of a file, or says in one sentence why it can't be read. None of them follows a reference,
expands an entity or recurses, and what a file may hold is bounded. Sources: the schema of JUnit XML of Jenkins' xUnit
plugin and what phpunit, ctest, minitest and surefire write; TAP 14 (testanything.org); CTRF (ctrf.io, schema 0.0.0);
VisualStudio TeamTest 2010; RSpec's JSON formatter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from harness.core import json_text
from harness.core.instance import TestStatus

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # a type alone: defusedxml parses

MOST_TESTS = 100_000
"""Of one file."""
_TEXT, _NAME = 4000, 1000
PASSED, FAILED, ERROR, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED


class UnreadableError(Exception):
    """A results file that can't be read; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a file says of one test."""

    names: tuple[str, ...]
    """Its own, and before it those of what it stands in."""
    status: TestStatus
    file: str = ""
    """Where the runner says that it is; empty where it does not."""
    seconds: float = 0.0
    text: str = ""


def _no(why: str) -> NoReturn:
    raise UnreadableError(why)


def _seconds(value: object, scale: float = 1.0) -> float:
    """A duration; 0 where it is none."""
    try:
        number = float(str(value).replace(",", "")) / scale
    except ValueError:
        return 0.0
    return number if math.isfinite(number) and number >= 0 else 0.0


def _names(*names: object) -> tuple[str, ...]:
    """Names that are some, each once in a row."""
    texts = [" ".join(str(name).split())[:_NAME] for name in names if isinstance(name, str)]
    distinct = [text for place, text in enumerate(texts) if text and text not in texts[:place][-1:]]
    return tuple(distinct) or _no("it has a test without a name")


def _xml(data: bytes) -> Element:
    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        _no("it has a DOCTYPE, which no results file needs")
    except (ParseError, LookupError, ValueError) as error:  # LookupError: an encoding that nobody knows
        _no(f"it is not valid XML: {error}")
    return root


def _json(data: bytes) -> Any:
    try:
        return json_text.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        _no(f"it is not valid JSON: {error}")


def _local(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _junit(data: bytes) -> Iterator[Result]:
    root = _xml(data)
    if _local(root) not in {"testsuites", "testsuite"}:
        _no(f"its root is <{_local(root)[:40]}>, not <testsuites> or <testsuite>")
    waiting: list[tuple[Element, str]] = [(root, "")]
    while waiting:
        suite, file = waiting.pop()
        file = suite.get("file") or suite.get("filepath") or file
        for element in suite:
            kind = _local(element)
            if kind == "testsuite":
                waiting.append((element, file))
            elif kind == "testcase":
                yield _case(element, file)


_OUTCOMES = {"error": ERROR, "failure": FAILED, "warning": ERROR, "skipped": SKIPPED}
"""By the element in a case that tells it, worst first; `warning` is phpunit's."""
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored", "suppressed"})
"""What GoogleTest and others say of such a test in an attribute."""


def _case(case: Element, file: str) -> Result:
    parts = {_local(part): part for part in case}
    kind = next((kind for kind in _OUTCOMES if kind in parts), "")
    left_out = not _NOT_RUN.isdisjoint((case.get("status"), case.get("result")))
    status = _OUTCOMES.get(kind, SKIPPED if left_out else PASSED)
    element = parts.get(kind)
    text = "" if element is None else f"{element.get('message') or ''}\n{element.text or ''}".strip()
    return Result(
        names=_names(case.get("classname"), case.get("name")),
        status=status,
        file=case.get("file") or file,
        seconds=_seconds(case.get("time")),
        text=text[:_TEXT],
    )


_POINT = re.compile(r"(not )?ok\b(?:[ \t]+(\d{1,9})\b)?(?:[ \t]++-)?[ \t]*+((?:\\.|[^\\#\n])*+)(?:#[ \t]*(.*))?")
_PLAN = re.compile(r"1\.\.(\d{1,9})\b[ \t]*(#.*)?")
_DIRECTIVE = re.compile(r"(skip|todo)\S*", re.IGNORECASE)


def _tap(data: bytes) -> Iterator[Result]:
    """Test points at the outermost level: a subtest's own point, which follows it, tells what came of that."""
    planned: int | None = None
    count = 0
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("Bail out!"):
            _no(f"the runner bailed out: {line[9:209].strip()}")
        if plan := _PLAN.fullmatch(line.rstrip()):
            planned = int(plan[1]) if planned is None else _no("it has two plans")
        elif point := _POINT.fullmatch(line.rstrip()):
            count += 1
            yield _point(point, count)
    if planned is None:
        _no("it has no plan (1..N), so it may break off anywhere")
    if planned != count:
        _no(f"{count} of {planned} planned tests have a result")


def _point(point: re.Match[str], count: int) -> Result:
    directive = _DIRECTIVE.match(point[4] or "")
    name = point[3] if directive or point[4] is None else f"{point[3]}#{point[4]}"
    name = re.sub(r"\\(.)", r"\1", name).strip()
    status = SKIPPED if directive else FAILED if point[1] else PASSED
    return Result(names=_names(name or f"test {point[2] or count}"), status=status)


_CTRF = {"passed": PASSED, "failed": FAILED, "skipped": SKIPPED, "pending": SKIPPED, "other": ERROR}


def _ctrf(data: bytes) -> Iterator[Result]:
    for test in _listed(_json(data), "results", "tests"):
        suite = test.get("suite")
        parts = suite if isinstance(suite, list) else [suite]
        yield Result(
            names=_names(*parts, _required(test, "name")),
            status=_status(test.get("status"), _CTRF),
            file=_text(test.get("filePath")),
            seconds=_seconds(test.get("duration"), 1000.0),
            text=_text(test.get("message")) or _text(test.get("trace")),
        )


_RSPEC = {"passed": PASSED, "failed": FAILED, "pending": SKIPPED}


def _rspec(data: bytes) -> Iterator[Result]:
    for example in _listed(_json(data), "examples"):
        raised = example.get("exception")
        yield Result(
            names=_names(_required(example, "full_description")),
            status=_status(example.get("status"), _RSPEC),
            file=_text(example.get("file_path")),
            seconds=_seconds(example.get("run_time")),
            text=_text(raised.get("message")) if isinstance(raised, dict) else "",
        )


_TRX = {
    "Passed": PASSED,
    **dict.fromkeys(("Failed", "Timeout", "Aborted", "Disconnected", "PassedButRunAborted"), FAILED),
    "Error": ERROR,
    **dict.fromkeys(("NotExecuted", "NotRunnable", "Inconclusive", "Warning", "Pending", "InProgress"), SKIPPED),
}
_SPAN = re.compile(r"(\d{1,6}):(\d\d):(\d\d(?:\.\d{1,9})?)")


def _trx(data: bytes) -> Iterator[Result]:
    root = _xml(data)
    if _local(root) != "TestRun":
        _no(f"its root is <{_local(root)[:40]}>, not <TestRun>")
    classes: dict[str, str] = {}
    for test in root.iter():
        if _local(test) == "UnitTest":
            method = next((part for part in test if _local(part) == "TestMethod"), None)
            classes[test.get("id") or ""] = "" if method is None else method.get("className") or ""
    for result in root.iter():
        if _local(result) != "UnitTestResult":
            continue
        name = result.get("testName") or ""
        group = classes.get(result.get("testId") or "", "")
        span = _SPAN.fullmatch(result.get("duration") or "")
        message = next((part.text for part in result.iter() if _local(part) == "Message"), None)
        yield Result(
            names=_names(group, name.removeprefix(f"{group}.")),
            status=_status(result.get("outcome"), _TRX),
            seconds=3600 * int(span[1]) + 60 * int(span[2]) + float(span[3]) if span else 0.0,
            text=(message or "")[:_TEXT],
        )


def _listed(value: Any, *keys: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a list that lies below some keys."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, list):
        _no(f"it has no list at {'.'.join(keys)}")
    for entry in value:
        yield entry if isinstance(entry, dict) else _no(f"{'.'.join(keys)} has an entry that is no object")


def _required(test: Mapping[str, Any], key: str) -> str:
    return _text(test.get(key)) or _no(f"it has a test without a {key}")


def _status(value: object, statuses: Mapping[str, TestStatus]) -> TestStatus:
    status = statuses.get(value) if isinstance(value, str) else None
    return status or _no(f"it has the status {str(value)[:40]!r}; known are {', '.join(statuses)}")


def _text(value: object) -> str:
    return value[:_TEXT] if isinstance(value, str) else ""


FORMATS: Mapping[str, Callable[[bytes], Iterator[Result]]] = {
    "junit": _junit,
    "tap": _tap,
    "ctrf": _ctrf,
    "trx": _trx,
    "rspec": _rspec,
}
"""Readers by the name of their format."""


def read(form: str, data: bytes) -> tuple[Result, ...]:
    """The results that a file of this format holds.

    Raises:
        UnreadableError: it is no such file, or it has more tests than any suite.

    """
    results: list[Result] = []
    for result in FORMATS[form](data):
        results.append(result)
        if len(results) > MOST_TESTS:
            _no(f"it has more than {MOST_TESTS} tests")
    return tuple(results)

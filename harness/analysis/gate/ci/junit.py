"""A decision as JUnit XML, as GitLab, GitHub's actions for test reports and Jenkins read it.

The format has no owner. What is written here is what the readers agree on: `testsuites` → `testsuite` → `testcase` with
`classname`, `name` and `time`; a case holds at most one of `failure`, `error` and `skipped`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from typing import TYPE_CHECKING

from harness.analysis.gate.ci.texts import visible
from harness.analysis.gate.decision import Change, Decision, GateVerdict, RuleLine, Ruling, TaskLine

if TYPE_CHECKING:
    from collections.abc import Iterable

_TASKS_NAMED = 50
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def render(decision: Decision) -> str:
    """JUnit XML: a suite `gate` with a case per rule, and a suite `tasks` with a case per task.

    Names, reasons and models are written so that no control character, bidi character or lone surrogate reaches a
    reader; what XML itself forbids cannot occur.
    """
    passes = decision.verdict is GateVerdict.INCONCLUSIVE and decision.exit_code == 0
    rules = [_rule(line, passes=passes) for line in decision.rules]
    tasks = [_task(line) for line in decision.tasks]
    suites = [
        _suite("gate", rules, decision.candidate.started_at),
        _suite("tasks", tasks, decision.candidate.started_at),
    ]
    properties = ET.Element("properties")
    for name, value in _facts(decision):
        ET.SubElement(properties, "property", name=name, value=visible(value))
    suites[0].insert(0, properties)
    root = ET.Element("testsuites", {"name": "goldseam gate", **_totals([*rules, *tasks])})
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _facts(decision: Decision) -> Iterable[tuple[str, str]]:
    yield "verdict", decision.verdict.value
    yield "sentence", decision.sentence
    yield "candidate", f"{decision.candidate.model} in {decision.candidate.run}"
    if decision.baseline:
        yield "baseline", f"{decision.baseline.model} in {decision.baseline.run}"


def _suite(name: str, cases: list[ET.Element], started_at: str) -> ET.Element:
    stamp = {"timestamp": started_at.removesuffix("Z")} if _TIME.fullmatch(started_at) else {}
    suite = ET.Element("testsuite", {"name": f"goldseam.{name}", **_totals(cases), **stamp})
    suite.extend(cases)
    return suite


def _totals(cases: list[ET.Element]) -> dict[str, str]:
    kinds = Counter(child.tag for case in cases for child in case)
    seconds = sum(float(case.get("time", "0")) for case in cases)
    counts = {"failures": kinds["failure"], "errors": kinds["error"], "skipped": kinds["skipped"]}
    return {
        "tests": str(len(cases)),
        **{name: str(number) for name, number in counts.items()},
        "time": f"{seconds:.3f}",
    }


def _rule(line: RuleLine, *, passes: bool) -> ET.Element:
    case = ET.Element("testcase", classname="goldseam.gate", name=visible(line.name), time="0.000")
    text = f"required {line.required}; found {line.found}"
    kind = {Ruling.BROKEN: "failure", Ruling.UNKNOWN: "skipped" if passes else "error"}.get(line.ruling)
    if kind:
        names = [visible(task) for task in line.tasks[:_TASKS_NAMED]]
        left = len(line.tasks) - len(names)
        body = [visible(line.sentence, limit=2000), *names, *([f"and {left} more"] if left else [])]
        _add(case, kind, text, "\n".join(part for part in body if part))
    else:
        ET.SubElement(case, "system-out").text = visible(text)
    return case


def _task(line: TaskLine) -> ET.Element:
    name, classname = visible(line.instance_id), visible(line.repo or "tasks")
    case = ET.Element("testcase", classname=classname, name=name, time=f"{line.seconds or 0.0:.3f}")
    counts = _counts(line)
    match line.change:
        case Change.LOST:
            _add(case, "failure", "lost against the baseline", counts)
        case Change.NOT_SCORED:
            _add(case, "error", "not scored: says nothing about the model", line.note)
        case Change.MISSING:
            _add(case, "error", "no prediction, though the baseline has one", counts)
        case Change.LEFT_OUT:
            _add(case, "skipped", line.note or "left out", "")
        case _:
            ET.SubElement(case, "system-out").text = visible(f"{line.change.value}: {counts}")
    return case


def _counts(line: TaskLine) -> str:
    sides = [("baseline", line.baseline), ("candidate", line.candidate)]
    return ", ".join(f"{name} resolved {counts}" for name, counts in sides if counts) or "no verdict"


def _add(case: ET.Element, kind: str, message: str, body: str) -> None:
    attributes = {"message": visible(message)}
    if kind != "skipped":
        attributes["type"] = f"goldseam.{kind}"
    text = "\n".join(visible(part, limit=2000) for part in body.split("\n"))
    ET.SubElement(case, kind, attributes).text = text or None

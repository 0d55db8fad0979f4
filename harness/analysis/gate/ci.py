"""A decision as CI systems show it: Markdown, annotations and outputs for GitHub, JUnit XML, SARIF.

JUnit XML has no owner. What is written here is what GitLab, GitHub's actions for test reports and Jenkins agree on:
`testsuites` → `testsuite` → `testcase` with `classname`, `name` and `time`; a case holds at most one of `failure`,
`error` and `skipped`. SARIF is for GitHub's code scanning and other viewers (OASIS, "Static Analysis Results
Interchange Format (SARIF) Version 2.1.0", 2020).
"""

from __future__ import annotations

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from harness.analysis.gate.decision import Change, Decision, Finding, GateVerdict, RuleLine, Ruling, Side, TaskLine
from harness.core.printable import visible
from harness.core.wording import span

_MARKDOWN = re.compile(r"[\\`*\[\]#|<>~&@$:]|(?<!\w)_|_(?!\w)")
"""What GitHub's Markdown may take for markup inside a line; an underscore within a word is none."""
SUMMARY_BYTES = 1024 * 1024
"""What GitHub takes for one step; a longer summary is not shown at all."""
_TASKS_SHOWN = 200
_FINDINGS_SHOWN = 100
_ANNOTATIONS = 10
"""GitHub shows no more errors of one step."""
_NAMED = 20
_HEADINGS = {
    GateVerdict.PASS: "✅ Pass",
    GateVerdict.REGRESSION: "❌ Regression",
    GateVerdict.INCONCLUSIVE: "⚠️ Inconclusive",
}
_MARKS = {Ruling.KEPT: "✅ kept", Ruling.BROKEN: "❌ broken", Ruling.UNKNOWN: "⚠️ can't tell"}
_TASKS_NAMED = 50
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"high": "error", "medium": "warning", "low": "note"}
_SCORES = {"high": "8.0", "medium": "5.0", "low": "2.0"}
"""GitHub's `security-severity`, on the scale of CVSS."""


def markdown(text: str, *, limit: int = 300) -> str:
    """A text that Markdown shows as it is: nothing in it is markup, a link, a mention or a table's edge."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match.group())};", visible(text, limit=limit))


def step_summary(decision: Decision, *, room: int = SUMMARY_BYTES) -> str:
    """The decision in GitHub's Markdown, at most `room` bytes; what does not fit is counted, not shown."""
    heading = f"## {_HEADINGS[decision.verdict]}: {markdown(decision.candidate.model)}"
    parts = [
        f"{heading}\n\n{markdown(decision.sentence, limit=2000)}\n",
        _sides(decision),
        _rules(decision),
        _tasks("Lost against the baseline", decision.of(Change.LOST)),
        _tasks("Not scored (says nothing about the model)", decision.of(Change.NOT_SCORED)),
        _tasks("Without a prediction, though the baseline has one", decision.of(Change.MISSING)),
        _tasks("Won", decision.of(Change.WON)),
        _findings(decision),
        "".join(f"- {markdown(note)}\n" for note in decision.notes),
    ]
    text, closing = "", "\n(more did not fit)\n"
    for part in filter(None, parts):
        if len((text + "\n" + part + closing).encode()) > room:
            return text + closing if len((text + closing).encode()) <= room else ""
        text += "\n" + part if text else part
    return text + "\n"


def _sides(decision: Decision) -> str:
    sides = [("candidate", decision.candidate), ("baseline", decision.baseline)]
    lines = [_side(name, side) for name, side in sides if side]
    head = "| | model | run | tasks | resolved | 95% interval | coverage | cost |\n|---|---|---|--:|--:|--:|--:|--:|\n"
    return head + "".join(lines)


def _side(name: str, side: Side) -> str:
    share = "–" if side.share is None else f"{side.share:.1%}"
    interval = span(side.interval.low, side.interval.high) if side.interval else "–"
    cost = "unknown" if side.cost is None else f"{side.cost:.2f}"
    cells = [
        name,
        markdown(side.model),
        markdown(side.run),
        str(side.tasks),
        share,
        interval,
        f"{side.coverage:.0%}",
        cost,
    ]
    return f"| {' | '.join(cells)} |\n"


def _rules(decision: Decision) -> str:
    lines = [
        f"| {markdown(line.name)} | {markdown(line.required)} | {markdown(line.found)} | {_MARKS[line.ruling]} |\n"
        for line in decision.rules
    ]
    whys = [
        f"- **{markdown(line.name)}**: {markdown(line.sentence, limit=1000)}\n"
        for line in decision.rules
        if line.sentence and (line.ruling is not Ruling.KEPT or line.tasks)
    ]
    table = "| rule | required | found | |\n|---|---|---|---|\n" + "".join(lines)
    return table + ("\n" + "".join(whys) if whys else "")


def _tasks(title: str, lines: Sequence[TaskLine]) -> str:
    if not lines:
        return ""
    rows = [
        f"| {markdown(line.instance_id)} | {line.baseline or '–'} | {line.candidate or '–'} | {markdown(line.note)} |\n"
        for line in lines[:_TASKS_SHOWN]
    ]
    more = f"\nand {len(lines) - _TASKS_SHOWN} more\n" if len(lines) > _TASKS_SHOWN else ""
    head = (
        f"<details><summary>{title}: {len(lines)}</summary>\n\n| task | baseline | candidate | |\n|---|--:|--:|---|\n"
    )
    return head + "".join(rows) + more + "\n</details>\n"


def _findings(decision: Decision) -> str:
    if not decision.findings:
        return ""
    rows = [
        f"| {markdown(finding.instance_id)} | {markdown(finding.rule)} | {f'CWE-{finding.cwe}' if finding.cwe else ''} "
        f"| {markdown(finding.severity)} | {markdown(finding.message)} |\n"
        for finding in decision.findings[:_FINDINGS_SHOWN]
    ]
    count = len(decision.findings)
    more = f"\nand {count - _FINDINGS_SHOWN} more\n" if count > _FINDINGS_SHOWN else ""
    head = f"<details><summary>New security findings: {count}</summary>\n\n| task | rule | CWE | severity | |\n"
    return head + "|---|---|---|---|---|\n" + "".join(rows) + more + "\n</details>\n"


def workflow_commands(decision: Decision) -> list[str]:
    """GitHub's workflow commands, one a line: an error for each broken rule, a warning for each that nobody can tell.

    At most ten, as many as GitHub shows of a step.
    """
    commands: list[str] = []
    order = (Ruling.BROKEN, Ruling.UNKNOWN)
    for line in sorted(
        (rule for rule in decision.rules if rule.ruling in order), key=lambda rule_line: order.index(rule_line.ruling)
    ):
        level = "error" if line.ruling is Ruling.BROKEN else "warning"
        text = f"required {line.required}; found {line.found}. {line.sentence}".strip()
        if line.tasks:
            text += f"\n{_first_tasks(line.tasks)}"
        commands.append(_command(level, f"goldseam gate: {line.name}", text))
    lost = decision.of(Change.LOST)
    if lost and decision.verdict is not GateVerdict.PASS:
        task_names = _first_tasks([line.instance_id for line in lost])
        commands.insert(_ANNOTATIONS - 1, _command("notice", "goldseam gate: lost tasks", task_names))
    if decision.verdict is GateVerdict.PASS:
        commands.append(_command("notice", "goldseam gate: pass", decision.sentence))
    return commands[:_ANNOTATIONS]


def _first_tasks(tasks: Sequence[str]) -> str:
    more = f", and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    return ", ".join(visible(task) for task in tasks[:_NAMED]) + more


def _command(level: str, title: str, text: str) -> str:
    lines = "\n".join(visible(line, limit=2000) for line in text.split("\n"))
    return f"::{level} title={_property(visible(title))}::{_data(lines)}"


def _data(text: str) -> str:
    """As GitHub's toolkit escapes the text of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def outputs(decision: Decision) -> dict[str, str]:
    """What later steps of a workflow can ask for. Words and numbers of ours: no text of others gets to a shell."""
    share = decision.candidate.share
    return {
        "verdict": decision.verdict.value,
        "exit-code": str(decision.exit_code),
        "compared": str(decision.compared),
        "lost": str(len(decision.of(Change.LOST))),
        "won": str(len(decision.of(Change.WON))),
        "resolved-rate": "" if share is None else f"{share:.4f}",
    }


def junit_xml(decision: Decision) -> str:
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


def sarif_json(findings: Sequence[Finding], *, version: str) -> str:
    """One run of one tool; a rule for each distinct tool and rule, a result for each finding.

    A finding's place is `<repo>/<path>`: it lies in a task's tree, not in the repository that the gate runs in.
    """
    rules = sorted({_rule_id(finding): finding for finding in findings}.items())
    driver = {
        "name": "goldseam",
        "semanticVersion": version,
        "rules": [_sarif_rule(name, finding) for name, finding in rules],
    }
    index = {name: number for number, (name, _) in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index) for finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule_id(finding: Finding) -> str:
    return visible(f"{finding.tool}/{finding.rule}")


def _sarif_rule(name: str, finding: Finding) -> dict[str, Any]:
    tags = ["security", *([f"external/cwe/cwe-{finding.cwe:03d}"] if finding.cwe else [])]
    properties: dict[str, Any] = {"tags": tags}
    if finding.severity.lower() in _SCORES:
        properties["security-severity"] = _SCORES[finding.severity.lower()]
    return {
        "id": name,
        "name": visible(finding.rule),
        "shortDescription": {"text": visible(finding.message, limit=200) or name},
        "properties": properties,
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    name = _rule_id(finding)
    text = f"{finding.model} introduced this in {finding.instance_id} (sample {finding.sample}): {finding.message}"
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": index[name],
        "level": _LEVELS.get(finding.severity.lower(), "warning"),
        "message": {"text": visible(text, limit=1000)},
        "partialFingerprints": {"goldseam/v1": _fingerprint(finding)},
        "properties": {
            "instance_id": visible(finding.instance_id),
            "model": visible(finding.model),
            "sample": finding.sample,
        },
    }
    if finding.path:
        region = {"region": {"startLine": finding.line}} if finding.line and finding.line > 0 else {}
        result["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _uri(finding)}, **region}}]
    return result


def _uri(finding: Finding) -> str:
    parts: Iterable[str] = f"{finding.repo}/{finding.path}".split("/")
    return "/".join(quote(visible(part), safe="") for part in parts if part not in ("", ".", ".."))


def _fingerprint(finding: Finding) -> str:
    """Equal for the same finding of the same model in the next run, so that a viewer does not count it twice."""
    facts = (finding.instance_id, finding.model, finding.tool, finding.rule, finding.path, finding.message)
    return hashlib.sha256("\0".join(facts).encode("utf-8", "backslashreplace")).hexdigest()

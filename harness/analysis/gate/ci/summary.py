"""A decision as GitHub shows it: the step summary in Markdown, annotations as workflow commands, outputs of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.analysis.gate.ci.texts import markdown, visible
from harness.analysis.gate.decision import Change, Decision, GateVerdict, Ruling, Side, TaskLine
from harness.core.wording import span

if TYPE_CHECKING:
    from collections.abc import Sequence

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

"""Read what a gate judges, and leave what CI systems read: the edges around `harness/analysis/gate/rules.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis import compare, scoresheet
from harness.analysis.gate import baseline as accepted
from harness.analysis.gate import ci
from harness.analysis.gate import rules as gate
from harness.analysis.gate.checks import Security
from harness.analysis.gate.config import GateRules
from harness.analysis.gate.decision import Decision, Finding
from harness.analysis.scoresheet import Scoresheet
from harness.core import files, origin
from harness.core.errors import InputError
from harness.core.printable import visible
from harness.dataset.folder import open_dataset
from harness.runs import verdict
from harness.runs.run_folder import InstanceReport, RunFolder
from harness.runs.task_metadata import read_facts
from harness.signals import SecurityFinding

_GOLD = "gold"


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a gate is asked."""

    candidate: Path
    """A run folder."""
    baseline: Path | None
    """A run folder or an accepted file; None to ask only the rules that need none."""
    first: bool = False
    """Whether the baseline may be missing, as it is the first time."""
    confirm: Path | None = None
    """A second run of the candidate with fresh samples."""
    dataset: Path | None = None
    """Says which tasks are quarantined or retired now."""
    model: str | None = None
    baseline_model: str | None = None
    with_hidden: bool = False
    allow_unauthenticated: bool = False
    """Whether reports count that nobody here vouches for."""


@dataclass(frozen=True, kw_only=True)
class GateOutcome:
    """A decision, and the sheet it was made on."""

    decision: Decision
    candidate: gate.Entry


def ask(question: Question, rules: GateRules) -> GateOutcome:
    """Read the runs and decide.

    Raises:
        InputError: no run, no such model, no baseline, a broken file, or a second run that is not fresh.

    """
    candidate = _run(question.candidate, model=question.model, dataset=question.dataset)
    baseline = _baseline(question, candidate)
    confirm = _confirm(question, candidate)
    security = _security(candidate.sheet, with_hidden=question.with_hidden)
    decision = gate.decide(
        candidate,
        baseline,
        rules,
        security=security,
        confirm=confirm,
        allow_unauthenticated=question.allow_unauthenticated,
    )
    return GateOutcome(decision=decision, candidate=candidate)


def _run(path: Path, *, model: str | None, dataset: Path | None) -> gate.Entry:
    sheets = scoresheet.read(path, dataset=dataset)
    sheet, folder = compare.pick(sheets, model).whole(), RunFolder(path=path)
    record = folder.record()
    return gate.Entry(
        sheet=sheet,
        name=path.resolve().name,
        started_at=record.started_at if record else "",
        unauthenticated=(*folder.unauthenticated(sheet.model), *verdict.of_other_tasks(folder, sheet.model)),
    )


def _baseline(question: Question, candidate: gate.Entry) -> gate.Entry | None:
    path = question.baseline
    if path is None or (question.first and not path.exists()):
        if question.first:
            return None
        raise InputError(
            "no baseline to compare with",
            hint="give --baseline a run folder or an accepted file; the very first time, --allow-missing-baseline",
        )
    if path.is_file():
        sheet, file = accepted.read(path)
        if question.baseline_model not in (None, file.model):
            raise InputError(f"{path} holds the model {file.model!r}, not {question.baseline_model!r}")
        if question.dataset is not None:
            sheet = _as_of_now(sheet, question.dataset)
        return gate.Entry(sheet=sheet, name=path.name, started_at=file.started_at)
    if not path.exists():
        raise InputError(f"there is no baseline at {path}", hint="the very first time, add --allow-missing-baseline")
    model = question.baseline_model
    sheets = scoresheet.read(path, dataset=question.dataset)
    if model is None and sum(sheet.model == candidate.sheet.model for sheet in sheets) == 1:
        model = candidate.sheet.model  # the same model's earlier run is what is meant, whatever else it holds
    return _run(path, model=model, dataset=question.dataset)


def _as_of_now(sheet: Scoresheet, dataset: Path) -> Scoresheet:
    """An accepted sheet without the tasks that the dataset does not count now."""
    facts = read_facts(open_dataset(dataset), also=sheet.tasks)
    tasks = {
        task_id: replace(task, facts=facts.get(task_id, task.facts).judged_at([task.facts.judged]))
        for task_id, task in sheet.tasks.items()
    }
    return replace(
        sheet,
        tasks={task_id: task for task_id, task in tasks.items() if task.facts.counts},
        aside={task_id: task for task_id, task in tasks.items() if not task.facts.counts},
    )


def _confirm(question: Question, candidate: gate.Entry) -> gate.Entry | None:
    """The second run; refused where it holds the very patches of the first, which would confirm anything."""
    path = question.confirm
    if path is None:
        return None
    second = _run(path, model=question.model or candidate.sheet.model, dataset=question.dataset)
    first, two = (_patches(where, candidate.sheet.model) for where in (question.candidate, path))
    shared = [key for key in first.keys() & two.keys() if first[key]]
    if shared and all(first[key] == two[key] for key in shared):
        raise InputError(
            f"{path} holds the same patches as {question.candidate}: that confirms nothing",
            hint="let the model solve the tasks again and evaluate its answers",
        )
    return second


def _patches(run: Path, model: str) -> Mapping[tuple[str, int], str | None]:
    return {
        (prediction.instance_id, prediction.sample): prediction.model_patch
        for prediction in RunFolder(path=run).predictions()
        if prediction.model_name_or_path == model
    }


def _security(sheet: Scoresheet, *, with_hidden: bool) -> Security:
    """What the signals of the candidate's predictions say of security, over the tasks that count."""
    findings: list[Finding] = []
    measured = total = 0
    for report in RunFolder(path=sheet.run).reports():
        task = sheet.tasks.get(report.instance_id)
        if report.model_name_or_path != sheet.model or task is None or not report.patch_exists:
            continue
        total += 1
        signal = report.signals.security if report.signals else None
        if signal is None or not signal.measured:
            continue
        measured += 1
        public = with_hidden or sheet.model != _GOLD
        findings += [_finding(finding, report, repo=task.facts.repo or "", public=public) for finding in signal.new]
    return Security(findings=tuple(findings), measured=measured, of=total)


def _finding(finding: SecurityFinding, report: InstanceReport, *, repo: str, public: bool) -> Finding:
    """Where the model is gold its files are those of the fix: hidden."""
    return Finding(
        instance_id=report.instance_id,
        repo=repo,
        model=report.model_name_or_path,
        sample=report.sample,
        tool=finding.tool,
        rule=finding.rule,
        message=finding.message if public else "",
        path=finding.path if public else "",
        line=finding.line if public else None,
        cwe=finding.cwe,
        severity=finding.severity,
    )


def leave(decision: Decision, *, junit_file: Path | None, sarif_file: Path | None, summary_file: Path | None) -> None:
    """Write what was asked for, each file at once; one that is named `-` goes to standard output."""
    for path, text in (
        (junit_file, junit_file and ci.junit_xml(decision)),
        (sarif_file, sarif_file and ci.sarif_json(decision.findings, version=origin.version())),
        (summary_file, summary_file and ci.step_summary(decision)),
    ):
        if path and text:
            files.write_result(path, str(text).encode("utf-8", "surrogateescape"))


def tell_github(decision: Decision, env: Mapping[str, str] = os.environ) -> list[str]:
    """Append to the files that GitHub names for a step, and give the annotations to print; elsewhere do nothing."""
    if env.get("GITHUB_ACTIONS") != "true":
        return []
    if env.get("GITHUB_STEP_SUMMARY"):
        path = Path(env["GITHUB_STEP_SUMMARY"])
        size = path.stat().st_size if path.exists() else 0
        _append(path, ci.step_summary(decision, room=ci.SUMMARY_BYTES - size))
    if env.get("GITHUB_OUTPUT"):
        lines = (f"{name}={visible(value)}\n" for name, value in ci.outputs(decision).items())
        _append(Path(env["GITHUB_OUTPUT"]), "".join(lines))
    return ci.workflow_commands(decision)


def _append(path: Path, text: str) -> None:
    with files.explained(path), path.open("a", encoding="utf-8") as file:
        file.write(text)


def accept(answer: GateOutcome, path: Path) -> bool:
    """Keep the candidate as the accepted run where the gate says so (exit code 0); whether it does."""
    if answer.decision.exit_code != 0:
        return False
    entry = answer.candidate
    accepted.write(
        path,
        entry.sheet,
        run=entry.name,
        started_at=entry.started_at,
        accepted_at=origin.now(),
        version=origin.version(),
    )
    return True

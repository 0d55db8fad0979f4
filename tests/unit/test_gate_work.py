"""What the gate reads from run folders: security findings, what is quarantined now, second runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.analysis.gate import files
from harness.analysis.gate.config import GateRules
from harness.analysis.gate.decision import Change, Ruling
from harness.core.errors import InputError
from harness.core.instance import Outcome, TaskState
from tests import report_runs
from tests.gate_runs import TASKS, make_run

FOUND = {
    "tool": "bandit",
    "rule": "B602",
    "cwe": 78,
    "severity": "high",
    "confidence": "high",
    "path": "src/run.py",
    "line": 3,
    "message": "subprocess call with shell=True",
    "text": "run(cmd, shell=True)",
}
RULES = GateRules(no_new_security=True)


def ask(candidate, rules=RULES, **fields):
    return files.ask(files.Question(candidate=candidate, baseline=None, first=True, **fields), rules).decision


def measure(run, *, new=None, model="model", measured=True):
    """Put a security signal into every report of a run; `new` by number of the task."""
    for number in range(TASKS):
        path = run / "results" / model / f"acme__widgets-{number}" / "0" / "report.json"
        report = json.loads(path.read_bytes())
        report["signals"] = _signals({"measured": measured, "new": (new or {}).get(number, [])})
        path.write_text(json.dumps(report), encoding="utf-8")
    return run


def _signals(security):
    parts = ("compiles", "imports", "lint", "eslint", "semgrep", "complexity", "runtime", "network", "writes")
    return {**{part: {"measured": False} for part in parts}, "security": security}


def ruling(decision):
    [line] = [line for line in decision.rules if line.name == "no_new_security"]
    return line.ruling


def test_a_run_without_signals_is_not_known_to_be_clean(tmp_path):
    decision = ask(make_run(tmp_path / "run", 26))

    assert (ruling(decision), decision.exit_code) == (Ruling.UNKNOWN, 3)


def test_a_run_whose_patches_bring_nothing_in_is_clean(tmp_path):
    assert ruling(ask(measure(make_run(tmp_path / "run", 26)))) is Ruling.KEPT


def test_what_could_not_be_measured_is_not_known_to_be_clean(tmp_path):
    assert ruling(ask(measure(make_run(tmp_path / "run", 26), measured=False))) is Ruling.UNKNOWN


def test_a_new_finding_breaks_the_rule_and_is_told(tmp_path):
    decision = ask(measure(make_run(tmp_path / "run", 26), new={4: [FOUND]}))

    assert ruling(decision) is Ruling.BROKEN
    [finding] = decision.findings
    assert (finding.instance_id, finding.path, finding.line, finding.cwe) == ("acme__widgets-4", "src/run.py", 3, 78)


def test_a_finding_in_a_quarantined_task_does_not_count(tmp_path):
    run = measure(make_run(tmp_path / "run", 26, quarantined=[4]), new={4: [FOUND]})

    assert ruling(ask(run)) is Ruling.KEPT


def test_findings_of_another_model_do_not_count(tmp_path):
    run = make_run(tmp_path / "run", 26, models=("model", "other"))
    measure(run)
    measure(run, new={4: [FOUND]}, model="other")

    assert ruling(ask(run, model="model")) is Ruling.KEPT


@pytest.mark.parametrize(("with_hidden", "path"), [(False, ""), (True, "src/run.py")])
def test_the_files_of_the_fix_are_named_with_leave_only(tmp_path, with_hidden, path):
    run = measure(make_run(tmp_path / "run", 30, models=("gold",)), new={4: [FOUND]}, model="gold")

    [finding] = ask(run, with_hidden=with_hidden).findings

    assert finding.path == path


def test_a_task_without_a_patch_brings_nothing_in(tmp_path):
    run = make_run(tmp_path / "run", 30)
    measure(run)
    report_runs.add(run, "acme__widgets-3", "model", Outcome.EMPTY_PATCH)

    assert ruling(ask(run)) is Ruling.KEPT


def quarantine(folder, numbers):
    """A dataset that set these tasks aside after the runs were made."""
    tasks = [report_runs.make_task(number, instance_id=f"acme__widgets-{number}") for number in range(TASKS)]
    dataset = report_runs.make_dataset(folder, tasks)
    for number in numbers:
        path = dataset.task_folder(f"acme__widgets-{number}") / "task.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(TaskState.PROVED.value, TaskState.QUARANTINED.value), encoding="utf-8")
    return folder


@pytest.mark.parametrize("kept_as", ["run", "file"])
def test_what_the_dataset_sets_aside_now_counts_in_neither_run(tmp_path, kept_as):
    base = make_run(tmp_path / "base", 26)
    if kept_as == "file":
        question = files.Question(candidate=base, baseline=None, first=True)
        assert files.accept(files.ask(question, GateRules()), tmp_path / "accepted.json")
        base = tmp_path / "accepted.json"
    dataset = quarantine(tmp_path / "dataset", range(10, 30))
    next_run = make_run(tmp_path / "next", 10, asked=20)
    question = files.Question(candidate=next_run, baseline=base, dataset=dataset)

    decision = files.ask(question, GateRules()).decision

    assert (decision.exit_code, decision.compared) == (0, 10)
    assert len(decision.of(Change.LEFT_OUT)) == 10
    assert decision.baseline is not None
    assert decision.baseline.tasks == 10


def test_a_card_of_today_does_not_strengthen_an_accepted_run(tmp_path):
    inside = range(10, 30)
    base = make_run(tmp_path / "base", 26, inside=inside)
    question = files.Question(candidate=base, baseline=None, first=True)
    assert files.accept(files.ask(question, GateRules()), tmp_path / "accepted.json")
    tasks = [report_runs.make_task(0, instance_id=f"acme__widgets-{number}") for number in range(30)]
    quality = {"judged": {"place": "host"}}
    carded = [replace(task, instance=replace(task.instance, quality=quality)) for task in tasks]
    dataset = report_runs.make_dataset(tmp_path / "dataset", carded)
    question = files.Question(
        candidate=make_run(tmp_path / "next", 26), baseline=tmp_path / "accepted.json", dataset=dataset.path
    )

    assert files.ask(question, GateRules()).decision.compared == 10


def test_a_second_run_with_the_same_patches_is_refused(tmp_path):
    run = make_run(tmp_path / "next", 8)
    question = files.Question(candidate=run, baseline=make_run(tmp_path / "base", 26), confirm=run)

    with pytest.raises(InputError, match="the same patches"):
        files.ask(question, GateRules())


def test_a_run_that_does_not_pass_is_not_accepted(tmp_path):
    question = files.Question(candidate=make_run(tmp_path / "next", 8), baseline=make_run(tmp_path / "base", 26))

    assert not files.accept(files.ask(question, GateRules()), tmp_path / "accepted.json")
    assert not (tmp_path / "accepted.json").exists()

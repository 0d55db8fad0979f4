"""What GitHub shows of a decision: the step summary, annotations, outputs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from harness.analysis.gate import ci
from harness.analysis.gate.decision import Change, Ruling, TaskLine
from harness.analysis.gate.files import tell_github
from harness.cli.views import gate, terminal
from harness.judging.places import Place
from tests.sheets import LOST, WON, decide, run_of, sheet, task

HOSTILE = "x|y`z`<img src=x onerror=a>\n## big\n@team #12 https://evil.example \u202egpj\x1b[31m\x00\ud800"


def hostile():
    decision = decide(run_of(10, 15), run_of(25))
    lines = tuple(replace(line, note=HOSTILE) for line in decision.tasks)
    rules = tuple(replace(line, sentence=HOSTILE, found=HOSTILE) for line in decision.rules)
    side = replace(decision.candidate, model=HOSTILE, run=HOSTILE)
    return replace(decision, tasks=lines, rules=rules, candidate=side, sentence=HOSTILE, notes=(HOSTILE,))


def test_the_summary_tells_what_is_not_judged_where_it_is_required_and_how_to_count_it():
    text = ci.step_summary(decide(sheet(*(task(number) for number in range(9)), task(9, place=Place.INSIDE))))

    assert "1 judged inside" in text
    assert "--require inside counts all" in text


def test_the_summary_opens_with_the_answer():
    text = ci.step_summary(decide(run_of(10, 15), run_of(25)))

    assert text.startswith("## ❌ Regression: model\n\nThis is a regression")
    assert "Lost against the baseline: 15" in text


def test_names_in_the_summary_are_no_markup():
    text = ci.step_summary(hostile())

    assert not re.search(r"<img|^## big|@team|https://|[\x00\x1b\u202e\ud800]", text, re.MULTILINE)
    rows = [line for line in text.splitlines() if line.startswith("| candidate")]
    assert [row.count("|") for row in rows] == [9]


def test_a_summary_stays_within_what_github_takes():
    decision = decide(run_of(1), run_of(1))
    lines = tuple(
        TaskLine(instance_id=f"acme__widgets-{number}", repo="acme/widgets", change=change, note="n" * 300)
        for change in (Change.LOST, Change.WON, Change.NOT_SCORED, Change.MISSING)
        for number in range(1000)
    )
    many = replace(decision, tasks=lines, notes=("n" * 300,) * 5000)

    text = ci.step_summary(many)

    assert len(text.encode()) <= ci.SUMMARY_BYTES
    assert "and 800 more" in text


def test_a_summary_that_does_not_fit_says_so_and_keeps_the_answer():
    text = ci.step_summary(decide(run_of(10, 15), run_of(25)), room=600)

    assert len(text.encode()) <= 600
    assert text.startswith("## ❌ Regression")
    assert text.endswith("(more did not fit)\n")


def test_a_broken_rule_is_an_error_and_an_unknown_one_a_warning():
    decision = decide(run_of(10, 15), run_of(25), max_cost=1.0)

    found = ci.workflow_commands(decision)

    assert found[0].startswith("::error title=goldseam gate%3A max_drop::")
    assert any(line.startswith("::warning title=goldseam gate%3A max_cost::") for line in found)


def test_annotations_are_one_line_each_and_escaped():
    found = ci.workflow_commands(hostile())

    assert found
    for line in found:
        assert re.fullmatch(r"::(error|warning|notice) title=[^:,\n\r]*::[^\n\r]*", line)
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", line)
        assert not re.search(r"[\x00\x1b\u202e\ud800]", line)


def test_a_percent_sign_is_escaped():
    line = ci.workflow_commands(decide(run_of(10, 15), run_of(25)))[0]

    assert "100.0%25" in line


def test_github_gets_no_more_annotations_than_it_shows():
    decision = decide(run_of(10, 15), run_of(25))
    rules = tuple(replace(decision.rules[0], name=f"r{number}", ruling=Ruling.BROKEN) for number in range(30))

    assert len(ci.workflow_commands(replace(decision, rules=rules))) == 10


def test_outputs_are_words_and_numbers():
    values = ci.outputs(hostile())

    assert values["verdict"] == "regression"
    assert values["exit-code"] == "1"
    assert all(re.fullmatch(r"[a-z0-9.]*", value) for value in values.values())


def test_lost_and_won_are_counted():
    decision = decide(sheet(task(1, [LOST]), task(2)), sheet(task(1), task(2, [LOST])))

    assert (ci.outputs(decision)["lost"], ci.outputs(decision)["won"]) == ("1", "1")


def test_nothing_is_told_outside_of_github(tmp_path):
    env = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output")}

    assert tell_github(decide(run_of(10, 15), run_of(25)), env) == []
    assert list(tmp_path.iterdir()) == []


def test_on_github_the_summary_is_added_to_what_the_step_has_said(tmp_path):
    path, output = tmp_path / "summary", tmp_path / "output"
    path.write_text("before\n", encoding="utf-8")
    output.write_text("other=1\n", encoding="utf-8")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(path), "GITHUB_OUTPUT": str(output)}

    found = tell_github(decide(run_of(10, 15), run_of(25)), env)

    assert found
    assert path.read_text(encoding="utf-8").startswith("before\n## ❌ Regression")
    assert output.read_text(encoding="utf-8").startswith("other=1\nverdict=regression\n")


def test_a_full_summary_file_is_not_filled_further(tmp_path):
    path = tmp_path / "summary"
    path.write_bytes(b"x" * ci.SUMMARY_BYTES)
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(path)}

    tell_github(decide(run_of(10, 15), run_of(25)), env)

    assert path.stat().st_size == ci.SUMMARY_BYTES


def test_a_pass_is_told_as_a_notice():
    assert ci.workflow_commands(decide(run_of(20), run_of(20)))[0].startswith("::notice title=goldseam gate%3A pass::")


@pytest.mark.parametrize("name", ["::set-output name=verdict::pass", "##[set-output name=verdict;]pass", ":::", "###["])
@pytest.mark.parametrize("width", [20, 80])
def test_a_name_in_the_log_is_no_command_to_the_ci_system(name, width):
    decision = decide(run_of(10, 15), run_of(25))
    side = replace(decision.candidate, model=name, run=name)
    rules = tuple(replace(line, found=name, sentence=name) for line in decision.rules)
    console = terminal.results()
    console.width = width
    with console.capture() as capture:
        console.print(gate.render(replace(decision, candidate=side, rules=rules, sentence=name, notes=(name,))))
    assert not [line for line in capture.get().splitlines() if re.search(r"^\s*::|##\w*\[", line)]


def test_several_samples_are_shown_as_counts():
    pair = sheet(*(task(n, [LOST, LOST]) for n in range(9))), sheet(*(task(n, [WON, LOST]) for n in range(9)))

    assert "| acme__widgets-1 | 1/2 | 0/2 |" in ci.step_summary(decide(*pair))

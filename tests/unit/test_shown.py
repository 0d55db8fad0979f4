"""Text that others wrote, at every edge where it is shown: it hides nothing, and nothing of it acts."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest
import typer
from rich.table import Table
from rich.text import Text

from harness.analysis.gate import ci
from harness.analysis.gate.decision import Finding
from harness.cli import program
from harness.cli.options import print_json
from harness.cli.views import gate, terminal
from harness.core import printable
from harness.core.errors import InputError
from harness.core.instance import Outcome, Prediction
from harness.grading.grade import Grade
from harness.report.text import visible
from harness.runs.run_folder import Score, instance_report
from tests.sheets import decide, run_of

ACTS = (
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\link\x9b31m\x08\x7f\r\u202egpj\u2066\u200f\ud800\udcff"
    "[/red][link=http://evil.example]:smile:"
)
COMMANDS = "\n::error::no\n  ::set-output name=verdict::pass ##[error]no ##vso[task.complete] ##teamcity[x]"
HOSTILE = f"a{ACTS}{COMMANDS}"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def is_harmless(text: str) -> bool:
    return not RAW.search(text) and not COMMAND.search(text)


def hostile_decision():
    decision = decide(run_of(10, 15), run_of(25))
    side = replace(decision.candidate, model=HOSTILE, run=HOSTILE)
    rules = tuple(replace(line, name=HOSTILE, found=HOSTILE, sentence=HOSTILE) for line in decision.rules)
    lines = tuple(replace(line, instance_id=HOSTILE, note=HOSTILE, repo=HOSTILE) for line in decision.tasks)
    return replace(decision, candidate=side, rules=rules, tasks=lines, sentence=HOSTILE, notes=(HOSTILE,))


def hostile_report():
    prediction = Prediction(instance_id="a__b-1", model_name_or_path=HOSTILE, model_patch="x")
    grade = Grade(outcome=Outcome.APPLY_FAILED, cause="apply_failed", reason=HOSTILE)
    return instance_report(prediction, grade, key="k", digest="d")


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("a\u202eb", "a<U+202E>b"),
        ("\x1b[31mred\nline\t", "<U+001B>[31mred line"),
        ("\udcff\ud800", "<0xFF><U+D800>"),
        ("a\r\nb\rc", "a b<U+000D>c"),
        ("naïve Größe 漢字 😀", "naïve Größe 漢字 😀"),
    ],
)
def test_on_one_line_everything_has_a_look(raw, plain):
    assert printable.one_line(raw) == plain


@pytest.mark.parametrize("width", [30, 80, 500])
@pytest.mark.parametrize("of", [terminal.results, terminal.messages])
def test_whatever_is_printed_is_harmless(of, width):
    console = of()
    console.width = width
    table = Table("head", HOSTILE)
    table.add_row(HOSTILE, Text("::", style="red") + Text(HOSTILE))
    with console.capture() as held:
        for what in (HOSTILE, Text(HOSTILE, style="red"), Text("#").append("#[error]"), Text(COMMANDS.strip()), table):
            console.print(what)
    assert is_harmless(held.get())
    assert "<U+001B>[2J" in re.sub(r"[\s│┃]", "", held.get())


def test_what_is_printed_is_no_markup(capsys):
    terminal.results().print("[bold]x[/bold] :smile: [/red]")
    assert capsys.readouterr().out == "[bold]x[/bold] :smile: [/red]\n"


def test_ordinary_text_is_printed_with_its_own_style(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    console = terminal.results()
    with console.capture() as held:
        console.print(Text.assemble(("ok", "red"), " t.py::a ", ("\u202e!", "red")))
    assert held.get() == "\x1b[31mok\x1b[0m t.py::a <U+202E>\x1b[31m!\x1b[0m\n"


def test_a_verdict_on_the_terminal_is_harmless(capsys):
    with terminal.Ticker(terminal.messages(), "scoring") as ticker:
        ticker.note(HOSTILE)
        ticker.step(terminal.report_line(hostile_report()))
        terminal.RunTicker(ticker).note(HOSTILE)
    said = capsys.readouterr().err
    assert is_harmless(said)
    assert "<U+202E>gpj" in said


def test_the_display_of_a_terminal_takes_a_note_for_no_markup(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with terminal.Ticker(terminal.messages(), "mining") as ticker:
        ticker.note("[/red][bold]x")
    assert "[/red][bold]x" in capsys.readouterr().err


def test_an_error_is_harmless(capsys):
    root = typer.Typer()

    @root.command()
    def fail() -> None:
        raise InputError(HOSTILE, hint=HOSTILE)

    assert program.run_app(root, []) == 2
    assert is_harmless(capsys.readouterr().err)


def test_a_decision_is_harmless_on_a_terminal_and_in_a_log():
    console = terminal.results()
    with console.capture() as held:
        console.print(gate.render(hostile_decision()))
    assert is_harmless(held.get())


def test_junit_is_harmless():
    assert not RAW.search(ci.junit_xml(hostile_decision()))


def test_sarif_is_harmless():
    finding = Finding(
        instance_id=HOSTILE, model=HOSTILE, sample=0, tool=HOSTILE, rule=HOSTILE, path=HOSTILE, line=1, message=HOSTILE,
        severity="high", cwe=None, repo=HOSTILE,
    )  # fmt: skip
    assert not RAW.search(json.dumps(json.loads(ci.sarif_json([finding], version="1")), ensure_ascii=False))


def test_the_markdown_summary_is_harmless():
    assert is_harmless(ci.step_summary(hostile_decision()))


def test_an_annotation_holds_no_second_command():
    for line in ci.workflow_commands(hostile_decision()):
        assert not RAW.search(line)
        assert "\n" not in line
        assert re.match(r"::(error|warning|notice) title=[^:,]*::", line)


def test_the_page_is_harmless():
    assert not RAW.search(str(visible(HOSTILE)))


def test_json_output_is_ascii(capsys):
    print_json({"reason": HOSTILE})
    assert capsys.readouterr().out.isascii()


def test_scores_are_harmless():
    score = Score(model=HOSTILE, total=1, scored=1, outcomes={HOSTILE: 1})
    console = terminal.results()
    with console.capture() as held:
        console.print(terminal.score_table([score]))
    assert is_harmless(held.get())


def test_many_blank_lines_take_no_longer_than_others():
    text = "\n" * 1_000_000 + "\t ::set-output"
    assert printable.commands(text) == [text.index("::") + 1]


def test_many_number_signs_take_no_longer_than_other_characters():
    text = "#" * 200_000 + "a" * 200_000 + " ###vso["
    began = time.process_time()
    assert printable.commands(text) == [text.index("#vso[")]
    assert time.process_time() - began < 5

"""The report on a terminal: fits, is plain where it is piped, and nothing in it acts."""

from __future__ import annotations

import pytest
from rich.console import Console
from typer.testing import CliRunner

from harness.core.instance import Outcome
from harness.report import plain, work
from harness.runs.run_folder import RunFolder
from miner.cli.main import app
from tests.report_runs import SECRET_GOLD, SECRET_OUTPUT, SECRET_TEST, add, make_dataset, make_rich, make_task

ONE = "acme__widgets-100"


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    models = {"gold": 1, **{f"org/model-{number}": 0.8 - 0.12 * number for number in range(6)}}
    return make_rich(tmp_path_factory.mktemp("rich"), 30, models)


def _shown(runs, *, width=80, dataset=None):
    made = work.make(runs, dataset=dataset)
    console = Console(width=width, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        console.print(plain.display(made.found, made.said, width=width))
    return captured.get()


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(rich, width):
    shown = _shown([rich[1]], width=width, dataset=rich[0])
    assert max(map(len, shown.splitlines())) <= width


def test_the_answer_comes_first_and_then_how_sure_where_and_whether(rich):
    lines = _shown([rich[1]], dataset=rich[0]).splitlines()
    assert "model-0" in lines[0]
    assert [line.split("  ")[0] for line in lines if line.startswith(("how sure", "fails", "ship?"))] == [
        "how sure",
        "fails",
        "ship?",
    ]


def test_everything_of_the_first_screen_is_there(rich):
    shown = _shown([rich[1]], dataset=rich[0])
    for part in ("failure class", "by repository", "by difficulty", "30 tasks:", "look first at", "cost each"):
        assert part in shown


def test_the_matrix_lists_telling_tasks_only(tmp_path):
    made = []
    for number in range(30):
        name = f"acme__widgets-{100 + number}"
        made += [
            add(tmp_path, name, "alpha"),
            add(tmp_path, name, "beta", Outcome.UNRESOLVED if number == 7 else Outcome.RESOLVED),
        ]
    RunFolder(path=tmp_path).write_predictions(made)
    shown = _shown([tmp_path])
    assert "30 tasks: 29 resolved by all, 1 by some, 0 by none" in shown
    assert [line.split()[0] for line in shown.splitlines() if line.startswith("acme__")] == ["acme__widgets-107"]


def test_piped_output_holds_no_colour_code_and_nothing_hidden(rich):
    done = CliRunner().invoke(app, ["report", str(rich[1]), "--dataset", str(rich[0])])
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert [secret for secret in (SECRET_TEST, SECRET_GOLD, SECRET_OUTPUT) if secret in done.stdout] == []


def test_escape_codes_of_a_title_do_nothing(tmp_path):
    dataset = make_dataset(tmp_path / "ds", [make_task(0, statement="# \x1b[2Jgone \u202etxet\n")])
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", Outcome.UNRESOLVED)])
    shown = _shown([run], dataset=dataset.path)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "gone <U+202E>txet" in shown


def test_a_terminal_that_knows_ascii_alone_is_no_error(rich):
    done = CliRunner(charset="ascii").invoke(app, ["report", str(rich[1]), "--text"])
    assert done.exit_code == 0, done.exception
    assert done.stdout.isascii()
    assert "+ resolved" in done.stdout

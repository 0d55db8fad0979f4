"""The page as text: what it says first, what it holds, and what it must not hold."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from harness.core import wording
from harness.core.instance import Outcome
from harness.report import matrix, page
from harness.report.gather import gather
from harness.runs.run_folder import RunFolder
from miner.cli.main import app
from tests.report_runs import (
    FUNNEL,
    SECRET_GOLD,
    SECRET_OUTPUT,
    SECRET_TEST,
    add,
    make_dataset,
    make_rich,
    make_run,
    signals,
)

ONE = "acme__widgets-100"
SECRETS = (SECRET_TEST, "test_secret_place", SECRET_GOLD, SECRET_OUTPUT, "hidden_test_patch", "tests/test_a.py")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("report")
    dataset = make_dataset(place / "ds", 12)
    (dataset.path / "funnel.jsonl").write_text(FUNNEL)
    return dataset.path, make_run(place / "run", 12, {"gold": 1, "null": 0, "alpha": 0.7, "beta": 0.3})


def test_by_default_nothing_hidden_is_in_the_page(folders):
    html = page.render([folders[1]], dataset=folders[0])
    assert [secret for secret in SECRETS if secret in html] == []
    assert "Private by default" in html


def test_by_default_signals_tell_nothing_of_what_tests_wrote(tmp_path):
    dataset, run = make_rich(tmp_path, 3, {"alpha": 0.5})
    html = page.render([run], dataset=dataset)
    assert "B602" in html, "the signals are there"
    assert [secret for secret in SECRETS if secret in html] == []
    assert SECRET_OUTPUT in page.render([run], dataset=dataset, with_hidden=True)


def test_signals_and_flags_of_the_gold_patch_are_hidden(tmp_path):
    flags = [{"path": f"src/{SECRET_GOLD}.py", "sign": "exit"}]
    RunFolder(path=tmp_path).write_predictions([add(tmp_path, ONE, "gold", flags=flags, signals=signals(1))])
    view = gather([tmp_path]).predictions[0]
    assert (view.flags, view.signals) == ((), {})
    assert gather([tmp_path], with_hidden=True).predictions[0].signals["security"]["new"]


def test_signals_that_this_version_does_not_know_show_numbers_only(tmp_path):
    extra = {**signals(0), "novel": {"count": 3, "text": SECRET_TEST}}
    RunFolder(path=tmp_path).write_predictions([add(tmp_path, ONE, "alpha", signals=extra)])
    assert gather([tmp_path]).predictions[0].signals["novel"] == {"count": 3, "text": "not shown"}


def test_with_leave_everything_hidden_is_in_the_page_and_it_says_so(folders):
    html = page.render([folders[1]], dataset=folders[0], with_hidden=True)
    assert [secret for secret in SECRETS if secret not in html] == []
    assert "Do not publish it" in html


def test_the_page_asks_for_nothing_from_anywhere(folders):
    html = page.render([folders[1]], dataset=folders[0])
    assert re.findall(r"""(?:src|href)=["'](?!#|data:,)[^"']+""", html) == []
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_the_same_folders_give_the_same_page(folders):
    assert page.render([folders[1]], dataset=folders[0]) == page.render([folders[1]], dataset=folders[0])


def test_a_run_can_be_shown_without_its_dataset(folders):
    assert ONE in page.render([folders[1]])


def test_the_funnel_stands_in_the_page(folders):
    assert "311 changes examined, 40 accepted" in page.render([folders[1]], dataset=folders[0])


def test_every_closing_script_tag_is_ours(tmp_path):
    run = tmp_path / "run"
    evil = "+</script><script>alert(1)</script>\n"
    RunFolder(path=run).write_predictions([add(run, ONE, "</script><b>alpha", patch=evil)])
    html = page.render([run], with_hidden=True)
    assert html.count("</script>") == 3, "the index, the details, the script"
    assert "<b>alpha" not in html


def test_samples_that_differ_are_shown_as_a_share(tmp_path):
    run = tmp_path / "run"
    made = [add(run, ONE, "alpha"), add(run, ONE, "alpha", Outcome.UNRESOLVED, sample=1)]
    RunFolder(path=run).write_predictions(made)
    cell = matrix.rows(gather([run]))[0].cells[0]
    assert (cell.kind, cell.short) == ("mixed", "1/2")


def test_the_cell_of_a_failure_names_its_class(tmp_path):
    run = tmp_path / "run"
    RunFolder(path=run).write_predictions([add(run, ONE, "alpha", Outcome.UNRESOLVED)])
    cell = matrix.rows(gather([run]))[0].cells[0]
    assert (cell.word, cell.short) == ("unresolved: tests failed", "unresolved")


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0.0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1.0, "100%")]
)
def test_a_share_is_never_rounded_to_nothing_or_all(share, text):
    assert wording.percent(share) == text


def test_a_hundred_tasks_and_six_models_stay_a_page_of_sane_size(tmp_path):
    run = make_run(tmp_path / "run", 100, {f"model-{number}": 0.1 * number for number in range(6)})
    assert len(page.render([run])) < 1_500_000


def test_many_long_patches_are_cut(tmp_path):
    run = tmp_path / "run"
    patch = "diff --git a/x b/x\n" + "+line\n" * 200_000
    RunFolder(path=run).write_predictions([add(run, ONE, f"model-{number}", patch=patch) for number in range(20)])
    assert len(page.render([run])) < 3_000_000


def test_the_command_writes_the_page_and_prints_one_json_document(folders, tmp_path):
    out = tmp_path / "new" / "report.html"
    done = CliRunner().invoke(app, ["report", str(folders[1]), "-o", str(out), "--dataset", str(folders[0]), "--json"])
    assert done.exit_code == 0
    assert '"resolved"' in done.stdout
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_back_ticks_in_a_sentence_of_ours_become_code_and_nothing_else_becomes_a_tag():
    assert page.prose("`goldseam gate` and <b>") == "<code>goldseam gate</code> and &lt;b&gt;"

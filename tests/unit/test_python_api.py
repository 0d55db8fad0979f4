"""`import goldseam`: what the commands do, as values."""

from __future__ import annotations

import doctest
import json
import os
import sys

import pytest

import goldseam
import goldseam.api
from harness.core import process
from harness.core.instance import Outcome
from harness.judging.places import Place
from harness.runs.run_folder import RunFolder
from tests import forked
from tests.gate_runs import make_run
from tests.report_runs import add


def python(code, **options):
    return process.run([sys.executable, "-c", code], check=False, **options)


def test_its_names_are_sorted_and_each_is_there():
    assert goldseam.__all__ == sorted(goldseam.__all__)
    assert [name for name in goldseam.__all__ if not hasattr(goldseam, name)] == []


@pytest.mark.parametrize("module", [goldseam, goldseam.api])
def test_its_examples_are_true(module):
    results = doctest.testmod(module)

    assert results.attempted > 0
    assert results.failed == 0


def test_importing_it_loads_no_library_makes_no_folder_and_prints_nothing(tmp_path):
    code = "import sys, json, goldseam; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = python(code, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr)}

    assert done.stdout == b""
    assert loaded & {"docker", "git", "numpy", "openai", "pydantic", "rich", "typer", "yaml"} == set()
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_package_called_harness_is_named_at_import(tmp_path):
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").touch()
    done = python("import goldseam", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})

    assert done.returncode == 1
    assert b"goldseam needs its own package 'harness'" in done.stderr
    assert str(tmp_path).encode() in done.stderr


def test_two_runs_compare_as_the_command_compares_them(tmp_path):
    make_run(tmp_path / "base", 26)
    make_run(tmp_path / "next", 8)
    result = goldseam.compare(tmp_path / "base", goldseam.open_run(tmp_path / "next"))
    command = forked.goldseam("compare", tmp_path / "base", tmp_path / "next", "--json")
    [row] = json.loads(command.stdout)["comparisons"]

    assert result.answer == "worse" == row["answer"]
    assert result.difference == pytest.approx(row["difference"])


def test_a_run_is_not_complete_where_a_task_with_its_own_runner_could_not_be_scored(tmp_path):
    places = {"acme__widgets-1": Place.HOST, "acme__widgets-2": Place.OWN_RUNNER}
    outcomes = (Outcome.RESOLVED, Outcome.INFRA_ERROR)
    made = [
        add(tmp_path, name, "model", outcome, place=places[name])
        for name, outcome in zip(places, outcomes, strict=True)
    ]
    RunFolder(path=tmp_path).write_predictions(made)

    assert not goldseam.open_run(tmp_path).complete
    add(tmp_path, "acme__widgets-2", "model", Outcome.UNRESOLVED, place=Place.OWN_RUNNER)
    assert goldseam.open_run(tmp_path).complete


def test_runs_and_comparisons_become_data_frames(tmp_path):
    make_run(tmp_path / "base", 26)
    run = goldseam.open_run(tmp_path / "base")

    assert len(run.to_pandas()) == len(run.rows()) > 0
    assert list(goldseam.compare(run, run).to_pandas()["change"].unique()) == [0.0]


def test_without_pandas_it_says_what_to_install(tmp_path, monkeypatch):
    make_run(tmp_path / "base", 26)
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(goldseam.GoldseamError, match="needs pandas, which is not installed"):
        goldseam.open_run(tmp_path / "base").to_pandas()


def test_a_gate_without_a_baseline_asks_the_rules_that_need_none(tmp_path):
    make_run(tmp_path / "base", 26)

    assert goldseam.gate(tmp_path / "base").exit_code == 0
    assert goldseam.gate(tmp_path / "base", baseline=tmp_path / "base").exit_code == 0


def test_a_report_is_written_without_a_word_on_standard_output(tmp_path, capsys):
    make_run(tmp_path / "base", 26)
    goldseam.report(tmp_path / "base", output=tmp_path / "report.html")

    assert (tmp_path / "report.html").is_file()
    assert capsys.readouterr() == ("", "")

"""The JSON document: what it says, and the schema that it is published with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from harness.core.instance import Outcome
from harness.report import document, work
from harness.runs.run_folder import RunFolder
from miner.cli.main import app
from tests.report_runs import (
    SECRET_GOLD,
    SECRET_OUTPUT,
    SECRET_TEST,
    add,
    make_dataset,
    make_rich,
    make_run,
    make_task,
    record,
)

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "report.schema.json"
ONE = "acme__widgets-100"


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    return make_rich(tmp_path_factory.mktemp("rich"), 12, {"gold": 1, "alpha": 0.7, "beta": 0.3})


def _printed(*words):
    done = CliRunner().invoke(app, ["report", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_published_schema_is_the_one_of_this_version():
    assert SCHEMA.read_text(encoding="utf-8") == document.schema(), "python -m harness.report.document > that file"


def test_the_schema_is_a_valid_one():
    Draft202012Validator.check_schema(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_what_is_printed_keeps_to_the_schema(rich, tmp_path):
    schema = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    printed = _printed(rich[1], "--dataset", rich[0], "-o", tmp_path / "page.html")
    assert [error.message for error in schema.iter_errors(printed)] == []
    assert printed["report"] == str(tmp_path / "page.html")
    printed.pop("headline")
    assert not schema.is_valid(printed)


def test_an_unfinished_run_keeps_to_the_schema(tmp_path):
    run = make_run(tmp_path / "run", 2, {"alpha": 1, "beta": 0})
    for report in run.glob("results/*/*/*/report.json"):
        report.unlink()
    printed = _printed(run)
    assert Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).is_valid(printed)
    assert printed["models"][0]["score"]["rate"] is None


def test_unknown_cost_is_null_and_no_zero(rich):
    by_name = {model["model"]: model["cost_usd"] for model in _printed(rich[1])["models"]}
    assert by_name["gold"] == {"known": 0, "of": 12, "mean": None, "median": None, "total": None}
    assert by_name["alpha"]["mean"] > 0


def test_cohorts_sum_to_the_whole(rich):
    printed = _printed(rich[1], "--dataset", rich[0])
    scored = next(model["score"]["scored"] for model in printed["models"] if model["model"] == "alpha")
    for cohort in printed["cohorts"]:
        assert sum(group["scores"]["alpha"]["scored"] for group in cohort["groups"]) == scored


def test_the_difference_is_told_from_the_best_models_side(tmp_path):
    made = [add(tmp_path, f"acme__widgets-{100 + n}", "alpha") for n in range(8)]
    made += [add(tmp_path, f"acme__widgets-{100 + n}", "beta", Outcome.UNRESOLVED) for n in range(8)]
    RunFolder(path=tmp_path).write_predictions(made)
    found = _printed(tmp_path)["comparisons"][0]
    assert (found["best"], found["other"], found["answer"]) == ("alpha", "beta", "better")
    assert (found["difference"], found["ahead"], found["behind"]) == (1, 8, 0)
    assert found["interval"]["low"] > 0


def test_nothing_hidden_is_in_it_by_default(rich):
    printed = json.dumps(_printed(rich[1], "--dataset", rich[0]))
    assert [
        secret for secret in (SECRET_TEST, SECRET_GOLD, SECRET_OUTPUT, "test_secret_place") if secret in printed
    ] == []


def test_a_statement_that_is_no_utf8_can_be_printed(tmp_path):
    dataset = make_dataset(tmp_path / "ds", [make_task(0)])
    (dataset.task_folder(ONE) / "problem_statement.md").write_bytes(b"# \xff broken\n")
    made = work.make([make_run(tmp_path / "run", 1, {"alpha": 1})], dataset=dataset.path)
    assert json.loads(json.dumps(made.as_json()))["tasks"][0]["title"].endswith("broken")


def test_text_and_json_exclude_each_other(rich):
    done = CliRunner().invoke(app, ["report", str(rich[1]), "--json", "--text"])
    assert done.exit_code == 2 or "exclude" in str(done.exception)


def test_every_field_of_the_document_is_described():
    page = (SCHEMA.parents[1] / "report.md").read_text(encoding="utf-8")
    missing = {name for name in document.Document.model_fields if f"`{name}`" not in page}
    assert missing == set()


def test_an_empty_run_is_told_as_such(tmp_path):
    (tmp_path / "predictions.jsonl").touch()
    printed = _printed(tmp_path)
    assert (printed["headline"], printed["models"], printed["tasks"]) == ("No prediction has been scored yet", [], [])
    assert CliRunner().invoke(app, ["report", str(tmp_path), "-o", str(tmp_path / "page.html")]).exit_code == 0


def test_it_tells_where_its_runs_come_from_as_the_pages_head_does(tmp_path):
    run = make_run(tmp_path / "run", 2, {"alpha": 1})
    RunFolder(path=run).write_run(record(["alpha"], started_at="2026-11-20T02:00:00Z"))
    printed = _printed(run)
    [origin] = printed["origins"]
    written = RunFolder(path=run).record()
    names = ("started_at", "goldseam_version", "grading_version", "dataset", "dataset_version", "machine")
    assert origin == {"run": "run", **{name: getattr(written, name) for name in names}}
    assert sum(printed["judged"].values()) == len(printed["tasks"]) == 2

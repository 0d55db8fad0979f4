"""Commands write only into folders that are empty or their own."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from harness.runs import evaluate
from harness.runs.predictions import NULL
from harness.runs.run_folder import RunFolder
from harness.sandbox.executors.local import LocalExecutor
from tests import tiny
from tests.silent import Listening
from tests.unit.test_bug_in_one_prediction import Engine


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "cache"))
    return tiny.dataset(tmp_path / "dataset", tiny.task())


def score(dataset, out, model: str, **more) -> None:
    evaluate.run(
        dataset,
        [tiny.prediction(model=model)],
        out,
        sandbox=Engine(),
        executor=LocalExecutor(jobs=1),
        settings=evaluate.Settings(demands=evaluate.Demands(timeout=1.0)),
        observer=Listening(),
        **more,
    )


def models(out) -> set[str]:
    return {report.model_name_or_path for report in RunFolder(path=out).reports()}


def test_a_run_of_another_model_is_left_as_it_is(dataset, tmp_path):
    out = tmp_path / "run"
    score(dataset, out, "one")
    before = contents(out)

    with pytest.raises(InputError, match="is the run of one, not of two") as refused:
        score(dataset, out, "two")

    assert "--append" in refused.value.hint
    assert contents(out) == before
    score(dataset, out, "one")
    assert models(out) == {"one"}


def test_models_are_mixed_on_purpose(dataset, tmp_path):
    out = tmp_path / "run"
    score(dataset, out, "one")

    score(dataset, out, "two", append=True)

    assert models(out) == {"one", "two"}


def test_a_control_goes_beside_any_model(dataset, tmp_path):
    out = tmp_path / "run"
    score(dataset, out, NULL)
    score(dataset, out, "one")
    score(dataset, out, NULL)

    assert models(out) == {NULL, "one"}


def test_a_run_that_was_killed_before_it_had_a_record_goes_on(dataset, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / ".lock").touch()

    score(dataset, out, "one")

    assert models(out) == {"one"}


def test_evaluate_leaves_a_folder_alone_that_is_no_run(dataset, tmp_path):
    before = contents(dataset.path)
    predictions = tiny.write_predictions(tmp_path / "p.jsonl", {"model": tiny.GOLD})

    done = tiny.goldseam("evaluate", dataset.path, "-p", predictions, "-o", dataset.path)

    assert (done.returncode, "is not a run folder" in done.error_text) == (2, True), done.error_text
    assert contents(dataset.path) == before


def test_demo_leaves_a_folder_alone_that_is_no_demo(dataset):
    before = contents(dataset.path)

    done = tiny.goldseam("demo", "-o", dataset.path)

    assert (done.returncode, "that no demo wrote" in done.error_text) == (2, True), done.error_text
    assert contents(dataset.path) == before

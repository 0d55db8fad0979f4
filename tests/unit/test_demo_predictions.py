"""The sample predictions agree with the demo's history, and their files with SWE-bench's fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.core.errors import InputError
from harness.core.instance import INSTANCE_ID, Outcome
from miner.demo.history import DemoChange, DemoRepository, locate_data
from miner.demo.predictions import demo_models, write_predictions
from miner.sources.change import MergeStyle

DATA = locate_data()


@pytest.fixture
def repository() -> DemoRepository:
    """The history's tasks as values; no git needed."""
    keys = yaml.safe_load((DATA / "predictions.yaml").read_text(encoding="utf-8"))["models"][0]["answers"]
    changes = tuple(
        DemoChange(
            key=key,
            number=None,
            style=MergeStyle.COMMIT,
            title="",
            merge_commit="0" * 40,
            task=True,
            instance_id=f"goldseam-demo__pocketledger-{key}",
        )
        for key in keys
    )
    return DemoRepository(path=Path("unused"), name="goldseam-demo/pocketledger", changes=changes)


def test_both_models_answer_every_task(repository):
    for model in demo_models(repository, DATA):
        assert [p.instance_id for p in model.predictions] == [c.instance_id for c in repository.changes]


def test_files_hold_one_prediction_a_line_in_swe_bench_fields(repository, tmp_path):
    for path in write_predictions(repository, DATA, tmp_path):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert len(lines) == len(repository.changes)
        assert all(set(line) == {"instance_id", "model_name_or_path", "model_patch"} for line in lines)
        assert all(INSTANCE_ID.fullmatch(line["instance_id"]) for line in lines)


def test_files_are_named_after_the_models(repository, tmp_path):
    names = [path.name for path in write_predictions(repository, DATA, tmp_path / "new")]
    assert names == ["careful.jsonl", "reckless.jsonl"]


def test_the_careful_model_is_mostly_right(repository):
    careful = demo_models(repository, DATA)[0]
    outcomes = [outcome for _, outcome in careful.expected]
    assert outcomes.count(Outcome.RESOLVED) == len(outcomes) - 1


def test_the_reckless_model_is_never_right(repository):
    reckless = demo_models(repository, DATA)[1]
    assert {outcome for _, outcome in reckless.expected} == {
        Outcome.EMPTY_PATCH,
        Outcome.APPLY_FAILED,
        Outcome.UNRESOLVED,
    }


def test_a_step_that_does_not_exist_is_named(repository):
    nothing = DemoRepository(path=repository.path, name=repository.name, changes=())
    with pytest.raises(InputError, match="no step '4'"):
        demo_models(nothing, DATA)


def test_missing_data_is_an_input_error(repository, tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        demo_models(repository, tmp_path)


def test_broken_data_is_an_input_error(repository, tmp_path):
    (tmp_path / "predictions.yaml").write_text("models: 3", encoding="utf-8")
    with pytest.raises(InputError, match="not a list of models"):
        demo_models(repository, tmp_path)

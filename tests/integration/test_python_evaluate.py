"""`goldseam.evaluate` in real containers: verdicts as values, and not a word on the terminal."""

from __future__ import annotations

import json

import pytest

import goldseam
from harness.core.instance import Outcome, Prediction
from tests import tiny

pytestmark = pytest.mark.engine

FIRST, SECOND = "tiny__calc-1", "tiny__calc-2"


@pytest.fixture(scope="module")
def bench(tiny_image, tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "ds"
    tiny.dataset(path, *(tiny.task(tiny_image, instance_id=name) for name in (FIRST, SECOND)))
    return goldseam.load(path)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No verdict of an earlier test is taken over."""
    monkeypatch.setenv("GOLDSEAM_IMAGES_CACHE_DIR", str(tmp_path / "cache"))


def test_two_models_are_scored_compared_and_gated_without_a_word(bench, tmp_path, capfd):
    file = tmp_path / "predictions.jsonl"
    rows = [
        {"instance_id": name, "model_name_or_path": "base", "model_patch": tiny.fix("return 7")} for name in bench.ids
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = goldseam.evaluate(bench, file, output=tmp_path / "base")
    better = [tiny.prediction(model="next", instance_id=name) for name in bench.ids]
    candidate = goldseam.evaluate(bench.path, better, output=tmp_path / "next", jobs=2)

    assert (base.complete, candidate.complete) == (True, True)
    assert {row["outcome"] for row in base.rows()} == {"unresolved"}
    assert {row["outcome"] for row in candidate.rows()} == {"resolved"}
    assert (candidate.scores["next"].rate.value, base.scores["base"].rate.value) == (1.0, 0.0)
    result = goldseam.compare(base, candidate)
    assert [(row["instance_id"], row["change"]) for row in result.rows()] == [(FIRST, 1.0), (SECOND, 1.0)]
    assert result.difference == 1.0
    (tmp_path / "goldseam.toml").write_text(f'[gate]\nmin_tasks = 1\nrequire = "inside"\nmust_pass = ["{FIRST}"]\n')
    gates = [
        goldseam.gate(run, baseline=other, config=tmp_path / "goldseam.toml").exit_code
        for run, other in ((candidate, base), (base, candidate))
    ]
    assert gates == [3, 1]  # two tasks are too few to rule a drop out, but not to break a rule
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("control", "resolved"), [("gold", True), ("null", False)])
def test_controls_are_scored_by_their_name(bench, tmp_path, control, resolved):
    run = goldseam.evaluate(bench, control, output=tmp_path / "run", split="all")

    assert [(report.instance_id, report.resolved) for report in run.reports] == [(FIRST, resolved), (SECOND, resolved)]


def test_the_same_call_again_scores_only_what_is_new(bench, tmp_path):
    run = goldseam.evaluate(bench, [tiny.prediction(instance_id=FIRST)], output=tmp_path / "run")
    assert len(run.reports) == 1
    stamp = next(run.path.glob(f"results/model/{FIRST}/*/report.json")).stat().st_mtime_ns
    goldseam.evaluate(bench, [tiny.prediction(instance_id=name) for name in bench.ids], output=run.path)

    assert len(run.reports) == 2
    assert next(run.path.glob(f"results/model/{FIRST}/*/report.json")).stat().st_mtime_ns == stamp


def test_what_infrastructure_failed_at_does_not_raise(tmp_path, capfd):
    tiny.dataset(tmp_path / "ds", tiny.task())
    run = goldseam.evaluate(tmp_path / "ds", [tiny.prediction()], output=tmp_path / "run")

    assert [report.outcome for report in run.reports] == [Outcome.INFRA_ERROR]
    assert not run.complete
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([Prediction(instance_id="acme__gone-1", model_name_or_path="m", model_patch="")], "gone-1"),
        ("no/such/file.jsonl", "no/such/file.jsonl"),
        ([], "no prediction to score"),
    ],
)
def test_unusable_predictions_raise_what_the_command_would_have_ended_with(bench, tmp_path, predictions, message):
    with pytest.raises(goldseam.GoldseamError, match=message) as raised:
        goldseam.evaluate(bench, predictions, output=tmp_path / "run")
    assert raised.value.exit_code == 2
    assert not (tmp_path / "run").exists()

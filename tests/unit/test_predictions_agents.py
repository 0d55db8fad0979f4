"""Predictions as SWE-agent, mini-swe-agent and OpenHands leave them."""

from __future__ import annotations

import json

import pytest

from harness.core.errors import InputError
from harness.runs.predictions import read_predictions
from tests import tiny
from tests.program import goldseam

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
MODEL = "default__gpt__t-0.00__p-1.00__c-3.00___swe"


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def sweagent(folder, instance_id, patch=PATCH, **stats):
    stats = {"instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 100, "api_calls": 7, **stats}
    info = {"exit_status": "submitted", "submission": patch, "model_stats": stats}
    write(folder / instance_id / f"{instance_id}.traj", {"trajectory": [], "history": [], "info": info})
    value = {"model_name_or_path": MODEL, "instance_id": instance_id, "model_patch": patch}
    write(folder / instance_id / f"{instance_id}.pred", value)
    return value


def mini(folder, instance_id, *, cost=0.25, patch=PATCH):
    usage = {"usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}}
    messages = [{"role": "user", "content": "x"}, *({"role": "assistant", "extra": {"response": usage}} for _ in "12")]
    info = {"model_stats": {"instance_cost": cost, "api_calls": 2}, "exit_status": "Submitted", "submission": patch,
            "config": {"model": {"model_name": "org/model"}}}  # fmt: skip
    trajectory = {
        "info": info,
        "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": instance_id,
    }
    write(folder / instance_id / f"{instance_id}.traj.json", trajectory)
    return {"model_name_or_path": "org/model", "instance_id": instance_id, "model_patch": patch}


def openhands(instance_id, patch=PATCH, **more):
    usage = {"model": "m", "prompt_tokens": 500, "completion_tokens": 20, "cache_read_tokens": 100}
    metrics = {"accumulated_cost": 1.5, "accumulated_token_usage": usage,
               "response_latencies": [{"model": "m", "latency": 2.0}, {"model": "m", "latency": 3.5}]}  # fmt: skip
    return {
        "instance_id": instance_id,
        "test_result": {"git_patch": patch},
        "instruction": "Mend it.",
        "metadata": {"agent_class": "CodeActAgent", "llm_config": {"model": "org/model", "temperature": 0.0}},
        "history": [],
        "metrics": metrics,
        "error": None,
        "instance": {"patch": "the gold patch", "repo": "a/b"},
        **more,
    }


def test_swe_agents_folder_is_read_by_its_pred_files_with_what_each_cost(tmp_path):
    sweagent(tmp_path, "a__b-1")
    sweagent(tmp_path, "a__b-2", patch=None)
    first, second = read_predictions(tmp_path)
    assert (first.instance_id, first.model_name_or_path, first.model_patch) == ("a__b-1", MODEL, PATCH)
    assert first.extra == {"cost_usd": 0.5, "tokens": {"prompt_tokens": 900, "completion_tokens": 100}}
    assert second.model_patch is None


def test_one_pred_file_is_read_alone(tmp_path):
    sweagent(tmp_path, "a__b-1")
    (found,) = read_predictions(tmp_path / "a__b-1/a__b-1.pred")
    assert found.extra["cost_usd"] == 0.5


def test_merged_predictions_of_swe_agent_stand_for_its_folder(tmp_path):
    write(tmp_path / "preds.json", {"a__b-1": sweagent(tmp_path, "a__b-1", patch="")})
    sweagent(tmp_path, "a__b-2")
    (found,) = read_predictions(tmp_path)
    assert (found.instance_id, found.model_patch, found.extra["cost_usd"]) == ("a__b-1", "", 0.5)


def test_mini_swe_agents_folder_and_file_say_the_same(tmp_path):
    write(tmp_path / "preds.json", {"a__b-1": mini(tmp_path, "a__b-1")})
    assert read_predictions(tmp_path) == read_predictions(tmp_path / "preds.json")
    (found,) = read_predictions(tmp_path)
    assert found.extra == {"cost_usd": 0.25, "tokens": {"prompt_tokens": 80, "completion_tokens": 4}}


def test_trajectories_alone_are_enough(tmp_path):
    mini(tmp_path, "a__b-1")
    mini(tmp_path, "a__b-2", patch="")
    assert [(one.instance_id, one.model_name_or_path, one.model_patch) for one in read_predictions(tmp_path)] == [
        ("a__b-1", "org/model", PATCH),
        ("a__b-2", "org/model", ""),
    ]


def test_a_cost_of_nothing_for_calls_that_were_made_is_unknown(tmp_path):
    write(tmp_path / "preds.json", {"a__b-1": mini(tmp_path, "a__b-1", cost=0)})
    (found,) = read_predictions(tmp_path)
    assert "cost_usd" not in found.extra


def test_a_trajectory_that_cannot_be_read_costs_no_prediction(tmp_path):
    write(tmp_path / "preds.json", {"a__b-1": mini(tmp_path, "a__b-1")})
    (tmp_path / "a__b-1/a__b-1.traj.json").write_text("{")
    (found,) = read_predictions(tmp_path)
    assert (found.model_patch, found.extra) == (PATCH, {})


def test_openhands_output_is_read_with_cost_tokens_and_time(tmp_path):
    rows = [openhands("a__b-1"), openhands("a__b-2", patch="", error="it gave up")]
    (tmp_path / "output.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = read_predictions(tmp_path)
    assert (first.model_name_or_path, first.model_patch) == ("org/model", PATCH)
    tokens = {"prompt_tokens": 500, "completion_tokens": 20}
    assert first.extra == {"cost_usd": 1.5, "tokens": tokens, "latency_seconds": 5.5, "temperature": 0.0}
    assert (second.model_patch, second.extra["error"]) == ("", "it gave up")


def test_nothing_of_the_benchmark_that_openhands_saved_comes_along(tmp_path):
    (tmp_path / "output.jsonl").write_text(json.dumps(openhands("a__b-1")))
    assert "gold patch" not in repr(read_predictions(tmp_path / "output.jsonl"))


def test_the_model_name_fills_in_where_a_file_has_none(tmp_path):
    rows = [openhands("a__b-1"), openhands("a__b-2", metadata=None)]
    path = tmp_path / "output.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [one.model_name_or_path for one in read_predictions(path, model_name="mine")] == ["org/model", "mine"]
    with pytest.raises(InputError, match=r"line 2 names no model"):
        read_predictions(path)


def test_evaluate_takes_the_model_name_for_predictions_without_one(tmp_path):
    made = tiny.dataset(tmp_path / "dataset", tiny.task())
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(openhands("not-of-this-dataset", metadata=None)))
    argv = ("evaluate", made.path, "-p", path, "-o", tmp_path / "run")
    done = goldseam(*argv)
    assert (done.returncode, "--model-name" in done.error_text) == (2, True)
    assert "not-of-this-dataset" in goldseam(*argv, "--model-name", "mine").error_text


def test_a_folder_without_predictions_says_what_was_looked_for(tmp_path):
    with pytest.raises(InputError, match=r"holds no predictions: expected preds\.json"):
        read_predictions(tmp_path)


def test_an_instance_id_that_is_no_name_reads_no_file(tmp_path):
    outside = tmp_path / "outside.traj"
    outside.write_text(json.dumps({"info": {"model_stats": {"instance_cost": 9.0}}}))
    write(tmp_path / "run/preds.json", {"../outside": {"model_name_or_path": "m", "model_patch": ""}})
    (found,) = read_predictions(tmp_path / "run")
    assert found.extra == {}

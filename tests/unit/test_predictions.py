"""Predictions in each form that SWE-bench's tools write."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.instance import Prediction
from harness.predictions import as_json, read_predictions

ONE = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": "x", "cost": 3}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.jsonl", json.dumps(ONE) + "\n\n"),
        ("p.json", json.dumps([ONE])),
        ("p.json", json.dumps(ONE, indent=2)),
        ("p.json", json.dumps({"a__b-1": {key: ONE[key] for key in ONE if key != "instance_id"}})),
        ("p.json", json.dumps({"a__b-1": ONE})),
        ("preds", json.dumps(ONE) + "\n" + ""),
    ],
)
def test_every_form_is_read_alike(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    (found,) = read_predictions(tmp_path / name)
    assert as_json(found) == {**ONE, "sample": 0}


@pytest.mark.parametrize(
    "value", [{"a__b-2": ONE}, {"a__b-1": [1]}, [[]], 5, [], [{**ONE, "sample": True}], [{**ONE, "instance_id": " "}]]
)
def test_what_is_no_prediction_is_refused(value, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(value))
    with pytest.raises(InputError):
        read_predictions(tmp_path / "p.json")


def test_an_id_twice_in_an_object_is_refused(tmp_path):
    (tmp_path / "p.json").write_text('{"a__b-1": {}, "a__b-1": {}}')
    with pytest.raises(InputError, match="given twice"):
        read_predictions(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("text", "data"), [("\udce9", b"\xe9"), ("\ud800", b"\xed\xa0\x80"), (None, b""), ("é", b"\xc3\xa9")]
)
def test_every_text_that_json_can_hold_has_bytes(text, data):
    assert Prediction(instance_id="a", model_name_or_path="m", model_patch=text).patch_bytes() == data


@pytest.mark.parametrize("name", ["gold", "null", "Gold", " NULL "])
def test_a_prediction_under_the_name_of_a_control_is_refused(tmp_path, name):
    path = tmp_path / "p.jsonl"
    row = {"instance_id": "a__b-1", "model_name_or_path": name, "model_patch": None, "withheld": True}
    path.write_text(json.dumps(row) + "\n")

    with pytest.raises(InputError, match="a name that goldseam keeps for its own controls"):
        read_predictions(path)


def test_no_control_is_made_by_model_name_either(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"instance_id": "a__b-1", "model_patch": "x"}) + "\n")

    with pytest.raises(InputError, match="controls"):
        read_predictions(path, model_name="gold")


def test_a_run_reads_its_own_controls_back(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"instance_id": "a__b-1", "model_name_or_path": "gold", "model_patch": "x"}) + "\n")

    assert [one.model_name_or_path for one in read_predictions(path, reserved=True)] == ["gold"]

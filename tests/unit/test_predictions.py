"""Predictions in each form that SWE-bench's tools write."""

from __future__ import annotations

import json
import os
import threading
import tracemalloc
from dataclasses import replace

import pytest

from harness.core.errors import InputError
from harness.core.instance import Outcome, Prediction
from harness.grading.scoring import Demands
from harness.runs import verdict
from harness.runs.predictions import as_json, read_predictions
from harness.runs.run_folder import RunFolder, instance_report, merge_predictions
from tests import tiny

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
    (tmp_path / "p.json").write_text(f'{{"a__b-1": {json.dumps(ONE)}, "a__b-1": {json.dumps(ONE)}}}')
    with pytest.raises(InputError, match="given twice"):
        read_predictions(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("text", "data"), [("\udce9", b"\xe9"), ("\ud800", b"\xed\xa0\x80"), (None, b""), ("é", b"\xc3\xa9")]
)
def test_every_text_that_json_can_hold_has_bytes(text, data):
    assert Prediction(instance_id="a", model_name_or_path="m", model_patch=text).patch_bytes() == data


LONG = "x" * 12_000_000
DEEP = "[" * 5000 + "]" * 5000
DIGITS = "7" * 5000


def line(patch: str, *, sample: int = 1, **more: str) -> str:
    """A prediction whose values are JSON already."""
    fields = {
        "instance_id": '"a__b-1"',
        "model_name_or_path": '"m"',
        "model_patch": patch,
        "sample": str(sample),
        **more,
    }
    return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"


TOO_MUCH = {
    "long": json.dumps(LONG),
    "deep": DEEP,
    "a number": DIGITS,
    "long and deep": "[" * 3_000_000 + "]" * 3_000_000,
}
FORMS = {
    "p.jsonl": lambda bad: f"{line('null', sample=0)}\n\n{bad}\r\n{line('null', sample=2)}",
    "p": lambda bad: f"{line('null', sample=0)}\n{bad}\n{line('null', sample=2)}\n",
    "p.json": lambda bad: f"[{line('null', sample=0)},\n {bad}, {line('null', sample=2)}]\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("patch", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_patch_that_is_too_much_is_one_bad_prediction_and_the_others_are_read(form, patch, tmp_path):
    (tmp_path / form).write_text(FORMS[form](line(patch)))
    first, bad, last = read_predictions(tmp_path / form)
    assert [one.sample for one in (first, bad, last)] == [0, 1, 2]
    assert (bad.model_patch, first.not_read, last.not_read) == (None, "", "")
    assert bad.not_read.startswith("its model_patch has ")
    assert bad.not_read.endswith(", more than is read")


def test_in_an_object_by_id_too_it_is_one_bad_prediction(tmp_path):
    (tmp_path / "preds.json").write_text(
        f'{{"a__b-1": {line(json.dumps(LONG))}, "a__b-2": {json.dumps({**ONE, "instance_id": "a__b-2"})}}}'
    )
    bad, good = read_predictions(tmp_path / "preds.json")
    assert (bad.instance_id, bad.not_read) == ("a__b-1", "its model_patch has 12000002 bytes, more than is read")
    assert (good.instance_id, good.model_patch) == ("a__b-2", "x")


@pytest.mark.parametrize(
    "fields",
    [
        {"git_patch": LONG},
        {"test_result": {"git_patch": LONG}},
    ],
)
def test_a_patch_of_openhands_that_is_too_much_keeps_its_model(fields, tmp_path):
    row = {"instance_id": "a__b-1", "metadata": {"llm_config": {"model": "m"}}, "history": [LONG], **fields}
    (tmp_path / "output.jsonl").write_text(json.dumps(row) + "\n")
    (bad,) = read_predictions(tmp_path)
    assert (bad.model_name_or_path, bad.model_patch) == ("m", None)
    assert "more than is read" in bad.not_read


def test_a_trajectory_whose_patch_is_too_much_keeps_its_id(tmp_path):
    row = {"info": {"submission": LONG * 2}, "messages": [LONG]}
    (tmp_path / "a__b-1.traj").write_text(json.dumps(row))
    (bad,) = read_predictions(tmp_path, model_name="m")
    assert (bad.instance_id, bad.model_patch) == ("a__b-1", None)
    assert bad.not_read.startswith("its info has 24")


@pytest.mark.parametrize("value", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_field_beside_the_patch_that_is_too_much_is_left_out_and_named(value, tmp_path):
    (tmp_path / "p.jsonl").write_text(line('"diff"', cost="3", history=value) + "\n")
    (found,) = read_predictions(tmp_path / "p.jsonl")
    assert (found.model_patch, found.not_read, found.extra) == ("diff", "", {"cost": 3, "fields_left_out": ["history"]})


def test_a_number_for_a_patch_of_ordinary_length_is_refused_as_ever(tmp_path):
    (tmp_path / "p.jsonl").write_text(line("7") + "\n")
    with pytest.raises(InputError, match="found a number"):
        read_predictions(tmp_path / "p.jsonl")


@pytest.mark.parametrize("name", ["instance_id", "model_name_or_path", "sample"])
def test_whose_prediction_it_is_has_to_be_readable(name, tmp_path):
    (tmp_path / "p.jsonl").write_text(line("null", **{name: DIGITS}) + "\n")
    with pytest.raises(InputError, match=rf"line 1: {name} has 5000 bytes"):
        read_predictions(tmp_path / "p.jsonl")


@pytest.mark.parametrize("end", ["", ', "b"', ', "b": 1} x', ', "model_patch": 1}'])
def test_a_long_line_that_is_no_json_is_refused_by_its_number(end, tmp_path):
    (tmp_path / "p.jsonl").write_text(f"{line('null')}\n{line(json.dumps(LONG))[:-1]}{end}\n{line('null', sample=2)}\n")
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read_predictions(tmp_path / "p.jsonl")


def test_a_line_too_long_to_be_read_costs_little_memory(tmp_path):
    with (tmp_path / "p.jsonl").open("w") as file:
        head, _, tail = line('"\0"').partition("\0")
        file.write(head)
        for _ in range(64):
            file.write("x" * (1 << 20))
        file.write(f"{tail}\n{line('null', sample=2)}\n")
    tracemalloc.start()
    try:
        assert len(read_predictions(tmp_path / "p.jsonl")) == 2
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_a_prediction_that_was_not_read_is_refused_with_its_reason(tmp_path):
    (tmp_path / "p.jsonl").write_text(line(DIGITS) + "\n")
    (bad,) = read_predictions(tmp_path / "p.jsonl")
    looked = verdict.look(tiny.task(), bad)
    assert looked.refused.outcome is Outcome.APPLY_FAILED
    assert "its model_patch has a number of 5000 digits" in looked.refused.reason
    report = instance_report(bad, looked.refused)
    assert (report.patch_is_None, report.patch_exists) == (False, True)


def test_a_run_folder_keeps_it_as_it_is_and_knows_it_from_another(tmp_path):
    (tmp_path / "p.jsonl").write_text(line(DIGITS) + "\n")
    (bad,) = read_predictions(tmp_path / "p.jsonl")
    folder = RunFolder(path=tmp_path / "run")
    folder.path.mkdir()
    folder.write_predictions([bad])
    assert folder.predictions() == (bad,)
    none = replace(bad, extra={})
    with pytest.raises(InputError, match="already holds another patch"):
        merge_predictions([bad], [none])
    assert verdict.key_of("d", bad, Demands()) != verdict.key_of("d", none, Demands())


def test_predictions_may_come_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writing = threading.Thread(
        target=(tmp_path / "pipe").write_text, args=(f"{line('null')}\n{line(DIGITS, sample=2)}\n",)
    )
    writing.start()
    assert [bool(one.not_read) for one in read_predictions(tmp_path / "pipe")] == [False, True]
    writing.join()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "standard input is empty: expected predictions"),
        ("3", "standard input: expected a list or an object"),
        ("{", "standard input, line 1"),
    ],
)
def test_a_pipe_that_brings_no_predictions_is_refused_by_name(tmp_path, text, message):
    dataset = tiny.dataset(tmp_path / "ds", tiny.task())
    done = tiny.goldseam("evaluate", dataset.path, "-p", "-", "-o", tmp_path / "run", said=text.encode())
    assert (done.returncode, message in done.error_text) == (2, True), done.error_text


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

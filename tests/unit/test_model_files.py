"""How YAML files of a dataset are read."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import yaml

from harness.core import instance
from harness.core.errors import InputError
from harness.dataset import model_files, schema
from harness.dataset.model_files import read_model, read_yaml, write_model
from harness.dataset.schema import DatasetModel, TaskModel

PATH = Path("task.yaml")
TEXTS = (
    "a: 1\nb: [x, 2.5, null, true]\n",
    "when: 2026-01-01T00:00:00Z\nday: 2026-01-01\n",
    "text: |\n  two\n  lines\nshort: 'it''s'\n",
    "- {a: [1, 2], b: ~}\n- 0x1F\n- 1:30\n",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("fast", [True, False], ids=["with libyaml", "without libyaml"])
def test_a_file_means_the_same_to_both_loaders(text, fast, monkeypatch):
    if not fast:
        monkeypatch.setattr(model_files, "_FAST", None)
    assert read_yaml(text, PATH) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: [1", "a: b: c", "\ta: 1", "a: \x00", "a: !!python/object:os.system 1"])
def test_what_is_no_yaml_is_told(text):
    with pytest.raises(yaml.YAMLError):
        read_yaml(text, PATH)


@pytest.mark.parametrize("level", ["[", "{a: "])
def test_a_file_of_many_levels_is_refused_and_does_not_end_the_process(tmp_path, level):
    path = tmp_path / "task.yaml"
    path.write_text("a: " + level * 100_000)
    with pytest.raises(InputError, match="line 1: a dataset may not hold more than 50 levels"):
        read_model(path, TaskModel)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: &x [1]\n", r"task.yaml, line 2: .* an anchor \(&x\)"),
        ("a: 1\nb: *x\n", r"task.yaml, line 2: .* an alias \(\*x\)"),
        ("a:\n  <<: *base\n", r"task.yaml, line 2: .* an alias"),
        ("a: " + "[" * 60 + "]" * 60 + "\nb: &x 1", "line 1: .* levels"),
        ("a: 1" + ":2" * 100_000, "line 1: .* a number of 200001 characters"),
    ],
)
def test_what_makes_a_small_file_large_or_slow_is_refused_with_its_line(tmp_path, text, told):
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(InputError, match=told):
        read_model(tmp_path / "task.yaml", TaskModel)


def test_a_value_that_occurs_twice_is_written_out_twice(tmp_path):
    shared = {"deep": [1]}
    write_model(tmp_path / "dataset.yaml", DatasetModel(name="x", splits={"a": shared, "b": shared}))
    assert read_model(tmp_path / "dataset.yaml", DatasetModel).splits == {"a": shared, "b": shared}


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "dataset.yaml"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="yaml has 1099511627776 bytes"):
        read_model(path, DatasetModel)


RECORDS = {
    instance.Budgets: schema.BudgetsModel,
    instance.Service: schema.ServiceModel,
    instance.Build: schema.BuildModel,
    instance.Declared: schema.DeclaredModel,
    instance.TestSpec: schema.TestModel,
}


def test_a_record_has_the_fields_and_the_defaults_that_its_file_has():
    for record, model in RECORDS.items():
        fields = {field.name: field for field in dataclasses.fields(record) if field.name != "extra"}
        assert fields.keys() == model.model_fields.keys(), record
        required = {name: "x" for name, field in model.model_fields.items() if field.is_required()}
        ours, theirs = record(**required), model.model_construct(**required)
        assert {name: getattr(ours, name) for name in fields} == {name: getattr(theirs, name) for name in fields}

"""How YAML files of a dataset are read."""

from __future__ import annotations

import pytest
import yaml

from harness.dataset import model_files
from harness.dataset.model_files import read_model, read_yaml
from harness.dataset.schema import TaskModel
from harness.errors import InputError

TEXTS = (
    "a: 1\nb: [x, 2.5, null, true]\n",
    "when: 2026-01-01T00:00:00Z\nday: 2026-01-01\n",
    "text: |\n  two\n  lines\nshort: 'it''s'\n",
    "- {a: &x [1, 2], b: *x}\n- 0x1F\n",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("fast", [True, False], ids=["with libyaml", "without libyaml"])
def test_a_file_means_the_same_to_both_loaders(text, fast, monkeypatch):
    if not fast:
        monkeypatch.setattr(model_files, "_FAST", None)
    assert read_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: [1", "a: b: c", "\ta: 1", "a: \x00", "a: !!python/object:os.system 1"])
def test_what_is_no_yaml_is_told(text):
    with pytest.raises(yaml.YAMLError):
        read_yaml(text)


@pytest.mark.parametrize("level", ["[", "{a: "])
def test_a_file_of_many_levels_is_refused_and_does_not_end_the_process(tmp_path, level):
    path = tmp_path / "task.yaml"
    path.write_text("a: " + level * 100_000)
    with pytest.raises(InputError, match="is not YAML"):
        read_model(path, TaskModel)

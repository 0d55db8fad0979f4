"""Exports: what is in them, what is not, and what is told of them."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace

import pytest
import yaml

from harness.core.errors import InputError
from harness.core.instance import TaskState, TestSpec
from harness.dataset.ledger import ledger
from harness.interop import rows
from harness.interop.base import Collection, Exported
from harness.interop.export import FORMATS, export
from tests import tiny
from tests.program import goldseam

FOLDERS = [name for name, form in FORMATS.items() if form.folder]
DIGEST = "registry.example/team/calc@sha256:" + "1" * 64


@pytest.fixture
def dataset(tmp_path):
    return tiny.dataset(tmp_path / "dataset", tiny.task(), tiny.task(DIGEST, instance_id="tiny__calc-2"))


def hidden_of(dataset):
    return lambda instance_id: dataset.task(instance_id).hidden


def written(out):
    return [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]


def row_of(task, *, canary="goldseam-canary 1"):
    exported = Exported(instance=task.instance, hidden=task.hidden)
    collection = Collection(name="d", version=1, canary=canary, tasks=[exported], hidden=True)
    return rows.row(collection, exported)


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ({"place": "mixed", "guessable": False}, ("mixed", "no")),
        ({"place": "host", "guessable": True}, ("host", "yes")),
        ({}, ("", "")),
    ],
)
def test_a_row_tells_where_the_task_is_judged(card, told):
    task = tiny.task()
    row = row_of(replace(task, instance=replace(task.instance, quality={"judged": card})))

    assert (row["judged"], row["guessable"]) == told


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("hidden", [True, False])
def test_every_file_of_every_format_has_the_canary(dataset, tmp_path, name, hidden):
    export(dataset, tmp_path / "out", to=name, hidden_of=hidden_of(dataset) if hidden else None)
    found = written(tmp_path / "out")
    assert found
    assert not [path for path in found if dataset.canary.encode() not in path.read_bytes()]


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_hidden_is_in_an_export_unless_it_was_asked_for(dataset, tmp_path, name):
    export(dataset, tmp_path / "public", to=name)
    export(dataset, tmp_path / "whole", to=name, hidden_of=hidden_of(dataset))
    public, whole = (b"".join(path.read_bytes() for path in written(tmp_path / out)) for out in ("public", "whole"))
    assert b"test_two" in whole
    assert not [word for word in (b"test_two", b"test_zero", b"return a + b") if word in public]


@pytest.mark.parametrize("hidden", [True, False])
def test_an_export_is_in_the_ledger_with_its_format_and_side(dataset, tmp_path, hidden):
    export(
        dataset, tmp_path / "rows", to="jsonl", hidden_of=hidden_of(dataset) if hidden else None, ids=["tiny__calc-2"]
    )
    entry = ledger.read(dataset)[-1]
    assert (entry.event, entry.tasks) == ("exported", ("tiny__calc-2",))
    assert (entry.facts["format"], entry.facts["hidden"]) == ("jsonl", hidden)


def test_an_export_with_the_hidden_side_warns_and_one_without_does_not(dataset, tmp_path):
    argv = ("holdout", "export", dataset.path, "--format", "jsonl", "-o", tmp_path / "rows")
    assert "hidden tests and fixes in the clear" in goldseam(*argv, "--with-hidden").error_text
    assert "in the clear" not in goldseam(*argv).error_text


def test_json_on_standard_output_is_one_document(dataset, tmp_path):
    done = goldseam(
        "holdout", "export", dataset.path, "--format", "harbor", "--with-hidden", "-o", tmp_path / "o", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["format"], found["hidden"], found["tasks"]) == ("harbor", True, ["tiny__calc-1", "tiny__calc-2"])


def test_images_that_nobody_else_can_pull_are_told(dataset, tmp_path):
    notes = export(dataset, tmp_path / "rows", to="jsonl").notes
    assert any("1 task, such as tiny__calc-1, are ids of this machine's engine" in note for note in notes)
    assert export(dataset, tmp_path / "rows", to="jsonl", ids=["tiny__calc-2"]).notes == ()


def test_a_registrys_digest_is_the_image_of_an_export(dataset, tmp_path):
    export(dataset, tmp_path / "o", to="harbor", ids=["tiny__calc-2"])
    task = tomllib.loads((tmp_path / "o/tiny__calc-2/task.toml").read_text())
    assert task["environment"]["docker_image"] == DIGEST
    assert f"FROM {DIGEST}\n" in (tmp_path / "o/tiny__calc-2/environment/Dockerfile").read_text()


def test_only_proved_tasks_of_the_split_are_exported(tmp_path):
    tasks = [tiny.task(instance_id=f"tiny__calc-{n}") for n in (1, 2, 3)]
    dev = replace(tasks[1], instance=replace(tasks[1].instance, split="dev"))
    made = tiny.dataset(tmp_path / "d", tasks[0], dev, tiny.with_state(tasks[2], TaskState.QUARANTINED))
    assert export(made, tmp_path / "a", to="jsonl").tasks == ("tiny__calc-1", "tiny__calc-2")
    assert export(made, tmp_path / "a", to="jsonl", split="dev").tasks == ("tiny__calc-2",)
    assert export(made, tmp_path / "a", to="jsonl", ids=["tiny__calc-3"]).tasks == ("tiny__calc-3",)
    with pytest.raises(InputError, match="split 'train'") as caught:
        export(made, tmp_path / "a", to="jsonl", split="train")
    assert caught.value.hint == "there are: dev, holdout"


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_holds_something_is_not_written_over(dataset, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("precious")
    with pytest.raises(InputError, match="already exists"):
        export(dataset, tmp_path / "out", to=name)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_an_export_that_fails_leaves_nothing_behind(dataset, tmp_path):
    candidate = tiny.task(None, instance_id="tiny__calc-3")
    made = tiny.dataset(tmp_path / "d", candidate)
    with pytest.raises(InputError, match="has no image yet"):
        export(made, tmp_path / "out", to="harbor", ids=["tiny__calc-3"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "dataset"]
    assert [entry.event for entry in ledger.read(made)] == [ledger.Event.CREATED, ledger.Event.BOUND]


def test_suites_that_swebench_could_not_read_are_refused_and_nothing_is_written(tmp_path):
    task = tiny.task(spec=TestSpec(framework="unittest"))
    made = tiny.dataset(tmp_path / "d", task)
    with pytest.raises(InputError, match="its tests run by unittest"):
        export(made, tmp_path / "out", to="swebench", hidden_of=hidden_of(made))
    assert not (tmp_path / "out").exists()


def test_rows_of_suites_that_swebench_could_not_read_have_no_script_and_that_is_noted(tmp_path):
    made = tiny.dataset(tmp_path / "d", tiny.task(spec=TestSpec(framework="unittest")))
    found = export(made, tmp_path / "out", to="jsonl", hidden_of=hidden_of(made))
    row = json.loads((tmp_path / "out").read_text())
    assert (row["eval_script"], row["log_parser"]) == ("", "")
    assert row["FAIL_TO_PASS"] != "[]"
    assert any("no eval_script" in note and "unittest" in note for note in found.notes)


def test_a_format_that_is_none_is_answered_with_those_that_are(dataset, tmp_path):
    with pytest.raises(InputError, match="expected swebench, harbor, inspect, jsonl or parquet, found"):
        export(dataset, tmp_path / "out", to="csv")


def test_parquet_without_its_package_names_the_extra(dataset, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError) as caught:
        export(dataset, tmp_path / "rows.parquet", to="parquet")
    assert "[parquet]" in caught.value.hint


def test_test_ids_that_swe_benchs_parser_would_change_are_left_out_and_counted(tmp_path):
    ids = ["t.py::test_two", "t.py::test[a  b]", "t.py::test[[5m]", "t.py::test[a b]"]
    made = tiny.dataset(tmp_path / "d", tiny.task(DIGEST, fail_to_pass=ids[:1], pass_to_pass=ids[1:]))
    done = export(made, tmp_path / "rows", to="jsonl", hidden_of=hidden_of(made))
    assert any(note.startswith("left out: 2 test ids of 1 task") for note in done.notes)
    row = json.loads((tmp_path / "rows").read_text())
    assert json.loads(row["PASS_TO_PASS"]) == ["t.py::test[a b]"]


def test_a_task_that_nothing_would_grade_is_refused(tmp_path):
    made = tiny.dataset(tmp_path / "d", tiny.task(DIGEST, fail_to_pass=["t.py::test[a  b]"]))
    with pytest.raises(InputError, match="nothing would grade it"):
        export(made, tmp_path / "rows", to="jsonl", hidden_of=hidden_of(made))


def test_a_gold_patch_that_is_no_text_is_refused_by_name(tmp_path):
    task = tiny.task(DIGEST)
    made = tiny.dataset(tmp_path / "d", replace(task, hidden=replace(task.hidden, gold_patch=b"--- a/x\n\xff")))
    with pytest.raises(InputError, match=r"tiny__calc-1: its gold patch is not UTF-8 \(byte 8\)"):
        export(made, tmp_path / "rows", to="jsonl", hidden_of=hidden_of(made))


def test_a_test_patch_with_carriage_returns_reaches_the_script_packed():
    task = tiny.task(tests={"tests/test_dos.py": (None, "def test_a():\r\n    pass\r\n")})
    assert "base64 -d <<'EOF_TESTS' | git apply" in row_of(task)["eval_script"]


def test_the_script_takes_back_what_a_patch_did_to_the_hidden_tests_files():
    new = tiny.task(tests={"tests/test_new.py": (None, "def test_a():\n    pass\n")})
    assert "rm -f -- tests/test_new.py\n" in row_of(new)["eval_script"]
    assert "git checkout -q HEAD -- tests/test_calc.py\n" in row_of(tiny.task())["eval_script"]


def test_what_a_repository_needs_to_be_imported_is_in_the_script():
    task = tiny.task()
    spec = replace(task.instance.test, pythonpath=("src", "."), env={"HOME": "/tmp/a b"})
    script = row_of(replace(task, instance=replace(task.instance, test=spec)))["eval_script"]
    assert "export PYTHONPATH=/testbed/src:/testbed\n" in script
    assert "export HOME='/tmp/a b'\n" in script


def test_swe_benchs_task_names_the_image_that_swe_bench_derives(dataset, tmp_path):
    export(dataset, tmp_path / "o", to="swebench", hidden_of=hidden_of(dataset))
    task = yaml.safe_load((tmp_path / "o/tasks/tiny__calc-2/task.yaml").read_text())
    assert task["image"] == "swebench/sweb.eval.x86_64.tiny_1776_calc-2:latest"
    assert f"FROM {DIGEST}\n" in (tmp_path / "o/tasks/tiny__calc-2/Dockerfile").read_text()


def test_an_odd_name_of_a_dataset_makes_a_name_that_harbor_takes(tmp_path):
    made = replace(tiny.dataset(tmp_path / "d", tiny.task()), name='.. "Geheim" ü/ä ..')
    export(made, tmp_path / "o", to="harbor")
    task = tomllib.loads((tmp_path / "o/tiny__calc-1/task.toml").read_text())
    assert task["task"]["name"] == "Geheim/tiny__calc-1"

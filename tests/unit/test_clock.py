"""The clock of a task: how it is written, kept and counted."""

from __future__ import annotations

import pytest

from harness.core import clock
from harness.core.errors import InputError
from harness.core.instance import TestSpec
from harness.dataset.content import task_content
from harness.dataset.folder import TASK_FILE, read_instance
from harness.dataset.model_files import read_text
from harness.interop.export import export
from harness.languages.python.language import PYTHON
from tests import tiny

MERGED = "2021-05-03T12:00:00Z"
DIGEST = "registry.example/team/calc@sha256:" + "1" * 64


@pytest.mark.parametrize(
    "text", [MERGED, "2021-05-03T12:00:00+00:00", "2021-05-03T14:00:00+02:00", "2021-05-03 12:00:00.9Z"]
)
def test_every_form_of_a_time_is_written_in_one_way(text):
    assert clock.checked(text) == MERGED


@pytest.mark.parametrize("text", ["", "yesterday", "2021-05-03", "2021-05-03T12:00:00", "1970-01-01T00:00:00Z"])
def test_what_is_no_time_is_no_clock(text):
    with pytest.raises(InputError, match="clock"):
        clock.seconds_of(text)


@pytest.fixture
def folder(tmp_path):
    made = tiny.dataset(tmp_path / "dataset", tiny.task(spec=TestSpec(clock=MERGED)))
    return made.task_folder("tiny__calc-1")


def test_a_clock_comes_back_from_the_task_it_was_written_into(folder):
    assert read_instance(folder).test.clock == MERGED


def test_a_clock_that_is_no_time_is_named_with_its_file(folder):
    (folder / TASK_FILE).write_text(read_text(folder / TASK_FILE).replace(MERGED, "last week"))

    with pytest.raises(InputError, match=r"task\.yaml: test\.clock: .*'last week'"):
        read_instance(folder)


def test_a_task_on_real_time_says_nothing_of_a_clock(tmp_path):
    made = tiny.dataset(tmp_path / "dataset", tiny.task())

    assert "clock" not in read_text(made.task_folder("tiny__calc-1") / TASK_FILE)


def test_a_clock_changes_what_a_task_is(folder, tmp_path):
    plain = tiny.dataset(tmp_path / "plain", tiny.task()).task_folder("tiny__calc-1")

    assert task_content(folder) != task_content(plain)
    assert tiny.task(spec=TestSpec(clock=MERGED)).digest() != tiny.task().digest()


def test_a_workspace_runs_the_tests_of_a_task_on_its_clock():
    words = PYTHON.by_hand(TestSpec(clock=MERGED), ["tests/test_calc.py"])

    assert words[: len(clock.prefix(MERGED))] == clock.prefix(MERGED)
    assert words[len(clock.prefix(MERGED)) :] == PYTHON.by_hand(TestSpec(), ["tests/test_calc.py"])


@pytest.mark.parametrize("form", ["harbor", "inspect", "jsonl", "swebench"])
def test_an_exported_task_takes_its_clock_along(form, tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task(DIGEST, spec=TestSpec(clock=MERGED)))
    out = tmp_path / "out"
    export(dataset, out, to=form, hidden_of=lambda instance_id: dataset.task(instance_id).hidden)

    files = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
    assert [path for path in files if b"FAKETIME_DONT_FAKE_MONOTONIC=1" in path.read_bytes()]

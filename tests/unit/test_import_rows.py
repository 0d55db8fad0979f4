"""Rows read strictly: what is none comes with its reason, and the others are read all the same."""

from __future__ import annotations

import json

import pytest

from harness.core.errors import InputError
from miner.importing import rows as reading
from miner.importing.rows import BadRow, Row, read_rows

PATCH = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
ROW = {
    "instance_id": "acme__app-1",
    "repo": "acme/app",
    "base_commit": "a" * 40,
    "patch": PATCH.format("app.py"),
    "test_patch": PATCH.format("tests/test_app.py"),
    "problem_statement": "It is broken.",
    "hints_text": "Look there.",
    "created_at": "2020-01-02T03:04:05Z",
    "version": "1.2",
    "FAIL_TO_PASS": '["tests/test_app.py::test_a"]',
    "PASS_TO_PASS": ["tests/test_app.py::test_b"],
}


def read(tmp_path, *lines: dict | bytes) -> list[Row | BadRow]:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(json.dumps(line).encode() if isinstance(line, dict) else line for line in lines))
    return list(read_rows(path))


def reason(tmp_path, **changes) -> tuple[str, str]:
    row = {key: value for key, value in {**ROW, **changes}.items() if value is not ...}
    (found,) = read(tmp_path, row)
    assert isinstance(found, BadRow)
    return found.reason, found.detail


def test_a_row_is_read_with_its_lists_whether_they_are_lists_or_strings(tmp_path):
    (row,) = read(tmp_path, {**ROW, "difficulty": "15 min"})
    assert row.fail_to_pass == ("tests/test_app.py::test_a",)
    assert row.pass_to_pass == ("tests/test_app.py::test_b",)
    assert (row.hints, row.created_at) == ("Look there.", "2020-01-02T03:04:05Z")
    assert row.further == {"difficulty": "15 min"}


def test_a_list_may_be_written_as_python_prints_it(tmp_path):
    (row,) = read(tmp_path, {**ROW, "FAIL_TO_PASS": "['rule valid a:', \"it's:\"]"})
    assert row.fail_to_pass == ("rule valid a:", "it's:")


def test_a_date_as_milliseconds_is_read(tmp_path):
    (row,) = read(tmp_path, {**ROW, "created_at": 1577934245000})
    assert row.created_at == "2020-01-02T03:04:05Z"


def test_a_date_that_is_none_is_left_out(tmp_path):
    (row,) = read(tmp_path, {**ROW, "created_at": "yesterday"})
    assert row.created_at == ""


@pytest.mark.parametrize(
    ("changes", "word", "told"),
    [
        ({"patch": ...}, "row_incomplete", "patch"),
        ({"problem_statement": " "}, "row_incomplete", "problem_statement"),
        ({"FAIL_TO_PASS": "[]"}, "row_incomplete", "FAIL_TO_PASS is empty"),
        ({"FAIL_TO_PASS": "tests/test_app.py::test_a"}, "row_incomplete", "holds no list"),
        ({"FAIL_TO_PASS": [1]}, "row_incomplete", "FAIL_TO_PASS.0"),
        ({"instance_id": "../up"}, "row_incomplete", "instance id"),
        ({"repo": "app"}, "row_incomplete", "owner/name"),
        ({"base_commit": "main"}, "bad_base_commit", "main"),
        ({"base_commit": "a" * 12}, "bad_base_commit", "whole SHA"),
        ({"patch": "no patch"}, "bad_patch", "patch:"),
        ({"test_patch": "--- prose"}, "bad_patch", "test_patch:"),
    ],
)
def test_a_row_with_a_wrong_field_says_which(tmp_path, changes, word, told):
    found, detail = reason(tmp_path, **changes)
    assert found == word
    assert told in detail
    assert detail.startswith("line 1: ")


@pytest.mark.parametrize(
    ("line", "told"),
    [(b"{", "not JSON"), (b'"\xff"', "not UTF-8"), (b"[]", "expected a JSON object"), (b"[" * 100_000, "not JSON")],
)
def test_a_line_that_is_no_row_is_unreadable_and_the_others_are_read(tmp_path, line, told):
    bad, good = read(tmp_path, line, ROW)
    assert (bad.reason, bad.line) == ("row_unreadable", 1)
    assert told in bad.detail
    assert good.instance_id == "acme__app-1"


def test_the_second_row_of_an_id_is_a_duplicate(tmp_path):
    _, again = read(tmp_path, ROW, {**ROW, "version": "2"})
    assert (again.reason, again.instance_id) == ("duplicate", "acme__app-1")
    assert again.detail == "line 1 has the same instance_id"


def test_a_row_given_twice_does_not_take_the_place_of_the_first_in_the_funnel(tmp_path):
    first, again = read(tmp_path, ROW, ROW)
    assert first.digest != again.digest


def test_a_line_that_is_too_long_is_left_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_ROW_BYTES", 4000)
    bad, good = read(tmp_path, {**ROW, "hints_text": "x" * 20_000}, ROW)
    assert (bad.reason, good.line) == ("row_too_large", 2)


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_file_without_a_row_is_refused(tmp_path, content):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="has no row"):
        list(read_rows(path))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="can't be read"):
        list(read_rows(tmp_path / "gone.jsonl"))

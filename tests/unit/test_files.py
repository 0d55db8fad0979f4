"""Files appear whole or not at all, and one process writes a folder."""

from __future__ import annotations

import pytest

from harness.core import files
from harness.core.errors import InputError


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    files.write_text(tmp_path / "new/x", "1")
    files.write_text(tmp_path / "new/x", "2\udce9")
    assert (tmp_path / "new/x").read_bytes() == b"2\xe9"
    assert [entry.name for entry in (tmp_path / "new").iterdir()] == ["x"]


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(InputError, match="cannot write"):
        files.write_text(tmp_path / "x/y", "1")


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(InputError):
        files.write_text(tmp_path / "x", "1")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_a_second_writer_is_refused(tmp_path):
    with (
        files.locked(tmp_path / "lock", busy="in use"),
        pytest.raises(InputError, match="in use"),
        files.locked(tmp_path / "lock", busy="in use"),
    ):
        pass

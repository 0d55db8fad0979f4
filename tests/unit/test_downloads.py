"""Which downloaded packages may go."""

from __future__ import annotations

import os
import time

import pytest

from harness.core.errors import InfrastructureError
from miner.images import downloads

DAY = 24 * 60 * 60


def used(repo, cache_dir, *, days_ago):
    folder = downloads.folder_of(repo, cache_dir)
    (folder / "wheel").write_bytes(b"x" * 100)
    os.link(folder / "wheel", folder / "the same")
    os.utime(folder, (0, time.time() - days_ago * DAY))
    return folder


def test_what_no_build_has_used_for_so_long_may_go(tmp_path):
    old, new = used("acme/old", tmp_path, days_ago=31), used("acme/new", tmp_path, days_ago=29)
    assert downloads.unused(tmp_path, days=30) == (old,)
    assert downloads.unused(tmp_path, days=28) == tuple(sorted((old, new)))
    downloads.remove(old)
    assert downloads.unused(tmp_path, days=28) == (new,)


def test_a_build_marks_its_folder_as_used(tmp_path):
    old = used("acme/old", tmp_path, days_ago=31)
    assert downloads.folder_of("acme/old", tmp_path) == old
    assert downloads.unused(tmp_path, days=1) == ()


def test_a_file_of_two_names_counts_once(tmp_path):
    assert downloads.size(used("acme/old", tmp_path, days_ago=31)) == 100


def test_nothing_was_downloaded(tmp_path):
    assert downloads.unused(tmp_path, days=1) == ()


def test_a_folder_that_cannot_be_removed_is_told(tmp_path):
    with pytest.raises(InfrastructureError, match="can't be removed"):
        downloads.remove(tmp_path / "gone")

"""Which downloads may go."""

from __future__ import annotations

import os
import time

import pytest

from harness.checks import image_search
from harness.core.errors import InfrastructureError
from miner.images import downloads
from miner.sources.git import open_source
from tests.repos import Repository

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


def test_clones_and_indexes_of_layers_may_go_as_well_until_they_are_used_again(tmp_path):
    repo = Repository(tmp_path / "repo")
    repo.commit("Start", {"a.py": ""})
    open_source(str(repo.path), cache=tmp_path / "sources")
    (clone,) = (tmp_path / "sources").glob("*.git")
    index = tmp_path / "layers" / f"{'a' * 32}.{image_search._RULES}.index"
    index.parent.mkdir()
    index.write_bytes(b'{"places": [], "cached": [], "keys": [], "shared": {}, "numbers": 0}\n')
    for place in (clone, index):
        os.utime(place, (0, time.time() - 31 * DAY))
    assert downloads.unused(tmp_path, days=30) == (index, clone)
    assert downloads.size(index) == index.stat().st_size

    open_source(str(repo.path), cache=tmp_path / "sources")
    assert downloads.unused(tmp_path, days=30) == (index,)
    image_search.of(f"sha256:{'a' * 64}", index.parent, lambda _: ())
    assert downloads.unused(tmp_path, days=30) == ()
    downloads.remove(index)
    assert not index.exists()
    downloads.remove(clone)
    assert not clone.exists()


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

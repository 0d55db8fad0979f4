"""Files of submodules in the trees that are mined: of clones that have them, and from the repository's own host."""

from __future__ import annotations

import tarfile
from io import BytesIO

import pytest

from harness.core.process import run
from miner.sources.git import open_source
from miner.sources.submodules import beside
from tests.own_index import OwnIndex
from tests.repos import Repository


@pytest.fixture
def app(tmp_path) -> Repository:
    """A repository with a submodule that has one itself; both move with its last commit but one."""
    served = tmp_path / "served"
    data, library, app = (Repository(served / name) for name in ("data.git", "library.git", "app.git"))
    data.commit("Start", {"rows.csv": "1\n"})
    with_data = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../data.git", "rows")
    library.git(*with_data)
    library.commit("Start", {"lib.c": "int one;\n"})
    app.git(*(word.replace("data.git", "library.git").replace("rows", "third/party") for word in with_data))
    app.commit("Start", {"app.py": "x = 1\n"})
    library.commit("Move", {"lib.c": "int two;\n"})
    run(["git", "-C", app.path / "third/party", "pull", "--quiet"], env=app.env() | {"GIT_ALLOW_PROTOCOL": "file"})
    app.commit("Move")
    return app


def files(repo, commit: str) -> dict[str, bytes]:
    with tarfile.open(fileobj=BytesIO(repo.archive_bytes(commit))) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}


def test_a_clone_s_submodules_are_in_the_trees_of_all_its_commits(tmp_path, app):
    with open_source(str(app.path), cache=tmp_path / "cache") as copy:
        before, after = (files(copy, app.sha(commit)) for commit in ("HEAD^", "HEAD"))
        assert (before["third/party/lib.c"], after["third/party/lib.c"]) == (b"int one;\n", b"int two;\n")
        assert "third/party/rows/rows.csv" not in after  # the clone has not checked it out
        assert copy.archive_bytes(app.sha()) == copy.archive_bytes(app.sha())


def test_what_no_clone_has_checked_out_is_left_out(tmp_path, app):
    bare = tmp_path / "bare.git"
    app.git("clone", "--quiet", "--bare", ".", str(bare))
    with open_source(str(bare), cache=tmp_path / "cache") as copy:
        assert set(files(copy, app.sha())) == {".gitmodules", "app.py"}


def test_submodules_of_a_url_come_from_the_same_host(tmp_path, app):
    with OwnIndex(repositories=tmp_path / "served") as server:
        url = server.url.replace("simple", "git/app.git")
        with open_source(url, cache=tmp_path / "cache") as copy:
            assert files(copy, app.sha())["third/party/lib.c"] == b"int two;\n"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("../b", "https://h.example/o/b"),
        ("./b", "https://h.example/o/a/b"),
        ("https://h.example/x/b.git", "https://h.example/x/b.git"),
        ("http://h.example/x/b.git", ""),
        ("https://h.example:8443/b", ""),
        ("https://other.example/b", ""),
        ("https://h.example@10.0.0.1/b", ""),
        ("ext::sh -c true", ""),
        ("/etc", ""),
    ],
)
def test_a_submodule_is_fetched_from_the_host_of_its_repository_alone(url, found):
    assert beside(url, "https://h.example/o/a") == found

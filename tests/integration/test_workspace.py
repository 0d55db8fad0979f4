"""Workspaces in real containers: every check of every workspace, and what comes out of one as a patch."""

from __future__ import annotations

import base64
import contextlib
import io
import sys
import tarfile
from pathlib import Path

import pytest

from harness.core import process
from harness.core.errors import InfrastructureError, InterruptedRunError
from harness.patches.patch import MAX_BYTES
from harness.sandbox import engine
from harness.sandbox.session import WorkspaceLostError
from harness.solve.workspace.workspace import Workspaces
from tests import tiny, waiting
from tests.engine_proxy import Proxy
from tests.workspace_checks import CHANGES, CHECKS, SABOTAGE, SECONDS, applied, reset, shell

pytestmark = pytest.mark.engine

FIX = "sed -i 's/a - b/a + b/' src/calc/__init__.py"


@pytest.fixture
def workspace(shared):
    """A workspace whose tree is as it was; the container is used again, since a new one for each check takes long."""
    reset(shared)
    shared._before = shared._list()  # so that only what a test does counts as touched
    return shared


def tree(workspace):
    words = "tar -c --exclude=./.git --exclude='*.egg-info' --exclude=__pycache__ . | base64 -w0"
    packed = workspace.run(("sh", "-c", words), seconds=SECONDS, max_output=10_000_000).output
    found = {}
    with tarfile.open(
        fileobj=io.BytesIO(base64.b64decode(packed)), errors="surrogateescape", encoding="utf-8"
    ) as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            if member.issym():
                found[name] = ("link", member.linkname.encode())
            elif not member.isdir():
                found[name] = ("exec" if member.mode & 0o100 else "file", archive.extractfile(member).read())
    return found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_does_what_every_workspace_does(check, workspace):
    check(workspace)


def test_nothing_that_changed_is_an_empty_patch(workspace):
    assert workspace.diff() == b""


IN_A_CONTAINER = {
    **{
        name: CHANGES[name]
        for name in ("names that need quoting", "a name that is no UTF-8", "a link in place of a file")
    },
    **{name: CHANGES[name] for name in ("a folder in place of a file", "a change that hides its time")},
    "a folder that its owner can't read": "mkdir shut; echo 1 > shut/x; chmod 000 shut",
}
"""What depends on how files are listed and fetched there; tests/unit/test_workspace_tree.py has the rest."""


@pytest.mark.parametrize("script", IN_A_CONTAINER.values(), ids=IN_A_CONTAINER)
def test_what_changed_comes_out_as_a_patch_that_git_applies(script, workspace, tmp_path):
    shell(workspace, script)
    patch = workspace.diff()
    assert patch
    assert applied(patch, tmp_path) == tree(workspace)


@pytest.mark.parametrize("script", SABOTAGE.values(), ids=SABOTAGE)
def test_the_patch_is_whole_whatever_the_agent_did_to_git(script, workspace, tmp_path):
    shell(workspace, f"{FIX}; {script}")
    assert applied(workspace.diff(), tmp_path)[tiny.CALC] == ("file", tiny.FIXED.encode())
    assert workspace.run(("test", "-e", "/tmp/ran"), seconds=SECONDS).exit_code == 1
    assert set(applied(workspace.diff(), tmp_path / "again")) == set(tiny.FILES)


def test_what_git_ignores_and_what_tests_leave_behind_is_no_part_of_a_patch(workspace):
    shell(
        workspace, "mkdir -p a/__pycache__ .pytest_cache x.egg-info; touch a/__pycache__/b .pytest_cache/c x.egg-info/d"
    )
    shell(
        workspace, "touch a.pyc .coverage b.orig; touch src/calc.egg-info/PKG-INFO 2>/dev/null; echo '*' > .gitignore"
    )
    assert b"+++ b/.gitignore" in workspace.diff()
    assert workspace.diff().count(b"diff --git") == 1


def test_a_new_file_that_no_patch_may_hold_is_left_out_and_told(workspace):
    shell(workspace, f"{FIX}; head -c {MAX_BYTES + 1} /dev/zero > large; mkfifo pipe")
    assert workspace.diff().count(b"diff --git") == 1
    assert workspace.left_out == ("large", "pipe")


def test_a_tree_that_changes_all_the_time_can_be_read(workspace):
    shell(workspace, f"{FIX}; (setsid sh -c 'while :; do rm -f x; echo 1 > x; done' > /dev/null 2>&1 &); sleep 0.1")
    assert b"+    return a + b" in workspace.diff()


def test_it_reads_without_a_container_until_something_runs(workspaces, instance):
    with workspaces.open(instance) as opened:
        assert opened.read(tiny.TESTS) == tiny.BASE_TESTS.encode()
        assert opened.diff() == b""
        assert not running(opened)
        opened.run(("true",), seconds=SECONDS)
        assert running(opened)


def running(workspace):
    return engine.connect().inspect_container(workspace._session.name)["State"]["Running"]


def test_a_container_that_ends_is_the_workspace_s_own_loss(workspaces, instance):
    with workspaces.open(instance) as opened:
        opened.run(("true",), seconds=SECONDS)
        engine.connect().kill(opened._session.name)
        for use in (opened.diff, lambda: opened.run(("true",), seconds=SECONDS), lambda: opened.read(tiny.CALC)):
            with pytest.raises(WorkspaceLostError, match="has ended"):
                use()


def test_an_engine_that_goes_away_is_no_fault_of_the_agent(instance, tmp_path, monkeypatch):
    with Proxy.at(tmp_path / "engine.sock", Path("/var/run/docker.sock")) as proxy:
        engine.disconnect()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'engine.sock'}")
        with Workspaces() as opened, opened.open(instance) as workspace:
            workspace.run(("true",), seconds=SECONDS)
            proxy.refuses.set()
            engine.disconnect()
            with pytest.raises(InfrastructureError, match="engine"):
                workspace.run(("true",), seconds=SECONDS)
            proxy.refuses.clear()
    engine.disconnect()


def test_a_missing_image_is_told_by_its_name(workspaces):
    with pytest.raises(InfrastructureError, match=tiny.NO_IMAGE), workspaces.open(tiny.task().instance):
        pass


def test_an_image_without_a_repository_is_refused_with_what_to_do(workspaces, instance, tiny_image):
    parent = engine.inspect_image(tiny_image).parent
    with (
        pytest.raises(InfrastructureError) as failed,
        workspaces.open(tiny.task(parent).instance),
    ):
        pass
    assert "testbed" in failed.value.message


def test_cancelling_ends_what_runs(instance):
    with Workspaces() as own, own.open(instance) as opened:
        opened.run(("true",), seconds=SECONDS)
        own.cancel()
        with pytest.raises(InterruptedRunError):
            opened.run(("sleep", "60"), seconds=60)


HOLDER = """
import sys
from harness.solve.workspace.workspace import Workspaces
from tests import tiny, waiting
with Workspaces() as w, w.open(tiny.task(sys.argv[1]).instance) as opened:
    opened.run(("true",), seconds=240)
    print(opened._session.name, flush=True)
    opened.run(("sleep", "600"), seconds=600)
"""


def test_after_a_kill_the_container_ends_by_itself_and_the_next_start_removes_it(tiny_image):
    with contextlib.suppress(KeyboardInterrupt), process.stream([sys.executable, "-c", HOLDER, tiny_image]) as said:
        name = said.readline().decode().strip()
        raise KeyboardInterrupt  # which kills the program
    assert engine.connect().wait(name, timeout=waiting.SECONDS)["StatusCode"] is not None
    with Workspaces():
        assert waiting.left(lambda: engine.connect().containers(all=True, filters={"name": name})) == []

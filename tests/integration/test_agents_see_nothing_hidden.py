"""What an agent could find in its workspace if it looked everywhere: the public side of its task, and nothing else."""

from __future__ import annotations

import pytest

from harness.dataset.ledger import ledger
from harness.solve.workspace.workspace import Workspaces
from tests import tiny, waiting
from tests.workspace_checks import shell

pytestmark = pytest.mark.engine

HIDDEN_LINE = "calc.add(1, 1)"
"""Stands in the hidden tests and nowhere else."""


@pytest.fixture(scope="module")
def dataset(tiny_image, tmp_path_factory):
    made = tiny.dataset(tmp_path_factory.mktemp("secret-place") / "dataset", tiny.task(tiny_image))
    ledger.record_exposure(made, ["tiny__calc-1"], model="m", endpoint="https://models.test", parts=("statement",))
    return made


@pytest.fixture(scope="module")
def workspace(dataset, tmp_path_factory):
    """As the most that any agent gets: a folder of its own, and a way to the model."""
    mounted = tmp_path_factory.mktemp("agent")
    mounted.chmod(0o755)
    instance = dataset.instance("tiny__calc-1")
    with (
        Workspaces() as workspaces,
        workspaces.open(instance) as plain,
        plain.equipped(mounts={"/opt/agent": str(mounted)}) as opened,
    ):
        shell(opened, "python -m pytest -q -p no:cacheprovider -o addopts= tests")
        yield opened


def found(workspace, *texts):
    """Where in all that a workspace adds one of these texts stands: files, and what the kernel shows of processes.

    What lies below, interpreters and packages in shared layers, is searched by the hygiene gate when a task is mined.
    """
    patterns = " ".join(f"-e '{text}'" for text in texts)
    skipped = " ".join(f"--exclude-dir={name}" for name in ("proc", "sys", "usr", "venv", "uv", "python"))
    everywhere = f"grep -rlaF {patterns} {skipped} / 2> /dev/null"
    processes = f"grep -laF {patterns} /proc/[0-9]*/environ /proc/mounts /proc/self/mountinfo /etc/hosts 2> /dev/null"
    return [line for line in shell(workspace, f"{everywhere}; {processes}; true", seconds=120).splitlines() if line]


def test_no_line_of_hidden_tests_no_ledger_no_canary_and_no_place_of_the_dataset_is_anywhere(workspace, dataset):
    texts = (
        HIDDEN_LINE,
        "+    return a + b",
        dataset.canary,
        str(dataset.path),
        "secret-place",
        "models.test",
        "FAIL_TO_PASS",
    )
    assert found(workspace, *texts) == []


def test_such_a_search_would_find_them(workspace):
    workspace.leave("/tmp/planted", HIDDEN_LINE.encode())
    assert found(workspace, HIDDEN_LINE) == ["/tmp/planted"]
    shell(workspace, "rm /tmp/planted; (NEEDLE='to be found' sleep 600 > /dev/null 2>&1 &)")
    assert waiting.until(lambda: found(workspace, "NEEDLE=to be found"))


def test_git_has_one_commit_one_branch_and_the_files_of_its_tree(workspace):
    told = shell(
        workspace,
        "git rev-list --all --reflog | wc -l; git for-each-ref --format='%(refname)';"
        "git cat-file --batch-all-objects --batch-check='%(objecttype)' | sort | uniq -c; git remote; git stash list;"
        "git fsck --unreachable --no-reflogs 2>&1; git log -1 --format='%an %ae %s'; true",
    ).split("\n")
    assert told[:2] == ["1", "refs/heads/main"]
    assert [line.split() for line in told[2:5]] == [["3", "blob"], ["1", "commit"], ["4", "tree"]]
    assert told[5:] == ["goldseam goldseam@localhost base", ""]


def test_the_only_folders_of_this_machine_are_those_that_belong_there_read_only(workspace):
    mounts = [line.split()[:4] for line in shell(workspace, "cat /proc/mounts").splitlines()]
    real = {place: options for device, place, _, options in mounts if device.startswith("/dev/")}
    of_the_container = {f"/etc/{name}" for name in ("hosts", "hostname", "resolv.conf", "passwd", "group")}
    assert set(real) <= {*of_the_container, "/opt/agent"}
    assert all("ro" in options.split(",") for options in real.values())


def test_the_environment_says_nothing_of_this_machine(workspace, monkeypatch):
    names = {line.partition("=")[0] for line in shell(workspace, "env").splitlines()}
    allowed = {
        "PATH",
        "HOME",
        "HOSTNAME",
        "LANG",
        "LC_ALL",
        "LOGNAME",
        "TZ",
        "USER",
        "PWD",
        "TERM",
        "PAGER",
        "GIT_PAGER",
        "SHLVL",
        "_",
        "OLDPWD",
    }
    assert names <= allowed | {name for name in names if name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_", "PYTHON"))}

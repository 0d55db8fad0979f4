"""The driver of declared runners, as it runs in a container: what it calls, what it takes of what that leaves."""

from __future__ import annotations

import base64
import json
import os
import subprocess  # noqa: TID251 - it hands over a descriptor
import sys
from importlib import resources

import pytest

DRIVER = resources.files("harness.languages.declared.inside").joinpath("door.py").read_text(encoding="utf-8")
START = "import os, sys; os.dup2(int(sys.argv.pop(1)), 3); exec(compile(sys.argv.pop(1), 'door', 'exec'))"
ASKED = {"build": [], "test": "true", "results": "out/*.txt", "each": False, "takes_files": False}


@pytest.fixture
def run(tmp_path):
    """Runs the driver in an empty folder, and gives its frames."""

    def of(*files, **asked):
        source, entry = os.pipe()
        argv = [sys.executable, "-c", START, str(entry), DRIVER, json.dumps({**ASKED, **asked}), *files]
        done = subprocess.Popen(argv, cwd=tmp_path, pass_fds=(entry,), stderr=subprocess.DEVNULL)
        os.close(entry)
        with os.fdopen(source, "rb") as pipe:
            frames = [json.loads(line) for line in pipe]
        assert done.wait(240) == 0
        return frames

    return of


def left(frames):
    """The bytes of the results files by path."""
    found = {}
    for frame in frames:
        if frame["t"] == "results":
            found[frame["path"]] = found.get(frame["path"], b"") + base64.b64decode(frame["data"])
    return found


def lost(frames):
    return {frame["path"]: frame["why"] for frame in frames if frame["t"] == "lost"}


WRITE = "mkdir -p out && echo $# > out/a.txt"


def test_results_and_the_exit_code_are_told(run):
    frames = run(test=f"{WRITE}; echo said; exit 3")
    assert frames[0] == {"t": "run", "file": "", "code": 3, "text": "said\n"}
    assert left(frames) == {"out/a.txt": b"0\n"}


def test_files_are_arguments_whatever_they_are_called(run, tmp_path):
    awkward = "a b;$(touch hacked).t"
    assert left(run(awkward, "c.t", test=f'{WRITE}; printf "%s\\n" "$@" >> out/a.txt', takes_files=True)) == {
        "out/a.txt": f"2\n{awkward}\nc.t\n".encode()
    }
    assert not (tmp_path / "hacked").exists()


def test_each_file_is_run_alone_and_named(run):
    frames = run("a.t::one", "a.t::two", "b.t", test=f'{WRITE}; echo "$1" > out/a.txt', each=True, takes_files=True)
    assert [frame["file"] for frame in frames if frame["t"] == "run"] == ["a.t", "b.t"]
    assert [base64.b64decode(frame["data"]) for frame in frames if frame["t"] == "results"] == [b"a.t\n", b"b.t\n"]


def test_without_a_file_a_command_that_takes_some_is_not_run(run):
    assert run(test=WRITE, takes_files=True) == []


def test_results_that_were_there_before_do_not_count(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/old.txt").write_text("forged")
    assert left(run(test="true")) == {}


def test_a_failed_build_ends_it(run):
    frames = run(build=["echo one", "echo two; exit 2"], test=WRITE)
    assert frames == [{"t": "unbuilt", "command": "echo two; exit 2", "code": 2, "text": "two\n"}]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("mkdir out; ln -s /etc/hostname out/a.txt", "behind a link"),
        ("mkdir other; ln -s other out; touch other/a.txt", "behind a link"),
        ("mkdir out; mkfifo out/a.txt", "no plain file"),
        ("mkdir out; truncate -s 17M out/a.txt", "larger than 16 MB"),
    ],
)
def test_what_is_no_results_file_is_lost(run, command, why):
    frames = run(test=command)
    assert why in lost(frames)["out/a.txt"]
    assert left(frames) == {}


def test_large_results_arrive_whole(run):
    frames = run(test="mkdir out; head -c 3000000 /dev/zero > out/a.txt")
    assert len(left(frames)["out/a.txt"]) == 3_000_000


def test_what_is_left_running_neither_holds_it_up_nor_writes_later(run, tmp_path):
    frames = run(test=f"{WRITE}; (sleep 600; echo forged > out/a.txt) & setsid sleep 600 & echo $! > pid")
    os.kill(int((tmp_path / "pid").read_text()), 9)
    assert left(frames) == {"out/a.txt": b"0\n"}

"""Programs that cannot be started: every way of starting one says which, and why."""

from __future__ import annotations

import pytest

from harness.core import process
from harness.core.errors import InfrastructureError

GONE = ("no-such-program-here",)


def streamed(argv, folder):
    with process.stream(argv, cwd=folder):
        pass


def talked(argv, folder):
    with process.dialogue(argv, env={}, cwd=folder):
        pass


def bounded(argv, folder):
    process.run_bounded(argv, env={}, cwd=folder, seconds=5, max_output=10)


WAYS = {
    "run": lambda argv, folder: process.run(argv, cwd=folder),
    "stream": streamed,
    "dialogue": talked,
    "run_bounded": bounded,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_is_not_there_is_named(way, tmp_path):
    with pytest.raises(InfrastructureError, match="no-such-program-here is not installed"):
        WAYS[way](GONE, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_a_folder_that_is_not_there_is_not_blamed_on_the_program(way, tmp_path):
    with pytest.raises(InfrastructureError, match=r"cannot be started in .*nowhere: no such folder"):
        WAYS[way](("/bin/true",), tmp_path / "nowhere")


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_no_program_is_named(way, tmp_path):
    (tmp_path / "notes.txt").write_text("not a program")
    with pytest.raises(InfrastructureError, match=r"notes\.txt cannot be started: Permission denied"):
        WAYS[way]((str(tmp_path / "notes.txt"),), tmp_path)


@pytest.mark.parametrize("pair", [(GONE, ("/bin/cat",)), (("/bin/true",), GONE)])
def test_both_ends_of_a_pipe_have_to_be_there(pair):
    with pytest.raises(InfrastructureError, match="no-such-program-here is not installed"):
        process.pipe(*pair, input=b"")

"""A test runner that is a program of its own: what it tells becomes frames, however it behaves."""

from __future__ import annotations

import json
import sys

import pytest

from harness.core import process
from tests import inside

DRIVER = """
import json, os, sys
out = os.dup(1)
class Sender:
    key = bytearray(b"secret" * 5)
    def send(self, kind, **fields):
        os.write(out, json.dumps([kind, fields]).encode() + b"\\n")
WORK = sys.argv[1]
spec = {"argv": [sys.executable, "-c", sys.argv[2]], "files": ["here.txt", "gone.txt::a"]}
spec.update({"in_python": True} if sys.argv[3:] else {})
run_tests(spec, Sender(), None)
"""
TELL = "import os, sys; os.write(3, {!r})"


@pytest.fixture(params=[(), ("in_python",)], ids=["another program", "in Python"])
def run(request):
    """Starts a runner as a program of its own, and as one that goes on in this interpreter."""
    return lambda folder, program: ran(folder, program, *request.param)


def ran(folder, program: str, *how: str) -> tuple[int, list, str]:
    """The runner's exit code, its frames, and what the tests printed."""
    (folder / "here.txt").write_text("")
    source = inside.part("supervisor", "command") + DRIVER
    done = process.run([sys.executable, "-c", source, str(folder), program, *how], check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.error_text


def test_each_line_is_a_frame_and_its_end_another(run, tmp_path):
    code, frames, _ = run(tmp_path, TELL.format(b'{"t":"report","id":"a"}\n{"t":"x"}\n') + "; sys.exit(3)")
    assert (code, frames) == (0, [["report", {"id": "a"}], ["x", {}], ["finish", {"code": 3}]])


def test_a_last_line_without_its_end_counts(run, tmp_path):
    assert run(tmp_path, TELL.format(b'{"t":"x"}'))[1][0] == ["x", {}]


@pytest.mark.parametrize(
    "line",
    [b"nothing", b"[]", b'{"id":1}', b'{"t":1}', b'{"t":"finish","code":0}', b'{"t":"a","kind":"b"}', b"\xff", b""],
)
def test_a_line_that_is_no_frame_is_told_as_broken(run, tmp_path, line):
    frames = run(tmp_path, TELL.format(line + b"\n"))[1]
    assert [kind for kind, _ in frames] == ["broken", "finish"]


def test_test_files_that_are_there_come_last_and_its_output_is_that_of_the_tests(run, tmp_path):
    _, frames, printed = run(tmp_path, "import sys; print(sys.argv[1:])")
    assert frames == [["finish", {"code": 0}]]
    assert "['here.txt']" in printed


def test_a_runner_that_is_killed_ends_the_tests_in_the_same_way(run, tmp_path):
    code, frames, _ = run(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert (code, frames) == (-9, [])


def test_a_line_without_an_end_is_not_read_for_ever(run, tmp_path):
    _, frames, _ = run(tmp_path, "import os\ntry:\n    while True: os.write(3, b'x' * 65536)\nexcept OSError: pass")
    assert frames[0][0] == "broken"


def test_it_holds_no_descriptor_of_ours_but_the_pipe(run, tmp_path):
    _, _, printed = run(tmp_path, "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")
    assert "[0, 1, 2, 3, 4]" in printed  # the last one is the listing's own


def test_one_in_python_has_no_key_and_no_process_may_look_into_it(tmp_path):
    """And one that fails says why."""
    ours = "[names for names in gc.get_objects() if isinstance(names, dict) and 'Sender' in names][0]"
    looks = f"import gc; print({ours}['Sender'].key)"
    closed = "import ctypes; print('dumpable', ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    code, frames, printed = ran(tmp_path, f"{looks}; {closed}; raise ValueError('told')", "in_python")
    assert (code, frames) == (0, [["finish", {"code": 1}]])
    assert f"bytearray({bytes(30)!r})" in printed
    assert "dumpable 0" in printed
    assert "ValueError: told" in printed

"""Review flags: seen in what a patch adds, nowhere else."""

from __future__ import annotations

import pytest

from harness.patches import patch
from harness.patches.flags import Flag, flags


def found(line: str, *, path: str = "src/a.py", mark: str = "+") -> tuple[Flag, ...]:
    counts = "1 +1,2" if mark == "+" else "1,2 +1"
    text = f"--- a/{path}\n+++ b/{path}\n@@ -{counts} @@\n x\n{mark}{line}\n"
    return flags(patch.parse(text.encode()))


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("sys._getframe(1)", "frames"),
        ("gc.get_objects()", "garbage_collector"),
        ("import ctypes", "ctypes"),
        ("linecache.getlines(f)", "source_lines"),
        ("from _pytest import reports", "test_runner"),
        ("os._exit(0)", "exit"),
        ("sys.modules['random'] = fake", "modules"),
        ("sys.settrace(hook)", "tracing"),
        ("def __eq__(self, other):", "equality"),
        ("os.write(3, data)", "descriptors"),
        ("exec(code)", "code_from_text"),
    ],
)
def test_a_sign_is_flagged(line, sign):
    assert found(line) == (Flag(path="src/a.py", sign=sign),)


def test_what_a_patch_removes_is_not_flagged():
    assert found("os._exit(0)", mark="-") == ()


def test_files_that_are_no_python_are_not_flagged():
    assert found("import ctypes", path="docs/notes.md") == ()


@pytest.mark.parametrize("line", ["return re.compile_all(x)", "evaluate(x)", "description = 'gc'", "kill_switch = 1"])
def test_ordinary_lines_are_not_flagged(line):
    assert found(line) == ()

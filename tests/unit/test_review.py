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


@pytest.mark.parametrize(
    ("path", "line", "sign"),
    [
        ("a.js", "Error.prepareStackTrace = keep;", "frames"),
        ("a.mjs", 'import { test } from "node:test";', "test_runner"),
        ("a.ts", "process.exit(0);", "exit"),
        ("a.cjs", "delete require.cache[name];", "modules"),
        ("a.js", 'const { Session } = require("node:inspector");', "tracing"),
        ("a.js", "Array.prototype.includes = () => true;", "equality"),
        ("a.js", "fs.writeSync(3, line);", "descriptors"),
        ("a.js", 'return new Function("a", text);', "code_from_text"),
        ("a.go", "pc, _, _, _ := runtime.Caller(1)", "frames"),
        ("a.go", "//go:linkname exit os.runtime_beforeExit", "memory"),
        ("a.go", 'import "testing"', "test_runner"),
        ("a.go", "os.Exit(0)", "exit"),
        ("a.go", "func (e E) Is(other error) bool {", "equality"),
        ("A.java", "Thread.currentThread().getStackTrace()", "frames"),
        ("A.java", "field.setAccessible(true);", "memory"),
        ("A.kt", "exitProcess(0)", "exit"),
        ("A.java", "import org.junit.Assert;", "test_runner"),
        ("A.java", "public boolean equals(Object other) {", "equality"),
        ("a.rs", "std::process::exit(0);", "exit"),
        ("a.rs", "std::panic::set_hook(hook);", "tracing"),
        ("a.rs", "impl PartialEq<str> for Name {", "equality"),
        ("a.rs", "let file = File::from_raw_fd(3);", "descriptors"),
    ],
)
def test_a_sign_of_another_language_is_flagged(path, line, sign):
    assert found(line, path=path) == (Flag(path=path, sign=sign),)


def test_what_a_patch_removes_is_not_flagged():
    assert found("os._exit(0)", mark="-") == ()


def test_files_that_are_no_source_are_not_flagged():
    assert found("import ctypes", path="docs/notes.md") == ()


@pytest.mark.parametrize("line", ["return re.compile_all(x)", "evaluate(x)", "description = 'gc'", "kill_switch = 1"])
def test_ordinary_lines_are_not_flagged(line):
    assert found(line) == ()

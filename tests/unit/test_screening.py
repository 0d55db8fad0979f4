"""What of a model patch reaches the work tree."""

from __future__ import annotations

import pytest

from harness.frameworks.suites import program_of
from harness.patch import parse
from harness.screening import on_compiled, screen

HIDDEN = ("pkg/core/tests/test_x.py",)
EDIT = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
NEW = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+b\n"
APPENDED_TO_NOTHING = "--- a/{0}\n+++ b/{0}\n@@ -0,0 +1 @@\n+b\n"
GONE = "--- a/{0}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
MOVED = "diff --git a/{0} b/kept.py\nsimilarity index 100%\nrename from {0}\nrename to kept.py\n"


def reasons(form: str, path: str, **more) -> list[str]:
    return [part.reason for part in screen(parse(form.format(path).encode()), hidden_paths=HIDDEN, **more).dropped]


@pytest.mark.parametrize(
    ("form", "path", "reason"),
    [
        (EDIT, "pkg/core/tests/test_x.py", "hidden_test"),
        (MOVED, "pkg/core/tests/test_x.py", "hidden_test"),
        (NEW, "pkg/core/tests", "hidden_test"),
        (NEW, "pkg/core/tests/test_x.py/y", "hidden_test"),
        (GONE, "conftest.py", "conftest"),
        (MOVED, "a/conftest.py", "conftest"),
        (EDIT, "pyproject.toml", "runner_config"),
        (NEW, "pkg/core/tests/pytest.toml", "runner_config"),
        (NEW, "pkg/random.py", "shadows_module"),
        (APPENDED_TO_NOTHING, "pkg/random.py", "shadows_module"),
        (NEW, "src/_pytest/runner.py", "shadows_module"),
        (NEW, "usercustomize.py", "startup_module"),
        (GONE, "pkg/core/__init__.py", "import_root"),
        (MOVED, "pkg/__init__.py", "import_root"),
        (NEW, "x.dist-info/entry_points.txt", "package_metadata"),
        (NEW, "pkg/fast.so", "compiled_or_path_file"),
        (NEW, "pkg/.gitattributes", "git_settings"),
    ],
)
def test_what_could_touch_the_judge_is_dropped(form, path, reason):
    assert reasons(form, path) == [reason]


@pytest.mark.parametrize(
    ("form", "path"),
    [
        (EDIT, "pkg/core/numbers.py"),
        (EDIT, "src/attr/_make.py"),
        (NEW, "pkg/core/__init__.py"),
        (EDIT, "pkg/core/__init__.py"),
        (GONE, "other/__init__.py"),
        (NEW, "docs/random.py"),
        (NEW, "randomness.py"),
    ],
)
def test_honest_changes_are_kept(form, path):
    assert reasons(form, path) == []


def test_what_the_gold_patch_changes_is_allowed():
    assert reasons(EDIT, "setup.cfg", allowed=("setup.cfg",)) == []


@pytest.mark.parametrize(
    "path", ["pkg/core/tests/test_mine.py", "pkg/core/tests/helpers.py", "pkg/core/tests/data/golden.json"]
)
def test_everything_beside_the_hidden_tests_is_left_out(path):
    assert reasons(NEW, path) == ["test_support"]


def test_a_folder_for_tests_without_hidden_ones_is_kept():
    assert reasons(NEW, "elsewhere/tests/helpers.py") == []


@pytest.mark.parametrize(
    ("path", "kept"),
    [("suite/runtests.py", False), ("suite/random.py", False), ("runtests.py", True), ("pkg/a.py", True)],
)
def test_the_program_that_runs_the_tests_is_the_judges_and_so_is_what_lies_beside_it(path, kept):
    options = ("--chdir=suite", "--", "./runtests.py", "--tag", "x")
    form = NEW if path.endswith("random.py") else EDIT
    assert (reasons(form, path, program=program_of(options)) == []) is kept


def test_a_program_that_the_fix_changes_may_be_changed():
    assert reasons(EDIT, "runtests.py", program="runtests.py", allowed=("runtests.py",)) == []


@pytest.mark.parametrize("options", [(), ("--",), ("--", "-m", "django", "test"), ("--doctest-modules",)])
def test_options_without_a_program_name_none(options):
    assert program_of(options) == ""


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["a.py", "docs/c.md"], ""),
        (
            ["src/fast.c"],
            "the patch changes src/fast.c, and extension modules are built with the image, not after a patch",
        ),
        (
            ["a.py", "b.pyx", "c.rs"],
            "the patch changes b.pyx and 1 more, and extension modules are built with the image",
        ),
    ],
)
def test_a_change_that_would_have_to_be_compiled_is_told_of(paths, told):
    found = on_compiled(parse("".join(EDIT.format(path) for path in paths).encode()))

    assert found.startswith(told)
    assert bool(found) == bool(told)

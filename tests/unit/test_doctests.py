"""Text files whose examples are tests: told by the repository's settings, and put with the hidden tests."""

from __future__ import annotations

import pytest

from miner.languages.python import doctests
from miner.sources.change import Kind

EXAMPLE = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n Text.\n \n->>> add(1, 1)\n+>>> add(1, 2)\n 3\n"
RESULT = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n >>> add(1, 2)\n-2\n+3\n"
PROSE = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-Text.\n+Words.\n \n"
GLOB = {"pytest.ini": b"[pytest]\naddopts = --doctest-glob='*.rst' -q\n"}


class Changed:
    """A repository of one change."""

    def __init__(self, sections: dict[str, bytes], files: dict[str, bytes]) -> None:
        self.sections, self.files = sections, files

    def diff_sections(self, _base: str, _head: str) -> dict[str, bytes]:
        return self.sections

    def read_file(self, _commit: str, path: str) -> bytes | None:
        return self.files.get(path)


def found(path, raw, files, kind=Kind.GOLD):
    return doctests.changed_texts(Changed({path: raw}, files), "base", "head", {path: kind, "src/a.py": Kind.GOLD})


@pytest.mark.parametrize("raw", [EXAMPLE, RESULT])
def test_a_document_that_the_settings_take_for_a_test_is_one(raw):
    assert found("docs/usage.rst", raw, GLOB) == ["docs/usage.rst"]


@pytest.mark.parametrize(
    "files",
    [
        {"tox.ini": b"[testenv]\ncommands = pytest --doctest-glob *.rst docs\n"},
        {"pyproject.toml": b"[tool.pytest.ini_options]\naddopts = ['--doctest-glob=docs/*.rst']\n"},
        {"Makefile": b"test:\n\tpython -m pytest --doctest-glob='usage.*'\n"},
    ],
)
def test_a_command_says_so_as_well_as_the_settings(files):
    assert found("docs/usage.rst", EXAMPLE, files) == ["docs/usage.rst"]


@pytest.mark.parametrize(
    ("path", "raw", "files"),
    [
        ("docs/usage.rst", EXAMPLE, {}),
        ("docs/usage.rst", PROSE, GLOB),
        ("docs/usage.md", EXAMPLE, GLOB),
        ("CHANGES.rst", EXAMPLE, GLOB),
        ("src/usage.py", EXAMPLE, GLOB),
    ],
)
def test_any_other_document_is_none(path, raw, files):
    assert found(path, raw, files) == []


def test_a_text_that_is_called_like_a_test_is_one_without_any_settings():
    assert found("tests/test_usage.txt", EXAMPLE, {}, Kind.SUPPORT) == ["tests/test_usage.txt"]

"""Which pytest options of a repository are kept, and from which file."""

from __future__ import annotations

import pytest

from miner.languages.python.test_command import pytest_options

DOCTEST = ("--doctest-modules",)


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({}, ()),
        ({"pytest.ini": b"[pytest]\naddopts = -q\n  --doctest-modules\n"}, DOCTEST),
        ({"pytest.ini": b"[pytest]\n", "setup.cfg": b"[tool:pytest]\naddopts = --doctest-modules"}, ()),
        ({"pyproject.toml": b'[tool.pytest.ini_options]\naddopts = "--doctest-modules"'}, DOCTEST),
        ({"pyproject.toml": b'[tool.pytest.ini_options]\naddopts = ["-q", "--doctest-modules"]'}, DOCTEST),
        ({"pyproject.toml": b"[tool]\n", "tox.ini": b"[pytest]\naddopts = --doctest-modules"}, DOCTEST),
        ({"pyproject.toml": b"[broken", "setup.cfg": b"[tool:pytest]\naddopts = --doctest-modules"}, DOCTEST),
        ({"setup.cfg": b"[pytest]\naddopts = --doctest-modules"}, ()),
        ({"pytest.ini": b"\xff[broken"}, ()),
    ],
)
def test_the_file_that_pytest_would_read_counts(files, options):
    assert pytest_options(files.get) == options

"""The command that adds an extra fits how goldseam was installed."""

from __future__ import annotations

import shlex

import pytest

from harness.core.extras import install_command


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("uv-receipt.toml", ["uv", "tool", "install", "--force"]),
        ("pipx_metadata.json", ["pipx", "install", "--force"]),
        ("pyvenv.cfg", ["pip", "install"]),
    ],
)
def test_the_installer_that_made_the_environment_is_named(tmp_path, marker, words):
    (tmp_path / marker).write_text("")

    *installer, what = shlex.split(install_command("s3", prefix=tmp_path))

    assert installer == words
    assert what.endswith("[s3]")

"""A task's Dockerfile says what its layers say, and is read back as it was written."""

from __future__ import annotations

import pytest

from harness.core.errors import InputError
from miner.layers import dockerfile
from miner.layers.layer import Folder, Input, Layer, write_tool

TOOL = "import re\n\n# a comment\nprint('it\\'s', \"$HOME\", r'\\d')\n"


@pytest.fixture
def written(tmp_path):
    python = Folder(path=tmp_path, target="/run/goldseam/python", key="k", context="python-3.9")
    lock = Input(name="requirements.lock", path=tmp_path / "lock", sha256="0")
    layers = [
        Layer(kind="python", parent="sha256:0", folders=(python,), commands=("tar -C /run/goldseam/python -c .",)),
        Layer(
            kind="deps", parent="sha256:1", inputs=(lock,), commands=(write_tool("/tmp/a.py", TOOL), "cat /tmp/a.py")
        ),
        Layer(
            kind="task", parent="sha256:2", commands=("true",), env={"TZ": "UTC", "PATH": "/a:/b"}, workdir="/testbed"
        ),
    ]
    text = dockerfile.render(
        "debian@sha256:1", layers, {"GOLDSEAM_CUTOFF": "--exclude-newer 2024-01-01T00:00:00Z"}, ("example.org",)
    )
    return dockerfile.read(text)


def test_base_and_variables_are_read_back(written):
    assert written.base == "debian@sha256:1"
    assert written.variables["GOLDSEAM_CUTOFF"] == "--exclude-newer 2024-01-01T00:00:00Z"
    assert written.hosts == ("example.org",)
    assert written.variables["UV_CACHE_DIR"] == "/run/goldseam/uv-cache"


def test_each_layer_is_read_back_with_what_it_reads_and_sets(written):
    python, deps, task = written.sections
    assert [one.kind for one in written.sections] == ["python", "deps", "task"]
    assert python.contexts == (("python-3.9", "/run/goldseam/python"),)
    assert (deps.inputs, task.inputs) == (("requirements.lock",), ())
    assert (task.env, task.workdir) == ({"TZ": "UTC", "PATH": "/a:/b"}, "/testbed")
    assert all(one.leaves_nothing for one in written.sections)


def test_a_program_that_a_layer_writes_is_the_same_when_read_back(written, tmp_path):
    from harness.core import process  # noqa: PLC0415

    body = written.sections[1].body.replace("/tmp/a.py", str(tmp_path / "a.py"))
    assert process.run(["sh", "-c", body]).stdout.decode() == TOOL


@pytest.mark.parametrize("text", ["", "FROM x\n", "FROM x\n# deps\nRUN true\n", "FROM x\nARG a\n# deps\nRUN true\n"])
def test_a_dockerfile_of_somebody_else_is_refused(text):
    with pytest.raises(InputError, match="goldseam wrote"):
        dockerfile.read(text)

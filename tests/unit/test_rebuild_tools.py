"""The programs that have extension modules built again after a patch, and the one that takes copies of it out."""

from __future__ import annotations

import importlib
import os
import sys
import zipfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "miner/languages/python/images/tools"


@pytest.fixture
def tool(monkeypatch):
    """Loads a program of the image by its name; what it imports stands beside it."""
    monkeypatch.syspath_prepend(str(TOOLS))
    yield importlib.import_module
    for name in ("compile", "rebuildable", "editable", "bundled"):
        sys.modules.pop(name, None)


def test_sources_look_changed_while_the_trial_s_build_is_tried_and_as_before_after_it(tool, tmp_path, monkeypatch):
    rebuildable = tool("rebuildable")
    monkeypatch.setattr(rebuildable, "TREE", tmp_path)
    source, other = tmp_path / "lib.rs", tmp_path / "lib.c"
    for path in (source, other):
        path.write_text("")
        os.utime(path, (0, 0))
    with rebuildable.touched(".rs"):
        assert source.stat().st_mtime > 0
        assert other.stat().st_mtime == 0
    assert source.stat().st_mtime == 0


def test_cargo_downloads_nothing_in_a_trial_and_keeps_out_of_the_tree(tool):
    variables = tool("compile").environment({"env": {"PBR_VERSION": "1"}})
    assert variables["CARGO_NET_OFFLINE"] == "true"
    assert not variables["CARGO_TARGET_DIR"].startswith("/testbed")
    assert variables["PBR_VERSION"] == "1"


def test_settings_of_uv_hide_the_build_backend_from_all_but_uv(tool, tmp_path, monkeypatch):
    editable = tool("editable")
    monkeypatch.chdir(tmp_path)
    text = '[build-system]\nrequires = ["maturin>=1"]\nbuild-backend = "maturin"\n[tool.uv]\nmanaged = true\n'
    Path("pyproject.toml").write_text(text)
    with pytest.raises(editable.Unable):
        editable.build_system()
    assert editable.build_system(by_uv=True) == (["maturin>=1"], "maturin", [])


def test_the_wheels_of_pip_are_taken_out_where_the_project_is_in_them(tool, tmp_path):
    wheels = tmp_path / "usr/share/python-wheels"
    wheels.mkdir(parents=True)
    for name, entries in {
        "pip.whl": (
            "pip/__init__.py",
            "pip/_vendor/__init__.py",
            "pip/_vendor/requests/api.py",
            "pip/_vendor/six.py",
            "pip-1.dist-info/RECORD",
        ),
        "setuptools.whl": ("setuptools/__init__.py", "pkg_resources/__init__.py"),
    }.items():
        with zipfile.ZipFile(wheels / name, "w") as wheel:
            for entry in entries:
                wheel.writestr(entry, "")
    left = {}
    for name, path in {
        "root": "__init__.py",
        "api": "api.py",
        "requests": "src/requests/__init__.py",
        "setuptools": "setuptools.py",
    }.items():
        module = tmp_path / name / path
        module.parent.mkdir(parents=True)
        module.write_text("")
        tool("bundled").main(str(tmp_path / name), str(tmp_path))
        left[name] = sorted(wheel.name for wheel in wheels.iterdir())
    both = ["pip.whl", "setuptools.whl"]
    assert left == {"root": both, "api": both, "requests": ["setuptools.whl"], "setuptools": []}

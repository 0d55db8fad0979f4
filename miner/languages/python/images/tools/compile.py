"""Runs inside a trial, and once while the image is made: build the extension modules of the tree in place.

It stands in /opt/goldseam/build with how.json, beside the build requirements that the image has. It needs no network.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = "/testbed"
TARGET = "/tmp/goldseam-target"  # noqa: S108 - cargo writes paths into what it keeps, so always the same
_HOOK = """
import importlib, sys
backend, folder, *paths = sys.argv[1:]
sys.path[:0] = paths
module, _, names = backend.partition(":")
found = importlib.import_module(module)
for name in names.split(".") if names else ():
    found = getattr(found, name)
found.build_editable(folder, {}, None)
"""


def environment(how: "dict[str, object]") -> "dict[str, str]":
    """The variables of a build."""
    tools = str(HERE / "tools")
    own = {
        "PYTHONPATH": tools,
        "PATH": f"{tools}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LIBRARY_PATH": f"{sys.base_prefix}/lib",  # an interpreter says where it was installed, not where it is
        "VIRTUAL_ENV": str(Path(sys.executable).parent.parent),
        "CYTHON_FORCE_REGEN": "1",
        "CARGO_HOME": str(HERE / "cargo"),
        "CARGO_TARGET_DIR": TARGET,
        "CARGO_NET_OFFLINE": "true",
    }
    return {**os.environ, **own, **how["env"]}  # type: ignore[dict-item]


def cythonize(paths: "list[str]") -> int:
    """Have Cython make these sources, each of the file beside it; its exit code."""
    for path in paths:
        language = [] if path.endswith(".c") else ["--cplus"]
        argv = [sys.executable, "-m", "cython", *language, "-o", path, str(Path(path).with_suffix(".pyx"))]
        code = subprocess.run(argv, check=False).returncode
        if code:
            return code
    return 0


def main() -> int:
    """The exit code of what builds."""
    how = json.loads((HERE / "how.json").read_text())
    os.chdir(str(Path(TREE, how["root"])))
    if (HERE / "target").is_dir() and not Path(TARGET).is_dir():
        shutil.copytree(str(HERE / "target"), TARGET, symlinks=True)
    env = environment(how)
    code = cythonize(how["cython"])
    if code:
        return code
    if how["setup"]:
        argv = [sys.executable, "setup.py", "build_ext", "--inplace", "--force"]
        return subprocess.run(argv, env=env, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-c", _HOOK, how["backend"], folder, *how["paths"]]
        code = subprocess.run(argv, env=env, check=False).returncode
        for wheel in Path(folder).glob("*.whl"):
            unpack(wheel, how["installed"])
    return code


def unpack(wheel: Path, installed: str) -> None:
    """Put the modules of a wheel where the environment has links to them."""
    with zipfile.ZipFile(str(wheel)) as archive:
        for name in archive.namelist():
            place = Path(TREE, installed, name)
            if name.endswith(".so") and place.parent.is_dir():
                place.write_bytes(archive.read(name))


if __name__ == "__main__":
    sys.exit(cythonize(sys.argv[1:]) if sys.argv[1:] else main())

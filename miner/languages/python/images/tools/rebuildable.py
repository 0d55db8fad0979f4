"""Runs inside a build, once the project is installed: what a trial needs to build its extension modules again.

Build requirements go into /opt/goldseam/build by a lock with hashes. Modules that the project has in site-packages move
into the tree, since that alone can be written to in a trial; links to them take their place. Then all of it is built
once as in a trial: only what comes out again is declared.
"""

import contextlib
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import editable  # type: ignore[import-not-found]  # stands beside it there

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = Path("/opt/goldseam/build")
TREE = Path("/testbed")
TARGET = Path("/tmp/goldseam-target")  # noqa: S108 - as compile.py has it
INSTALLED = ".goldseam/site-packages"
_BYPRODUCTS = frozenset({"build", "dist", "target", "_skbuild", ".eggs"})
_VARIABLES = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",
    "PBR_VERSION",
    "PDM_BUILD_SCM_VERSION",
    "UV_DYNAMIC_VERSIONING_BYPASS",
    "POETRY_DYNAMIC_VERSIONING_BYPASS",
)
_SAID = 1500


class Unable(Exception):  # noqa: N818 - no error: the task has no build then
    """It can't be built again, and why."""


def untracked() -> "set[str]":
    """Every file that git does not know."""
    argv = ["git", "-C", str(TREE), "ls-files", "--others", "-z"]
    listed = subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "surrogateescape")
    return {path for path in listed.split("\0") if path}


def modules_in_tree() -> "list[str]":
    """The extension modules that a build has put into the tree."""
    return [path for path in sorted(untracked()) if path.endswith(".so") and _BYPRODUCTS.isdisjoint(path.split("/"))]


def moved(site_packages: Path) -> "list[str]":
    """Extension modules that the tree's projects have in site-packages, moved into the tree behind links."""
    paths = []
    for url in sorted(site_packages.glob("*.dist-info/direct_url.json")):
        if not json.loads(url.read_text())["url"].startswith(TREE.as_uri()):
            continue
        rows = csv.reader((url.parent / "RECORD").read_text().splitlines())
        for name in [row[0] for row in rows if row[0].endswith(".so") and not row[0].startswith("..")]:
            installed, place = site_packages / name, TREE / INSTALLED / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(str(installed), str(place))
            installed.symlink_to(place)
            paths.append(f"{INSTALLED}/{name}")
    if paths:
        with (TREE / ".git/info/exclude").open("a") as file:
            file.write(".goldseam/\n")
    return paths


def install(uv: str, python: str, requires: "list[str]", options: "tuple[str, ...]") -> None:
    """Put build requirements into the image, by a lock with hashes."""
    try:
        lock = editable.locked(uv, python, requires, options)
    except editable.Unable:
        raise Unable("its build requirements can't be resolved") from None
    (HOME / "requirements.lock").write_bytes(lock)
    argv = [uv, "pip", "install", "--quiet", "--python", python, "--target", str(HOME / "tools"), "--no-deps"]
    if subprocess.run([*argv, *options, "-r", str(HOME / "requirements.lock")], check=False).returncode:
        raise Unable("its build requirements can't be installed")


def further(python: str, backend: str, paths: "list[str]") -> "list[str]":
    """What the build backend asks for besides."""
    code = editable.HOOK
    result = HOME / "further.json"
    env = {**os.environ, "PYTHONPATH": str(HOME / "tools")}
    subprocess.run([python, "-c", code, backend, json.dumps(paths), "", str(result)], env=env, check=False)
    try:
        return list(json.loads(result.read_text()).get("value") or [])
    except (OSError, ValueError, AttributeError):
        return []
    finally:
        result.unlink(missing_ok=True)


def prepare(uv: str, venv: str, root: str, options: "tuple[str, ...]") -> "dict[str, object]":
    """The declaration of a build, for the environment's facts; empty where nothing is compiled."""
    site_packages = next(Path(venv, "lib").glob("python*/site-packages"))
    outputs = [*modules_in_tree(), *moved(site_packages)]
    if not outputs:
        return {}
    python = f"{venv}/bin/python"
    os.chdir(TREE / root)
    requires, backend, paths = declared()
    setup = Path("setup.py").is_file() and backend.startswith("setuptools.build_meta")
    if setup:  # which calls no backend, so that any setuptools does
        requires = ["setuptools", "wheel", *(one for one in requires if one not in editable.DEFAULT)]
    requires += os.environ.get("GOLDSEAM_BUILT_WITH", "").split()
    HOME.mkdir(parents=True, exist_ok=True)  # cargo's downloads are there
    install(uv, python, requires, options)
    if more := further(python, backend, paths):
        install(uv, python, [*requires, *more], options)
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    how = {"root": root, "setup": setup, "backend": backend, "paths": paths, "installed": INSTALLED, "env": variables}
    how["cython"] = os.environ.get("GOLDSEAM_CYTHON", "").split()
    (HOME / "how.json").write_text(json.dumps(how))
    shutil.copy(str(Path(__file__).with_name("compile.py")), str(HOME / "compile.py"))
    seconds = built_again(python, outputs)
    return {"build": {"outputs": outputs, "shadowed": shadowed(outputs), "seconds": round(seconds, 3)}}


def declared() -> "tuple[list[str], str, list[str]]":
    """Build requirements, backend and its own folders."""
    try:
        return editable.build_system(by_uv=True)  # type: ignore[no-any-return]
    except editable.Unable:
        raise Unable("its pyproject.toml says no build backend that can be called") from None


def built_again(python: str, outputs: "list[str]") -> float:
    """Build as a trial does; the seconds. Where that fails, everything is as it was."""
    before = untracked()
    old = {path: (TREE / path).read_bytes() for path in outputs}
    for path in outputs:
        (TREE / path).unlink()
    began = time.monotonic()
    argv = [python, str(HOME / "compile.py")]
    with touched(".rs"):  # cargo builds nothing for sources that are older than what it has
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    seconds = time.monotonic() - began
    said = done.stdout.decode("utf-8", "replace")
    print(said, flush=True)
    missing = [path for path in outputs if not (TREE / path).is_file()]
    for path in untracked() - before:
        (TREE / path).unlink()
    for path in missing:
        (TREE / path).write_bytes(old[path])
    if done.returncode or missing:
        for path, data in old.items():
            (TREE / path).write_bytes(data)
        raise Unable(f"{missing[0] if missing else 'the build'} does not come out again: {said[-_SAID:]}")
    if TARGET.is_dir():
        shutil.move(str(TARGET), str(HOME / "target"))
    return seconds


@contextlib.contextmanager
def touched(suffix: str) -> "Iterator[None]":
    """While the block lasts, sources whose names end so look as if they had just been changed."""
    times = [(path, path.stat()) for path in TREE.rglob(f"*{suffix}") if path.is_file()]
    for path, _ in times:
        path.touch()
    yield
    for path, seen in times:
        os.utime(str(path), ns=(seen.st_atime_ns, seen.st_mtime_ns))


def shadowed(outputs: "list[str]") -> "list[str]":
    """Python sources that are compiled: an extension module goes before a module of the same name."""
    names = [f"{path.rpartition('/')[0]}/{path.rpartition('/')[2].split('.')[0]}.py".lstrip("/") for path in outputs]
    return [name for name in names if (TREE / name).is_file()]


def main(uv: str, venv: str, root: str, result: str, *options: str) -> int:
    """Prepare the project in folder `root` of the tree; `result` is the file to write, `options` are for uv."""
    try:
        answer = prepare(uv, venv, root, options)
    except Unable as error:
        answer = {"unbuildable": str(error)}
    if "build" not in answer:
        shutil.rmtree(str(HOME), ignore_errors=True)
    Path(result).write_text(json.dumps(answer))
    return 0


def merge(facts: str, result: str) -> int:
    """Add what was found to the environment's facts."""
    path = Path(facts)
    path.write_text(json.dumps({**json.loads(path.read_text()), **json.loads(Path(result).read_text())}))
    return 0


if __name__ == "__main__":
    sys.exit(merge(*sys.argv[2:]) if sys.argv[1] == "--merge" else main(*sys.argv[1:]))

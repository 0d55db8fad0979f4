"""Programs from the package index that tests and benchmarks hold goldseam against, each in an environment of its own.

    from tests import pypi_tools
    swebench = pypi_tools.environment(pypi_tools.SWEBENCH)
    process.run([swebench.program("swebench"), "--help"])

An environment is made once with uv and kept in the tests' cache folder, whatever runs at the same time. What cannot be
made is an error, never a skipped test: a promise about another tool that nobody tried is no promise.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import process

if TYPE_CHECKING:
    from collections.abc import Iterator

SWEBENCH = "swebench==5.0.2"
HARBOR = "harbor==0.24.0"
INSPECT = "inspect_ai==0.3.285"
MINI_SWE_AGENT = "mini-swe-agent==2.4.6"
PYTHONS = {HARBOR: "3.12"}
"""The least Python of those that do not run on 3.11."""
_NEWEST_MINOR = 14


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A virtual environment with a tool in it."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.program("python")

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def environment(*requirements: str, python: str | None = None) -> Environment:
    """The environment with these requirements and a Python of at least that version, made where it is not yet.

    Raises:
        InfrastructureError: there is no uv, no such Python or no package index; the message has what uv said.

    """
    least = python or max((PYTHONS.get(one, "3.11") for one in requirements), key=_minor, default="3.11")
    key = hashlib.sha256("\n".join([least, *requirements]).encode()).hexdigest()[:12]
    named = re.sub(r"[^A-Za-z0-9.]+", "-", requirements[0])
    folder = cache_folder() / "tools" / f"{named}-py{least}-{key}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            _make(folder, requirements, least)
    return Environment(folder=folder)


def hasty_docker(folder: Path) -> str:
    """A PATH with a `docker` that stops a container at once: `swebench` gives each 15 s, and it waits for them all."""
    real = process.which("docker")
    assert real, "swebench stops its containers with the docker command"
    script = folder / "docker"
    script.write_text(f'#!/bin/sh\n[ "$1" = stop ] && shift 2 && exec {real} stop --time=0 "$@"\nexec {real} "$@"\n')
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def cache_folder() -> Path:
    """Where tests keep what they fetched."""
    named = os.environ.get("GOLDSEAM_TEST_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "goldseam-tests"


def uv() -> Path:
    """The uv of this checkout, else the one on PATH."""
    checkout = Path(__file__).parent.parent
    places = (Path(sys.prefix) / "bin/uv", checkout / ".venv-uv/bin/uv", Path(process.which("uv") or "/nonexistent"))
    found = next((place for place in places if place.is_file()), None)
    assert found is not None, "tools from the package index need uv: run `make setup`"
    return found


def _make(folder: Path, requirements: tuple[str, ...], least: str) -> None:
    print(f"installing {', '.join(requirements)} from the package index", file=sys.stderr)  # noqa: T201 - once in a long while
    shutil.rmtree(folder, ignore_errors=True)
    interpreter = next(interpreters(least), None) or least  # a bare version lets uv find or download it
    process.run([uv(), "venv", "--quiet", "--python", interpreter, folder])
    process.run([uv(), "pip", "install", "--quiet", "--python", folder / "bin/python", *requirements])
    (folder / "done").touch()


def interpreters(least: str) -> Iterator[Path]:
    """Interpreters of this machine of at least that version, on PATH or of pyenv, oldest first."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in range(_minor(least), _NEWEST_MINOR + 1):
        found = process.which(f"python3.{minor}")
        is_shim = found is not None and Path(found).parent.name == "shims"  # pyenv's, of one of those below or of none
        if found and not is_shim and process.run([found, "-c", "import venv"], check=False).returncode == 0:
            yield Path(found)
        yield from sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"))


def _minor(version: str) -> int:
    return int(version.split(".")[1])

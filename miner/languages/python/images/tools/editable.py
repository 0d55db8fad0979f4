"""Runs inside a build: an editable install of the current folder in half the time that `uv pip install -e` takes.

The same hooks of the same build backend (PEP 517, PEP 660), as isolated, with build requirements that uv resolves with
the same options. What it saves: metadata are not made apart from the wheel, and an environment with build requirements
is kept in uv's cache, with its byte code, for the next commit that asks for the same ones. One that a build has written
into is not used again.
"""

import csv
import fcntl
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import tomllib
except ImportError:  # a base older than Debian 12
    tomllib = None  # type: ignore[assignment]

DEFAULT = ["setuptools>=40.8.0"]
_LEGACY = "setuptools.build_meta:__legacy__"
_WHEEL_IS_OURS = (70, 1)
"""The setuptools that makes wheels itself."""
_KEPT = 20
"""Environments, of about ten megabytes each."""
_LONGEST_BUILD = 6 * 3600
"""Seconds after which nobody uses an environment any more."""
HOOK = """
import importlib, json, os, sys
backend, paths, folder, result = sys.argv[1:]
sys.path[:] = json.loads(paths) + [path for path in sys.path if path not in ("", os.getcwd())]
module, _, names = backend.partition(":")
found = importlib.import_module(module)
for name in names.split(".") if names else ():
    found = getattr(found, name)
answer = {"can": hasattr(found, "build_editable")}
if answer["can"]:
    requires = getattr(found, "get_requires_for_build_editable", lambda settings: [])
    answer["value"] = found.build_editable(folder, {}, None) if folder else requires({})
with open(result, "w") as file:
    json.dump(answer, file)
"""


class Unable(Exception):  # noqa: N818 - no error: uv does it then
    """Not to be done in this way, which is for uv to find words for."""


class Failed(Exception):  # noqa: N818
    """The build backend failed, with words of its own."""


def build_system(*, by_uv: bool = False) -> tuple[list[str], str, list[str]]:
    """Build requirements, backend and its own folders; as PEP 517 has it where nothing is said.

    Settings of uv for the project make it unable, unless what is done next is done `by_uv`.
    """
    path = Path("pyproject.toml")
    if not path.exists() and Path("setup.py").exists():
        return DEFAULT, _LEGACY, []
    if tomllib is None:
        raise Unable
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        if told.get("tool", {}).get("uv") and not by_uv:
            raise Unable
        system = told.get("build-system") or {"requires": DEFAULT}
        requires, paths = list(system["requires"]), [str(Path(one).resolve()) for one in system.get("backend-path", [])]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise Unable from error
    if any(sign in one for one in requires for sign in ("@", "/")):
        raise Unable
    return requires, system.get("build-backend", _LEGACY), paths


def state(folder: Path) -> str:
    """What is in an environment, byte code aside."""
    seen = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = f"{root}/{name}"
            found = os.lstat(path)
            seen.update(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return seen.hexdigest()


def locked(uv: str, python: str, requires: list[str], options: tuple[str, ...]) -> bytes:
    """Build requirements with versions and hashes."""
    argv = [uv, "pip", "compile", "--quiet", "--python", python, "--no-header", "--no-annotate", "--generate-hashes"]
    asked = "\n".join(requires).encode()
    done = subprocess.run([*argv, *options, "-"], input=asked, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise Unable
    return done.stdout


def asks_for_wheel(lock: bytes) -> bool:
    """Whether this is a setuptools that requires wheel further, once it is asked: one before 70.1."""
    found = re.search(rb"^setuptools==(\d+)\.(\d+)", lock, re.MULTILINE)
    return found is not None and (int(found[1]), int(found[2])) < _WHEEL_IS_OURS


def environment(uv: str, python: str, lock: bytes, options: tuple[str, ...]) -> Path:
    """A folder whose `env` holds what is locked: one that is there, or a new one."""
    code = "import sys; print(sys.base_prefix, sys.version)"
    which = subprocess.run([python, "-I", "-c", code], stdout=subprocess.PIPE, check=True)
    name = hashlib.sha256(lock + b"\0" + which.stdout).hexdigest()[:32]
    home = Path(os.environ.get("UV_CACHE_DIR", tempfile.gettempdir()), "goldseam-builds")
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{name}.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        for count in itertools.count():
            folder = home / f"{name}-{count}"
            whole = folder / "whole"
            if not whole.exists():
                break
            if whole.read_text() == state(folder / "env"):
                whole.touch()
                return folder
        tidy(home)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "lock").write_bytes(lock)
        fill(uv, python, folder, options)
        whole.write_text(state(folder / "env"))
    return folder


def tidy(home: Path) -> None:
    """Remove the environments that were not asked for lately, where there are many."""
    used = sorted((path.stat().st_mtime, path.parent) for path in home.glob("*/whole"))
    for when, folder in used[:-_KEPT]:
        if when < time.time() - _LONGEST_BUILD:
            shutil.rmtree(folder, ignore_errors=True)


def fill(uv: str, python: str, folder: Path, options: tuple[str, ...]) -> None:
    """Make the environment of a lock."""
    install = [uv, "pip", "install", "--quiet", "--no-deps", *options]
    for argv in (
        [uv, "venv", "--quiet", "--python", python, str(folder / "env")],
        [*install, "--python", str(folder / "env/bin/python"), "-r", str(folder / "lock")],
    ):
        if subprocess.run(argv, check=False).returncode:
            raise Unable
    give_bytecode(str(folder / "env/bin/python"), str(folder / "env/lib"))


def give_bytecode(python: str, installed: str) -> None:
    """Compile what uv installed into a folder, there and in uv's cache: also for what uv builds by itself."""
    cache = os.environ.get("UV_CACHE_DIR")
    tool = Path(__file__).with_name("bytecode.py")
    if cache and tool.exists():
        argv = [python, "-I", "-S", "-W", "ignore", str(tool), "--cache", cache, "--installed", "--by-hash"]
        subprocess.run([*argv, installed], stdout=subprocess.DEVNULL, check=False)


def ask(folder: Path, backend: str, paths: list[str], wheels: str = "") -> object:
    """What a hook answers: the wheel's name where there is a folder for it, else what it requires further."""
    home = str(folder / "env")
    env = {**os.environ, "VIRTUAL_ENV": home, "PYTHONIOENCODING": "utf-8:backslashreplace"}
    env["PATH"] = f"{home}/bin:{env['PATH']}"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as result, tempfile.TemporaryFile("w+b") as said:
        argv = [f"{home}/bin/python", "-c", HOOK, backend, json.dumps(paths), wheels, result.name]
        done = subprocess.run(argv, env=env, stdout=said, stderr=said, check=False)
        if done.returncode:
            said.seek(0)
            sys.stderr.buffer.write(said.read())
            raise Failed
        answer = json.load(result)
    if not answer["can"]:
        raise Unable
    return answer["value"]


def built(uv: str, python: str, options: tuple[str, ...], wheels: str) -> str:
    """The path of an editable wheel of the current folder."""
    requires, backend, paths = build_system()
    requires = [*requires, *os.environ.get("GOLDSEAM_BUILT_WITH", "").split()]  # what it imports and does not declare
    expected = ["wheel"] if backend.startswith("setuptools.build_meta") else []
    lock = locked(uv, python, requires + expected, options)
    if expected and not asks_for_wheel(lock):
        expected, lock = [], locked(uv, python, requires, options)
    folder = environment(uv, python, lock, options)
    further = ask(folder, backend, paths)
    if not isinstance(further, list):
        raise Unable
    if further != expected:
        folder = environment(uv, python, locked(uv, python, [*requires, *further], options), options)
    return f"{wheels}/{ask(folder, backend, paths, wheels)}"


def install(uv: str, venv: str, options: tuple[str, ...]) -> int | None:
    """Install the current folder, editable; the exit code, or None where uv has to see to it."""
    python = f"{venv}/bin/python"
    site_packages = next(Path(venv, "lib").glob("python*/site-packages"))
    before = set(site_packages.glob("*.dist-info"))
    with tempfile.TemporaryDirectory() as wheels:
        try:
            wheel = built(uv, python, options, wheels)
        except (Unable, OSError):
            return None
        except Failed:
            return 1
        code = subprocess.run([uv, "pip", "install", "--python", python, "--no-deps", wheel], check=False).returncode
    if code == 0:
        for metadata in set(site_packages.glob("*.dist-info")) - before:
            settle(metadata)
    return code


def settle(metadata: Path) -> None:
    """Say where it was installed from, as uv does, and not when."""
    told = {"url": Path.cwd().as_uri(), "dir_info": {"editable": True}}
    (metadata / "direct_url.json").write_text(json.dumps(told, separators=(",", ":")))
    (metadata / "uv_cache.json").unlink(missing_ok=True)
    record = metadata / "RECORD"
    rows = list(csv.reader(record.read_text().splitlines()))
    ours = {f"{metadata.name}/direct_url.json", f"{metadata.name}/uv_cache.json"}
    kept = [row for row in rows if row[0] not in ours]
    with record.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([*kept, [f"{metadata.name}/direct_url.json", "", ""]])

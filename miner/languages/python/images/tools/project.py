"""Runs inside a build: make the tree in the current folder importable in a virtual environment, from where it stands.

Editable where the build backend can; else its wheel's metadata and scripts with a path file to the tree; a tree that
can't be installed at all gets the path file only.
"""

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import editable  # type: ignore[import-not-found]  # stands beside it there


def path_file(site_packages: Path, roots: list[str], pythonpath: str) -> None:
    """Put folders of the tree on sys.path, and say which."""
    lines = [str(Path(root).resolve()) for root in roots]
    (site_packages / "goldseam.pth").write_text("\n".join(lines) + "\n")
    Path(pythonpath).write_text(json.dumps(roots))


def root_of(path: str) -> str | None:
    """The folder of the tree that holds an installed file's top-level package or module."""
    top = path.split("/", maxsplit=1)[0]
    return next((root for root in ("src", "lib", "python", ".") if Path(root, top).exists()), None)


def recorded(metadata: Path) -> list[str]:
    """The modules and data that a distribution installed, relative to site-packages."""
    rows = csv.reader((metadata / "RECORD").read_text().splitlines())
    return [row[0] for row in rows if not row[0].startswith("..") and ".dist-info/" not in row[0]]


def to_tree(site_packages: Path, metadata: Path) -> list[str]:
    """Leave the installed modules to the tree; files made by the build (such as a version) move there."""
    roots = set()
    paths = recorded(metadata)
    for path in paths:
        installed = site_packages / path
        root = root_of(path)
        if root is None or not installed.is_file():
            continue
        roots.add(root)
        target = Path(root, path)
        if target.exists() or "__pycache__" in path:
            installed.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(str(installed), str(target))
    for top in {path.split("/")[0] for path in paths}:
        remove_empty(site_packages / top)
    return sorted(roots) or ["."]


def remove_empty(folder: Path) -> None:
    """Remove a package folder that holds no file any more: it would be imported as a namespace package."""
    if folder.is_dir() and not any(path.is_file() for path in folder.rglob("*")):
        shutil.rmtree(folder)


def install(uv: str, venv: str, site_packages: Path, pythonpath: str, how: str, options: tuple[str, ...]) -> int:
    """Try an editable install, then a wheel; the exit code of the last one tried."""
    base = [uv, "pip", "install", "--python", f"{venv}/bin/python", "--no-deps", *options]
    code = editable.install(uv, venv, options)
    if code is None:
        code = subprocess.run([*base, "-e", "."], check=False).returncode
    if code == 0:
        Path(how).write_text("uv pip install --no-deps -e .")
        return 0
    print("no editable install; taking the metadata of a wheel and a path file", flush=True)
    Path(how).write_text("uv pip install --no-deps .")
    before = set(site_packages.glob("*.dist-info"))
    code = subprocess.run([*base, "."], check=False).returncode
    for metadata in set(site_packages.glob("*.dist-info")) - before:
        path_file(site_packages, to_tree(site_packages, metadata), pythonpath)
    return code


def main(uv: str, venv: str, installable: str, pythonpath: str, how: str, *options: str) -> int:
    """Install the current folder; `installable` is `yes` or `no`, `options` are for `uv pip install`.

    `pythonpath` and `how` are files to write: folders that had to be put on sys.path, the command that installed it.
    """
    site_packages = next(Path(venv, "lib").glob("python*/site-packages"))
    if installable == "no":
        path_file(site_packages, [root for root in (".", "src") if Path(root).is_dir()], pythonpath)
        return 0
    return install(uv, venv, site_packages, pythonpath, how, options)


sys.exit(main(*sys.argv[1:]))

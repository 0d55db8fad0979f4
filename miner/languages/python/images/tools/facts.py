"""Runs inside a build: what the finished environment holds, as one JSON object on standard output."""

import configparser
import json
import re
import subprocess
import sys
from pathlib import Path


class _Ini(configparser.RawConfigParser):
    def optionxform(self, optionstr: str) -> str:
        return optionstr


def plugins(site_packages: Path) -> list[str]:
    """Names of the pytest plugins that installed distributions declare (entry points of group pytest11)."""
    found: set[str] = set()
    for file in (*sorted(site_packages.glob("*.dist-info/entry_points.txt")), *developed(site_packages)):
        parser = _Ini(delimiters=("=",), strict=False)
        parser.read_string(file.read_text(encoding="utf-8"))
        if parser.has_section("pytest11"):
            found.update(parser.options("pytest11"))
    return sorted(found)


def developed(site_packages: Path) -> "list[Path]":
    """The entry points of what `setup.py develop` installed, which has its metadata in the tree."""
    trees = [Path(link.read_text().splitlines()[0]) for link in sorted(site_packages.glob("*.egg-link"))]
    return [file for tree in trees for file in sorted(tree.glob("*.egg-info/entry_points.txt"))]


def version(site_packages: Path, name: str) -> str:
    """Version of an installed distribution, by its metadata."""
    for folder in site_packages.glob("*.dist-info"):
        distribution, _, number = folder.name[: -len(".dist-info")].partition("-")
        if distribution.lower().replace("_", "-") == name:
            return number
    return ""


def modules(site_packages: Path) -> list[str]:
    """Names that can be imported from site-packages: top-level modules and packages."""
    found = {path.name.split(".")[0] for path in site_packages.glob("*.py")}
    found.update(path.name.split(".")[0] for path in site_packages.glob("*.so"))
    found.update(path.name for path in site_packages.iterdir() if path.is_dir() and path.name.isidentifier())
    return sorted(found - {"__pycache__", "__editable__"})


def python(venv: str) -> str:
    """Version of the interpreter, as uv left it with the environment."""
    lines = Path(venv, "pyvenv.cfg").read_text().splitlines()
    told = dict(re.split(r"\s*=\s*", line, maxsplit=1) for line in lines if "=" in line)
    if found := told.get("version_info"):
        return found
    code = "import platform; print(platform.python_version())"
    done = subprocess.run([f"{venv}/bin/python", "-I", "-c", code], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()


def main(venv: str, pythonpath: str, how: str = "none") -> None:
    """Look at the virtual environment `venv`; `pythonpath` and `how` name files, which may be missing."""
    site_packages = next(Path(venv, "lib").glob("python*/site-packages"))
    roots = Path(pythonpath)
    facts = {
        "python": python(venv),
        "pytest": version(site_packages, "pytest"),
        "plugins": plugins(site_packages),
        "modules": modules(site_packages),
        "how": Path(how).read_text() if Path(how).exists() else "",
        "pythonpath": json.loads(roots.read_text()) if roots.exists() else [],
    }
    json.dump(facts, sys.stdout, sort_keys=True)


main(*sys.argv[1:])

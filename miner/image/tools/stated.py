"""Runs inside a build: what a project requires that only its build backend can tell, written down for uv to read.

Prints the path of a `pyproject.toml` that states it, or the one that was given: where everything is stated there
already, and where uv has to ask for itself.
"""

import email.parser
import json
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import editable  # type: ignore[import-not-found]  # stands beside it there

_EXTRA = re.compile(r"""^(?P<what>[^;]+?)\s*;\s*(?:(?P<rest>.+)\s+and\s+)?extra\s*==\s*['"](?P<extra>[^'"]+)['"]$""")


def is_stated(path: Path) -> bool:
    """Whether dependencies and extras are data."""
    told = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    project = told.get("project")
    return project is not None and not {"dependencies", "optional-dependencies"}.intersection(
        project.get("dynamic", ())
    )


def stated(metadata: bytes) -> str:
    """The same as a `pyproject.toml`; for markers of another form than build backends write, `editable.Unable`."""
    told = email.parser.BytesParser().parsebytes(metadata)
    extras: dict[str, list[str]] = {name: [] for name in told.get_all("Provides-Extra", [])}
    always: list[str] = []
    for line in told.get_all("Requires-Dist", []):
        if "extra" not in line.partition(";")[2]:
            always.append(line)
            continue
        match = _EXTRA.match(line)
        if match is None or match["extra"] not in extras or "extra" in (match["rest"] or ""):
            raise editable.Unable
        extras[match["extra"]].append(f"{match['what']} ; {match['rest']}" if match["rest"] else match["what"])
    python = told.get("Requires-Python")
    lines = ["[project]", f"name = {json.dumps(told['Name'])}", f"version = {json.dumps(told['Version'])}"]
    lines += [f"requires-python = {json.dumps(python)}"] if python else []
    lines += [f"dependencies = {json.dumps(always)}", "[project.optional-dependencies]"]
    lines += [f"{json.dumps(name)} = {json.dumps(required)}" for name, required in extras.items()]
    return "\n".join(lines) + "\n"


def main(uv: str, python: str, project: str, into: str, *options: str) -> str:
    """The path for uv."""
    try:
        os.chdir(Path(project).parent)
        if is_stated(Path("pyproject.toml")):
            return project
        with tempfile.TemporaryDirectory() as folder:
            requires, hook = "get_requires_for_build_wheel", "prepare_metadata_for_build_wheel"
            found = editable.made(uv, python, options, hook, requires_hook=requires, into=folder)
            text = stated((found / "METADATA").read_bytes())
        path = Path(into, "pyproject.toml")
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    except (editable.Unable, editable.Failed, OSError, ValueError):
        return project
    print("what the project requires is stated by its build backend", file=sys.stderr, flush=True)
    return str(path)


print(main(*sys.argv[1:]))

"""Compile for the build cache what trials would compile anew each time; overlay.py of the harness stands before it.

    warm.py SOURCES FACTS WHAT FOLDER...

WHAT is `std`, the standard library; `modules`, what packages below the folders (modules of one tree) import of
others; or `packages`, they themselves with their tests. What can't be compiled is left to the trials. Standard library.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TAIL = 2000
FOREIGN = "{{if not .Standard}}{{if .Module}}{{if not .Module.Main}}{{.ImportPath}}{{end}}{{end}}{{end}}"
FAR = 2_000_000_000
"""The time of entries, in 2033: one that is an hour old the toolchain sets anew, and a layer would hold it twice."""


def go(folder: str, *words: str) -> "tuple[bool, str, str]":
    ran = subprocess.run(["go", *words], cwd=folder, check=False, capture_output=True, text=True, errors="replace")
    print(ran.stderr)
    return ran.returncode == 0, ran.stdout, ran.stderr


def settle(cache: Path) -> None:
    for folder, _, names in os.walk(cache):
        for name in names:
            path = Path(folder) / name
            if path.stat().st_mtime < FAR:
                os.utime(path, (FAR, FAR))


def main(sources: str, facts: str, kind: str, *folders: str) -> None:
    texts = json.loads(Path(sources).read_text())
    overlay = "-overlay=" + overlaid(tempfile.mkdtemp(), os.environ["GOROOT"], texts)  # noqa: F821
    file = Path(facts)
    findings: dict[str, object] = json.loads(file.read_text()) if file.exists() else {}
    failures = []
    for folder in folders or ("/",):
        if kind == "std":
            if not go(folder, "build", overlay, "std")[0]:
                raise SystemExit("the standard library can't be compiled")
            findings["go"] = go(folder, "env", "GOVERSION")[1].strip()
        elif kind == "modules":
            _, listed, _ = go(folder, "list", "-e", "-deps", "-test", "-f", FOREIGN, "./...")
            packages = [name for name in dict.fromkeys(listed.split()) if not name.endswith((".test", "]"))]
            if packages and not go(folder, "build", overlay, *packages)[0]:
                for name in packages:
                    go(folder, "build", overlay, name)
        else:
            well, _, errors = go(folder, "list", "-e", "-export", "-test", overlay, "-f", "{{.ImportPath}}", "./...")
            failures += [] if well and not errors.strip() else [errors.strip()]
    if failures:
        findings["not_compiled"] = "\n".join(failures)[-TAIL:]
    settle(Path(os.environ["GOCACHE"]))
    file.write_text(json.dumps(findings))


main(*sys.argv[1:])

"""Fetch a version of Go from the module proxy and unpack it into a folder: the newest release of a minor version.

    toolchain.py MINOR ARCHITECTURE FOLDER

The proxy is the first of GOPROXY, as the toolchain itself has it. Standard library.
"""

from __future__ import annotations

import io
import os
import re
import sys
import urllib.request
import zipfile
from pathlib import Path

PROXIES = re.split(r"[,|]", os.environ.get("GOPROXY", ""))
PROXY = next((proxy.rstrip("/") for proxy in PROXIES if "://" in proxy), "https://proxy.golang.org")
MODULE = "golang.org/toolchain"
UNUSED = re.compile(r"(?:test|api|doc|misc)/.*|.*/testdata/.*|.*_test\.go")


def get(path: str) -> bytes:
    with urllib.request.urlopen(f"{PROXY}/{MODULE}/@v/{path}", timeout=300) as answer:  # noqa: S310 - the user's proxy
        return bytes(answer.read())


def main(minor: str, architecture: str, folder: Path) -> None:
    form = re.compile(rf"v0\.0\.1-go1\.{minor}(?:\.(\d+))?\.linux-{architecture}")
    releases = {int(match[1] or 0): match[0] for match in map(form.fullmatch, get("list").decode().split()) if match}
    if not releases:
        raise SystemExit(f"the module proxy has no Go 1.{minor} for {architecture}")
    version = releases[max(releases)]
    with zipfile.ZipFile(io.BytesIO(get(f"{version}.zip"))) as entries:
        for entry in entries.infolist():
            name = entry.filename.partition(f"{MODULE}@{version}/")[2]
            place = Path(os.path.normpath(folder / name))
            if not name or entry.is_dir() or UNUSED.fullmatch(name) or folder not in place.parents:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(entries.read(entry))
            place.chmod(0o755 if name.startswith(("bin/", "pkg/tool/")) else 0o644)
    print(version)


main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))

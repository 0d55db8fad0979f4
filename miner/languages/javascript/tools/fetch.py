"""Fetch a package from npm's registry, by its name and the beginning of a version, and unpack it into a folder.

    fetch.py NAME VERSION FOLDER

The newest version that begins so is taken, its archive checked against the registry's own digest and kept in the
build's cache. Standard library.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path

REGISTRY = (os.environ.get("NPM_CONFIG_REGISTRY") or "https://registry.npmjs.org").rstrip("/")
CACHE = Path("/run/goldseam/uv-cache/archives")
ABBREVIATED = "application/vnd.npm.install-v1+json"


def get(address: str, accept: str = "*/*") -> bytes:
    request = urllib.request.Request(address, headers={"Accept": accept})  # noqa: S310 - the user's own registry
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
        return bytes(answer.read())


def newest(versions: list[str], begin: str) -> str:
    numbers = {}
    for version in versions:
        match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
        if match and (version == begin or version.startswith(f"{begin}.")):
            numbers[tuple(map(int, match.groups()))] = version
    if not numbers:
        raise SystemExit(f"the registry has no version {begin} of {sys.argv[1]}")
    return numbers[max(numbers)]


def archive(name: str, version: str, address: str, digest: str) -> bytes:
    kept = CACHE / f"{name.replace('/', '+')}-{version}.tgz"
    data = kept.read_bytes() if kept.exists() else get(address)
    kind, _, expected = digest.partition("-")
    if kind == "sha512" and base64.b64encode(hashlib.sha512(data).digest()).decode() != expected:
        kept.unlink(missing_ok=True)
        raise SystemExit(f"{name}@{version} is not what the registry says")
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=CACHE)  # other builds may fetch the same
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(part).replace(kept)
    return data


def unpack(data: bytes, folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as entries:
        for entry in entries:
            place = Path(os.path.normpath(folder / entry.name.partition("/")[2]))
            content = entries.extractfile(entry) if entry.isfile() else None
            if content is None or folder not in place.parents:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                shutil.copyfileobj(content, file)
            place.chmod(0o755 if entry.mode & 0o111 else 0o644)


def main(name: str, begin: str, folder: str) -> None:
    known = json.loads(get(f"{REGISTRY}/{name.replace('/', '%2f')}", ABBREVIATED))["versions"]
    version = newest(list(known), begin)
    dist = known[version]["dist"]
    unpack(archive(name, version, dist["tarball"], dist.get("integrity", "")), Path(folder))
    print(f"{name} {version}")


main(*sys.argv[1:])

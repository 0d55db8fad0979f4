"""Fetch a version of Maven from Maven Central and unpack it into a folder.

    maven.py VERSION FOLDER

Checked by its SHA-512 where Central has that. Standard library.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

CENTRAL = "https://repo.maven.apache.org/maven2/org/apache/maven/apache-maven"


def get(path: str) -> bytes:
    with urllib.request.urlopen(f"{CENTRAL}/{path}", timeout=300) as answer:  # noqa: S310 - https
        return bytes(answer.read())


def main(version: str, folder: Path) -> None:
    name = f"{version}/apache-maven-{version}-bin.tar.gz"
    try:
        data = get(name)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"Maven Central has no Maven {version}: {error}") from None
    try:
        digest = get(f"{name}.sha512").decode().split()[0]
    except urllib.error.HTTPError:
        digest = None  # before Maven 3.5.3
    if digest and hashlib.sha512(data).hexdigest() != digest:
        raise SystemExit(f"Maven {version} has not the digest that Maven Central tells")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xzf-", "-C", folder, "--strip-components=1", "--no-same-owner"], input=data, check=True)


main(sys.argv[1], Path(sys.argv[2]))

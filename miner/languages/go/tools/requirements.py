"""Write what a tree of before there were modules requires into its go.mod and go.sum: versions as of a day.

    requirements.py TREE DAY FACTS

DAY is YYYY-MM-DD. Of a module that had no release by then the first one is required, or where there is none what is
newest now. FACTS gets both files, as JSON. The versions are those of the first proxy of GOPROXY. Standard library.
"""

from __future__ import annotations

import bisect
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

PROXIES = re.split(r"[,|]", os.environ.get("GOPROXY", ""))
PROXY = next((proxy.rstrip("/") for proxy in PROXIES if "://" in proxy), "https://proxy.golang.org")
TOO_NEW = re.compile(r"(\S+)@\S+ requires go >=")
VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:\+incompatible)?")


def get(module: str, name: str) -> bytes:
    escaped = re.sub("[A-Z]", lambda match: "!" + match[0].lower(), module)
    with urllib.request.urlopen(f"{PROXY}/{escaped}/@v/{name}", timeout=60) as answer:  # noqa: S310 - the user's proxy
        return bytes(answer.read())


def version_of(module: str, day: str) -> str:
    """The newest release of a module that was there at the end of a day, else its first; empty if there is none."""

    def day_of(version: str) -> str:
        return str(json.loads(get(module, f"{version}.info"))["Time"])[: len(day)]

    matches = filter(None, map(VERSION.fullmatch, get(module, "list").decode().split()))
    releases = [match[0] for match in sorted(matches, key=lambda match: tuple(map(int, match.groups())))]
    at = bisect.bisect_right(releases, day, key=day_of)
    return next((version for version in reversed(releases[:at]) if day_of(version) <= day), (releases or [""])[0])


def main(tree: str, day: str, facts: str) -> None:
    os.chdir(tree)
    missed = TOO_NEW.findall(go("mod", "tidy", "-e").stderr)
    required = json.loads(go("mod", "edit", "-json").stdout)["Require"] or []
    for module in dict.fromkeys([*missed, *(entry["Path"] for entry in required if not entry.get("Indirect"))]):
        try:
            version = version_of(module, day)
        except OSError as error:
            raise SystemExit(f"the module proxy can't be asked for versions of {module}: {error}") from None
        if version:
            go("mod", "edit", f"-require={module}@{version}")
    go("mod", "tidy", "-e")
    Path("go.sum").touch()
    Path(facts).write_text(json.dumps({name: Path(name).read_text() for name in ("go.mod", "go.sum")}))


def go(*words: str) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(["go", *words], check=False, capture_output=True, text=True, errors="replace")
    print(ran.stderr, file=sys.stderr)
    return ran


main(*sys.argv[1:])

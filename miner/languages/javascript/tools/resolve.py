"""Lock what manifests require, with the versions of a day, or of the first later day on which all of it is there.

    resolve.py OUTPUT CACHE DAY UNTIL LINE

Days are as of UTC (`2026-04-01T00:00:00Z`), or `-` for the newest versions. LINE is for `sh`; with the options of npm
in $AS_OF it writes package-lock.json. OUTPUT gets the lock and its day as JSON. What the registry says of packages is
kept in a folder of CACHE for each month; of that month's begin and before it is not asked again. Standard library.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

LATER = re.compile(r"No matching version found for ((?:@[^/\s]+/)?[^@\s]+)@(.+) with a date before")
ROUNDS = 8
"""Days that are tried at most: each has one requirement more than the one before it."""


def call(words: list[str], *, shown: bool = True) -> tuple[bool, str]:
    """Whether a command ends well, and its output."""
    ran = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=None if not shown else subprocess.STDOUT)
    text = ran.stdout.decode("utf-8", "replace")
    if shown:
        print(text, flush=True)
    return ran.returncode == 0, text


def resolve(line: str, day: str, month: str) -> tuple[bool, str]:
    options = [] if day == "-" else [f"--before={day}"]
    if options and day <= f"{month}-01T00:00:00Z":
        options.append("--prefer-offline")
    os.environ["AS_OF"] = " ".join(options)
    return call(["sh", "-c", line])


def first_with(name: str, wish: str) -> str:
    """The first midnight after which a version of a package is there that fulfils a wish; empty where none is."""
    is_well, versions = call(["npm", "view", f"{name}@{wish}", "version", "--json"], shown=False)
    _, times = call(["npm", "view", name, "time", "--json"], shown=False)
    if not is_well or not versions.strip():
        return ""
    matching = json.loads(versions)
    days = json.loads(times)
    moments = [days[version] for version in (matching if isinstance(matching, list) else [matching]) if version in days]
    if not moments:
        return ""
    return f"{date.fromisoformat(min(moments)[:10]) + timedelta(days=1)}T00:00:00Z"


def main(output: str, cache: str, day: str, until: str, line: str) -> None:
    month = time.strftime("%Y-%m", time.gmtime())
    os.environ["npm_config_cache"] = f"{cache}/npm-{month}"  # noqa: SIM112 - npm's own spelling
    for _ in range(ROUNDS):
        is_well, said = resolve(line, day, month)
        if is_well:
            Path(output).write_text(json.dumps({"day": day, "lock": Path("package-lock.json").read_text()}))
            return
        match = LATER.search(said)
        later = first_with(*match.groups()) if match and day != until else ""
        if not day < later <= until:
            break
        day = later
    sys.exit(1)


main(*sys.argv[1:])

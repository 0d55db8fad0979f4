"""Runs inside a build: which commit a git repository had on a day, where a lock has one that is younger.

Reads `[[address, commit], …]` and a moment (seconds since 1970); writes, by address, the commit that the branch of the
given one had by then (of first parents, by the committers' dates), or null where git can't tell.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def git(folder: str, *words: str) -> str:
    """What git says."""
    done = subprocess.run(["git", "-C", folder, *words], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8", "replace").strip()


def commit_of(address: str, commit: str, moment: int) -> "str | None":
    """The commit of a day; the given one where it is as old."""
    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init", "--quiet", "--bare")
        # commits alone where the server can leave trees out; else, everything
        git(
            folder,
            "fetch",
            "--quiet",
            "--filter=tree:0",
            address,
            "+refs/heads/*:refs/heads/*",
            "+refs/tags/*:refs/tags/*",
        )
        if int(git(folder, "show", "--no-patch", "--format=%ct", commit)) <= moment:
            return commit
        return git(folder, "rev-list", "-1", "--first-parent", f"--before={moment}", commit) or None


def main(asked: str, moment: str, answer: str) -> None:
    """Answer for all that is asked, in files."""
    found = {}
    for address, commit in json.loads(Path(asked).read_text()):
        try:
            found[address] = commit_of(address, commit, int(moment))
        except (subprocess.CalledProcessError, ValueError):
            found[address] = None
    Path(answer).write_text(json.dumps(found))


main(*sys.argv[1:])

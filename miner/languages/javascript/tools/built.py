"""While an image is made: build what the tests of a tree load, and find out which files that gives.

    built.py PLAN OUT       PLAN is JSON: `wanted`, `commands`, `lenient` of miner/languages/javascript/build.py

The first command that gives any of what is wanted counts, where nothing is named any that makes a file; of a
package's and its root's, the one that gives more. One that ends by errors of TypeScript's types runs once more with
the variables that are `lenient`, which the build then keeps. It runs as in a trial: without .git and without a
network. New files that are none of its outputs are removed, what it changed in files of the repository is taken back.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

TREE = Path("/testbed")
HIDDEN = Path("/testbed.git")
SECONDS = 600
TAIL = 2000
MOST = 400
"""Outputs of one build."""
OF_TYPES = re.compile(r"\bTS[1-9]\d{3,4}\b")
"""What the compiler complains of."""


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(TREE), *words], check=True, capture_output=True)
    return [name for name in done.stdout.decode("utf-8", "surrogateescape").split("\0") if name]


def run(folder: str, line: str, more: dict[str, str]) -> tuple[bool, float, str]:
    """Whether a command ended well, its seconds, the end of what it printed."""
    env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    env.update(more)
    (TREE / ".git").rename(HIDDEN)
    began = time.monotonic()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=TREE / folder,
            env=env,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        ok, printed = done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired as error:
        ok, printed = False, error.stdout or b""
    finally:
        HIDDEN.rename(TREE / ".git")
    text = printed.decode("utf-8", "replace")
    print(text)
    return ok, time.monotonic() - began, text[-TAIL:]


def new_files() -> list[str]:
    return [path for path in git("ls-files", "-o", "-z") if "node_modules" not in path.split("/")]


def outputs(files: list[str]) -> list[str]:
    """The files, a folder in which nothing else is for all below it; none that hides itself."""
    tracked = {str(folder) for path in git("ls-files", "-z") for folder in Path(path).parents}
    found = {}
    for path in files:
        folders = [str(folder) for folder in reversed(Path(path).parents)]
        whole = next((folder for folder in folders if folder not in tracked), None)
        if not any(part.startswith(".") for part in Path(path).parts) and not path.endswith(".tsbuildinfo"):
            found[f"{whole}/" if whole else path] = None
    return list(found)


def take_back(kept: list[str]) -> None:
    """Remove what a command left, but for some of it."""
    git("checkout", "-q", "--", ".")
    for path in new_files():
        if path not in kept and not any(folder.endswith("/") and path.startswith(folder) for folder in kept):
            (TREE / path).unlink()


def result_of(
    folder: str, line: str, wanted: list[list[str]], lenient: dict[str, str]
) -> tuple[int, dict[str, object] | str]:
    """How much of what is wanted a command gives, and what it makes of it; else why it is no use."""
    env: dict[str, str] = {}
    ok, seconds, text = run(folder, line, env)
    if not ok and OF_TYPES.search(text):
        take_back([])
        env = lenient
        ok, seconds, text = run(folder, line, env)
    files = new_files() if ok else []
    satisfied = sum(any((TREE / way).is_file() for way in ways) for ways in wanted) if wanted else len(files)
    produced = outputs(files) if satisfied else []
    if produced and len(produced) <= MOST:
        return satisfied, {"folder": folder, "command": line, "outputs": produced, "seconds": seconds, "env": env}
    return 0, f"{line}: {text if not ok else 'it does not make what the tests load'}"


def main(plan_text: str, out: str) -> None:
    plan = json.loads(plan_text)
    wanted, commands = plan["wanted"], plan["commands"]
    results = []
    for folder, line in commands:
        results.append(result_of(folder, line, wanted, plan["lenient"]))
        # what a package of a workspace does not build, its root may
        if results[-1][0] >= (max(1, len(wanted)) if folder != commands[-1][0] else 1):
            break
        take_back([])
    best = max(range(len(results)), key=lambda number: results[number][0])
    satisfied, produced = results[best]
    if satisfied and best < len(results) - 1:
        satisfied, produced = result_of(*commands[best], wanted, plan["lenient"])
    if satisfied and isinstance(produced, dict):
        take_back(produced["outputs"])
        with (TREE / ".git/info/exclude").open("a") as exclude:
            exclude.write("".join(f"/{path}\n" for path in produced["outputs"]))
        facts = {"build": produced}
    else:
        facts = {"not_built": "\n".join(str(why) for _, why in results)[-TAIL:]}
    Path(out).write_text(json.dumps(facts))


main(*sys.argv[1:])

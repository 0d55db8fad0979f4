"""Run the commands of docs/tutorial.md from the first to the last, in an empty folder.

Commands are the lines that begin with `$ ` in its `console` blocks, with their `> ` continuations. Each has to end with
0; where the page prints `exit code N`, the same line has to come. `--source` is the repository to mine in place of the
one that the page clones; without it this is the demo's own library, since CI may reach no forge. `--write` puts what
was printed into the page, for which `--source` has to be a clone of the repository that the page names. Without it no
strength of tests is measured: no command hangs on it, and `make demo` measures it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess  # noqa: TID251 - a program of its own, which runs what a reader types into a shell
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from miner.demo.history import build_history, locate_data

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"git clone .*(https://\S+\.git)")
_EXIT = re.compile(r"^exit code \d+$", re.MULTILINE)
_LINES_SHOWN = 40
_COLUMNS = "110"


@dataclass
class Step:
    """One command of the page, as lines, and the output that the page shows."""

    command: list[str]
    output: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", help="repository to mine in place of the page's: a folder or an address")
    parser.add_argument("--write", action="store_true", help="put the outputs into the page")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    options = parser.parse_args()
    if not options.write:
        os.environ.setdefault("GOLDSEAM_MINING_MUTANTS", "0")
    with tempfile.TemporaryDirectory(prefix="goldseam-tutorial-") as temporary:
        folder = options.folder or Path(temporary) / "work"
        folder.mkdir(parents=True, exist_ok=True)
        source = options.source or str(build_history(Path(temporary) / "library", locate_data()).path)
        text = PAGE.read_text(encoding="utf-8")
        address = next(hit[1] for hit in _ADDRESS.finditer(text))
        begun = time.monotonic()
        try:
            new = _BLOCK.sub(lambda block: _run_block(block[1], source, address, folder), text)
        except AssertionError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        print(f"every command of {PAGE.name} ended as the page says, in {time.monotonic() - begun:.0f} s")
    if options.write:
        PAGE.write_text(new, encoding="utf-8")
    return 0


def steps(block: str) -> list[Step]:
    """The commands of a block, each with what the page shows below it."""
    read: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            read.append(Step([line[2:]]))
        elif line.startswith(">") and not read[-1].output:
            read[-1].command.append(line[2:])
        else:
            read[-1].output.append(line)
    return read


def _run_block(block: str, source: str, address: str, folder: Path) -> str:
    return "```console\n" + "".join(_run(step, source, address, folder) for step in steps(block)) + "```"


def _run(step: Step, source: str, address: str, folder: Path) -> str:
    shown = "\n".join(step.command)
    print(f"$ {shown}", flush=True)
    environment = {
        **os.environ,
        "PATH": f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": _COLUMNS,
        "NO_COLOR": "1",
        "GIT_CONFIG_COUNT": "1",  # git clones from the source, and notes the page's address as the origin
        "GIT_CONFIG_KEY_0": f"url.{source}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
    }
    done = subprocess.run(
        ["bash", "-c", shown], cwd=folder, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    output = done.stdout.replace(str(ROOT), "…")
    print(output, flush=True)
    if done.returncode:
        raise AssertionError(f"ended with {done.returncode}: {shown}")
    expected = _EXIT.findall("\n".join(step.output))
    if expected and expected != _EXIT.findall(output):
        raise AssertionError(f"the page says {expected[0]!r}: {shown}")
    typed = "\n".join(f"> {line}".rstrip() for line in step.command)[2:]
    return f"$ {typed}\n" + "".join(f"{line}\n" for line in _shortened(output))


def _shortened(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if len(lines) <= _LINES_SHOWN:
        return lines
    half = _LINES_SHOWN // 2
    return [*lines[:half], "…", *lines[-half + 1 :]]


if __name__ == "__main__":
    sys.exit(main())

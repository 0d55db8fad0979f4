"""What tests of faults share: a run that is disturbed half-way, and what it has to come to all the same."""

from __future__ import annotations

import json
import os
import subprocess  # noqa: TID251 - a program to be disturbed half-way
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.sandbox import engine
from tests import forked, tiny, waiting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SLOW = 3
JOBS = SLOW + 1
"""Containers that a run takes: one prediction changes nothing."""
TIMES = {"timings", "cpu_seconds", "max_rss_kb", "attempts", "evidence_sha256", "mac"}
"""What two runs never share: how long things took, how often they had to be tried, and what was made from that."""
IGNORED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGTSTP")
STUBBORN = tiny.fix(
    f"for name in {IGNORED!r}: signal.signal(getattr(signal, name), signal.SIG_IGN)",
    "for _ in range(3): os.fork() or os.setsid()",
    "while True:",
    "    try: time.sleep(60)",
    "    except BaseException: pass",
    top=("import os, signal, time",),
)
"""Ignores every signal that can be ignored, in eight processes that have left their session."""


def command(folder: Path, image: str) -> list[str | Path]:
    """The start of a command that scores patches, all that run slow enough to be met at work."""
    patient = replace(tiny.task().instance.budgets, seconds=300)  # a busy machine is not what is tried here
    tiny.dataset(folder / "dataset", tiny.task(image, budgets=patient))
    answers = {**{f"m{number}": "return a + b" for number in range(SLOW)}, "wrong": "return a * b"}
    slow = {name: tiny.fix(f"import time; time.sleep(1)  # {name}", body) for name, body in answers.items()}
    predictions = tiny.write_predictions(folder / "p.jsonl", {**slow, "none": ""})
    return ["evaluate", folder / "dataset", "-p", predictions, "--control", "0", "--no-signals"]


def found(run: Path, *, image: bool = True) -> tuple[bytes, dict[str, dict[str, object]]]:
    """What a run came to: its report, and that of each prediction without times.

    Without `image` nothing is in it that hangs on the name of the image: two runs may have had it from elsewhere.
    """
    left_out = TIMES if image else {*TIMES, "key"}
    reports = {
        str(path.relative_to(run)): {
            name: x for name, x in json.loads(path.read_bytes()).items() if name not in left_out
        }
        for path in run.glob("results/*/*/*/report.json")
    }
    return (run / "report.json").read_bytes(), reports


def attempts(run: Path) -> int:
    """The most that a prediction took."""
    return max(json.loads(path.read_bytes())["attempts"] for path in run.glob("results/*/*/*/report.json"))


def started(argv: list[str | Path]) -> forked.Started:
    """The program, running; what it tells is to be read from its standard error."""
    return forked.started(*argv)


def started_anew(argv: list[str | Path], env: Mapping[str, str]) -> subprocess.Popen[str]:
    """The same with variables that count from the first instruction of its interpreter."""
    whole = [sys.executable, "-m", "miner.cli.main", *map(str, argv)]
    return subprocess.Popen(whole, stderr=subprocess.PIPE, text=True, env={**os.environ, **env})


def told(child: forked.Started | subprocess.Popen[str], text: str) -> str:
    """What a program says until it says this."""
    said = ""
    for line in child.stderr or ():
        said += line
        if text in line:
            return said
    raise AssertionError(f"{text!r} was never told:\n{said}")


def containers() -> list[dict[str, object]]:
    """Every container of the engine in use."""
    return engine.connect().containers(all=True)


def at_work() -> dict[str, Any]:
    """A container that has just been started on the engine in use."""
    before = {one["Id"] for one in engine.connect().containers()}
    return waiting.until(lambda: next((one for one in engine.connect().containers() if one["Id"] not in before), None))

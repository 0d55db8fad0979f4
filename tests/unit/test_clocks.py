"""Limits and durations are measured on the clock that never jumps."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WALL_CLOCK = {
    "harness/runs/refresh/notes.py": "what another process saw a day ago is too old to be taken over",
    "harness/languages/inside/clock.py": "a task's own date is told as its distance from the real one",
    "harness/languages/python/inside/handout.py": "what a test wrote is told by the time of its files",
    "harness/solve/models/response_cache.py": "the oldest answers go first, whatever process kept them",
    "miner/images/downloads.py": "what no build used for days is told by the time of its folder",
    "miner/layers/limits.py": "what a build wrote into a cache is told by the time of its files",
    "miner/languages/python/images/tools/editable.py": "an unused environment is told by the time of its files",
    "miner/sources/github_client.py": "a server tells the time of day when it will answer again",
}
"""Files that may ask for the time of day as a number, and why."""


def asks_for_the_time_of_day(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return "time.time" in text and any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("time", "time"), ("time", "time_ns")}
        for node in ast.walk(ast.parse(text))
    )


def test_no_deadline_and_no_duration_reads_the_time_of_day():
    sources = [path for package in ("harness", "miner") for path in (ROOT / package).rglob("*.py")]
    assert len(sources) > 50
    found = {str(path.relative_to(ROOT)) for path in sources if asks_for_the_time_of_day(path)}
    assert found <= set(WALL_CLOCK)

"""Python is read in one place, from any thread."""

from __future__ import annotations

import ast
import gc
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.core.python_source import parse, parsed

ROOT = Path(__file__).parents[2]
SOURCE = "".join(
    f"def f{number}(a, b=[1, 2, 3]):\n    if a:\n        return [x for x in b if x and (a or b)]\n"
    for number in range(60)
)


class Finaliser:
    """Lets another thread go on wherever the collector meets it: within the making of a tree, too."""

    def __del__(self) -> None:
        time.sleep(0)


@pytest.fixture
def restless():
    """Threads that change all the time, and a collector that runs all the time."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


def test_threads_read_at_the_same_time(restless):
    problems = []

    def work() -> None:
        for _ in range(10):
            ring = [Finaliser()]
            ring.append(ring)
            try:
                parse(SOURCE)
            except SystemError as error:
                problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []


@pytest.mark.parametrize("source", [b"def", b"x = '\0'", b"\xff", b"(" * 100_000])
def test_what_is_no_python_has_no_tree(source):
    assert parsed(source) is None


@pytest.mark.filterwarnings("error")
def test_escapes_of_other_people_are_not_warned_of():
    assert isinstance(parse(r"x = '\d'"), ast.Module)


def test_nothing_else_of_ours_reads_python_on_the_host():
    inside = {"inside", "tools"}
    callers = [
        str(path.relative_to(ROOT))
        for room in ("harness", "miner")
        for path in (ROOT / room).rglob("*.py")
        if not inside & set(path.parts) and "ast.parse(" in path.read_text(encoding="utf-8")
    ]
    assert callers == ["harness/core/python_source.py"]

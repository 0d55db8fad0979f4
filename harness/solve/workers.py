"""Threads that may be left behind: a question that is on its way cannot be called back, and nobody should wait for it.

An executor's threads are waited for when Python ends; these are not. What is finished within a moment of the end is
still handed back.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

GRACE = 5.0
"""Seconds in which what is nearly finished may still finish."""


def run_all(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    jobs: int,
    take: Callable[[Result], bool],
    stop: Callable[[], None],
) -> None:
    """Do work on every item, `jobs` at once, in their order.

    `take` is given each result as it comes, in the thread that called, and says whether to go on. Where it says no, or
    an exception such as Ctrl-C ends the work, `stop` is called; what ends within `GRACE` is taken, the rest dropped.
    The first exception of a worker ends all.
    """
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        todo.put(item)
    out: queue.SimpleQueue[tuple[list[Result], BaseException | None]] = queue.SimpleQueue()
    ended = threading.Event()

    def worker() -> None:
        while not ended.is_set():
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            try:
                out.put(([work(item)], None))
            except BaseException as error:  # noqa: BLE001 - handed to the one who waits
                out.put(([], error))
                return

    count = min(jobs, len(items))
    threads = [threading.Thread(target=worker, name=f"solve-{number}", daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    finished = False
    try:
        finished = _take(len(items), out, take)
    finally:
        ended.set()
        if not finished:
            stop()
            _take_late(threads, out, take)


def _take(
    count: int,
    out: queue.SimpleQueue[tuple[list[Result], BaseException | None]],
    take: Callable[[Result], bool],
) -> bool:
    """Take so many results; whether all were taken."""
    for number in range(count):
        results, error = out.get()
        if error is not None:
            raise error
        if not take(results[0]):
            return number == count - 1
    return True


def _take_late(
    threads: Sequence[threading.Thread],
    out: queue.SimpleQueue[tuple[list[Result], BaseException | None]],
    take: Callable[[Result], bool],
) -> None:
    """Wait a moment, and take what was finished."""
    until = time.monotonic() + GRACE
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    while not out.empty():
        results, _ = out.get()
        for result in results:
            take(result)

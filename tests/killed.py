"""Run a function in a process of its own that is killed (SIGKILL) at its n-th change of the file system."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_FINISHED, _FAILED = 0, 3
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link"})


def at(step: int, work: Callable[[], object], *, half: bool = False) -> bool:
    """Kill the work just before its change number `step`; with `half`, in the middle of what it writes then.

    Returns True where it was killed, False where it was through before.
    """
    child = os.fork()
    if child == 0:
        code = _FAILED
        try:
            gc.disable()  # it would copy the pages of all that the parent holds
            _arm(step, half=half)
            work()
            code = _FINISHED
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == _FINISHED, "the work failed"
    return False


def _arm(step: int, *, half: bool) -> None:
    left = [step]

    def count() -> bool:
        left[0] -= 1
        return left[0] == 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, args: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and bool(args[2] & _WRITING)
        if (writes or event in _CHANGES) and count():
            die()

    fsync, write = os.fsync, os.write

    def counted_fsync(handle: int) -> None:
        if count():
            die()
        fsync(handle)

    def counted_write(handle: int, data: bytes) -> int:
        if count():
            if half:
                write(handle, bytes(data)[: max(1, len(data) // 2)])
            die()
        return write(handle, data)

    os.fsync, os.write = counted_fsync, counted_write
    sys.addaudithook(hook)

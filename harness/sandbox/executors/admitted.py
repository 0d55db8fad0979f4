"""The sandbox of one machine, which starts no more containers at once than the machine has room for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from harness.sandbox.executors import machine
from harness.sandbox.executors.admission import Admission, Needs
from harness.sandbox.job import Job, JobResult, Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class AdmittedSandbox(Sandbox):
    """Another sandbox, with a queue before it.

    Jobs are admitted by their budgets: cpus and memory. What there is room for is asked when the first job comes;
    `room` says it instead. `note` is told of tasks that are larger than the machine.
    """

    def __init__(self, inner: Sandbox, *, room: Needs | None = None, note: Callable[[str], None] | None = None) -> None:
        self._inner = inner
        self._note = note
        self._lock = threading.Lock()
        self._cancelled = False
        self._known: Admission | None = Admission(room, note=note) if room else None

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.__exit__(kind, error, trace)

    def run(self, job: Job) -> JobResult:
        with self._admission().of(Needs(cpus=job.budgets.cpus, memory_mb=job.memory_mb)):
            return self._inner.run(job)

    def is_healthy(self) -> bool:
        return self._inner.is_healthy()

    def cancel(self) -> None:
        self._inner.cancel()
        with self._lock:
            self._cancelled = True
            if self._known:
                self._known.cancel()

    def _admission(self) -> Admission:
        with self._lock:
            if self._known is None:
                room = machine.room(machine.engine_info())
                self._known = Admission(room, free_mb=machine.free_mb, note=self._note)
                if self._cancelled:
                    self._known.cancel()
            return self._known

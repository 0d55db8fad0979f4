"""Work in threads of this process. The work itself happens in containers, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from harness.core.errors import InfrastructureError
from harness.sandbox.executors.base import Errand, Executor, Item, Place, Result
from harness.sandbox.job import Sandbox


def default_jobs() -> int:
    """One job a core: more only queue for the processors."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class LocalExecutor(Executor):
    """`jobs` threads; items are taken only when a thread is free, so a long iterable stays lazy."""

    is_here = True

    def __init__(self, *, jobs: int | None = None) -> None:
        self.jobs = jobs or default_jobs()
        self._opened: Sandbox | None = None

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], *, cancel: Callable[[], None]
    ) -> Iterator[Result]:
        pending: set[Future[Result]] = set()
        source = iter(items)
        pool = ThreadPoolExecutor(max_workers=self.jobs, thread_name_prefix="goldseam")
        try:
            while True:
                pending |= {pool.submit(work, item) for item in islice(source, self.jobs - len(pending))}
                if not pending:
                    return
                futures, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in futures:
                    yield future.result()
        except BaseException:
            cancel()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def sandbox(
        self,
        *,
        runtime: str | None = None,
        sweep: bool = True,
        engine_wait: float | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Sandbox:
        """The engine of this machine, with no more containers at once than the machine has room for."""
        from harness.sandbox.docker import ENGINE_WAIT_SECONDS, DockerSandbox  # noqa: PLC0415
        from harness.sandbox.executors.machine import AdmittedSandbox  # noqa: PLC0415 - counting jobs needs no engine

        wait = ENGINE_WAIT_SECONDS if engine_wait is None else engine_wait
        inner = DockerSandbox(runtime=runtime, sweep=sweep, engine_wait=wait, note=note)
        self._opened = AdmittedSandbox(inner, note=note)
        return self._opened

    def tools_image(self) -> str | None:
        from harness.sandbox.images import tools  # noqa: PLC0415 - counting jobs needs no engine

        return tools.find()

    def engines(self) -> int:
        return 1

    def do(
        self,
        errand: Errand,
        *,
        note: Callable[[str], None],
        holds: Callable[[Any], str] = lambda _: "",  # noqa: ARG002 - there is one place only
    ) -> Any:
        if self._opened is None:
            raise InfrastructureError("an errand needs an open sandbox")
        return errand.work(errand.item, Place(sandbox=self._opened, note=note))

"""A Ray cluster as an executor: threads beside the caller, containers on the cluster's nodes.

Ray is described at https://docs.ray.io; docs/scale.md says what a node needs.
"""

from __future__ import annotations

import importlib
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.core.errors import InfrastructureError, InputError
from harness.core.extras import install_command
from harness.sandbox.executors.base import Errand, Executor, Item, Result
from harness.sandbox.executors.local import LocalExecutor
from harness.sandbox.executors.ray_sandbox import RaySandbox
from harness.sandbox.job import Sandbox

NAMESPACE = "goldseam"
_CONNECT_SECONDS = 10.0
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing leaves for anybody
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # what Ray warns of otherwise
}


class RayExecutor(Executor):
    """The nodes of a Ray cluster that declare a `docker` resource, each with an engine of its own.

    `address` is `host:port`, or `auto` for the cluster on this machine; None takes RAY_ADDRESS, or else `auto`. `jobs`
    is how many items at most are worked on at once; None for as many as the cluster has `docker` for.
    """

    is_here = False

    def __init__(self, *, address: str | None = None, jobs: int | None = None) -> None:
        self._ray = load()
        self._address = address or os.environ.get("RAY_ADDRESS") or "auto"
        self._jobs = jobs
        self._opened: RaySandbox | None = None
        if "://" in self._address:
            raise InputError(
                f"a cluster's address looks like host:port, not {self._address}",
                hint="Ray's own client is not supported; run goldseam on a machine of the cluster, such as its head",
            )

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], *, cancel: Callable[[], None]
    ) -> Iterator[Result]:
        jobs = self._jobs or (self._opened.slots() if self._opened else 1)
        return LocalExecutor(jobs=jobs).map(work, items, cancel=cancel)

    def sandbox(
        self,
        *,
        runtime: str | None = None,
        sweep: bool = True,  # noqa: ARG002 - nodes are swept as they are looked at
        engine_wait: float | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Sandbox:
        """The engines of the cluster's nodes. Entering it connects, leaving it disconnects."""
        self._opened = RaySandbox(
            self._ray,
            connect=lambda: connect(self._ray, self._address),
            runtime=runtime,
            engine_wait=60.0 if engine_wait is None else engine_wait,
            note=note,
        )
        return self._opened

    def tools_image(self) -> str | None:
        counts = Counter(self._opened.tools() if self._opened else ())
        return counts.most_common(1)[0][0] if counts else None

    def engines(self) -> int:
        return self._opened.engines() if self._opened else 0

    def do(self, errand: Errand, *, note: Callable[[str], None], holds: Callable[[Any], str] = lambda _: "") -> Any:
        if self._opened is None:
            raise InfrastructureError("an errand needs an open sandbox")
        return self._opened.do(errand, note=note, holds=holds)


def load() -> Any:
    """The `ray` module.

    Raises:
        InputError: it is not installed.

    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise InputError(f"Ray is not installed here ({error})", hint=install_command("ray")) from error


def connect(ray: Any, address: str) -> None:
    """Connect this process to a cluster.

    Raises:
        InfrastructureError: no cluster answers there.

    """
    hint = "`ray status --address HOST:PORT` shows whether it runs; docs/scale.md says how to start one"
    if address != "auto":
        _see_that_it_answers(address, hint)
    in_main_thread = threading.current_thread() is threading.main_thread()
    handlers = (
        {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if in_main_thread else {}
    )
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR")
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise InfrastructureError(f"no Ray cluster answers at {address}: {error}", hint=hint) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)  # Ray sets its own, which would end us without cleaning up


def _see_that_it_answers(address: str, hint: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"a cluster's address looks like host:port, not {address!r}", hint=hint)
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except OSError as error:
        raise InfrastructureError(f"no Ray cluster answers at {address}: {error}", hint=hint) from error

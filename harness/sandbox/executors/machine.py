"""What of this machine containers may use: processors and memory, less what limits this process has itself.

/proc/meminfo is described in proc(5), the files of control groups in the kernel's admin-guide/cgroup-v2 and cgroup-v1.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from harness.sandbox import engine
from harness.sandbox.executors.admission import Admission, Needs
from harness.sandbox.job import Job, JobResult, Sandbox

_MIB = 1024 * 1024
_KEPT_FREE = 0.1
"""Share of the memory that is left to everything that is no container of ours."""
_UNLIMITED = 1 << 60


def room(engine_info: Mapping[str, Any]) -> Needs:
    """What containers may use in all: what the engine's machine has and, where that is this one, what is free here.

    `engine_info` is the engine's answer to `info`.
    """
    cpus = float(engine_info.get("NCPU") or os.cpu_count() or 1)
    memory = int(engine_info.get("MemTotal") or 0) // _MIB
    if is_here():
        cpus = min(cpus, usable_cpus())
        sizes = [size for size in (memory, available_mb()) if size]
        memory = min(sizes, default=0)
    return Needs(cpus=max(cpus, 1.0), memory_mb=int(memory * (1 - _KEPT_FREE)) if memory else _UNLIMITED)


def free_mb() -> int | None:
    """The memory that is free just now for one more container; None where the engine is elsewhere."""
    available = available_mb() if is_here() else None
    return None if available is None else int(available * (1 - _KEPT_FREE))


def is_here() -> bool:
    """Whether the engine's containers take this machine's memory: it is reached by a socket of this machine."""
    return (os.environ.get("DOCKER_HOST") or "unix://").startswith("unix://")


def engine_info() -> Mapping[str, Any]:
    """What the engine says of its machine.

    Raises:
        InfrastructureError: it does not answer.

    """
    with engine.calling("asking what its machine has") as client:
        fields: Mapping[str, Any] = client.info()
    return fields


def available_mb(root: Path = Path("/")) -> int | None:
    """MiB that programs can still get without swapping, within this process's control group; None where unknown."""
    sizes = [*_system(root), *_groups(root)]
    return min(sizes) // _MIB if sizes else None


def usable_cpus(root: Path = Path("/")) -> float:
    """Processors that this process may use: by its affinity, and by its control group's quota."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([float(affinity), *_quotas(root)])


def _system(root: Path) -> Iterator[int]:
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            yield int(value.split()[0]) * 1024


def _groups(root: Path) -> Iterator[int]:
    """Bytes left in each control group that this process is in. What only caches files can be had again."""
    for folder in _folders(root, "memory"):
        limit, usage = _number(folder / "memory.max"), _number(folder / "memory.current")
        if limit is None:
            limit, usage = _number(folder / "memory.limit_in_bytes"), _number(folder / "memory.usage_in_bytes")
        if limit is not None and limit < _UNLIMITED:
            yield max(0, limit - (usage or 0) + _cached(folder))


def _cached(folder: Path) -> int:
    fields = dict(line.split() for line in _text(folder / "memory.stat").splitlines() if len(line.split()) == 2)  # noqa: PLR2004
    return int(fields.get("total_inactive_file") or fields.get("inactive_file") or 0)


def _quotas(root: Path) -> Iterator[float]:
    for folder in _folders(root, "cpu"):
        text = _text(folder / "cpu.max").split() or [
            _text(folder / "cpu.cfs_quota_us").strip(),
            _text(folder / "cpu.cfs_period_us").strip(),
        ]
        if all(part.isdigit() for part in text) and int(text[1]):
            yield int(text[0]) / int(text[1])


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The control group of this process and all above it, in version 2's tree or in the controller's of version 1."""
    top = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        base = top / controller if names else top
        place = base / path.lstrip("/")
        if not place.is_dir():
            place = base  # a container sees its own group as the root
        while True:
            yield place
            if place == base:
                break
            place = place.parent


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


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

    def __exit__(self, *_: object) -> None:
        self._inner.__exit__(None, None, None)

    def run(self, job: Job) -> JobResult:
        with self._admission().of(Needs(cpus=job.budgets.cpus, memory_mb=job.memory_mb)):
            return self._inner.run(job)

    def expect(self, job: Job) -> None:
        self._inner.expect(job)

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
                self._known = Admission(room(engine_info()), free_mb=free_mb, note=self._note)
                if self._cancelled:
                    self._known.cancel()
            return self._known

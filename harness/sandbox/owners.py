"""Whose a container is: each carries the process that made it, and goes when that process is dead."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.sandbox import engine


def start_time(pid: int) -> str | None:
    """Start time of a process in clock ticks since boot (proc(5), field 22); None if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


_FIRST_NAMESPACE = "pid:[4026531836]"
"""The pid namespace that a Linux system boots into: `PROC_PID_INIT_INO` of its include/linux/proc_ns.h."""


def host() -> str:
    """The host's name and, outside of its first pid namespace, the namespace: a pid is another process in each.

    A container that shares the host's network has its name, but not its processes.
    """
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = _FIRST_NAMESPACE
    name = socket.gethostname()
    return name if namespace == _FIRST_NAMESPACE else f"{name}@{namespace.strip('pid:[]')}"


def owner() -> str:
    """The value of engine.LABEL_OWNER that names this process."""
    return f"{host()}:{os.getpid()}:{start_time(os.getpid())}"


def is_dead(owner_label: str) -> bool:
    """Whether the label names a process of this host, and of this pid namespace, that no longer runs."""
    name, _, process = owner_label.partition(":")
    pid, _, started = process.partition(":")
    if name != host() or not pid.isdigit():
        return False
    return start_time(int(pid)) != started


@contextmanager
def passing_container(image: str, kind: str, **settings: Any) -> Iterator[str]:
    """The id of a container without a network, which is there while the block lasts; it is not started.

    Raises:
        ConnectionLost: the engine failed.

    """
    labels = {engine.LABEL_OWNER: owner(), engine.LABEL_KIND: kind}
    created = engine.connect().create_container(image, labels=labels, network_disabled=True, **settings)
    try:
        yield str(created["Id"])
    finally:
        engine.remove_container(created["Id"])


def mark() -> str:
    """A name for something of this process that is no container: `<owner>~<a random word>`."""
    return f"{owner()}~{secrets.token_hex(8)}"


def is_left(marked: str) -> bool:
    """Whether such a name is of a process of this host that no longer runs."""
    return is_dead(marked.rpartition("~")[0])


def sweep() -> None:
    """Remove containers whose owner, a process of this host, is dead.

    Raises:
        InfrastructureError: the engine failed.

    """
    with engine.calling("looking for left-over containers") as client:
        for container in client.containers(all=True, filters={"label": [engine.LABEL_OWNER]}):
            if is_dead(container["Labels"].get(engine.LABEL_OWNER, "")):
                with suppress(engine.ApiError):  # another goldseam may be removing it
                    engine.remove_container(container["Id"])

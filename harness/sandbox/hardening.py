"""What every container of untrusted code is locked with: one place, for trials and for workspaces."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.core.instance import Budgets, Service
from harness.sandbox import engine

_USERS = range(20_000, 60_000)
"""Users that no image has; an engine with user namespaces has no more than 65,536."""
_USERS_IN_TURN = 1024
BASE_ENV: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "LOGNAME": "goldseam",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
    "USER": "goldseam",
}
HOSTS = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
_ACCOUNTS = """\
root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
_GROUPS = "root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\n"
DROP = "/run/goldseam"
PLAIN_RUNTIMES = ("runc", "crun")
_RUNTIME_PIDS = 512
_MIB = 1024 * 1024
_SERVICE_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "NET_BIND_SERVICE", "SETGID", "SETUID"]
"""What the entrypoints of official images need to make a folder theirs and to become another user."""
_SERVICE_PIDS = 512


def users() -> Iterator[int]:
    """A user for each container, without end: the kernel counts for a user what it watches, pipes and more."""
    first = secrets.randbelow(len(_USERS) - _USERS_IN_TURN)
    return itertools.cycle(_USERS[first : first + _USERS_IN_TURN])


def names_of(user: int) -> Mapping[str, str]:
    """/etc/passwd and /etc/group: the user of tests has a name and a home for whoever does not ask variables."""
    name = BASE_ENV["USER"]
    passwd = f"{_ACCOUNTS}{name}:x:{user}:{user}::{BASE_ENV['HOME']}:/bin/sh\n"
    return {"passwd": passwd, "group": f"{_GROUPS}{name}:x:{user}:\n"}


def host_config(
    client: Any,
    budgets: Budgets,
    *,
    user: int,
    etc: Mapping[str, Path],
    runtime: str | None = None,
    mounts: Mapping[str, str] | None = None,
    init: bool = True,
    network: str = "none",
    drop: Path | None = None,
) -> Any:
    """The engine's settings for a locked container: no network, no rights, a read-only root, limits on everything.

    `etc` are files of the host by their names in /etc. `mounts` are further folders of the host by their place in the
    container, always read-only. `init` is off where the program is its own init. `network` is none,
    or `container:NAME` of one that has none. `drop` is a folder of the host that becomes DROP, writable.
    """
    tmpfs = _tmpfs(budgets.disk_mb, user)
    binds = {str(path): {"bind": f"/etc/{name}", "mode": "ro"} for name, path in etc.items()}
    binds |= {folder: {"bind": place, "mode": "ro"} for place, folder in (mounts or {}).items()}
    if drop:
        binds[str(drop)] = {"bind": DROP, "mode": "rw"}
    config = client.create_host_config(
        network_mode=network,
        binds=binds,
        read_only=True,
        tmpfs={"/testbed": tmpfs, "/tmp": tmpfs},  # noqa: S108 - inside the container
        mem_limit=budgets.memory_mb * _MIB,
        memswap_limit=budgets.memory_mb * _MIB,
        pids_limit=_pids(budgets, runtime),
        nano_cpus=int(budgets.cpus * 1_000_000_000),
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        log_config={"Type": "none", "Config": {}},
        init=init,
        ulimits=[{"Name": "nofile", "Soft": 4096, "Hard": 4096}, {"Name": "core", "Soft": 0, "Hard": 0}],
    )
    if runtime:
        config["Runtime"] = runtime
    return config


def service_config(client: Any, service: Service, *, hosts: Path, network: str) -> Any:
    """The engine's settings for a service: no network but the loopback of `network`, limits on everything.

    Nothing of it outlives the container: what it writes is in memory, and its output is kept nowhere.
    """
    return client.create_host_config(
        network_mode=network,
        binds={str(hosts): {"bind": "/etc/hosts", "mode": "ro"}},
        read_only=service.read_only,
        tmpfs=dict(_service_folder(folder, service.memory_mb) for folder in service.folders),
        mem_limit=service.memory_mb * _MIB,
        memswap_limit=service.memory_mb * _MIB,
        pids_limit=_SERVICE_PIDS,
        nano_cpus=1_000_000_000,
        cap_drop=["ALL"],
        cap_add=_SERVICE_CAPABILITIES,
        security_opt=["no-new-privileges"],
        log_config={"Type": "none", "Config": {}},
        ulimits=[{"Name": "core", "Soft": 0, "Hard": 0}],  # how many files it may open is the engine's matter
    )


def _service_folder(folder: str, size_mb: int) -> tuple[str, str]:
    """A folder in memory and its mount options; for everybody, unless it says whose it is."""
    path, _, owner = folder.partition(":")
    uid, gid, mode = owner.split(":") if owner else ("0", "0", "1777")
    return path, f"rw,exec,nosuid,nodev,size={size_mb}m,uid={uid},gid={gid},mode={mode}"


def _pids(budgets: Budgets, runtime: str | None) -> int:
    """The limit of the container's cgroup, in which gVisor's own threads and its stand-ins for processes count."""
    own_threads = runtime not in (None, *PLAIN_RUNTIMES)
    return 2 * budgets.pids + _RUNTIME_PIDS if own_threads else budgets.pids


def _tmpfs(size_mb: int, user: int) -> str:
    """Mount options of a writable folder in memory, for the unprivileged user.

    Podman knows no number of inodes (there an inode counts towards the container's memory only), and `U` for the owner.
    """
    shared = f"rw,exec,nosuid,nodev,size={size_mb}m"
    if engine.is_podman():
        return f"{shared},U,notmpcopyup"
    return f"{shared},nr_inodes=400k,uid={user},gid={user},mode=0755"

"""A Ray cluster on this machine's loopback, in a process of its own: one head without an engine, and nodes with one.

    with RayCluster(nodes=2) as cluster:
        tiny.goldseam("evaluate", …, "--executor", "ray", "--address", cluster.address)

Ray takes 127.0.0.1 for the name of whatever address the machine has, so the next one of the loopback stands here.
"""

from __future__ import annotations

import os
import signal
import subprocess  # noqa: TID251 - a process that talks
import sys
import tempfile
from pathlib import Path
from typing import Self

HERE = "127.0.0.2"
_STORE = 80 * 1024 * 1024
_BARE = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
"""Fewer processes to start."""
_ENV = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "3000",
    "RAY_health_check_failure_threshold": "6",
    "RAY_raylet_start_wait_time_s": "240",
    "RAY_gcs_server_request_timeout_seconds": "240",
    "RAY_enable_metrics_collection": "0",
    "RAY_enable_worker_prestart": "0",
    "PYTHONWARNINGS": "ignore",
}


class RayCluster:
    """A context manager; nothing of the cluster is left at its end."""

    def __init__(self, *, nodes: int = 2, cpus: int = 2) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gsray-")
        self.folder = Path(self._folder.name)
        """What Ray writes: its logs, and what it moves from memory to disk."""
        root = Path(__file__).resolve().parents[1]
        argv = [sys.executable, "-m", "tests.ray_cluster", str(nodes), str(cpus), self._folder.name]
        (self.folder / "ray").mkdir()  # where Ray notes the cluster's address; it does not make the folder itself
        env = {**os.environ, **_ENV, "RAY_TMPDIR": self._folder.name}
        self._child = subprocess.Popen(
            argv, cwd=root, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = ""

    def __enter__(self) -> Self:
        try:
            self.address = self._answer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with self._child:
            self._child.stdin.close()
            self._child.wait(240)
        self._folder.cleanup()

    def add_node(self, *, engine: str = "") -> None:
        """One more node, there when this returns; `engine` is its DOCKER_HOST."""
        self._child.stdin.write(f"add {engine}\n")
        self._child.stdin.flush()
        self._answer()

    def remove_node(self, at: int = -1) -> None:
        """Take a node away that was added: the last one, or that at a place among those that are left."""
        self._child.stdin.write(f"remove {at}\n")
        self._child.stdin.flush()
        self._answer()

    def _answer(self) -> str:
        for line in self._child.stdout:
            if line.startswith("said "):
                return line.removeprefix("said ").strip()
        raise AssertionError(f"the cluster ended with {self._child.wait()}")


def raylet_of(worker: int) -> int:
    """The process that stands for the node of a worker."""
    status = Path(f"/proc/{worker}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))


def main(nodes: int, cpus: int, folder: str) -> None:
    """Hold a cluster until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program under test
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - importing Ray takes a second

    common = {"object_store_memory": _STORE, "node_ip_address": HERE, **_BARE}
    node = {**common, "num_cpus": cpus, "resources": {"docker": cpus}, "memory": 1024**3}
    cluster = Cluster(initialize_head=True, head_node_args={**common, "num_cpus": 0, "temp_dir": folder})
    try:
        for _ in range(nodes):
            cluster.add_node(wait=False, **node)
        cluster.wait_for_nodes()
        _say(cluster.address)
        added = []
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            if word == "add":
                env = {"DOCKER_HOST": rest} if rest else {}
                added.append(cluster.add_node(wait=True, env_vars=env, **node))
            else:
                cluster.remove_node(added.pop(int(rest)), allow_graceful=False)
            _say("done")
    finally:
        cluster.shutdown()


def _say(text: str) -> None:
    sys.stdout.write(f"said {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

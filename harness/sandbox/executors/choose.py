"""The executor that a command line names."""

from __future__ import annotations

from enum import StrEnum

from harness.core.errors import InputError
from harness.sandbox.executors.base import Executor
from harness.sandbox.executors.local import LocalExecutor


class Kind(StrEnum):
    """Where containers run."""

    LOCAL = "local"
    RAY = "ray"


def choose(kind: Kind = Kind.LOCAL, *, address: str | None = None, jobs: int | None = None) -> Executor:
    """The executor of a kind.

    Args:
        kind: which one.
        address: of a Ray cluster: `host:port`, or `auto` for the one on this machine.
        jobs: how many items at most are worked on at once; None for what the machine or the cluster has room for.

    Raises:
        InputError: an address without Ray, or Ray is not installed.
        InfrastructureError: no cluster answers there.

    """
    if kind is Kind.RAY:
        from harness.sandbox.executors.ray_cluster import RayExecutor  # noqa: PLC0415 - importing Ray takes a second

        return RayExecutor(address=address, jobs=jobs)
    if address is not None:
        raise InputError("--address is for a cluster", hint="add --executor ray")
    return LocalExecutor(jobs=jobs)

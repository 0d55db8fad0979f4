"""A sandbox whose containers run on the nodes of a Ray cluster: each job goes to a node, its result comes back.

A worker or a node that is lost loses no job: Ray does it again elsewhere, and only what comes back counts.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from harness.core import origin
from harness.core.errors import InfrastructureError, InputError, InterruptedRunError
from harness.sandbox import engine
from harness.sandbox.executors import ray_node
from harness.sandbox.executors.admission import Needs
from harness.sandbox.executors.base import Errand
from harness.sandbox.executors.placement import Placement
from harness.sandbox.executors.ray_node import NodeFacts, Reply, Setting
from harness.sandbox.job import Job, JobResult, Sandbox, SandboxError

RESOURCE = "docker"
"""The resource that nodes with an engine declare: how many containers they take at once."""
LOST_RETRIES = 5
"""How often Ray does a job again whose worker or node was lost."""
_TRIES = 3
"""How often a job is sent to another node because a node's engine does not answer."""
_SICK_SECONDS = 30.0
_LOOK_SECONDS = 60.0
_CANCEL_SECONDS = 45.0
_POLL_SECONDS = 0.5
_FRESH_SECONDS = 3.0
_MOVE_SECONDS = 5.0
"""How long Ray may take to do the job of a lost node elsewhere, before that is done for it."""
_MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class _Parcel:
    """A job or an errand on its way."""

    letter: bytes
    image: str
    needs: Needs
    note: Callable[[str], None]


class RaySandbox(Sandbox):
    """Runs each job on a node of the cluster that `ray` is connected to by `connect`.

    Jobs ask for the cpus and the memory of their budgets, errands for their needs, and both for one of the node's
    `docker`. `note` is told what a person may have to wait for, from several threads.
    """

    def __init__(
        self,
        ray: Any,
        *,
        connect: Callable[[], None],
        runtime: str | None,
        engine_wait: float,
        note: Callable[[str], None] | None,
    ) -> None:
        self._ray = ray
        self._connect = connect
        self._setting = Setting(runtime=runtime, engine_wait=engine_wait)
        self._note = note or (lambda _text: None)
        self._key = ray_node.new_key()
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._placement = Placement()
        self._refreshed = 0.0
        self._largest = (0.0, 0)
        """Cpus and bytes of memory of the largest nodes: no job may ask for more, or it would wait for ever."""
        self._warned: set[str] = set()
        self._tools: dict[str, str] = {}
        self._owners: dict[str, set[str]] = {}
        """Processes that did jobs, by node."""

    def __enter__(self) -> Self:
        self._connect()
        try:
            self._functions()
            nodes = self._refresh()
            self._take(self._look(nodes))
            if not nodes:
                self._note(f"no node of the cluster has the resource {RESOURCE!r} yet; waiting for one")
        except BaseException:
            self._ray.shutdown()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._tidy()
        finally:
            self._ray.shutdown()

    def slots(self) -> int:
        """How many containers the cluster takes at once as it is now; at least 1."""
        with self._lock:
            return max(1, int(sum(node.slots for node in self._placement.nodes.values())))

    def engines(self) -> int:
        """How many engines the nodes have, as far as is known."""
        with self._lock:
            return self._placement.engines()

    def tools(self) -> tuple[str, ...]:
        """The image with the tools for signals that each node holds, where it holds one."""
        return tuple(self._tools.values())

    def is_healthy(self) -> bool:
        """Whether some node's engine answers."""
        if self._cancelled.is_set():
            return False
        try:
            return any(not facts.trouble for facts in self._look(self._refresh()).values())
        except Exception:  # noqa: BLE001 - whatever Ray raises of a cluster that has gone
            return False

    def cancel(self) -> None:
        self._cancelled.set()

    def run(self, job: Job) -> JobResult:
        needs = Needs(cpus=job.budgets.cpus, memory_mb=job.memory_mb)
        letter = ray_node.seal(job, self._key)
        _, reply = self._deliver(_Parcel(letter=letter, image=job.image, needs=needs, note=self._note))
        if not isinstance(reply.result, JobResult):
            raise SandboxError("a node sent no result")
        return reply.result

    def do(self, errand: Errand, *, note: Callable[[str], None], holds: Callable[[Any], str]) -> Any:
        """What comes of an errand that is done on a node; see `Executor.do`."""
        letter = ray_node.seal(errand, self._key)
        where, reply = self._deliver(_Parcel(letter=letter, image=errand.image, needs=errand.needs, note=note))
        with self._lock:
            self._placement.holds(where, holds(reply.result))
        return reply.result

    def _deliver(self, parcel: _Parcel) -> tuple[str, Reply]:
        """Have a job or an errand done by a node whose engine is well; the node, and what it says.

        Raises:
            Exception: what was raised there.
            InterruptedRunError: `cancel` was called.
            SandboxError: the cluster lost it more often than is retried.

        """
        avoid: set[str] = set()
        while True:
            node_id, reply = self._send(parcel, avoid)
            for text in reply.notes:
                parcel.note(text)
            if reply.error is None:
                return node_id, reply
            if reply.healthy or len(avoid) + 1 >= _TRIES:
                raise reply.error
            avoid.add(node_id)
            with self._lock:
                if node_id in self._placement.nodes:
                    self._placement.nodes[node_id].sick_until = time.monotonic() + _SICK_SECONDS
            why = "has no room on its disk" if reply.error and engine.is_full(reply.error) else "does not answer"
            self._note(f"the engine of node {node_id[:8]} {why}; trying another node")

    def _functions(self) -> None:
        """What nodes are asked to do; goldseam is installed there, so no code travels."""
        self._work = self._ray.remote(max_retries=LOST_RETRIES, retry_exceptions=False)(_work)
        self._look_at = self._ray.remote(num_cpus=0, max_retries=1)(ray_node.look)
        self._tidy_up = self._ray.remote(num_cpus=0, max_retries=1)(ray_node.tidy)

    def _send(self, parcel: _Parcel, avoid: set[str]) -> tuple[str, Reply]:
        """Have it done once; the node that did it, and what it says."""
        with self._assigned(parcel.image, avoid) as (node_id, on_reply):
            work = self._work.options(**self._options(parcel.needs, node_id))
            ref = work.remote(parcel.letter, self._key, self._setting, origin.version())
            try:
                if not self._wait(ref, node_id):
                    return node_id or "", _lost_with(node_id or "")
                reply_got = self._ray.get(ref, timeout=_CANCEL_SECONDS)
            except self._ray.exceptions.TaskCancelledError:
                raise InterruptedRunError("the run was interrupted") from None
            except self._ray.exceptions.RayError as error:
                raise _lost(parcel, error) from None
            finally:
                del ref  # with the last reference Ray lets go of the letters
            where, answer = reply_got
            reply: Reply = ray_node.open_letter(answer, self._key)
            on_reply(where, reply)
        if where not in self._placement.nodes or node_id not in (None, where):
            self._refresh()  # a node has come, or the one that was meant is no more
        return where, reply

    @contextlib.contextmanager
    def _assigned(self, image: str, avoid: set[str]) -> Iterator[tuple[str | None, Callable[[str, Reply], None]]]:
        """Choose a node and count the job as running there; the function is told where it really was."""
        with self._lock:
            node_id = self._placement.choose(image, now=time.monotonic(), avoid=avoid)
            chosen = self._placement.nodes.get(node_id or "")
            if chosen:
                chosen.running += 1

        def on_reply(where: str, reply: Reply) -> None:
            with self._lock:
                self._owners.setdefault(where, set()).add(reply.owner)
                if reply.error is None:
                    self._placement.holds(where, image)

        try:
            yield node_id, on_reply
        finally:
            if chosen:
                with self._lock:
                    chosen.running -= 1

    def _options(self, needs: Needs, node_id: str | None) -> dict[str, Any]:
        cpus, memory = needs.cpus, needs.memory_mb * _MIB
        most_cpus, most_memory = self._largest
        if most_cpus and (cpus > most_cpus or memory > most_memory):
            self._warn_once(f"a container may use {memory // _MIB} MiB and {cpus:g} processors, more than any node has")
            cpus, memory = min(cpus, most_cpus), min(memory, most_memory)
        options: dict[str, Any] = {"num_cpus": cpus, "memory": memory, "resources": {RESOURCE: 1}}
        if node_id is not None:
            options["scheduling_strategy"] = self._at(node_id, soft=True)
        return options

    def _warn_once(self, text: str) -> None:
        with self._lock:
            was_warned = text in self._warned
            self._warned.add(text)
        if not was_warned:
            self._note(text)

    def _at(self, node_id: str, *, soft: bool) -> Any:
        strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
        return strategies.NodeAffinitySchedulingStrategy(node_id, soft=soft)

    def _on(self, node_id: str, function: Any) -> Any:
        """A function as that node alone does it."""
        return function.options(scheduling_strategy=self._at(node_id, soft=False))

    def _wait(self, ref: Any, node_id: str | None) -> bool:
        """Wait for a job, or have it ended when the run is interrupted. False where it was lost with its node.

        Ray does the job of a lost node again by itself, if it sees the worker end. A machine that hangs or is cut off
        says nothing of the end of anybody, and Ray waits on.
        """
        gone_at: float | None = None
        while not self._ray.wait([ref], timeout=_POLL_SECONDS)[0]:
            if self._cancelled.is_set():
                self._ray.cancel(ref, force=False, recursive=False)
                self._ray.wait([ref], timeout=_CANCEL_SECONDS)
                raise InterruptedRunError("the run was interrupted")
            if node_id is None or self._is_there(node_id):
                gone_at = None
            elif gone_at is None:
                gone_at = time.monotonic()
            elif time.monotonic() - gone_at > _MOVE_SECONDS:
                self._ray.cancel(ref, force=False, recursive=False)  # where it is on another node after all
                return False
        if self._cancelled.is_set():
            raise InterruptedRunError("the run was interrupted")
        return True

    def _is_there(self, node_id: str) -> bool:
        """Whether a node is in the cluster, as of a few seconds ago."""
        with self._lock:
            is_old = time.monotonic() - self._refreshed > _FRESH_SECONDS
        if is_old:
            self._refresh()
        with self._lock:
            return node_id in self._placement.nodes

    def _refresh(self) -> list[str]:
        """The nodes with an engine that are there now."""
        resources = {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}
        useful = {node_id: has for node_id, has in resources.items() if has.get(RESOURCE, 0) >= 1}
        with self._lock:
            self._refreshed = time.monotonic()
            self._placement.keep_only(useful)
            for node_id, has in useful.items():
                self._placement.see(node_id, slots=min(has[RESOURCE], has.get("CPU", 0.0)))
            self._largest = (
                max((has.get("CPU", 0.0) for has in useful.values()), default=0.0),
                int(max((has.get("memory", 0) for has in useful.values()), default=0)),
            )
        return list(useful)

    def _look(self, nodes: Iterable[str]) -> dict[str, NodeFacts]:
        """What nodes say of themselves; those that do not answer are left out."""
        runtime = self._setting.runtime
        refs = {node_id: self._on(node_id, self._look_at).remote(runtime=runtime) for node_id in nodes}
        facts: dict[str, NodeFacts] = {}
        deadline = time.monotonic() + _LOOK_SECONDS
        for node_id, ref in refs.items():
            try:
                facts[node_id] = self._ray.get(ref, timeout=max(0.0, deadline - time.monotonic()))
            except self._ray.exceptions.RayError as error:
                self._note(f"node {node_id[:8]} does not answer: {str(error).strip().splitlines()[0]}")
        return facts

    def _take(self, node_facts: dict[str, NodeFacts]) -> None:
        """Take in what nodes said.

        Raises:
            InputError: a node has another goldseam.
            InfrastructureError: no node's engine can be used.

        """
        for node_id, facts in node_facts.items():
            _same_version(facts.version, origin.version(), node_id)
            with self._lock:
                self._placement.nodes[node_id].images |= facts.images
                self._placement.nodes[node_id].engine = facts.engine
                if facts.trouble:
                    self._placement.nodes[node_id].sick_until = time.monotonic() + _SICK_SECONDS
            if facts.tools:
                self._tools[node_id] = facts.tools
            if facts.trouble:
                self._note(f"node {node_id[:8]}: {facts.trouble}")
        if node_facts and all(facts.trouble for facts in node_facts.values()):
            trouble = next(iter(node_facts.values())).trouble
            raise InfrastructureError(
                f"none of the cluster's {len(node_facts)} nodes has an engine that answers: {trouble}",
                hint="run `goldseam doctor` on a node, as the user and with the environment of its Ray",
            )

    def _tidy(self) -> None:
        """Leave no container: those that workers are about to remove, and those of workers that were killed."""
        try:
            refs = [
                self._on(node_id, self._tidy_up).remote(sorted(self._owners.get(node_id, ())))
                for node_id in self._refresh()
            ]
            self._ray.wait(refs, num_returns=len(refs), timeout=_LOOK_SECONDS) if refs else None
        except Exception as error:  # noqa: BLE001 - whatever Ray raises of a cluster that has gone
            self._note(f"left-over containers may be removed by the next run only: {error}")


def _lost(parcel: _Parcel, error: Exception) -> InfrastructureError:
    kind = type(error).__name__
    cause = getattr(error, "cause", None)
    why = f"{kind}: {cause or str(error).strip().splitlines()[0] if str(error).strip() else kind}"
    job_name = f"the job for {parcel.image}" if parcel.image else "what it was to do"
    return SandboxError(f"the cluster lost {job_name}: {why}")


def _lost_with(node_id: str) -> Reply:
    error = SandboxError(f"node {node_id[:8]} is no longer in the cluster, and its job has not come back")
    return Reply(result=None, error=error, owner="", healthy=False)


def _same_version(theirs: str, ours: str, node_id: str) -> None:
    if theirs != ours:
        raise InputError(
            f"node {node_id[:8]} has goldseam {theirs}, this machine has {ours}",
            hint="install the same version on every node",
        )


def _work(letter: bytes, key: bytes, setting: Setting, version: str) -> tuple[str, bytes]:
    import ray  # noqa: PLC0415 - runs on nodes

    where: str = ray.get_runtime_context().get_node_id()
    own_version = origin.version()
    if own_version != version:
        _, error = ray_node.outcome_of(lambda: _same_version(own_version, version, where))
        return where, ray_node.seal(Reply(result=None, error=error, owner="", healthy=True), key)
    return where, ray_node.work(letter, key, setting)

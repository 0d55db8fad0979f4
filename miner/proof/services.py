"""The third try: what fails for want of a service, or of a variable, may pass beside what CI has beside its tests.

A subject is proved without first. Only where something is lost, and CI declares services or variables, is it tried with
these: by one run. Where tests pass in it that never passed before, the whole proof is done again with them, and the
better proof is kept. So a task that needs none never has any.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.core.instance import Service, TestStatus
from harness.sandbox.images.service_image import ServiceImage
from harness.sandbox.job import Sandbox, ServiceError
from miner.evidence.ci import CiTests
from miner.evidence.ci_services import DeclaredService
from miner.images.service_images import Unavailable, mapped
from miner.proof import Notebook, ObservedRun, Proof, Subject, observe, prepare, proof_at_fix_date
from miner.proof.flakiness_causes import passed
from miner.proof.proof_at_fix_date import Settled
from miner.sources.change import Rejection

CURABLE = frozenset({*proof_at_fix_date.CURABLE, "timeout", "crashed", "runner_error", "runner_usage", "setup_failed"})
"""Reasons of a rejection that a service or a variable could take away."""
NEEDS_NETWORK = "needs_network"
_NOTHING_TURNS = ("gold_fails", "exits", "no_fail_to_pass")
_LARGE = ("elasticsearch", "opensearch", "mssql", "oracle", "cassandra", "kafka", "mysql", "mariadb", "localstack")
_MEMORY_MB, _LARGE_MEMORY_MB = 1024, 2048
_MOST = 8
"""Services of one job."""


@dataclass(frozen=True, kw_only=True)
class Pins:
    """The images of services by digest, each looked for once in a mine. Safe to use from several threads."""

    _images: dict[str, ServiceImage | Unavailable] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, name: str, look: Callable[[str], ServiceImage | Unavailable]) -> ServiceImage | Unavailable:
        """What a name stands for."""
        with self._lock:
            if name not in self._images:
                self._images[name] = look(name)
            return self._images[name]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What trying takes."""

    sandbox: Sandbox
    notebook_of: Callable[[Subject], Notebook]
    settle: Callable[[Subject], Settled]
    """Proves a subject, on whichever clock it needs."""
    declared: Callable[[], CiTests]
    """What CI says of the subject's tests."""
    images: bool | Mapping[str, str]
    """`[images] services`."""
    find: Callable[[str], ServiceImage | Unavailable]
    """The image of a service by its name."""
    note: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ServiceTrial:
    """What trying came to."""

    settled: Settled
    notes: tuple[str, ...] = ()
    """Services that could not be run, one sentence each."""


def settle(subject: Subject, bench: Bench) -> ServiceTrial:
    """Prove a subject without services and, where that may help, with those that CI declares.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the subject.

    """
    alone = bench.settle(subject)
    runs = bench.notebook_of(alone.subject).runs
    if not _may_help(alone.proof, runs):
        return ServiceTrial(settled=alone)
    declared = bench.declared()
    if not (declared.beside or declared.variables):
        return ServiceTrial(settled=_renamed(alone, runs))
    services, notes = pinned(declared.beside, bench)
    with_them = _with(subject, services, declared.variables)
    settled: Settled | None = None
    if with_them != subject and (services or isinstance(alone.proof, Rejection)):
        settled, trial_notes = _beside(with_them, alone, runs, bench)
        notes = (*notes, *trial_notes)
    if settled is None:
        alone = _renamed(alone, runs)
        if isinstance(alone.proof, Rejection) and notes:
            detail = "; ".join((alone.proof.detail, *notes)).strip("; ")
            alone = replace(alone, proof=replace(alone.proof, detail=detail[:2000]))
        return ServiceTrial(settled=alone, notes=notes)
    return ServiceTrial(settled=settled, notes=notes)


def _may_help(proof: Proof | Rejection, runs: Sequence[ObservedRun]) -> bool:
    """Whether something is lost that could be for want of a service, or of a variable."""
    if isinstance(proof, Rejection):
        return proof.reason in CURABLE
    after = proof_at_fix_date.plain(runs, "after")
    if after is None:
        return False
    skipped = {test_id for test_id, status in after.statuses.items() if status is TestStatus.SKIPPED}
    return bool((after.offline | skipped) - proof_at_fix_date.ever_passed(runs, "after"))


def _renamed(alone: Settled, runs: Sequence[ObservedRun]) -> Settled:
    """A rejection under its own name where all that fails with the fix asked for a network that does not exist."""
    proof = alone.proof
    after = next((run for run in runs if run.state == "after"), None)
    if not isinstance(proof, Rejection) or proof.reason not in _NOTHING_TURNS or after is None:
        return alone
    failing = after.failing
    if not failing or failing - after.offline:
        return alone
    failure = f"all that fail with the fix ({len(failing)}) asked for a network or a service that is not there"
    detail = f"{failure}, such as {min(failing)}"
    return replace(alone, proof=replace(proof, reason=NEEDS_NETWORK, detail=detail))


def pinned(declared: Sequence[DeclaredService], bench: Bench) -> tuple[tuple[Service, ...], tuple[str, ...]]:
    """The services that can be run, by digest; and a sentence for each that can't."""
    services: list[Service] = []
    notes: list[str] = []
    for declared_service in declared[:_MOST]:
        name = "" if declared_service.unusable else mapped(declared_service.image, bench.images)
        if not name:
            why = declared_service.unusable or "the settings turn it off"
            notes.append(f"the service {declared_service.name} was not run: {why}")
            continue
        bench.note(f"looking for the service {declared_service.name} ({name})")
        image = bench.find(name)
        if isinstance(image, Unavailable):
            notes.append(f"the service {declared_service.name} was not run: {image.why}")
            continue
        service = _service(declared_service, image)
        listens = {listen for other in services for listen, _ in other.forwards}
        free = tuple(port for port in service.ports if int(port.partition(":")[0]) not in listens)
        if any(other.name == service.name for other in services) or (service.ports and not free):
            notes.append(f"the service {declared_service.name} was not run: another one has its name or its ports")
            continue
        services.append(replace(service, ports=free))
    return tuple(services), tuple(notes)


def _service(service: DeclaredService, image: ServiceImage) -> Service:
    """A declared service, with what its image says where CI says nothing."""
    port_pairs = [tuple(map(int, port.split(":"))) for port in service.ports]
    own = [(port, port) for port in image.ports if all(port not in pair for pair in port_pairs)]
    large = any(word in service.image for word in _LARGE)
    return Service(
        name=service.name,
        image=image.name,
        hosts=service.hosts,
        env=dict(service.env),
        command=service.command,
        ports=tuple(f"{listen}:{inner}" for listen, inner in (*port_pairs, *own)),
        health=service.health or image.health,
        folders=tuple(dict.fromkeys((*image.folders, *service.folders))),
        memory_mb=_LARGE_MEMORY_MB if large else _MEMORY_MB,
        start_seconds=service.start_seconds,
    )


def _with(subject: Subject, services: tuple[Service, ...], variables: Mapping[str, str]) -> Subject:
    """The subject with services, and variables where its recipe has none of that name."""
    test = subject.test
    return replace(subject, test=replace(test, env={**variables, **test.env}, services=services))


def _beside(
    subject: Subject, alone: Settled, runs: Sequence[ObservedRun], bench: Bench
) -> tuple[Settled | None, tuple[str, ...]]:
    """The better proof with services, if there is one; and why they could not be run."""
    patches = prepare(subject)
    if isinstance(patches, Rejection):
        return None, ()
    notes: tuple[str, ...] = ()
    for tried in _forms(subject):
        try:
            bench.note("the tests once, beside what CI declares")
            first = observe(tried, patches, "after", 0, bench.sandbox, bench.notebook_of(tried))
        except ServiceError as error:
            notes = (*notes, error.message)
            continue
        if not (passed(first) - proof_at_fix_date.ever_passed(runs, "after")):
            return None, ()
        settled = bench.settle(tried)
        if isinstance(settled.proof, Rejection) or not proof_at_fix_date.is_better(settled.proof, alone.proof):
            return None, ()
        evidence = {**settled.proof.evidence, "beside": _why(settled.proof, alone.proof, runs)}
        return replace(settled, proof=replace(settled.proof, evidence=evidence)), ()
    return None, notes[-1:]


def _forms(subject: Subject) -> Iterator[Subject]:
    """As it is, and with services that may write anywhere in their own containers."""
    yield subject
    if subject.test.services:
        free = tuple(replace(service, read_only=False) for service in subject.test.services)
        yield replace(subject, test=replace(subject.test, services=free))


def _why(proof: Proof, alone: Proof | Rejection, runs: Sequence[ObservedRun]) -> dict[str, object]:
    """What the task would be without, and which of its tests need it."""
    listed = {*proof.fail_to_pass, *proof.pass_to_pass}
    if isinstance(alone, Rejection):
        return {
            "without": alone.reason,
            "needed_by": sorted(listed - proof_at_fix_date.ever_passed(runs, "after")),
        }
    needed = listed - {*alone.fail_to_pass, *alone.pass_to_pass}
    return {"without": "set_aside" if alone.set_aside else "fewer_tests", "needed_by": sorted(needed)}

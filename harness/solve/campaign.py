"""A campaign at work: asks for every sample that is still to be made, and puts each on disk as soon as it is."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from harness.core.errors import BugError, GoldseamError, InfrastructureError
from harness.core.instance import Instance, Prediction
from harness.dataset.folder import Dataset
from harness.dataset.ledger.ledger import record_exposure
from harness.dataset.revealed import statement_with
from harness.runs import bug_log
from harness.runs.predictions import own_fields
from harness.solve.base import Agent, Attempt, Fault, Model, ModelError, Reply, Request, Sampling, SolveJob, Workspace
from harness.solve.models.meter import Spending
from harness.solve.models.stack import Wrapped
from harness.solve.plan import Plan, Unit, digest_of
from harness.solve.records import Records, State, transcript_of
from harness.solve.workers import run_all

GIVE_UP_AFTER = 5
"""Attempts in a row that infrastructure failed at, after which no more is tried: the next would fail too."""
_TASK = "task_"


@dataclass(frozen=True, kw_only=True)
class UnitOutcome:
    """What one unit came to: an attempt, or trouble."""

    unit: Unit
    attempt: Attempt | None = None
    trouble: GoldseamError | None = None
    latency: float = 0.0
    """Seconds from the first question to the end, less what was waited for a turn."""


@dataclass(kw_only=True)
class Report:
    """What a call came to, counted as its samples are made."""

    planned: int
    earlier: int
    made: int = 0
    patches: int = 0
    """Of those made by this call, how many have a patch."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How many have none, by the reason."""
    errors: int = 0
    errors_in_a_row: int = 0
    """Since the last attempt that came to something."""
    stopped: str | None = None
    """The limit that ended the call, or `trouble`."""
    snapshots: dict[str, None] = field(default_factory=dict)
    """What the endpoint says it answered with."""
    spent: Spending = field(default_factory=Spending)
    """Over all calls for the file."""
    trouble: GoldseamError | None = None
    """The last thing that infrastructure failed at, or a bug of ours."""

    @property
    def left(self) -> int:
        """Samples that are still to be made."""
        return self.planned - self.earlier - self.made

    @property
    def no_patch(self) -> Mapping[str, int]:
        """How many have no patch, by the reason, in the order of those."""
        return dict(sorted(self.reasons.items()))

    def count(self, attempt: Attempt) -> None:
        self.made += 1
        self.errors_in_a_row = 0
        self.patches += attempt.patch is not None
        self.reasons.update([attempt.no_patch] if attempt.no_patch else [])
        self.snapshots |= dict.fromkeys(reply.model for reply in attempt.replies if reply.model)

    def failed(self, error: GoldseamError) -> None:
        self.errors += 1
        self.errors_in_a_row += 1
        self.trouble = error
        if _is_hopeless(error, attempts=self.made) or self.errors_in_a_row >= GIVE_UP_AFTER:
            self.stopped = self.stopped or "trouble"


class _Guard:
    """The model of one attempt: writes down that it is shown the task before it is, and keeps the time."""

    def __init__(self, model: Model, expose: Callable[[], None]) -> None:
        self._model = model
        self.name = model.name
        self._expose = expose
        self._began: float | None = None

    def begin(self) -> None:
        """The model is about to be asked."""
        if self._began is None:
            self._expose()
            self._began = time.monotonic()

    def ask(self, request: Request) -> Reply:
        """As `Model.ask`."""
        self.begin()
        return self._model.ask(request)

    def seconds(self, replies: Sequence[Reply]) -> float:
        """From the first question until now, less what was waited between tries; kept answers as long as they took."""
        if self._began is None:
            return 0.0
        waited = sum(reply.waited_seconds for reply in replies)
        total = sum(reply.seconds for reply in replies if reply.cached)
        return max(0.0, time.monotonic() - self._began - waited + total)


@dataclass(kw_only=True)
class Campaign:
    """Everything that one call works with."""

    dataset: Dataset
    plan: Plan
    agent: Agent
    wrapped: Wrapped
    records: Records
    open_workspace: Callable[[Instance], AbstractContextManager[Workspace]]
    state: State
    oracle: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By instance id, the files that the fix changes; empty unless the user asked for it."""
    _exposed: set[str] = field(default_factory=set)
    _exposing: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self,
        todo: Sequence[Unit],
        *,
        jobs: int,
        earlier: int,
        tell: Callable[[UnitOutcome], None],
        started: Callable[[Unit], None] = lambda _unit: None,
        cancel: Callable[[], None] = lambda: None,
    ) -> Report:
        """Make them all, or as many as limits allow; each is on disk as soon as it is made.

        Raises:
            InputError, InfrastructureError: nothing may be asked at all: a wrong key, an unknown model…

        """
        self.records.keep(self.state)
        report = Report(planned=len(todo) + earlier, earlier=earlier)

        def take(outcome: UnitOutcome) -> bool:
            self._take(outcome, report)
            tell(outcome)
            return report.stopped is None

        def give_up() -> None:
            self.wrapped.stop()
            cancel()

        def work(unit: Unit) -> UnitOutcome:
            started(unit)
            return self._work(unit)

        run_all(work, todo, jobs=jobs, take=take, stop=give_up)
        report.spent = self.wrapped.spent
        return report

    def _take(self, outcome: UnitOutcome, report: Report) -> None:
        """Put on disk what came of a unit, and count it."""
        self.records.keep(replace(self.state, spent=self.wrapped.spent))
        if outcome.trouble is not None:
            self._note(outcome)
            report.failed(outcome.trouble)
        elif outcome.attempt is not None and _is_of_all(outcome.attempt.stopped):
            report.stopped = report.stopped or outcome.attempt.stopped
        elif outcome.attempt is not None:
            self._keep(outcome)
            report.count(outcome.attempt)

    def _work(self, unit: Unit) -> UnitOutcome:
        job = job_of(
            unit, self.plan, canary=self.dataset.canary, open_workspace=self.open_workspace, oracle=self.oracle
        )
        guard = _Guard(self.wrapped.for_attempt(), lambda: self._expose(unit.instance))
        try:
            with bug_log.of_one_item():
                if getattr(self.agent, "asks_itself", False):
                    guard.begin()
                attempt = self.agent.attempt(job, guard)
        except (InfrastructureError, BugError) as error:
            return UnitOutcome(unit=unit, trouble=error)
        return UnitOutcome(unit=unit, attempt=attempt, latency=guard.seconds(attempt.replies))

    def _expose(self, instance: Instance) -> None:
        """Write into the ledger, once a call and before the first question, that the model is shown the task."""
        with self._exposing:
            if instance.instance_id in self._exposed:
                return
            plan = self.plan
            record_exposure(
                self.dataset,
                [instance.instance_id],
                model=plan.model,
                endpoint=plan.base_url,
                parts={"statement", "code", *(("scaffold",) if instance.scaffold else ())},
                **({"oracle_files": True} if plan.oracle else {}),
            )
            self._exposed.add(instance.instance_id)

    def _note(self, outcome: UnitOutcome) -> None:
        unit, error = outcome.unit, outcome.trouble
        assert error is not None  # noqa: S101 - only trouble is noted
        self.records.add_error(
            {
                "instance_id": unit.instance.instance_id,
                "sample": unit.number,
                "temperature": unit.temperature,
                "fault": _fault(error),
                "message": error.message,
            }
        )

    def _keep(self, outcome: UnitOutcome) -> None:
        attempt, unit = outcome.attempt, outcome.unit
        assert attempt is not None  # noqa: S101 - only attempts are kept
        transcript = self.records.transcript_name(unit.instance.instance_id, unit.number)
        prediction = Prediction(
            instance_id=unit.instance.instance_id,
            model_name_or_path=self.plan.name,
            model_patch=attempt.patch,
            sample=unit.number,
            extra={
                **facts_of(unit, attempt, plan=self.plan, agent=self.agent, latency=outcome.latency),
                **({"transcript": transcript} if transcript else {}),
            },
        )
        self.records.add(prediction, transcript_of(attempt, **own_fields(prediction)))


def job_of(
    unit: Unit,
    plan: Plan,
    *,
    canary: str,
    open_workspace: Callable[[Instance], AbstractContextManager[Workspace]],
    oracle: Mapping[str, tuple[str, ...]],
) -> SolveJob:
    """What an agent is given for a unit."""
    return SolveJob(
        instance=replace(unit.instance, problem_statement=statement_with(unit.instance)),
        sample=unit.index,
        sampling=Sampling(
            temperature=unit.temperature,
            top_p=plan.top_p,
            seed=None if plan.seed is None else plan.seed + unit.index,
            max_output_tokens=plan.max_output_tokens,
        ),
        open_workspace=lambda: open_workspace(unit.instance),
        header=canary,
        oracle_files=oracle.get(unit.instance.instance_id, ()),
    )


def _is_of_all(stopped: str | None) -> bool:
    """Whether the limit that ended an attempt is one of the whole call: then it says nothing about the task."""
    return stopped is not None and not stopped.startswith(_TASK)


def _fault(error: GoldseamError) -> str:
    """The stable word that a line of errors has."""
    if isinstance(error, ModelError):
        return error.fault.value
    return "bug" if isinstance(error, BugError) else "infrastructure"


def _is_hopeless(error: GoldseamError, *, attempts: int) -> bool:
    """Whether every other question would fail the same way."""
    if not isinstance(error, ModelError):
        return False
    return error.fault is Fault.AUTH or (error.fault is Fault.BAD_REQUEST and not attempts)


def facts_of(unit: Unit, attempt: Attempt, *, plan: Plan, agent: Agent, latency: float) -> dict[str, Any]:
    """The further fields of a prediction; docs/formats.md names them all."""
    replies = attempt.replies
    costs = [reply.cost for reply in replies]
    first = replies[0].first_token_seconds if replies else None
    facts: dict[str, Any] = {
        "agent": agent.name,
        "agent_version": agent.version,
        "prompt": plan.prompt,
        "prompt_sha256": plan.prompt_sha256,
        "temperature": unit.temperature,
        "temperature_sample": unit.index,
        "top_p": plan.top_p,
        "seed": None if plan.seed is None else plan.seed + unit.index,
        "max_output_tokens": plan.max_output_tokens,
        "endpoint": plan.endpoint,
        "model": plan.model,
        "snapshot": replies[-1].model if replies else None,
        "snapshots": list(dict.fromkeys(reply.model for reply in replies)),
        "tokens": _tokens(replies),
        "cost_usd": None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
        "latency_seconds": round(latency, 3),
        "time_to_first_token_seconds": None if first is None else round(first, 3),
        "finish_reason": replies[-1].finish_reason if replies else None,
        "request_ids": [reply.request_id for reply in replies if reply.request_id],
        "questions": len(replies),
        "cached_answers": sum(reply.cached for reply in replies),
        "retries": sum(len(reply.retries) for reply in replies),
        "odd": sorted({note for reply in replies for note in reply.notes}),
        "no_patch": attempt.no_patch,
        "no_patch_detail": attempt.detail or None,
        "unusable_patch": attempt.unusable,
        "tolerance": list(attempt.tolerance),
        "stopped": attempt.stopped,
        "oracle_files": plan.oracle,
        "task_digest": digest_of(unit.instance),
    }
    return {**facts, **{name: value for name, value in attempt.facts.items() if name not in facts}}


def _tokens(replies: Sequence[Reply]) -> dict[str, int | None]:
    """Sums over all replies; None where one of them does not say."""

    def total(name: str) -> int | None:
        counts = [getattr(reply.usage, name) for reply in replies]
        return None if not counts or None in counts else sum(counts)

    read, written = total("input_tokens"), total("output_tokens")
    return {
        "input": read,
        "output": written,
        "cached_input": total("cached_input_tokens"),
        "reasoning": total("reasoning_tokens"),
        "total": None if read is None or written is None else read + written,
    }

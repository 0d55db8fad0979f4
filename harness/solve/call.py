"""One call of `solve`, put together: files held, model wrapped, workspaces open, campaign run; all gone at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from harness.core.instance import Instance
from harness.dataset.folder import Dataset
from harness.patches import patch
from harness.solve import plan as plans
from harness.solve.base import Agent
from harness.solve.campaign import Campaign, Report, UnitOutcome, job_of
from harness.solve.estimate import Estimate, estimate
from harness.solve.models import response_cache, session
from harness.solve.models.endpoint import Endpoint, is_pinned
from harness.solve.models.masking import of_environment
from harness.solve.models.meter import Limits, Spending
from harness.solve.models.prices import Prices
from harness.solve.models.response_cache import Asker
from harness.solve.plan import Plan, Unit
from harness.solve.records import Records
from harness.solve.workspace.workspace import Workspaces


@dataclass(frozen=True, kw_only=True)
class Call:
    """What the user asked for."""

    dataset: Dataset
    instances: Sequence[Instance]
    plan: Plan
    agent: Agent
    endpoint: Endpoint
    limits: Limits
    prices: Prices
    cache: Path | None
    """Folder of kept answers; None keeps and finds none."""
    cache_max_mb: int
    jobs: int = 4
    runtime: str | None = None


class Watcher(Protocol):
    """Who is told how it goes."""

    def warn(self, text: str) -> None: ...

    def note(self, text: str) -> None: ...

    def begin(self, *, planned: int, earlier: int) -> None: ...

    def started(self, unit: Unit) -> None: ...

    def done(self, done: UnitOutcome, *, spent: Spending) -> None: ...


def run(call: Call, out: Path, *, environment: Mapping[str, str], watcher: Watcher) -> Report:
    """Make the predictions that are still missing, into `out`.

    Raises:
        InputError: unusable settings, or a file of another campaign.
        InfrastructureError: the endpoint or the engine failed before anything could be asked.

    """
    masker = of_environment(environment, names=[call.endpoint.api_key_env])
    with contextlib.ExitStack() as stack:
        records = stack.enter_context(Records(out, masker=masker))
        state = plans.settled(records, call.plan, call.dataset, call.agent)
        todo, earlier = plans.units(call.plan, call.instances, records.predictions())
        wrapped = stack.enter_context(
            session.opened(
                call.plan.model,
                call.endpoint,
                environment=environment,
                prices=call.prices,
                limits=call.limits,
                cache=response_cache.opened(call.cache, max_mb=call.cache_max_mb, note=watcher.warn),
                jobs=call.jobs,
                earlier=state.spent,
                warn=watcher.warn,
            )
        )
        workspaces = stack.enter_context(Workspaces(runtime=call.runtime, note=watcher.note))
        campaign = Campaign(
            dataset=call.dataset,
            plan=call.plan,
            agent=call.agent,
            wrapped=wrapped,
            records=records,
            open_workspace=workspaces.open,
            state=state,
            oracle=_oracle(call) if call.plan.oracle else {},
        )
        watcher.begin(planned=len(todo) + earlier, earlier=earlier)
        return campaign.run(
            todo,
            jobs=call.jobs,
            earlier=earlier,
            started=watcher.started,
            tell=lambda outcome: watcher.done(outcome, spent=wrapped.spent),
            cancel=workspaces.cancel,
        )


def look_ahead(call: Call, out: Path, *, environment: Mapping[str, str], watcher: Watcher) -> Estimate:
    """What `run` would ask and cost. No model is asked, and the ledger is not written.

    Raises:
        InputError: unusable settings, or a file of another campaign.
        InfrastructureError: the engine failed.

    """
    plan, today = call.plan, datetime.now(UTC).date()
    asker = Asker(
        endpoint=call.endpoint.base_url,
        api=call.endpoint.api.value,
        model=plan.model,
        day=None if is_pinned(plan.model) else today,
    )
    with contextlib.ExitStack() as stack:
        records = stack.enter_context(
            Records(out, masker=of_environment(environment, names=[call.endpoint.api_key_env]))
        )
        plans.settled(records, plan, call.dataset, call.agent)
        predictions = records.predictions()
        todo, _ = plans.units(plan, call.instances, predictions)
        cache = stack.enter_context(response_cache.opened(call.cache, max_mb=call.cache_max_mb, note=watcher.warn))
        workspaces = stack.enter_context(Workspaces(runtime=call.runtime, note=watcher.note))
        oracle = _oracle(call) if plan.oracle else {}
        return estimate(
            todo,
            agent=call.agent,
            model=plan.model,
            job_of=lambda unit: job_of(
                unit, plan, canary=call.dataset.canary, open_workspace=workspaces.open, oracle=oracle
            ),
            price=call.prices.find([plan.model], call.endpoint.base_url, today),
            earlier=predictions,
            is_kept=lambda request: cache is not None and cache.get(asker.key(request)) is not None,
        )


def _oracle(call: Call) -> dict[str, tuple[str, ...]]:
    """By task, the files that its fix changes: the one thing here that is read from the hidden side."""
    files = {}
    for instance in call.instances:
        gold = patch.parse(call.dataset.task(instance.instance_id).hidden.gold_patch, trusted=True)
        files[instance.instance_id] = tuple(sorted(file.old_path for file in gold.files if file.old_path is not None))
    return files

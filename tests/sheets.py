"""Scoresheets and decisions for tests of the gate and the history, from counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.analysis.gate import rules
from harness.analysis.gate.checks import Security
from harness.analysis.gate.config import GateRules
from harness.analysis.scoresheet import SampleScore, Scoresheet, TaskScore
from harness.analysis.usage import Usage
from harness.core.instance import Outcome, TaskState
from harness.judging.places import Place
from harness.runs.task_metadata import TaskFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.analysis.gate.decision import Decision, RuleLine

WON, LOST, GAP = Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.INFRA_ERROR


def task(
    number: int | str,
    outcomes: Iterable[Outcome | None] = (WON,),
    *,
    cost: float | None = None,
    digest: str = "same",
    **facts: Any,
) -> TaskScore:
    """One task with a sample for each outcome."""
    known = {
        "repo": "acme/widgets",
        "language": "python",
        "state": TaskState.PROVED,
        "place": Place.HOST,
        **facts,
    }
    samples = tuple(
        SampleScore(sample=index, outcome=outcome, seconds=1.5, usage=Usage(cost_usd=cost))
        for index, outcome in enumerate(outcomes)
    )
    return TaskScore(
        instance_id=number if isinstance(number, str) else f"acme__widgets-{number}",
        samples=samples,
        facts=TaskFacts(**known),
        digest=digest,
    )


def sheet(*tasks: TaskScore, model: str = "model", missing: Mapping[str, TaskFacts] | None = None, **fields: Any):
    """A sheet of these tasks; what is not proved is set aside."""
    return Scoresheet(
        model=model,
        run=Path("run"),
        dataset="widgets",
        dataset_version=1,
        grading_version=2,
        tasks={one.instance_id: one for one in tasks if one.facts.counts},
        aside={one.instance_id: one for one in tasks if not one.facts.counts},
        uncovered=missing or {},
        **fields,
    )


def run_of(won: int, lost: int = 0, *, model: str = "model", **facts: Any) -> Scoresheet:
    """A run with one sample a task: the first `won` tasks are resolved, the next `lost` are not."""
    outcomes = [WON] * won + [LOST] * lost
    return sheet(*(task(number, [outcome], **facts) for number, outcome in enumerate(outcomes)), model=model)


def decide(candidate: Scoresheet, baseline: Scoresheet | None = None, **fields: Any) -> Decision:
    """The gate's decision; `fields` are rules, and `security` and `confirm`."""
    security = fields.pop("security", Security())
    confirm = fields.pop("confirm", None)
    return rules.decide(
        rules.Entry(sheet=candidate, name="candidate-run", started_at="2026-06-01T12:00:00Z"),
        rules.Entry(sheet=baseline, name="baseline-run") if baseline else None,
        GateRules.model_validate(fields),
        security=security,
        confirm=rules.Entry(sheet=confirm, name="again") if confirm else None,
    )


def rule(decision: Decision, name: str) -> RuleLine:
    """The line of one rule."""
    [line] = [line for line in decision.rules if line.name == name]
    return line

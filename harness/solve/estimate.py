"""What a campaign would ask and cost, without asking: `goldseam solve --dry-run`.

The agent itself is run with a model that notes the first question and ends there, so its prompt is the real one. Tokens
are those of `models/tokens.py`; how many a model will write nobody knows beforehand: what earlier predictions of
the same agent took says it best, else the assumptions below.
"""

from __future__ import annotations

import contextlib
import operator
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from harness.core.instance import Prediction
from harness.dataset.revealed import statement_with
from harness.solve.base import Agent, LimitReachedError, Reply, Request, SolveJob
from harness.solve.models import tokens
from harness.solve.models.prices import Price, Rates
from harness.solve.plan import Unit

MILLION = 1_000_000
RATIO = (0.75, 1.35)
"""Between these times the rule of thumb lie the tokens that were measured; see docs/solve.md."""
_FEWEST_RECORDED = 3
"""Predictions from which on what they took is believed."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """A figure that is not known yet."""

    low: float
    likely: float
    high: float

    @classmethod
    def of(cls, figure: Callable[..., float], *ranges: Range) -> Range:
        """A figure that depends on others: worked out from what is low of each, likely, and high."""
        low, likely, high = (figure(*case) for case in zip(*map(astuple, ranges), strict=True))
        return cls(low=low, likely=likely, high=high)

    def __add__(self, other: Range) -> Range:
        return Range.of(operator.add, self, other)


NOTHING = Range(low=0, likely=0, high=0)


@dataclass(frozen=True, kw_only=True)
class Course:
    """How one attempt of an agent is taken to go, where nothing is recorded."""

    questions: Range
    written: Range
    """Tokens of one answer."""
    grown: float
    """Tokens by which each question is longer than the one before: the answer, and what a tool gave back."""
    longest: float
    """Tokens that a prompt grows to at most."""


COURSES = {
    "single": Course(
        questions=Range(low=1, likely=1, high=1),
        written=Range(low=300, likely=1500, high=8000),
        grown=0,
        longest=float("inf"),
    ),
    "loop": Course(
        questions=Range(low=6, likely=20, high=60),
        written=Range(low=100, likely=300, high=1000),
        grown=1500,
        longest=70_000,
    ),
}
"""Assumptions, stated in docs/solve.md. Agents that ask by themselves are taken to work as `loop` does."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a campaign is likely to take. Dollars are None where the price is not known."""

    attempts: int
    kept: int
    """Attempts whose (only) question the response cache answers already: they cost nothing."""
    questions: Range
    exact: bool
    """The number of questions is no estimate: one an attempt, as far as nothing has to be asked again."""
    input_tokens: Range
    output_tokens: Range
    cost: Range | None
    batch_cost: Range | None
    """By the endpoint's batch interface, which goldseam does not use; None where it has none, or no price is known."""
    basis: str
    """What the output stands on, in words."""

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        fields = asdict(self)
        fields["cost_usd"], fields["batch_cost_usd"] = fields.pop("cost"), fields.pop("batch_cost")
        return {"schema_version": 1, **fields}


class _Peek:
    """A model that is asked once and answers nothing; a `Model`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: Request | None = None

    def ask(self, request: Request) -> Reply:
        self.seen = self.seen or request
        raise LimitReachedError("dry_run", "nothing is asked in a dry run")


def first_question(agent: Agent, job: SolveJob, *, model: str) -> Request | None:
    """The first question that an agent asks of a job; None for an agent that asks by itself."""
    if getattr(agent, "asks_itself", False):
        return None
    peek = _Peek(model)
    with contextlib.suppress(LimitReachedError):
        agent.attempt(job, peek)
    return peek.seen


def estimate(
    units: Sequence[Unit],
    *,
    agent: Agent,
    model: str,
    job_of: Callable[[Unit], SolveJob],
    price: Price | None,
    earlier: Iterable[Prediction] = (),
    is_kept: Callable[[Request], bool] = lambda _: False,
) -> Estimate:
    """Look ahead at a campaign. Workspaces are opened, once a task; no model is asked.

    Args:
        units: what is to be made.
        agent: as the campaign would use it.
        model: its name.
        job_of: the job of a unit.
        price: of the model; None where it is not known.
        earlier: predictions of the same agent, for what it takes.
        is_kept: whether the response cache has the answer.

    """
    course = COURSES.get(agent.name, COURSES["loop"])
    recorded = _recorded(agent, earlier)
    exact = course.questions.low == course.questions.high
    batch = price.batch if price else None
    sums = dict.fromkeys(("questions", "read", "written", "cost", "batch"), NOTHING)
    count_kept = 0
    first: dict[str, Request | None] = {}
    for unit in units:
        job = job_of(unit)
        task = unit.instance.instance_id
        if task not in first:
            first[task] = first_question(agent, job, model=model)
        request = first[task]
        if exact and request and is_kept(replace(request, sampling=job.sampling, sample=job.sample)):
            count_kept += 1
            continue
        size = tokens.request_bytes(request) if request else len(statement_with(unit.instance).encode())
        rates = price.rates(tokens.likely(size)) if price else None
        attempt = _attempt(course, tokens.likely(size), recorded, job.sampling.max_output_tokens)
        more = {"questions": attempt.questions, "read": attempt.read, "written": attempt.written}
        more |= {"cost": _cost(rates, attempt)} if rates else {}
        more |= {"batch": _cost(batch, attempt)} if batch else {}
        sums |= {name: sums[name] + part for name, part in more.items()}
    return Estimate(
        attempts=len(units),
        kept=count_kept,
        questions=sums["questions"],
        exact=exact,
        input_tokens=sums["read"],
        output_tokens=sums["written"],
        cost=sums["cost"] if price else None,
        batch_cost=sums["batch"] if batch else None,
        basis=_basis(agent, course, recorded),
    )


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """What one attempt is likely to take."""

    questions: Range
    read: Range
    written: Range


def _recorded(agent: Agent, earlier: Iterable[Prediction]) -> _Attempt | None:
    """What predictions of this very agent took, where there are enough that say."""
    rows: list[list[float]] = []
    for prediction in earlier:
        extra = prediction.extra
        tokens = extra.get("tokens")
        if (extra.get("agent"), extra.get("agent_version")) != (agent.name, agent.version) or not isinstance(
            tokens, dict
        ):
            continue
        row = [extra.get("questions"), tokens.get("input"), tokens.get("output")]
        numbers = [float(number) for number in row if isinstance(number, int) and not isinstance(number, bool)]
        if len(numbers) == len(row):
            rows.append(numbers)
    if len(rows) < _FEWEST_RECORDED:
        return None
    questions, read, written = (_spread([row[column] for row in rows]) for column in range(3))
    return _Attempt(questions=questions, read=read, written=written)


def _spread(numbers: Sequence[float]) -> Range:
    return Range(low=min(numbers), likely=statistics.median(numbers), high=max(numbers))


def _attempt(course: Course, first: int, recorded: _Attempt | None, most: int | None) -> _Attempt:
    """An attempt that begins with a prompt of so many tokens; its answers have at most `most`."""
    if recorded is not None and course.grown:
        return recorded
    questions = course.questions
    answer = course.written
    if most is not None:
        answer = Range(low=min(answer.low, most), likely=min(answer.likely, most), high=most)
    written = recorded.written if recorded else Range.of(operator.mul, answer, questions)
    read = Range.of(lambda count: _read(course, first, int(count)), questions)
    read = replace(read, low=read.low * RATIO[0], high=read.high * RATIO[1])
    return _Attempt(questions=questions, read=read, written=written)


def _read(course: Course, first: int, questions: int) -> float:
    """Tokens that all questions of a conversation have together: each holds all that was said before."""
    return sum(min(first + number * course.grown, max(first, course.longest)) for number in range(questions))


def _cost(rates: Rates, attempt: _Attempt) -> Range:
    """Dollars at these rates; what an endpoint's own cache saves is left out, since nobody knows it beforehand."""

    def dollars(read: float, written: float) -> float:
        return (read * rates.input + written * rates.output) / MILLION

    return Range.of(dollars, attempt.read, attempt.written)


def _basis(agent: Agent, course: Course, recorded: _Attempt | None) -> str:
    if recorded is not None:
        return f"what predictions of {agent.name} {agent.version} in this file took"
    written = f"{course.written.low:g} to {course.written.high:g} tokens an answer (likely {course.written.likely:g})"
    if not course.grown:
        return f"the real prompts; assumed: {written}"
    return (
        f"assumed: {course.questions.low:g} to {course.questions.high:g} questions an attempt (likely "
        f"{course.questions.likely:g}), each {course.grown:g} tokens longer than the one before, {written}"
    )

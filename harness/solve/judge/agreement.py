"""A model as a judge, held against what the tests said: how often it is wrong, and which way. Pure.

A judge decides nothing here: no score, no gate and no report reads what it says. It is measured, so that whoever thinks
of using one instead of tests can see what that would do.
"""

from __future__ import annotations

import random
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from typing import Any

from harness.core import json_text
from harness.stats import Interval, mean_interval

DRAWS = 10_000
"""Resamples of the tasks, for how often two models change places."""
_SURE = 1e-9
"""Differences of shares below this are sums in another order: a tie."""
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)
_LINE = re.compile(r"VERDICT: (CORRECT|INCORRECT)", re.IGNORECASE)


class Grade(StrEnum):
    """What a judge said of one patch."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNREADABLE = "unreadable"
    """It said neither, or both, or not in the form that it was asked for. Never guessed at."""


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """A judge's reply, read."""

    grade: Grade
    reason: str = ""
    """In the judge's words; where it can't be read, what is wrong with its form."""


def read(text: str) -> Opinion:
    """Read a reply strictly: one JSON object with `verdict`, or a last line `VERDICT: CORRECT` (`INCORRECT`)."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    bare = fenced.group(1).strip() if fenced else bare
    if not bare:
        return Opinion(grade=Grade.UNREADABLE, reason="nothing was said")
    if bare.startswith("{"):
        return _from_json(bare)
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    matches = [match for line in lines if (match := _LINE.fullmatch(line))]
    if len(matches) != 1 or _LINE.fullmatch(lines[-1]) is None:
        return Opinion(grade=Grade.UNREADABLE, reason="neither one JSON object nor a last line with the verdict")
    return Opinion(grade=Grade(matches[0].group(1).lower()), reason=" ".join(lines[:-1]))


def _from_json(text: str) -> Opinion:
    try:
        value = json_text.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        return Opinion(grade=Grade.UNREADABLE, reason=f"not one JSON object: {error}")
    verdict = value.get("verdict")
    if not isinstance(verdict, str) or verdict.lower() not in {Grade.CORRECT, Grade.INCORRECT}:
        return Opinion(grade=Grade.UNREADABLE, reason="`verdict` is neither `correct` nor `incorrect`")
    reason = value.get("reason")
    return Opinion(grade=Grade(verdict.lower()), reason=reason if isinstance(reason, str) else "")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One patch that the tests have judged, and what the model judge said of it."""

    model: str
    """That wrote the patch."""
    instance_id: str
    resolved: bool
    failure_class: str | None = None
    grade: Grade | None = None
    """None where the judge was not asked, or could not be."""
    empty: bool = False
    """There is no patch: nobody needs to be asked."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A share over tasks, each task counting alike; 95% interval."""

    value: float | None
    interval: Interval | None
    patches: int
    tasks: int


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The confusion matrix: what the tests say against what the judge says, in patches."""

    right_passed: int = 0
    right_rejected: int = 0
    right_unreadable: int = 0
    wrong_passed: int = 0
    wrong_rejected: int = 0
    wrong_unreadable: int = 0
    unasked: int = 0
    """Patches that the judge has not been asked about."""
    empty: int = 0
    """Predictions without a patch: not judged."""

    @property
    def judged(self) -> int:
        return self.right_passed + self.right_rejected + self.wrong_passed + self.wrong_rejected

    @property
    def kappa(self) -> float | None:
        """Cohen's: agreement beyond chance, 1 for full, 0 for none; None where chance alone would agree always.

        Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
        (1960), 37-46.
        """
        count = self.judged
        if not count:
            return None
        observed = (self.right_passed + self.wrong_rejected) / count
        right, passed = self.right_passed + self.right_rejected, self.right_passed + self.wrong_passed
        chance = (right * passed + (count - right) * (count - passed)) / count**2
        return None if chance == 1 else (observed - chance) / (1 - chance)


@dataclass(frozen=True, kw_only=True)
class ModelTally:
    """A judge on one model's patches."""

    model: str
    matrix: Matrix
    waved_through: Rate
    """Of the patches that the tests reject: those that the judge passes."""
    turned_away: Rate
    """Of the patches that the tests pass: those that the judge rejects."""
    agreement: Rate
    by_class: Mapping[str, Rate] = field(default_factory=dict)
    """`waved_through` by failure class."""


class Order(StrEnum):
    """Whether two models stand in the same order by judge as by tests."""

    SAME = "same"
    FLIPPED = "flipped"
    TIE_BY_TESTS = "tie by tests"
    TIE_BY_JUDGE = "tie by judge"
    TIE_BY_BOTH = "tie by both"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two models' scores by tests and by judge, on the tasks that both have judged patches for."""

    one: str
    other: str
    tasks: int
    by_tests: float
    """Difference of the shares of resolved, `one` less `other`."""
    by_judge: float
    order: Order
    flips: float | None
    """Share of resamples of the tasks in which the two orders are opposed; None without a task."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """All that is told of one judge."""

    models: tuple[ModelTally, ...]
    all: ModelTally
    pairs: tuple[Pair, ...]

    @property
    def flipped(self) -> int:
        return sum(pair.order is Order.FLIPPED for pair in self.pairs)


def tally(cases: Iterable[Case], *, unranked: frozenset[str] = frozenset()) -> Tally:
    """Hold a judge against the tests. Models in `unranked` (gold, null) take part in no pair."""
    by_model: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_model[case.model].append(case)
    names = sorted(by_model)
    every = [case for name in names for case in by_model[name]]
    ranked = [name for name in names if name not in unranked]
    return Tally(
        models=tuple(_model(name, by_model[name]) for name in names),
        all=_model("all", every),
        pairs=tuple(_pair(left, other, by_model) for left, other in combinations(ranked, 2)),
    )


def _model(name: str, cases: Sequence[Case]) -> ModelTally:
    graded = [case for case in cases if not case.empty and case.grade in {Grade.CORRECT, Grade.INCORRECT}]
    wrong = [case for case in graded if not case.resolved]
    classes = sorted({case.failure_class or "unknown" for case in wrong})
    return ModelTally(
        model=name,
        matrix=_matrix(cases),
        waved_through=_rate(wrong, _passed),
        turned_away=_rate([case for case in graded if case.resolved], lambda case: not _passed(case)),
        agreement=_rate(graded, lambda case: _passed(case) == case.resolved),
        by_class={
            word: _rate([case for case in wrong if (case.failure_class or "unknown") == word], _passed)
            for word in classes
        },
    )


def _passed(case: Case) -> bool:
    return case.grade is Grade.CORRECT


def _matrix(cases: Sequence[Case]) -> Matrix:
    counts: dict[str, int] = defaultdict(int)
    words = {Grade.CORRECT: "passed", Grade.INCORRECT: "rejected", Grade.UNREADABLE: "unreadable"}
    for case in cases:
        if case.empty:
            counts["empty"] += 1
        elif case.grade is None:
            counts["unasked"] += 1
        else:
            counts[f"{'right' if case.resolved else 'wrong'}_{words[case.grade]}"] += 1
    return Matrix(**counts)


def _rate(cases: Sequence[Case], hit: Callable[[Case], bool]) -> Rate:
    """The mean over tasks of each one's share, with the interval that scores have."""
    by_task: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        by_task[case.instance_id].append(hit(case))
    shares = [statistics.fmean(hits) for hits in by_task.values()]
    return Rate(
        value=statistics.fmean(shares) if shares else None,
        interval=mean_interval(shares, trials=len(cases)),
        patches=len(cases),
        tasks=len(shares),
    )


def _pair(name: str, other: str, by_model: Mapping[str, Sequence[Case]]) -> Pair:
    first, second = _scores(by_model[name]), _scores(by_model[other])
    both = sorted(first.keys() & second.keys())
    tests = [first[task][0] - second[task][0] for task in both]
    judge = [first[task][1] - second[task][1] for task in both]
    by_tests, by_judge = (statistics.fmean(parts) if parts else 0.0 for parts in (tests, judge))
    return Pair(
        one=name,
        other=other,
        tasks=len(both),
        by_tests=by_tests,
        by_judge=by_judge,
        order=_order(by_tests, by_judge),
        flips=_flips(tests, judge),
    )


def _scores(cases: Sequence[Case]) -> dict[str, tuple[float, float]]:
    """By task: the share of patches that pass by tests, and by judge. What the judge did not say counts for neither."""
    scores_by_task: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for case in cases:
        if case.empty or case.grade in {Grade.CORRECT, Grade.INCORRECT}:
            scores_by_task[case.instance_id].append((case.resolved, not case.empty and _passed(case)))
    return {
        task: (statistics.fmean(test for test, _ in pairs), statistics.fmean(judged_right for _, judged_right in pairs))
        for task, pairs in scores_by_task.items()
    }


def _order(by_tests: float, by_judge: float) -> Order:
    tests_tie, judge_tie = abs(by_tests) < _SURE, abs(by_judge) < _SURE
    if tests_tie or judge_tie:
        both = tests_tie and judge_tie
        return Order.TIE_BY_BOTH if both else Order.TIE_BY_TESTS if tests_tie else Order.TIE_BY_JUDGE
    return Order.SAME if (by_tests > 0) == (by_judge > 0) else Order.FLIPPED


def _flips(tests: Sequence[float], judge: Sequence[float]) -> float | None:
    """How often the orders are opposed when tasks are drawn anew, with replacement.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), 1-26.
    """
    if not tests:
        return None
    pairs = [complex(by_tests, by_judge) for by_tests, by_judge in zip(tests, judge, strict=True)]
    chance = random.Random(0)  # noqa: S311 - for a statistic, not for a secret
    opposed, least = 0, _SURE * len(pairs)
    for _ in range(DRAWS):
        both = sum(chance.choices(pairs, k=len(pairs)))
        opposed += both.real * both.imag < 0 and min(abs(both.real), abs(both.imag)) >= least
    return opposed / DRAWS

"""What is shown of a judge held against the tests: tables for a terminal, plain values for `--json`. Prints nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from harness.cli.views.scores import UNKNOWN, bounds, points, table
from harness.core.wording import percent
from harness.solve.judge.agreement import Matrix, ModelTally, Order, Rate, Tally
from harness.solve.judge.file import Bill, JudgeIdentity

if TYPE_CHECKING:
    from rich.table import Table


SCHEMA_VERSION = 1
NEVER = "No score, no report and no gate reads what a judge says: the tests decide."
_MINUTE = 120.0


def render(judge: JudgeIdentity, tally: Tally, bill: Bill) -> RenderableType:
    """All that `goldseam judge` shows of one judge."""
    parts: list[RenderableType] = [Text(sentence(judge, tally)), Text(), _matrices(tally)]
    if len(tally.all.by_class) > 1:
        parts += [Text(), _classes(tally.all)]
    if tally.pairs:
        parts += [Text(), Text(ranking(tally)), _pairs(tally)]
    return Group(*parts, Text(), Text(bill_sentence(bill)), Text(NEVER, style="bright_black"))


def sentence(judge: JudgeIdentity, tally: Tally) -> str:
    """The answer in plain words."""
    model_tally, matrix = tally.all, tally.all.matrix
    unreadable = matrix.right_unreadable + matrix.wrong_unreadable
    judged_count = matrix.judged + unreadable + matrix.unasked
    text = (
        f"{judge.model} (rubric {judge.rubric}{', shown the gold patch' if judge.with_gold else ''}) judged "
        f"{matrix.judged + unreadable} of {judged_count} patches. "
        f"It passes {_share(model_tally.waved_through)} of those that fail "
        f"their tests, and rejects {_share(model_tally.turned_away)} of those that pass them."
    )
    if unreadable:
        text += f" {unreadable} of its answers can't be read and count for neither."
    return text


def _share(rate: Rate) -> str:
    if rate.value is None:
        return "none (there are none)"
    return f"{percent(rate.value)} (95% interval {bounds(rate.interval)})"


def ranking(tally: Tally) -> str:
    """How often two models change places."""
    pairs = len(tally.pairs)
    ties = sum(pair.order not in {Order.SAME, Order.FLIPPED} for pair in tally.pairs)
    text = f"Ranking: {tally.flipped} of {pairs} pair{'s' if pairs > 1 else ''} of models change places"
    return f"{text}; {ties} can't, being a tie by tests or by judge." if ties else f"{text}."


def bill_sentence(bill: Bill) -> str:
    """What judging took beside what running the tests took."""
    if not bill.judged:
        return "Nothing is judged yet."
    cost = "an unknown price" if bill.cost_usd is None else f"${bill.cost_usd:.4f}"
    tokens = "an unknown number of tokens" if bill.tokens is None else f"{bill.tokens:,} tokens"
    return (
        f"These {bill.judged} judgements took {tokens}, {cost} and {_time(bill.judge_seconds)} of answering. The tests "
        f"on these patches took {_time(bill.container_seconds)} of containers and no token."
    )


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < _MINUTE else f"{seconds / 60:.1f} min"


def _matrices(tally: Tally) -> Table:
    grid = table("model", "tests", "judge: yes", "no", "unreadable", "wrong", "95%", "kappa", left=2)
    every = tally.models if len(tally.models) == 1 else (*tally.models, tally.all)
    for model_tally in every:
        matrix = model_tally.matrix
        kappa = UNKNOWN if matrix.kappa is None else f"{matrix.kappa:.2f}"
        wrong, right = model_tally.waved_through, model_tally.turned_away
        row = (str(matrix.right_passed), str(matrix.right_rejected), str(matrix.right_unreadable))
        grid.add_row(Text(model_tally.model), "pass", *row, percent(right.value), bounds(right.interval), kappa)
        row = (str(matrix.wrong_passed), str(matrix.wrong_rejected), str(matrix.wrong_unreadable))
        grid.add_row(_aside(matrix), "fail", *row, percent(wrong.value), bounds(wrong.interval), "")
    return grid


def _aside(matrix: Matrix) -> Text:
    parts = [f"{matrix.empty} empty"] if matrix.empty else []
    parts += [f"{matrix.unasked} not asked"] if matrix.unasked else []
    return Text(", ".join(parts), style="bright_black")


def _classes(tally: ModelTally) -> Table:
    grid = table("how a patch fails", "patches", "judge passes", "95%")
    for word, rate in sorted(tally.by_class.items(), key=lambda item: -item[1].patches):
        grid.add_row(Text(word), str(rate.patches), percent(rate.value), bounds(rate.interval))
    return grid


def _pairs(tally: Tally) -> Table:
    grid = table("models", "tasks", "by tests", "by judge", "order", "flips in resamples")
    for pair in tally.pairs:
        grid.add_row(
            Text(f"{pair.one} – {pair.other}"),
            str(pair.tasks),
            points(pair.by_tests),
            points(pair.by_judge),
            Text(pair.order.value, style="red" if pair.order is Order.FLIPPED else ""),
            percent(pair.flips),
        )
    return grid


def document(
    runs: list[str], tallies: Iterable[tuple[JudgeIdentity, Tally, Bill]], *, stopped: str | None
) -> dict[str, Any]:
    """What `--json` prints; docs/formats.md has the fields."""
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": runs,
        "judges": [as_json(*parts) for parts in tallies],
        "stopped": stopped,
    }


def as_json(judge: JudgeIdentity, tally: Tally, bill: Bill) -> dict[str, Any]:
    """One judge of those."""
    return {
        "judge": judge.model_dump(),
        "sentence": sentence(judge, tally),
        "all": _model_json(tally.all),
        "models": [_model_json(model) for model in tally.models],
        "pairs": [{**asdict(pair), "order": pair.order.value} for pair in tally.pairs],
        "flipped": tally.flipped,
        "bill": asdict(bill),
    }


def _model_json(tally: ModelTally) -> dict[str, Any]:
    return {
        "model": tally.model,
        "matrix": {**asdict(tally.matrix), "kappa": tally.matrix.kappa},
        "waved_through": asdict(tally.waved_through),
        "turned_away": asdict(tally.turned_away),
        "agreement": asdict(tally.agreement),
        "by_class": {word: asdict(rate) for word, rate in tally.by_class.items()},
    }

"""A look ahead for a person. Prints nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from harness.cli.views.scores import table
from harness.solve.estimate import Estimate, Range

if TYPE_CHECKING:
    from rich.table import Table


_MANY = 10_000


def render(estimate: Estimate, *, model: str) -> Table:
    """What `goldseam solve --dry-run` shows."""
    grid = table("nothing is asked", "likely", "from", "to")
    grid.add_row("attempts to make", str(estimate.attempts), "", "")
    if estimate.kept:
        grid.add_row("… answered by the cache", str(estimate.kept), "", "")
    questions = estimate.questions
    if estimate.exact:
        grid.add_row("questions", f"{questions.likely:.0f}", "", "")
    else:
        grid.add_row("questions", *_counts(questions))
    grid.add_row("tokens read", *_counts(estimate.input_tokens))
    grid.add_row("tokens written", *_counts(estimate.output_tokens))
    if estimate.cost is None:
        grid.add_row(Text(f"cost: no price is known for {model}", style="yellow"), "", "", "")
    else:
        grid.add_row("cost", *_dollars(estimate.cost))
    if estimate.batch_cost is not None:
        grid.add_row("… if asked as a batch", *_dollars(estimate.batch_cost))
    return grid


def _counts(span: Range) -> tuple[str, str, str]:
    def rounded(number: float) -> str:
        return f"{number:,.0f}" if number < _MANY else f"{round(number, 2 - len(f'{number:.0f}')):,.0f}"

    return rounded(span.likely), rounded(span.low), rounded(span.high)


def _dollars(span: Range) -> tuple[str, str, str]:
    likely, low, high = (
        f"${number:.2f}" if number >= 1 else f"${number:.4f}" for number in (span.likely, span.low, span.high)
    )
    return likely, low, high

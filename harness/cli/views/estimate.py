"""A look ahead for a person. Prints nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from harness.cli.views.scores import table

if TYPE_CHECKING:
    from rich.table import Table

    from harness.solve.estimate import Estimate, Range

_MANY = 10_000


def render(found: Estimate, *, model: str) -> Table:
    """What `goldseam solve --dry-run` shows."""
    made = table("nothing is asked", "likely", "from", "to")
    made.add_row("attempts to make", str(found.attempts), "", "")
    if found.kept:
        made.add_row("… answered by the cache", str(found.kept), "", "")
    questions = found.questions
    if found.exact:
        made.add_row("questions", f"{questions.likely:.0f}", "", "")
    else:
        made.add_row("questions", *_counts(questions))
    made.add_row("tokens read", *_counts(found.input_tokens))
    made.add_row("tokens written", *_counts(found.output_tokens))
    if found.cost is None:
        made.add_row(Text(f"cost: no price is known for {model}", style="yellow"), "", "", "")
    else:
        made.add_row("cost", *_dollars(found.cost))
    if found.batch_cost is not None:
        made.add_row("… were it asked by batch", *_dollars(found.batch_cost))
    return made


def _counts(found: Range) -> tuple[str, str, str]:
    def shown(number: float) -> str:
        return f"{number:,.0f}" if number < _MANY else f"{round(number, 2 - len(f'{number:.0f}')):,.0f}"

    return shown(found.likely), shown(found.low), shown(found.high)


def _dollars(found: Range) -> tuple[str, str, str]:
    likely, low, high = (
        f"${number:.2f}" if number >= 1 else f"${number:.4f}" for number in (found.likely, found.low, found.high)
    )
    return likely, low, high

"""`goldseam holdout difficulty`: how hard tasks are, by what models came to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from rich.table import Column, Table
from rich.text import Text

from harness.cli.options import DatasetArgument, DryRunFlag, IdentityOption, JsonFlag, open_with, print_json
from harness.cli.shell.command import App, option
from harness.cli.views import terminal
from harness.core.wording import counted
from harness.quality.difficulty import Tier
from harness.quality.measuring import Rating, rate
from harness.quality.solved import ENOUGH

app = App()


@app.add(
    examples={
        "goldseam holdout difficulty bench --run runs/a --run runs/b": "Rate tasks by two runs",
        "goldseam holdout difficulty bench --run runs/a --dry-run": "Show what would change",
        "goldseam holdout difficulty bench --run runs/a --json": "Print the ratings as JSON",
    }
)
def difficulty(
    dataset: DatasetArgument,
    runs: Annotated[list[Path], option("--run RUN", "Run folder with verdicts on models (repeatable).")],
    dry_run: DryRunFlag = False,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Replace the difficulty that mining estimated by the solve rate that runs measured."""
    rating = rate(open_with(dataset, identity), runs, write=not dry_run)
    if json_:
        tasks = [
            {"instance_id": task.instance_id, "before": task.before, "after": task.after, **task.measured.public()}
            for task in rating.tasks
        ]
        print_json(
            {"tasks": tasks, "unmeasured": rating.unmeasured, "left_out": rating.left_out, "written": not dry_run}
        )
        return
    _show(rating, dry_run=dry_run)


def _show(rating: Rating, *, dry_run: bool) -> None:
    console = terminal.results()
    columns = [Column(head, no_wrap=True) for head in ("before", "now", "resolved", "95%", "models")]
    table = Table(Column("task", overflow="fold"), *columns, box=None, pad_edge=False)
    for task in rating.tasks:
        measured = task.measured
        table.add_row(
            Text(task.instance_id),
            task.before or "–",
            Text(task.after or "–", style="" if task.before == task.after else "bold"),
            f"{measured.resolved} of {measured.verdicts}",
            f"{measured.interval.low:.0%}–{measured.interval.high:.0%}",
            str(len(measured.models)),
        )
    console.print(table)
    counts = Counter(rated.after for rated in rating.tasks)
    text = ", ".join(f"{counts[tier]} {tier}" for tier in Tier if counts[tier])
    console.print(f"{counted(len(rating.tasks), 'task')}: {text or 'no tier'}; {rating.unmeasured} without a verdict")
    models = sorted({model for rated in rating.tasks for model in rated.measured.models})
    console.print(Text(f"models: {', '.join(models)}"), soft_wrap=True)
    few = sum(not rated.measured.settled for rated in rating.tasks)
    if few:
        console.print(f"{counted(few, 'task keeps', 'tasks keep')} the tier they had: fewer than {ENOUGH} verdicts")
    for reason, count in sorted(rating.left_out.items()):
        console.print(Text(f"{counted(count, 'verdict')} left out: {reason}", style="bright_black"))
    if dry_run:
        console.print(Text("nothing was written"))

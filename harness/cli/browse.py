"""`goldseam holdout ls` and `show`: what a dataset holds, task by task."""

from __future__ import annotations

from typing import Annotated

from harness.cli.options import DatasetSource, IdentityOption, JsonFlag, SplitOption, open_with, print_json, show
from harness.cli.shell import complete
from harness.cli.shell.command import App, argument, option
from harness.cli.views import browse as view
from harness.cli.views import terminal
from harness.core.instance import TaskState
from harness.core.wording import counted, one_of
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.dataset.similarity import leaks
from harness.dataset.splits import known_split
from harness.quality.difficulty import Tier

app = App()


@app.add(
    "ls",
    examples={
        "goldseam holdout ls bench": "List all tasks",
        "goldseam holdout ls bench --state quarantined": "List the tasks in quarantine",
        "goldseam holdout ls bench --split dev --json": "Print the tasks for development as JSON",
    },
)
def list_tasks(
    dataset: DatasetSource,
    state: Annotated[TaskState | None, option("--state", "Only tasks in this state.", shown="all")] = None,
    split: SplitOption = None,
    repo: Annotated[str | None, option("--repo OWNER/NAME", "Only tasks of this repository.", shown="all")] = None,
    tier: Annotated[
        str | None, option("--difficulty easy|medium|hard|brutal", "Only tasks of this difficulty.", shown="all")
    ] = None,
    text: Annotated[
        str | None, option("--grep TEXT", "Only tasks whose id or statement contains this.", shown="all")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """List a dataset's tasks: title, state, split, where they are judged, difficulty, strength. Opens nothing sealed."""
    opened = open_dataset(dataset)
    known_split(opened, split)
    if tier is not None:
        one_of("--difficulty", tier, Tier)
    instances = list(opened.instances())
    if repo is not None and instances:
        one_of("--repo", repo, sorted({instance.repo for instance in instances}))
    rows = [
        row
        for row in map(view.row_of, instances)
        if (state is None or row.state == state.value)
        and split in {None, "all", row.split}
        and repo in {None, row.repo}
        and tier in {None, row.difficulty}
        and (text is None or text.lower() in f"{row.instance_id}\n{row.statement}".lower())
    ]
    if json_:
        print_json(view.rows_json(rows))
        return
    console = terminal.results()
    console.print(view.rows_table(rows, console.width))
    total = len(opened.ids())
    console.print(f"{len(rows)} of {counted(total, 'task')}" if len(rows) < total else f"{counted(total, 'task')}")
    if rows:
        terminal.next_step(f"goldseam holdout show {dataset} {rows[0].instance_id}")


@app.add(
    "show",
    examples={
        "goldseam holdout show bench acme__app-12": "Show one task",
        "goldseam holdout show bench acme__app-12 --identity ~/.ssh/id_ed25519": "Show a sealed task whole",
        "goldseam holdout show bench acme__app-12 --json": "Print it as JSON",
    },
)
def show_task(
    dataset: DatasetSource,
    task: Annotated[str, argument("TASK", "Id of the task.", autocompletion=complete.task_ids)],
    public: Annotated[bool, option("--public", "Leave out the hidden side: test lists and patches.")] = False,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Show a task: statement, test lists, patches, quality, and its history from the ledger."""
    opened = open_with(dataset, identity)
    opened.require([task])
    is_open = not public and (not opened.sealed or opened.keys is not None)
    hidden = leaks.opener(opened, [task], purpose="show")(task).hidden if is_open else None
    card = view.TaskView(
        instance=opened.instance(task),
        hidden=hidden,
        history=tuple(entry for entry in ledger.read(opened) if task in entry.tasks),
        folder=opened.task_folder(task),
        closed=None if is_open else "left out by --public" if public else "sealed: open it with --identity KEY",
    )
    show(card.as_json() if json_ else view.render(card))

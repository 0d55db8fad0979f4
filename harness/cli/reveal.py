"""`goldseam holdout reveal`: let tasks show some of their hidden tests."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from rich.text import Text

from harness.cli import options
from harness.cli.shell.command import App, option
from harness.cli.views import terminal
from harness.core.wording import counted
from harness.sandbox.docker import DockerSandbox
from harness.scaffold.reveal import RevealOutcome, reveal_in
from harness.solve.workspace.workspace import Workspaces

app = App()


@app.add(
    examples={
        "goldseam holdout reveal bench --tests 2": "Let each task show up to two of its tests",
        "goldseam holdout reveal bench --tests 2 --dry-run": "Show what would become public",
        "goldseam holdout reveal bench --tests 1 -i acme__app-12": "Reveal one test of one task",
    }
)
def reveal(
    dataset: options.DatasetArgument,
    tests: Annotated[int, option("--tests K", "Test functions that a task may show.", min=1)],
    ids: options.IdsOption = None,
    dry_run: Annotated[bool, option("--dry-run", "Prove and report, and write nothing.")] = False,
    runtime: options.RuntimeOption = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Make up to K of each task's FAIL_TO_PASS tests public as a scaffold; never all of them."""
    opened = options.open_with(dataset, identity)
    with terminal.Ticker(terminal.messages(), "reveal", quiet=json_) as ticker:
        ticker.expect(len(ids or opened.ids()))
        with DockerSandbox(runtime=runtime) as sandbox, Workspaces(runtime=runtime) as workspaces:
            answer = reveal_in(
                opened,
                ids or (),
                tests,
                sandbox=sandbox,
                workspace=workspaces.open,
                dry_run=dry_run,
                tell=lambda outcome: ticker.step(_line(outcome)),
            )
    version = answer.version.number if answer.version else None
    tasks = [asdict(task) for task in answer.tasks]
    document = {"schema_version": 1, "dry_run": dry_run, "tasks": tasks, "version": version}
    showing = sum(bool(task.functions) for task in answer.tasks)
    ending = f"; version {version}" if version else " (nothing was written)"
    functions = counted(sum(task.functions for task in answer.tasks), "test function")
    text = f"shown: {functions} in {showing} of {counted(len(answer.tasks), 'task')}"
    options.show(document if json_ else Text(text + ending))


def _line(outcome: RevealOutcome) -> Text:
    line = Text(f"{outcome.instance_id}: ")
    line.append(f"{outcome.functions} shown", style="green" if outcome.functions else "yellow")
    line.append(f", {outcome.hidden_functions} hidden")
    if outcome.why_not and outcome.functions < outcome.asked:
        line.append(f"  {'; '.join(outcome.why_not)}", style="bright_black")
    return line

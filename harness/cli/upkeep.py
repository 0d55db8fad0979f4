"""`goldseam holdout`, second half: look for leaks, keep splits, rotate, and care for the tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import DatasetArgument, DatasetSource, IdentityOption, JsonFlag, open_with, print_json
from harness.cli.views import terminal, upkeep
from harness.config.settings import load_policy
from harness.core.errors import AnswerIsNoError, InputError
from harness.dataset import content, inventory, rotation, splits, task_states
from harness.dataset import merge as merging
from harness.dataset.folder import open_dataset
from harness.dataset.model_files import read_text
from harness.dataset.similarity import corpus, leaks
from harness.dataset.similarity import dedupe as duplicates
from harness.dataset.split_by import By
from harness.sandbox.images.size import together

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.dataset.task_states import Changed

app = typer.Typer()


def _show(renderable: RenderableType) -> None:
    terminal.results().print(renderable, soft_wrap=True)


@app.command()
def scan(
    dataset: DatasetSource,
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH|URL...", help="Files, folders, addresses; `-` is standard input."),
    ] = None,
    urls: Annotated[
        list[Path] | None, typer.Option("--urls", metavar="FILE", help="Addresses to fetch, one a line (repeatable).")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that one address may take.")] = 60.0,
    max_mb: Annotated[float, typer.Option(min=0.001, help="Megabytes that one address may have.")] = 100.0,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Look for the canary, statements and hidden code of a dataset in any text; exit code 1 if something is found."""
    texts = [*(places or []), *(address for file in urls or [] for address in corpus.addresses(file))]
    if not texts:
        raise InputError("nothing to search", hint="give files, folders, addresses, `-`, or --urls FILE")
    opened = open_with(dataset, identity)
    with terminal.Ticker(terminal.messages(), "scan", quiet=json_) as ticker:
        ticker.note("reading the dataset")
        limits = corpus.Limits(seconds=timeout, bytes=round(max_mb * 1e6))
        sources = corpus.sources(texts, skip=[dataset], limits=limits)
        code = not opened.sealed or opened.keys is not None
        index = leaks.index_of(opened, hidden=leaks.opener(opened, opened.ids(), purpose="scan") if code else None)
        answer = leaks.search(index, sources, tasks=len(opened.ids()), code=code, note=ticker.note)
    if json_:
        print_json(upkeep.scan_json(answer))
    else:
        _show(upkeep.scan_text(answer))
    if answer.found:
        raise AnswerIsNoError(f"{answer.found} leak(s) of {dataset} found")
    if answer.unread:
        raise InputError(f"{len(answer.unread)} source(s) could not be read to the end, so nothing is sure of them")


@app.command()
def split(
    dataset: DatasetArgument,
    by: Annotated[
        By | None, typer.Option("--by", help="What the rule decides by; without it the splits are shown.")
    ] = None,
    dev_share: Annotated[float, typer.Option(min=0, max=1, help="By hash: about how much is for developing.")] = 0.2,
    seed: Annotated[str, typer.Option(help="By hash: another one gives another choice.")] = "",
    dev_before: Annotated[
        str | None, typer.Option(metavar="DATE", help="By date: what was merged before is for developing.")
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option("--dev", metavar="ID|OWNER/NAME", help="By list: is for developing (repeatable)."),
    ] = None,
    dev_file: Annotated[
        Path | None, typer.Option("--dev-file", metavar="FILE", help="By list: a file with one of them a line.")
    ] = None,
    may_return: Annotated[
        bool, typer.Option("--may-return", help="Tasks for developing may come back into the holdout.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would move, and write nothing.")] = False,
    json_: JsonFlag = False,
) -> None:
    """Part a dataset into dev and holdout by a rule that tasks to come follow too; without a rule, show the splits."""
    opened = open_dataset(dataset)
    moves: tuple[splits.Move, ...] = ()
    pending: splits.Rule | None = None
    if by is not None:
        task_ids = (*(dev or ()), *(_lines(dev_file) if dev_file else ()))
        raw = {"by": by, "dev_share": dev_share, "seed": seed, "dev_before": dev_before, "dev": task_ids}
        rule = splits.parse_rule({name: raw[name] for name in splits.FIELDS[by]}, where="the rule")
        splits.refuse_strangers(opened, rule)
        if dry_run:
            moves, pending = splits.set_rule(opened, rule, may_return=may_return, dry_run=True), rule
        else:
            with content.locked(opened):
                content.settle_locked(opened)
                moves = splits.set_rule(opened, rule, may_return=may_return)
                content.settle_locked(opened)
    summary = splits.summary(opened, moves, pending=pending)
    if json_:
        print_json(upkeep.split_json(summary, dry_run=dry_run))
    else:
        _show(upkeep.split_text(summary, dry_run=dry_run))


@app.command()
def rotate(
    dataset: DatasetArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what is due, and write nothing.")] = False,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings with a holdout section.")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Retire what the policy says, and name what to mine; exit code 1 where something is due or tasks are missing."""
    opened = open_dataset(dataset)
    rotation_done = rotation.rotate(opened, rotation.policy_of(opened, load_policy(config)), dry_run=dry_run)
    if json_:
        print_json(upkeep.rotation_json(rotation_done))
    else:
        _show(upkeep.rotation_text(rotation_done))
    if dry_run and rotation_done.due:
        raise AnswerIsNoError(f"{len(rotation_done.due)} task(s) of {dataset} are due; run it without --dry-run")
    if rotation_done.left < (rotation_done.policy.min_tasks or 0):
        raise AnswerIsNoError(
            f"the holdout of {dataset} has {rotation_done.left} task(s), fewer than {rotation_done.policy.min_tasks}"
        )


IdsArgument = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of tasks.", show_default=False)]
WhyOption = Annotated[str, typer.Option("--why", help="The reason, for the ledger and for people.", show_default=False)]


@app.command()
def quarantine(dataset: DatasetArgument, ids: IdsArgument, why: WhyOption, json_: JsonFlag = False) -> None:
    """Take tasks out of all scores until they are released."""
    _changed("quarantined", task_states.quarantine(open_dataset(dataset), ids, why=why), json_=json_)


@app.command()
def retire(dataset: DatasetArgument, ids: IdsArgument, why: WhyOption, json_: JsonFlag = False) -> None:
    """Take tasks out of the holdout for good."""
    _changed("retired", task_states.retire(open_dataset(dataset), ids, why=why), json_=json_)


@app.command()
def release(dataset: DatasetArgument, ids: IdsArgument, why: WhyOption, json_: JsonFlag = False) -> None:
    """Take tasks out of quarantine: they count again."""
    _changed("released", task_states.release(open_dataset(dataset), ids, why=why), json_=json_)


def _changed(word: str, changed: Changed, *, json_: bool) -> None:
    if json_:
        print_json(upkeep.changed_json(word, changed))
    else:
        _show(upkeep.changed_text(word, changed))


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(path).splitlines() if line.strip() and not line.startswith("#")]


@app.command()
def stats(
    dataset: DatasetSource,
    images: Annotated[bool, typer.Option("--images", help="Ask the engine how much disk the images take.")] = False,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Count the tasks by all that is known of them, and say what it takes to run them."""
    stock = inventory.take(open_with(dataset, identity), sizes=together if images else None)
    if json_:
        print_json(upkeep.inventory_json(stock))
    else:
        _show(upkeep.inventory_text(stock))


@app.command()
def merge(
    datasets: Annotated[list[Path], typer.Argument(metavar="DATASET...", help="Two dataset folders or more.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DATASET", help="The new dataset's folder.")],
    name: Annotated[str | None, typer.Option("--name", help="What people call it; by default as its folder.")] = None,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Put the tasks of several datasets into a new one; an id that names two different tasks is refused."""
    merged = merging.merge(merging.opened(datasets, identity), out, name=name)
    if json_:
        print_json(upkeep.merged_json(merged))
    else:
        _show(upkeep.merged_text(merged))


@app.command()
def dedupe(
    dataset: DatasetArgument,
    threshold: Annotated[
        float, typer.Option(min=0.3, max=1, help="Share of the smaller fix that has to be in the other.")
    ] = 0.8,
    retire_: Annotated[bool, typer.Option("--retire", help="Retire all but the task that was merged first.")] = False,
    identity: IdentityOption = None,
    json_: JsonFlag = False,
) -> None:
    """Find one fix under two ids; exit code 1 where there is one and it was not retired."""
    opened = open_with(dataset, identity)
    alive = [instance for instance in opened.instances() if instance.state.value != "retired"]
    task = leaks.opener(opened, [instance.instance_id for instance in alive], purpose="dedupe")
    twins = duplicates.twins([task(instance.instance_id) for instance in alive], threshold=threshold)
    double = duplicates.to_retire(twins, {instance.instance_id: instance.created_at for instance in alive})
    for task_id, older in double.items() if retire_ else ():
        task_states.retire(opened, [task_id], why=f"the same fix as {older}")
    if json_:
        print_json(upkeep.twins_json(twins, double, retired=retire_))
    else:
        _show(upkeep.twins_text(twins, double, retired=retire_))
    if twins and not retire_:
        raise AnswerIsNoError(f"{dataset} has {len(double)} task(s) too many", hint="--retire retires them")

"""`goldseam holdout`, second half: leaks, splits, rotation and the states of tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli import options
from harness.cli.shell import complete
from harness.cli.shell.command import App, argument, option
from harness.cli.views import terminal, upkeep
from harness.config.settings import load_policy
from harness.core.errors import AnswerIsNoError, InputError
from harness.core.wording import counted
from harness.dataset import content, inventory, rotation, splits, task_states
from harness.dataset import merge as merging
from harness.dataset.folder import open_dataset
from harness.dataset.model_files import read_text
from harness.dataset.similarity import corpus, leaks
from harness.dataset.similarity import near as duplicates
from harness.dataset.splits import By
from harness.dataset.task_states import Changed
from harness.sandbox.engine import size_together

app = App()


@app.add(
    examples={
        "goldseam holdout scan bench training-data": "Search a folder for leaked tasks",
        "goldseam holdout scan bench --urls addresses.txt": "Search pages on the web",
        "goldseam holdout scan bench -": "Search standard input",
    }
)
def scan(
    dataset: options.DatasetSource,
    places: Annotated[
        list[str] | None, argument("PATH|URL...", "Files, folders or addresses; `-` is standard input.")
    ] = None,
    urls: Annotated[
        list[Path] | None, option("--urls FILE", "File of addresses to fetch, one a line (repeatable).")
    ] = None,
    timeout: Annotated[float, option("--timeout SECONDS", "Time limit for one address.", min=1)] = 60.0,
    max_mb: Annotated[float, option("--max-mb MB", "Size limit for one address.", min=0.001)] = 100.0,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Search any text for a dataset's canary, statements and hidden code. Exit code 1 if something is found."""
    texts = [*(places or []), *(address for file in urls or [] for address in corpus.addresses(file))]
    if not texts:
        raise InputError("nothing to search", hint="give files, folders, addresses, `-`, or --urls FILE")
    opened = options.open_with(dataset, identity)
    with terminal.Ticker(terminal.messages(), "scan", quiet=json_) as ticker:
        ticker.note("reading the dataset")
        limits = corpus.Limits(seconds=timeout, bytes=round(max_mb * 1e6))
        sources = corpus.sources(texts, skip=[dataset], limits=limits)
        code = not opened.sealed or opened.keys is not None
        index = leaks.index_of(opened, hidden=leaks.opener(opened, opened.ids(), purpose="scan") if code else None)
        answer = leaks.search(index, sources, tasks=len(opened.ids()), code=code, note=ticker.note)
    options.show(upkeep.scan_json(answer) if json_ else upkeep.scan_text(answer))
    if answer.found:
        raise AnswerIsNoError(f"{counted(answer.found, 'leak')} of {dataset} found")
    if answer.unread:
        raise InputError(
            f"{counted(len(answer.unread), 'source')} could not be read to the end, so nothing is sure of them"
        )


@app.add(
    examples={
        "goldseam holdout split bench": "Show the splits",
        "goldseam holdout split bench --by repo-hash --dev-share 0.3": "Use about a third of the repositories for development",
        "goldseam holdout split bench --by date --dev-before 2026-01-01 --dry-run": "Show what a split by date would move",
    }
)
def split(
    dataset: options.DatasetArgument,
    by: Annotated[
        By | None, option("--by", "What the rule decides by.", shown="show the splits, and change nothing")
    ] = None,
    dev_share: Annotated[
        float, option("--dev-share SHARE", "By hash: share of the dev split, approximately.", min=0, max=1)
    ] = 0.2,
    seed: Annotated[str, option("--seed TEXT", "By hash: another seed gives another choice.")] = "",
    dev_before: Annotated[
        str | None, option("--dev-before DATE", "By date: fixes merged before this day go to dev.")
    ] = None,
    dev: Annotated[
        list[str] | None,
        option(
            "--dev TASK|OWNER/NAME",
            "By list: task or repository that goes to dev (repeatable).",
            autocompletion=complete.task_ids,
        ),
    ] = None,
    dev_file: Annotated[Path | None, option("--dev-file FILE", "By list: a file of these, one a line.")] = None,
    may_return: Annotated[bool, option("--may-return", "Allow tasks of dev to return to the holdout.")] = False,
    dry_run: options.DryRunFlag = False,
    json_: options.JsonFlag = False,
) -> None:
    """Divide a dataset into dev and holdout by a rule that later tasks follow too; without a rule, show the splits."""
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
    options.show(upkeep.split_json(summary, dry_run=dry_run) if json_ else upkeep.split_text(summary, dry_run=dry_run))


@app.add(
    examples={
        "goldseam holdout rotate bench --dry-run": "Show which tasks are due",
        "goldseam holdout rotate bench": "Retire them, and suggest what to mine",
        "goldseam holdout rotate bench --config policy.toml": "Use another policy",
    }
)
def rotate(
    dataset: options.DatasetArgument, dry_run: options.DryRunFlag = False, json_: options.JsonFlag = False
) -> None:
    """Retire tasks by the policy, and suggest what to mine. Exit code 1 if a task is due or too few remain."""
    opened = open_dataset(dataset)
    rotation_done = rotation.rotate(opened, rotation.policy_of(opened, load_policy()), dry_run=dry_run)
    options.show(upkeep.rotation_json(rotation_done) if json_ else upkeep.rotation_text(rotation_done))
    if dry_run and rotation_done.due:
        raise AnswerIsNoError(
            f"in {dataset}, {counted(len(rotation_done.due), 'task is', 'tasks are')} due; run it without --dry-run"
        )
    if rotation_done.left < (rotation_done.policy.min_tasks or 0):
        raise AnswerIsNoError(
            f"the holdout of {dataset} has {counted(rotation_done.left, 'task')}, fewer than {rotation_done.policy.min_tasks}"
        )


IdsArgument = Annotated[list[str], argument("TASK...", "Ids of tasks.", autocompletion=complete.task_ids)]
ReasonOption = Annotated[str, option("--reason TEXT", "The reason; the ledger records it.", shown=False)]


@app.add(
    examples={
        'goldseam holdout quarantine bench acme__app-12 --reason "its tests need a terminal"': "Take one task out of all scores",
        'goldseam holdout quarantine bench acme__app-12 acme__app-15 --reason "flaky"': "Take two",
        'goldseam holdout quarantine bench acme__app-12 --reason "flaky" --json': "Print the new version as JSON",
    }
)
def quarantine(
    dataset: options.DatasetArgument, ids: IdsArgument, why: ReasonOption, json_: options.JsonFlag = False
) -> None:
    """Take tasks out of all scores until they are released."""
    _changed("quarantined", task_states.quarantine(open_dataset(dataset), ids, why=why), json_=json_)


@app.add(
    examples={
        'goldseam holdout retire bench acme__app-12 --reason "leaked"': "Retire one task",
        'goldseam holdout retire bench acme__app-12 acme__app-15 --reason "leaked"': "Retire two",
        'goldseam holdout retire bench acme__app-12 --reason "leaked" --json': "Print the new version as JSON",
    }
)
def retire(
    dataset: options.DatasetArgument, ids: IdsArgument, why: ReasonOption, json_: options.JsonFlag = False
) -> None:
    """Take tasks out of the holdout for good."""
    _changed("retired", task_states.retire(open_dataset(dataset), ids, why=why), json_=json_)


@app.add(
    examples={
        'goldseam holdout release bench acme__app-12 --reason "fixed"': "Let one task count again",
        'goldseam holdout release bench acme__app-12 acme__app-15 --reason "fixed"': "Let two count again",
        'goldseam holdout release bench acme__app-12 --reason "fixed" --json': "Print the new version as JSON",
    }
)
def release(
    dataset: options.DatasetArgument, ids: IdsArgument, why: ReasonOption, json_: options.JsonFlag = False
) -> None:
    """Take tasks out of quarantine, so that they count again."""
    _changed("released", task_states.release(open_dataset(dataset), ids, why=why), json_=json_)


def _changed(word: str, changed: Changed, *, json_: bool) -> None:
    options.show(upkeep.changed_json(word, changed) if json_ else upkeep.changed_text(word, changed))


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(path).splitlines() if line.strip() and not line.startswith("#")]


@app.add(
    examples={
        "goldseam holdout stats bench": "Count the tasks",
        "goldseam holdout stats bench --images": "Ask the engine how much disk their images take",
        "goldseam holdout stats bench --json": "Print the counts as JSON",
    }
)
def stats(
    dataset: options.DatasetSource,
    images: Annotated[bool, option("--images", "Ask the engine how much disk the images take.")] = False,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Count tasks by state, split, repository and more, and estimate what a run of all costs."""
    stock = inventory.take(options.open_with(dataset, identity), sizes=size_together if images else None)
    if json_:
        options.print_json(upkeep.inventory_json(stock))
    else:
        console = terminal.results()
        console.print(upkeep.inventory_text(stock), soft_wrap=not console.is_terminal)


@app.add(
    examples={
        "goldseam holdout merge app-bench lib-bench -o bench": "Merge two datasets",
        "goldseam holdout merge app-bench lib-bench -o bench --name acme": "Merge them under a name",
        "goldseam holdout merge app-bench lib-bench -o bench --json": "Print what was merged as JSON",
    }
)
def merge(
    datasets: Annotated[list[Path], argument("DATASET...", "Two or more dataset folders.")],
    out: Annotated[Path, option("-o, --output DATASET", "Folder of the new dataset.", parser=options.output_folder)],
    name: Annotated[str | None, option("--name NAME", "Name of the new dataset.", shown="its folder's name")] = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Merge several datasets into a new one; an id that names two different tasks is refused."""
    merged = merging.merge(merging.opened(datasets, identity), out, name=name)
    options.show(upkeep.merged_json(merged) if json_ else upkeep.merged_text(merged))


@app.add(
    examples={
        "goldseam holdout dedupe bench": "List fixes that have two tasks",
        "goldseam holdout dedupe bench --retire": "Retire all but the oldest task of each",
        "goldseam holdout dedupe bench --threshold 0.9": "Require more similar fixes",
    }
)
def dedupe(
    dataset: options.DatasetArgument,
    threshold: Annotated[
        float, option("--threshold SHARE", "Share of the smaller fix that has to be part of the other.", min=0.3, max=1)
    ] = 0.8,
    retire_: Annotated[bool, option("--retire", "Retire all but the task that was merged first.")] = False,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Find fixes that have two tasks. Exit code 1 if there are any that were not retired."""
    opened = options.open_with(dataset, identity)
    alive = [instance for instance in opened.instances() if instance.state.value != "retired"]
    task = leaks.opener(opened, [instance.instance_id for instance in alive], purpose="dedupe")
    twins = duplicates.twins([task(instance.instance_id) for instance in alive], threshold=threshold)
    double = duplicates.to_retire(twins, {instance.instance_id: instance.created_at for instance in alive})
    for task_id, older in double.items() if retire_ else ():
        task_states.retire(opened, [task_id], why=f"the same fix as {older}")
    options.show(
        upkeep.twins_json(twins, double, retired=retire_)
        if json_
        else upkeep.twins_text(twins, double, retired=retire_)
    )
    if twins and not retire_:
        raise AnswerIsNoError(f"{dataset} has {counted(len(double), 'task')} too many", hint="--retire retires them")

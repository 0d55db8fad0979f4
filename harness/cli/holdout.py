"""`goldseam holdout`: keep the private dataset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from rich.text import Text

from harness.checks import dataset as checking
from harness.checks.image_search import engine_check as with_engine
from harness.cli import options
from harness.cli.shell import complete
from harness.cli.shell.command import App, option
from harness.cli.views import browse as custody_text
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import AnswerIsNoError, InputError
from harness.core.wording import counted
from harness.dataset.folder import Dataset, open_dataset
from harness.dataset.ledger import chain, custody, ledger
from harness.dataset.seal import canary as canaries
from harness.dataset.seal import identity as keys
from harness.dataset.seal import sealing
from harness.quality.limits import parse_limits
from harness.sandbox.images import pulls

app = App()


@app.add(
    examples={
        "goldseam holdout check bench": "Report every problem of a dataset",
        "goldseam holdout check bench --images": "Also search every image for the fix",
        "goldseam holdout check bench --max-leak 0.5 --min-strength 0.8": "Also report leaky statements and weak tests",
    }
)
def check(
    dataset: options.DatasetSource,
    images: Annotated[
        bool, option("--images", "Also look for every image on the engine, and search it for the fix.")
    ] = False,
    max_leak: Annotated[
        list[str] | None,
        option(
            "--max-leak SHARE|NAME=LIMIT",
            "Also report tasks that leak more: the share of the fix that the statement gives away, or any field "
            "of quality.leaks (repeatable).",
        ),
    ] = None,
    min_strength: Annotated[
        float | None,
        option(
            "--min-strength SHARE",
            "Also report tasks whose hidden tests reject a smaller share of wrong patches.",
            min=0,
            max=1,
        ),
    ] = None,
    max_sensitive: Annotated[
        float | None,
        option(
            "--max-sensitive SHARE",
            "Also report tasks where more of FAIL_TO_PASS depends on what is pinned, such as the hash seed.",
            min=0,
            max=1,
        ),
    ] = None,
    registry: Annotated[
        bool, option("--registry", "Also ask the registries for every image; nothing is pulled.")
    ] = False,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Report every problem of a dataset. Exit code 1 if there is one."""
    limits = parse_limits(max_leak or ())
    keys = options.open_with(dataset, identity).keys if identity else None
    scope = checking.CheckScope(
        images=with_engine(load_settings().images.cache_dir / "layers") if images else None,
        max_leak=limits,
        min_strength=min_strength,
        max_sensitive=max_sensitive,
        keys=keys,
        in_registry=pulls.in_registry if registry else None,
    )
    problems = checking.check(dataset, scope)
    notes = checking.notes(dataset, keys=keys)
    if json_:
        listed = [{"where": problem.where, "what": problem.what} for problem in problems]
        options.print_json({"problems": listed, "notes": list(notes)})
    else:
        console = terminal.results()
        for note in notes:
            console.print(Text(f"! {note}", style="yellow"), soft_wrap=True)
        for problem in problems:
            console.print(Text(f"{problem.where}: ", style="bold") + Text(problem.what), soft_wrap=True)
    if problems:
        raise AnswerIsNoError(f"{dataset} has {counted(len(problems), 'problem')}")
    if not json_:
        count = len(open_dataset(dataset).ids())
        terminal.results().print(Text(f"{dataset}: {counted(count, 'task')}, no problem found"))


@app.add(
    examples={
        "goldseam holdout seal bench --to ~/.ssh/id_ed25519.pub": "Seal to an SSH key",
        "goldseam holdout seal bench --to recipients.txt --passphrase-env BENCH_PASSPHRASE": "Seal to a file of keys and a passphrase",
        "goldseam holdout seal bench --to new.pub --identity ~/.ssh/id_ed25519": "Seal to other recipients",
    }
)
def seal(
    dataset: options.DatasetArgument,
    to: Annotated[
        list[str] | None,
        option(
            "--to RECIPIENT",
            "Key that opens it (repeatable): age1…, an SSH public key, or a file of keys. No other key opens it.",
        ),
    ] = None,
    passphrase_env: Annotated[
        str | None, option("--passphrase-env VAR", "Environment variable with a passphrase that opens it too.")
    ] = None,
    identity: options.IdentityOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Encrypt every task's hidden files to recipients; with --identity, seal a sealed dataset to other recipients."""
    opened = options.open_with(dataset, identity)
    owner_keys = opened.keys or (keys.load_keys(identity, dataset) if identity else None)
    phrase = _variable(passphrase_env) if passphrase_env else None
    sealed = sealing.seal(opened, keys.read_recipients(to or ()), keys=owner_keys, passphrase=phrase)
    notes = (*sealed.notes(), *sealing.plain_copies(opened.path))
    if json_:
        options.print_json({**sealed.as_json(), "notes": list(notes)})
        return
    console = terminal.results()
    console.print(f"{dataset}: {counted(len(sealed.sealed), 'task')} sealed, {len(sealed.already)} were sealed already")
    for recipient in sealed.recipients:
        console.print(Text(f"  to {keys.short(recipient)}"))
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise InputError(f"--passphrase-env: the environment variable {name!r} is not set")
    return value


@app.add(
    name="open",
    examples={
        "goldseam holdout open bench --identity ~/.ssh/id_ed25519 -o /tmp/bench": "Write a readable copy",
        "goldseam holdout open bench --identity env:BENCH_PASSPHRASE -o /tmp/bench -i acme__app-12": "Open one task",
        "goldseam holdout open bench --identity ~/.ssh/id_ed25519 -o /tmp/bench --json": "Print what was opened as JSON",
    },
)
def open_(
    dataset: options.DatasetArgument,
    out: Annotated[
        Path,
        option("-o, --output FOLDER", "New folder for the readable copy.", shown=False, parser=options.output_folder),
    ],
    identity: options.IdentityOption = None,
    ids: options.IdsOption = None,
    json_: options.JsonFlag = False,
) -> None:
    """Write a readable copy of a sealed dataset to a folder, after recording that in the ledger."""
    opened = sealing.open_into(options.open_with(dataset, identity), out, ids=ids or ())
    if json_:
        options.print_json({"opened": list(opened), "folder": str(out)})
    else:
        console = terminal.results()
        console.print(f"{counted(len(opened), 'task is', 'tasks are')} readable in {out}; delete it when you are done")


@app.add(
    examples={
        "goldseam holdout canary bench": "Add the canary wherever it is missing",
        "goldseam holdout canary bench --json": "Print the changed files as JSON",
        "goldseam holdout canary bench --quiet": "Print the result only",
    }
)
def canary(dataset: options.DatasetArgument, json_: options.JsonFlag = False) -> None:
    """Add the dataset's canary to every file that lacks it; mining and sealing do this themselves."""
    changed = canaries.add(open_dataset(dataset))
    left = canaries.missing(open_dataset(dataset))
    if json_:
        options.print_json({"changed": list(changed), "missing": list(left)})
        return
    console = terminal.results()
    console.print(Text(f"{dataset}: the canary was written into {counted(len(changed), 'file')}"))
    for name in left:
        console.print(Text(f"note: {name} has no place for it"))


@app.add(
    examples={
        "goldseam holdout bind bench": "Compare tasks and recipients with the ledger, and record new ones",
        "goldseam holdout bind bench --accept": "Record your own changes",
        "goldseam holdout bind bench --json": "Print the differences as JSON",
    }
)
def bind(
    dataset: options.DatasetArgument,
    accept: Annotated[bool, option("--accept", "Accept the differences as your own changes, and record them.")] = False,
    json_: options.JsonFlag = False,
) -> None:
    """Record digests of tasks and recipients in the ledger. Exit code 1 if they differ from what it holds."""
    comparison = custody.bind(open_dataset(dataset), accept=accept)
    refused = bool(comparison.differences) and not accept
    names = () if refused else tuple(sorted({*comparison.tasks, *comparison.files}))
    if json_:
        options.print_json(
            {
                "differences": list(comparison.differences),
                "settings": [] if refused else list(comparison.settings),
                "tasks": names,
            }
        )
    else:
        console = terminal.results()
        for difference in comparison.differences:
            console.print(Text(difference), soft_wrap=True)
        note = ", ".join((*comparison.settings, counted(len(names), "task")))
        console.print(Text(f"{dataset}: {'nothing' if refused else note} bound now"))
    if refused:
        raise AnswerIsNoError(
            f"{dataset} differs from its ledger in {counted(len(comparison.differences), 'place')}",
            hint="restore what somebody else changed; --accept binds it as it is",
        )


@app.add(
    examples={
        "goldseam holdout log bench": "Show the ledger",
        "goldseam holdout log bench -i acme__app-12": "Show what happened to one task",
        "goldseam holdout log bench --verify": "Check that no line was changed, removed or reordered",
    }
)
def log(
    dataset: options.DatasetSource,
    verify: Annotated[
        bool, option("--verify", "Look for changed, missing or reordered lines. Exit code 1 if there are any.")
    ] = False,
    head: Annotated[
        str | None,
        option(
            "--head HASH",
            "With --verify: the hash of a line that you noted earlier; this also reveals lines missing at the end.",
        ),
    ] = None,
    join: Annotated[
        Path | None, option("--join OTHER", "Join another branch of this ledger: a dataset or its ledger.jsonl.")
    ] = None,
    task: Annotated[
        str | None,
        option("-i, --id TASK", "Only lines about this task.", shown="all", autocompletion=complete.task_ids),
    ] = None,
    json_: options.JsonFlag = False,
) -> None:
    """Show a dataset's ledger: sealed, opened, evaluated, shown to a model, exported; and check it for tampering."""
    opened = open_dataset(dataset)
    if verify and (join or task):
        raise InputError("--verify looks at the whole ledger; it goes with --head alone")
    if head and not verify:
        raise InputError("--head goes with --verify")
    if join:
        _join(opened, join, json_=json_)
    elif verify:
        _verify(opened, head, json_=json_)
    else:
        entries = [entry for entry in ledger.read(opened) if task is None or task in entry.tasks]
        if task is not None and not entries:
            opened.require([task])
        lines = map(ledger.as_json, entries)
        options.show(list(lines) if json_ else custody_text.log_table(entries), soft_wrap=False)


def _join(dataset: Dataset, other: Path, *, json_: bool) -> None:
    joined = chain.join(dataset, other)
    if json_:
        options.print_json({"added": joined.added, "joined": joined.entry.hash if joined.entry else None})
    elif joined.entry:
        console = terminal.results()
        console.print(Text(f"joined: {counted(joined.added, 'line')} of the other branch, and one that joins them"))
        console.print(Text(f"head: {joined.entry.hash}"))
    else:
        terminal.results().print(Text(f"nothing to join: {counted(joined.added, 'line')} added, one branch"))


def _verify(dataset: Dataset, head: str | None, *, json_: bool) -> None:
    verification = chain.verify(dataset, head=head)
    if json_:
        options.print_json(verification.as_json())
    else:
        custody_text.show_verification(verification)
    if verification.problems:
        raise AnswerIsNoError(
            f"the ledger of {dataset.path} has {counted(len(verification.problems), 'problem')}",
            hint="compare it with a backup or its history in git, and ask who had access",
        )

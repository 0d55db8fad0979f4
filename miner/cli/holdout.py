"""`goldseam holdout`: every command that keeps a private dataset."""

from __future__ import annotations

import typer

from harness.cli.shell.command import commands, lazy_group

COMMANDS = commands("""
Dataset
    ls         harness.cli.browse   List a dataset's tasks: title, state, split, where they are judged, difficulty, strength. Opens nothing sealed.
    show       harness.cli.browse   Show a task: statement, test lists, patches, quality, and its history from the ledger.
    check      harness.cli.holdout  Report every problem of a dataset. Exit code 1 if there is one.
    stats      harness.cli.upkeep   Count tasks by state, split, repository and more, and estimate what a run of all costs.
    split      harness.cli.upkeep   Divide a dataset into dev and holdout by a rule that later tasks follow too; without a rule, show the splits.
    merge      harness.cli.upkeep   Merge several datasets into a new one; an id that names two different tasks is refused.
    import     miner.cli.importing  Import SWE-bench rows: build each at its base commit, prove it here, and report which of its test ids hold.
    export     harness.cli.exchange Write a dataset for SWE-bench, Harbor, Inspect or Hugging Face datasets; without the hidden side by default.
    push       harness.cli.exchange Push a dataset to an object store as its next revision; a revision pushed meanwhile is never overwritten.
    pull       harness.cli.exchange Update a folder from an object store, checked by hashes; changes made here are kept.
Care
    refresh    harness.cli.refresh  Prove a dataset again: run the fix and no change on every task, and quarantine drift. Exit code 1 if any drifted.
    quarantine harness.cli.upkeep   Take tasks out of all scores until they are released.
    release    harness.cli.upkeep   Take tasks out of quarantine, so that they count again.
    retire     harness.cli.upkeep   Take tasks out of the holdout for good.
    rotate     harness.cli.upkeep   Retire tasks by the policy, and suggest what to mine. Exit code 1 if a task is due or too few remain.
    dedupe     harness.cli.upkeep   Find fixes that have two tasks. Exit code 1 if there are any that were not retired.
    strip      miner.cli.task_runs  Remove expected values from hidden tests so that the host judges; for tasks mined before goldseam did this.
    reveal     harness.cli.reveal   Make up to K of each task's FAIL_TO_PASS tests public as a scaffold; never all of them.
Quality
    quality    miner.cli.quality    Measure tasks without running them: what the statement leaks, difficulty, secrets, licence.
    difficulty harness.cli.quality  Replace the difficulty that mining estimated by the solve rate that runs measured.
    strength   miner.cli.task_runs  Run wrong patches made from each fix, with a part left out or a fault put in, and report which the tests miss.
    calls      miner.cli.task_runs  Record the calls that hidden tests make to code that a fix changes, with similar inputs and the fix's answers.
Custody
    seal       harness.cli.holdout  Encrypt every task's hidden files to recipients; with --identity, seal a sealed dataset to other recipients.
    open       harness.cli.holdout  Write a readable copy of a sealed dataset to a folder, after recording that in the ledger.
    log        harness.cli.holdout  Show a dataset's ledger: sealed, opened, evaluated, shown to a model, exported; and check it for tampering.
    bind       harness.cli.holdout  Record digests of tasks and recipients in the ledger. Exit code 1 if they differ from what it holds.
    canary     harness.cli.holdout  Add the dataset's canary to every file that lacks it; mining and sealing do this themselves.
    scan       harness.cli.upkeep   Search any text for a dataset's canary, statements and hidden code. Exit code 1 if something is found.
""")

EXAMPLES = {
    "goldseam holdout ls bench": "List the tasks of a dataset",
    "goldseam holdout show bench acme__app-12": "Show one task",
    "goldseam holdout check bench": "Report every problem",
}

app = typer.Typer(cls=lazy_group(COMMANDS, group_examples=EXAMPLES), no_args_is_help=True)


@app.callback()
def root() -> None:
    """Keep the private dataset: look at it, care for it, measure it, seal it."""

"""`goldseam holdout`: every command that keeps a private dataset."""

from __future__ import annotations

import typer

from harness.cli.lazy import Entry, lazy_group

COMMANDS = {
    "Look at it": {
        "check": Entry(
            "harness.cli.holdout", "Report every problem of a dataset at once; exit code 1 if there is one."
        ),
        "stats": Entry(
            "harness.cli.upkeep", "Count the tasks by all that is known of them, and say what it takes to run them."
        ),
        "quality": Entry(
            "miner.cli.quality",
            "Measure tasks without running them: leaks of the statement, difficulty, secrets, licence; write it down.",
        ),
        "difficulty": Entry(
            "harness.cli.quality",
            "Put the solve rate that runs measured in the place of the difficulty that mining guessed.",
        ),
        "strength": Entry(
            "miner.cli.strength",
            "Run wrong patches made of each fix, a part left out or a fault put in; tell which of them the "
            "tests let live.",
        ),
        "calls": Entry(
            "miner.cli.calls",
            "Record the calls that hidden tests make to what each fix changes, inputs near them, and the "
            "fix's answers.",
        ),
        "log": Entry(
            "harness.cli.holdout",
            "Show what happened to a dataset: sealed, opened, evaluated, shown to a model, exported; and "
            "prove the record.",
        ),
    },
    "Keep it private": {
        "seal": Entry(
            "harness.cli.holdout",
            "Encrypt every task's hidden files to recipients; again, with --identity, to seal to others.",
        ),
        "open": Entry(
            "harness.cli.holdout", "Write a readable copy of a sealed dataset into a folder. The ledger is told first."
        ),
        "bind": Entry(
            "harness.cli.holdout",
            "Have the ledger hold digests of tasks and recipients as they are; exit code 1 where they differ from it.",
        ),
        "canary": Entry(
            "harness.cli.holdout",
            "Write the dataset's canary into every file that lacks it; mining and sealing do so by themselves.",
        ),
        "scan": Entry(
            "harness.cli.upkeep",
            "Look for the canary, statements and hidden code of a dataset in any text; exit code 1 if "
            "something is found.",
        ),
    },
    "Keep it healthy": {
        "refresh": Entry(
            "harness.cli.refresh",
            "Prove the dataset again: run gold and null on every task, and quarantine what drifted; exit "
            "code 1 if any did.",
        ),
        "strip": Entry(
            "miner.cli.strip",
            "Take out of hidden tests what they expect, so that the host judges; for tasks of before goldseam did so.",
        ),
        "quarantine": Entry("harness.cli.upkeep", "Take tasks out of all scores until they are released."),
        "release": Entry("harness.cli.upkeep", "Take tasks out of quarantine: they count again."),
        "retire": Entry("harness.cli.upkeep", "Take tasks out of the holdout for good."),
        "rotate": Entry(
            "harness.cli.upkeep",
            "Retire what the policy says, and name what to mine; exit code 1 where something is due or "
            "tasks are missing.",
        ),
        "dedupe": Entry(
            "harness.cli.upkeep", "Find one fix under two ids; exit code 1 where there is one and it was not retired."
        ),
    },
    "Part and share it": {
        "split": Entry(
            "harness.cli.upkeep",
            "Part a dataset into dev and holdout by a rule that tasks to come follow too; without a rule, "
            "show the splits.",
        ),
        "reveal": Entry(
            "harness.cli.reveal",
            "Make up to K of each task's FAIL_TO_PASS tests public, never all, as a scaffold to work with.",
        ),
        "merge": Entry(
            "harness.cli.upkeep",
            "Put the tasks of several datasets into a new one; an id that names two different tasks is refused.",
        ),
        "import": Entry(
            "miner.cli.importing",
            "Import SWE-bench rows: build each at its base commit, prove it here, say of every test id "
            "whether it holds.",
        ),
        "export": Entry(
            "harness.cli.exchange",
            "Write a dataset for SWE-bench, Harbor, Inspect or Hugging Face datasets; without the hidden "
            "side, unless told.",
        ),
        "push": Entry(
            "harness.cli.exchange",
            "Put a dataset into an object store as its next revision; whoever pushed meanwhile is never overwritten.",
        ),
        "pull": Entry(
            "harness.cli.exchange",
            "Bring a folder to what an object store holds, checked by its hashes; nothing changed here is lost.",
        ),
    },
}

app = typer.Typer(cls=lazy_group(COMMANDS), no_args_is_help=True)


@app.callback()
def root() -> None:
    """Keep the private dataset: seal, open, check, log."""

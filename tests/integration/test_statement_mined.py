"""`goldseam mine --statement-model` on a change without an issue: our scripted server, a real history, real images."""

from __future__ import annotations

import json

import pytest

from harness.checks.dataset import check
from harness.dataset.folder import open_dataset
from harness.dataset.ledger import ledger
from harness.patches import patch
from miner.demo.history import build_history, locate_data
from tests import tiny
from tests.model_server import ModelServer, Say

ONE = "goldseam-demo__pocketledger-4"
SAID = """\
Small negative amounts lose their sign

An amount between minus one and nothing, such as minus fifty cents, is shown and read as if it were positive. Its sign
should be kept wherever amounts are read or printed.
"""


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """The dataset, what the command printed, and the server with what it was asked."""
    root = tmp_path_factory.mktemp("statements")
    history = build_history(root / "repo", locate_data()).path
    with ModelServer({"m": Say(text=SAID)}) as server:
        words = ("mine", history, "-o", root / "bench", "--pr", "4", "--runs", "1", "--json", "--statement-model", "m")
        done = tiny.goldseam(
            *words, "--base-url", server.base_url, "--assume-price", "1/2", env={"OPENAI_API_KEY": "none"}
        )
    assert done.returncode == 0, done.error_text
    return open_dataset(root / "bench"), json.loads(done.stdout), server


@pytest.mark.engine
def test_the_statement_is_the_models_and_the_changes_words_are_hidden(mined):
    dataset, printed, _ = mined
    task = dataset.task(ONE)
    origin = task.instance.extra["origin"]

    assert task.instance.problem_statement == SAID
    assert task.hidden.original_statement.startswith("Fix small negative amounts that turn positive")
    assert (origin["statement_from"], origin["statement_model"]["use"]) == ("model", "written")
    assert task.instance.quality["leaks"]["overlap"] == 0
    assert task.instance.quality["statement_chars"] == len(SAID)
    assert check(dataset.path) == ()
    assert printed["statements"]["written"] == 1
    assert printed["statements"]["spent"]["cost_usd"] > 0


@pytest.mark.engine
def test_the_model_was_shown_what_failing_tests_print_and_no_line_of_the_fix(mined):
    dataset, _, server = mined
    task = dataset.task(ONE)
    (asked,) = server.requests
    added = [
        line[1:].strip()
        for file in patch.parse(task.hidden.gold_patch, trusted=True).files
        for line in file.raw.decode().split("\n")
        if line.startswith("+") and not line.startswith("+++")
    ]
    sent = json.dumps(asked.body)

    assert "Error" in asked.text
    assert any(len(line) > 12 for line in added)
    assert [line for line in added if len(line) > 12 and json.dumps(line)[1:-1] in sent] == []
    assert server.problems == []


@pytest.mark.engine
def test_the_ledger_says_what_the_provider_saw(mined):
    dataset, _, server = mined
    (entry,) = [entry for entry in ledger.read(dataset) if entry.event == "exposed"]

    assert (entry.tasks, entry.facts["shown"]) == ((ONE,), ["statement", "test_output"])
    assert entry.facts["endpoint"] == server.base_url

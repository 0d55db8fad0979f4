"""Two commands answer which model is better: scripted models of different skill are solved, evaluated and compared."""

from __future__ import annotations

import json
import signal
import subprocess  # noqa: TID251 - two processes with a pipe between them
import sys
import threading

import pytest

from harness.dataset.ledger import ledger
from harness.report.gather import gather
from harness.runs.predictions import read_predictions
from tests import forked, waiting
from tests.model_server import Asked, ModelServer, Say
from tests.program import goldseam
from tests.solve_room import EDIT, GOOD, make_dataset, which_task

TASKS = 8
BROKEN = Say(text=EDIT.replace("return a + b", "return a * b"))
PROSE = Say(text="The sign is wrong; use a plus.")


def skilled(_: Asked) -> Say:
    return GOOD


def clumsy(asked: Asked) -> Say:
    """Solves one task of eight."""
    return {"task1": GOOD, "task2": BROKEN}.get(which_task(asked), PROSE)


class Slow:
    """Answers one question, and lets all others wait until the test is over."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.over = threading.Event()

    def __call__(self, asked: Asked) -> Say:
        if which_task(asked) == "task1":
            return GOOD
        self.asked.set()
        self.over.wait(timeout=waiting.SECONDS)
        return GOOD


@pytest.fixture(scope="module")
def place(tmp_path_factory, tiny_image):
    """A dataset on real images, and an endpoint with its models."""
    folder = tmp_path_factory.mktemp("solve")
    dataset = make_dataset(folder / "dataset", TASKS, image=tiny_image)
    slow = Slow()
    script = {"skilled-2026-01-01": skilled, "clumsy-2026-01-01": clumsy, "slow-2026-01-01": slow}
    with ModelServer(script, offers=("chat",)) as server:
        yield folder, dataset, server
        slow.over.set()
        assert server.problems == []


def solve(place, model: str, *more: str) -> list[str]:
    folder, dataset, server = place
    words = [
        "solve",
        dataset.path,
        "--model",
        f"{model}-2026-01-01",
        "--model-name",
        model,
        "--base-url",
        server.base_url,
    ]
    return [str(word) for word in [*words, "-o", folder / f"{model}.jsonl", "--no-cache", *more]]


@pytest.fixture(scope="module")
def runs(place):
    """The run folders of both models, each from `solve` and `evaluate`."""
    folder, dataset, _ = place
    for model in ("skilled", "clumsy"):
        solved = goldseam(*solve(place, model, "--json"))
        assert solved.returncode == 0, solved.error_text
        assert json.loads(solved.stdout)["made"] == TASKS
        scored = goldseam(
            "evaluate", dataset.path, "-p", folder / f"{model}.jsonl", "-o", folder / model, "--no-signals",
            "--control", "0",
        )  # fmt: skip
        assert scored.returncode == 0, scored.error_text
    return folder


def test_the_better_model_is_ranked_first(runs):
    compared = goldseam("compare", runs / "clumsy", runs / "skilled", "--json")
    [found] = json.loads(compared.stdout)["comparisons"]
    assert (found["answer"], found["base"]["resolved"], found["candidate"]["resolved"]) == ("better", 1, TASKS)
    assert found["candidate"]["tokens_used"]["known"] == found["candidate"]["latency_seconds"]["known"] == TASKS


def test_the_conversation_is_kept_beside_the_results_wherever_the_run_is(runs):
    moved = (runs / "skilled").rename(runs / "elsewhere")
    try:
        views = {view.instance_id: view for view in gather([moved]).predictions}
        assert [turn.role for turn in views["tiny__calc-1"].transcript.first] == ["system", "user", "assistant"]
    finally:
        moved.rename(runs / "skilled")


def test_why_there_is_no_patch_stands_in_the_run(runs):
    report = json.loads((runs / "clumsy/results/clumsy/tiny__calc-3/0/report.json").read_text())
    assert (report["outcome"], report["failure_class"], report["no_patch"]) == ("empty_patch", "no_patch", "no_code")
    assert report["reason"] == "the model gave no patch: no_code (The sign is wrong; use a plus.)"


def test_a_pipe_takes_predictions_from_one_command_to_the_other(place):
    folder, dataset, _ = place
    program = [sys.executable, "-m", "miner.cli.main"]
    score = ["evaluate", dataset.path, "-p", "-", "-o", folder / "piped", "--control", "0", "--no-signals", "--json"]
    with (
        subprocess.Popen([*program, *solve(place, "clumsy", "-o", "-")], stdout=subprocess.PIPE) as solving,
        subprocess.Popen([*program, *map(str, score)], stdin=solving.stdout, stdout=subprocess.PIPE) as scoring,
    ):
        solving.stdout.close()
        report = json.loads(scoring.communicate()[0])
    assert (solving.returncode, scoring.returncode) == (0, 0)
    assert report["resolved_ids"] == ["tiny__calc-1"]
    assert len(read_predictions(folder / "piped/predictions.jsonl")) == TASKS


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_finished_before_an_end_is_kept_and_not_asked_again(place, how):
    folder, dataset, server = place
    slow = server.script["slow-2026-01-01"]
    slow.asked.clear()
    before = len(server.asked("slow-2026-01-01"))
    with forked.started(*solve(place, "slow", "-j", "1", "-o", folder / f"{how.name}.jsonl")) as child:
        assert slow.asked.wait(timeout=waiting.SECONDS)  # the first answer is on disk, the second question on its way
        child.send_signal(how)
        told = child.stderr.read()
    if how is signal.SIGINT:
        assert child.poll() == 130
        assert "run the same command again to continue" in told
    assert [one.instance_id for one in read_predictions(folder / f"{how.name}.jsonl")] == ["tiny__calc-1"]
    exposed = [one.tasks for one in ledger.read(dataset) if one.facts.get("model") == "slow-2026-01-01"]
    assert exposed[-2:] == [("tiny__calc-1",), ("tiny__calc-2",)]
    slow.over.set()
    again = goldseam(*solve(place, "slow", "--json", "-o", str(folder / f"{how.name}.jsonl")))
    slow.over.clear()
    assert json.loads(again.stdout)["made"] == TASKS - 1, again.error_text
    asked = [which_task(one) for one in server.asked("slow-2026-01-01")[before:]]
    assert sorted(asked) == sorted([*(f"task{number}" for number in range(1, TASKS + 1)), "task2"])

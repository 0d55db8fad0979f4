"""A bug of ours that one change brings up costs that change alone, is logged and named, and is tried again."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from harness.dataset.seal import sealed
from miner.candidates import scan
from miner.demo.history import build_history, locate_data
from miner.pipeline import stages
from tests.program import Ran, goldseam

STAGES = {"recognition": (scan, "recognise"), "split": (stages, "split"), "keep": (stages, "write_task")}
PICKS = ("--pr", "4", "--pr", "6", "--pr", "9")


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Path:
    return build_history(tmp_path_factory.mktemp("history") / "repo", locate_data()).path


def mine(history, out, cache, *words: str, fault: str | None = None) -> Ran:
    with pytest.MonkeyPatch.context() as patched:
        if fault:
            module, name = STAGES[fault]
            true = getattr(module, name)

            def planted(*arguments, **more):
                if "pocketledger-6'" in repr((arguments, more)) or "number=6," in repr((arguments, more)):
                    raise ZeroDivisionError("planted")
                return true(*arguments, **more)

            patched.setattr(module, name, planted)
            patched.setattr(sealed, "_opened", threading.Event())  # tests of the same worker may have opened one
        return goldseam("mine", history, "-o", out, "--no-validate", *words, GOLDSEAM_CACHE_DIR=str(cache))


def reasons(dataset: Path) -> dict[int, str]:
    """By number of the change, what its newest line says."""
    lines = map(json.loads, (dataset / "funnel.jsonl").read_text().splitlines()[1:])
    return {line["number"]: line["reason"] for line in lines}


@pytest.mark.parametrize("fault", STAGES)
def test_a_bug_costs_one_change_and_the_same_command_tries_that_again(fault, history, tmp_path):
    out, cache = tmp_path / "dataset", tmp_path / "cache"

    done = mine(history, out, cache, *PICKS, fault=fault)

    assert done.returncode == 70, done.error_text
    assert reasons(out) == {4: "accepted", 6: "internal_error", 9: "accepted"}
    [log] = (cache / "logs").iterdir()
    assert "ZeroDivisionError: planted" in log.read_text()
    assert str(log) in "".join(done.error_text.split())
    decided = (out / "funnel.jsonl").read_text().splitlines()

    again = mine(history, out, cache, *PICKS)

    assert again.returncode == 0, again.error_text
    assert reasons(out) == {4: "accepted", 6: "accepted", 9: "accepted"}
    assert len((out / "funnel.jsonl").read_text().splitlines()) == len(decided) + 1


def test_a_mine_of_everything_comes_by_what_a_bug_left(history, tmp_path):
    out, cache = tmp_path / "dataset", tmp_path / "cache"

    assert mine(history, out, cache, fault="split").returncode == 70
    assert reasons(out)[6] == "internal_error"
    assert mine(history, out, cache).returncode == 0
    assert reasons(out)[6] == "accepted"

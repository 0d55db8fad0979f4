"""What a proof may cost, and what is not done when it has cost that."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.cli.views.terminal import Ticker
from harness.core.instance import TestSpec, TestStatus
from miner.candidates.funnel import FunnelLine
from miner.cli.display import MineTicker
from miner.proof import Budget, Notebook, Spending, Subject
from miner.proof.flakiness_causes import blame
from miner.proof.ids import changing
from miner.proof.judge import judge
from miner.proof.notebook import ObservedRun
from miner.proof.run import Bench
from miner.proof.variations import PLAIN, Cause, variation
from miner.sources.change import Stage


def spending(plain, *, runs=3, budget=None):
    return Spending(budget=budget or Budget(), runs=runs, plain=plain)


def test_a_budget_is_a_multiple_of_a_plain_run_and_seconds_on_top():
    assert spending(13.0).limit == 15 * 13 + 30
    assert spending(13.0, budget=Budget(plain_runs=4, seconds=0)).limit == 52


def test_runs_that_are_asked_for_besides_come_on_top_of_the_budget():
    assert spending(1.0, runs=10).limit == 15 + 30 + 7 * 4


@pytest.mark.parametrize(
    ("plain", "runs", "is_long"), [(0.2, 3, False), (4, 3, False), (13, 3, True), (0.2, 59, False)]
)
def test_a_suite_is_long_where_all_its_runs_take_more_than_half_of_the_budget(plain, runs, is_long):
    assert spending(plain, runs=runs).is_long is is_long


def test_a_suite_is_long_too_when_its_runs_have_taken_all_of_the_budget():
    spent = spending(1.0)
    spent.charge("proof", 45.0)
    assert not spent.is_long
    spent.charge("proof", 0.1)
    assert spent.is_long


def test_jobs_are_charged_to_their_stage_by_what_their_container_took():
    spent = spending(1.0)
    sandbox = SimpleNamespace(run=lambda _job: SimpleNamespace(timings={"create": 0.5, "run": 2.0}))
    spent.metered(sandbox, "causes").run(None)
    spent.metered(sandbox, "causes").run(None)
    spent.charge("proof", 3.0)

    assert spent.as_json()["seconds"] == {"causes": 5.0, "proof": 3.0}
    assert spent.allows(37.0)
    assert not spent.allows(37.1)


def run(state, number, *, only=(), **passing):
    statuses = {f"f.py::{name}": TestStatus.PASSED if well else TestStatus.FAILED for name, well in passing.items()}
    return ObservedRun(state=state, number=number, variation=variation(number), only=only, statuses=statuses)


def test_a_run_of_some_functions_says_nothing_of_others():
    runs = [
        run("before", 0, a=False, b=True),
        run("before", 1, only=("f.py::a",), a=False),
        run("after", 0, a=True, b=True),
        run("after", 1, only=("f.py::a",), a=True),
        run("after", 1, a=True, b=True),
    ]
    proof = judge(runs, runs=2)

    assert (proof.fail_to_pass, proof.pass_to_pass, proof.flaky) == (("f.py::a",), ("f.py::b",), ())
    assert proof.evidence["passes"]["f.py::a"] == [0, 0, 2]
    assert changing(runs[:2]) == frozenset()


def test_a_run_of_some_rows_says_nothing_of_others():
    some = run("before", 1, only=("f.py::t[1]",), **{"t[1]": False})
    assert some.tells_of("f.py::t[1]")
    assert not some.tells_of("f.py::t[2]")


def test_a_run_of_some_functions_is_kept_apart_from_one_of_all(tmp_path):
    subject = Subject(instance_id="a__b-1", image="i", test=TestSpec(), test_files=(), gold_patch=b"", test_patch=b"")
    some, every = run("after", 0, only=("f.py::a",), a=True), run("after", 0, a=True, b=True)
    Notebook(tmp_path / "runs.jsonl", subject).add(some)
    notebook = Notebook(tmp_path / "runs.jsonl", subject)

    assert notebook.get("after", 0, every.variation) is None
    assert notebook.get("after", 0, every.variation, ("f.py::a",)) == some


def test_causes_are_searched_for_the_functions_that_decide_alone():
    runs = [
        run("after", 0, a=True, b=True),
        run("after", 1, a=False, b=False),
    ]
    looks = []

    def look(state, varied, repeat):
        looks.append(varied)
        pinned = Cause.HASH_SEED in varied.causes
        return ObservedRun(
            state=state,
            number=1000 + repeat,
            variation=varied,
            only=() if varied.order is not None else ("f.py::a",),
            statuses={"f.py::a": TestStatus.FAILED if pinned else TestStatus.PASSED},
        )

    blamed = blame(runs, look, alone=("f.py::a",))

    assert blamed.causes == {"f.py::a": Cause.HASH_SEED}
    assert [varied.causes for varied in looks if varied.order is not None] == [(Cause.ORDER,)]


def test_a_search_without_seconds_left_does_no_run():
    runs = [run("after", 0, a=True), run("after", 1, a=False)]
    blamed = blame(runs, lambda *_: pytest.fail("a run was done"), alone=("f.py::a",), seconds=0)

    assert blamed.causes == {"f.py::a": Cause.UNKNOWN}
    assert blamed.is_cut


def test_the_line_of_a_minute_has_the_last_note_of_each_candidate():
    ticker = Ticker(Console(file=io.StringIO(), width=120), "mine")
    observer = MineTicker(ticker)
    observer.note("a__b-1: proof, after 1/3")
    observer.note("a__b-1: proof, after 2/3; 12 of 225 s")
    observer.note("a__b-2: strength, wrong patch 3/20")

    assert "a__b-1: proof, after 2/3; 12 of 225 s; a__b-2: strength, wrong patch 3/20" in ticker.summary().plain
    assert "1/3" not in ticker.summary().plain

    of_this = {"repo": "a/b", "change": "0" * 40, "instance_id": "a__b-2"}
    observer.decided(FunnelLine(**of_this, stage=Stage.ACCEPTED, reason="accepted"))
    assert ticker.summary().plain.endswith("now: a__b-1: proof, after 2/3; 12 of 225 s")


def test_the_line_of_a_minute_forgets_what_was_done_before_the_first_candidate():
    ticker = Ticker(Console(file=io.StringIO(), width=120), "mine")
    observer = MineTicker(ticker)
    observer.note("scanning a/b")
    observer.note("a__b-1: proof, after 1/3")

    assert ticker.summary().plain.endswith("now: a__b-1: proof, after 1/3")


def ran(seconds, *endings):
    return SimpleNamespace(seconds=seconds, max_rss_kb=1000, variation=PLAIN, trouble="", endings=endings)


@pytest.mark.parametrize(
    ("endings", "only", "most"), [((), ("a::t",), 400.0), (("a::t",), (), 400.0), (("a::t",), ("a::t",), 70.0)]
)
def test_once_a_test_has_not_ended_without_the_fix_a_few_have_as_long_as_these_would_be_given(endings, only, most):
    runs = {
        ("after", 0, PLAIN, ()): ran(100.0),
        ("before", 0, PLAIN, ()): ran(400.0, *endings),
        ("after", 1, PLAIN, ("a::t",)): ran(7.0),
    }
    notebook = SimpleNamespace(get=lambda *key: runs.get(key if len(key) > 3 else (*key, ())))
    bench = SimpleNamespace(notebook=notebook, spending=spending(100.0))
    assert Bench._most_seconds(bench, "before", 1, PLAIN, only) == most

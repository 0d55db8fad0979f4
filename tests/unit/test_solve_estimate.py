"""What a dry run says, held against what is then really asked. The real client, files and ledger; no container."""

from __future__ import annotations

import contextlib
from datetime import date

import pytest

from harness.core.instance import Prediction
from harness.dataset.ledger import ledger
from harness.runs.predictions import read_predictions
from harness.solve import call as calls
from harness.solve import estimate
from harness.solve.estimate import RATIO, Range
from harness.solve.models import tokens
from harness.solve.models.prices import Prices, Rates
from tests.model_server import ModelServer, Say
from tests.solve_parts import question
from tests.solve_room import GOOD, MemoryWorkspaces, Room, make_dataset

DAY = date(2026, 11, 22)
PRICES = Prices().assuming("10/100", day=DAY)


@pytest.fixture
def room(tmp_path, monkeypatch):
    with contextlib.ExitStack() as made:

        def make(tasks: int, script=GOOD) -> Room:
            server = made.enter_context(ModelServer({"m": script}))
            workspaces = MemoryWorkspaces()
            monkeypatch.setattr(calls, "Workspaces", workspaces)
            dataset = make_dataset(tmp_path / "dataset", tasks)
            return Room(folder=tmp_path, server=server, dataset=dataset, workspaces=workspaces)

        yield make


def test_a_dry_run_asks_nothing_writes_nothing_and_shows_nobody_a_task(room):
    place = room(2)
    place.look_ahead(samples=2)
    assert place.server.requests == []
    assert not place.out.exists()
    assert [entry for entry in ledger.read(place.dataset) if entry.event == "exposed"] == []


def test_it_needs_no_key(room):
    place = room(1)
    place.server.keys = ("secret",)
    assert place.look_ahead().questions.likely == 1


def test_the_number_of_questions_is_exact(room):
    place = room(3)
    asked = {"samples": 2, "temperatures": (0.2, 0.8)}
    place.run(ids=("tiny__calc-1",), **asked)
    before = len(place.server.requests)
    found = place.look_ahead(**asked)
    place.run(**asked)
    assert found.exact
    assert found.questions == Range(low=8, likely=8, high=8)
    assert len(place.server.requests) - before == found.questions.likely == found.attempts


def test_the_prompt_is_the_one_that_is_then_sent(room):
    place = room(1)
    found = place.look_ahead()
    place.run()
    sent = sum(len(text.encode()) + 16 for _, text in place.server.requests[0].messages)
    assert found.input_tokens.likely == tokens.likely(sent)
    assert found.input_tokens.low == pytest.approx(RATIO[0] * tokens.likely(sent))
    assert found.input_tokens.high == pytest.approx(RATIO[1] * tokens.likely(sent))


def test_each_tree_is_read_once(room):
    place = room(2)
    place.look_ahead(samples=5)
    assert place.workspaces.opened == 2


def test_the_cost_is_what_the_tokens_cost(room):
    found = room(1).look_ahead(prices=PRICES)
    expected = (10 * found.input_tokens.likely + 100 * found.output_tokens.likely) / 1e6
    assert found.cost.likely == pytest.approx(expected)
    assert found.cost.low < found.cost.likely < found.cost.high


def test_an_unknown_price_gives_no_cost(room):
    found = room(1).look_ahead()
    assert (found.cost, found.batch_cost) == (None, None)


def test_a_batch_price_is_told_where_there_is_one(room):
    price = PRICES.assumed.model_copy(update={"batch": Rates(input=5, output=50)})
    found = room(1).look_ahead(prices=Prices(entries=(price,)))
    assert found.batch_cost.likely == pytest.approx(found.cost.likely / 2)


def test_what_the_cache_answers_is_not_asked_and_not_paid(room):
    place = room(2)
    place.run(keep=True)
    place.out.unlink()
    (place.folder / "predictions.solve.json").unlink()
    before = len(place.server.requests)
    found = place.look_ahead(keep=True, prices=PRICES)
    assert (found.attempts, found.kept, found.questions.likely, found.cost.likely) == (2, 2, 0, 0)
    place.run(keep=True)
    assert len(place.server.requests) == before


def test_an_answer_is_no_longer_than_it_may_be(room):
    found = room(1).look_ahead(max_output_tokens=400)
    assert found.output_tokens == Range(low=300, likely=400, high=400)


def test_what_earlier_predictions_wrote_is_believed_more_than_an_assumption(room):
    place = room(4, script=lambda asked: Say(text="no patch " * (20 * (asked.turn + 1))))
    assert "assumed" in place.look_ahead().basis
    place.run(ids=("tiny__calc-1", "tiny__calc-2", "tiny__calc-3"))
    found = place.look_ahead()
    written = sorted(one.extra["tokens"]["output"] for one in read_predictions(place.out))
    assert "in this file took" in found.basis
    assert found.output_tokens == Range(low=written[0], likely=written[1], high=written[2])


class Looper:
    """An agent in turns, as `loop` is."""

    name, version = "loop", 1

    def attempt(self, job, model):
        model.ask(question("word " * 720))


def test_an_agent_in_turns_gets_a_range_and_says_what_it_stands_on(room):
    place = room(1)
    units, jobs = _units(place)
    found = estimate.estimate(units, agent=Looper(), model="m", job_of=jobs, price=None)
    first = tokens.likely(720 * 5 + 16)
    assert not found.exact
    assert found.questions == Range(low=6, likely=20, high=60)
    assert found.input_tokens.likely == 20 * first + 1500 * sum(range(20))
    assert "6 to 60 questions" in found.basis


def test_an_agent_in_turns_is_told_by_what_it_took_before(room):
    place = room(1)
    units, jobs = _units(place)
    rows = [(4, 900, 50), (9, 4000, 200), (30, 20_000, 900)]
    earlier = [
        Prediction(
            instance_id="t",
            model_name_or_path="m",
            model_patch=None,
            extra={"agent": "loop", "agent_version": 1, "questions": asked, "tokens": {"input": read, "output": wrote}},
        )
        for asked, read, wrote in rows
    ]
    found = estimate.estimate(units, agent=Looper(), model="m", job_of=jobs, price=None, earlier=earlier)
    assert found.questions == Range(low=4, likely=9, high=30)
    assert found.input_tokens == Range(low=900, likely=4000, high=20_000)
    assert found.output_tokens == Range(low=50, likely=200, high=900)


def _units(place: Room):
    call = place.call()
    todo, _ = calls.plans.units(call.plan, call.instances, ())

    def jobs(unit):
        return calls.job_of(unit, call.plan, canary="", open_workspace=place.workspaces.open, oracle={})

    return todo, jobs

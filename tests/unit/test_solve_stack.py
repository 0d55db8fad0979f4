"""All layers together around the real client, against our scripted server; waits are milliseconds."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime

import pytest

from harness.core.errors import InputError
from harness.solve.base import Fault, LimitReachedError, ModelError
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.meter import Limits
from harness.solve.models.openai_model import OpenAIModel
from harness.solve.models.prices import Prices, shipped
from harness.solve.models.response_cache import ResponseCache
from harness.solve.models.retry import RetryPolicy
from harness.solve.models.stack import Wrapped
from tests.model_server import ModelServer, Say, Spent, overflow, rate_limit, server_error, storm
from tests.solve_parts import HeldClock, ScriptedModel, question, reply

DAY = date(2026, 11, 22)
PRICES = Prices().assuming("10/100", day=DAY)
QUICK = RetryPolicy(first_wait=0.001, longest_wait=0.01)
FINE = Say(text="fine, thank you")


@pytest.fixture
def world(tmp_path):
    """Starts a server and a model with all its layers; a server that was spoken to wrongly fails the test."""
    with contextlib.ExitStack() as made:

        def make(script, *, limits=None, prices=PRICES, kept=None, jobs=4, policy=QUICK, clock=None):
            server = made.enter_context(ModelServer({"m": script}))
            made.callback(lambda: _hold(server))
            endpoint = Endpoint(base_url=server.base_url, api=Api.CHAT)
            model = made.enter_context(OpenAIModel("m", endpoint, environment={}))
            wrapped = Wrapped(
                model,
                endpoint=server.base_url if kept is None else "http://same/v1",
                prices=prices,
                limits=limits or Limits(),
                cache=kept,
                jobs=jobs,
                policy=policy,
                clock=clock,
            )
            return server, wrapped

        yield make


@pytest.fixture
def kept(tmp_path):
    cache = ResponseCache(tmp_path)
    yield cache
    cache.close()


def _hold(server: ModelServer) -> None:
    assert server.problems == []


def test_a_storm_of_429_is_ridden_out_and_recorded(world):
    server, wrapped = world(storm(6, FINE))
    answer = wrapped.for_attempt().ask(question())
    assert answer.retries == (Fault.RATE_LIMIT,) * 6
    assert answer.cost > 0
    assert len(server.requests) == 7
    assert wrapped.spent.retries == 6


def test_a_storm_makes_all_threads_ask_less_at_once(world):
    server, wrapped = world(storm(8, FINE, fault=rate_limit(milliseconds=5)), jobs=8)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda sample: wrapped.for_attempt().ask(question(sample=sample)), range(8)))
    assert all(answer.message.content == FINE.text for answer in answers)
    assert wrapped._throttle.governor.limit < 8
    assert len(server.requests) == 16


@pytest.mark.parametrize("how", ["seconds", "milliseconds", "date"])
def test_nobody_asks_before_the_moment_that_an_endpoint_names(world, how):
    asked_for = {
        "seconds": rate_limit(seconds=7),
        "milliseconds": rate_limit(milliseconds=7000),
        "date": rate_limit(date=format_datetime(datetime.now(UTC) + timedelta(seconds=8), usegmt=True)),
    }
    clock = HeldClock()
    _, wrapped = world(storm(1, FINE, fault=asked_for[how]), clock=clock)
    answer = wrapped.for_attempt().ask(question())
    assert 6 <= answer.waited_seconds <= 8.8
    assert clock.passed >= 6


def test_errors_of_a_server_are_ridden_out(world):
    _, wrapped = world((server_error(500), server_error(503), FINE))
    assert wrapped.for_attempt().ask(question()).retries == (Fault.SERVER, Fault.SERVER)


def test_a_server_that_stays_broken_is_given_up(world):
    server, wrapped = world(server_error())
    with pytest.raises(ModelError, match="asked 6 times") as caught:
        wrapped.for_attempt().ask(question())
    assert caught.value.fault is Fault.SERVER
    assert len(server.requests) == 6
    assert wrapped.spent.cost == 0


def test_a_prompt_that_is_too_long_is_asked_once(world):
    server, wrapped = world(overflow())
    with pytest.raises(ModelError) as caught:
        wrapped.for_attempt().ask(question())
    assert caught.value.fault is Fault.CONTEXT_OVERFLOW
    assert len(server.requests) == 1


@pytest.mark.parametrize("politely", [True, False])
def test_a_cut_stream_is_asked_again_and_never_kept(world, kept, politely):
    cut = Say(text="half an answer " * 20, cut_after=2, cut_politely=politely)
    server, wrapped = world((cut, FINE), kept=kept)
    model = wrapped.for_attempt()
    assert model.ask(question()).message.content == FINE.text
    assert model.ask(question()).message.content == FINE.text
    assert len(server.requests) == 2
    assert wrapped.spent.broken == 1


@pytest.mark.parametrize("spent", ["untold", Spent(prompt=-5, completion=3), Spent(prompt=90, completion=3, total=7)])
def test_wrong_usage_numbers_give_no_cost_and_still_end_at_the_limit(world, spent):
    server, wrapped = world(Say(text="fine", spent=spent), limits=Limits(tokens=1000))
    model = wrapped.for_attempt()
    costs = []
    with contextlib.suppress(LimitReachedError):
        costs.extend(model.ask(question(sample=sample, most=50)).cost for sample in range(100))
    assert set(costs) == {None}
    assert 3 <= len(server.requests) <= 10
    assert wrapped.spent.estimated == len(costs)


def test_an_answer_from_the_cache_costs_nothing_and_is_given_when_the_money_is_gone(world, kept):
    _, first = world(FINE, kept=kept)
    paid = first.for_attempt().ask(question())
    server, second = world(FINE, kept=kept, limits=Limits(cost=0.0))
    model = second.for_attempt()
    again = model.ask(question())
    assert (again.cached, again.cost, again.message) == (True, paid.cost, paid.message)
    assert (second.spent.cached, second.spent.cost, second.spent.questions) == (1, 0.0, 0)
    assert server.requests == []
    with pytest.raises(LimitReachedError):
        model.ask(question(sample=1))


def test_samples_are_different_questions(world, kept):
    server, wrapped = world(FINE, kept=kept)
    for sample in (0, 1, 0, 1):
        wrapped.for_attempt().ask(question(sample=sample))
    assert len(server.requests) == 2


def test_eight_threads_stay_under_a_limit_of_money(world):
    server, wrapped = world(FINE, limits=Limits(cost=0.1), jobs=8)

    def work(thread: int) -> None:
        model = wrapped.for_attempt()
        sample = 0
        while True:
            model.ask(question(sample=sample, most=20))
            sample += 1

    with ThreadPoolExecutor(8) as pool:
        for one in [pool.submit(work, thread) for thread in range(8)]:
            with pytest.raises(LimitReachedError) as caught:
                one.result(60)
            assert caught.value.limit == "cost"
    assert 0.09 < wrapped.spent.cost <= 0.1
    assert len(server.requests) == wrapped.spent.questions


@pytest.mark.parametrize("limits", [Limits(cost=1), Limits(task_cost=1)])
def test_a_limit_of_money_with_an_unknown_price_is_refused_before_anything_is_asked(limits):
    with pytest.raises(InputError, match=r"not known") as caught:
        wrap(limits=limits, prices=shipped())
    assert "--assume-price" in caught.value.hint


def test_a_price_that_is_assumed_or_zero_lifts_that_refusal():
    for text in ("1/2", "0/0"):
        wrap(limits=Limits(cost=1), prices=shipped().assuming(text, day=DAY))


def test_an_unknown_price_without_a_limit_of_money_is_told():
    assert "costs will be null" in wrap(prices=shipped()).notes[0]


def test_a_price_that_nobody_looked_up_for_half_a_year_is_told():
    assert wrap(prices=Prices().assuming("1/2", day=DAY - timedelta(days=100))).notes == ()
    assert "2026-01-01" in wrap(prices=Prices().assuming("1/2", day=date(2026, 1, 1))).notes[0]


def test_a_floating_name_is_asked_anew_each_day_and_a_snapshot_is_not(kept):
    for floating, times in ((True, 2), (False, 1)):
        model, clock = ScriptedModel(reply()), HeldClock()
        for _ in range(2):
            wrap(model, kept=kept, floating=floating, clock=clock, endpoint=f"http://{floating}").for_attempt().ask(
                question()
            )
            clock.passed += 86400.0
        assert len(model.asked) == times


def test_stopping_ends_the_next_question():
    model = ScriptedModel(reply())
    wrapped = wrap(model)
    wrapped.stop()
    with pytest.raises(LimitReachedError) as caught:
        wrapped.for_attempt().ask(question())
    assert (caught.value.limit, model.asked) == ("stopped", [])


def wrap(
    model=None, *, limits=None, prices=PRICES, kept=None, clock=None, endpoint="http://localhost/v1", floating=True
):
    return Wrapped(
        model or ScriptedModel(reply()),
        endpoint=endpoint,
        prices=prices,
        limits=limits or Limits(),
        cache=kept,
        clock=clock or HeldClock(),
        floating=floating,
    )

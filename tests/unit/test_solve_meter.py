"""Limits of money, tokens and time: room is kept before a question, the truth is counted after it."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import date

import pytest

from harness.solve.base import Fault, LimitReachedError, ModelError, Usage
from harness.solve.models.meter import UNBOUNDED_OUTPUT, Limits, Meter, Spending, _Share
from harness.solve.models.prices import Prices
from harness.solve.models.throttle import SystemClock
from harness.solve.models.tokens import IMPOSSIBLE
from tests.solve_parts import HeldClock, ScriptedModel, question, reply

PRICES = Prices().assuming("10/100", day=date(2026, 11, 22))
"""A token read is $0.00001, one written $0.0001."""


def meter(limits: Limits | None = None, *, clock=None, prices=PRICES, earlier=None) -> Meter:
    return Meter(
        endpoint="http://localhost/v1",
        model="m",
        prices=prices,
        limits=limits or Limits(),
        clock=clock or HeldClock(),
        earlier=earlier,
    )


def stopped(work) -> str:
    with pytest.raises(LimitReachedError) as caught:
        work()
    return caught.value.limit


def test_a_reply_knows_what_it_cost_and_the_meter_sums_it():
    counted = meter()
    model = counted.attempt(ScriptedModel(reply(read=200, written=30)))
    assert model.ask(question()).cost == pytest.approx(0.002 + 0.003)
    model.ask(question())
    spent = counted.spent
    assert (spent.input_tokens, spent.output_tokens, spent.questions) == (400, 60, 2)
    assert spent.cost == pytest.approx(0.01)


def test_without_a_price_a_cost_is_none_and_told_as_unknown():
    counted = meter(prices=Prices())
    assert counted.attempt(ScriptedModel(reply())).ask(question()).cost is None
    assert (counted.spent.unpriced, counted.spent.cost) == (1, 0.0)


ODD = [
    Usage(),
    Usage(input_tokens=100),
    Usage(input_tokens=-1, output_tokens=5),
    Usage(input_tokens=100, output_tokens=-5),
    Usage(input_tokens=0, output_tokens=5),
    Usage(input_tokens=10**9, output_tokens=5),
    Usage(input_tokens=100, output_tokens=10**9),
    Usage(input_tokens=100, output_tokens=0),
    Usage(input_tokens=100, output_tokens=5, cached_input_tokens=101),
]


@pytest.mark.parametrize("usage", ODD)
def test_tokens_that_cannot_be_right_give_no_cost_but_count_against_the_limits(usage):
    counted = meter()
    given = reply()
    odd = type(given)(**{**vars(given), "usage": usage})
    answer = counted.attempt(ScriptedModel(odd)).ask(question())
    assert (answer.cost, answer.usage) == (None, usage)
    assert counted.spent.estimated == 1
    assert counted.spent.input_tokens >= 195
    assert counted.spent.output_tokens >= 5
    assert counted.spent.cost > 0


def test_tokens_that_the_client_found_odd_give_no_cost():
    answer = meter().attempt(ScriptedModel(reply(notes=(IMPOSSIBLE,)))).ask(question())
    assert answer.cost is None


def test_no_question_is_sent_that_could_pass_the_limit():
    model = ScriptedModel(reply())
    asked = meter(Limits(cost=0.05)).attempt(model)
    assert stopped(lambda: asked.ask(question(most=500))) == "cost"  # 500 written tokens may cost $0.05 alone
    assert model.asked == []
    assert asked.ask(question(most=400)).cost is not None


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (Limits(cost=0.035), "cost"),
        (Limits(tokens=800), "tokens"),
        (Limits(task_cost=0.035), "task_cost"),
        (Limits(task_tokens=800), "task_tokens"),
    ],
)
def test_each_limit_ends_the_questions_and_is_not_passed(limits, limit):
    counted = meter(limits)
    model = ScriptedModel(reply(read=195, written=100))
    asked = counted.attempt(model)

    def work() -> None:
        while True:
            asked.ask(question(most=100))

    assert stopped(work) == limit
    assert len(model.asked) == 2
    assert counted.spent.cost <= 0.035
    assert counted.spent.tokens <= 800


@pytest.mark.parametrize(
    ("limits", "limit"), [(Limits(minutes=2), "minutes"), (Limits(task_minutes=2), "task_minutes")]
)
def test_time_is_used_up_by_the_clock(limits, limit):
    clock = HeldClock()
    asked = meter(limits, clock=clock).attempt(ScriptedModel(reply()))
    clock.passed = 119.0
    asked.ask(question())
    clock.passed = 120.0
    assert stopped(lambda: asked.ask(question())) == limit


def test_a_wait_that_would_end_after_the_time_limit_is_not_begun():
    attempt = meter(Limits(minutes=1)).attempt(ScriptedModel(reply()))
    attempt.may_wait(59.0)
    assert stopped(lambda: attempt.may_wait(60.0)) == "minutes"


def test_a_limit_of_one_attempt_leaves_the_next_one_its_own():
    counted = meter(Limits(task_tokens=600))
    model = ScriptedModel(reply(read=250, written=100))
    for _ in range(3):
        first = counted.attempt(model)
        first.ask(question(most=100))
        assert stopped(lambda one=first: one.ask(question(most=100))) == "task_tokens"


def test_what_earlier_calls_spent_counts_and_a_higher_limit_goes_on():
    earlier = Spending(cost=0.9, input_tokens=50_000, output_tokens=4_000)
    model = ScriptedModel(reply())
    asked = meter(Limits(cost=0.9), earlier=earlier).attempt(model)
    assert stopped(lambda: asked.ask(question(most=100))) == "cost"
    higher = meter(Limits(cost=1.0), earlier=earlier)
    higher.attempt(model).ask(question(most=100))
    assert higher.spent.cost == pytest.approx(0.902)


def test_an_answer_without_a_bound_reserves_the_longest_seen():
    counted = meter(Limits(tokens=10**9))
    asked = counted.attempt(ScriptedModel(reply(written=9000), reply()))
    for expected in (UNBOUNDED_OUTPUT, 9000):
        account = counted._total
        reserved = counted.reserve(account, question())
        assert reserved.tokens == 195 + 8 + expected
        counted.settle(account, reserved, Spending(), prompt_bytes=0, reported=False)
        asked.ask(question())


def test_where_an_endpoint_counts_more_tokens_more_room_is_kept():
    counted = meter()
    long = question("ab" * 2000, most=1)
    counted.attempt(ScriptedModel(reply(read=4000))).ask(long)
    assert counted.reserve(counted._total, long).tokens >= 4000


@pytest.mark.parametrize(
    "fault", [Fault.RATE_LIMIT, Fault.SERVER, Fault.AUTH, Fault.UNREACHABLE, Fault.CONTEXT_OVERFLOW]
)
def test_a_refused_question_costs_nothing(fault):
    counted = meter(Limits(cost=1.0))
    asked = counted.attempt(ScriptedModel(ModelError("no", fault=fault)))
    with pytest.raises(ModelError):
        asked.ask(question())
    assert counted.spent == Spending()
    assert counted._total.reserved.cost == 0


def test_an_answer_that_broke_off_takes_room_since_it_may_be_on_the_bill():
    counted = meter(Limits(tokens=1000))
    asked = counted.attempt(ScriptedModel(ModelError("no", fault=Fault.NETWORK)))
    for _ in range(4):
        with pytest.raises(ModelError):
            asked.ask(question(most=100))
    assert stopped(lambda: asked.ask(question(most=100))) == "tokens"
    assert (counted.spent.broken, counted.spent.tokens) == (4, 0)


def test_a_bug_in_a_model_gives_its_room_back():
    counted = meter(Limits(cost=1.0))
    with pytest.raises(KeyError):
        counted.attempt(ScriptedModel(KeyError("bug"))).ask(question())
    assert (counted._total.in_flight, counted._total.reserved.cost) == (0, 0)


def hammer(counted: Meter, model, *, threads: int, most: int | None) -> None:
    """Ask from many threads until the limit ends each of them."""

    def work() -> None:
        asked = counted.attempt(model)
        while True:
            asked.ask(question(most=most))

    with ThreadPoolExecutor(threads) as pool:
        for one in [pool.submit(work) for _ in range(threads)]:
            with pytest.raises(LimitReachedError):
                one.result(30)


@pytest.mark.parametrize("seed", range(5))
def test_eight_threads_do_not_pass_a_limit_where_answers_have_a_bound(seed):
    chance = random.Random(seed)
    answers = [reply(read=chance.randint(50, 200), written=chance.randint(1, 100)) for _ in range(5000)]
    counted = meter(Limits(cost=1.0, tokens=20_000), clock=SystemClock())
    hammer(counted, ScriptedModel(*answers), threads=8, most=100)
    assert counted.spent.cost <= 1.0
    assert counted.spent.tokens <= 20_000
    assert counted.spent.cost > 0.98 or counted.spent.tokens > 19_000, "and what may be spent is spent"


def test_without_a_bound_each_thread_passes_the_limit_by_its_last_answer_at_most():
    longest = 20_000
    counted = meter(Limits(tokens=60_000), clock=SystemClock())
    together = threading.Barrier(8)
    model = ScriptedModel(reply(written=longest), then=lambda _: together.wait(120))
    with ThreadPoolExecutor(8) as pool:
        wait([pool.submit(counted.attempt(model).ask, question()) for _ in range(8)])
    beyond = longest - UNBOUNDED_OUTPUT
    assert 60_000 < counted.spent.tokens <= 60_000 + 8 * beyond
    assert stopped(lambda: counted.attempt(model).ask(question())) == "tokens"


def test_a_question_waits_for_room_that_answers_in_flight_may_leave():
    counted = meter(Limits(tokens=1000), clock=SystemClock())
    inside, go = threading.Event(), threading.Event()

    def slow(_) -> None:
        inside.set()
        assert go.wait(120)

    first = counted.attempt(ScriptedModel(reply(read=100, written=10), then=slow))
    second = counted.attempt(ScriptedModel(reply()))
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(first.ask, question(most=600))
        assert inside.wait(120)
        two = pool.submit(second.ask, question(most=600))  # 1,600 reserved would be too many; 110 spent are not
        assert not wait([two], timeout=0.05).done
        go.set()
        assert one.result(120).cost is not None
        assert two.result(120).cost is not None


def test_stopping_ends_whoever_waits_for_room():
    counted = meter(Limits(tokens=1000), clock=SystemClock())
    counted.reserve(counted._total, question(most=600))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(counted.attempt(ScriptedModel(reply())).ask, question(most=600))
        counted.stop()
        assert stopped(lambda: waiting.result(10)) == "stopped"


def test_when_nothing_is_in_flight_nothing_is_reserved_however_the_cents_round():
    account = meter().attempt(ScriptedModel(reply()))._account
    shares = [_Share(cost=0.1), _Share(cost=0.2)]
    for share in shares:
        account.reserve(share)
    for share in shares:  # in floats (0.1 + 0.2) - 0.1 - 0.2 is not 0, and who fits exactly would wait for ever
        account.release(share)
    assert account.reserved == _Share()

"""What is asked again, how often, and how long is waited; on a clock that is held still."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from harness.solve.base import Fault, LimitReachedError, ModelError
from harness.solve.models.retry import Retrying, RetryPolicy, retry_after_seconds
from harness.solve.models.throttle import Throttle
from tests.solve_parts import HeldClock, ScriptedModel, question, reply

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def retrying(model, clock, **more):
    return Retrying(model, Throttle(clock, most=1), chance=random.Random(1), **more)


def failing(fault: Fault, times: int, **more) -> ScriptedModel:
    return ScriptedModel(*[ModelError("no", fault=fault, **more)] * times, reply())


@pytest.mark.parametrize("fault", [Fault.AUTH, Fault.CONTEXT_OVERFLOW, Fault.BAD_REQUEST])
def test_what_would_fail_again_is_asked_once(fault):
    model = failing(fault, 1)
    with pytest.raises(ModelError, match=r"^no$"):
        retrying(model, HeldClock()).ask(question())
    assert len(model.asked) == 1


@pytest.mark.parametrize(("fault", "times"), [(Fault.RATE_LIMIT, 10), (Fault.SERVER, 5), (Fault.NETWORK, 5)])
def test_what_passes_is_asked_again_a_bounded_number_of_times(fault, times):
    answer = retrying(failing(fault, times), HeldClock()).ask(question())
    assert answer.retries == (fault,) * times
    model = failing(fault, times + 1)
    with pytest.raises(ModelError, match=rf"asked {times + 1} times"):
        retrying(model, HeldClock()).ask(question())
    assert len(model.asked) == times + 1


def test_a_stream_that_breaks_off_is_asked_again_twice_and_is_never_an_answer():
    cut = reply(finish="cut")
    assert retrying(ScriptedModel(cut, cut, reply()), HeldClock()).ask(question()).finish_reason == "stop"
    with pytest.raises(ModelError, match=r"broke off \(asked 3 times\)"):
        retrying(ScriptedModel(cut), HeldClock()).ask(question())


def test_waits_grow_up_to_a_bound_and_are_drawn_by_chance():
    clock = HeldClock()
    policy = RetryPolicy(retries={Fault.SERVER: 12}, first_wait=1.0, longest_wait=60.0)
    answer = retrying(failing(Fault.SERVER, 12), clock, policy=policy).ask(question())
    bounds = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]
    assert all(wait <= bound for wait, bound in zip(clock.waits, bounds, strict=True))
    assert len(set(clock.waits)) == 12
    assert answer.waited_seconds == pytest.approx(sum(clock.waits))


def test_the_wait_that_an_endpoint_asks_for_is_kept_and_a_little_added():
    clock = HeldClock()
    retrying(failing(Fault.RATE_LIMIT, 1, retry_after=20), clock).ask(question())
    assert 20 <= clock.waits[0] <= 22


def test_an_endpoint_that_asks_for_no_wait_at_all_is_not_hammered():
    clock = HeldClock()
    retrying(failing(Fault.RATE_LIMIT, 10, retry_after=0.0), clock).ask(question())
    assert clock.passed > 30


def test_an_endpoint_that_asks_for_a_day_is_asked_again_after_the_bound():
    clock = HeldClock()
    retrying(failing(Fault.RATE_LIMIT, 1, retry_after=86400), clock).ask(question())
    assert 300 <= clock.waits[0] <= 330


def test_one_question_waits_no_longer_than_allowed_in_all():
    clock = HeldClock()
    with pytest.raises(ModelError, match="of waiting in all"):
        retrying(failing(Fault.RATE_LIMIT, 99, retry_after=300), clock).ask(question())
    assert clock.passed <= 1800


def test_no_try_is_waited_for_that_would_be_after_a_time_limit():
    def may_wait(seconds: float) -> None:
        raise LimitReachedError("minutes", f"{seconds}")

    clock = HeldClock()
    with pytest.raises(LimitReachedError):
        retrying(failing(Fault.SERVER, 1), clock, may_wait=may_wait).ask(question())
    assert clock.waits == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "20"}, 20.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"retry-after-ms": "soon", "Retry-After": "1"}, 1.0),
        ({"Retry-After": "Sun, 22 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Sun, 22 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "tomorrow"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_as_milliseconds_seconds_or_date(headers, seconds):
    assert retry_after_seconds(headers, NOW) == seconds

"""How many questions are at an endpoint at once: the rule without threads, then with them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.solve.base import Fault, LimitReachedError, ModelError
from harness.solve.models.throttle import Governor, SystemClock, Throttle, Throttled
from tests.solve_parts import HeldClock, ScriptedModel, question, reply


def full(limit: int) -> Governor:
    governor = Governor(most=limit, limit=limit)
    for _ in range(limit):
        governor.start()
    return governor


def test_no_more_start_than_the_limit_allows():
    governor = full(3)
    assert governor.delay(0.0) is None
    governor.end()
    assert governor.delay(0.0) == 0


def test_a_refusal_halves_the_limit_down_to_one():
    governor = full(8)
    for moment, limit in ((1.0, 4), (2.0, 2), (3.0, 1), (4.0, 1)):
        governor.refused(started=moment, now=moment)
        assert governor.limit == limit


def test_refusals_of_questions_sent_together_halve_once():
    governor = full(8)
    for _ in range(8):
        governor.refused(started=0.0, now=1.0)
    assert governor.limit == 4


def test_a_window_of_successes_allows_one_more_up_to_what_the_user_allows():
    governor = Governor(most=5, limit=3)
    grown = []
    for _ in range(3 + 4 + 5):
        governor.succeeded()
        grown.append(governor.limit)
    assert grown == [3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]


def test_a_refusal_begins_the_window_anew():
    governor = Governor(most=8, limit=4)
    for _ in range(3):
        governor.succeeded()
    governor.refused(started=1.0, now=1.0)
    governor.succeeded()
    assert governor.limit == 2


def test_a_pause_holds_everybody_and_a_shorter_one_does_not_end_it():
    governor = Governor(most=4, limit=4)
    governor.pause(now=10.0, seconds=30.0)
    governor.pause(now=11.0, seconds=1.0)
    assert governor.delay(15.0) == 25.0
    assert governor.delay(40.0) == 0


def test_one_endpoint_asking_one_thread_to_wait_makes_all_wait():
    clock = HeldClock()
    throttle = Throttle(clock, most=8)
    refused = Throttled(ScriptedModel(ModelError("no", fault=Fault.RATE_LIMIT, retry_after=17.0)), throttle)
    with pytest.raises(ModelError):
        refused.ask(question())
    Throttled(ScriptedModel(reply()), throttle).ask(question())
    assert clock.waits == [17.0]


def test_a_busy_server_that_says_how_long_pauses_all_but_is_no_reason_to_halve():
    clock = HeldClock()
    throttle = Throttle(clock, most=8)
    with pytest.raises(ModelError):
        Throttled(ScriptedModel(ModelError("no", fault=Fault.SERVER, retry_after=3.0)), throttle).ask(question())
    assert (throttle.governor.limit, throttle.governor.paused_until) == (8, 3.0)


def test_a_pause_that_an_endpoint_asks_for_has_a_bound():
    throttle = Throttle(HeldClock(), most=1, longest_pause=300.0)
    with pytest.raises(ModelError):
        Throttled(ScriptedModel(ModelError("no", fault=Fault.RATE_LIMIT, retry_after=1e9)), throttle).ask(question())
    assert throttle.governor.paused_until == 300.0


def test_a_bug_in_a_model_gives_its_turn_back():
    throttle = Throttle(HeldClock(), most=1)
    with pytest.raises(KeyError):
        Throttled(ScriptedModel(KeyError("bug")), throttle).ask(question())
    assert throttle.governor.in_flight == 0


def test_threads_never_exceed_the_limit():
    now, most = [0], [0]
    lock = threading.Lock()
    both = threading.Barrier(3)

    def inside(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        both.wait(120)  # three have to be inside at once for anyone to get on
        with lock:
            now[0] -= 1

    model = Throttled(ScriptedModel(reply(), then=inside), Throttle(SystemClock(), most=3))
    with ThreadPoolExecutor(9) as pool:
        list(pool.map(lambda _: model.ask(question()), range(9)))
    assert most[0] == 3


def test_stopping_wakes_whoever_waits_for_a_turn_and_lets_nobody_start():
    throttle = Throttle(SystemClock(), most=1)
    throttle.enter()
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(throttle.enter), pool.submit(throttle.sleep, 3600.0)]
        throttle.stop()
        for one in waiting:
            with pytest.raises(LimitReachedError) as caught:
                one.result(10)
            assert caught.value.limit == "stopped"

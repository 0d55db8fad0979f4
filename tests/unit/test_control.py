"""What gold's time on this machine says, and what becomes of time budgets."""

from __future__ import annotations

from dataclasses import replace

from harness.grading import calibration
from harness.grading.calibration import Reading
from tests import tiny


def reading(seconds, proof_seconds, *, resolved=True):
    return Reading(instance_id="tiny__calc-1", seconds=seconds, proof_seconds=proof_seconds, resolved=resolved)


def timed_task(instance_id, seconds):
    made = tiny.task(instance_id=instance_id)
    return replace(made, hidden=replace(made.hidden, evidence={"gold_seconds": seconds}))


def test_a_machine_as_fast_as_before_changes_no_budget():
    assert calibration.slowdown([reading(4.0, 4.1), reading(2.0, 2.2)]) == 1.0


def test_the_median_task_tells_the_slowdown():
    assert calibration.slowdown([reading(12.0, 4.0), reading(4.0, 4.0), reading(90.0, 3.0)]) == 3.0


def test_no_budget_grows_beyond_ten_times_what_gold_takes_now():
    """What the proof took is bound by nothing: in a dataset of others it may say less, for all verdicts to come."""
    told_too_little = replace(reading(4.0, 0.001), budget_seconds=60.0)
    assert calibration.slowdown([told_too_little]) == 1.0
    assert calibration.slowdown([replace(told_too_little, seconds=18.0)]) == 3.0
    assert calibration.warnings([told_too_little])


def test_short_tests_tell_nothing():
    assert calibration.slowdown([reading(0.45, 0.1)]) == 1.0


def test_nothing_measured_is_no_slowdown():
    assert calibration.slowdown([]) == 1.0


def test_a_slow_machine_is_told():
    assert calibration.warnings([reading(10.0, 4.0)]) == (
        "control: this machine runs gold 2.5 times slower than when the tasks were proved",
    )


def test_gold_that_fails_is_told():
    (told,) = calibration.warnings([reading(1.0, 1.0, resolved=False)])
    assert "gold no longer resolves tiny__calc-1" in told


def test_the_budget_grows_with_the_slowdown():
    assert calibration.slowed(tiny.task(), 2.5).instance.budgets.seconds == 50


def test_the_sample_is_the_same_each_time_and_only_of_timed_tasks():
    tasks = [timed_task(f"tiny__calc-{number}", 1.0) for number in range(9)]
    untimed = tiny.task(instance_id="tiny__calc-99")
    ids = [task.instance_id for task in (*tasks, untimed) if calibration.is_timed(task)]
    assert len(ids) == 9
    chosen = calibration.sample_ids(ids, 3)
    assert len(chosen) == 3
    assert chosen == calibration.sample_ids(reversed(ids), 3)

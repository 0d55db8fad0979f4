"""Threads: lazy, complete, and the first error ends the work."""

from __future__ import annotations

import pytest

from harness.sandbox.executors.local import LocalExecutor


def test_every_item_is_done_once():
    assert sorted(LocalExecutor(jobs=3).map(lambda x: x * 2, range(20), cancel=lambda: None)) == list(range(0, 40, 2))


def test_items_are_taken_only_when_a_thread_is_free():
    taken = []
    results = LocalExecutor(jobs=2).map(lambda x: x, (taken.append(x) or x for x in range(100)), cancel=lambda: None)
    next(results)
    results.close()
    assert len(taken) <= 4


def test_the_first_error_cancels_and_is_raised():
    cancelled = []
    with pytest.raises(ZeroDivisionError):
        list(LocalExecutor(jobs=2).map(lambda x: 1 // x, [1, 0, 1], cancel=lambda: cancelled.append(1)))
    assert cancelled == [1]

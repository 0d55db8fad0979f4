"""Budgets from what gold used when the task was proved."""

from __future__ import annotations

import pytest

from harness.core.instance import TestStatus
from miner.proof import ObservedRun, Proof, judge


def budgets(*, seconds=1.0, max_rss_kb=100_000):
    def run(state, status):
        return ObservedRun(state=state, number=0, statuses={"f.py::a": status}, seconds=seconds, max_rss_kb=max_rss_kb)

    proof = judge([run("before", TestStatus.FAILED), run("after", TestStatus.PASSED)], runs=1)
    assert isinstance(proof, Proof)
    return proof.budgets


@pytest.mark.parametrize(("gold", "allowed"), [(0.2, 60), (6.0, 60), (30.0, 300), (500.0, 1800)])
def test_time_is_a_multiple_of_golds_with_floor_and_ceiling(gold, allowed):
    assert budgets(seconds=gold).seconds == allowed


@pytest.mark.parametrize(("gold_mib", "allowed"), [(60, 2048), (700, 2800), (2040, 8160), (4000, 8192)])
def test_memory_is_a_multiple_of_golds_with_floor_and_ceiling(gold_mib, allowed):
    assert budgets(max_rss_kb=gold_mib * 1024).memory_mb == allowed

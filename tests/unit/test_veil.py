"""What a report on a sealed task tells: verdict and counts, and no figure that code under test could write with."""

from __future__ import annotations

import itertools

import pytest

from harness.core.instance import Outcome
from harness.dataset.seal.identity import Keys
from harness.runs.redaction import Redaction
from harness.runs.run_folder import InstanceReport
from harness.signals.model import (
    Compiles,
    Complexity,
    EslintLint,
    ImportedFile,
    Imports,
    Lint,
    Measure,
    Network,
    Runtime,
    Security,
    Signals,
    Writes,
)
from tests import tiny

VEIL = Redaction(recipients=("age1…",), keys=Keys(identities=()))


def signals(**parts) -> Signals:
    given = {
        "compiles": Compiles(), "imports": Imports(), "lint": Lint(), "eslint": EslintLint(), "semgrep": Measure(),
        "security": Security(), "complexity": Complexity(), "runtime": Runtime(), "network": Network(),
        "writes": Writes(),
    }  # fmt: skip
    return Signals(**{**given, **parts})


def covered(**fields) -> InstanceReport:
    report = InstanceReport(
        instance_id="tiny__calc-1", model_name_or_path="m", outcome=Outcome.UNRESOLVED, resolved=False, **fields
    )
    return VEIL.report(report, tiny.task())


def figures(report: InstanceReport) -> str:
    """All that a report says in numbers."""
    return report.model_dump_json(include={"timings", "max_rss_kb", "cpu_seconds", "signals"})


def chosen(number: int, ok: bool | None) -> InstanceReport:
    """A report whose every figure code under test has chosen, to write down a number."""
    measured = signals(
        imports=Imports(ok=ok, files=tuple(ImportedFile(path=f"{n}.py", status="fails") for n in range(number % 9))),
        runtime=Runtime(seconds=number / 7, seconds_ratio=number / 3, max_rss_kb=number * 977, memory_ratio=number / 5),
        network=Network(attempts=number, lookups=number * 3, loopback_packets=number * 7),
        writes=Writes(files=number % 3, bytes=number * 11, own_files=number * 13, more=number % 2 == 0, paths=("a",)),
    )
    steps = {"tests": number / 7, "prepare": number / 11, "apply": number / 13}
    return covered(timings=steps, max_rss_kb=number * 977, cpu_seconds=number / 17, signals=measured)


def test_all_figures_together_carry_less_than_a_byte():
    numbers = [0, *(3**power for power in range(16)), *range(1, 4000, 7)]

    said = {figures(chosen(number, ok)) for number, ok in itertools.product(numbers, (True, False, None))}

    assert 1 < len(said) < 256


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, 1.0), (1.0, 1.0), (1.1, 10.0), (99.9, 100.0), (5000.0, 100.0)])
def test_seconds_are_shown_in_steps_of_ten(seconds, shown):
    assert covered(timings={"tests": seconds, "prepare": 0.3}).timings == {"tests": shown}


def test_covering_twice_changes_nothing():
    once = chosen(4711, ok=True)

    assert VEIL.report(once, tiny.task()) == once

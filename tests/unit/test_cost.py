"""The arithmetic of docs/scale.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cost import Figures, evaluating, mining

PAGE = (Path(__file__).parents[2] / "docs/scale.md").read_text()


def test_the_page_has_the_figures_that_the_arithmetic_gives():
    mine, run = mining(Figures()), evaluating(Figures())
    for text in (
        f"{mine['candidates']:,.0f}",
        f"{mine['tasks']:,.0f}",
        f"{mine['core_hours']:,.0f}",
        f"{mine['hours']:,.0f} hours",
        f"{mine['api_hours']:,.1f} hours",
        f"{mine['usd']:,.0f} USD",
        f"{mine['disk_gb']:,.0f} GB",
        f"{mine['disk_alone_gb']:,.0f} GB",
        f"{run['core_hours']:,.0f}",
        f"{run['usd']:,.1f} USD",
        f"{run['disk_gb']:,.1f} GB",
    ):
        assert text in PAGE, text


@pytest.mark.parametrize("name", ["pulls", "candidate_share", "task_core_seconds", "core_hour_usd"])
def test_each_figure_of_a_mine_counts_in_its_price(name):
    more = Figures(**{name: 2 * getattr(Figures(), name)})
    assert mining(more)["usd"] > 1.5 * mining(Figures())["usd"]


def test_a_run_takes_as_long_as_its_slower_side():
    slow = Figures(driver_ms=10_000)
    assert evaluating(slow)["hours"] == evaluating(slow)["driver_hours"]
    assert evaluating(Figures())["hours"] > evaluating(Figures())["driver_hours"]

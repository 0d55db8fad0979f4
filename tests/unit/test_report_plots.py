"""The plot of cost against rate: what is not known is not in it, and said."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from harness.report import page
from harness.report.plots import Point, cost_against_score
from harness.stats import Interval
from tests.report_runs import make_rich, make_run


def _point(label="alpha", cost=1.0, rate=0.5):
    return Point(label=label, cost=cost, rate=rate, interval=Interval(low=0.25, high=0.75))


def _circles(svg):
    return [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)%" cy="([\d.]+)%"', svg)]


def test_a_point_stands_where_its_cost_and_rate_are():
    assert _circles(cost_against_score([_point(cost=1.0, rate=0.5), _point("beta", 2.0, 1.0)])) == [(50, 50), (100, 0)]


def test_the_interval_is_drawn():
    assert 'y1="75.00%" y2="25.00%"' in cost_against_score([_point()])


@pytest.mark.parametrize("cost", [0.0, 0.00037, 0.1, 3.0, 123_456.0])
def test_every_cost_is_inside_of_the_plot(cost):
    [(x, _)] = _circles(cost_against_score([_point(cost=cost)]))
    assert 0 <= x <= 100


def test_labels_do_not_stand_on_each_other():
    svg = cost_against_score([_point(f"model-{number}", 1.0, 0.5) for number in range(6)])
    heights = sorted(float(at) for at in re.findall(r'y="([\d.]+)%" dx="-?10"', svg))
    assert len(heights) == 6
    assert min(b - a for a, b in pairwise(heights)) >= 6


def test_a_label_is_text():
    assert "<b>" not in cost_against_score([_point("<b>alpha\u202e")])


def test_models_of_unknown_cost_are_named_and_not_drawn(tmp_path):
    dataset, run = make_rich(tmp_path, 6, {"alpha": 0.7, "beta": 0.3})
    html = page.render([run], dataset=dataset)
    assert len(_circles(html[html.index('class="scatter"') :])) == 1
    assert "Cost unknown, so not in the plot: alpha." in html


def test_without_any_cost_there_is_no_plot(tmp_path):
    html = page.render([make_run(tmp_path / "run", 2, {"alpha": 1})])
    assert 'class="scatter"' not in html
    assert "No prediction has a cost" in html

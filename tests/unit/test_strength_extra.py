"""Strength needs mutmut, which is an extra."""

from __future__ import annotations

import sys

import pytest

from miner.quality.strength.result import Bounds
from miner.quality.strength.run import CannotMeasureError, measure
from tests import tiny


def test_without_mutmut_the_extra_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "mutmut", None)

    with pytest.raises(CannotMeasureError, match=r"\[strength\]"):
        measure(tiny.task(tiny.NO_IMAGE), None, Bounds())

"""How much of what should not resolve a task its hidden tests catch. docs/quality.md, "Strength", has the rules."""

from miner.strength.gauge import Asked, Gauged, gauge, weakest_first
from miner.strength.measure import CannotMeasureError, measure
from miner.strength.result import Bounds, Strength

__all__ = ["Asked", "Bounds", "CannotMeasureError", "Gauged", "Strength", "gauge", "measure", "weakest_first"]

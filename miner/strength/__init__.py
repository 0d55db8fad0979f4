"""How much of what should not resolve a task its hidden tests catch. docs/quality.md, "Strength", has the rules."""

from miner.strength.result import Bounds, Strength
from miner.strength.run import CannotMeasureError, measure
from miner.strength.work import Asked, Gauged, gauge, weakest_first

__all__ = ["Asked", "Bounds", "CannotMeasureError", "Gauged", "Strength", "gauge", "measure", "weakest_first"]

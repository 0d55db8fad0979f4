"""A model that repairs environments which no rung of the ladder gave: asked for a recipe, never for tests."""

from miner.repair.run import Repairer

__all__ = ["Repairer"]

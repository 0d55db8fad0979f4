"""From a recipe to an image pinned by digest."""

from miner.image.environment import Attempt, BuiltImage, build_environment

__all__ = ["Attempt", "BuiltImage", "build_environment"]

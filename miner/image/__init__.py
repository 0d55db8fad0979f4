"""From a recipe to an image pinned by digest."""

from miner.image.built import Attempt, BuiltImage, Collected
from miner.image.environment import build_environment

__all__ = ["Attempt", "BuiltImage", "Collected", "build_environment"]

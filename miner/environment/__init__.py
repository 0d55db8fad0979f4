"""What environment a repository's tests need: one small module per kind of evidence."""

from miner.environment.detect import DETECTORS, detect
from miner.environment.evidence import Detection, Detector, Evidence, Recipe, Tree

__all__ = ["DETECTORS", "Detection", "Detector", "Evidence", "Recipe", "Tree", "detect"]

"""The same calls to the fix and to a patch, outside of any test runner: a figure beside the verdict, never a part of it.

See docs/security.md, "Overfitting".
"""

from harness.differential.corpus import Call, Corpus
from harness.differential.replay import Replay, replayed

__all__ = ["Call", "Corpus", "Replay", "replayed"]

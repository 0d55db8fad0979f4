"""Signals beside a verdict: compiling, imports, lint, security, complexity, size, time, memory, network, files.

None of them changes a verdict. Each says whether it was measured, and if not, why.
"""

from harness.signals.model import SecurityFinding, Signals

__all__ = ["SecurityFinding", "Signals"]

"""Whether an image can give its tests a clock of their own, without starting it."""

from __future__ import annotations

from harness.sandbox import engine

LABEL = "dev.goldseam.clock"
"""On every image whose base layer has libfaketime; images made from it inherit the label, also over a registry."""


def can_fake(image: str) -> bool:
    """Whether tests in this image can run on another date than today's; False where the engine does not hold it.

    Images made before there were clocks, and images of other makers, can't.

    Raises:
        InfrastructureError: the engine failed.

    """
    facts = engine.inspect_image(image)
    return facts is not None and bool(facts.labels.get(LABEL))

"""How much disk images take, layers that they share counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


def together(images: Sequence[str]) -> tuple[int, int]:
    """Bytes of all layers of these images, and how many of the images the engine holds.

    Layers are told apart as far as the engine knows an image's parents: those of pulled images are counted with each.

    Raises:
        InfrastructureError: the engine failed.

    """
    sizes: dict[str, int] = {}
    total = 0
    for image in images:
        facts = engine.inspect_image(image)
        total += facts is not None
        while facts is not None and facts.id not in sizes:
            parent = engine.inspect_image(facts.parent) if facts.parent else None
            sizes[facts.id] = facts.size - (parent.size if parent else 0)
            facts = parent
    return sum(sizes.values()), total

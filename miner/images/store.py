"""The images of ours that the engine holds: what they are, what they take, which may go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_SHARED = ("debian", "base", "tools", "tools-with", "program")
"""Kinds that are kept by `gc`: future builds start from them, and runs ask the tools."""


@dataclass(frozen=True, kw_only=True)
class StoredImage:
    """One image of ours."""

    id: str
    """`sha256:…`"""
    kind: str
    """`debian`, `base`, `python`, `system`, `deps`, `task`, `tools` or `tools-with`."""
    tags: tuple[str, ...]
    parent: str | None
    layer_bytes: int
    """What it adds to its parent; all of it where the parent is not known."""
    repo: str = ""
    base_commit: str = ""


def images() -> tuple[StoredImage, ...]:
    """All images of ours, those that others are built on first.

    Raises:
        InfrastructureError: the engine failed.

    """
    client: Any = engine.connect()
    try:
        ids = set(client.images(quiet=True, filters={"label": [engine.LABEL_KIND]}))
    except engine.ConnectionLost as error:
        raise engine.engine_failed("listing images", error) from error
    stored_images = [image for image_id in ids if (image := _stored(client, image_id)) is not None]
    order = {"debian": 0, "base": 1, "tools": 2, "tools-with": 3, "python": 4, "system": 5, "deps": 6, "task": 7}
    return tuple(sorted(stored_images, key=lambda image: (order.get(image.kind, 9), image.repo, image.tags)))


def _stored(client: Any, image: str) -> StoredImage | None:
    facts = engine.inspect_image(image)
    if facts is None:  # removed since it was listed
        return None
    parent = engine.inspect_image(facts.parent) if facts.parent else None
    return StoredImage(
        id=facts.id,
        kind=facts.labels.get(engine.LABEL_KIND, ""),
        tags=tuple(client.inspect_image(image).get("RepoTags") or ()),
        parent=facts.parent,
        layer_bytes=facts.size - (parent.size if parent else 0),
        repo=facts.labels.get("dev.goldseam.repo", ""),
        base_commit=facts.labels.get("dev.goldseam.base-commit", ""),
    )


def unneeded(stored: Iterable[StoredImage], needed: Collection[str]) -> tuple[StoredImage, ...]:
    """The images that no needed one is or is built on, in an order in which they can be removed. Pure.

    `needed` are image ids or digests as tasks name them. Bases, tools and goldseam's own image are always kept.
    """
    by_id = {image.id: image for image in stored}
    ids = {image.id for image in by_id.values() if image.kind in _SHARED or image.id in needed}
    for image_id in list(ids):
        parent = by_id[image_id].parent
        while parent in by_id:
            ids.add(parent)
            parent = by_id[parent].parent
    depth = {image.id: _depth(image, by_id) for image in by_id.values()}
    stored_images = [image for image in by_id.values() if image.id not in ids]
    return tuple(sorted(stored_images, key=lambda image: depth[image.id], reverse=True))


def _depth(image: StoredImage, by_id: dict[str, StoredImage]) -> int:
    depth = 0
    while image.parent in by_id:
        image = by_id[image.parent]
        depth += 1
    return depth


def remove(image: StoredImage) -> bool:
    """Remove an image; False where a container still uses it.

    Raises:
        InfrastructureError: the engine failed otherwise.

    """
    client: Any = engine.connect()
    try:
        for name in image.tags or (image.id,):
            client.remove_image(name)
    except engine.NotFoundError:
        return True
    except engine.ApiError as error:
        if error.is_client_error():
            return False
        raise engine.engine_failed(f"removing {image.id[:19]}", error) from error
    except engine.ConnectionLost as error:
        raise engine.engine_failed(f"removing {image.id[:19]}", error) from error
    return True

"""The images of services, found under the names that CI files or the settings have for them, and named by digest."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from harness.sandbox.executors.base import Place
from harness.sandbox.images import service_image
from harness.sandbox.images.pulls import Puller
from harness.sandbox.images.service_image import ServiceImage
from miner.images.layer_registry import LayerRegistry

_REGISTRY_SECONDS = 10.0
"""How long a registry may be away; a mine goes on without a service that can't be had."""
ANY = "*"
"""In the settings' map: every image that no other line names."""


@dataclass(frozen=True, kw_only=True)
class Unavailable:
    """A service that can't be run."""

    why: str


def mapped(image: str, settings: bool | Mapping[str, str]) -> str:
    """The name under which an image is to be had, by `[images] services`; empty where it is not to be run. Pure.

    An image is looked up as it stands, without its tag, and by the last part of its name; `{name}` and `{tag}` stand
    for these in what it is mapped to.
    """
    if isinstance(settings, bool):
        return image if settings else ""
    path, _, digest = image.partition("@")
    head, colon, tail = path.rpartition(":")
    name, tag = (head, tail) if colon and "/" not in tail else (path, "")
    for key in (image, name, name.rpartition("/")[2], ANY):
        if key in settings:
            return settings[key].replace("{name}", name).replace("{tag}", tag or "latest")
    return f"{name}@{digest}" if digest else image


def pin(name: str, note: Callable[[str], None]) -> ServiceImage | Unavailable:
    """Have the engine hold an image, and say what it is by digest.

    Raises:
        InfrastructureError: the engine has gone.

    """
    full = name if "@" in name or re.search(r":[\w.-]+$", name) else f"{name}:latest"
    try:
        if engine.image_id(full) is None:
            Puller(note, patience=_REGISTRY_SECONDS).fetch(full, cancelled=threading.Event(), tags=True)
        return service_image.look(full)
    except InfrastructureError as error:
        if not engine.answers():
            raise
        return Unavailable(why=error.message)


def pin_there(request: tuple[str, str | None], place: Place) -> ServiceImage | Unavailable:
    """The same on a node, under a name that others can pull: an errand's work. With it goes our repository, if any."""
    name, repository = request
    image = pin(name, place.note)
    if isinstance(image, Unavailable) or "@" in image.name or repository is None:
        return image
    return replace(image, name=give(image.name, LayerRegistry(repository=repository, note=place.note)))


def give(image: str, shelf: LayerRegistry) -> str:
    """Push a service's image, which the engine knows by its id, to our repository; `repository@sha256:…`.

    Raises:
        InfrastructureError: the engine or the registry failed.

    """
    tag = f"goldseam/service:{image.rpartition(':')[2][:16]}"
    engine.tag_image(image, tag)
    return shelf.give(tag)

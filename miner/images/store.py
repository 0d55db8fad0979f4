"""Images of ours in the engine: what they are and take, which may go, and their way to a registry and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.core.errors import InfrastructureError, InputError
from harness.core.grouping import grouped
from harness.core.instance import Instance, TaskState
from harness.dataset import content
from harness.dataset.folder import Dataset, write_instances
from harness.sandbox import engine
from harness.sandbox.images.pulls import Puller
from miner.images.layer_registry import LayerRegistry
from miner.layers import build
from miner.layers.layer import REPOSITORY

_NO_TAG = "<none>:<none>"
_SHARED = ("debian", "base", "tools", "tools-with", "program")
"""Kinds that are kept by `gc`: future builds start from them, and runs ask the tools."""


@dataclass(frozen=True, kw_only=True)
class StoredImage:
    """One image of ours."""

    id: str
    """`sha256:…`"""
    kind: str
    """`debian`, `base`, `python`, a toolchain's (`go`, `jdk`…), `system`, `deps`, `task`, `tools` or `tools-with`."""
    tags: tuple[str, ...]
    parent: str | None
    layer_bytes: int
    """What it adds to its parent; all of it where the parent is not known."""
    repo: str = ""
    base_commit: str = ""
    version: str = ""
    """What a toolchain or an interpreter says that it is."""


def images() -> tuple[StoredImage, ...]:
    """All images of ours, those that others are built on first.

    Raises:
        InfrastructureError: the engine failed.

    """
    with engine.calling("listing images") as client:
        listed = {one["Id"]: one for one in client.images(filters={"label": [engine.LABEL_KIND]})}
    sizes = {image: one["Size"] for image, one in listed.items()}
    for parent in {one["ParentId"] for one in listed.values()} - sizes.keys() - {""}:
        facts = engine.inspect_image(parent)
        sizes[parent] = facts.size if facts else 0
    stored_images = [_stored(one, sizes.get(one["ParentId"], 0)) for one in listed.values()]
    order = {"debian": 0, "base": 1, "tools": 2, "tools-with": 3, "python": 4, "system": 5, "deps": 6, "task": 7}
    return tuple(sorted(stored_images, key=lambda image: (order.get(image.kind, 9), image.repo, image.tags)))


def versions() -> dict[str, list[str]]:
    """By kind of toolchain, which versions of it images of the engine have.

    Raises:
        InfrastructureError: the engine failed.

    """
    by_kind = grouped((image.kind, image.version) for image in images() if image.version)
    return {kind: sorted(set(found)) for kind, found in by_kind.items()}


def _stored(listed: Mapping[str, Any], below: int) -> StoredImage:
    labels = listed["Labels"]
    return StoredImage(
        id=listed["Id"],
        kind=labels[engine.LABEL_KIND],
        tags=tuple(tag for tag in listed["RepoTags"] or () if tag != _NO_TAG),
        parent=listed["ParentId"] or None,
        layer_bytes=listed["Size"] - below,
        repo=labels.get("dev.goldseam.repo", ""),
        base_commit=labels.get("dev.goldseam.base-commit", ""),
        version=str(build.read_facts(labels.get(build.LABEL_FACTS) or "{}").get(labels[engine.LABEL_KIND], "")),
    )


def unneeded(stored: Iterable[StoredImage], needed: Collection[str]) -> tuple[StoredImage, ...]:
    """The images that no needed one is or is built on, in an order in which they can be removed. Pure.

    `needed` are image ids or digests as tasks name them. Bases, tools and goldseam's own image are always kept.
    """
    by_id = {image.id: image for image in stored}
    ids = {image.id for image in by_id.values() if image.kind in _SHARED or image.id in needed}
    below = {image.id: tuple(_below(image, by_id)) for image in by_id.values()}
    ids |= {image_id for needed_id in ids for image_id in below[needed_id]}
    stored_images = [image for image in by_id.values() if image.id not in ids]
    return tuple(sorted(stored_images, key=lambda image: len(below[image.id]), reverse=True))


def _below(image: StoredImage, by_id: dict[str, StoredImage]) -> Iterator[str]:
    """What an image is built on, the nearest first."""
    while image.parent in by_id:
        image = by_id[image.parent]
        yield image.id


def remove(image: StoredImage) -> bool:
    """Remove an image; False where a container still uses it.

    Raises:
        InfrastructureError: the engine failed otherwise.

    """
    with engine.calling(f"removing {image.id[:19]}") as client:
        try:
            for name in image.tags or (image.id,):
                client.remove_image(name)
        except engine.NotFoundError:
            return True
        except engine.ApiError as error:
            if error.is_client_error():
                return False
            raise
    return True


@dataclass(frozen=True, kw_only=True)
class Transfers:
    """What came of pushing or pulling the images of a dataset's tasks, by instance id."""

    done: dict[str, str]
    """Image by task, as `repository@sha256:…`."""
    already: tuple[str, ...]
    """Tasks whose image was there."""
    failed: dict[str, str]
    """Why not, by task."""
    hint: str | None = None
    """What to do, where the first of these knows that."""


def push(dataset: Dataset, repository: str | None, note: Callable[[str], None]) -> Transfers:
    """Push the images that tasks name by the engine's id, and have the tasks name them by the registry's digest.

    A task is written as soon as its image is there, so that an interrupted push goes on.

    Raises:
        InputError: no repository is named, or no task has an image.
        InfrastructureError: the engine or the registry failed.

    """
    if repository is None:
        raise InputError(
            "no registry is named to push images to",
            hint="name a repository: [images] registry in goldseam.toml, or"
            " GOLDSEAM_IMAGES_REGISTRY=registry.example/team/goldseam",
        )
    shelf = LayerRegistry(repository=repository, note=note)
    by_task: dict[str, str] = {}
    already: list[str] = []
    failed: dict[str, str] = {}
    try:
        for instance in _with_images(dataset):
            local = [image for image in _images_of(instance) if "@" not in image]
            tags = {image: _tag(image) for image in local}
            lacking = [image for image, tag in tags.items() if tag is None]
            if not local:
                already.append(instance.instance_id)
            elif lacking:
                failed[instance.instance_id] = f"the engine has no image {lacking[0]}"
            else:
                pushed = {image: shelf.give(tag) for image, tag in tags.items() if tag}
                by_task[instance.instance_id] = pushed.get(str(instance.image), str(instance.image))
                _rename(dataset, instance, pushed)
    finally:
        content.settle(dataset)
    return Transfers(done=by_task, already=tuple(already), failed=failed)


def pull(dataset: Dataset, note: Callable[[str], None]) -> Transfers:
    """Have the engine hold the images of a dataset's tasks.

    Raises:
        InputError: no task has an image.
        InfrastructureError: the engine failed.

    """
    puller = Puller(note)
    by_task: dict[str, str] = {}
    already: list[str] = []
    failed: dict[str, str] = {}
    hint: str | None = None
    for instance in _with_images(dataset):
        absent = [image for image in _images_of(instance) if not engine.image_id(image)]
        if not absent:
            already.append(instance.instance_id)
            continue
        try:
            for image in absent:
                puller.fetch(image, cancelled=threading.Event())
            by_task[instance.instance_id] = str(instance.image)
        except InfrastructureError as error:
            failed[instance.instance_id] = error.message
            hint = hint or error.hint
    return Transfers(done=by_task, already=tuple(already), failed=failed, hint=hint)


def _with_images(dataset: Dataset) -> tuple[Instance, ...]:
    images = tuple(
        instance for instance in dataset.instances() if instance.image and instance.state is not TaskState.RETIRED
    )
    if not images:
        raise InputError(f"no task of {dataset.path} has an image", hint="`goldseam mine` builds them")
    return images


def _images_of(instance: Instance) -> tuple[str, ...]:
    """A task's image, and those of its services."""
    return (str(instance.image), *(service.image for service in instance.test.services))


def _tag(image: str) -> str | None:
    """The tag that our builder gave an image, or one for an image that has none; None where the engine lacks it."""
    facts = engine.inspect_image(image)
    if facts is None:
        return None
    tag_found = next((tag for tag in facts.tags if tag.startswith(f"{REPOSITORY}/")), None)
    if tag_found is None:
        tag_found = f"{REPOSITORY}/task:{image.rpartition(':')[2][:16]}"
        engine.tag_image(image, tag_found)
    return tag_found


def _rename(dataset: Dataset, instance: Instance, pushed: Mapping[str, str]) -> None:
    """Have a task name its images otherwise, unless somebody changed that meanwhile."""
    with content.locked(dataset):
        now = dataset.instance(instance.instance_id)
        if _images_of(now) == _images_of(instance):
            services = tuple(
                replace(service, image=pushed.get(service.image, service.image)) for service in now.test.services
            )
            image = pushed.get(str(now.image), now.image)
            renamed = replace(now, image=image, test=replace(now.test, services=services))
            write_instances(dataset, (renamed,))

"""The images of a dataset between engines and a registry: pushed from where it was mined, pulled where it is wanted."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import TaskState
from harness.dataset import content
from harness.dataset.folder import write_instances
from harness.sandbox import engine
from harness.sandbox.images.pulls import Puller
from miner.images.layer_registry import LayerRegistry
from miner.layers.layer import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.core.instance import Instance
    from harness.dataset.folder import Dataset


@dataclass(frozen=True, kw_only=True)
class Transfers:
    """What came of pushing or pulling the images of a dataset's tasks, by instance id."""

    done: dict[str, str]
    """Image by task, as `repository@sha256:…`."""
    already: tuple[str, ...]
    """Tasks whose image was there."""
    failed: dict[str, str]
    """Why not, by task."""


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
    return Transfers(done=by_task, already=tuple(already), failed=failed)


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
    tags = engine.image_tags(image)
    if tags is None:
        return None
    tag_found = next((tag for tag in tags if tag.startswith(f"{REPOSITORY}/")), None)
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

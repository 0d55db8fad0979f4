"""Toolchains of languages as layers on the base, ahead of the mines that need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError, InputError
from miner.images.task_image import open_workshop
from miner.languages import toolchains
from miner.languages.building import installed
from miner.layers import base, build
from miner.layers.build import BuiltLayer

_LOG = "toolchains"


def ensure(
    wishes: Sequence[str], settings: ImageSettings, progress: Callable[[str], None]
) -> list[tuple[str, BuiltLayer]]:
    """The layers of these toolchains, such as `go` or `jdk=21`, each with its name and version; built if need be.

    Raises:
        InputError: there is no such toolchain, or not of that version.
        InfrastructureError: no base image or toolchain can be had, or the engine failed.

    """
    known = {name: (toolchain, toolchain.layer) for name, toolchain in toolchains().items() if toolchain.layer}
    chosen = []
    for wish in wishes:
        name, _, version = wish.partition("=")
        if name not in known:
            raise InputError(f"there is no toolchain {name!r}", hint=f"name one of {', '.join(sorted(known))}")
        toolchain, layer_of = known[name]
        own = tuple(installed(name, settings))
        chosen.append((toolchain, toolchain.version(version, own), layer_of))
    log = settings.cache_dir / "logs" / f"{_LOG}.log"
    built = []
    with open_workshop(settings, _LOG, log, progress) as workshop:
        ground = base.ensure(workshop)
        for toolchain, version, layer_of in chosen:
            layer = layer_of(ground.image_id, version, settings)
            try:
                made = build.ensure(workshop.reaching(toolchain.hosts), layer)
            except build.StepFailedError as error:
                raise InfrastructureError(
                    f"{toolchain.name} {version}".rstrip() + f" can't be had: {error.detail[-500:]}",
                    hint=f"the log is {log}",
                ) from error
            built.append((f"{toolchain.name} {version}".rstrip(), made))
    return built

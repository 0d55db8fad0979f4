"""An image in the making, in whatever language: each step is on record, and the best that came of it is kept."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from harness.config.settings import ImageSettings
from harness.sandbox.images import platforms
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.built import Attempt, BuiltImage, Collected
from miner.layers import base, build, dockerfile, source
from miner.layers.build import BuiltLayer
from miner.layers.layer import SOURCE_NAME, Folder, Input, Layer
from miner.layers.runner import Ran, Workshop, read_result
from miner.layers.secrets import RUN_DIR
from miner.sources.change import Rejection, Stage

_DETAIL = 2000
_KEPT = 200

_remembering = threading.Lock()
_resolving: dict[str, threading.Lock] = {}
_resolved: OrderedDict[str, bytes | Ran] = OrderedDict()
"""The last locks of this process, or how they could not be made, by all that they are made from."""


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """How a lock is made of manifests: `commands` leave it as `lock` in a container's OUT_DIR."""

    image_id: str
    manifests: Input
    commands: tuple[str, ...]
    lock: str
    rung: str
    toolchain: str
    command: str
    """What a person would call."""


class Building:
    """All attempts at one image; `told_reason` finds the reason for a failed step in its output, or nothing."""

    def __init__(self, request: ImageRequest, told_reason: Callable[[str], str] = lambda _output: "") -> None:
        self.request = request
        self._told_reason = told_reason
        self._began = time.monotonic()
        self._attempts: list[Attempt] = []
        self._best: tuple[BuiltImage, Collected | None] | None = None

    def record(
        self, rung: str, toolchain: str, step: str, seconds: float, *, failure: str = "", command: str = ""
    ) -> None:
        """Keep one step; `toolchain` with its version, such as `node 20`."""
        self._attempts.append(
            Attempt(
                rung=rung,
                python=toolchain,
                step=step,
                ok=not failure,
                seconds=seconds,
                failure=failure[-_DETAIL:],
                command=command,
            )
        )

    def refused(self, error: build.StepFailedError, rung: str, toolchain: str, step: str, command: str) -> RefusedError:
        """A failed step, recorded."""
        said = error.ran.tail
        self.record(rung, toolchain, step, error.ran.seconds, failure=error.detail, command=command)
        reason = self._told_reason(said) or error.reason
        rejection = Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail=error.detail)
        return RefusedError(rejection, step=step, said=said)

    def lock_of_day(self, last: datetime, resolution: Callable[[datetime], Resolution]) -> bytes:
        """The lock as of the first day of a quarter, which many commits share, else as of the last day.

        Raises:
            RefusedError: it can't be made.
            InfrastructureError: the engine, a registry or the disk failed.

        """
        try:
            return self.lock(resolution(first_of_quarter(last)))
        except RefusedError:
            return self.lock(resolution(last))

    def lock(self, resolution: Resolution) -> bytes:
        """The lock that commands make of manifests; of the same ones they are run once in a process, whatever comes.

        Raises:
            RefusedError: they failed.
            InfrastructureError: the engine, a registry or the disk did.

        """
        workshop = self.request.workshop
        layer = Layer(
            kind="resolve", parent=resolution.image_id, commands=resolution.commands, inputs=(resolution.manifests,)
        )
        key = _key(workshop, layer)
        with _remembering:
            turn = _resolving.setdefault(key, threading.Lock())
        with turn:
            outcome, seconds = _resolved.get(key), 0.0
            if outcome is None:
                workshop.progress("resolving dependencies")
                with workshop.run(
                    layer.parent, layer.script(), kind=layer.kind, inputs=layer.inputs, foreign=True
                ) as ran:
                    seconds = ran.seconds
                    if not ran.ok:
                        build.raise_if_infrastructure(workshop, resolution.image_id, ran)
                    outcome = read_result(ran.out / resolution.lock) if ran.ok else ran
                _remember(key, outcome)
        if isinstance(outcome, Ran):
            failed = build.StepFailedError("resolve", replace(outcome, seconds=seconds), workshop.settings)
            raise self.refused(failed, resolution.rung, resolution.toolchain, "resolve", resolution.command)
        self.record(resolution.rung, resolution.toolchain, "resolve", seconds, command=resolution.command)
        return outcome

    def collects_all(self, image: BuiltImage, toolchain: str) -> bool:
        """Whether all tests are collected in an image, or that is not asked for; the best image is kept."""
        collected = None
        if self.request.collect is not None:
            self.request.workshop.progress(f"collecting tests on {toolchain}")
            collected = self.request.collect(image)
            failure = "" if collected.ok else collected.failure
            self.record(image.rung, toolchain, "collect", collected.seconds, failure=failure, command=collected.command)
        best = self._best
        if best is None or (collected and best[1] and _losses(collected) < _losses(best[1])):
            self._best = image, collected
        return collected is None or collected.ok

    @property
    def is_sound(self) -> bool:
        """Whether in the best image all tests are collected and none failed, or neither was asked for."""
        return self._best is not None and (self._best[1] is None or _losses(self._best[1]) == (0, 0))

    def over(
        self, versions: Iterable[int], called: Callable[[int], str], made: Callable[[int], BuiltImage]
    ) -> BuiltImage:
        """The image of the first toolchain in which all tests are collected, else the one that loses the fewest files.

        `called` names the toolchain of a version, of which there is one at least; `made` makes its image.

        Raises:
            RefusedError: no image can be built; it tells of the last attempt.
            InfrastructureError: the engine, a registry or the disk failed.

        """
        refused: list[RefusedError] = []
        for version in versions:
            try:
                image = made(version)
            except RefusedError as error:
                refused.append(error)
                continue
            if self.collects_all(image, called(version)):
                break
        if (best := self.best()) is None:
            raise refused[-1]
        return best

    def best(self) -> BuiltImage | None:
        """The image that lost the fewest files, with the record of all attempts."""
        if self._best is None:
            return None
        image, collected = self._best
        seconds = {**image.seconds, "total": time.monotonic() - self._began}
        return replace(image, attempts=tuple(self._attempts), seconds=seconds, way=collected.way if collected else 0)


class Stack:
    """The layers of one image, each on the one before, and what is on record with each."""

    def __init__(self, building: Building, ground: BuiltLayer, rung: str, toolchain: str) -> None:
        """On the base `ground`; `toolchain` with its version, such as `node 20`."""
        self.building, self.rung, self.toolchain = building, rung, toolchain
        self._recipes: list[Layer] = []
        self._built = [ground]

    @property
    def image_id(self) -> str:
        """The image so far, on which the next layer is."""
        return self._built[-1].image_id

    def add(self, layer: Layer, step: str, command: str) -> BuiltLayer:
        """One more layer, built unless it is there.

        Raises:
            RefusedError: the step failed.
            InfrastructureError: the engine, a registry or the disk did.

        """
        building = self.building
        try:
            built = build.ensure(building.request.workshop, layer)
        except build.StepFailedError as error:
            raise building.refused(error, self.rung, self.toolchain, step, command) from error
        building.record(self.rung, self.toolchain, step, built.seconds, command=command)
        self._recipes.append(layer)
        self._built.append(built)
        return built

    def image(self) -> BuiltImage:
        """The image of the base and what was made on it; what only its language knows is not in it."""
        workshop = self.building.request.workshop
        return image_of(workshop, self._recipes, self._built, self.rung, workshop.variables)


def image_of(
    workshop: Workshop, recipes: Iterable[Layer], built: Sequence[BuiltLayer], rung: str, variables: Mapping[str, str]
) -> BuiltImage:
    """The image of layers `built` from the base on, by these recipes on the base; what only a language knows lacks.

    `variables` are those that builds had.
    """
    layers = [base.layer(base.resolve(workshop.settings)), *recipes]
    return BuiltImage(
        image_id=built[-1].image_id,
        platform=built[-1].platform,
        dockerfile=dockerfile.render(base.describe(workshop.settings), layers, dict(variables), workshop.reached),
        locks={},
        inputs={
            file.stored_name: gzip.compress(file.path.read_bytes(), mtime=0)
            for layer in layers
            for file in layer.inputs
            if file.name != SOURCE_NAME
        },
        rung=rung,
        attempts=(),
        layers=tuple(layer.tag for layer in built),
        seconds={layer.kind: layer.seconds for layer in built},
        layer_bytes={layer.kind: layer.size for layer in built},
    )


def _key(workshop: Workshop, layer: Layer) -> str:
    """All that a lock is made from, and where: the same registry, and a cache that no other repository writes to."""
    parts = [
        layer.key,
        str(workshop.cache),
        sorted(workshop.secrets.exported().items()),
        workshop.reached,
        repr(workshop.allowed),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _remember(key: str, outcome: bytes | Ran) -> None:
    """Keep a lock, or that it can't be made, unless time, memory or a network ended it: it may be otherwise later."""
    if isinstance(outcome, Ran) and (
        outcome.timed_out or outcome.out_of_memory or outcome.disk_full or build.misses_network(outcome)
    ):
        return
    with _remembering:
        _resolved[key] = outcome
        while len(_resolved) > _KEPT:
            _resolving.pop(_resolved.popitem(last=False)[0], None)


def first_of_quarter(day: datetime) -> datetime:
    """The begin of the quarter that a day is in."""
    return day.replace(month=day.month - (day.month - 1) % 3, day=1, hour=0, minute=0, second=0, microsecond=0)


def _losses(collected: Collected) -> tuple[int, int]:
    return collected.lost, collected.failed


def tree_layer(
    parent: str,
    request: ImageRequest,
    *,
    programs: str,
    commands: tuple[str, ...],
    env: Mapping[str, str] | None = None,
    unversioned: tuple[str, ...] = (),
) -> Layer:
    """The last layer of an image: the tree as it is committed, what these commands make of it, and a copy for trials.

    `programs` is the first folder of its PATH, `env` has further variables, `unversioned` what git is to ignore.
    """
    return source.layer(
        parent,
        request.source(),
        repo=request.repo,
        commit=request.base_commit,
        programs=programs,
        env={name: value for name, value in (env or {}).items() if name != "PATH"},
        commands=(*source.committed(unversioned), *commands, *source.copied()),
    )


def installed(name: str, settings: ImageSettings) -> Mapping[str, Path]:
    """By version: what the settings name of a toolchain on this machine; nothing where images are for another one."""
    folders: Mapping[str, Path] = getattr(settings, f"{name}s")
    return folders if platforms.is_of_here(settings.platform) else {}


def own_folder(name: str, version: str, settings: ImageSettings, *known_by: str) -> Folder | None:
    """What the settings name of a toolchain's version, known by what these files of it hold; None where that is not."""
    path = installed(name, settings).get(version)
    if path is None:
        return None
    digest = hashlib.sha256(b"".join((path / file).read_bytes() for file in known_by)).hexdigest()
    return Folder(path=path, target=f"{RUN_DIR}/{name}", key=digest, context=f"{name}-{version}")


def refusal(reason: str, detail: str) -> RefusedError:
    """No image can be made: a stable word, and a sentence."""
    return RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail=detail))


def reason_in(failures: Iterable[tuple[str, str]], output: str) -> str:
    """The first reason whose pattern a tool's words match; empty where they match none."""
    return next((reason for reason, form in failures if re.search(form, output)), "")

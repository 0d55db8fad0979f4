"""Where a task's image is built, and asked what only an engine can tell: on this machine, or on a node of a cluster.

What travels to a node is an order: a commit's files as a compressed tar, and values. Cache folder, certificates and
interpreters are the node's own, and so is the log-in to the registry. An image that has to be pulled by other nodes is
pushed by the one that built it, and goes by its digest from then on.
"""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Protocol

from pydantic import ValidationError

from harness.checks.hygiene import Leak, Secrets
from harness.checks.image_search import inspect_image
from harness.config.settings import ImageSettings
from harness.core import files
from harness.core.errors import InputError
from harness.sandbox import engine
from harness.sandbox.executors.admission import Needs
from harness.sandbox.executors.base import Errand, Executor, Place
from harness.sandbox.images.pulls import Puller
from harness.sandbox.images.service_image import ServiceImage
from harness.sandbox.job import Sandbox
from miner.evidence.tree import Tree
from miner.images import service_images
from miner.images.layer_registry import LayerRegistry
from miner.images.service_images import Unavailable
from miner.images.task_image import Order, build_environment, open_workshop
from miner.languages.built import BuiltImage, Repairing
from miner.layers import base, secrets
from miner.sources.change import Rejection

_CPUS = 1.0
_INSPECT_MB = 512


class Images(Protocol):
    """The engine, or the engines, that task images are built on."""

    def build(
        self,
        order: Order,
        tree: Tree,
        tar: Callable[[], IO[bytes]],
        *,
        sandbox: Sandbox,
        log: Path,
        progress: Callable[[str], None],
        repairing: Repairing | None = None,
    ) -> BuiltImage | Rejection:
        """Build a task's image; see `build_environment`. `sandbox` is where its tests will run."""

    def cancel(self) -> None:
        """End builds that are under way on this machine soon, and refuse new ones; an executor ends those of others."""

    def can_fake(self, image: str) -> bool:
        """Whether tests in an image can have a clock of their own; see `engine.can_fake_clock`."""

    def inspect(self, image: str, secrets: Secrets) -> tuple[Leak, ...]:
        """What an image gives away; see `imagecheck.inspect_image`."""

    def service(self, name: str, progress: Callable[[str], None]) -> ServiceImage | Unavailable:
        """The image of a service, by digest; see `service_images.pin`."""


def images_of(executor: Executor, settings: ImageSettings) -> Images:
    """Where an executor's images are built; to be asked while its sandbox is open.

    Raises:
        InputError: there are several engines and no registry over which one could pull what another one built.

    """
    if executor.is_here:
        return HereImages(settings=settings)
    engines = executor.engines()
    if settings.registry is None and engines != 1:
        engines_there = (
            f"the cluster has {engines} container engines" if engines else "the cluster has no container engine yet"
        )
        raise InputError(
            f"{engines_there}; images that are built on one get to the others over a registry, and none is named",
            hint="name a repository that every node can push to and pull from: [images] registry in goldseam.toml, or"
            " GOLDSEAM_IMAGES_REGISTRY=registry.example/team/goldseam",
        )
    return ClusterImages(executor=executor, settings=settings)


@dataclass(frozen=True, kw_only=True)
class HereImages(Images):
    """The engine of this machine."""

    settings: ImageSettings
    _interrupted: threading.Event = field(default_factory=threading.Event, init=False)

    def build(
        self,
        order: Order,
        tree: Tree,
        tar: Callable[[], IO[bytes]],
        *,
        sandbox: Sandbox,
        log: Path,
        progress: Callable[[str], None],
        repairing: Repairing | None = None,
    ) -> BuiltImage | Rejection:
        return build_environment(
            order, tree, tar,
            sandbox=sandbox, log=log, progress=progress, settings=self.settings, repairing=repairing,
            interrupted=self._interrupted,
        )  # fmt: skip

    def cancel(self) -> None:
        self._interrupted.set()

    def can_fake(self, image: str) -> bool:
        return engine.can_fake_clock(image)

    def inspect(self, image: str, secrets: Secrets) -> tuple[Leak, ...]:
        return inspect_image(image, secrets, cache=self.settings.cache_dir / "layers")

    def service(self, name: str, progress: Callable[[str], None]) -> ServiceImage | Unavailable:
        return service_images.pin(name, progress)


@dataclass(frozen=True, kw_only=True)
class ClusterImages(Images):
    """The engines of a cluster's nodes. Safe to use from several threads."""

    executor: Executor
    settings: ImageSettings
    _clocks: dict[str, bool] = field(default_factory=dict, init=False)
    """Whether an image that was built can give a clock."""
    _ground: list[str] = field(default_factory=list, init=False)
    """The base, once the registry has it."""
    _first: threading.Lock = field(default_factory=threading.Lock, init=False)

    def build(
        self,
        order: Order,
        tree: Tree,  # noqa: ARG002 - the node reads the tar
        tar: Callable[[], IO[bytes]],
        *,
        sandbox: Sandbox,  # noqa: ARG002 - the node has its own
        log: Path,
        progress: Callable[[str], None],
        repairing: Repairing | None = None,  # noqa: ARG002 - no key travels; the command line refuses it
    ) -> BuiltImage | Rejection:
        self._lay_ground(progress)
        progress("building its image on a node")
        with tar() as stream:
            packed = _Packed(order=order, source=zlib.compress(stream.read(), 1), bench=self._bench())
        errand = Errand(work=_build_there, item=packed, needs=self._needs())
        build_result: _BuildResult = self.executor.do(errand, note=progress, holds=lambda result: result.image)
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(build_result.log)
        self._clocks[build_result.image] = build_result.clock
        return build_result.built

    def cancel(self) -> None:
        """Nothing: the executor cancels its errands."""

    def can_fake(self, image: str) -> bool:
        return self._clocks.get(image, False)

    def inspect(self, image: str, secrets: Secrets) -> tuple[Leak, ...]:
        needs = Needs(cpus=_CPUS, memory_mb=_INSPECT_MB)
        errand = Errand(work=_inspect_there, item=(image, secrets), needs=needs, image=image)
        leaks: tuple[Leak, ...] = self.executor.do(errand, note=lambda _text: None, holds=lambda _: image)
        return leaks

    def service(self, name: str, progress: Callable[[str], None]) -> ServiceImage | Unavailable:
        needs = Needs(cpus=_CPUS, memory_mb=_INSPECT_MB)
        errand = Errand(work=service_images.pin_there, item=(name, self.settings.registry), needs=needs)
        image: ServiceImage | Unavailable = self.executor.do(errand, note=progress)
        return image

    def _lay_ground(self, progress: Callable[[str], None]) -> None:
        """Have one node make the base that all start from, before several make one each that no other can use."""
        if self.settings.registry is None:
            return
        with self._first:
            if not self._ground:
                errand = Errand(work=_lay_there, item=self._bench(), needs=self._needs())
                self._ground.append(self.executor.do(errand, note=progress))

    def _needs(self) -> Needs:
        return Needs(cpus=_CPUS, memory_mb=self.settings.build_memory_mb)

    def _bench(self) -> _Bench:
        return _Bench(settings=self.settings.model_dump(mode="json"), variables=dict(secrets.collect().variables))


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """How a node builds."""

    settings: Mapping[str, object]
    """`[images]` as the driver has it."""
    variables: Mapping[str, str]
    """The driver's index and proxies, for where the node names none."""

    def local_settings(self) -> ImageSettings:
        """The settings as they hold on this node: the cache is a machine's own.

        Raises:
            InputError: an interpreter that is named is not here.

        """
        cache = str(files.cache_dir())
        try:
            return ImageSettings.model_validate({**self.settings, "cache_dir": cache})
        except ValidationError as error:
            problems = "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
            raise InputError(
                f"a node of the cluster can't build images with these settings: {problems}",
                hint="what [images] names has to be on every node, at the same place",
            ) from error

    @contextlib.contextmanager
    def variables_set(self) -> Iterator[None]:
        """The driver's variables in this process's environment, while images are built; a node's own go first."""
        lacking = {name: value for name, value in self.variables.items() if name not in os.environ}
        os.environ.update(lacking)
        try:
            yield
        finally:
            for name in lacking:
                os.environ.pop(name, None)


@dataclass(frozen=True, kw_only=True)
class _Packed:
    """An order on its way to a node."""

    order: Order
    source: bytes = field(repr=False)
    """The tree's tar, compressed by zlib."""
    bench: _Bench


@dataclass(frozen=True, kw_only=True)
class _BuildResult:
    """What came of an order."""

    built: BuiltImage | Rejection
    log: bytes = field(repr=False)
    clock: bool = False

    @property
    def image(self) -> str:
        """What it is called from now on; empty where there is none."""
        return "" if isinstance(self.built, Rejection) else self.built.image_id


def _lay_there(bench: _Bench, place: Place) -> str:
    """The base's name in the registry."""
    settings = bench.local_settings()
    assert settings.registry is not None  # noqa: S101 - nobody is asked to otherwise
    shelf = LayerRegistry(repository=settings.registry, note=place.note)
    with bench.variables_set(), tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        with open_workshop(settings, "", Path(folder, "log"), place.note, shelf=shelf) as workshop:
            ground = base.ensure(workshop)
        return shelf.give(ground.tag)


def _build_there(packed: _Packed, place: Place) -> _BuildResult:
    settings = packed.bench.local_settings()
    shelf = LayerRegistry(repository=settings.registry, note=place.note) if settings.registry else None
    source = zlib.decompress(packed.source)
    with packed.bench.variables_set(), tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        log = Path(folder, "log")
        built = build_environment(
            packed.order, TarTree(source), lambda: io.BytesIO(source),
            sandbox=place.sandbox, log=log, progress=place.note, settings=settings, shelf=shelf,
        )  # fmt: skip
        output = log.read_bytes() if log.exists() else b""
    if isinstance(built, Rejection):
        return _BuildResult(built=built, log=output)
    clock = engine.can_fake_clock(built.image_id)
    if shelf is not None:
        names = [shelf.give(tag) for tag in built.layers]
        built = replace(built, image_id=names[-1])
    return _BuildResult(built=built, log=output, clock=clock)


def _inspect_there(request: tuple[str, Secrets], place: Place) -> tuple[Leak, ...]:
    image, secrets_wanted = request
    if engine.image_id(image) is None:
        Puller(place.note).fetch(image, cancelled=threading.Event())
    return inspect_image(image, secrets_wanted, cache=files.cache_dir() / "layers")


class TarTree:
    """A commit's files, read from the tar that its image is built from."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as archive:
            self._members = {member.name: member for member in archive if member.isreg() or member.issym()}

    def read(self, path: str) -> bytes | None:
        """A file's bytes; of a link where it points to, as git keeps it."""
        member = self._members.get(path)
        if member is None:
            return None
        if member.issym():
            return member.linkname.encode("utf-8", "surrogateescape")
        return self._data[member.offset_data : member.offset_data + member.size]

    def files(self) -> tuple[str, ...]:
        """Every path, in git's order."""
        return tuple(sorted(self._members, key=lambda path: path.encode("utf-8", "surrogateescape")))

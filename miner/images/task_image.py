"""From a tree at base_commit to an image pinned by digest."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Event
from typing import IO

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.sandbox import engine, owners
from harness.sandbox.ahead import Ahead
from harness.sandbox.job import Sandbox
from miner.evidence.tree import Remembered, Tree
from miner.images import downloads
from miner.images.layer_registry import LayerRegistry
from miner.languages import LANGUAGES
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.built import BuildSubject, BuiltImage, Collect, Collected, Repairing
from miner.layers import egress, secrets
from miner.layers.layer import SOURCE_NAME, Input
from miner.layers.prestarted_containers import PrestartedContainer, remove
from miner.layers.runner import Workshop
from miner.sources.change import Rejection

Collector = Callable[[BuiltImage, Sandbox], Collected]
"""Tries to collect a candidate's tests in an image. A value, since it may travel."""


@dataclass(frozen=True, kw_only=True)
class Order(BuildSubject):
    """What an image is built from, beside the tree."""

    language: str = "python"
    collect: Collector | None = None
    """Tries to collect the change's tests in an image: the first in which it can wins; else the first that is built."""

    def collecting(self, sandbox: Sandbox | None) -> Collect | None:
        """Its collector, in the sandbox where the tests will run; without one, none."""
        collect = self.collect
        return None if collect is None or sandbox is None else lambda image: collect(image, sandbox)


def build_environment(
    order: Order,
    tree: Tree,
    tar: Callable[[], IO[bytes]],
    *,
    settings: ImageSettings,
    log: Path,
    progress: Callable[[str], None],
    sandbox: Sandbox | None = None,
    shelf: LayerRegistry | None = None,
    repairing: Repairing | None = None,
    interrupted: Event | None = None,
) -> BuiltImage | Rejection:
    """Find out what the tests of a tree need, and build the image they run in.

    `tar` opens the tree as an uncompressed tar stream (byte-exact: without export-subst and export-ignore). The whole
    build goes to `log`, credentials masked. `sandbox` is where its tests will run. `repairing` is asked where no recipe
    does. `interrupted`, once set, ends it.

    Raises:
        InfrastructureError: the engine, a registry, the package index or the disk failed.
        InputError: a setting is wrong.
        InterruptedRunError: it was interrupted.

    """
    with open_workshop(settings, order.repo, log, progress, shelf=shelf, interrupted=interrupted) as opened:
        request = ImageRequest(
            **{subject.name: getattr(order, subject.name) for subject in fields(BuildSubject)},
            workshop=opened,
            tree=Remembered(tree),
            source=lambda: _save(tar, opened.folder / SOURCE_NAME),
            collect=order.collecting(sandbox),
            repairing=repairing,
        )
        try:
            return LANGUAGES[order.language].build(request)
        except RefusedError as refused:
            opened.write_log(f"--- given up: {refused.rejection.reason}\n")
            return refused.rejection


@contextmanager
def open_workshop(
    settings: ImageSettings,
    repo: str,
    log: Path,
    progress: Callable[[str], None],
    *,
    shelf: LayerRegistry | None = None,
    interrupted: Event | None = None,
) -> Iterator[Workshop]:
    """A scratch folder that is gone afterwards; those of killed processes go as well."""
    log.parent.mkdir(parents=True, exist_ok=True)
    builds = settings.cache_dir / "builds"
    try:
        builds.mkdir(parents=True, exist_ok=True)
        cache = downloads.folder_of(repo, settings.cache_dir)
        for left in builds.iterdir():
            if owners.is_left(left.name):
                shutil.rmtree(left, ignore_errors=True)
        folder = builds / owners.mark()
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise InfrastructureError(
            f"the cache folder {settings.cache_dir} can't be used: {error.strerror}", hint="set GOLDSEAM_CACHE_DIR"
        ) from error
    try:
        build_secrets = secrets.collect().with_proxies(engine.configured_proxies())
        is_open = settings.egress == "open"
        ahead: Ahead[PrestartedContainer] = Ahead()
        with closing(ahead), ThreadPoolExecutor(1) as sweeper:  # removing a large container takes a second
            yield Workshop(
                settings=settings,
                secrets=build_secrets,
                allowed=None if is_open else egress.allowed(build_secrets, further=settings.allow_hosts),
                folder=folder,
                log=log,
                progress=progress,
                cache=cache,
                shelf=shelf,
                discard=lambda container: sweeper.submit(remove, container),
                ahead=ahead,
                interrupted=interrupted or Event(),
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _save(tar: Callable[[], IO[bytes]], path: Path) -> Input:
    digest = hashlib.sha256()
    with tar() as stream, path.open("wb") as file:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            file.write(chunk)
    return Input(name=path.name, path=path, sha256=digest.hexdigest())

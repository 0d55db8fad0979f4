"""Interpreters in images: the base's own, one copied from a configured folder, one that uv downloads."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.config.settings import ImageSettings
from harness.core.errors import InputError
from miner.languages.building import installed
from miner.languages.python.recipes.interpreter import RELEASED
from miner.layers import build
from miner.layers.build import BuiltLayer
from miner.layers.layer import FACTS_PATH, Folder, Layer, readable
from miner.layers.runner import Workshop
from miner.layers.secrets import RUN_DIR

OLDEST_DOWNLOAD = (3, 8)
"""The oldest CPython that the pinned uv can install."""
_HOME = "/opt/goldseam/python"
_MOUNTED = f"{RUN_DIR}/python"
_NOT_COPIED = (
    "__pycache__", "./lib/python*/site-packages/*", "./lib/python*/test", "./lib/python*/config-*", "./lib/*.a",
    "./lib/pkgconfig",
)  # fmt: skip
_CHECK = "import ctypes, json, platform, ssl, sqlite3, zlib; print(json.dumps({'python': platform.python_version()}))"

_guard = threading.Lock()
_unavailable: dict[str, str] = {}


class Origin(StrEnum):
    """Where an interpreter comes from."""

    BASE = "base"
    CONFIGURED = "configured"
    DOWNLOAD = "download"


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """An interpreter in an image."""

    minor: str
    path: str
    """Of the executable, inside the image."""
    layer: BuiltLayer
    recipe: Layer | None
    """How its layer is built; None for the base's own."""


def available_pythons(settings: ImageSettings, base_python: str) -> dict[str, Origin]:
    """The minor versions that could be used, and where each would come from; the nearest source wins."""
    downloads = (
        [minor for minor in RELEASED if tuple(map(int, minor.split("."))) >= OLDEST_DOWNLOAD]
        if settings.python_downloads
        else []
    )
    origins = {minor: Origin.DOWNLOAD for minor in downloads if minor not in _unavailable}
    origins |= dict.fromkeys(installed("python", settings), Origin.CONFIGURED)
    if base_python in RELEASED:
        origins[base_python] = Origin.BASE
    return origins


def ensure(workshop: Workshop, base: BuiltLayer, minor: str, origin: Origin) -> Interpreter | None:
    """The image with an interpreter; None where uv can't download it here, which is remembered.

    Raises:
        InputError: a configured interpreter does not run in the image.
        InfrastructureError: the engine failed.

    """
    if origin is Origin.BASE:
        return Interpreter(minor=minor, path=f"/usr/bin/python{minor}", layer=base, recipe=None)
    path = f"{_HOME}/{minor}/bin/python{minor}"
    if origin is Origin.CONFIGURED:
        recipe = _copied(base.image_id, minor, workshop.settings.pythons[minor])
    else:
        recipe = _downloaded(base.image_id, minor)
        with _guard:
            if minor in _unavailable:
                return None
    try:
        built = build.ensure(workshop, recipe)
    except build.StepFailedError as error:
        if origin is Origin.CONFIGURED:
            raise InputError(
                f"the configured Python {minor} does not run in the base image: {error.detail[-300:]}",
                hint=f'correct "{minor}" under [images.pythons] in goldseam.toml',
            ) from error
        with _guard:
            # no interpreter of this minor, and where one download fails the others do as well
            _unavailable.update(dict.fromkeys(RELEASED, error.detail[-300:]))
        return None
    return Interpreter(minor=minor, path=path, layer=built, recipe=recipe)


def unavailable(minor: str) -> str | None:
    """Why uv could not download this version, if it was tried."""
    return _unavailable.get(minor)


def _copied(parent: str, minor: str, folder: Path) -> Layer:
    excluded = " ".join(f"--exclude='{pattern}'" for pattern in _NOT_COPIED)
    home = f"{_HOME}/{minor}"
    return Layer(
        kind="python",
        parent=parent,
        folders=(Folder(path=folder, target=_MOUNTED, key=_fingerprint(folder), context=f"python-{minor}"),),
        commands=(
            f"mkdir -p {home}/bin",
            f"tar -C {_MOUNTED} {excluded} -cf /tmp/python.tar ./lib ./include ./bin/python{minor}",
            f"tar -C {home} --no-same-owner -xf /tmp/python.tar",
            readable(_HOME),
            f"echo {home}/lib > /etc/ld.so.conf.d/goldseam-{minor}.conf",
            "ldconfig",
            f"{home}/bin/python{minor} -m compileall -q {home}/lib/python{minor} >/dev/null || echo 'not all compiled'",
            *_found_where_sought(f"{home}/bin/python{minor}"),
            f'{home}/bin/python{minor} -I -c "{_CHECK}" > {FACTS_PATH}',
        ),
    )


def _found_where_sought(python: str) -> tuple[str, ...]:
    """Links to headers and library from the place that a copied interpreter was built for: extensions look there."""
    home = f'"$({python} -I -c "import sys; print(sys.base_prefix)")"'
    include, library = (
        f'"$({python} -I -c "import sysconfig; print(sysconfig.get_config_var(\'{name}\'))")"'
        for name in ("INCLUDEPY", "LIBDIR")
    )
    link = 'if [ ! -e "$sought" ]; then mkdir -p "$(dirname "$sought")"; ln -s "$there" "$sought"; fi'
    return (
        f"home={home}",
        f"sought={include}",
        'there="$home/include/$(basename "$sought")"',
        link,
        f"sought={library}",
        'there="$home/lib"',
        link,
    )


def _downloaded(parent: str, minor: str) -> Layer:
    home = f"{_HOME}/{minor}"
    uv = "UV_PYTHON_DOWNLOADS=automatic UV_HTTP_RETRIES=1 /opt/goldseam/uv/bin/uv"
    return Layer(
        kind="python",
        parent=parent,
        commands=(
            f"{uv} python install --no-bin --install-dir {_HOME}/uv {minor}",
            f"ln -s {_HOME}/uv/cpython-{minor}.* {home}",
            f"rm -rf {home}/lib/python*/site-packages/pip*",  # with copies of libraries, as the base would have
            readable(_HOME),
            f'{home}/bin/python{minor} -I -c "{_CHECK}" > {FACTS_PATH}',
        ),
    )


def _fingerprint(folder: Path) -> str:
    """What an installation is known by: names and sizes of the files that are copied."""
    hasher = hashlib.sha256()
    for part in ("bin", "lib", "include"):
        for path in sorted((folder / part).rglob("*")):
            if "__pycache__" not in path.parts and "site-packages" not in path.parts and path.is_file():
                hasher.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\n".encode())
    return hasher.hexdigest()

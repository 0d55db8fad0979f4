"""A registry of tests' own: Debian's docker-registry, and the ways to it, which can be shut."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess  # noqa: TID251 - a registry that runs beside the tests
from typing import TYPE_CHECKING, Any

from harness.core import process
from harness.sandbox import engine
from tests import second_engine, tiny
from tests.engine_proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.second_engine import SecondEngine

PORT = 5000
REPOSITORY = f"127.0.0.1:{PORT}/tiny/calc"


def lacking() -> str | None:
    """Why there can be none here; None where there can."""
    return None if process.which("docker-registry") else "no docker-registry here (apt-get install docker-registry)"


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """A registry that keeps what it has in `folder`/data; the socket that it listens at."""
    config = folder / "config.yml"
    config.write_text(f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {folder}/data}}}}\n")
    address = {"REGISTRY_HTTP_NET": "unix", "REGISTRY_HTTP_ADDR": str(folder / "socket")}
    argv = ["docker-registry", "serve", str(config)]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(argv, stdout=log, stderr=log, env={**os.environ, **address}) as running,
    ):
        try:
            yield folder / "socket"
        finally:
            running.terminate()


@contextlib.contextmanager
def serving_here(folder: Path) -> Iterator[str]:
    """A registry at a port of this machine's loopback, which engines take without a certificate; `host:port`."""
    listening = socket.create_server(("127.0.0.1", 0))
    with serving(folder) as registry, Proxy(listening, registry):
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def way(registry: Path, second: SecondEngine) -> Proxy:
    """The only way from an engine to a registry: a proxy at a port of the engine's own network."""
    return Proxy(second.listen(PORT), registry)


def pushed(slim: Path) -> str:
    """A task image that the registry has: `repository@sha256:…`. Its lower layer stays on the engine, to save time."""
    second_engine.load(slim, "kept")
    client: Any = engine.connect()
    made = client.create_container("kept:slim", ["true"], network_disabled=True)
    client.put_archive(made, "/", tiny.MemoryTree({"layer": os.urandom(1_000_000).hex()}).tar())
    client.commit(made["Id"], REPOSITORY, "one")
    client.remove_container(made["Id"])
    said = list(client.push(REPOSITORY, tag="one", stream=True, decode=True))
    (digest,) = [one["aux"]["Digest"] for one in said if "aux" in one]
    return f"{REPOSITORY}@{digest}"

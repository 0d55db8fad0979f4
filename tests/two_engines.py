"""Two engines that share a registry and a package index, as the nodes of a cluster do: the machine's, and a second one.

The second engine's network has nothing in it but itself, so both services stand at the same two ports of 127.0.0.1 here
and there. The index passes on what the machine's own index says.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import socketserver
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

import requests

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.sandbox import engine
from harness.sandbox.images import pulls
from miner.images.layer_registry import LayerRegistry
from miner.layers import base
from tests import own_registry, second_engine
from tests.engine_proxy import Proxy

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple/"
INDEX_SOCKET = "index.sock"
_FILE = re.compile(r"https?://[^\"'#\s]+")
_TOLD = ("Content-Type", "Content-Length", "Content-Range", "Accept-Ranges", "ETag")
_KEPT = ("opt/goldseam/uv", "usr/sbin")
"""What a build needs beside what a trial needs."""


def lacking() -> str | None:
    """Why there can be no two engines with a registry here; None where there can."""
    return second_engine.lacking() or own_registry.lacking()


class TwoEngines:
    """A context manager; what it gave to the machine's engine is gone at its end."""

    def __init__(self) -> None:
        self._held = contextlib.ExitStack()
        self._ways: dict[str, list[Proxy]] = {}

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            self.folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="goldseam-two-")))
            self.second = held.enter_context(second_engine.SecondEngine("--bridge=none", size_mb=900))
            self.registry = f"127.0.0.1:{self._share(held, held.enter_context(own_registry.serving(self.folder)))}"
            self.repository = f"{self.registry}/team/tasks"
            self.index = f"http://127.0.0.1:{self._share(held, _index(held, self.folder))}/simple/"
            held.callback(self._tidy)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def _share(self, held: contextlib.ExitStack, service: Path) -> int:
        """Put a service at a port of both networks; the port."""
        here = socket.create_server(("127.0.0.1", 0))
        port: int = here.getsockname()[1]
        self._ways[service.name] = [
            held.enter_context(Proxy(listening, service)) for listening in (here, self.second.listen(port))
        ]
        return port

    @contextlib.contextmanager
    def silent_index(self) -> Iterator[None]:
        """The index answers nobody in the second engine's network meanwhile, so that builds wait there."""
        _, there = self._ways[INDEX_SOCKET]
        there.stalled.set()
        try:
            yield
        finally:
            there.stalled.clear()

    def use(self, host: str | None) -> contextlib.AbstractContextManager[Any]:
        """Speak to one of the two: the second's `host`, or None for the machine's own."""
        return _in_use(host)

    def slim_base(self) -> str:
        """A base image a tenth as large, in the registry: `repository@sha256:…`. Its base layer is there already."""
        settings = ImageSettings()
        try:
            whole = engine.inspect_image(base.layer(base.resolve(settings)).tag)
        except InfrastructureError:
            base.from_debian()
            whole = engine.inspect_image(base.layer(base.resolve(settings)).tag)
        assert whole is not None, "the base layer is made by whatever builds an image first"
        path = second_engine.save_slim(whole.id, self.folder, keep=_KEPT)
        parent = second_engine.load(path, f"{self.registry}/team/base")
        layer = base.layer(parent)
        facts = {name: value for name, value in whole.labels.items() if name != engine.LABEL_KEY}
        client: Any = engine.connect()
        templates = "/usr/share/git-core/templates/info"  # where `git init` finds what new repositories have
        made = client.create_container(parent, ["mkdir", "-p", templates], network_disabled=True)["Id"]
        client.start(made)
        client.wait(made)
        labels = {**facts, engine.LABEL_KEY: layer.key}
        changes = [f'LABEL {name}="{value}"' for name, value in labels.items()]
        client.commit(made, *layer.tag.split(":"), changes=changes)
        engine.remove_container(made)
        path.unlink()
        LayerRegistry(repository=self.repository, note=lambda _text: None).give(layer.tag)
        return f"{self.registry}/team/base@{pulls.push(f'{self.registry}/team/base:slim', stall_seconds=60)}"

    def tags(self, name: str = "team/tasks") -> list[str]:
        """The tags of a repository."""
        told = requests.get(f"http://{self.registry}/v2/{name}/tags/list", timeout=10).json()
        return sorted(told.get("tags") or ())

    def _tidy(self) -> None:
        """Take what the tests built from the machine's engine, the youngest first."""
        with _in_use(None):
            client: Any = engine.connect()
            known = {one["Id"]: one for one in client.images(all=True)}
            names = {image: [*(one["RepoTags"] or ()), *(one["RepoDigests"] or ())] for image, one in known.items()}
            mine = [image for image, called in names.items() if any(self.registry in name for name in called)]
            for image in mine:  # grows by what was built on it
                mine += [other for other, one in known.items() if one["ParentId"] == image and other not in mine]
            for image in reversed(mine):
                for name in names[image]:
                    with contextlib.suppress(engine.ApiError):
                        client.remove_image(name, noprune=True, force=True)


@contextlib.contextmanager
def _in_use(host: str | None) -> Iterator[None]:
    usual = os.environ.get("DOCKER_HOST")
    engine.disconnect()
    if host:
        os.environ["DOCKER_HOST"] = host
    try:
        yield
    finally:
        engine.disconnect()
        if usual is None:
            os.environ.pop("DOCKER_HOST", None)
        else:
            os.environ["DOCKER_HOST"] = usual


class _UnixServer(ThreadingHTTPServer):
    address_family = socket.AF_UNIX
    daemon_threads = True

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "index", 0


def _index(held: contextlib.ExitStack, folder: Path) -> Path:
    where = folder / INDEX_SOCKET
    server = _UnixServer(str(where), _PassedOn)
    server.sessions = requests.Session()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    held.callback(server.sessions.close)
    held.callback(server.server_close)
    held.callback(server.shutdown)
    return where


class _PassedOn(BaseHTTPRequestHandler):
    """`/simple/…` as the index has it, with the addresses of files leading back here."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        start = f"http://{self.headers['Host']}/"
        path = self.path.removeprefix("/")
        url = path if path.startswith("http") else INDEX.rstrip("/") + "/" + path.removeprefix("simple/")
        asked = {name: self.headers[name] for name in ("Accept", "Range") if self.headers[name]}
        asked["Accept-Encoding"] = "identity"
        found = self.server.sessions.request(self.command, url, headers=asked, timeout=60)
        data, told = found.content, {name: found.headers[name] for name in _TOLD if name in found.headers}
        if "simple" in told.get("Content-Type", "") or "html" in told.get("Content-Type", ""):
            data = _FILE.sub(lambda at: start + at[0], data.decode()).encode()
        if self.command != "HEAD":
            told["Content-Length"] = str(len(data))
        self.send_response(found.status_code)
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_HEAD = do_GET  # noqa: N815 - a name of http.server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def address_string(self) -> str:
        return "somebody"

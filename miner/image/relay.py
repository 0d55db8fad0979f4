"""The way out of a build that has no network: what its programs ask of their proxy arrives here and is judged.

    pip, uv, git, urllib… in the build → loopback → tools/relay.py → the container's own streams → here → the index

A message is a stream's number (4 bytes), a kind (1), a length (2), all big-endian, and so many bytes. OPEN begins a
stream, DATA carries it, END says that no more comes; ROOM gives back bytes that the other side may send, of WINDOW at
most; NAME (stream 0) tells that a program asked for the address of a host. The far end may be hostile: it can spoil its
own build and no more.
"""

from __future__ import annotations

import base64
import contextlib
import queue
import re
import socket
import ssl
import struct
import threading
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from miner.image.egress import Allowed

PORT = 3128
"""Of the proxy on the build's loopback."""
PROXY = f"http://127.0.0.1:{PORT}"
WINDOW = 1 << 20
_HEAD = struct.Struct(">IBH")
_OPEN, _DATA, _END, _ROOM, _NAME = range(5)
_PIECE = 1 << 15
_LONGEST_HEAD = 1 << 16
_STREAMS = 256
_REFUSED = 20
_CONNECT_SECONDS = 20.0
_IDLE_SECONDS = 600.0
_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]$")
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")
_PORTS = {"http": 80, "https": 443}


class Relay:
    """All streams of one build. `send` takes bytes to the build; a context manager, after which nothing is open.

    Nothing at all is `allowed` where that is None.
    """

    def __init__(self, allowed: Allowed | None, send: Callable[[bytes], None], way: Way) -> None:
        self.refused: list[str] = []
        """Hosts that programs of the build tried to reach and may not; the first twenty."""
        self._allowed = allowed
        self._send = send
        self._way = way
        self._sending = threading.Lock()
        self._noting = threading.Lock()
        self._buffer = bytearray()
        self._streams: dict[int, _Stream] = {}
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in list(self._streams.values()):
            stream.break_off()
        for thread in self._threads:
            thread.join(_CONNECT_SECONDS)

    def feed(self, data: bytes) -> None:
        """Take what the build's relay says; never waits."""
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= _HEAD.size:
            number, kind, size = _HEAD.unpack_from(self._buffer, at)
            if len(self._buffer) - at < _HEAD.size + size:
                break
            payload = bytes(self._buffer[at + _HEAD.size : at + _HEAD.size + size])
            at += _HEAD.size + size
            self._take(number, kind, payload)
        del self._buffer[:at]

    def _take(self, number: int, kind: int, payload: bytes) -> None:
        if kind == _NAME:
            name = payload.decode("ascii", "replace").lower()
            if "." in name and (self._allowed is None or not self._allowed.knows(name)):  # not the container's own
                self.refuse(name)
        elif kind == _OPEN:
            self._open(number)
        elif stream := self._streams.get(number):
            if kind == _ROOM:
                stream.grant(int.from_bytes(payload[:4], "big"))
            else:
                stream.take(payload if kind == _DATA else b"")

    def _open(self, number: int) -> None:
        if number in self._streams or len(self._streams) >= _STREAMS:
            return
        self._streams[number] = stream = _Stream(self, number)
        thread = threading.Thread(target=self._serve, args=(stream,), name="goldseam-relay", daemon=True)
        self._threads = [*(one for one in self._threads if one.is_alive()), thread]
        thread.start()

    def _serve(self, stream: _Stream) -> None:
        try:
            with contextlib.suppress(OSError, ValueError, queue.Empty):
                stream.serve()
            self.say(stream.number, _END)
        finally:
            self._streams.pop(stream.number, None)

    def say(self, number: int, kind: int, payload: bytes = b"") -> None:
        with self._sending, contextlib.suppress(OSError):
            self._send(_HEAD.pack(number, kind, len(payload)) + payload)

    def may(self, host: str, port: int) -> bool:
        """Whether the build may reach this; what it may not is kept."""
        if self._allowed is not None and self._allowed.has(host, port):
            return True
        self.refuse(host if port in _PORTS.values() else f"{host}:{port}")
        return False

    def refuse(self, host: str) -> None:
        shown = host.lower()
        with self._noting:
            if _HOST.fullmatch(shown) and shown not in self.refused and len(self.refused) < _REFUSED:
                self.refused.append(shown)

    def reach(self, host: str, port: int, scheme: str) -> _Reached:
        return self._way.reach(host, port, scheme)


class _Stream:
    """One connection of a program of the build to its proxy."""

    def __init__(self, relay: Relay, number: int) -> None:
        self.number = number
        self._relay = relay
        self._came: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._unread = 0
        self._room = WINDOW
        self._more = threading.Condition()
        self._far: socket.socket | None = None
        self._broken = False

    def take(self, data: bytes) -> None:
        """Data from the build; none means that it has said all."""
        with self._more:
            self._unread += len(data)
        if self._unread > WINDOW:
            self.break_off()
        else:
            self._came.put(data)

    def grant(self, size: int) -> None:
        with self._more:
            self._room = min(self._room + size, WINDOW)
            self._more.notify()

    def break_off(self) -> None:
        self._broken = True
        self._came.put(b"")
        with self._more:
            self._more.notify()
        if self._far is not None:
            with contextlib.suppress(OSError):
                self._far.shutdown(socket.SHUT_RDWR)

    def serve(self) -> None:
        """Read what is asked for, and carry it where that is allowed."""
        head, rest = self._head()
        match = _REQUEST.match(head.partition(b"\r\n")[0])
        if match is None:
            self._answer("400 Bad Request", "this is an HTTP proxy")
            return
        method, target = match[1].decode(), match[2].decode("latin-1")
        tunnel = method == "CONNECT"
        parts = urllib.parse.urlsplit(f"//{target}" if tunnel else target)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
        if not tunnel and parts.scheme != "http":
            self._answer("400 Bad Request", "only http:// and CONNECT are understood")
        elif not self._relay.may(host, port):
            self._answer("403 Forbidden", f"builds may not reach {host}:{port}")
        else:
            try:
                reached = self._relay.reach(host, port, "https" if tunnel else "http")
            except (OSError, ValueError) as error:
                self._answer("502 Bad Gateway", f"{host}:{port} can't be reached: {error}")
                return
            with reached.far as self._far:
                if tunnel:
                    self._write(b"HTTP/1.1 200 OK\r\n\r\n")
                self._carry(self._far, rest if tunnel else _onward(head, method, parts, reached) + rest)

    def _head(self) -> tuple[bytes, bytes]:
        got = b""
        while b"\r\n\r\n" not in got:
            got += self._read()
            if len(got) > _LONGEST_HEAD:
                raise ValueError("no head of a request")
        head, _, rest = got.partition(b"\r\n\r\n")
        return head, rest

    def _read(self) -> bytes:
        data = self._came.get(timeout=_IDLE_SECONDS)
        if not data:
            raise ValueError("the build has said all")
        with self._more:
            self._unread -= len(data)
        self._relay.say(self.number, _ROOM, len(data).to_bytes(4, "big"))
        return data

    def _write(self, data: bytes) -> None:
        with self._more:
            while self._room < len(data) and not self._broken:
                self._more.wait(_IDLE_SECONDS)
            self._room -= len(data)
        if self._broken:
            raise OSError("broken off")
        self._relay.say(self.number, _DATA, data)

    def _answer(self, status: str, why: str) -> None:
        text = f"goldseam: {why}\n".encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\nConnection: close\r\n"
        self._write(head.encode() + b"\r\n" + text)

    def _carry(self, far: socket.socket, first: bytes) -> None:
        """Bytes both ways until the far side has said all."""
        far.settimeout(_IDLE_SECONDS)
        up = threading.Thread(target=self._upward, args=(far, first), name="goldseam-relay-up", daemon=True)
        up.start()
        try:
            while data := far.recv(_PIECE):
                self._write(data)
        finally:
            self.break_off()
            up.join()

    def _upward(self, far: socket.socket, first: bytes) -> None:
        with contextlib.suppress(OSError, ValueError, queue.Empty):
            far.sendall(first)
            while True:
                far.sendall(self._read())
        with contextlib.suppress(OSError):
            far.shutdown(socket.SHUT_WR)


def _onward(head: bytes, method: str, parts: urllib.parse.SplitResult, reached: _Reached) -> bytes:
    """A request as the far side wants it: this connection carries no second one, which could be for another host."""
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    lines = [f"{method} {reached.prefix}{path} HTTP/1.1".encode("latin-1"), *reached.headers]
    dropped = (b"connection:", b"proxy-connection:", b"proxy-authorization:", b"keep-alive:")
    lines += [line for line in head.split(b"\r\n")[1:] if not line.lower().startswith(dropped)]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


@dataclass(frozen=True, kw_only=True)
class _Reached:
    """A connection to a host, or to a proxy that carries one there."""

    far: socket.socket
    prefix: str = ""
    """What the path of a plain request begins with."""
    headers: tuple[bytes, ...] = ()
    """What a plain request has besides."""


class Way:
    """How hosts are reached from here: by the proxies that the user's variables name, or straight."""

    def __init__(self, variables: Mapping[str, str], ca_bundle: Path | None) -> None:
        known = {name.lower(): value for name, value in variables.items()}
        self._proxies = {scheme: known.get(f"{scheme}_proxy") or known.get("all_proxy") for scheme in _PORTS}
        self._never = known.get("no_proxy", "")
        self._ca_bundle = ca_bundle

    def reach(self, host: str, port: int, scheme: str) -> _Reached:
        """A connection to a host.

        Raises:
            OSError: it can't be reached.
            ValueError: its proxy's address, or what that says, can't be read.

        """
        proxy = self._proxies.get(scheme)
        if not proxy or urllib.request.proxy_bypass_environment(f"{host}:{port}", {"no": self._never}):  # type: ignore[attr-defined]
            return _Reached(far=socket.create_connection((host, port), timeout=_CONNECT_SECONDS))
        parts = urllib.parse.urlsplit(proxy)
        far = socket.create_connection((parts.hostname or "", parts.port or _PORTS[parts.scheme]), _CONNECT_SECONDS)
        if parts.scheme == "https":
            far = ssl.create_default_context(cafile=self._ca_bundle).wrap_socket(far, server_hostname=parts.hostname)
        if scheme == "https":
            _tunnel(far, host, port, _authorization(parts))
            return _Reached(far=far)
        return _Reached(far=far, prefix=f"http://{host}:{port}", headers=_authorization(parts))


def _authorization(proxy: urllib.parse.SplitResult) -> tuple[bytes, ...]:
    if proxy.username is None:
        return ()
    who = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
    return (b"Proxy-Authorization: Basic " + base64.b64encode(who.encode()),)


def _tunnel(far: socket.socket, host: str, port: int, headers: tuple[bytes, ...]) -> None:
    named = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode("latin-1")
    far.sendall(b"\r\n".join([b"CONNECT " + named + b" HTTP/1.1", b"Host: " + named, *headers, b"", b""]))
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        byte = far.recv(1)
        said += byte
        if not byte or len(said) > _LONGEST_HEAD:
            raise ValueError("the proxy said nothing that can be read")
    status = said.split(b" ", 2)[1]
    if status != b"200":
        raise OSError(f"the proxy answered {status.decode('latin-1')}")

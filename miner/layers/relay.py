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
import math
import queue
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from miner.layers import client_hello
from miner.layers.egress import Allowed, is_public

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
_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.[01]")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*")
"""A line of a request's head (RFC 9112, 5); none goes on over the next line."""
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")
_PORTS = {"http": 80, "https": 443}
_KNOWN_SECONDS = 60.0


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
            if "." in name and (self._allowed is None or not self._allowed.reaches(name)):  # not the container's own
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
        self._threads = [*(running for running in self._threads if running.is_alive()), thread]
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
        self.refuse(host, port)
        return False

    def refuse(self, host: str, port: int = _PORTS["https"]) -> None:
        """Keep a host that may not be reached."""
        place = (host if port in _PORTS.values() else f"{host}:{port}").lower()
        with self._noting:
            if _HOST.fullmatch(place) and place not in self.refused and len(self.refused) < _REFUSED:
                self.refused.append(place)

    def reach(self, host: str, port: int, scheme: str) -> _Upstream:
        """A connection to a host that is allowed; one that the repository names has to be at a public address.

        Raises:
            NotPublicError: it isn't.
            OSError: it can't be reached.
            ValueError: its proxy's address, or what that says, can't be read.

        """
        trusted = self._allowed is not None and self._allowed.trusts(host, port)
        return self._way.reach(host, port, scheme, anywhere=trusted)


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
        try:
            request = _request(head)
        except ValueError as error:
            self._answer("400 Bad Request", str(error))
            return
        where = _authority(request.host, request.port)
        if not self._relay.may(request.host, request.port):
            self._answer("403 Forbidden", f"builds may not reach {where}")
            return
        try:
            reached = self._relay.reach(request.host, request.port, "https" if request.is_tunnel else "http")
        except NotPublicError as error:
            self._relay.refuse(request.host, request.port)
            self._answer("403 Forbidden", str(error))
            return
        except (OSError, ValueError) as error:
            self._answer("502 Bad Gateway", f"{where} can't be reached: {error}")
            return
        with reached.far as self._far:
            if request.is_tunnel:
                self._write(b"HTTP/1.1 200 OK\r\n\r\n")
                self._carry(self._far, self._greeting(request, rest), None)
            else:
                body = rest[: request.length]
                self._carry(self._far, _onward(request, reached) + body, request.length - len(body))

    def _greeting(self, request: _ProxyRequest, first_bytes: bytes) -> bytes:
        """The first bytes in a tunnel: TLS, for the host that the tunnel was asked for.

        Raises:
            ValueError: they are something else, or for another host.

        """
        while (name := client_hello.server_name(first_bytes)) is None:
            first_bytes += self._read()
        if name and not same_host(name, request.host):
            self._relay.refuse(name, request.port)
            raise ValueError("a tunnel to one host, TLS to another")
        return first_bytes

    def _head(self) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._read()
            if len(data) > _LONGEST_HEAD:
                raise ValueError("no head of a request")
        head, _, rest = data.partition(b"\r\n\r\n")
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

    def _carry(self, far: socket.socket, first: bytes, more: int | None) -> None:
        """Bytes both ways until the far side has said all; after the `first`, it gets `more` at most."""
        far.settimeout(_IDLE_SECONDS)
        up = threading.Thread(target=self._upward, args=(far, first, more), name="goldseam-relay-up", daemon=True)
        up.start()
        try:
            while data := far.recv(_PIECE):
                self._write(data)
        finally:
            self.break_off()
            up.join()

    def _upward(self, far: socket.socket, first: bytes, more: int | None) -> None:
        with contextlib.suppress(OSError, ValueError, queue.Empty):
            far.sendall(first)
            while True:
                data = self._read()[:more]
                far.sendall(data)
                more = None if more is None else more - len(data)
        with contextlib.suppress(OSError):
            far.shutdown(socket.SHUT_WR)


@dataclass(frozen=True, kw_only=True)
class _ProxyRequest:
    """A request to the proxy."""

    method: str
    host: str
    port: int
    path: str
    headers: tuple[tuple[bytes, bytes], ...]
    length: int
    """Bytes of its body."""

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"


def _request(head: bytes) -> _ProxyRequest:
    """Read the head of a request.

    Raises:
        ValueError: it is none that is passed on, or its Host header is not the host that it asks for.

    """
    first, *lines = head.split(b"\r\n")
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise ValueError("this is an HTTP proxy")
    method, target = match[1].decode(), match[2].decode("latin-1")
    parts = urllib.parse.urlsplit(f"//{target}" if method == "CONNECT" else target)
    if method != "CONNECT" and parts.scheme != "http":
        raise ValueError("only http:// and CONNECT are understood")
    host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    headers: list[tuple[bytes, bytes]] = []
    for line in lines:
        header = _HEADER.fullmatch(line)
        if header is None:
            raise ValueError("a header that can't be read")
        headers.append((header[1].lower(), header[2]))
    for value in (value for name, value in headers if name == b"host"):
        authority = urllib.parse.urlsplit(f"//{value.decode('latin-1')}")
        if not same_host(authority.hostname or "", host) or (authority.port or port) != port:
            raise ValueError(f"the Host header is not the host that is asked for, {_authority(host, port)}")
    lengths = {value for name, value in headers if name == b"content-length"} or {b"0"}
    if len(lengths) > 1 or not all(length.isdigit() for length in lengths) or b"transfer-encoding" in dict(headers):
        raise ValueError("a body needs one Content-Length")
    path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
    return _ProxyRequest(
        method=method, host=host, port=port, path=path, headers=tuple(headers), length=int(next(iter(lengths)))
    )


def _onward(request: _ProxyRequest, reached: _Upstream) -> bytes:
    """A request as the far side wants it: this connection carries no second one, which could be for another host."""
    place = request.host if request.port == _PORTS["http"] else _authority(request.host, request.port)
    lines = [
        f"{request.method} {reached.prefix}{request.path} HTTP/1.1".encode("latin-1"),
        b"Host: " + (f"[{place}]" if place == request.host and ":" in place else place).encode("latin-1"),
        *reached.headers,
    ]
    dropped = (b"host", b"connection", b"proxy-connection", b"proxy-authorization", b"keep-alive", b"upgrade")
    lines += [name + b": " + value for name, value in request.headers if name not in dropped]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def same_host(left: str, other: str) -> bool:
    """Whether two names are the same host's: case and a last dot make no difference."""
    return left.lower().rstrip(".") == other.lower().rstrip(".")


class NotPublicError(OSError):
    """A host that a repository names is not on the public internet."""


@dataclass(frozen=True, kw_only=True)
class _Upstream:
    """A connection to a host, or to a proxy that carries one there."""

    far: socket.socket
    prefix: str = ""
    """What the path of a plain request begins with."""
    headers: tuple[bytes, ...] = ()
    """What a plain request has besides."""


class _Names:
    """Addresses of hosts, each looked up once a minute however many ask at once: not every resolver bears that."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._known: dict[str, tuple[float, list[str]]] = {}

    def addresses(self, host: str) -> list[str]:
        """The addresses of a host.

        Raises:
            OSError: it can't be looked up.

        """
        with self._guard:
            turn = self._turns.setdefault(host, threading.Lock())
        with turn:
            when, addresses = self._known.get(host, (-math.inf, []))
            if time.monotonic() - when > _KNOWN_SECONDS:
                answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                addresses = [str(address[0]) for *_, address in answers]
                self._known[host] = time.monotonic(), addresses
            return addresses

    def public(self, host: str, *, at_once: bool) -> list[str]:
        """The public addresses of a host.

        Raises:
            NotPublicError: it has none; or it can't be looked up here, and would have to be by a proxy (not `at_once`).
            OSError: it has no address.

        """
        try:
            addresses = self.addresses(host)
        except OSError as error:
            if at_once:
                raise
            raise NotPublicError(
                f"{host} is named by the repository and can't be looked up here, so it is unknown where the proxy "
                "would lead: name it in [images] allow_hosts to let builds reach it"
            ) from error
        public = [address for address in dict.fromkeys(addresses) if is_public(address)]
        if not public:
            raise NotPublicError(
                f"{host} is named by the repository and is at {addresses[0]}, which is not a public address: "
                "name it in [images] allow_hosts to let builds reach it"
            )
        return public


class Way:
    """How hosts are reached from here: by the proxies that the user's variables name, or straight."""

    def __init__(self, variables: Mapping[str, str], ca_bundle: Path | None) -> None:
        by_name = {name.lower(): value for name, value in variables.items()}
        self._proxies = {scheme: by_name.get(f"{scheme}_proxy") or by_name.get("all_proxy") for scheme in _PORTS}
        self._never = by_name.get("no_proxy", "")
        self._ca_bundle = ca_bundle
        self._names = _Names()

    def reach(self, host: str, port: int, scheme: str, *, anywhere: bool) -> _Upstream:
        """A connection to a host; to a public address of it where it may not be `anywhere`.

        An address that was looked at is the one that is connected to, here or by the user's proxy: no name is looked up
        a second time, which could have another answer.

        Raises:
            NotPublicError: it has no public address.
            OSError: it can't be reached.
            ValueError: its proxy's address, or what that says, can't be read.

        """
        proxy = self._proxies.get(scheme)
        is_straight = not proxy or urllib.request.proxy_bypass_environment(f"{host}:{port}", {"no": self._never})  # type: ignore[attr-defined]
        addresses = [host] if anywhere else self._names.public(host, at_once=is_straight)
        if not proxy or is_straight:
            return _Upstream(far=_connected(self._names.addresses(host) if anywhere else addresses, port))
        parts = urllib.parse.urlsplit(proxy)
        far = _connected(self._names.addresses(parts.hostname or ""), parts.port or _PORTS[parts.scheme])
        if parts.scheme == "https":
            far = ssl.create_default_context(cafile=self._ca_bundle).wrap_socket(far, server_hostname=parts.hostname)
        if scheme == "https":
            _tunnel(far, addresses[0], port, _authorization(parts))
            return _Upstream(far=far)
        return _Upstream(far=far, prefix=f"http://{_authority(addresses[0], port)}", headers=_authorization(parts))


def _connected(addresses: list[str], port: int) -> socket.socket:
    """A connection to the first address that takes one."""
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), timeout=_CONNECT_SECONDS)
    return socket.create_connection((addresses[-1], port), timeout=_CONNECT_SECONDS)


def _authorization(proxy: urllib.parse.SplitResult) -> tuple[bytes, ...]:
    if proxy.username is None:
        return ()
    text = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
    return (b"Proxy-Authorization: Basic " + base64.b64encode(text.encode()),)


def _tunnel(far: socket.socket, host: str, port: int, headers: tuple[bytes, ...]) -> None:
    authority = _authority(host, port).encode("latin-1")
    far.sendall(b"\r\n".join([b"CONNECT " + authority + b" HTTP/1.1", b"Host: " + authority, *headers, b"", b""]))
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        byte = far.recv(1)
        answer += byte
        if not byte or len(answer) > _LONGEST_HEAD:
            raise ValueError("the proxy said nothing that can be read")
    status = answer.split(b" ", 2)[1]
    if status != b"200":
        raise OSError(f"the proxy answered {status.decode('latin-1')}")

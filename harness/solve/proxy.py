"""The only way out for an agent that asks the model by itself: a server of ours that it takes for the endpoint.

    agent in a container without network → loopback → Unix socket → here → the same `Model` that every agent asks

What it asks is asked by us, so that limits, retries, prices, the response cache and the record hold, and no key is
where the agent is. Hosts that the user names are reached through it too, as through any HTTP proxy (CONNECT, or a whole
URL); everything else is refused and written down.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import select
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, Self
from urllib.parse import urlsplit

from harness.core.errors import InfrastructureError, InputError
from harness.solve.base import Fault, LimitReachedError, Message, Model, ModelError, Reply, Sampling
from harness.solve.models import openai_schema

_MOST_BYTES = 32 * 1024 * 1024
"""Of one request's body."""
_PIECE = 1 << 16
_MOST_REFUSED = 100
_SHOWN = 200
_TALK_SECONDS = 600.0
_CONNECT_SECONDS = 20.0
_CHAT = ("/v1/chat/completions", "/chat/completions")
_MODELS = ("/v1/models", "/models")
_HOP_BY_HOP = frozenset(
    {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade"}
)
_SECRET = frozenset({"proxy-authorization"})
_HTTP_PORT = 80


@dataclass(frozen=True, kw_only=True)
class DoorLimits:
    """What one attempt may use of its way out, the model's endpoint and other hosts together."""

    at_once: int = 32
    """Connections at the same time; more are answered 503."""
    connections: int = 20_000
    """Connections in all; with one more the attempt ends."""
    sent_bytes: int = 4 << 30
    """Bytes from the agent in all; with more the attempt ends."""
    received_bytes: int = 4 << 30
    """Bytes to the agent in all; with more the attempt ends."""


@dataclass(kw_only=True)
class Passed:
    """What an agent asked for, as it goes on; read it when the agent has ended."""

    replies: list[Reply] = field(default_factory=list)
    messages: tuple[Message, ...] = ()
    """The conversation of the last question, and its answer."""
    refused: list[str] = field(default_factory=list)
    """What was not let through, such as `CONNECT example.org:443`, and the limit that ended it; the first hundred."""
    limit: LimitReachedError | None = None
    trouble: ModelError | None = None
    """Why the model could not be asked: no fault of the agent."""
    over: threading.Event = field(default_factory=threading.Event)
    """There is no use in going on: a limit was reached, or the model can't be asked."""


class Gateway:
    """A context manager that serves one agent, on a Unix socket or on a port of this machine's loopback.

    `allow` are the hosts with their ports that may be reached besides. `on_end` is called once when there is no use in
    going on.
    """

    def __init__(
        self,
        model: Model,
        *,
        sampling: Sampling,
        sample: int,
        allow: Iterable[tuple[str, int]] = (),
        limits: DoorLimits | None = None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.passed = Passed()
        self.key = f"goldseam-{secrets.token_hex(16)}"
        """What the agent has in place of a key; it opens this door and no other."""
        self._model, self._sampling, self._sample = model, sampling, sample
        self._allow = frozenset((host.lower().rstrip("."), port) for host, port in allow)
        self._limits = limits or DoorLimits()
        self._open = self._connections = self._sent = self._received = 0
        self._on_end = on_end
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def at_socket(self, path: Path) -> Self:
        """Serve on a Unix socket that everybody who sees it may open; the folder decides who does."""
        try:
            self._server = _UnixServer(str(path), self)
        except OSError as error:
            raise InfrastructureError(
                f"no socket can be made at {path}: {error}", hint="a shorter path in TMPDIR may help"
            ) from error
        path.chmod(0o666)
        return self

    def at_port(self) -> Self:
        """Serve on a free port of the loopback."""
        self._server = _PortServer(("127.0.0.1", 0), self)
        return self

    @property
    def port(self) -> int:
        assert isinstance(self._server, _PortServer)  # noqa: S101 - only asked there
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        assert self._server is not None  # noqa: S101 - `at_socket` or `at_port` came first
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="goldseam-gateway", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def admit(self) -> str | None:
        """Take one more connection, which `leave` gives back; else why not."""
        with self._lock:
            is_full = self._open >= self._limits.at_once
            self._connections += 1
            is_over = self._connections > self._limits.connections
            self._open += not (is_full or is_over)
        if is_over:
            return str(self._used_up("task_connections", f"{self._limits.connections} connections were made"))
        if is_full:
            why = f"at most {self._limits.at_once} connections may be open at the same time"
            self.refuse(why)
            return why
        return None

    def leave(self) -> None:
        with self._lock:
            self._open -= 1

    def count(self, *, sent_bytes: int = 0, received_bytes: int = 0) -> None:
        """Count bytes from and to the agent.

        Raises:
            LimitReachedError: it may have no more.

        """
        with self._lock:
            self._sent += sent_bytes
            self._received += received_bytes
            has_sent, has_received = self._sent > self._limits.sent_bytes, self._received > self._limits.received_bytes
        if has_sent:
            raise self._used_up("task_sent_bytes", f"{self._limits.sent_bytes} bytes were sent")
        if has_received:
            raise self._used_up("task_received_bytes", f"{self._limits.received_bytes} bytes were received")

    def _used_up(self, limit: str, reason: str) -> LimitReachedError:
        error = LimitReachedError(limit, f"{reason}, as many as one attempt may; the attempt ends")
        if self.passed.limit is None:
            self.passed.limit = error
            self.refuse(str(error))
        self._end()
        return error

    def allows(self, host: str, port: int) -> bool:
        return (host.lower().rstrip("."), port) in self._allow

    def refuse(self, reason: str) -> None:
        """Write down what was not let through."""
        with self._lock:
            if len(self.passed.refused) < _MOST_REFUSED:
                self.passed.refused.append(reason[:_SHOWN])

    def ask(self, body: openai_schema.ChatBody) -> Reply:
        """Ask the model what the agent asks.

        Raises:
            NotUnderstoodError: it cannot be passed on.
            LimitReachedError: no further question may be asked.
            ModelError: it could not be asked.

        """
        request = openai_schema.request(body, self._sampling, self._sample)
        if self.passed.over.is_set():
            raise self.passed.limit or self.passed.trouble or LimitReachedError("stopped", "the work was stopped")
        try:
            reply = self._model.ask(request)
        except LimitReachedError as limit:
            self.passed.limit = self.passed.limit or limit
            self._end()
            raise
        except ModelError as error:
            if error.fault not in (Fault.CONTEXT_OVERFLOW, Fault.BAD_REQUEST):
                self.passed.trouble = self.passed.trouble or error
                self._end()
            raise
        with self._lock:
            self.passed.replies.append(reply)
            self.passed.messages = (*request.messages, reply.message)
        return reply

    def models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": self._model.name, "object": "model", "created": 0, "owned_by": "-"}]}

    def _end(self) -> None:
        with self._lock:
            first = not self.passed.over.is_set()
            self.passed.over.set()
        if first:
            self._on_end()


class _Metered(socket.socket):
    """A connection to the agent whose bytes are counted."""

    def __init__(self, gateway: Gateway, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self._gateway = gateway

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data = super().recv(size, flags)
        self._gateway.count(sent_bytes=len(data))
        return data

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        size_read = super().recv_into(buffer, size, flags)
        self._gateway.count(sent_bytes=size_read)
        return size_read

    def sendall(self, data: Any, flags: int = 0, /) -> None:
        self._gateway.count(received_bytes=len(data))
        super().sendall(data, flags)


class _Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: Any, gateway: Gateway) -> None:
        self._gateway = gateway
        super().__init__(address, type("Handler", (_Handler,), {"gateway": gateway}))

    def get_request(self) -> tuple[socket.socket, Any]:
        request, address = super().get_request()
        return _Metered(self._gateway, request.detach()), address

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 - the base class's own words
        why = self._gateway.admit()
        if why is not None:
            text = json.dumps({"error": {"message": why, "type": "limit_reached", "code": "limit_reached"}})
            head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Length: {len(text)}\r\nConnection: close\r\n"
            with contextlib.suppress(OSError):
                socket.socket.sendall(request, f"{head}Content-Type: application/json\r\n\r\n{text}".encode())
        return why is None

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._gateway.leave()

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that breaks off, or sends rubbish, is no news."""


class _UnixServer(_Server):
    address_family = socket.AF_UNIX


class _PortServer(_Server):
    allow_reuse_address = True


class _Handler(BaseHTTPRequestHandler):
    gateway: Gateway
    protocol_version = "HTTP/1.1"
    timeout = _TALK_SECONDS

    def address_string(self) -> str:
        return "agent"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's own word
        """Refused attempts are kept by the gateway; there is no other log."""

    def do_GET(self) -> None:
        if not self._is_for_us():
            return
        if urlsplit(self.path).path not in _MODELS:
            self._refuse(HTTPStatus.NOT_FOUND)
        elif self._may_in():
            self._json(HTTPStatus.OK, self.gateway.models())

    def do_POST(self) -> None:
        if not self._is_for_us():
            return
        if urlsplit(self.path).path not in _CHAT:
            self._refuse(HTTPStatus.NOT_FOUND)
        elif self._may_in() and (raw := self._body()) is not None:
            self._chat(raw)

    def do_CONNECT(self) -> None:
        host, port = _host_and_port(f"//{self.path}", None)
        if not self._may_reach(host, port):
            return
        try:
            far = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
        except OSError as error:
            self._error(HTTPStatus.BAD_GATEWAY, "unreachable", f"{self.path}: {error}")
            return
        with far:
            self.send_response(HTTPStatus.OK)
            self.end_headers()
            self.wfile.flush()
            _carry(self.connection, far)
        self.close_connection = True

    def _other(self) -> None:
        if self._is_for_us():
            self._refuse(HTTPStatus.NOT_FOUND)

    do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _other  # noqa: N815 - the base class's own words

    def _is_for_us(self) -> bool:
        """Whether this is said to the model's endpoint; what is meant for another host is passed on, or refused."""
        if self.path.startswith("/"):
            return True
        parts = urlsplit(self.path)
        host, port = _host_and_port(self.path, _HTTP_PORT)
        if parts.scheme != "http":
            self._refuse(HTTPStatus.FORBIDDEN)
        elif self._may_reach(host, port) and (body := self._body()) is not None:
            self._pass_on(host, port, f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}", body)
        return False

    def _may_reach(self, host: str, port: int) -> bool:
        if self.gateway.allows(host, port):
            return True
        self._refuse(HTTPStatus.FORBIDDEN)
        return False

    def _may_in(self) -> bool:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if secrets.compare_digest(token.encode(), self.gateway.key.encode()):
            return True
        self._error(HTTPStatus.UNAUTHORIZED, "invalid_api_key", "the key is the one in OPENAI_API_KEY")
        return False

    def _refuse(self, status: HTTPStatus) -> None:
        self.gateway.refuse(f"{self.command} {self.path}")
        self._error(status, "refused", "only POST /v1/chat/completions and GET /v1/models, and hosts that were named")

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not length.isdigit() or int(length) > _MOST_BYTES:
            self._error(
                HTTPStatus.LENGTH_REQUIRED, "invalid_request", f"a Content-Length up to {_MOST_BYTES} is needed"
            )
            return None
        return self.rfile.read(int(length))

    def _chat(self, raw: bytes) -> None:
        try:
            body = openai_schema.body(raw)
            reply = self.gateway.ask(body)
        except openai_schema.NotUnderstoodError as error:
            self._error(HTTPStatus.BAD_REQUEST, "invalid_request", str(error))
        except LimitReachedError as limit:
            self._error(HTTPStatus.FORBIDDEN, "limit_reached", str(limit))
        except ModelError as error:
            code = "context_length_exceeded" if error.fault is Fault.CONTEXT_OVERFLOW else error.fault.value
            is_its_own = error.fault in (Fault.CONTEXT_OVERFLOW, Fault.BAD_REQUEST)
            self._error(HTTPStatus.BAD_REQUEST if is_its_own else HTTPStatus.BAD_GATEWAY, code, error.message)
        else:
            number = secrets.token_hex(8)
            if body.stream:
                self._stream(openai_schema.chunks(reply, number, include_usage=body.stream_options.include_usage))
            else:
                self._json(HTTPStatus.OK, openai_schema.completion(reply, number))

    def _stream(self, chunks: Iterable[Mapping[str, Any]]) -> None:
        data = b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"
        self._answer(HTTPStatus.OK, data, "text/event-stream")

    def _json(self, status: HTTPStatus, value: Mapping[str, Any]) -> None:
        self._answer(status, json.dumps(value).encode(), "application/json")

    def _error(self, status: HTTPStatus, code: str, text: str) -> None:
        self.close_connection = True  # its body may not have been read
        error = {"message": text, "type": code, "code": code, "param": None}
        self._json(status, {"error": error})

    def _answer(self, status: HTTPStatus, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", "false")  # what is worth it was tried again here
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def _pass_on(self, host: str, port: int, path: str, body: bytes) -> None:
        dropped = _HOP_BY_HOP | _SECRET | {"host"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        with contextlib.closing(HTTPConnection(host, port, timeout=_CONNECT_SECONDS)) as far:
            try:
                far.request(self.command, path, body=body, headers=headers)
                answer = far.getresponse()
            except (OSError, HTTPException) as error:
                self._error(HTTPStatus.BAD_GATEWAY, "unreachable", f"{host}:{port}: {error}")
                return
            self.close_connection = True
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := answer.read(_PIECE):
                self.wfile.write(piece)


def _host_and_port(url: str, usual: int | None) -> tuple[str, int]:
    """Host and port of a URL; one that has none is nowhere."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or usual or 0
    return "", 0


def host_and_port(text: str) -> tuple[str, int]:
    """What a user names as `HOST:PORT`.

    Raises:
        InputError: it is no such thing.

    """
    host, port = _host_and_port(f"//{text}", None)
    if not host or not port or "/" in text or "@" in text:
        raise InputError(f"{text!r} is no HOST:PORT, such as api.example.com:443")
    return host, port


def _carry(near: socket.socket, far: socket.socket) -> None:
    """Bytes both ways until one side closes or both are silent for long."""
    sides = {near: far, far: near}
    with contextlib.suppress(OSError):
        while True:
            readable, _, _ = select.select(list(sides), [], [], _TALK_SECONDS)
            if not readable:
                return
            for side in readable:
                data = side.recv(_PIECE)
                if not data:
                    return
                sides[side].sendall(data)

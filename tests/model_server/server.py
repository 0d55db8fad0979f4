"""The HTTP server: `/v1/chat/completions`, `/v1/responses` and `/v1/models`, plain and streamed."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
import traceback
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.local_http import LocalServer
from tests.model_server import schemas, wire
from tests.model_server.behaviours import Asked, Fail, Say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tests.model_server.behaviours import Behaviour, Script

REQUEST_ID = "x-request-id"
KEY = "sk-proj-test-0123456789abcdefghijklmnopqrstuv"
"""A key as long and as odd as a real one, so that a test can look for it where it must not be."""


class ModelServer(LocalServer):
    """Serves scripted models on a port of this machine; a context manager.

    `script` says by model name what each does. `offers` are the APIs it has; others are 404, as on servers that lack
    them. `keys` are those it takes; none: it asks for no key, as local servers do.
    """

    def __init__(
        self,
        script: Mapping[str, Script],
        *,
        offers: Collection[str] = ("chat", "responses"),
        keys: Collection[str] = (),
    ) -> None:
        self.script = dict(script)
        self.offers = offers
        self.keys = keys
        self.requests: list[Asked] = []
        self.problems: list[str] = []
        """What clients asked that the API does not have, and what we answered that it would not."""
        self.most_at_once = 0
        self._now = 0
        self._turns: Counter[str] = Counter()
        self._numbers = 0
        self._lock = threading.Lock()
        super().__init__(_Handler, server=_Server)

    @property
    def base_url(self) -> str:
        """For `OpenAI(base_url=…)`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def asked(self, model: str) -> list[Asked]:
        """The requests for one model, in order."""
        with self._lock:
            return [one for one in self.requests if one.model == model]

    def record(self, api: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Asked:
        with self._lock:
            model = str(body.get("model", ""))
            asked = Asked(
                api=api, model=model, body=body, headers=headers, turn=self._turns[model], at=time.monotonic()
            )
            self._turns[model] += 1
            self.requests.append(asked)
            return asked

    def entered(self, step: int) -> None:
        with self._lock:
            self._now += step
            self.most_at_once = max(self.most_at_once, self._now)

    def number(self) -> int:
        with self._lock:
            self._numbers += 1
            return self._numbers

    def behaviour(self, asked: Asked) -> Behaviour:
        script = self.script.get(asked.model)
        if script is None:
            return Fail(
                status=404,
                message=f"The model `{asked.model}` does not exist or you do not have access to it.",
                code="model_not_found",
                kind="invalid_request_error",
            )
        if isinstance(script, Say | Fail):
            return script
        if callable(script):
            return script(asked)
        return script[min(asked.turn, len(script) - 1)]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing of clients that have gone: those that read half an answer are what some tests are about."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    owner: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.owner.entered(1)
        try:
            self._answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has seen enough
        except Exception:  # noqa: BLE001 - a fault of the server's own must fail the test, not be retried
            self.owner.problems.append(traceback.format_exc())
            self._send(
                418, {"error": {"message": "the test server is broken", "type": "x", "param": None, "code": None}}
            )
        finally:
            self.owner.entered(-1)

    def _answer(self, data: bytes) -> None:
        path = self.path.split("?")[0]
        api = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}.get(path)
        if self.owner.keys and self.headers.get("Authorization", "").removeprefix("Bearer ") not in self.owner.keys:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            text = f"Incorrect API key provided: {given}."  # real servers repeat a part of the key
            self._fail(Fail(status=401, message=text, code="invalid_api_key", kind="invalid_request_error"))
        elif path == "/v1/models" and self.command == "GET":
            self.owner.record("models", {}, {})
            self._models()
        elif api is None or api not in self.owner.offers or self.command != "POST":
            self._send(404, {"detail": "Not Found"})
        else:
            self._model(api, json.loads(data))

    def _model(self, api: str, body: dict[str, Any]) -> None:
        self._hold(f"{api}.request", body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = self.owner.record(api, body, headers)
        behaviour = self.owner.behaviour(asked)
        if isinstance(behaviour, Fail):
            self._fail(behaviour)
            return
        answer = wire.Answer(asked=asked, say=behaviour, number=self.owner.number())
        if body.get("stream"):
            self._stream(answer)
        elif behaviour.garbled:
            self._send(200, b'{"id": "half a bo')
        else:
            whole = wire.chat_body(answer) if api == "chat" else wire.response_body(answer)
            self._hold(api, whole)
            self._send(200, whole, {REQUEST_ID: f"req_{answer.number:04d}"})

    def _hold(self, kind: str, body: Any) -> None:
        self.owner.problems += schemas.problems(kind, body)

    def _models(self) -> None:
        data = [
            {"id": name, "object": "model", "created": wire.CREATED, "owned_by": "tests"} for name in self.owner.script
        ]
        for one in data:
            self._hold("model", one)
        self._send(200, {"object": "list", "data": data})

    def _stream(self, answer: wire.Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header(REQUEST_ID, f"req_{answer.number:04d}")
        self.end_headers()
        say, written = answer.say, 0
        for event, is_piece in self._events(answer):
            if is_piece:
                if say.cut_after is not None and written >= say.cut_after:
                    self._cut(politely=say.cut_politely)
                    return
                if say.pause:
                    time.sleep(say.pause)
                if say.gate is not None and written == 1:
                    say.gate.wait(timeout=30)
                written += 1
            self._chunk(event)
        if say.garbled:
            self._chunk(b"data: {half a pie\n\n")
        elif answer.asked.api == "chat":
            self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _cut(self, *, politely: bool) -> None:
        if politely:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _events(self, answer: wire.Answer) -> Iterator[tuple[bytes, bool]]:
        """Each event as it is written, and whether it brings a piece of the answer."""
        if answer.asked.api == "chat":
            for chunk in wire.chat_chunks(answer):
                self._hold("chat.chunk", chunk)
                delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
                yield f"data: {json.dumps(chunk)}\n\n".encode(), bool(delta) and "role" not in delta
            return
        for event in wire.response_events(answer):
            self._hold("responses.event", event)
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode(), event["type"].endswith(".delta")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _fail(self, fault: Fail) -> None:
        if fault.drops:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if fault.html:
            self._send(fault.status, b"<html><body><h1>Bad Gateway</h1></body></html>", {"Content-Type": "text/html"})
            return
        error = {"message": fault.message, "type": fault.kind, "param": None, "code": fault.code}
        self._send(fault.status, {"error": error}, {REQUEST_ID: f"req_{self.owner.number():04d}", **fault.headers})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        sent = {"Content-Type": "application/json", **(headers or {}), "Content-Length": str(len(data))}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

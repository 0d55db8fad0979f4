"""A server for one person on this machine: loopback, a token in the address, nothing that writes.

Whoever does not know the token gets 404 for everything, and a page of another site that a browser was tricked into
sending here (DNS rebinding) is refused by the `Host` that it asks for.
"""

from __future__ import annotations

import errno
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

from harness.core.errors import GoldseamError, InputError
from harness.report import page
from harness.report.view.shelf import Shelf, unreadable
from harness.runs import bug_log

LOOPBACK = "127.0.0.1"
_SECONDS = 30.0
"""That a client may take for its request."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_HTML, _JSON, _TEXT = "text/html", "application/json", "text/plain"


@dataclass(kw_only=True)
class View:
    """A running view: a context manager, whose `url` opens it."""

    shelf: Shelf
    port: int = 0
    """0 takes a free one."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __enter__(self) -> Self:
        """Take the port.

        Raises:
            InputError: it is not free, or may not be taken.

        """
        try:
            self._server = _Server((LOOPBACK, self.port), _Handler, shelf=self.shelf, token=self.token)
        except OSError as error:
            why = "is in use" if error.errno == errno.EADDRINUSE else f"can't be opened: {error.strerror or error}"
            raise InputError(
                f"port {self.port} {why}", hint="give another --port, or none to take a free one"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.port}/{self.token}/"

    def serve(self) -> None:
        """Answer until the process is interrupted, or `stop` is called from another thread."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        """Let `serve` return."""
        self._server.shutdown()


class _Server(ThreadingTCPServer):
    """No `HTTPServer`, which asks the name service for the machine's own name before it answers anybody."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], *, shelf: Shelf, token: str
    ) -> None:
        super().__init__(address, handler)
        self.shelf = shelf
        self.token = token
        self.port = self.server_address[1]
        self.hosts = {f"{name}:{self.port}" for name in (LOOPBACK, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "goldseam"
    sys_version = ""
    timeout = _SECONDS

    def do_GET(self) -> None:
        if self.headers.get("Host", "").lower() not in self.server.hosts:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, _TEXT, "this server answers to its own address only\n")
            return
        address = urlsplit(self.path)
        _, token, *rest = address.path.split("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()) or len(rest) != 1:
            self._send(HTTPStatus.NOT_FOUND, _TEXT, "not found\n")
            return
        status = HTTPStatus.OK
        try:
            kind, text = self._answer(rest[0], parse_qs(address.query))
        except _NoSuchPageError:
            status, kind, text = HTTPStatus.NOT_FOUND, _TEXT, "not found\n"
        except GoldseamError as error:
            status, kind, text = HTTPStatus.UNPROCESSABLE_ENTITY, _TEXT, f"{error.message}\n{error.hint or ''}\n"
        except OSError as error:
            status, kind, text = HTTPStatus.UNPROCESSABLE_ENTITY, _TEXT, f"{unreadable(error)}\n"
        except Exception as error:  # noqa: BLE001 - one bad page must not end the others
            log = bug_log.write()
            status, kind = HTTPStatus.INTERNAL_SERVER_ERROR, _TEXT
            text = f"this is a bug in goldseam ({type(error).__name__}); please report it with {log}\n"
        self._send(status, kind, text)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, name: str, query: Mapping[str, list[str]]) -> tuple[str, str]:
        shelf, runs = self.server.shelf, query.get("run", [])
        if not name:
            return _HTML, page.render_template(
                "view.html.j2",
                styles=("base", "answers", "view"),
                scripts=("text", "theme", "view"),
                with_hidden=shelf.with_hidden,
            )
        if name == "runs.json":
            return _JSON, json.dumps(shelf.listing())
        if name == "summary.json":
            return _JSON, json.dumps(shelf.summary(runs[0] if runs else ""))
        if name == "state.json":
            return _JSON, json.dumps(shelf.state(runs))
        if name == "report":
            query_again = "&".join(f"run={quote(run, safe='')}" for run in runs)
            return _HTML, shelf.report(runs, live=f"state.json?{query_again}")
        raise _NoSuchPageError

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for header, value in _HEADERS.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing: addresses hold the token."""


class _NoSuchPageError(Exception):
    """No page of that name."""

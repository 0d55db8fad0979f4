"""An HTTP server on a port of this machine, for servers that speak an official schema."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class LocalServer:
    """Serves in a thread as long as it is entered; `handler` finds it as its class's `owner`."""

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], *, server: type[ThreadingHTTPServer] = ThreadingHTTPServer
    ) -> None:
        self._http = server(("127.0.0.1", 0), type("Handler", (handler,), {"owner": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._http.server_port

"""Write the Cargo.lock of a folder with the versions of crates that were there on a day.

    day.py DAY FOLDER

DAY is ISO 8601 in UTC, as the index has it. cargo asks a server on the loopback that hands on the index of crates.io
without what was published later (`pubtime`); an entry without a date stays, as does a later version that only keeps an
older one compiling. The index does not say when a version was yanked: one that is now is taken only where nothing can
be resolved without. Standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INDEX = "https://index.crates.io"
MENDED = {
    "rustc-serialize": ("0.3.25",), "traitobject": ("0.1.1",), "lexical-core": ("0.7.6",), "socket2": ("0.3.19",),
    "net2": ("0.2.39",), "mio": ("0.6.23", "0.7.7"), "miow": ("0.2.2", "0.3.7"),
}  # fmt: skip
"""Of crates that newer compilers refuse, or that run wrongly with them, later versions that go."""


def of_day(entries: bytes, day: str, *, yanked: bool) -> bytes:
    """The lines of a crate's entry that were there on a day; with `yanked`, no version counts as yanked."""
    lines = [
        line
        for line in map(json.loads, entries.splitlines())
        if line.get("pubtime", "") <= day or line["vers"] in MENDED.get(line.get("name"), ())
    ]
    return b"".join(json.dumps({**line, **({"yanked": False} if yanked else {})}).encode() + b"\n" for line in lines)


class Index(BaseHTTPRequestHandler):
    day = ""
    yanked = False

    def do_GET(self) -> None:
        try:
            with urllib.request.urlopen(INDEX + self.path, timeout=60) as answer:  # noqa: S310 - INDEX is https
                status, body = answer.status, answer.read()
            body = body if self.path == "/config.json" else of_day(body, self.day, yanked=self.yanked)
        except urllib.error.HTTPError as error:
            status, body = error.code, b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main(day: str, folder: str) -> int:
    Index.day = day
    server = ThreadingHTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    source = f'source.day.registry="sparse+http://127.0.0.1:{server.server_port}/"'
    argv = ["cargo", "--config", 'source.crates-io.replace-with="day"', "--config", source, "generate-lockfile"]
    for Index.yanked in (False, True):
        with tempfile.TemporaryDirectory() as home:
            settings = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "CARGO_HOME": home}
            code = subprocess.run(argv, cwd=folder, env={**os.environ, **settings}, check=False).returncode
        if code == 0:
            break
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

"""A `goldseam` for scripts to call: a program that has the command line run by `tests.forked`, and begins at once."""

from __future__ import annotations

import contextlib
import json
import socketserver
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests import forked

if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTED = '#!/bin/sh\nexec {python} -I -S {client} "$@"\n'
_CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as wire:
    wire.connect(os.path.join(os.path.dirname(__file__), "socket"))
    wire.sendall(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode() + b"\\n")
    code, out, err = json.loads(wire.makefile().read())
for stream, text in ((sys.stdout, out), (sys.stderr, err)):
    stream.buffer.write(text.encode("latin-1"))
    stream.flush()
sys.exit(code)
"""


class _Call(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        words, env, folder = json.loads(self.rfile.readline())
        done = forked.goldseam(*words, env=env, cwd=Path(folder))
        told = [done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")]
        self.wfile.write(json.dumps(told).encode())


@contextlib.contextmanager
def program() -> Iterator[Path]:
    """The path of the program, called `goldseam`; nothing else that can be called is in its folder."""
    with tempfile.TemporaryDirectory(prefix="goldseam-served-") as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "client.py").write_text(_CLIENT, encoding="ascii")
        started = folder / "bin" / "goldseam"
        started.write_text(_STARTED.format(python=sys.executable, client=folder / "client.py"), encoding="utf-8")
        started.chmod(0o755)
        with socketserver.ThreadingUnixStreamServer(str(folder / "socket"), _Call) as server:
            serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
            serving.start()
            yield started
            server.shutdown()
            serving.join()

"""The `goldseam` program in a process of its own, forked from a server that has imported its commands: a second less.

Tests of the interpreter's part in it (its exit, its encoding, signals before it has begun) start it anew.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from harness.core.process import Completed
from miner.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([entry.module for panel in main.COMMANDS.values() for entry in panel.values()])


def goldseam(
    *words: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None, said: bytes = b""
) -> Completed:
    """The command line, run to its end with these variables over the environment; it reads what is `said`."""
    argv = tuple(map(str, words))
    with tempfile.TemporaryDirectory(prefix="goldseam-streams-") as folder:
        streams = [Path(folder, name) for name in ("in", "out", "err")]
        streams[0].write_bytes(said)
        child = _SERVER.Process(target=_call, args=(argv, {**os.environ, **(env or {})}, cwd or Path.cwd(), streams))
        child.start()
        try:
            child.join()
        finally:
            child.kill()  # where a test takes too long
        _, out, err = (path.read_bytes() for path in streams)
    return Completed(argv=("goldseam", *argv), returncode=child.exitcode, stdout=out, stderr=err)


class Started:
    """A command line that runs; a context manager like `subprocess.Popen`. What it prints as its result is lost."""

    def __init__(self, words: tuple[str | Path, ...], env: Mapping[str, str]) -> None:
        reading, writing = _SERVER.Pipe(duplex=False)
        argv = tuple(map(str, words))
        self._child = _SERVER.Process(target=_call_told, args=(argv, {**os.environ, **env}, Path.cwd(), writing))
        self._child.start()
        writing.close()
        self.pid = self._child.pid or 0
        self.stderr: IO[str] = os.fdopen(os.dup(reading.fileno()), encoding="utf-8")
        """What it tells."""
        reading.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self.kill()
        self.wait()
        self.stderr.close()

    def poll(self) -> int | None:
        """Its exit code once it has ended, negative where a signal ended it."""
        return self._child.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._child.join(timeout)
        code = self.poll()
        assert code is not None, f"it has not ended after {timeout} s"
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._child.kill()

    def terminate(self) -> None:
        self._child.terminate()


def started(*words: str | Path, env: Mapping[str, str] | None = None) -> Started:
    """The command line, begun with these variables over the environment."""
    return Started(words, env or {})


def _call_told(argv: tuple[str, ...], env: Mapping[str, str], cwd: Path, told: Connection) -> None:
    os.dup2(told.fileno(), 2)
    told.close()
    _call(argv, env, cwd, [Path(os.devnull), Path(os.devnull)])


def _call(argv: tuple[str, ...], env: Mapping[str, str], cwd: Path, streams: list[Path]) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_APPEND | os.O_CREAT | (os.O_WRONLY if number else os.O_RDONLY)), number)
    sys.argv = ["goldseam", *argv]
    try:
        with open(0, closefd=False) as sys.stdin:
            main.main()
    finally:
        sys.stdout.flush()
        atexit._run_exitfuncs()

"""Answers kept, so that a question that was paid for is not paid for again: one SQLite file, its owner's alone.

The key is everything that an answer depends on. A model behind a floating name may be another one tomorrow, so the key
of its answers has the day in it; a dated snapshot's has not. Errors and replies that broke off are never kept. The
questions are not in the file, only the hash of each; the answers are.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.core import files
from harness.core.errors import GoldseamError
from harness.solve.base import Reply, Request
from harness.solve.models.retry import CUT

_T = TypeVar("_T")

CACHE_FILE = "responses.sqlite3"
DEFAULT_MAX_MB = 512
_VERSION = 1
"""Of the key and of what is kept; a part of every key."""
_BUSY_SECONDS = 30.0
_KEPT = 0.9
"""How full the file is, of what it may be, after the oldest answers were dropped."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key BLOB PRIMARY KEY, made REAL NOT NULL, digest BLOB NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_age ON replies (made);
"""
_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who is asked: the part of a key that all questions to one model share."""

    endpoint: str
    api: str
    """`chat` or `responses`: the same endpoint may answer differently by each."""
    model: str
    day: date | None
    """Of a floating name, the day in UTC; None for a dated snapshot."""

    def key(self, request: Request) -> bytes:
        """SHA-256 over everything that the answer depends on."""
        parts = {
            "version": _VERSION,
            "endpoint": self.endpoint.rstrip("/"),
            "api": self.api,
            "model": self.model,
            "day": self.day.isoformat() if self.day else None,
            "messages": [asdict(message) for message in request.messages],
            "tools": [{**vars(tool), "parameters": dict(tool.parameters)} for tool in request.tools],
            "sampling": asdict(request.sampling),
            "sample": request.sample,
            **({"extra": dict(request.extra)} if request.extra else {}),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()


class ResponseCache:
    """A folder's `responses.sqlite3`. Safe for threads, for several processes and for `kill -9`.

    A cache is a convenience: one that is broken is moved aside, one that is busy or on a full disk is done without, and
    `note` is told, once each.
    """

    def __init__(
        self, folder: Path, *, max_mb: int = DEFAULT_MAX_MB, note: Callable[[str], None] = lambda _: None
    ) -> None:
        self.path = folder / CACHE_FILE
        self._max_bytes = max_mb * 1024 * 1024
        self._note = note
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        with files.explained(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def get(self, key: bytes) -> Reply | None:
        """The answer kept under a key; None where there is none that can be read."""
        return self._do(lambda connection: _get(connection, key))

    def store(self, key: bytes, reply: Reply) -> None:
        """Keep an answer, unless it broke off or is no news."""
        if reply.finish_reason == CUT or reply.cached:
            return
        body = _REPLY.dump_json(replace(reply, retries=(), waited_seconds=0.0))
        row = (key, time.time(), hashlib.sha256(body).digest(), body)
        self._do(lambda connection: self._store(connection, row))

    def _store(self, connection: sqlite3.Connection, row: tuple[bytes, float, bytes, bytes]) -> None:
        connection.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", row)
        if _used_bytes(connection) > self._max_bytes:
            self._shrink(connection)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._disconnect()

    def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Work on the file, one thread at a time; None where it cannot be used now."""
        with self._lock:
            try:
                return work(self._connect())
            except sqlite3.OperationalError as error:  # busy for too long, a full or read-only disk
                self._tell(f"the response cache {self.path} is not used: {error}")
                self._disconnect()
            except sqlite3.DatabaseError as error:
                self._disconnect()
                self._move_aside(str(error))
            except GoldseamError as error:
                self._tell(f"the response cache is not used: {error.message}")
        return None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        with files.explained(self.path):
            self.path.touch(mode=0o600)  # SQLite gives the files beside it the same mode
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._connection = connection
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # has to be said before anything is in the file
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a crash of the machine may lose answers, never the file
        connection.executescript(_SCHEMA)
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _move_aside(self, why: str) -> None:
        aside = self.path.with_name(f"{self.path.name}.broken-{time.strftime('%Y%m%dT%H%M%S')}")
        with contextlib.suppress(OSError):
            self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._tell(f"the response cache was broken ({why}); it is now {aside}, and a new one was begun")

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._note(text)

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Drop the oldest answers until the file is small enough again."""
        while _used_bytes(connection) > self._max_bytes * _KEPT:
            (count,) = connection.execute("SELECT COUNT(*) FROM replies").fetchone()
            if not count:
                break
            oldest = "SELECT key FROM replies ORDER BY made LIMIT ?"
            connection.execute(f"DELETE FROM replies WHERE key IN ({oldest})", (max(1, count // 20),))  # noqa: S608
        connection.execute("PRAGMA incremental_vacuum").fetchall()


@contextlib.contextmanager
def opened(folder: Path | None, *, max_mb: int, note: Callable[[str], None]) -> Iterator[ResponseCache | None]:
    """The cache in a folder, closed at the end; None where there is no folder, so that none is wanted.

    Raises:
        InputError: the folder can't be made.

    """
    if folder is None:
        yield None
        return
    with contextlib.closing(ResponseCache(folder, max_mb=max_mb, note=note)) as cache:
        yield cache


def _get(connection: sqlite3.Connection, key: bytes) -> Reply | None:
    row = connection.execute("SELECT digest, body FROM replies WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    digest, body = row
    if isinstance(body, bytes) and hashlib.sha256(body).digest() == digest:
        with contextlib.suppress(ValidationError):
            return replace(_REPLY.validate_json(body), cached=True)
    connection.execute("DELETE FROM replies WHERE key = ?", (key,))
    return None


def _used_bytes(connection: sqlite3.Connection) -> int:
    """Bytes of the file that hold something."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)

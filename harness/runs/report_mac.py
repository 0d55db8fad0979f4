"""Message authentication codes over verdicts, by a key of this machine or one that machines share.

A report that somebody wrote by hand, or took over from another run, has none that holds: docs/adr/0013.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.core import files
from harness.core.errors import InputError
from harness.dataset.seal.identity import SOURCES, read_secret

VARIABLE = "GOLDSEAM_REPORT_KEY"
KEY_FILE = "report.key"
FIELD = "mac"
_SHORTEST = 32
"""Characters of a shared key: 16 random bytes as hex digits."""


def of(kind: str, *parts: bytes) -> str:
    """HMAC-SHA256 (hex) over parts, each with its length; makes this machine's key where there is none yet.

    Raises:
        InputError: the key cannot be read or written, or is too short.

    """
    return _digest(_key(os.environ.get(VARIABLE) or "", files.cache_dir()), kind, parts)


def holds(mac: object, kind: str, *parts: bytes) -> bool:
    """True where this key made the code for these parts; false where there is no key.

    Raises:
        InputError: the key that the environment names cannot be read, or is too short.

    """
    source, folder = os.environ.get(VARIABLE) or "", files.cache_dir()
    if not isinstance(mac, str) or not (source or (folder / KEY_FILE).exists()):
        return False
    return hmac.compare_digest(mac.encode(), _digest(_key(source, folder), kind, parts).encode())


def of_json(kind: str, fields: dict[str, Any], *parts: bytes) -> str:
    """As `of`, over the fields of a JSON object other than its `mac`, and further parts."""
    return of(kind, _canonical(fields), *parts)


def holds_json(kind: str, fields: dict[str, Any], *parts: bytes) -> bool:
    """As `holds`, for the `mac` of a JSON object."""
    return holds(fields.get(FIELD), kind, _canonical(fields), *parts)


def _canonical(fields: dict[str, Any]) -> bytes:
    covered = {name: value for name, value in fields.items() if name != FIELD}
    return json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _digest(key: bytes, kind: str, parts: tuple[bytes, ...]) -> str:
    code = hmac.new(key, digestmod=hashlib.sha256)
    for part in (kind.encode(), *parts):
        code.update(len(part).to_bytes(8, "big"))
        code.update(part)
    return code.hexdigest()


@lru_cache(maxsize=8)
def _key(source: str, folder: Path) -> bytes:
    text = read_secret(source, label=f"the report key ({VARIABLE})") if source else _own(folder / KEY_FILE)
    if len(text.strip()) < _SHORTEST:
        where = VARIABLE if source else folder / KEY_FILE
        raise InputError(
            f"the report key ({where}) has fewer than {_SHORTEST} characters",
            hint=f"make one with `openssl rand -hex 32`; give {SOURCES}",
        )
    return hashlib.sha256(text.strip().encode()).digest()


def _own(path: Path) -> str:
    """The key of this machine, made by whoever is first."""
    with files.explained(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(f"{secrets.token_hex(32)}\n")
                    file.flush()
                    os.fsync(file.fileno())
                if not path.exists():
                    os.link(temporary, path)
            except FileExistsError:
                pass  # another process was first
            finally:
                temporary.unlink()
        return path.read_text(encoding="ascii")

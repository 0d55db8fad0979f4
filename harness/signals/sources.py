"""The changed files of one prediction, kept beside its report until the tools have read them."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Base64Bytes, ValidationError

from harness.core import json_text
from harness.core.records import PartialRecord
from harness.signals.observed import Source

FILE = "sources.json.gz"
SCHEMA_VERSION = 1
_LARGEST = 16 * 1024 * 1024


class _File(PartialRecord):
    path: str
    before: Base64Bytes | None
    after: Base64Bytes | None


class _Config(PartialRecord):
    path: str
    data: Base64Bytes


class _StoredSource(PartialRecord):
    schema_version: int = SCHEMA_VERSION
    python: str
    files: tuple[_File, ...]
    configs: tuple[_Config, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files that the tools are to read for one prediction."""

    python: str
    """The task's minor version of Python, such as `3.11`."""
    files: tuple[Source, ...]
    configs: tuple[tuple[str, bytes], ...] = ()
    """Configurations of eslint in the base that hold for a changed file: path and content."""

    @property
    def size(self) -> int:
        """Bytes of all files, before and after."""
        return sum(len(side) for file in self.files for side in (file.before, file.after) if side is not None)

    def as_json(self) -> dict[str, Any]:
        """As JSON has them: contents in base 64."""
        files = (
            {"path": file.path, "before": _encoded(file.before), "after": _encoded(file.after)} for file in self.files
        )
        configs = ({"path": path, "data": _encoded(data)} for path, data in self.configs)
        return {"python": self.python, "files": list(files), "configs": list(configs)}

    def packed(self) -> bytes:
        """As they are kept on disk."""
        text = json.dumps({"schema_version": SCHEMA_VERSION, **self.as_json()})
        return gzip.compress(text.encode(), compresslevel=1, mtime=0)

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """The opposite of `packed`.

        Raises:
            ValueError: this is something else.

        """
        try:
            unzip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            text = unzip.decompress(data, _LARGEST)
            source = _StoredSource.model_validate(json_text.loads(text))
        except (zlib.error, ValidationError, ValueError) as error:
            raise ValueError(f"these are no kept sources: {error}") from error
        return cls(
            python=source.python,
            files=tuple(Source(path=file.path, before=file.before, after=file.after) for file in source.files),
            configs=tuple((config.path, config.data) for config in source.configs),
        )


def to_read(python: str, sources: Sequence[Source], configs: Sequence[tuple[str, bytes]] = ()) -> Sources | None:
    """The files for the tools to read; None where there are none."""
    files = tuple(source for source in sources if source.before is not None or source.after is not None)
    return Sources(python=python, files=files, configs=tuple(configs)) if files else None


def _encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")

"""cursors.json: how far each origin has been mined into a dataset, so that the next mine looks at what is new only."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.core import files
from harness.core.errors import InputError
from harness.core.records import OpenRecord
from harness.dataset.seal.canary_marks import FIELD
from miner.sources.origin import Progress

FILE = "cursors.json"
SCHEMA_VERSION = 1


class Cursor(OpenRecord):
    """How far one origin has been mined."""

    tip: str
    """Newest commit of the default branch then."""
    updated: str = ""
    """When the newest pull request seen then had last been changed."""
    rules: str = ""
    """What was asked then; a mine that asks something else looks at everything again."""
    repo: str = ""
    """`owner/name` as it was then."""


class _File(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    schema_version: int = SCHEMA_VERSION
    origins: dict[str, Cursor] = Field(default_factory=dict)


class Cursors:
    """The cursors of a dataset."""

    def __init__(self, dataset: Path, *, canary: str = "") -> None:
        """Read them. `canary` is the dataset's own, to stand in the file.

        Raises:
            InputError: the file is broken, or of a newer goldseam.

        """
        self._path = dataset / FILE
        try:
            self._file = _File.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            self._file = _File.model_validate({FIELD: canary} if canary else {})
        except (ValidationError, OSError) as error:
            raise InputError(
                f"{self._path} can't be read: {type(error).__name__}",
                hint="remove it: everything will be looked at again, nothing decided is lost",
            ) from error
        if self._file.schema_version > SCHEMA_VERSION:
            raise InputError(
                f"{self._path} has schema_version {self._file.schema_version}, expected {SCHEMA_VERSION}",
                hint="upgrade goldseam",
            )

    def get(self, origin: str, rules: str) -> Progress | None:
        """How far an origin has been mined under the same rules."""
        cursor = self._file.origins.get(origin)
        return Progress(tip=cursor.tip, updated=cursor.updated) if cursor and cursor.rules == rules else None

    def set(self, origin: str, cursor: Cursor) -> None:
        """Keep how far an origin has been mined."""
        self._file.origins[origin] = cursor
        files.write_json(self._path, self._file.model_dump())

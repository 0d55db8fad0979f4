"""One line of the ledger: its fields, its text, its hash. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, ValidationError

from harness.core import json_text
from harness.core.records import OpenRecord
from harness.core.wording import kind_of, problems

LEDGER_VERSION = 1
GENESIS = "0" * 64
"""`prev` of the first line."""

_SEAL = ("hash", "signature")
"""Fields that the hash does not cover: itself, and the signature over it."""


class Event(StrEnum):
    """Events of a dataset and its tasks."""

    CREATED = "created"
    """The dataset was created."""
    SEALED = "sealed"
    """Its hidden files were encrypted."""
    OPENED = "opened"
    """Hidden files were decrypted."""
    EVALUATED = "evaluated"
    """Patches were scored on tasks."""
    EXPOSED = "exposed"
    """Tasks were shown to a model."""
    EXPORTED = "exported"
    """Tasks were written for another tool."""
    IMPORTED = "imported"
    """Rows of another dataset were imported."""
    MERGED = "merged"
    """The dataset was made of several others."""
    SPLIT = "split"
    """A rule moved tasks between splits."""
    QUARANTINED = "quarantined"
    """Tasks were taken out of all scores."""
    RETIRED = "retired"
    """Tasks were taken out of the holdout for good."""
    ROTATED = "rotated"
    """The policy retired tasks."""
    RELEASED = "released"
    """Tasks were taken out of quarantine."""
    REVEALED = "revealed"
    """Hidden tests were made public."""
    BOUND = "bound"
    """Parts of tasks or of dataset.yaml were changed, or bound as they are."""
    JOINED = "joined"
    """Two branches of the ledger were brought together."""


class Entry(OpenRecord):
    """One thing that happened, as its line has it; facts of the event are further fields."""

    schema_version: Annotated[int, Field(ge=1)]
    seq: Annotated[int, Field(ge=1)]
    """From 1 along the chain; two branches that were joined share numbers."""
    at: str
    """ISO 8601 in UTC."""
    who: str
    event: str
    """A word of `Event`, or one of a newer goldseam."""
    tasks: tuple[str, ...] = ()
    prev: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Hash of the line that this one follows."""
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    signature: str | None = None
    """Ed25519 over the hash, base64."""
    key: str | None = None
    """The public key that the signature holds for: 32 bytes, base64."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The further fields."""
        return self.model_extra or {}


RESERVED = frozenset(Entry.model_fields)


class NotAnEntryError(ValueError):
    """A line that is no entry; the message says why not."""


def digest(fields: Mapping[str, Any]) -> str:
    """SHA-256 (hex) over the canonical JSON of a line: keys sorted, no spaces, UTF-8, without hash and signature."""
    covered = {name: value for name, value in fields.items() if name not in _SEAL}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def render(fields: Mapping[str, Any]) -> bytes:
    """A line's text, without its line feed."""
    return json.dumps(fields, ensure_ascii=True, allow_nan=False).encode()


def parse(line: bytes) -> tuple[Entry, dict[str, Any]]:
    """Read a line: the entry, and its fields as they are on disk.

    Raises:
        NotAnEntryError: it is not JSON, or lacks what every entry has.

    """
    try:
        raw = json_text.loads(line)
    except ValueError as error:
        raise NotAnEntryError("it is not JSON") from error
    if not isinstance(raw, dict):
        raise NotAnEntryError(f"expected an object, found {kind_of(raw)}")
    try:
        return Entry.model_validate(raw), raw
    except ValidationError as error:
        raise NotAnEntryError(problems(error.errors(), whole="line", most=3)) from error


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the file, whatever it holds."""

    number: int
    """From 1."""
    text: bytes
    entry: Entry | None
    """None where it is no entry."""
    problem: str = ""
    """Why it is none."""
    intact: bool = False
    """Its hash is the hash of its fields, and it is written as goldseam writes it."""
    ended: bool = True
    """It has its line feed."""


def lines(data: bytes) -> tuple[Line, ...]:
    """Every line of a ledger's bytes."""
    if not data:
        return ()
    texts = data.split(b"\n")
    ended = texts[-1] == b""
    if ended:
        texts.pop()
    return tuple(_line(number, text, ended=ended or number < len(texts)) for number, text in enumerate(texts, start=1))


def _line(number: int, text: bytes, *, ended: bool) -> Line:
    try:
        entry, raw = parse(text)
    except NotAnEntryError as error:
        return Line(number=number, text=text, entry=None, problem=str(error), ended=ended)
    try:
        intact = digest(raw) == entry.hash and render(raw) == text
    except ValueError:  # a number such as NaN, which no ledger of ours holds
        intact = False
    if not ended and not intact:
        return Line(number=number, text=text, entry=None, problem="it was cut short", ended=False)
    return Line(number=number, text=text, entry=entry, intact=intact, ended=ended)


def torn_note(broken: Iterable[Line]) -> list[dict[str, Any]]:
    """The note of an entry on the broken lines just before it: their lengths in bytes and their hashes."""
    return [{"bytes": len(line.text), "sha256": hashlib.sha256(line.text).hexdigest()} for line in broken]

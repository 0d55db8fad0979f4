"""Rows of SWE-bench's form, read strictly: each line is a row, or there is a reason why it is none.

Field names and the lists inside strings are those of the dataset `princeton-nlp/SWE-bench` on Hugging Face.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from harness.core import json_text
from harness.core.errors import InputError
from harness.core.instance import INSTANCE_ID
from harness.core.records import OpenRecord
from harness.core.wording import kind_of, problems
from harness.patches import patch
from harness.patches.patch import PatchError

MAX_ROW_BYTES = 32 * 1024 * 1024
"""A longer line is not read; SWE-bench's longest has 2 MiB."""
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row as it was given."""

    line: int
    """Where it stood in its file, from 1."""
    digest: str
    """SHA-256 (hex) over what the row says: two rows of the same digest say the same."""
    instance_id: str
    repo: str
    base_commit: str
    patch: bytes
    test_patch: bytes
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    problem_statement: str
    hints: str = ""
    created_at: str = ""
    version: str = ""
    """Of the project, by SWE-bench's table; ours is the interpreter's."""
    further: dict[str, Any] = field(default_factory=dict)
    """Fields that this version does not know."""


@dataclass(frozen=True, kw_only=True)
class BadRow:
    """A line that is no row, and the reason."""

    line: int
    digest: str
    reason: str
    """A stable word of the funnel."""
    detail: str
    instance_id: str = ""
    repo: str = ""


class _RefusedError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def _list(value: object) -> object:
    """A list of ids, or one written inside a string: as JSON (SWE-bench) or as Python prints it (Multimodal)."""
    if not isinstance(value, str):
        return value
    for read in (json_text.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return read(value)
    raise ValueError(f"a string that holds no list: {value[:60]!r}")


Ids = Annotated[tuple[str, ...], BeforeValidator(_list)]


class _RowModel(OpenRecord):
    instance_id: str
    repo: str
    base_commit: str
    patch: str
    test_patch: str
    problem_statement: str
    FAIL_TO_PASS: Ids
    PASS_TO_PASS: Ids = Field(default=())
    hints_text: str | None = ""
    created_at: str | int | float | None = ""
    version: str | float | None = ""


def read_rows(path: Path) -> Iterator[Row | BadRow]:
    """Every line of a file of rows (JSON Lines), in its order; a line that is no row comes with its reason.

    Empty lines are none. Of two rows with the same instance_id the second is bad.

    Raises:
        InputError: the file can't be read, or it has no line at all.

    """
    numbers: dict[str, int] = {}
    number = 0
    try:
        with path.open("rb") as file:
            for number, data in _lines(file):
                row = _read(number, data)
                if isinstance(row, Row) and row.instance_id in numbers:
                    row = BadRow(
                        line=number,
                        digest=hashlib.sha256(f"{row.digest} again".encode()).hexdigest(),
                        reason="duplicate",
                        detail=f"line {numbers[row.instance_id]} has the same instance_id",
                        instance_id=row.instance_id,
                        repo=row.repo,
                    )
                if isinstance(row, Row):
                    numbers[row.instance_id] = number
                yield row
    except OSError as error:
        hint = "give a file of SWE-bench rows, one JSON object a line"
        raise InputError(f"{path} can't be read: {error.strerror or error}", hint=hint) from error
    if number == 0:
        raise InputError(f"{path} has no row", hint="give a file of SWE-bench rows, one JSON object a line")


def _lines(file: Any) -> Iterator[tuple[int, bytes]]:
    """Lines that are not empty, with their numbers; of one that is too long as much as shows that."""
    number = 0
    while data := file.readline(MAX_ROW_BYTES + 1):
        number += 1
        more = data
        while len(more) > MAX_ROW_BYTES and not more.endswith(b"\n"):
            more = file.readline(MAX_ROW_BYTES + 1)
        if data.strip():
            yield number, data


def _read(number: int, data: bytes) -> Row | BadRow:
    digest = hashlib.sha256(data.strip()).hexdigest()
    by_name: dict[str, str] = {}
    try:
        raw = _object(data)
        by_name = {
            key: raw[key]
            for key, form in (("instance_id", INSTANCE_ID), ("repo", _REPOSITORY))
            if isinstance(raw.get(key), str) and form.fullmatch(raw[key])
        }
        digest = hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()
        return _row(number, digest, raw)
    except _RefusedError as refused:
        return BadRow(line=number, digest=digest, reason=refused.reason, detail=f"line {number}: {refused}", **by_name)


def _object(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_ROW_BYTES:
        raise _RefusedError("row_too_large", f"more than {MAX_ROW_BYTES} bytes")
    try:
        raw = json_text.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _RefusedError("row_unreadable", f"not UTF-8 at byte {error.start}") from error
    except ValueError as error:
        raise _RefusedError("row_unreadable", f"not JSON: {str(error)[:200]}") from error
    if not isinstance(raw, dict):
        raise _RefusedError("row_unreadable", f"expected a JSON object, found {kind_of(raw)}")
    return raw


def _row(number: int, digest: str, raw: dict[str, Any]) -> Row:
    try:
        model = _RowModel.model_validate(raw)
    except ValidationError as error:
        raise _RefusedError("row_incomplete", problems(error.errors(), most=5)) from error
    if not INSTANCE_ID.fullmatch(model.instance_id):
        raise _RefusedError(
            "row_incomplete", f"{model.instance_id[:80]!r} is not an instance id (letters, digits, `_.-`)"
        )
    if not _REPOSITORY.fullmatch(model.repo):
        raise _RefusedError("row_incomplete", f"repo: expected owner/name, found {model.repo[:80]!r}")
    if not _COMMIT.fullmatch(model.base_commit):
        raise _RefusedError("bad_base_commit", f"expected a whole SHA, found {model.base_commit[:80]!r}")
    if not model.problem_statement.strip():
        raise _RefusedError("row_incomplete", "problem_statement is empty")
    if not model.FAIL_TO_PASS:
        raise _RefusedError("row_incomplete", "FAIL_TO_PASS is empty, so nothing could resolve the row")
    field_names = set(_RowModel.model_fields)
    return Row(
        line=number,
        digest=digest,
        instance_id=model.instance_id,
        repo=model.repo,
        base_commit=model.base_commit,
        patch=_patch("patch", model.patch),
        test_patch=_patch("test_patch", model.test_patch),
        fail_to_pass=model.FAIL_TO_PASS,
        pass_to_pass=model.PASS_TO_PASS,
        problem_statement=_text(model.problem_statement),
        hints=_text(model.hints_text or ""),
        created_at=_moment(model.created_at),
        version=str(model.version or ""),
        further={key: value for key, value in raw.items() if key not in field_names},
    )


def _text(text: str) -> str:
    """Text that UTF-8 can hold; half a surrogate pair, as JSON can hold it, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def _patch(name: str, text: str) -> bytes:
    try:
        data = text.encode("utf-8", "surrogateescape")
        patch.parse(data, trusted=True)
    except (PatchError, UnicodeEncodeError) as error:
        raise _RefusedError("bad_patch", f"{name}: {error}") from error
    return data


def _moment(value: str | float | None) -> str:
    """ISO 8601 in UTC, from that or from milliseconds since 1970 (as some tables export them); "" if neither."""
    try:
        if isinstance(value, int | float):
            moment = datetime.fromtimestamp(value / 1000, tz=UTC)
        else:
            moment = datetime.fromisoformat(value or "")
    except (ValueError, OverflowError, OSError):
        return ""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

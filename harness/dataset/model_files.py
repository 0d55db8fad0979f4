"""One file with a schema: read with one clear error for whatever is wrong with it, and written whole or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from harness import files
from harness.dataset.schema import SCHEMA_VERSION, FileModel
from harness.errors import InputError
from harness.versions import refuse_newer

if TYPE_CHECKING:
    from pathlib import Path

Model = TypeVar("Model", bound=FileModel)
_FAST: Any = getattr(yaml, "CSafeLoader", None)
"""libyaml's loader, which is ten times as fast; PyYAML can be built without it."""
_DEEPEST = 50


def read_model(path: Path, kind: type[Model]) -> Model:
    """Read a YAML or JSON file into its model.

    Raises:
        InputError: missing, not UTF-8, not YAML or JSON, a wrong type, or written by a newer goldseam.

    """
    return parse_model(read_bytes(path), path, kind)


def parse_model(data: bytes, path: Path, kind: type[Model]) -> Model:
    """As `read_model`, from bytes that are already here; `path` is their name in messages."""
    text = decoded(data, path)
    try:
        raw: Any = json.loads(text) if path.suffix == ".json" else read_yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path} is not {path.suffix[1:].upper()}: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected a mapping of fields, found {type(raw).__name__}")
    refuse_newer(path, raw.get("schema_version", SCHEMA_VERSION), SCHEMA_VERSION)
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'file'}: {item['msg']}" for item in error.errors()[:5]
        )
        raise InputError(f"{path}: {problems}") from error


def read_yaml(text: str) -> Any:
    """As `yaml.safe_load`, in a sixth of the time: a run reads each task's file several times.

    libyaml's loader calls itself for each level without a bound, and a file of many levels would end the process; such
    files are left to the loader that raises RecursionError.

    Raises:
        YAMLError: it is no YAML.
        RecursionError: it is nested deeper than Python goes.

    """
    if _FAST is None or _is_deep(text):
        return yaml.safe_load(text)
    return yaml.load(text, Loader=_FAST)  # noqa: S506 - a safe loader


def _is_deep(text: str) -> bool:
    depth = 0
    for event in yaml.parse(text, Loader=_FAST):  # one after the other, so no depth can hurt
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                return True
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return False


def write_model(path: Path, model: FileModel) -> None:
    """Write a model as YAML, in the order of its fields."""
    text = yaml.safe_dump(model.known(), sort_keys=False, allow_unicode=True, width=120)
    files.write_text(path, text)


def read_bytes(path: Path) -> bytes:
    """A file's bytes; missing or unreadable is an InputError that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """A file's text, UTF-8; anything else is an InputError that names it."""
    return decoded(read_bytes(path), path)


def decoded(data: bytes, path: Path) -> str:
    """Bytes as text, UTF-8; `path` is their name in messages.

    Raises:
        InputError: they are none.

    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8 (byte {error.start} of the file)") from error

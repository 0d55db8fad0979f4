"""One file with a schema: read with one clear error for whatever is wrong with it, and written whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from harness.core import files, json_text, wording
from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.dataset.schema import SCHEMA_VERSION, FileModel

Model = TypeVar("Model", bound=FileModel)
_FAST: Any = getattr(yaml, "CSafeLoader", None)
"""libyaml's loader, which is ten times as fast; PyYAML can be built without it."""
_DEEPEST = 50
_LARGEST_YAML = 8 * 1024 * 1024
_MOST_KEPT = 50_000
"""Characters; a task's file has about 4,000."""
_LONG_NUMBER = re.compile(r"[-+]?[0-9][0-9_:.]{100,}")
_SHOWN = 200


def read_model(path: Path, kind: type[Model]) -> Model:
    """Read a YAML or JSON file into its model.

    Raises:
        InputError: missing, too large, not UTF-8, not YAML or JSON, a wrong type, or written by a newer goldseam.

    """
    with contextlib.suppress(OSError):  # told of when it is read
        size = path.stat().st_size
        if size > _LARGEST_YAML and path.suffix != ".json":
            raise InputError(f"{path} has {size} bytes; a YAML file of a dataset has {_LARGEST_YAML} at most")
    return parse_model(read_bytes(path), path, kind)


def parse_model(data: bytes, path: Path, kind: type[Model]) -> Model:
    """As `read_model`, from bytes that are already here; `path` is their name in messages."""
    text = decoded(data, path)
    try:
        raw: Any = json_text.loads(text) if path.suffix == ".json" else _yaml_of(text, path)
    except (ValueError, yaml.YAMLError) as error:
        raise InputError(f"{path} is {wording.not_readable(path.suffix[1:].upper(), error)}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected a mapping of fields, found {wording.kind_of(raw)}")
    refuse_newer(path, raw.get("schema_version", SCHEMA_VERSION), SCHEMA_VERSION)
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {wording.file_problems(error.errors())}") from error


def read_yaml(text: str, path: Path) -> Any:
    """As `yaml.safe_load`, in a sixth of the time.

    Others write datasets. What makes a small file large or slow is refused: anchors and aliases, many levels, endless
    numbers, which to the base of 60 take the square of their length.

    Raises:
        YAMLError: it is no YAML.
        InputError: it holds one of those; the message names the line.

    """
    loader = _FAST or yaml.SafeLoader
    depth = 0
    for event in yaml.parse(text, Loader=loader):  # one after the other, so no depth can hurt
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        trick = None
        if isinstance(event, yaml.AliasEvent):
            trick = f"an alias (*{event.anchor}): write the value out"
        elif isinstance(event, yaml.NodeEvent) and event.anchor:
            trick = f"an anchor (&{event.anchor}): write the value out where it is needed"
        elif depth > _DEEPEST:
            trick = f"more than {_DEEPEST} levels"
        elif isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _LONG_NUMBER.fullmatch(event.value):
            trick = f"a number of {len(event.value)} characters"
        if trick:
            line = event.start_mark.line + 1 if event.start_mark else "?"
            raise InputError(f"{path}, line {line}: a dataset may not hold {trick[:_SHOWN]}")
    return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader


def _yaml_of(text: str, path: Path) -> Any:
    """As `read_yaml`, for a caller that leaves it as it is: a command reads each task's file about five times."""
    return _kept_yaml(text, path) if len(text) <= _MOST_KEPT else read_yaml(text, path)


_kept_yaml = functools.lru_cache(maxsize=2000)(read_yaml)


class _Dumper(yaml.SafeDumper):
    """Writes a value out wherever it is."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's own words
        return True


def write_model(path: Path, model: FileModel) -> None:
    """Write a model as YAML, in the order of its fields."""
    text = yaml.dump(model.as_written(), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
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
    """Bytes as text, UTF-8, without a byte order mark; `path` is their name in messages.

    Raises:
        InputError: they are none.

    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8 (byte {error.start} of the file)") from error

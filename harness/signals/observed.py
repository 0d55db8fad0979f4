"""Observations of a trial's supervisor beside the tests: frames of its own, read here. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ValidationError

from harness.core.instance import Budgets, TestSpec
from harness.core.records import PartialRecord
from harness.judging.frames import in_characters
from harness.patches.patch import FilePatch, Patch
from harness.signals import eslint_config

FILE_BYTES = 512 * 1024
"""A larger file is not looked into."""
TOTAL_BYTES = 4 * 1024 * 1024
"""Of one prediction, before and after together."""
MAX_FILES = 200
SUFFIXES = (
    *(".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".rs", ".java", ".kt", ".scala", ".swift"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".m", ".rb", ".php", ".lua"),
)
"""Files that some tool reads."""
CONFIGURATION = "configuration"
"""A `source` frame with this for `why` has in `before` a configuration of eslint, as it is in the base."""
_CONFIGS = 1000
"""Paths at which a configuration may lie."""
_COMPILE_SECONDS = 5.0
_IMPORT_SECONDS = 2.0
_ENTRIES = 5000
_PATHS = 10
_MIB = 1024 * 1024


class CompiledFrame(PartialRecord):
    """Per file: path, whether it compiles, error, line."""

    files: tuple[tuple[str, bool | None, str, int], ...]
    why: str


class AfterFrame(PartialRecord):
    """Files and processes that were left after the tests."""

    network: dict[str, int]
    files: int
    bytes: int
    paths: tuple[str, ...]
    own_files: int
    more: bool
    modules: tuple[str, ...]
    loaded: str | None
    imports: tuple[tuple[str, str, str], ...]
    why: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A changed file that tools read: before and after the patch, None where it is not there."""

    path: str
    before: bytes | None
    after: bytes | None
    why_not: str = ""
    """Why its content is not here."""


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Observations of the supervisor beside the tests' results; None for one that it did not make."""

    sources: tuple[Source, ...] = ()
    configs: tuple[tuple[str, bytes], ...] = ()
    """Configurations of eslint in the base: path and content."""
    compiled: CompiledFrame | None = None
    after: AfterFrame | None = None

    @classmethod
    def read(cls, frames: Iterable[Mapping[str, Any]]) -> Self:
        """From the supervisor's frames. What does not fit is left out."""
        sources: list[Source] = []
        configs: list[tuple[str, bytes]] = []
        compiled: CompiledFrame | None = None
        after: AfterFrame | None = None
        for raw in frames:
            frame = in_characters(raw)
            try:
                if frame["t"] == "source" and frame["why"] == CONFIGURATION:
                    configs.append((str(frame["old"]), base64.b64decode(frame["before"] or "", validate=True)))
                elif frame["t"] == "source":
                    sources.append(_source(frame))
                elif frame["t"] == "compiled":
                    compiled = CompiledFrame.model_validate(frame)
                elif frame["t"] == "after":
                    after = AfterFrame.model_validate(frame)
            except (ValidationError, binascii.Error, ValueError):
                continue
        return cls(sources=tuple(sources), configs=tuple(configs), compiled=compiled, after=after)


def request(patch: Patch | None, test: TestSpec, budgets: Budgets) -> dict[str, Any]:
    """The observations that the supervisor is asked for."""
    files = readable_files(patch)[:MAX_FILES]
    changed = [file.path for file in files if file.path.endswith(eslint_config.SUFFIXES)]
    return {
        "configs": eslint_config.candidates(changed)[:_CONFIGS] if changed else [],
        "files": [[file.old_path, file.new_path] for file in files],
        "file_bytes": FILE_BYTES,
        "total_bytes": TOTAL_BYTES,
        "compile_seconds": _COMPILE_SECONDS,
        "import_seconds": _IMPORT_SECONDS,
        "entries": _ENTRIES,
        "paths": _PATHS,
        "memory": budgets.memory_mb * _MIB,
        "pythonpath": list(test.pythonpath),
    }


def readable_files(patch: Patch | None) -> Sequence[FilePatch]:
    """The parts of a patch whose files some tool reads."""
    if patch is None:
        return ()
    return [file for file in patch.files if file.path.endswith(SUFFIXES) and not file.binary]


def _source(frame: Mapping[str, Any]) -> Source:
    path = frame["new"] if frame["new"] is not None else frame["old"]
    sides = {
        side: None if frame[side] is None else base64.b64decode(frame[side], validate=True)
        for side in ("before", "after")
    }
    return Source(path=str(path), before=sides["before"], after=sides["after"], why_not=frame["why"])

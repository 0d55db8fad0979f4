"""Semgrep rules of this machine, as they are sent to the tools image."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = (".yaml", ".yml", ".json")
LARGEST = 4 * 1024 * 1024
"""Bytes of all rules together."""
_HINT = "semgrep_rules under [signals] in goldseam.toml, or GOLDSEAM_SIGNALS_SEMGREP_RULES, names a file or a folder"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules by name: a path below the folder, or of the one file its name."""

    files: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """SHA-256 of names and texts, its first 16 hex digits."""
        return hashlib.sha256(json.dumps(self.files).encode()).hexdigest()[:16]


def read(path: Path) -> Rules:
    """The rules in a file, or in the .yaml, .yml and .json files of a folder and those below it, hidden ones left out.

    Raises:
        InputError: there are none, they can't be read, or they are too large.

    """
    path = path.expanduser()
    if path.is_dir():
        paths = [file for file in sorted(path.rglob("*")) if file.is_file() and file.suffix in SUFFIXES]
        named_paths = [(file.relative_to(path).as_posix(), file) for file in paths]
        named_paths = [
            (name, file) for name, file in named_paths if not any(part.startswith(".") for part in name.split("/"))
        ]
    elif path.suffix in SUFFIXES:
        named_paths = [(path.name, path)]
    else:
        raise InputError(f"semgrep rules: {path} is not a folder and no .yaml, .yml or .json file", hint=_HINT)
    files: list[tuple[str, str]] = []
    left = LARGEST
    for name, rule_file in named_paths:
        try:
            left -= rule_file.stat().st_size
            if left < 0:
                raise InputError(f"semgrep rules: {path} has more than {LARGEST} bytes of them", hint=_HINT)
            files.append((name, rule_file.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"semgrep rules: {rule_file} can't be read: {error}", hint=_HINT) from error
    if not files:
        raise InputError(f"semgrep rules: {path} has no .yaml, .yml or .json file", hint=_HINT)
    return Rules(files=tuple(files))

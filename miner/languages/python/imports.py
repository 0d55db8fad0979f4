"""What a Python file imports of its tree: read as text, nothing is run. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)", re.MULTILINE)


def imported(path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterator[str]:
    """Paths of the tree's files that a Python file imports; packages by their `__init__.py`."""
    folders = [*roots, str(PurePosixPath(path).parent).removeprefix(".")]
    for match in _IMPORT.finditer(source):
        for part in _text(match[1]).split(","):
            yield from _files(part.split(" as ")[0].strip(), folders, files)
    for match in _FROM.finditer(source):
        dots, module = len(match[1]), _text(match[2])
        within = folders
        if dots:
            parents = PurePosixPath(path).parents
            within = [str(parents[dots - 1]).removeprefix(".")] if dots <= len(parents) else []
        yield from _files(module, within, files)
        for part in _text(match[3]).strip("()").split(","):
            name = part.split(" as ")[0].split("#")[0].strip()
            if name.isidentifier():
                yield from _files(f"{module}.{name}".strip("."), within, files)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _files(module: str, folders: Iterable[str], files: Mapping[str, bytes]) -> Iterator[str]:
    for folder in folders:
        place = "/".join(part for part in (folder, *module.split(".")) if part)
        for candidate in (f"{place}.py", f"{place}/__init__.py"):
            if candidate in files:
                yield candidate
                return

"""Python's source files, read as text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from harness.core import python_source
from harness.languages.base import TestReport
from harness.quality.base import Keyword, Names
from harness.quality.change import FileChange
from miner.evidence.tree import Tree
from miner.languages.base import Code, Described, FaultySource
from miner.languages.python import forms, names
from miner.languages.python.evidence import metadata

_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)", re.MULTILINE)


class PythonCode(Code):
    """Python by its syntax tree, faults by mutmut."""

    mutator = "mutmut"

    def is_source(self, path: str) -> bool:
        """Modules and stubs."""
        return path.endswith((".py", ".pyi"))

    def names(self, path: str, source: bytes, lines: Collection[int]) -> Names | None:
        """See miner/languages/python/names.py."""
        tree = python_source.parsed(source)
        if tree is None:
            return None
        read = names.Source(tree=tree, lines=lines)
        return Names(
            introduced=names.introduced(read),
            asked=names.used_names(read),
            keywords=names.keywords(read),
            texts=names.texts(read),
        )

    def identifiers(self, path: str, source: bytes) -> frozenset[str] | None:
        """As code has them; not those in texts."""
        tree = python_source.parsed(source)
        return names.identifiers(tree) if tree else None

    def parameters(self, path: str, source: bytes) -> frozenset[Keyword]:
        """Those of `__init__` and `__new__` are their class's."""
        return names.parameters(python_source.parsed(source))

    def functions(self, path: str, source: bytes) -> Mapping[str, range] | None:
        """Decorators count as lines of theirs."""
        tree = python_source.parsed(source)
        return names.functions(tree) if tree else None

    def imported(self, path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterable[str]:
        """Packages by their `__init__.py`."""
        return _imported(path, source, files, roots)

    def described(self, tree: Tree) -> Described:
        """As the package index has it."""
        return Described(
            name=metadata.name(tree), licence=metadata.licence(tree), classifiers=tuple(metadata.trove(tree))
        )

    def added_names(self, change: FileChange) -> frozenset[str]:
        """Modules under every root that they may be imported from."""
        return names.added_names(change)

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """By the exceptions that pytest tells."""
        return names.missing_names(report)

    def reads(self, path: str) -> bool:
        """Modules; not stubs, which never run."""
        return path.endswith(".py")

    def form(self, path: str, source: bytes) -> str | None:
        """See `forms.normal`."""
        return forms.normal(source, exports=path.endswith("__init__.py"))

    def faulty(self, path: str, source: bytes, changed: Collection[int]) -> FaultySource | None:
        """See `mutants.faulty`."""
        from miner.languages.python import mutants  # noqa: PLC0415 - its libraries take a second to load

        return mutants.faulty(source, changed)


def _imported(path: str, source: bytes, files: Mapping[str, bytes], roots: Iterable[str]) -> Iterator[str]:
    """Paths of the tree's files that a Python file imports; packages by their `__init__.py`."""
    folders = [*roots, str(PurePosixPath(path).parent).removeprefix(".")]
    for match in _IMPORT.finditer(source):
        for part in _decoded(match[1]).split(","):
            yield from _found(part.split(" as ")[0].strip(), folders, files)
    for match in _FROM.finditer(source):
        dots, module = len(match[1]), _decoded(match[2])
        within = folders
        if dots:
            parents = PurePosixPath(path).parents
            within = [str(parents[dots - 1]).removeprefix(".")] if dots <= len(parents) else []
        yield from _found(module, within, files)
        for part in _decoded(match[3]).strip("()").split(","):
            name = part.split(" as ")[0].split("#")[0].strip()
            if name.isidentifier():
                yield from _found(f"{module}.{name}".strip("."), within, files)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _found(module: str, folders: Iterable[str], files: Mapping[str, bytes]) -> Iterator[str]:
    for folder in folders:
        place = "/".join(part for part in (folder, *module.split(".")) if part)
        for candidate in (f"{place}.py", f"{place}/__init__.py"):
            if candidate in files:
                yield candidate
                return

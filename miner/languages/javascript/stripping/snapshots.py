"""Snapshots in files of their own, as jest, vitest and ava keep them beside a test file, and tap in a folder. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.expectations import Expectations
from harness.judging import values
from harness.judging.javascript.pretty import forms
from harness.judging.javascript.values import Object, parts_of
from harness.languages.base import TestReport

if TYPE_CHECKING:
    from miner.languages.base import TaskRun

_COMPARES = re.compile(rb"\b(?:matchSnapshot|toMatchSnapshot|toThrowErrorMatchingSnapshot)\b|\bt\.snapshot\(")
_OF_TAP = "tap-snapshots/"
_ESCAPED = re.compile(r"\\([`\\]|\$\{)")
"""What the texts of such a file escape."""


def places_of(test_file: str) -> Iterator[str]:
    """The files that may have the snapshots of a test file, where the project has no rule of its own for that."""
    folder, name = posixpath.split(test_file)
    yield posixpath.join(folder, "__snapshots__", f"{name}.snap")
    yield from _places_of_ava(test_file)
    yield from _places_of_tap(test_file)


def _places_of_ava(test_file: str) -> Iterator[str]:
    """What it compares with, and what it shows of that to people."""
    folder, name = posixpath.split(test_file)
    for place in ("snapshots", "__snapshots__", ""):
        yield from (posixpath.join(folder, place, f"{name}.{ending}") for ending in ("snap", "md"))


def _places_of_tap(test_file: str) -> Iterator[str]:
    """Below the folder of the package, which is one of those around the test file."""
    parts = test_file.split("/")
    for number in range(len(parts)):
        package, below = "".join(f"{part}/" for part in parts[:number]), parts[number:]
        yield f"{package}{_OF_TAP}{'/'.join(below)}.test.cjs"
        yield f"{package}{_OF_TAP}{'-'.join(below)}-TAP.test.js"


def files_of(test_file: str, files: Iterable[str]) -> tuple[str, ...]:
    """Those of some files that have the snapshots of a test file: with its name in front, in its folder or below."""
    folder, name = posixpath.split(test_file)
    elsewhere = {*_places_of_ava(test_file), *_places_of_tap(test_file)}
    snapshots = (path for path in files if path.endswith(".snap") and path.startswith(folder))
    beside = tuple(path for path in snapshots if posixpath.basename(path).startswith(f"{name}."))
    return (*beside, *(path for path in files if path in elsewhere and path not in beside))


def used(tests: Mapping[str, bytes], files: Collection[str]) -> frozenset[str]:
    """Of some test files those that compare with such a file, where one of `files` is that."""
    return frozenset(path for path, text in tests.items() if files_of(path, files) and _COMPARES.search(text))


def shown_otherwise(expectations: Expectations, sources: Mapping[str, bytes], filed: Collection[str]) -> frozenset[str]:
    """Of some test files those whose snapshots show an object of a class in a form that is not the printer's own.

    A project may have a serializer for it, which can tell more of it than comes out. `sources` are the test files and
    those of snapshots.
    """
    contents = {path: b"".join(sources[name] for name in files_of(path, sources)) for path in filed}
    texts = {path: _ESCAPED.sub(r"\1", content.decode("utf-8", "replace")) for path, content in contents.items()}
    return frozenset(
        path
        for test_id, test in expectations.tests.items()
        if (path := test_id.partition("::")[0]) in texts
        for event in test.events
        if expectations.sites[event.slot].op == "js.snapshot" and "by" in expectations.sites[event.slot].options
        if _is_hidden(values.decode(event.kept[0], kept=True), texts[path])
    )


def _is_hidden(value: object, text: str) -> bool:
    """Whether a value has an object of a class in it, and the text of the snapshots does not have it as it is shown."""
    kinds = (part.name for part in parts_of(value) if isinstance(part, Object) and part.tag == "O")
    return any(kind not in ("Object", None) for kind in kinds) and not any(form in text for form in forms(value))


def emptied(filed: Collection[str], tests: Mapping[str, bytes], files: Collection[str]) -> Iterator[str]:
    """Of `files` those of snapshots that nothing reads any more; `filed` are the test files that had them."""
    for path, text in tests.items():
        if path in filed and not _COMPARES.search(text):
            yield from files_of(path, files)


@dataclass(frozen=True)
class Without:
    """Runs in which files of snapshots are empty that nothing reads any more."""

    filed: Collection[str]
    beside: Collection[str]
    run: TaskRun

    @property
    def base(self) -> Mapping[str, bytes]:
        """Of the task."""
        return self.run.base

    @property
    def data(self) -> Mapping[str, str]:
        """Of the task."""
        return self.run.data

    def __call__(
        self, files: Mapping[str, bytes], *, gold: bool, number: int = 0, tests: Collection[str] = ()
    ) -> TestReport:
        """A run with these files, and without those of snapshots."""
        left = {**files, **dict.fromkeys(emptied(self.filed, files, self.beside), b"")}
        return self.run(left, gold=gold, number=number, tests=tests)

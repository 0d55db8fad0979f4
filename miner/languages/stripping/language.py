"""What languages have in common whose hidden tests are stripped by their syntax trees."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from miner.languages.base import Contents, Guess, KnownText, Language, RecordedTests
from miner.languages.guessing.guess import guess

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading


_CALLED = re.compile(rb"\b(\w+)\(")


def first_kept(strip: Callable[[Mapping[str, bytes]], RecordedTests], *ways: Mapping[str, bytes]) -> RecordedTests:
    """What is recorded of test files in the first way to have them in which anything is: some may not compile."""
    recorded = RecordedTests()
    for place, way in enumerate(ways):
        if way not in ways[:place] and not recorded.expectations.tests:
            recorded = strip(way)
    return recorded


def without_snapshots(
    filed: frozenset[str],
    strip: Callable[[frozenset[str]], RecordedTests],
    still: Callable[[frozenset[str], RecordedTests], frozenset[str]],
    unread: Callable[[frozenset[str], RecordedTests], Iterable[str]],
) -> RecordedTests:
    """What is recorded of tests that compare with snapshots in files of their own, which go where nothing reads them.

    `filed` are the test files whose snapshots `strip` is to take out. Those that `still` need some are recorded again
    with all of them. `unread` are files of snapshots that nothing reads in the end.
    """
    recorded = strip(filed)
    while needing := still(filed, recorded):
        filed -= needing
        recorded = strip(filed)
    left = {**recorded.expectations.files, **dict.fromkeys(unread(filed, recorded), "")}
    return replace(recorded, expectations=replace(recorded.expectations, files=left))


class TreeLanguage(Language):
    """Such a language; it says how a source is read, and how its tests are stripped."""

    reading: Reading
    heeded: re.Pattern[bytes] | None = None
    """Where comments may be more than that."""

    def never_runs(self, repo: Contents, base: str, head: str, paths: Sequence[str]) -> bool:
        """Comments and layout."""
        sources = ([repo.read_file(commit, path) or b"" for commit in (base, head)] for path in paths)
        return all(map(self._runs_alike, paths, sources))

    def _runs_alike(self, path: str, sides: list[bytes]) -> bool:
        if self.heeded and any(map(self.heeded.search, sides)):
            return False
        before, after = (self.code.form(path, side) for side in sides)
        return before == after is not None

    def guess(self, recorded: RecordedTests, fail_to_pass: Collection[str], known: KnownText) -> Guess:
        """By the form of each assertion, the values that are written somewhere, and rules that are tried."""
        reading = self._reading_of(recorded)
        return guess(recorded.expectations, recorded.before, fail_to_pass, known, reading, recorded.written)

    def _reading_of(self, recorded: RecordedTests) -> Reading:
        return self.reading


def called_by_others(sources: Mapping[str, bytes]) -> dict[str, set[str]]:
    """By file: what the others call."""
    names = {path: {name.decode() for name in _CALLED.findall(source)} for path, source in sources.items()}
    return {path: set().union(*(names[other] for other in sources if other != path)) for path in sources}

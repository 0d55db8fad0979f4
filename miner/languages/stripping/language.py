"""What languages have in common whose hidden tests are stripped by their syntax trees."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from miner.languages.base import Guess, KnownText, Language, RecordedTests
from miner.languages.guessing.guess import guess

if TYPE_CHECKING:
    from miner.languages.guessing.reading import Reading


class TreeLanguage(Language):
    """Such a language; it says how a source is read, and how its tests are stripped."""

    reading: Reading

    def guess(self, recorded: RecordedTests, fail_to_pass: Collection[str], known: KnownText) -> Guess:
        """By the form of each assertion, the values that are written somewhere, and rules that are tried."""
        reading = self._reading_of(recorded)
        return guess(recorded.expectations, recorded.before, fail_to_pass, known, reading, recorded.written)

    def _reading_of(self, recorded: RecordedTests) -> Reading:
        return self.reading

"""JavaScript's test runners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.languages.reporting import Runner

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Reporting(Runner):
    """A runner, and the reporter that `inside/driver.cjs` gives it."""

    reporter: str
    """The part that is the reporter."""


FRAMEWORKS: Mapping[str, Reporting] = {
    name: Reporting(name, reporter)
    for name, reporter in {
        "jest": "jest",
        "vitest": "vitest",
        "mocha": "mocha",
        "node:test": "nodetest",
        "tap": "tap",
        "ava": "ava",
        "jasmine": "jasmine",
        "uvu": "uvu",
        "qunit": "qunit",
        "lab": "lab",
    }.items()
}

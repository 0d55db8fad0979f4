"""Which Python a repository at a date wants, best first. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date
from itertools import pairwise

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from miner.evidence.tree import Detection

RELEASED = {
    "3.6": date(2016, 12, 23),
    "3.7": date(2018, 6, 27),
    "3.8": date(2019, 10, 14),
    "3.9": date(2020, 10, 5),
    "3.10": date(2021, 10, 4),
    "3.11": date(2022, 10, 24),
    "3.12": date(2023, 10, 2),
    "3.13": date(2024, 10, 7),
    "3.14": date(2025, 10, 7),
}
"""First release of each minor version of CPython (the PEPs of the release schedules)."""

_ANY_PATCH = 99
_SAID = re.compile(r"\b(?:c?python|py)[- ]?(?:v|>=|==)? ?3\.?(\d+)\b", re.IGNORECASE)
_ASKED = re.compile(r"version_info(?:\[:2\])?\s*(<|>=)\s*\(\s*3\s*,\s*(\d+)")
_PLUS = re.compile(r"\b(not\s+)?PY3_?(\d+)_PLUS\b")
"""A constant of a project that tells the same."""
_SKIPPED_FROM = re.compile(r"skip_?if|xfail", re.IGNORECASE)


def key(minor: str) -> tuple[int, ...]:
    """Sorts `3.9` before `3.10`."""
    return tuple(int(part) for part in minor.split("."))


def allows(specifier: str | None, minor: str) -> bool:
    """Whether some patch release of a minor version satisfies a specifier; one that can't be read allows all."""
    try:
        allowed = SpecifierSet(specifier or "")
    except InvalidSpecifier:
        return True
    return any(allowed.contains(f"{minor}.{patch}", prereleases=True) for patch in range(_ANY_PATCH))


def versions_in(text: str) -> tuple[str, ...]:
    """The minor versions that a text names: `Python 3.12`, `py312`."""
    return tuple(dict.fromkeys(f"3.{minor}" for minor in _SAID.findall(text)))


def _asked(line: str) -> re.Match[str] | None:
    """What a line of code asks of the interpreter's version; a comment asks nothing."""
    code, _, _ = line.partition("#")
    return _ASKED.search(_PLUS.sub(lambda plus: f"version_info {'<' if plus[1] else '>='} (3, {plus[2]}", code))


def least_in(lines: Iterable[str]) -> str:
    """The newest minor version below which lines of tests run or define nothing: `skipif(version_info < (3, 12)`."""
    minors = (
        int(match[2])
        for line in lines
        for match in [_asked(line)]
        if match and (match[1] == "<" or not _SKIPPED_FROM.search(line))
    )
    newest = max(minors, default=0)
    return f"3.{newest}" if newest else ""


def bound_in(lines: Iterable[str]) -> str:
    """The oldest minor version below which alone lines of code do something: `if version_info < (3, 11)`.

    A line that only chooses what to import does nothing.
    """
    bounds = ((_asked(line), following) for line, following in pairwise((*lines, "")))
    minors = [
        int(match[2])
        for match, following in bounds
        if match and match[1] == "<" and not following.lstrip().startswith(("import ", "from "))
    ]
    return f"3.{min(minors)}" if minors else ""


def preference(
    detection: Detection, when: date, minors: Iterable[str], *, at_hand: Collection[str] = ()
) -> tuple[str, ...]:
    """The minor versions of `minors` that `requires-python` allows, best first.

    One that the change's own words name comes first, whenever it was released. Of those released by the commit's date,
    the ones that CI runs tests on come next, then those named by a classifier, then the others, all newest first; then
    newer ones, oldest first. Within each kind those `at_hand` go before those to be downloaded. What is older than the
    change's tests ask for comes last, and what is too new for what its code does.
    """
    allowed = [minor for minor in minors if minor in RELEASED and allows(detection.requires_python, minor)]
    then = sorted((minor for minor in allowed if RELEASED[minor] <= when), key=key, reverse=True)
    later = sorted((minor for minor in allowed if RELEASED[minor] > when), key=key)
    of_change = [minor for minor in detection.of_change if minor in allowed]
    tested = [minor for minor in then if minor in detection.tested]
    classified = [minor for minor in then if minor in detection.classifiers]
    kinds = (
        sorted(kind, key=lambda minor: minor not in at_hand) for kind in (of_change, tested, classified, then, later)
    )
    ordered = (minor for kind in kinds for minor in kind)
    least, bound = key(detection.at_least or "0"), key(detection.below or str(_ANY_PATCH))
    is_last = {minor: minor not in of_change and not least <= key(minor) < bound for minor in allowed}
    return tuple(dict.fromkeys(sorted(ordered, key=is_last.__getitem__)))

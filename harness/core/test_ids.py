"""Test ids by which a test is known in every run. Pure; docs/proof.md has the rules.

A test's id is the name pytest gives it. Where a parameter or a generated name shows an object by its address, the id is
another one in every process: the address is taken out. It stays where two tests of a run would then be called the same;
the proof sees that such ids change, and keeps them out of the lists.

harness/languages/inside/grader.py has the same rule for containers where nothing of this package is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

ADDRESS = re.compile(r"(?<![0-9A-Za-z])(at[ _]0x)[0-9A-Fa-f]{4,16}(?![0-9A-Za-z])")
"""An address as `object.__repr__` tells it (`<X object at 0x7f2c…>`), and as that looks in a generated name."""
NO_ADDRESS = r"\1..."
"""What is left of it."""

ORDINAL = re.compile(r" #[0-9]+$")
"""Of titles: which of several equal ones a test is, as ids of JavaScript have it."""


def stable(test_id: str) -> str:
    """An id without addresses; `path::` in front of it is left alone."""
    path, colons, names = readable(test_id).partition("::")
    return path + colons + ADDRESS.sub(NO_ADDRESS, names)


def has_no_address(test_id: str) -> bool:
    """Whether an address was taken out of it, so that the runner itself prints another id."""
    return _LEFT.search(test_id.partition("::")[2]) is not None


_LEFT = re.compile(r"(?<![0-9A-Za-z])at[ _]0x\.\.\.")


def stable_ids(test_ids: Iterable[str]) -> Mapping[str, str]:
    """By each id of one run, as the runner gave it: the id it goes by.

    That is its stable form, where no other id of the run has the same one; else the id itself.
    """
    stable_of = {test_id: stable(test_id) for test_id in test_ids}
    count = Counter(stable_of.values())
    return {test_id: form if count[form] == 1 else readable(test_id) for test_id, form in stable_of.items()}


def function(test_id: str) -> str:
    """The function that an id is a row of: `path::Class::function`, whatever its parameter holds; of titles, the id."""
    if has_titles(test_id):
        return test_id
    path, colons, names = test_id.partition("::")
    return path + colons + names.partition("[")[0]


def has_titles(test_id: str) -> bool:
    """Whether an id is of JavaScript or TypeScript, whose tests have titles: a bracket in one stands for nothing."""
    return _TITLED.search(test_id.partition("::")[0]) is not None


_TITLED = re.compile(r"\.[cm]?[jt]sx?$")


def functions(test_ids: Iterable[str]) -> tuple[str, ...]:
    """The functions of some ids, each once: what is given to the framework to run these tests and no others."""
    return tuple(sorted(set(map(function, test_ids))))


def selectors(test_ids: Iterable[str], test_files: Iterable[str]) -> tuple[str, ...]:
    """What is given to the framework to run some tests of a task, whose `test_files` are files or single tests in them.

    Of a task that names single rows of a function it is the rows, since that takes too long whole; else the functions.
    """
    whole = set(test_files)
    return tuple(sorted({test_id if test_id in whole else function(test_id) for test_id in test_ids}))


def files(paths_or_ids: Iterable[str]) -> tuple[str, ...]:
    """The files of what is given to the framework, each once: files themselves, or single tests in them."""
    return tuple(dict.fromkeys(name.partition("::")[0] for name in paths_or_ids))


def readable(text: str) -> str:
    """Text that every file can hold: what is no character (half a surrogate pair, a byte of a path) is escaped."""
    return text.encode("utf-8", "backslashreplace").decode()

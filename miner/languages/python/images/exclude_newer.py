"""Uv's options that make time stand still at a commit's day, with the few tools that can't be as old. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from miner.languages.python.recipes.interpreter import RELEASED

SDIST_TOOLS = ("setuptools", "wheel")
SDIST_TOOLS_SINCE = date(2019, 2, 6)
"""setuptools is at least that of this date, 40.8: the first that has what uv calls for a `setup.py` alone (PEP 517)."""
EDITABLE_TOOLS = (*SDIST_TOOLS, "flit-core", "poetry-core")
EDITABLE_TOOLS_SINCE = date(2022, 12, 1)
"""Before this date build backends know no editable installs (PEP 660), which the project itself is installed by."""
TEST_TOOLS = ("pytest", "py", "pluggy", "attrs", "six", "more-itertools", "packaging", "wcwidth",
              "importlib-metadata", "zipp", "pyparsing", "pytest-asyncio")  # fmt: skip
"""pytest and what it needs, of any day, and its plugin that no older pytest than that of its day can load."""
TEST_TOOLS_SINCE = date(2019, 6, 20)
"""pytest is taken as of this date where the commit is older: 4.6, the last one that was made for Python 2.7 as well, so
that tests of older years run on it."""
UPLOADED_AGAIN = {"atomicwrites": date(2022, 7, 9)}
"""Distributions whose files are all younger than they were: deleted, and uploaded again before this date. pytest 3.6 to
5.2 needs this one (https://github.com/untitaker/python-atomicwrites/issues/61)."""
UNREADABLE = {"pandas": (date(2019, 7, 18), ("python-dateutil>=2.5.0", "pytz", "numpy>=1.9"))}
"""Distributions whose versions before a date have metadata that uv can't read, and what they require. pandas before
0.25 asks for `pytz (>=2011k)`, which is no version of PEP 440."""
_SETTLED = timedelta(days=180)
"""How long after an interpreter's release its tools surely run on it."""


def of_the_day(when: datetime, minor: str) -> tuple[str, ...]:
    """For what was usual then, `setup.py develop`: everything is of the day, or of the interpreter's first months."""
    return (_newest(when), *_late(when, SDIST_TOOLS, _grown_up(when, (minor,))))


def for_dependencies(when: datetime, minor: str, later: Iterable[tuple[str, str]] = ()) -> tuple[str, ...]:
    """For dependencies and what they are built with; `later` are others, and the days they are taken as of."""
    since = max([SDIST_TOOLS_SINCE, *_grown_up(when, (minor,))])
    others = (option for name, day in later for option in _late(when, (name,), (date.fromisoformat(day),)))
    return (_newest(when), *_late(when, SDIST_TOOLS, (since,)), *for_tests(when, minor), *others)


def for_editable(when: datetime, minor: str) -> tuple[str, ...]:
    """For the project itself, as it is installed today."""
    since = max([EDITABLE_TOOLS_SINCE, *_grown_up(when, (minor,))])
    return (_newest(when), *_late(when, EDITABLE_TOOLS, (since,)))


def unreadable(when: datetime) -> str:
    """What uv's configuration has to say of distributions whose metadata it can't read."""
    reasons = ((name, requires) for name, (until, requires) in UNREADABLE.items() if when.date() < until)
    return "".join(
        f"[[dependency-metadata]]\nname = {json.dumps(name)}\nrequires-dist = {json.dumps(requires)}\n"
        for name, requires in reasons
    )


def has_editable_tools(when: datetime) -> bool:
    """Whether the day's own build backends know editable installs."""
    return when.date() >= EDITABLE_TOOLS_SINCE


def for_tests(when: datetime, minor: str) -> tuple[str, ...]:
    """For pytest, where the commit's day had none that runs here.

    A commit older than the interpreter that is left for it (CPython before 3.6 is not built here) gets the pytest of
    that interpreter's first months: its own day's would not know the interpreter.
    """
    options = _late(when, TEST_TOOLS, [TEST_TOOLS_SINCE, *_grown_up(when, (minor,))])
    return (*options, *(option for name, since in UPLOADED_AGAIN.items() for option in _late(when, (name,), (since,))))


def settled(when: datetime, minor: str) -> str:
    """The day by which distributions surely run on an interpreter (ISO 8601); empty if the commit is not older."""
    return max((day.isoformat() for day in _grown_up(when, (minor,))), default="")


def _grown_up(when: datetime, minors: Iterable[str]) -> list[date]:
    """The days on which interpreters that are younger than the commit had tools that run on them."""
    days = (RELEASED[minor] for minor in minors if minor in RELEASED)
    return [day + _SETTLED for day in days if when.date() < day]


def _newest(when: datetime) -> str:
    return f"--exclude-newer {when:%Y-%m-%dT%H:%M:%SZ}"


def _late(when: datetime, names: Iterable[str], since: Iterable[date]) -> tuple[str, ...]:
    """Options that take distributions as of a later day than the commit's, where it is later."""
    latest = max(since, default=when.date())
    if when.date() >= latest:
        return ()
    moment = datetime.combine(latest, time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return tuple(f"--exclude-newer-package {name}={moment}" for name in names)

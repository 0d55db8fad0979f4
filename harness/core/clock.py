"""A clock for tests that pass only near their own date: what time it is for them as they start.

A time is text, ISO 8601 in UTC to the second: `2021-05-03T12:00:00Z`. From there the tests' time runs on. In the
container libfaketime (a package of the base image) tells it to the test process and all it starts, and to nothing else:
the supervisor, its time limit and all that is measured stay on real time. See docs/proof.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.core.errors import InputError

FOLDER = "/opt/goldseam/clock"
"""Where the base layer of an image puts libfaketime, whatever the architecture."""
PRELOADED = (f"{FOLDER}/sleep.so", f"{FOLDER}/faketime.so")
ENV: Mapping[str, str] = {
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "DONT_FAKE_MONOTONIC": "1",  # what older releases call it
    "NO_FAKE_STAT": "1",
    "FAKETIME_CACHE_DURATION": "1000000000",
}
"""Beside the time: the monotonic clock and the times of files stay real, and a test that clears its own environment
keeps its clock."""
EARLIEST, LATEST = datetime(1980, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""A time outside is a mistake: file systems and certificates of all kinds work between them."""


def text_of(moment: datetime) -> str:
    """A moment as a clock is written: in UTC, to the second. One without a time zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def checked(text: str) -> str:
    """A time in any form of ISO 8601, as a clock is written.

    Raises:
        ValueError: it is none, has no time zone, or lies too far away.

    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"a clock is a time such as 2021-05-03T12:00:00Z, not {text!r}") from None
    if moment.tzinfo is None:
        raise ValueError(f"the clock {text!r} has no time zone; write it in UTC, with a Z at its end")
    if not EARLIEST <= moment < LATEST:
        raise ValueError(f"the clock {text!r} is not between {EARLIEST.year} and {LATEST.year}")
    return text_of(moment)


def seconds_of(text: str) -> float:
    """Seconds since 1970 of a clock.

    Raises:
        InputError: it is no clock.

    """
    try:
        return datetime.fromisoformat(checked(text)).timestamp()
    except ValueError as error:
        raise InputError(str(error)) from None


def request(text: str | None) -> dict[str, Any]:
    """What the supervisor is asked for; nothing for the real time.

    Raises:
        InputError: it is no clock.

    """
    return {"clock": {"seconds": seconds_of(text), "preload": PRELOADED, "env": ENV}} if text else {}


def prefix(text: str | None) -> tuple[str, ...]:
    """What comes before a program's arguments so that it runs on a clock, in a container; nothing for the real time.

    The time is told as a distance from real time: a date would start again with every program.

    Raises:
        InputError: it is no clock.

    """
    if not text:
        return ()
    assignment = f'FAKETIME="$(printf %+d $(({seconds_of(text):.0f} - $(date +%s))))"'
    words = (assignment, f"LD_PRELOAD='{' '.join(PRELOADED)}'", *(f"{name}={value}" for name, value in ENV.items()))
    return ("/bin/sh", "-c", f'export {" ".join(words)}; exec "$@"', "sh")

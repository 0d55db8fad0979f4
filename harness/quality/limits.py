"""Limits of `holdout check`: which tasks leak more, are weaker or more sensitive than somebody allows. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.core.errors import InputError

_POINTERS = ("shas", "links", "numbers", "versions")
SHARES = ("overlap", "lines", "ngrams", "names")
COUNTS = ("pointers", *_POINTERS, "unshown_names", "unshown_texts", "releases_since")


def parse_limits(words: Iterable[str]) -> Mapping[str, float]:
    """Limits as they are written on a command line: `NAME=NUMBER`, or a number alone for `overlap`.

    Raises:
        InputError: an unknown name, no number, one below 0, or a share above 1.

    """
    limits: dict[str, float] = {}
    for word in words:
        name, _, number = word.rpartition("=")
        name = name or "overlap"
        if name not in (*SHARES, *COUNTS):
            text = ", ".join((*SHARES, *COUNTS))
            raise InputError(f"--max-leak knows no {name!r}", hint=f"there are: {text}")
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not limit >= 0 or (name in SHARES and limit > 1):
            bounds = "a share from 0 to 1" if name in SHARES else "a number from 0"
            raise InputError(f"--max-leak: expected {bounds} for {name}, found {number!r}")
        limits[name] = limit
    return limits


def exceeded(quality: Mapping[str, Any], limits: Mapping[str, float]) -> Iterator[str]:
    """What of a task is over a limit, as sentences without a hidden word; a task that was not measured is one too.

    What could not be told of a task (null) is over no limit.
    """
    leaks = quality.get("leaks")
    if limits and not isinstance(leaks, dict):
        yield "its leaks were never measured: run `goldseam holdout quality`"
        return
    for name, limit in limits.items():
        value = _value(leaks or {}, name)
        if value is not None and value > limit:
            figure = f"{value:.0%}" if name in SHARES else f"{value:g}"
            allowed = f"{limit:.0%}" if name in SHARES else f"{limit:g}"
            yield f"leaks: {name} is {figure}, more than {allowed}"


def too_weak(quality: Mapping[str, Any], least: float | None) -> Iterator[str]:
    """What of a task's strength is below a limit, as sentences; a task that was not measured is one too.

    Where nothing could be tried there is no share, which is below no limit.
    """
    if least is None:
        return
    strength = quality.get("strength")
    if not isinstance(strength, dict):
        yield "its strength was never measured: run `goldseam holdout strength`"
        return
    if strength.get("empty") == "survived":
        yield "strength: a patch that changes nothing resolves it"
    share = _value(strength, "share")
    if share is not None and share < least:
        yield f"strength: {share:.0%} of wrong patches are killed, fewer than {least:.0%}"


def too_sensitive(quality: Mapping[str, Any], most: float | None) -> Iterator[str]:
    """Whether more of FAIL_TO_PASS hangs on what evaluation pins than a limit allows, as sentences.

    A task whose proof varied nothing is one too.
    """
    if most is None:
        return
    sensitive = quality.get("sensitive")
    if not isinstance(sensitive, dict):
        yield "its sensitivity was never measured: mine it again, with two runs of each state at least"
        return
    share = _value(sensitive, "share")
    if share is not None and share > most:
        causes = ", ".join(sorted(map(str, sensitive.get("by") or {})))
        yield f"sensitive: {share:.0%} of FAIL_TO_PASS depend on what evaluation pins ({causes}), more than {most:.0%}"


def _value(leaks: Mapping[str, Any], name: str) -> float | None:
    if name == "pointers":
        return sum(_value(leaks, part) or 0.0 for part in _POINTERS)
    value = leaks.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

"""What guessing has to know of a language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.core import test_ids
from harness.core.expectations import Expected, Site
from harness.judging.values import Approx


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What guessing has to know of a language."""

    written: Callable[[str], Iterable[Any]]
    """The values that are written out in a source; raises where it is not of the language."""
    handed: Callable[[str, str], tuple[Mapping[int, tuple[Any, ...]], Mapping[str, tuple[Any, ...]]]]
    """By path and text of a stripped file, what is written out: by slot in what is handed out there, by function."""
    decode: Callable[[Any], Any]
    """A value as Python's, so far as it has one; raises where it can't be read."""
    encode: Callable[[Any], Any]
    """A value of Python as the language's runner hands it out."""
    errors: Callable[[str], Iterable[tuple[str, Any]]]
    """Common exceptions with that text, by their names, as they are handed out."""
    shortened: Callable[[Any, int], Any]
    """An exception of `errors` with at most so many letters, and nothing else."""
    operator: Callable[[Site], str] = lambda site: site.op
    """What Python calls the operator of an assertion."""
    sought: Callable[[Site, list[Any]], list[Any]] = lambda _site, kept: kept
    """What of the kept values has to be found, where not all of it."""
    claims: Callable[[Site, Expected], Sequence[tuple[Site, Expected]]] = lambda site, expected: [(site, expected)]
    """What an assertion says of its one value, each part by itself: all of these have to hold."""
    message: Callable[[Expected], Any] = lambda expected: expected.options.get("match")
    """What an exception is to say, encoded; None where an assertion does not ask for it."""
    function: Callable[[str], str] = test_ids.function
    """The function that a test is of."""
    columns: Callable[[str], Iterable[Collection[Any]]] = lambda _source: ()
    """Of a stripped file, values that stand together: at one place of all calls of a function, or in one that hands out
    nothing."""


def operator_by(names: Mapping[str, tuple[str, str]]) -> Callable[[Site], str]:
    """What Python calls an operator, by these names of it and of its contrary; all others compare for equality."""

    def operator(site: Site) -> str:
        alike, contrary = names.get(site.op, ("==", "!="))
        return contrary if site.options.get("not") else alike

    return operator


def near(values_kept: Sequence[Any]) -> list[Any]:
    """What has to be found where a number, or a list of some, may be off by the last that is kept."""
    *numbers, delta = values_kept

    def approximate(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(approximate, value))
        return Approx(expected=value, rel=0.0, abs=abs(delta)) if isinstance(value, int | float) else value

    return list(map(approximate, numbers)) if isinstance(delta, int | float) else [*values_kept]


def first_kept(expected: Expected) -> Any:
    """What an exception is to say, where that is the first that is kept."""
    return expected.kept[0] if expected.kept else None

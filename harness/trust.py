"""Twins and blind tests: what a trial has to withstand before a pass is believed. Pure.

A *twin* of a test file expects something else in the tests that matter: a patch that makes them pass there too has not
fixed the bug but forged the verdict. A *blind* file holds no expectation at all for some tests: the value leaves the
container and is compared on the host. Both are prepared and proved when a task is mined (miner/twins.py) and are part
of its hidden side. docs/adr/0002 says what this does not stop.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness.instance import TestStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.frameworks.base import TestReport
    from harness.instance import TrustMaterial
    from harness.trial import Trial


class Trust(StrEnum):
    """How much a pass has to withstand, weakest first."""

    STANDARD = "standard"
    TWINS = "twins"
    BLIND = "blind"


class Variant(StrEnum):
    """Which form of the test files a round puts in place."""

    PLAIN = "plain"
    """As the hidden tests' patch leaves them."""
    REAL = "real"
    TWIN = "twin"
    BLIND = "blind"
    BLIND_TWIN = "blind_twin"


def strongest(material: TrustMaterial) -> Trust:
    """The strongest level that the task was prepared for."""
    if material.blinded:
        return Trust.BLIND
    return Trust.TWINS if material.twinned else Trust.STANDARD


def overlay(material: TrustMaterial, variant: Variant) -> dict[str, bytes]:
    """The files that a round puts in place of the patched ones, by path."""
    if variant is Variant.PLAIN:
        return {}
    return {path: sources[variant.value].encode() for path, sources in material.files.items()}


def rounds(material: TrustMaterial, trust: Trust, *, pairs: int) -> tuple[Variant, ...]:
    """The rounds of a trial, in order. Each is a fresh container that cannot tell which one it is.

    With `pairs` rounds of the real kind and as many twins, a forger that guesses is right in at most 4^-pairs of all
    cases. Where every protected test is blind there is nothing to guess, so one round is enough.
    """
    if trust is Trust.BLIND and material.blinded:
        if set(material.twinned) <= set(material.blinded):
            return (Variant.BLIND,)
        return (Variant.BLIND, Variant.BLIND_TWIN) * pairs
    if trust is not Trust.STANDARD and material.twinned:
        return (Variant.REAL, Variant.TWIN) * pairs
    return (Variant.PLAIN,)


def must_fail(material: TrustMaterial, variant: Variant) -> frozenset[str]:
    """The ids that must not pass in a round of this variant."""
    if variant is Variant.TWIN:
        return frozenset(material.twinned)
    if variant is Variant.BLIND_TWIN:
        return frozenset(material.twinned) - frozenset(material.blinded)
    return frozenset()


def with_blind_results(material: TrustMaterial, variant: Variant, trial: Trial) -> Trial:
    """The trial under the listed ids, with each blind test's status as the comparison on the host has it."""
    if not _is_blind(variant):
        return trial
    report = _under_listed_ids(material, trial.report)
    statuses, texts = dict(report.statuses), dict(report.texts)
    for test_id, places in material.blinded.items():
        problem = _mismatch(places, report.values.get(test_id, ()))
        if problem is not None and statuses.get(test_id) is TestStatus.PASSED:
            statuses[test_id] = TestStatus.FAILED
            texts[test_id] = problem
    return replace(trial, report=replace(report, statuses=statuses, texts=texts))


def _is_blind(variant: Variant) -> bool:
    return variant in (Variant.BLIND, Variant.BLIND_TWIN)


def _under_listed_ids(material: TrustMaterial, report: TestReport) -> TestReport:
    def listed(test_id: str) -> str:
        return material.renamed.get(test_id, test_id)

    return replace(
        report,
        statuses={listed(test_id): status for test_id, status in report.statuses.items()},
        seconds={listed(test_id): took for test_id, took in report.seconds.items()},
        texts={listed(test_id): text for test_id, text in report.texts.items()},
        raised={listed(test_id): chain for test_id, chain in report.raised.items()},
        values={listed(test_id): values for test_id, values in report.values.items()},
        collected=tuple(listed(test_id) for test_id in report.collected),
    )


def has_opaque_values(material: TrustMaterial, variant: Variant, trial: Trial) -> bool:
    """Whether a value came out that cannot be compared on the host; twins decide then."""
    if not _is_blind(variant):
        return False
    values = _under_listed_ids(material, trial.report).values
    return any(_is_opaque(value) for test_id in material.blinded for _, value in values.get(test_id, ()))


def is_literal(text: str) -> bool:
    """Whether a text is the Python source of a literal."""
    try:
        ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _mismatch(places: Mapping[str, str], found: Sequence[tuple[int, Any]]) -> str | None:
    missing = set(places) - {str(place) for place, _ in found}
    if missing:
        return f"{len(missing)} value(s) that the test compares did not come out"
    for place, value in found:
        expected = places.get(str(place))
        if expected is None:
            return "a value for a place that the test does not have"
        if decoded(value) != ast.literal_eval(expected):
            return f"the value at place {place} is not the one expected"
    return None


class Opaque:
    """A value of a type that does not leave the container whole; equal to nothing."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


def decoded(value: Any) -> Any:
    """A value as the runner encodes it, one key naming the type; anything else is opaque."""
    if not isinstance(value, dict) or len(value) != 1:
        return Opaque()
    ((kind, inner),) = value.items()
    try:
        return _DECODERS[kind](inner)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return Opaque()


def _is_opaque(value: Any) -> bool:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, inner),) = value.items()
        if kind in ("list", "tuple", "set", "frozenset") and isinstance(inner, list):
            return any(_is_opaque(item) for item in inner)
        if kind == "dict" and isinstance(inner, list):
            return any(_is_opaque(item) for pair in inner for item in pair)
        return kind not in _DECODERS
    return True


_CONSTANTS = {"None": None, "True": True, "False": False, "Ellipsis": ...}
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "const": lambda name: _CONSTANTS[name],
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "complex": lambda parts: complex(float.fromhex(parts[0]), float.fromhex(parts[1])),
    "str": str,
    "bytes": bytes.fromhex,
    "list": lambda items: [decoded(item) for item in items],
    "tuple": lambda items: tuple(decoded(item) for item in items),
    "set": lambda items: {decoded(item) for item in items},
    "frozenset": lambda items: frozenset(decoded(item) for item in items),
    "dict": lambda pairs: {decoded(key): decoded(item) for key, item in pairs},
}


def forged(material: TrustMaterial, variant: Variant, trial: Trial) -> str | None:
    """Why the round cannot be honest: a test passed although what it expects is wrong."""
    passed = [
        test_id for test_id in must_fail(material, variant) if trial.report.statuses.get(test_id) is TestStatus.PASSED
    ]
    return f"{len(passed)} test(s) passed although what they expect is wrong" if passed else None

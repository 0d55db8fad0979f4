"""What was found of a task's strength, and how a task keeps it. docs/quality.md has the formulae. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from harness.core.instance import Task

if TYPE_CHECKING:
    from miner.quality.strength.lines import Coverage

FORMULA = 2
"""Goes up when a formula changes, or what is tried."""
FIELD = "strength"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How many wrong patches are tried at most."""

    parts: int = 8
    mutants: int = 20


class Kind(StrEnum):
    """What was done to the fix."""

    EMPTY = "empty"
    """Nothing of it is there."""
    PART = "part"
    """Some of its pieces are left out."""
    MUTANT = "mutant"
    """One place in the lines that it brings is another."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One such patch."""

    kind: Kind
    patch: bytes
    """Against base_commit; empty for `Kind.EMPTY`."""
    path: str = ""
    line: int = 0
    """In the fixed file, for a mutant; else 0."""
    description: str = ""
    """What was done, in one line."""
    operator: str = ""
    """The mutation operator's name."""
    before: str = ""
    after: str = ""
    """The lines of a mutant, as the fix has them and as it has them."""

    def as_file(self, number: int) -> tuple[str, bytes]:
        """Name and content of the file that is kept of it where the hidden tests let it live.

        What was done stands before the patch, where `git apply` passes over it.
        """
        comments = [
            f"goldseam survivor {number}, {self.kind}: {self.description}",
            "every listed test passes with this patch",
        ]
        lines_before = [f"    - {line}" for line in self.before.splitlines()]
        lines_before += [f"    + {line}" for line in self.after.splitlines()]
        text = "\n".join(f"# {line}" for line in [*comments, *lines_before]) + "\n"
        return f"survivor-{number:02d}-{self.kind}.patch", text.encode("utf-8", "surrogateescape") + self.patch


@dataclass(frozen=True, kw_only=True)
class VariantResult:
    """A wrong patch, and what the hidden tests made of it."""

    variant: Variant
    survived: bool
    cause: str
    """What killed it, as `harness.grading.grade` names causes; empty where nothing did."""


@dataclass(frozen=True, kw_only=True)
class Strength:
    """All that was found of one task."""

    key: str
    bounds: Bounds
    tried: tuple[VariantResult, ...]
    coverage: Coverage | None
    """None where nothing could be traced."""
    gold_seconds: float
    seconds: float
    """Wall time of measuring."""
    not_tried: int = 0
    """Wrong patches that a budget had no room for."""

    def survivors(self) -> dict[str, bytes]:
        """Files of the patches that live, by name; the empty one is none."""
        living = [
            variant_result.variant
            for variant_result in self.tried
            if variant_result.survived and variant_result.variant.patch
        ]
        return dict(variant.as_file(number) for number, variant in enumerate(living, start=1))

    def hidden(self) -> dict[str, Any]:
        """`evidence.strength` of tests.json."""
        names = iter(self.survivors())
        return {
            "formula": FORMULA,
            "key": self.key,
            "bounds": {"parts": self.bounds.parts, "mutants": self.bounds.mutants},
            "gold_seconds": round(self.gold_seconds, 3),
            "seconds": round(self.seconds, 1),
            **({"not_tried": self.not_tried} if self.not_tried else {}),
            "tried": [
                {
                    "kind": variant_result.variant.kind.value,
                    "what": variant_result.variant.description,
                    "path": variant_result.variant.path,
                    "line": variant_result.variant.line,
                    "survived": variant_result.survived,
                    "cause": variant_result.cause,
                    "file": next(names) if variant_result.survived and variant_result.variant.patch else "",
                }
                for variant_result in self.tried
            ],
            "changed_lines": self.coverage.changed if self.coverage else None,
            "uncovered": self.coverage.missed() if self.coverage else None,
        }

    def kept_in(self, task: Task) -> Task:
        """The task with all of it: public counts and shares, hidden names, survivors as files."""
        hidden = self.hidden()
        evidence = {**task.hidden.evidence, FIELD: hidden}
        quality = {**task.instance.quality, FIELD: public(hidden)}
        return replace(
            task,
            instance=replace(task.instance, quality=quality),
            hidden=replace(task.hidden, evidence=evidence, survivors=self.survivors()),
        )


def public(hidden: Mapping[str, Any]) -> dict[str, Any]:
    """`quality.strength` of task.yaml, from the hidden evidence: counts and shares alone."""
    tried: list[Mapping[str, Any]] = list(hidden["tried"])
    empty = [fields for fields in tried if fields["kind"] == Kind.EMPTY.value]
    parts = [fields for fields in tried if fields["kind"] == Kind.PART.value]
    faults = [fields for fields in tried if fields["kind"] == Kind.MUTANT.value]
    counted = [*parts, *faults]
    survived = _survived(counted)
    changed = hidden["changed_lines"]
    covered = changed - sum(map(len, hidden["uncovered"].values())) if changed is not None else None
    return {
        "share": _share(len(counted) - survived, len(counted)),
        "surviving": _share(survived, len(counted)),
        "tried": len(counted),
        "killed": len(counted) - survived,
        "survived": survived,
        "empty": "survived" if _survived(empty) else "killed",
        "parts": {"tried": len(parts), "survived": _survived(parts)},
        "mutants": {"tried": len(faults), "survived": _survived(faults)},
        "timeouts": sum(fields["cause"] == "timeout" for fields in counted),
        "changed_lines": changed,
        "covered_lines": covered,
        "formula": hidden["formula"],
        **({"not_tried": hidden["not_tried"]} if hidden.get("not_tried") else {}),
    }


def is_current(task: Task, key: str) -> bool:
    """Whether a task tells its strength already, as it would be measured now without a budget.

    One that is half written, or that a budget ended, does not.
    """
    evidence = task.hidden.evidence.get(FIELD)
    if not isinstance(evidence, dict) or evidence.get("key") != key or evidence.get("not_tried"):
        return False
    try:
        files = {tried["file"] for tried in evidence["tried"]} - {""}
        return task.instance.quality.get(FIELD) == public(evidence) and files == set(task.hidden.survivors)
    except (KeyError, TypeError, AttributeError):
        return False


def _survived(tried: list[Mapping[str, Any]]) -> int:
    return sum(bool(fields["survived"]) for fields in tried)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None

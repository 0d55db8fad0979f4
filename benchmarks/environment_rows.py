"""The results of `environments.py` as values, and their tables: by repository, by rung, by reason of failing."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_KIND = re.compile(r"^[a-z_A-Z]+")
QUIET = 4.0
"""The load of a machine of two processors, of which two builds make about three."""
STOLEN = 0.05
"""The share of a machine's processor time that its host may take where times are to say something."""
_ROUNDED = 100
_MENDED = re.compile(r"\+apt:|\+missing:|-gone:|\+folders")
_CI = frozenset({"ci"})
_FURTHER = frozenset({"hatch", "pdm", "uv", "flit", "Pipfile", "nox", "django", "conda"})


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One step of one recipe."""

    rung: str
    step: str
    ok: bool
    seconds: float
    failure: str = ""


@dataclass(kw_only=True)
class Row:
    """What came of one candidate."""

    repo: str
    instance_id: str
    base_commit: str
    day: str
    """Of the base commit."""
    ended: str
    """`split` (no image was asked for), `environment`, `validation`, `proved`, or `infrastructure`; where no proof is
    asked for `collected` or `built`."""
    code: str = ""
    """Which goldseam: `git describe`."""
    reason: str = ""
    """The funnel's word, where it failed."""
    failure: str = ""
    built: bool = False
    collected: bool = False
    rung: str = ""
    python: str = ""
    seconds: float = 0.0
    """Of finding out, building and collecting."""
    proof_seconds: float = 0.0
    after: str = ""
    """The instance whose image was made before it, where it was built as a further commit."""
    load: float | None = None
    """Of the machine as it began, by the mean of a minute."""
    stolen: float | None = None
    """The share of the machine's processor time that its host took meanwhile, where that is known."""
    processor_seconds: float | None = None
    """What the machine's processors worked meanwhile, engine included."""
    steps: Mapping[str, float] = field(default_factory=dict)
    megabytes: Mapping[str, float] = field(default_factory=dict)
    tried: Sequence[Tried] = ()
    fail_to_pass: int = 0
    pass_to_pass: int = 0
    passing_at_base: int = 0
    """Test ids of the change's files that pass before it."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Row:
        """A row as it was kept."""
        known = {one.name for one in fields(cls)}
        row = cls(**{name: value for name, value in told.items() if name in known})
        row.tried = [Tried(**one) for one in told.get("tried", ())]
        return row

    @property
    def is_final(self) -> bool:
        """Whether another environment would hardly change it."""
        return self.ended in {"proved", "split", "collected"} or (self.collected and self.reason == "no_fail_to_pass")

    @property
    def is_quiet(self) -> bool:
        """Whether little else ran as it began, so that its times say something."""
        return self.load is not None and self.load <= QUIET and (self.stolen is None or self.stolen <= STOLEN)

    @property
    def was_there(self) -> bool:
        """Whether the engine held the whole image already, so that its time says nothing of building one."""
        return self.built and self.steps.get("task", 0.0) == 0

    @property
    def same_lock(self) -> bool:
        """Whether the image of another commit had its dependencies."""
        return self.built and self.steps.get("deps", 0.0) == 0

    def said(self) -> str:
        """The row in a line."""
        end = f"{self.fail_to_pass} fail to pass, {self.pass_to_pass} pass to pass" if self.ended == "proved" else ""
        what = end or f"{self.ended}: {self.reason} {self.failure[-200:]}"
        took = f"{self.seconds:.0f} + {self.proof_seconds:.0f} s on {self.python or '?'}"
        return f"{took}, {self.rung or 'no image'}: {what}"


def kinds_of(rungs: Iterable[str]) -> set[str]:
    """The kinds of evidence that rungs stand on."""
    return {match[0] for rung in rungs for part in _MENDED.split(rung)[0].split("+") if (match := _KIND.match(part))}


def class_of(rung: str) -> str:
    """The step of the ladder that a rung is, mended or not."""
    parts = [match[0] for part in _MENDED.split(rung)[0].split("+") if (match := _KIND.match(part))]
    distinct = set(parts)
    if "unbuilt" in distinct:
        return "its needs, unbuilt"
    if len(distinct) == 1:
        return f"{parts[0]} alone"
    if "lock" in distinct:
        return "everything, lock's versions"
    return "everything" if distinct & (_CI | _FURTHER) else "the project's own files"


def tables(rows: Sequence[Row]) -> dict[str, object]:
    """Print the tables; what they hold as one value. Times are of rows that began on a quiet machine."""
    by_repo: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_repo[row.repo].append(row)
    main = [row for row in rows if not row.after]
    print("\n| repository | tried | built | collected | gold proved | first build, s | further, s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for repo, some in sorted(by_repo.items()):
        print(f"| {repo} | {_line(some)} |")
    print(f"| all | {_line(rows)} |")
    _rungs(main)
    print("\n| ended | reason | candidates | |\n|---|---|---|---|")
    failed = [row for row in main if row.ended != "proved"]
    for (ended, reason), count in Counter((row.ended, row.reason) for row in failed).most_common():
        names = [row.instance_id for row in failed if (row.ended, row.reason) == (ended, reason)]
        print(f"| {ended} | {reason} | {count} | {', '.join(names[:8])} |")
    further = [row for row in rows if row.after]
    quiet = [row for row in rows if _seconds(row) is not None]
    told: dict[str, object] = {
        "tried": len(main),
        "built": sum(row.built for row in main),
        "collected": sum(row.collected for row in main),
        "proved": sum(row.ended == "proved" for row in main),
        "quiet": len(quiet),
        "first_seconds": _median(main, _seconds),
        "further": sum(_seconds(row) is not None for row in further),
        "further_seconds": _median(further, _seconds),
        "same_lock": sum(row.same_lock for row in further if _seconds(row) is not None),
        "same_lock_seconds": _median([row for row in further if row.same_lock], _seconds),
        "step_seconds": {
            step: _median(quiet, lambda row: row.steps.get(step))  # noqa: B023 - used at once
            for step in ("resolve", "deps", "task", "collect")
        },
        "repositories": {repo: _line(some) for repo, some in sorted(by_repo.items())},
        "code": sorted({row.code for row in rows}),
    }
    same = f"{told['same_lock']} of them with the same lock {told['same_lock_seconds']} s"
    print(f"\non a quiet machine: {told['quiet']} built, first {told['first_seconds']} s; "
          f"{told['further']} further commits {told['further_seconds']} s, {same}")  # fmt: skip
    return told


def _seconds(row: Row) -> float | None:
    return row.seconds if row.built and row.is_quiet and not row.was_there else None


def _line(rows: Sequence[Row]) -> str:
    main, further = [row for row in rows if not row.after], [row for row in rows if row.after]
    size = _median(main, lambda row: sum(row.megabytes.get(layer, 0) for layer in ("system", "deps", "task")) or None)
    cells = (
        len(main),
        sum(row.built for row in main),
        sum(row.collected for row in main),
        sum(row.ended == "proved" for row in main),
        _median(main, _seconds),
        _median(further, _seconds),
        size,
    )
    return " | ".join("–" if cell is None else f"{cell:g}" for cell in cells)


def _median(rows: Sequence[Row], of: Callable[[Row], float | None]) -> float | None:
    found = [value for row in rows if (value := of(row)) is not None]
    return round(statistics.median(found), 1 if found and max(found) < _ROUNDED else None) if found else None


def _rungs(rows: Sequence[Row]) -> None:
    """Print, by step of the ladder: how often it was tried, what came of it, what it cost."""
    tried: Counter[str] = Counter()
    built: Counter[str] = Counter()
    collected: Counter[str] = Counter()
    seconds: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_class: dict[str, list[Tried]] = defaultdict(list)
        for one in row.tried:
            by_class[class_of(one.rung)].append(one)
        for name, steps in by_class.items():
            tried[name] += 1
            built[name] += any(one.step == "collect" for one in steps)
            collected[name] += any(one.step == "collect" and one.ok for one in steps)
            seconds[name].append(sum(one.seconds for one in steps))
    won = [row for row in rows if row.collected]
    print("\n| rung | tried | built | collected | passing at base | gold proved | s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, count in tried.most_common():
        mine = [row for row in won if class_of(row.rung) == name]
        at_base = sum(row.passing_at_base > 0 for row in mine)
        proved = sum(row.ended == "proved" for row in mine)
        size = _median(mine, lambda row: sum(row.megabytes.get(layer, 0) for layer in ("system", "deps")) or None)
        cells = (count, built[name], collected[name], at_base, proved, round(statistics.median(seconds[name])), size)
        print(f"| {name} | " + " | ".join("–" if cell is None else f"{cell:g}" for cell in cells) + " |")
    how = Counter(match[0] for row in won if (match := _MENDED.search(row.rung)))
    print(f"\n{how.total()} of {len(won)} collected after mending: {dict(how)}")

"""`holdout stats`: what a dataset holds, by every public fact, and what it takes to run it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from harness.core.errors import InputError
from harness.core.grouping import grouped
from harness.core.instance import Instance, TaskState
from harness.core.json_text import mapping
from harness.dataset import content, policy
from harness.dataset.folder import Dataset
from harness.dataset.ledger import ledger
from harness.dataset.seal import access_log
from harness.judging.places import Place, read_card

UNKNOWN = "unknown"
_AGES = ((90, "under 3 months"), (365, "3 to 12 months"), (730, "1 to 2 years"), (1461, "2 to 4 years"))
_OLDEST = "over 4 years"
_BANDS = 4
_TIERS = ("trivial", "easy", "medium", "hard", "brutal")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of running every proved task once."""

    tasks: int
    gold_seconds: float | None
    """Of the tests with the fix, as the proof saw them; None where the hidden side is closed, or no task says."""
    timed: int
    """Tasks whose proof tells that."""
    budget_seconds: float
    """The most that the tests may take, all of them together."""
    bytes: int | None
    """Of the images' layers, each counted once; None where nothing is known."""
    sized: int
    """Tasks whose image's size is known."""
    asked_engine: bool
    """Whether the engine told the sizes; else mining wrote them down."""


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """A dataset in figures."""

    name: str
    version: int
    content: str
    sealed: bool
    tasks: int
    states: Mapping[str, int]
    proved: Mapping[str, Mapping[str, int]]
    """Proved tasks by what they are counted by, and its value."""
    cost: Cost
    ids: Mapping[str, tuple[str, ...]]
    """By state."""


def take(
    dataset: Dataset, *, sizes: Callable[[Sequence[str]], tuple[int, int]] | None = None, today: date | None = None
) -> Inventory:
    """Count what a dataset holds.

    Args:
        dataset: its hidden side is read where it lies open or has keys, for the time that tests took.
        sizes: asks the engine: bytes of all layers of images, and how many of these it knows.
        today: for ages.

    Raises:
        InputError: a public file, or the ledger, is broken.

    """
    day = today or datetime.now(tz=UTC).date()
    instances = list(dataset.instances())
    proved = [instance for instance in instances if instance.state is TaskState.PROVED]
    tiers = (tier_of(task.quality.get("difficulty")) or UNKNOWN for task in proved)
    exposures = policy.exposures(ledger.read(dataset))
    by_state = grouped((instance.state.value, instance.instance_id) for instance in instances)
    exposed = {instance.instance_id: len(exposures.get(instance.instance_id, {})) for instance in proved}
    return Inventory(
        name=dataset.name,
        version=dataset.version,
        content=content.content_told_now(dataset),
        sealed=dataset.sealed,
        tasks=len(instances),
        states={state: len(ids) for state, ids in sorted(by_state.items())},
        proved={
            "repository": _counted(task.repo for task in proved),
            "language": _counted(task.language for task in proved),
            "split": _counted(task.split for task in proved),
            "difficulty": _ordered(Counter(tiers), _TIERS),
            "judged": _ordered(Counter(judged(task) for task in proved), list(Place)),
            "guessable": _ordered(Counter(guessable(task) for task in proved), ("no", "yes")),
            "strength": _counted(strength(task) for task in proved),
            "sensitive": _ordered(Counter(sensitive(task) for task in proved), ("no", "in part", "wholly")),
            "age": _ordered(Counter(age(task, day) for task in proved), [*(name for _, name in _AGES), _OLDEST]),
            "shown to providers": _counted(str(exposed[task.instance_id]) for task in proved),
        },
        cost=_cost(dataset, proved, sizes),
        ids={state: tuple(ids) for state, ids in sorted(by_state.items())},
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    counts = Counter(values)
    return dict(sorted(counts.items(), key=lambda item: (item[0] == UNKNOWN, -item[1], item[0])))


def _ordered(counts: Counter[str], order: Sequence[str]) -> dict[str, int]:
    places = {name: number for number, name in enumerate(order)}
    ranked = sorted(counts.items(), key=lambda item: (item[0] == UNKNOWN, places.get(item[0], len(order)), item[0]))
    return dict(ranked)


def tier_of(value: Any) -> str | None:
    """A word of `quality`, or the `tier` of a mapping there; None where there is none."""
    if isinstance(value, dict):
        value = value.get("tier")
    return value if isinstance(value, str) and value.strip() else None


def strength(instance: Instance) -> str:
    """How strong the hidden tests are, as a word or a band of shares; unknown where nobody measured it."""
    value: Any = instance.quality.get("strength")
    if isinstance(value, dict):
        value = next((value[name] for name in ("tier", "score", "share") if name in value), None)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        low = min(int(value * _BANDS), _BANDS - 1) / _BANDS
        return f"{low:.0%} to {low + 1 / _BANDS:.0%}"
    return value if isinstance(value, str) and value.strip() else UNKNOWN


def sensitive(instance: Instance) -> str:
    """Whether its FAIL_TO_PASS hangs on what evaluation pins; unknown where no run of its proof was varied."""
    share = mapping(instance.quality.get("sensitive")).get("share")
    if not isinstance(share, int | float):
        return UNKNOWN
    return "no" if not share else "in part" if share < 1 else "wholly"


def judged(instance: Instance) -> str:
    """Where it is judged; unknown where its card does not say."""
    return read_card(instance.quality).place or UNKNOWN


def guessable(instance: Instance) -> str:
    """Whether it is guessable; unknown where nobody measured it."""
    is_guessable = read_card(instance.quality).guessable
    return UNKNOWN if is_guessable is None else "yes" if is_guessable else "no"


def age(instance: Instance, today: date) -> str:
    """How long ago the fix was merged, in words."""
    try:
        days = (today - policy.merged_on(instance)).days
    except InputError:
        return UNKNOWN
    return next((name for most, name in _AGES if days < most), _OLDEST)


def _cost(
    dataset: Dataset, proved: Sequence[Instance], sizes: Callable[[Sequence[str]], tuple[int, int]] | None
) -> Cost:
    times = list(_times(dataset, proved))
    images = sorted({instance.image for instance in proved if instance.image})
    sized_images = sizes(images) if sizes else None
    size, sized = sized_images if sized_images is not None else _written_down(proved)
    return Cost(
        tasks=len(proved),
        gold_seconds=sum(times) if times else None,
        timed=len(times),
        budget_seconds=sum(instance.budgets.seconds for instance in proved),
        bytes=size if sized else None,
        sized=sized,
        asked_engine=sizes is not None,
    )


def _times(dataset: Dataset, proved: Sequence[Instance]) -> Iterable[float]:
    if dataset.sealed and dataset.keys is None:
        return
    access_log.tell(dataset, [instance.instance_id for instance in proved], purpose="stats")
    for instance in proved:
        seconds = dataset.task(instance.instance_id).hidden.evidence.get("gold_seconds")
        if isinstance(seconds, int | float):
            yield float(seconds)


def _written_down(proved: Sequence[Instance]) -> tuple[int, int]:
    """Bytes of the layers as mining saw them. Layers below the task's own are shared: those of one size are one."""
    shared: set[tuple[str, int]] = set()
    own = sized = 0
    for instance in proved:
        layers = mapping(instance.extra.get("environment")).get("layer_bytes")
        if not isinstance(layers, dict):
            continue
        sized += 1
        sizes = {str(name): size for name, size in layers.items() if isinstance(size, int)}
        own += sizes.pop("task", 0)
        shared |= set(sizes.items())
    return own + sum(size for _, size in shared), sized

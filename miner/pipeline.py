"""The whole of mining as one tuple of stages, and the loop that takes every candidate of a source through it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness import files
from miner import stages
from miner.change import Rejection, Stage
from miner.funnel import Funnel, FunnelLine, FunnelSummary, summarise
from miner.scan import scan
from miner.sources.bare import MissingObjectsError
from miner.sources.git import open_source
from miner.stages import Draft, Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.dataset.folder import Dataset
    from harness.executors.base import Executor
    from harness.sandbox.base import Sandbox
    from harness.settings import Settings
    from miner.scan import Looked
    from miner.sources.history import ChangeFilter

NOT_VALIDATED = "candidate only: not built, not proved"

StageFunction = Callable[[Draft, Site], "Draft | Rejection"]
TO_PROOF: tuple[StageFunction, ...] = (stages.take_apart, stages.build, stages.prove, stages.keep)
TO_CANDIDATE: tuple[StageFunction, ...] = (stages.take_apart, stages.keep)


class Observer(Protocol):
    """Told about a mine as it goes."""

    def source(self, name: str) -> None:
        """The next source is opened."""
        ...

    def note(self, text: str) -> None:
        """What is being done just now."""
        ...

    def decided(self, line: FunnelLine) -> None:
        """One more change has its line in the funnel."""
        ...


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to mine and how far to take it."""

    wanted: ChangeFilter
    limit: int | None = None
    """At most this many candidates a source, newest first; those decided in earlier calls count."""
    runs: int = 3
    """Fresh containers for each of the three states."""
    validate: bool = True
    fresh: bool = False
    """Look again at what was decided before."""
    name: str | None = None
    """`owner/name` of the repository, where the source can't tell."""


def mine(
    sources: Sequence[str],
    dataset: Dataset,
    options: Options,
    *,
    settings: Settings,
    sandbox: Sandbox,
    executor: Executor,
    observer: Observer,
) -> FunnelSummary:
    """Mine sources into a dataset and return its funnel. What was decided before is not done again.

    Raises:
        InputError: a source that can't be read, or a dataset that can't be written or is in use.
        InfrastructureError: the engine, the index or the disk failed; what was decided until then is kept.

    """
    with files.locked(dataset.path / ".goldseam" / "lock", busy=f"another goldseam is mining into {dataset.path}"):
        files.remove_strays(dataset.path)
        funnel = Funnel(dataset.path / "funnel.jsonl")
        if options.fresh:
            files.write_bytes(funnel.path, b"")
        for source in sources:
            observer.source(source)
            _mine_source(source, dataset, options, funnel, settings, sandbox, executor, observer)
        return summarise(funnel.read())


def _mine_source(
    source: str,
    dataset: Dataset,
    options: Options,
    funnel: Funnel,
    settings: Settings,
    sandbox: Sandbox,
    executor: Executor,
    observer: Observer,
) -> None:
    observer.note(f"copying {source}")
    repo = open_source(source, cache=settings.images.cache_dir / "sources", name=options.name)
    try:
        site = Site(
            repo=repo, dataset=dataset, settings=settings, sandbox=sandbox, runs=options.runs, note=observer.note
        )
        observer.note(f"scanning {repo.name}")
        due = _due(scan(repo, options.wanted), funnel, options, observer)
        steps = TO_PROOF if options.validate else TO_CANDIDATE
        for line in executor.map(lambda looked: take(looked, site, steps), due, cancel=sandbox.cancel):
            funnel.append(line)
            observer.decided(line)
    finally:
        repo.close()


def look(source: str, options: Options, *, settings: Settings) -> Iterator[FunnelLine]:
    """What recognition makes of every change of a source, as funnel lines; writes nothing but the bare copy."""
    repo = open_source(source, cache=settings.images.cache_dir / "sources", name=options.name)
    try:
        candidates = 0
        for looked in scan(repo, options.wanted):
            if isinstance(looked.outcome, Rejection):
                yield FunnelLine.of(looked.change, looked.outcome)
                continue
            if candidates == options.limit:
                return
            candidates += 1
            yield FunnelLine.of(
                looked.change, None, signals=looked.outcome.signals, score=looked.outcome.score, detail=NOT_VALIDATED
            )
    finally:
        repo.close()


def _due(looks: Iterator[Looked], funnel: Funnel, options: Options, observer: Observer) -> Iterator[Looked]:
    """The candidates still to be decided; rejections of recognition go to the funnel on the way."""
    decided = funnel.decided()
    candidates = 0
    for looked in looks:
        line = decided.get(looked.change.merge_commit)
        if isinstance(looked.outcome, Rejection):
            if line is None:
                line = FunnelLine.of(looked.change, looked.outcome)
                funnel.append(line)
                observer.decided(line)
            continue
        if options.limit is not None and candidates >= options.limit:
            return
        candidates += 1
        if line is None or not _stands(line, options):
            yield looked


def _stands(line: FunnelLine, options: Options) -> bool:
    """Whether an earlier decision still answers what is asked now."""
    if line.stage in (Stage.HISTORY, Stage.RECOGNITION):
        return False  # recognition takes it now: the rules changed, or it was named
    return not (line.accepted and options.validate and line.detail == NOT_VALIDATED)


def take(looked: Looked, site: Site, steps: Sequence[StageFunction]) -> FunnelLine:
    """Take one candidate through the stages to its line in the funnel."""
    assert not isinstance(looked.outcome, Rejection)  # noqa: S101 - `_due` hands on candidates only
    began = time.monotonic()
    draft = Draft(candidate=looked.outcome)
    rejection: Rejection | None = None
    for stage in steps:
        try:
            result = stage(draft, site)
        except MissingObjectsError as error:  # a partial clone lacks a file of this change; others may be whole
            result = Rejection(stage=Stage.HISTORY, reason="missing_objects", detail=error.message)
        if isinstance(result, Rejection):
            rejection = result
            break
        draft = result
    return FunnelLine.of(
        looked.change,
        rejection,
        signals=looked.outcome.signals,
        score=looked.outcome.score,
        seconds=time.monotonic() - began,
        timings=draft.timings,
        detail="" if draft.proof else NOT_VALIDATED,
    )

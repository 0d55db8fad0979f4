"""The whole of mining as one tuple of stages, and the loop that takes every candidate of a source through it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.core import files
from harness.core.errors import BugError, GoldseamError, InfrastructureError, InputError
from harness.core.instance import TaskState
from harness.dataset import content
from harness.dataset.folder import Dataset, write_instances
from harness.runs import bug_log
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import Sandbox
from miner.candidates.cursor import Cursor, Cursors
from miner.candidates.funnel import Funnel, FunnelLine, FunnelSummary, summarise
from miner.candidates.recognise import RULES, THRESHOLD
from miner.candidates.scan import Recognition, Seen, scan
from miner.images.image_builders import HereImages, images_of
from miner.layers import package_index
from miner.pipeline import stages
from miner.pipeline.data_readers import find_readers
from miner.pipeline.draft import Draft, MiningContext
from miner.pipeline.stages import write_statement
from miner.proof import DEFAULT_CONFIDENCE, DEFAULT_RUNS, UNSTABLE
from miner.quality.known_duplicates import Neighbours, shelf_of_rows, shelf_of_tasks
from miner.sources.address import Expander, Filter, ahead
from miner.sources.bare import MissingObjectsError
from miner.sources.change import INTERNAL_ERROR, Rejection, Stage
from miner.sources.git import is_url
from miner.sources.history import ChangeFilter

if TYPE_CHECKING:
    from harness.config.settings import Settings
    from miner.assist.repair.run import Repairer
    from miner.assist.statement_writer_run import Writer
    from miner.sources.origin import OpenOrigin, Origin, Progress

NOT_VALIDATED = "candidate only: not built, not proved"

StageFunction = Callable[[Draft, MiningContext], "Draft | Rejection"]
TO_PROOF: tuple[StageFunction, ...] = (
    stages.take_apart,
    stages.build,
    find_readers,
    stages.prove,
    stages.inspect,
    stages.strip,
    stages.confirm,
    stages.strengthen,
    write_statement,
    stages.show,
    stages.keep,
)
ASIDE: tuple[StageFunction, ...] = (stages.inspect, stages.keep)
"""What a task still goes through that is kept, but must not count."""
KEPT_ASIDE = "kept in quarantine"
TO_CANDIDATE: tuple[StageFunction, ...] = (stages.take_apart, stages.keep)


class Observer(Protocol):
    """Told about a mine as it goes."""

    def source(self, name: str) -> None:
        """The next source is opened."""

    def note(self, text: str) -> None:
        """What is being done just now."""

    def decided(self, line: FunnelLine) -> None:
        """One more change has its line in the funnel."""

    def warn(self, text: str) -> None:
        """Something a person should know of, though the mine goes on."""

    def problem(self, name: str, error: GoldseamError) -> None:
        """One of several sources could not be mined; the others go on."""

    def missing(self, error: InputError) -> None:
        """One of several changes asked for is not there; the others go on."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to mine and how far to take it."""

    wanted: ChangeFilter
    limit: int | None = None
    """At most this many candidates a source, newest first; those decided in earlier calls count."""
    runs: int = DEFAULT_RUNS
    """Fresh containers for each of the three states."""
    confidence: float = DEFAULT_CONFIDENCE
    """How sure the bound is that so many runs put on flakiness; it is recorded."""
    quarantine: bool = False
    """Whether a task whose FAIL_TO_PASS is unstable is kept, out of all scores."""
    validate: bool = True
    fresh: bool = False
    """Look again at what was decided before; the new line in the funnel counts, those of other changes stay."""
    name: str | None = None
    """`owner/name` of the repository, where the source can't tell."""
    threshold: float = THRESHOLD
    """The score from which a change is taken for a bug fix."""
    repositories: Filter = field(default_factory=Filter)
    """Which repositories of an organisation."""
    against: tuple[Path, ...] = ()
    """Files of public datasets: what nearly stands in one is left out, or marked."""
    reveal: int = 0
    """Up to how many test functions of FAIL_TO_PASS each task shows; one at least stays hidden."""

    @property
    def whole(self) -> bool:
        """Whether everything is asked for, so that a later mine need not look at it again."""
        return self.wanted == ChangeFilter() and self.limit is None

    @property
    def rules(self) -> str:
        """What a cursor holds for."""
        suffix = "/quarantine" if self.quarantine else ""
        return f"{RULES}/{self.threshold:g}/{'proved' if self.validate else 'candidates'}{suffix}"


def mine(
    sources: Sequence[str],
    dataset: Dataset,
    options: Options,
    *,
    settings: Settings,
    sandbox: Sandbox,
    executor: Executor,
    observer: Observer,
    writer: Writer | None = None,
    repairer: Repairer | None = None,
) -> FunnelSummary:
    """Mine sources into a dataset and return its funnel. What was decided before is not done again.

    Raises:
        InputError: a source that can't be read, a dataset that can't be written or is in use, or a cluster of several
            engines without a registry.
        InfrastructureError: the engine, the index or the disk failed; what was decided until then is kept.

    """
    images = images_of(executor, settings.images) if options.validate else HereImages(settings=settings.images)
    with files.locked(dataset.path / ".goldseam" / "lock", busy=f"another goldseam is mining into {dataset.path}"):
        files.remove_strays(dataset.path)
        funnel = Funnel(dataset.path / "funnel.jsonl")
        cursors = Cursors(dataset.path, canary=dataset.canary)
        decided = funnel.decided_patches()
        index = package_index.configured(settings.mining)
        public = shelf_of_rows(options.against) if options.against else None
        neighbours = Neighbours(public=public, own=shelf_of_tasks(dataset))
        for origin, work in _opened(sources, options, settings, cursors, observer):
            site = MiningContext(
                repo=work.repo, dataset=dataset, settings=settings, sandbox=sandbox, runs=options.runs,
                note=observer.note, index=index, neighbours=neighbours, writer=writer, repairer=repairer,
                confidence=options.confidence, quarantine=options.quarantine, reveal=options.reveal, images=images,
            )  # fmt: skip
            mining = _Mining(
                origin=origin, work=work, options=options, funnel=funnel, earlier=decided, observer=observer
            )
            with work.repo:
                _mine_origin(mining, site, cursors, executor)
        if dataset.ids():
            content.settle(dataset)
        return summarise(funnel.read())


@dataclass(frozen=True, kw_only=True)
class _Mining:
    """One origin being mined."""

    origin: Origin
    work: OpenOrigin
    options: Options
    funnel: Funnel
    earlier: Seen
    observer: Observer


def _opened(
    sources: Sequence[str], options: Options, settings: Settings, cursors: Cursors | None, observer: Observer
) -> Iterator[tuple[Origin, OpenOrigin]]:
    """Each repository with its copy, which is made while earlier ones are mined; of several, some may fail."""
    origins = _origins(sources, options, settings, observer)

    def open_(origin: Origin) -> OpenOrigin:
        reached = _reached(cursors, origin, options)
        return origin.open(origin.narrow(options.wanted), reached)

    for origin, opened in ahead(origins, open_):
        if cursors is not None:
            observer.source(origin.name)
        try:
            work = opened()
        except GoldseamError as error:
            if len(sources) == len(origins) == 1:
                raise
            observer.problem(origin.name, error)
            continue
        yield origin, work


def _origins(sources: Sequence[str], options: Options, settings: Settings, observer: Observer) -> list[Origin]:
    cache = settings.images.cache_dir / "sources"
    expander = Expander(
        settings=settings.github, cache=cache, chosen=options.repositories, called=options.name, note=observer.note
    )
    origins: list[Origin] = []
    for source in sources:
        observer.note(f"asking for {source}")
        try:
            origins += expander.origins(source, options.wanted)
        except InfrastructureError as error:
            if len(sources) == 1:
                raise
            observer.problem(source, error)
        except InputError as error:
            if is_url(source) or Path(source).exists():
                raise
            if "/" in source and not source.startswith((".", "/", "~")):
                why = f"no such folder: {source}; and as a name on GitHub: {error.message}"
                raise InputError(why, hint=error.hint) from error
            hint = "name a git clone, a clone URL, or owner/name on GitHub; an organisation needs GITHUB_TOKEN"
            raise InputError(f"no such folder: {source}", hint=hint) from error
    return origins


def _reached(cursors: Cursors | None, origin: Origin, options: Options) -> Progress | None:
    if cursors is None or not options.whole or options.fresh:
        return None
    return cursors.get(origin.name, options.rules)


def _mine_origin(mining: _Mining, site: MiningContext, cursors: Cursors, executor: Executor) -> None:
    options, repo, observer = mining.options, mining.work.repo, mining.observer
    reached = _reached(cursors, mining.origin, options)
    after = reached.tip if reached else None
    if after is not None and not repo.has_on_branch(after):
        _warn_of_rewriting(mining, after)
        after = None
    observer.note(f"scanning {repo.name}")
    change_filter = mining.origin.narrow(options.wanted)
    looks = scan(
        repo, change_filter, threshold=options.threshold, forge=mining.work.forge, earlier=mining.earlier, after=after,
        missing=observer.missing, tests=_tests(site.settings, repo.name, options),
    )  # fmt: skip
    steps = TO_PROOF if options.validate else TO_CANDIDATE
    due = _due(looks, mining, site)
    for line in executor.map(lambda recognition: take(recognition, site, steps), due, cancel=site.cancel):
        mining.funnel.append(line)
        observer.decided(line)
    undecided = any(line.reason == INTERNAL_ERROR for line in mining.funnel.decided().values())
    if options.whole and not undecided:  # else the next mine would not come by them
        updated = mining.work.forge.updated if mining.work.forge else ""
        updated = max(updated, reached.updated if reached else "")
        cursors.set(mining.origin.name, Cursor(tip=repo.tip(), updated=updated, rules=options.rules, repo=repo.name))


def _tests(settings: Settings, repo: str, options: Options) -> tuple[str, ...] | None:
    """Patterns of tests that a repository is declared to have; None where a runner that is known is to run them."""
    declared = settings.declared_for(repo)
    return declared.tests if declared else None if options.validate else ()


def _warn_of_rewriting(mining: _Mining, tip: str) -> None:
    """Say that a branch was force-pushed, and which tasks came from what it has lost."""
    repo = mining.work.repo
    commits_there = {line.decode() for line in repo.lines("rev-list", "--all")}
    mined = (line for line in mining.funnel.read() if line.repo == repo.name and "imported" not in line.signals)
    lost = [line for line in mined if line.change not in commits_there]
    tasks = sorted({line.instance_id for line in lost if line.accepted})
    mining.observer.warn(
        f"{repo.name}: history was rewritten: {repo.default_branch()} has lost {tip[:12]}, so everything is looked at"
        f" again; {len(lost)} changes decided before are gone"
        + (f", among them the tasks {', '.join(tasks)}" if tasks else "")
    )


def look(sources: Sequence[str], options: Options, *, settings: Settings, observer: Observer) -> Iterator[FunnelLine]:
    """What recognition makes of every change of some sources, as funnel lines; writes nothing but the bare copies.

    Raises:
        InputError: a source can't be read.
        InfrastructureError: the only source can't be reached; of several, `observer` is told.

    """
    decided: Seen = {}
    for origin, work in _opened(sources, options, settings, None, observer):
        with work.repo:
            change_filter = origin.narrow(options.wanted)
            looks = scan(
                work.repo, change_filter, threshold=options.threshold, forge=work.forge, earlier=decided,
                missing=observer.missing, tests=_tests(settings, work.repo.name, options),
            )  # fmt: skip
            yield from _lines(looks, options.limit)


def _lines(looks: Iterator[Recognition], limit: int | None) -> Iterator[FunnelLine]:
    candidates = 0
    for recognition in looks:
        if isinstance(recognition.outcome, Rejection):
            yield FunnelLine.of(recognition.change, recognition.outcome)
            continue
        if candidates == limit:
            return
        candidates += 1
        yield FunnelLine.of(
            recognition.change,
            None,
            signals=recognition.outcome.signals,
            score=recognition.outcome.score,
            detail=NOT_VALIDATED,
        )


def _due(looks: Iterator[Recognition], mining: _Mining, site: MiningContext) -> Iterator[Recognition]:
    """The candidates still to be decided; rejections of recognition go to the funnel on the way."""
    decided, again = mining.funnel.decided(), mining.options.fresh
    candidates = 0
    for recognition in looks:
        line = decided.get((recognition.change.repo, recognition.change.merge_commit))
        if isinstance(recognition.outcome, Rejection):
            reverted = line is not None and line.accepted and recognition.outcome.reason == "reverted"
            if line is None or line.reason == INTERNAL_ERROR or reverted or again:
                if line and reverted:
                    retire_reverted(site.dataset, line.instance_id)
                line = FunnelLine.of(recognition.change, recognition.outcome, patch_id=recognition.patch_id)
                mining.funnel.append(line)
                mining.observer.decided(line)
            continue
        if mining.options.limit is not None and candidates >= mining.options.limit:
            return
        candidates += 1
        if line is None or again or not _is_valid(line, mining.options):
            yield recognition
        elif mining.options.wanted.picks:
            mining.observer.warn(f"{line.instance_id} was decided before ({line.reason}); --force decides again")


def _is_valid(line: FunnelLine, options: Options) -> bool:
    """Whether an earlier decision still answers what is asked now."""
    if line.stage in (Stage.HISTORY, Stage.RECOGNITION):
        return False  # recognition takes it now: the rules changed, or it was named
    if line.reason == INTERNAL_ERROR:
        return False
    if line.reason == UNSTABLE and options.quarantine and line.detail != KEPT_ASIDE:
        return False
    return not (line.accepted and options.validate and line.detail == NOT_VALIDATED)


def take(recognition: Recognition, site: MiningContext, steps: Sequence[StageFunction]) -> FunnelLine:
    """Take one candidate through the stages to its line in the funnel."""
    assert not isinstance(recognition.outcome, Rejection)  # noqa: S101 - `_due` hands on candidates only
    began = time.monotonic()
    draft = Draft(candidate=recognition.outcome)
    rejection: Rejection | None = None
    for stage in steps:
        if draft.set_aside is not None and stage not in ASIDE:
            continue
        try:
            with bug_log.of_one_item():
                result = stage(draft, site)
        except MissingObjectsError as error:  # a partial clone lacks a file of this change; others may be whole
            result = Stage.HISTORY.no("missing_objects", error.message)
        except BugError as error:
            result = Stage.VALIDATION.no(INTERNAL_ERROR, error.message)
        if isinstance(result, Rejection):
            rejection = result
            break
        draft = result
    if rejection is None and draft.set_aside is not None:
        rejection = replace(draft.set_aside, detail=KEPT_ASIDE)  # the funnel is public, and the task's tests are not
    return FunnelLine.of(
        recognition.change,
        rejection,
        signals=recognition.outcome.signals,
        score=recognition.outcome.score,
        seconds=time.monotonic() - began,
        timings=draft.timings,
        patch_id=recognition.patch_id,
        detail="" if draft.proof else NOT_VALIDATED,
        unstable=draft.unstable,
        given_up=draft.given_up,
    )


def retire_reverted(dataset: Dataset, instance_id: str) -> None:
    """Mark a task as retired, if it is there: a later change reverted its fix."""
    if instance_id not in dataset.ids():
        return
    instance = dataset.instance(instance_id)
    instance = replace(instance, state=TaskState.RETIRED, extra={**instance.extra, "retired": "its fix was reverted"})
    write_instances(dataset, (instance,))

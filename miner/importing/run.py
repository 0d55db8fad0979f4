"""A file of rows into a dataset: one line in the funnel for each row, stopped and gone on with like a mine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.config.settings import Settings
from harness.core import files
from harness.core.errors import InputError
from harness.core.grouping import grouped
from harness.dataset import content
from harness.dataset.folder import Dataset
from harness.dataset.ledger import ledger
from harness.sandbox.executors.base import Executor
from harness.sandbox.job import Sandbox
from miner.candidates.funnel import Funnel, FunnelLine
from miner.images.image_builders import Images, images_of
from miner.importing.place import SIGNAL
from miner.importing.rows import BadRow, Row, read_rows
from miner.importing.stages import IN_PART, take, unplaced
from miner.pipeline.draft import MiningContext
from miner.sources.change import INTERNAL_ERROR, Stage
from miner.sources.git import open_source

_no = Stage.RECOGNITION.no


class Observer(Protocol):
    """Told about an import as it goes."""

    def note(self, text: str) -> None:
        """What is being done just now."""

    def decided(self, line: FunnelLine) -> None:
        """One more row has its line in the funnel."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How rows are imported."""

    runs: int = 3
    """Fresh containers for each of the two states."""
    accept_part: bool = False
    """Whether a row is proved by that part of its FAIL_TO_PASS which holds here."""
    fresh: bool = False
    """Look again at what was decided before."""
    chosen: frozenset[str] = frozenset()
    """Only rows with these instance ids; none means all."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What became of the rows of one repository."""

    repo: str
    whole: int = 0
    """Rows whose whole FAIL_TO_PASS holds here, and which are proved."""
    part: int = 0
    """Rows of which a part of FAIL_TO_PASS holds here."""
    rows: int = 0
    reasons: Mapping[str, int]
    """Rows that are not proved, by reason."""
    fail_to_pass: Mapping[str, int]
    """Ids of FAIL_TO_PASS by verdict; `unjudged` where the row never came to that."""
    pass_to_pass: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What became of a file of rows."""

    lines: tuple[FunnelLine, ...]
    """One for each row, in the order of the file."""
    tallies: tuple[Tally, ...]
    """By repository, in the order of the file."""


def import_rows(
    path: Path,
    sources: Mapping[str, str],
    dataset: Dataset,
    options: Options,
    *,
    settings: Settings,
    sandbox: Sandbox,
    executor: Executor,
    observer: Observer,
) -> Imported:
    """Import a file of rows into a dataset, and say what became of each. What was decided before is not done again.

    `sources` are clones by `owner/name`, as paths or URLs.

    Raises:
        InputError: the file or a source can't be read, the dataset can't be written or is in use, or a cluster has
            several engines and no registry.
        InfrastructureError: the engine, the index or the disk failed; what was decided until then is kept.

    """
    rows = _chosen(tuple(read_rows(path)), options, path)
    if not any(isinstance(row, Row) for row in rows):
        first = next(row for row in rows if isinstance(row, BadRow))
        raise InputError(f"{path} holds no row that can be read; {first.detail}", hint="expected SWE-bench's fields")
    images = images_of(executor, settings.images)
    with files.locked(dataset.path / ".goldseam" / "lock", busy=f"another goldseam is writing {dataset.path}"):
        files.remove_strays(dataset.path)
        work = _Work(
            dataset=dataset, sources=sources, options=options, settings=settings, sandbox=sandbox, observer=observer,
            images=images,
        )  # fmt: skip
        lines: list[FunnelLine] = []
        try:
            for line in work.lines(rows, executor):
                lines.append(line)
                observer.decided(line)
        finally:
            _record(dataset, path, lines)
        content.settle(dataset)
        return _imported(dataset, rows, work.funnel)


def _chosen(rows: tuple[Row | BadRow, ...], options: Options, path: Path) -> tuple[Row | BadRow, ...]:
    if not options.chosen:
        return rows
    rows_chosen = tuple(row for row in rows if row.instance_id in options.chosen)
    if unknown := sorted(options.chosen - {row.instance_id for row in rows_chosen}):
        raise InputError(f"{path} has no row {', '.join(unknown)}")
    return rows_chosen


def _record(dataset: Dataset, path: Path, lines: Sequence[FunnelLine]) -> None:
    """Tell the ledger which tasks came, also where the import was interrupted."""
    tasks = sorted({line.instance_id for line in lines} & set(dataset.ids()))
    if tasks:
        proved = sum(line.accepted for line in lines)
        ledger.record(dataset, ledger.Event.IMPORTED, tasks, source=path.name, rows=len(lines), proved=proved)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """An import under way."""

    dataset: Dataset
    sources: Mapping[str, str]
    options: Options
    settings: Settings
    sandbox: Sandbox
    images: Images
    observer: Observer

    @property
    def funnel(self) -> Funnel:
        return Funnel(self.dataset.path / "funnel.jsonl")

    def lines(self, rows: Sequence[Row | BadRow], executor: Executor) -> Iterator[FunnelLine]:
        """Decide what is not decided yet, repository by repository; each line is in the funnel before it is told."""
        decided = self.funnel.decided()
        due: dict[str, list[Row]] = {}
        for row in rows:
            former = decided.get((row.repo, row.digest))
            if former is not None and self._is_valid(former):
                continue
            if (line := self._at_once(row)) is not None:
                yield from self._record(line, former)
            elif isinstance(row, Row):
                due.setdefault(row.repo, []).append(row)
        for repo, rows_due in due.items():
            for line in self._of_repository(repo, rows_due, executor):
                yield from self._record(line, decided.get((line.repo, line.change)))

    def _record(self, line: FunnelLine, former: FunnelLine | None) -> Iterator[FunnelLine]:
        """A line, once it is in the funnel; nothing where the funnel has said just that before."""
        now = (line.stage, line.reason, line.detail)
        if self.options.fresh or former is None or (former.stage, former.reason, former.detail) != now:
            self.funnel.append(line)
            yield line

    def _of_repository(self, name: str, rows: Sequence[Row], executor: Executor) -> Iterator[FunnelLine]:
        self.observer.note(f"opening {name}")
        cache = self.settings.images.cache_dir / "sources"
        with open_source(self.sources[name], cache=cache, name=name) as repo:
            site = MiningContext(
                repo=repo, dataset=self.dataset, settings=self.settings, sandbox=self.sandbox, runs=self.options.runs,
                note=self.observer.note, images=self.images,
            )  # fmt: skip
            accept = self.options.accept_part
            yield from executor.map(lambda row: take(row, site, accept_part=accept), rows, cancel=self.sandbox.cancel)

    def _is_valid(self, line: FunnelLine) -> bool:
        """Whether an earlier decision still answers what is asked now."""
        if self.options.fresh or line.stage in (Stage.HISTORY, Stage.RECOGNITION):
            return False  # cheap to find out again, and a source may have been given since
        if line.reason == INTERNAL_ERROR:
            return False
        return not (line.reason == IN_PART and self.options.accept_part)

    def _at_once(self, row: Row | BadRow) -> FunnelLine | None:
        """The line of a row that needs no history to be decided."""
        if isinstance(row, BadRow):
            return FunnelLine(
                repo=row.repo,
                change=row.digest,
                title=row.instance_id or f"line {row.line}",
                stage=Stage.RECOGNITION,
                reason=row.reason,
                detail=row.detail,
                signals=(SIGNAL,),
                instance_id=row.instance_id,
            )
        if row.repo not in self.sources:
            return unplaced(row, _no("no_source", f"nobody said where {row.repo} is: --source {row.repo}=PATH-or-URL"))
        if (holder := self._holder(row)) is not None:
            return unplaced(row, _no("id_taken", holder))
        return None

    def _holder(self, row: Row) -> str | None:
        """What holds a row's instance id already; a task of the same row, and with `fresh` of another row, does not."""
        if not self.dataset.task_folder(row.instance_id).is_dir():
            return None
        imported: Any = self.dataset.instance(row.instance_id).extra.get("imported")
        if not isinstance(imported, dict):
            return "the dataset holds a mined task of this id"
        if imported.get("row") == row.digest or self.options.fresh:
            return None
        return "the dataset holds a task of this id, made from another row; --force replaces it"


def _imported(dataset: Dataset, rows: Sequence[Row | BadRow], funnel: Funnel) -> Imported:
    decided = funnel.decided()
    imported = [(row, line) for row in rows if (line := decided.get((row.repo, row.digest))) is not None]
    by_repo = grouped((row.repo, (row, line)) for row, line in imported)
    tallies = tuple(_tally(dataset, repo, pairs) for repo, pairs in by_repo.items())
    return Imported(lines=tuple(line for _, line in imported), tallies=tallies)


def _tally(dataset: Dataset, repo: str, pairs: Sequence[tuple[Row | BadRow, FunnelLine]]) -> Tally:
    lists: dict[str, Counter[str]] = {"FAIL_TO_PASS": Counter(), "PASS_TO_PASS": Counter()}
    holds: Counter[str] = Counter()
    for row, line in pairs:
        fields = _imported_fields(dataset, row)
        holds["whole"] += line.accepted and fields.get("holds") == "whole"
        holds["part"] += fields.get("holds") == "part"
        for name, counted in lists.items():
            verdicts = {key: count for key, count in (fields.get(name) or {}).items() if key != "given"}
            ids_given = (
                (row.fail_to_pass if name == "FAIL_TO_PASS" else row.pass_to_pass) if isinstance(row, Row) else ()
            )
            if ids_given and not verdicts:
                verdicts = {"unjudged": len(ids_given)}
            counted.update(verdicts)
    return Tally(
        repo=repo,
        rows=len(pairs),
        whole=holds["whole"],
        part=holds["part"],
        reasons=dict(Counter(line.reason for _, line in pairs if not line.accepted).most_common()),
        fail_to_pass=dict(lists["FAIL_TO_PASS"].most_common()),
        pass_to_pass=dict(lists["PASS_TO_PASS"].most_common()),
    )


def _imported_fields(dataset: Dataset, row: Row | BadRow) -> Mapping[str, Any]:
    """`imported` of the row's task; empty where there is none of it."""
    if isinstance(row, BadRow) or not dataset.task_folder(row.instance_id).is_dir():
        return {}
    imported: Any = dataset.instance(row.instance_id).extra.get("imported")
    return imported if isinstance(imported, dict) and imported.get("row") == row.digest else {}

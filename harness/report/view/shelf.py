"""The runs that a view shows, as they are on disk now: what each is, how far it is, and its figures."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from harness.analysis import scoresheet
from harness.core import files, wording
from harness.core.errors import InputError
from harness.dataset.folder import DATASET_FILE, open_dataset
from harness.dataset.seal.canary_marks import FUNNEL_FILE
from harness.report import page
from harness.report.answers import answers
from harness.report.gather import gather, run_names
from harness.report.text import clean, short_models
from harness.runs.predictions import CONTROLS
from harness.runs.run_folder import PREDICTIONS_FILE, RUN_FILE, RunFolder, is_run

_PAGE_BYTES = 64 * 1024 * 1024
"""Long texts of a page that is not sent around may come to more than those of a file."""
_Value = TypeVar("_Value")
_PAGES = 4
"""Finished pages held in memory."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is."""

    version: str
    """Changes whenever anything of the run does."""
    total: int
    """Predictions."""
    scored: int
    """Predictions with a report."""


@dataclass(kw_only=True)
class Shelf:
    """Runs, found again at every look, so that new ones appear. Safe for several threads."""

    paths: Sequence[Path]
    """Run folders, and folders that hold run folders."""
    dataset: Path | None = None
    with_hidden: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Held for a look at `_cache`, never while a page is made."""
    _cache: OrderedDict[tuple[str, str], _Slot] = field(default_factory=OrderedDict)

    def runs(self) -> dict[str, Path]:
        """Run folders by a name that no other has.

        Raises:
            InputError: a path that is no folder, or can't be read.

        """
        folders: dict[Path, Path] = {}
        for path in self.paths:
            try:
                if not path.is_dir():
                    raise InputError(files.no_folder(path), hint="give run folders, or the folder that holds them")
                inside = (
                    [path] if _may_be_run(path) else sorted(child for child in path.iterdir() if _may_be_run(child))
                )
            except OSError as error:
                raise InputError(unreadable(error), hint="fix its permissions, or give other folders") from error
            folders |= {run.resolve(): run for run in inside}
        runs = list(folders.values())
        return dict(zip(run_names(runs), runs, strict=True))

    def check(self) -> None:
        """Refuse what could never be shown, before anything is served.

        Raises:
            InputError: a path that is no folder, or a dataset that is none.

        """
        self.runs()
        if self.dataset:
            open_dataset(self.dataset)

    def listing(self) -> list[dict[str, Any]]:
        """Every run as JSON values, the newest first."""
        rows = [_row(name, path) for name, path in self.runs().items()]
        return sorted(rows, key=lambda row: (row["started"], row["name"]), reverse=True)

    def state(self, chosen: Sequence[str]) -> dict[str, Any]:
        """How far some runs are, all together, as JSON values.

        Raises:
            InputError: no run of that name.

        """
        parts = [progress(path) for path in self._chosen(chosen)]
        return {
            "version": self._version(parts),
            "total": sum(part.total for part in parts),
            "scored": sum(part.scored for part in parts),
        }

    def summary(self, name: str) -> list[dict[str, Any]]:
        """The models of a run with their rates, best first, as JSON values.

        Raises:
            InputError: no run of that name, or a broken one.

        """
        (path,) = self._chosen([name])

        def compute() -> list[dict[str, Any]]:
            sheets = scoresheet.read(path, dataset=self.dataset)
            short = short_models([clean(sheet.model) for sheet in sheets])
            order = sorted(sheets, key=lambda sheet: (sheet.model in CONTROLS, -(sheet.rate.value or 0.0), sheet.model))
            return [
                {
                    "model": clean(sheet.model),
                    "name": short[clean(sheet.model)],
                    "control": sheet.model in CONTROLS,
                    "rate": wording.percent(sheet.rate.value),
                    "interval": wording.span(sheet.rate.interval.low, sheet.rate.interval.high)
                    if sheet.rate.interval
                    else "",
                }
                for sheet in order
            ]

        return self._cached("summary", name, self._version([progress(path)]), compute)

    def report(self, chosen: Sequence[str], *, live: str) -> str:
        """The report's page over some runs; `live` is where it asks whether they have changed.

        Raises:
            InputError: no run of that name, or a broken one.

        """
        runs = self._chosen(chosen)
        version = self._version([progress(path) for path in runs])

        def compute() -> str:
            report_data = gather(runs, dataset=self.dataset, with_hidden=self.with_hidden, page_bytes=_PAGE_BYTES)
            return page.render_data(report_data, answers(report_data), live=live, version=version)

        return self._cached("report", live, version, compute)

    def _version(self, parts: Sequence[Progress]) -> str:
        """Changes whenever anything of these runs or of the dataset does."""
        return _digest([*(part.version for part in parts), *(_dataset_stamps(self.dataset) if self.dataset else ())])

    def _chosen(self, chosen: Sequence[str]) -> list[Path]:
        runs = self.runs()
        for name in chosen:
            if name not in runs:
                raise InputError(f"no run is named {name!r} here")
        if not chosen:
            raise InputError("no run is chosen")
        return [runs[name] for name in dict.fromkeys(chosen)]

    def _cached(self, kind: str, name: str, version: str, compute: Callable[[], _Value]) -> _Value:
        """A value that is computed once for each version; of pages, only the last few are held."""
        with self._lock:
            slot = self._cache.setdefault((kind, name), _Slot())
            self._cache.move_to_end((kind, name))
            for old in [key for key in self._cache if key[0] == "report"][:-_PAGES]:
                del self._cache[old]
        with slot.lock:
            if slot.version != version:
                slot.value, slot.version = compute(), version
            value: _Value = slot.value
            return value


@dataclass
class _Slot:
    """Room for one value; whoever asks while it is made waits for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    version: str = ""
    value: Any = None


def unreadable(error: OSError) -> str:
    """What a person is told of a file or a folder that can't be read."""
    return f"{error.filename} can't be read: {error.strerror}" if error.filename else f"can't be read: {error}"


def _may_be_run(path: Path) -> bool:
    """Whether a folder is a run's; one that can't be looked into is listed, so that its page says why."""
    try:
        return is_run(path)
    except OSError:
        return True


def progress(path: Path) -> Progress:
    """How far a run is, from the names and times of its files."""
    reports = RunFolder(path=path).report_paths()
    stamps = [_stamp(file) for file in (path / RUN_FILE, path / PREDICTIONS_FILE, *reports)]
    return Progress(
        version=_digest(stamps), total=max(_lines(path / PREDICTIONS_FILE), len(reports)), scored=len(reports)
    )


def _row(name: str, path: Path) -> dict[str, Any]:
    record = RunFolder(path=path).record()
    now = progress(path)
    return {
        "name": name,
        "started": record.started_at if record else "",
        "dataset": f"{record.dataset}, version {record.dataset_version}" if record else "",
        "sealed": bool(record and record.sealed),
        "models": [clean(model) for model in record.models] if record else [],
        "total": now.total,
        "scored": now.scored,
        "version": now.version,
    }


def _dataset_stamps(dataset: Path) -> list[str]:
    """Names and times of what a report reads of a dataset."""
    return [
        _stamp(path) for path in (dataset / DATASET_FILE, dataset / FUNNEL_FILE, *sorted(dataset.glob("tasks/*/*")))
    ]


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return f"{path.name} -"
    return f"{path} {status.st_mtime_ns} {status.st_size}"


def _lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return 0


def _digest(parts: Any) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]

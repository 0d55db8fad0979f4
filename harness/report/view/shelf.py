"""The runs that a view shows, as they are on disk now: what each is, how far it is, and its figures."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from harness.analysis import scoresheet
from harness.core.errors import InputError
from harness.dataset.folder import open_dataset
from harness.report import page, words
from harness.report.answers import answers
from harness.report.data import CONTROLS
from harness.report.gather import gather, run_names
from harness.report.parts import names
from harness.report.text import clean
from harness.runs.run_folder import PREDICTIONS_FILE, RUN_FILE, RunFolder, is_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

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
    _cache: OrderedDict[tuple[str, ...], Any] = field(default_factory=OrderedDict)

    def runs(self) -> dict[str, Path]:
        """Run folders by a name that no other has.

        Raises:
            InputError: a path that is no folder.

        """
        folders: dict[Path, Path] = {}
        for path in self.paths:
            if not path.is_dir():
                raise InputError(f"no such folder: {path}", hint="give run folders, or the folder that holds them")
            inside = [path] if is_run(path) else sorted(child for child in path.iterdir() if is_run(child))
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
            "version": _digest(part.version for part in parts),
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
            short = names.models([clean(sheet.model) for sheet in sheets])
            order = sorted(sheets, key=lambda sheet: (sheet.model in CONTROLS, -(sheet.rate.value or 0.0), sheet.model))
            return [
                {
                    "model": clean(sheet.model),
                    "name": short[clean(sheet.model)],
                    "control": sheet.model in CONTROLS,
                    "rate": words.percent(sheet.rate.value),
                    "interval": words.span(sheet.rate.interval.low, sheet.rate.interval.high)
                    if sheet.rate.interval
                    else "",
                }
                for sheet in order
            ]

        return self._cached(("summary", name, progress(path).version), compute)

    def report(self, chosen: Sequence[str], *, live: str) -> str:
        """The report's page over some runs; `live` is where it asks whether they have changed.

        Raises:
            InputError: no run of that name, or a broken one.

        """
        runs = self._chosen(chosen)
        version = _digest(progress(path).version for path in runs)

        def compute() -> str:
            report_data = gather(runs, dataset=self.dataset, with_hidden=self.with_hidden, page_bytes=_PAGE_BYTES)
            return page.render_data(report_data, answers(report_data), live=live, version=version)

        return self._cached(("report", live, version), compute)

    def _chosen(self, chosen: Sequence[str]) -> list[Path]:
        runs = self.runs()
        for name in chosen:
            if name not in runs:
                raise InputError(f"no run is named {name!r} here")
        if not chosen:
            raise InputError("no run is chosen")
        return [runs[name] for name in dict.fromkeys(chosen)]

    def _cached(self, key: tuple[str, ...], compute: Callable[[], _Value]) -> _Value:
        """A value that is computed once for each key; of pages, only the last few are held."""
        with self._lock:
            if key not in self._cache:
                self._cache[key] = compute()
            self._cache.move_to_end(key)
            pages = [each for each in self._cache if each[0] == "report"]
            for old in pages[:-_PAGES]:
                del self._cache[old]
            value: _Value = self._cache[key]
            return value


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

"""The notes of a refresh that is under way: every verdict on disk as it comes, so that nothing is done twice.

They name no hidden test and stand in the dataset's own folder for workings, which git does not see.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harness.core import files, json_text
from harness.dataset.folder import Dataset
from harness.dataset.seal.sealed import WORKINGS
from harness.runs.refresh.seen import Slot, VerdictSummary

SCHEMA_VERSION = 1
_FILE = "notes.jsonl"
_SUMMARY = TypeAdapter(VerdictSummary)
MOST_HOURS = 24.0
"""Older verdicts say nothing of today, so a refresh that was broken off longer ago begins anew."""


def folder_of(dataset: Dataset) -> Path:
    """Where a refresh works."""
    return dataset.path / WORKINGS / "refresh"


def request_of(ids: Collection[str], *, quarantined: bool) -> dict[str, Any]:
    """What a refresh is asked for: the tasks that the user named, none where all are meant, and of which state.

    One that was asked for something else does not go on from it.
    """
    return {"ids": sorted(ids), "quarantined": quarantined}


class Notes:
    """The verdicts so far, by their slots. One process at a time; see `files.locked`."""

    def __init__(self, dataset: Dataset, request: Mapping[str, Any], plan: Sequence[str], *, again: bool) -> None:
        """Go on from an unfinished refresh, or with `again` from a finished one, or begin anew.

        `plan` are the tasks where it begins anew; else those of the one that it goes on from stand.
        """
        self._path = folder_of(dataset) / _FILE
        self._seen: dict[Slot, tuple[str, VerdictSummary]] = {}
        self.plan = tuple(plan)
        lines = _read(self._path)
        self.goes_on = _can_go_on(lines, request, again=again)
        if self.goes_on:
            task_ids = set(dataset.ids())
            former = [task_id for task_id in lines[0].get("plan", ()) if task_id in task_ids]
            self.plan = tuple(dict.fromkeys([*former, *plan]))
            self._take(lines[1:])
            self._add({"went_on": True}, start=b"\n")  # what was killed may have left half a line
        else:
            self._begin(request)

    def get(self, slot: Slot, key: str) -> VerdictSummary | None:
        """A verdict, if it was found on the same task under the same rules."""
        summary_seen = self._seen.get(slot)
        return summary_seen[1] if summary_seen and summary_seen[0] == key else None

    def add(self, summary: VerdictSummary, key: str) -> None:
        """Keep a verdict; it is on disk when this returns."""
        self._seen[summary.slot] = (key, summary)
        self._add({"key": key, **asdict(summary)})

    def end(self) -> None:
        """All of it is done: the next refresh begins anew."""
        self._add({"ended": True})

    def _begin(self, request: Mapping[str, Any]) -> None:
        head = {"schema_version": SCHEMA_VERSION, "at": time.time(), "asked": request, "plan": self.plan}
        files.write_bytes(self._path, json.dumps(head).encode() + b"\n")

    def _add(self, line: Mapping[str, Any], *, start: bytes = b"") -> None:
        with files.explained(self._path), self._path.open("ab") as file:
            file.write(start + json.dumps(line).encode() + b"\n")
            file.flush()

    def _take(self, lines: Sequence[Mapping[str, Any]]) -> None:
        for line in lines:
            try:
                summary = _SUMMARY.validate_python(line)
                self._seen[summary.slot] = (str(line["key"]), summary)
            except (KeyError, ValueError):
                continue


def unfinished(dataset: Dataset, request: Mapping[str, Any]) -> bool:
    """Whether there is a refresh that was asked for this and did not come to its end."""
    return _can_go_on(_read(folder_of(dataset) / _FILE), request, again=False)


def _can_go_on(lines: Sequence[Mapping[str, Any]], request: Mapping[str, Any], *, again: bool) -> bool:
    """Whether notes are of a refresh asked for the same, lately, that has not ended or may be taken up again."""
    if not lines or lines[0].get("asked") != request:
        return False
    at = lines[0].get("at")
    young = isinstance(at, int | float) and abs(time.time() - at) <= MOST_HOURS * 3600  # a clock may be put back
    last = max((number for number, line in enumerate(lines) if "ended" in line or "went_on" in line), default=0)
    return young and (again or "ended" not in lines[last])


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        data = path.read_bytes()
    except OSError:
        return []
    entries = map(json_text.read_object, data.split(b"\n"))
    return [raw for raw in entries if raw is not None]  # None: half a line, from a process that was killed; or the end

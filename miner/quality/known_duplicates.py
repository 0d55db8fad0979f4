"""Public datasets that a mine is held against: a task that stands in one of them is known to models already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from harness.core.errors import InputError
from harness.core.instance import Task
from harness.core.records import PartialRecord
from harness.core.wording import problems
from harness.dataset.folder import Dataset
from harness.dataset.similarity.near import Fix, FixIndex, fix_of
from miner.sources.change import Rejection, Stage


class _Row(PartialRecord):
    """What is needed of a row of SWE-bench's form."""

    patch: str
    instance_id: str = ""
    problem_statement: str | None = ""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """What a new task is held against."""

    public: FixIndex | None = None
    """Fixes of public datasets; None where none was given."""
    own: FixIndex | None = None
    """Fixes of the dataset's own tasks; None where they can't be read."""

    def rejection(self, fix: Fix) -> Rejection | None:
        """The reason to leave a change whose fix a public dataset has."""
        nears = self.public.near(fix) if self.public else ()
        return Stage.SPLIT.no("near_duplicate", f"{nears[0].name}: {nears[0].why}") if nears else None

    def marked(self, task: Task) -> Task:
        """A task with what it nearly is: counts in task.yaml, names on the hidden side. It is known from then on."""
        fix = fix_of(task.instance_id, task.hidden.gold_patch, task.instance.problem_statement)
        shelves = {"public": self.public, "dataset": self.own}
        near_by_side = {side: shelf.near(fix) for side, shelf in shelves.items() if shelf is not None}
        if self.own is not None:
            self.own.add(fix)
        counts = {side: len(near_by_side[side]) if side in near_by_side else None for side in shelves}
        entries = [
            {"in": side, "of": near.name, "share": round(near.share, 4), "same_patch": near.same_patch}
            for side, nears in near_by_side.items()
            for near in nears
        ]
        instance = replace(task.instance, quality={**task.instance.quality, "near_duplicates": counts})
        evidence = {**task.hidden.evidence, **({"near_duplicates": entries} if entries else {})}
        return replace(task, instance=instance, hidden=replace(task.hidden, evidence=evidence))


def shelf_of_rows(paths: Iterable[Path]) -> FixIndex:
    """The fixes of public datasets: files of SWE-bench's form, one JSON object a line.

    Raises:
        InputError: a file can't be read or has no row, or a line of it is none; the message names it.

    """
    shelf = FixIndex()
    for path in paths:
        before = len(shelf)
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.strip():
                        _add_row(shelf, line, f"{path.name}:{number}", f"{path}, line {number}")
        except OSError as error:
            hint = "give a file of rows, one JSON object a line"
            raise InputError(f"{path} can't be read: {error.strerror or error}", hint=hint) from error
        if len(shelf) == before:
            raise InputError(f"{path} has no row", hint="give a file of rows, one JSON object a line")
    return shelf


def _add_row(shelf: FixIndex, line: bytes, place: str, where: str) -> None:
    try:
        row = _Row.model_validate_json(line)
    except ValidationError as error:
        text = problems(error.errors(), whole="row", most=3)
        raise InputError(
            f"{where} is not a row: {text}", hint="each line needs `patch`, as SWE-bench has it"
        ) from error
    name = f"{row.instance_id} ({place})" if row.instance_id else place
    shelf.add(fix_of(name, row.patch.encode("utf-8", "replace"), row.problem_statement or ""))


def shelf_of_tasks(dataset: Dataset) -> FixIndex | None:
    """The fixes of a dataset's own tasks; None where it is sealed, so that they can't be read."""
    if dataset.sealed and dataset.keys is None:
        return None
    shelf = FixIndex()
    for instance_id in dataset.ids():
        try:
            task = dataset.task(instance_id)
        except InputError:  # `holdout check` tells of broken ones
            continue
        shelf.add(fix_of(instance_id, task.hidden.gold_patch, task.instance.problem_statement))
    return shelf

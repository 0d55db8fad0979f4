"""A dataset, or a part of it, in another tool's format; all formats by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core import files
from harness.core.errors import InputError
from harness.core.instance import Hidden, Instance, TaskState
from harness.core.wording import one_of
from harness.dataset.folder import Dataset
from harness.dataset.ledger import ledger
from harness.interop import harbor, inspect_tasks, swebench, tables
from harness.interop.base import Collection, Content, Exported, Format

FORMATS = {
    "swebench": Format(folder=True, content=swebench.content),
    "harbor": Format(folder=True, content=harbor.content),
    "inspect": Format(folder=True, content=inspect_tasks.content),
    "jsonl": Format(folder=False, content=tables.json_lines),
    "parquet": Format(folder=False, content=tables.parquet),
}


@dataclass(frozen=True, kw_only=True)
class Export:
    """What was written."""

    path: Path
    format: str
    hidden: bool
    tasks: tuple[str, ...]
    """Ids."""
    files: int
    size: int
    """Bytes, all files together."""
    notes: tuple[str, ...]
    """What the format cannot hold, for a person."""

    def as_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "format": self.format,
            "hidden": self.hidden,
            "tasks": list(self.tasks),
            "files": self.files,
            "bytes": self.size,
            "notes": list(self.notes),
        }


def export(
    dataset: Dataset,
    out: Path,
    *,
    to: str,
    hidden_of: Callable[[str], Hidden] | None = None,
    ids: Sequence[str] = (),
    split: str | None = None,
) -> Export:
    """Write tasks in another tool's format; what is written appears whole or not at all.

    Args:
        dataset: whose tasks they are; its ledger gets a line before anything is to be seen at `out`.
        out: a new or empty folder, or a file, which is replaced; the format tells which. `-` is standard output, for a
            file.
        to: a name out of `FORMATS`.
        hidden_of: reads a task's hidden side; None leaves the hidden side out.
        ids: these tasks, whatever their state; by default every proved one.
        split: only tasks of this split.

    Raises:
        InputError: an unknown id or format, no task at all, a place that cannot be written, a task that the format
            cannot tell.

    """
    form = FORMATS[one_of("--format", to, FORMATS)]
    _refuse_place(out, folder=form.folder)
    chosen = _chosen(dataset, ids, split)
    tasks = [
        Exported(instance=instance, hidden=hidden_of(instance.instance_id) if hidden_of else None)
        for instance in chosen
    ]
    collection = Collection(
        name=dataset.name, version=dataset.version, canary=dataset.canary, tasks=tasks, hidden=hidden_of is not None
    )
    content = form.content(collection)
    instance_ids = tuple(task.instance_id for task in tasks)
    write = _write_folder if form.folder else _write_file
    write(
        out,
        content,
        lambda: ledger.record(dataset, ledger.Event.EXPORTED, instance_ids, format=to, hidden=collection.hidden),
    )
    return Export(
        path=out,
        format=to,
        hidden=collection.hidden,
        tasks=instance_ids,
        files=len(content.files),
        size=sum(len(data) for data in content.files.values()),
        notes=content.notes,
    )


def _chosen(dataset: Dataset, ids: Sequence[str], split: str | None) -> list[Instance]:
    if ids:
        instances = [dataset.instance(instance_id) for instance_id in dict.fromkeys(ids)]
    else:
        instances = [instance for instance in dataset.instances() if instance.state is TaskState.PROVED]
    chosen = [instance for instance in instances if split is None or instance.split == split]
    if chosen:
        return chosen
    if split is not None and instances:
        text = ", ".join(sorted({instance.split for instance in instances}))
        raise InputError(f"no task of {dataset.path} is in the split {split!r}", hint=f"there are: {text}")
    raise InputError(f"{dataset.path} has no proved task to export", hint="name tasks of another state with -i ID")


def _refuse_place(out: Path, *, folder: bool) -> None:
    if folder and out == files.STANDARD_OUTPUT:
        raise InputError("this format is a folder, which standard output can't hold", hint="name a folder with -o")
    if folder and out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise InputError(f"{out} already exists", hint="choose a new folder, or an empty one")
    if not folder and out.is_dir():
        raise InputError(f"{out} is a folder; this format is one file", hint="name the file to write with -o")


def _write_file(out: Path, content: Content, record: Callable[[], object]) -> None:
    record()
    files.write_result(out, content.files[""])


def _write_folder(out: Path, content: Content, record: Callable[[], object]) -> None:
    with files.new_folder(out) as building:
        with files.explained(out):
            for path, data in content.files.items():
                target = building / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                if path in content.scripts:
                    target.chmod(0o755)
        record()

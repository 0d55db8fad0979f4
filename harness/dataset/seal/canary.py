"""The dataset's canary in every one of its files: a unique text, so that a copy that leaked can be recognised.

It stands where readers pass over it, and reading a task takes it out again: no statement, patch or digest knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.core import files
from harness.core.errors import InputError
from harness.dataset import folder, model_files
from harness.dataset.folder import Dataset
from harness.dataset.ledger import ledger
from harness.dataset.seal import sealed
from harness.dataset.seal.canary_marks import FIELD, in_file, new

_SEALED = (".age",)
"""Files that nobody reads as they are; the canary is inside."""


def missing(dataset: Dataset) -> tuple[str, ...]:
    """Paths of the dataset's files without its canary, relative to it; sealed ones are left out.

    Raises:
        InputError: a file cannot be read.

    """
    canary = dataset.canary.encode()
    return tuple(
        str(path.relative_to(dataset.path))
        for path in _files(dataset)
        if not canary or canary not in model_files.read_bytes(path)
    )


def add(dataset: Dataset) -> tuple[str, ...]:
    """Write the canary into every file that lacks it; a dataset without one is given one.

    Safe to stop anywhere: each file is replaced at once. Returns the paths that were changed, relative to the dataset.

    Raises:
        InputError: a file is broken or cannot be written, another goldseam is mining or sealing, or the canary is no
            plain line.

    """
    with files.locked(dataset.path / sealed.WORKINGS / sealed.LOCK, busy=f"another goldseam is writing {dataset.path}"):
        return add_locked(dataset)


def add_locked(dataset: Dataset) -> tuple[str, ...]:
    """As `add`, for whoever holds the lock."""
    changed = []
    if not dataset.canary:
        folder.write_settings(dataset, {FIELD: new()})
        dataset = folder.open_dataset(dataset.path, keys=dataset.keys)
        changed.append(folder.DATASET_FILE)
    text = dataset.canary
    if not text.isprintable() or "--" in text:
        raise InputError(
            f"the canary of {dataset.path} is not a plain line of text", hint="write another canary into dataset.yaml"
        )
    changed += [name for name in missing(dataset) if _add(dataset, dataset.path / name)]
    return tuple(changed)


def _files(dataset: Dataset) -> Iterator[Path]:
    places = [dataset.path, *(dataset.task_folder(task_id) for task_id in dataset.ids())]
    for place in places:
        for path in sorted(place.iterdir()):
            if path.is_file() and not path.name.startswith(".") and path.suffix not in _SEALED:
                yield path


def _add(dataset: Dataset, path: Path) -> bool:
    """Write the canary into one file; False where that kind of file has no place for it."""
    if path.name == ledger.LEDGER_FILE:
        ledger.record(dataset, ledger.Event.CREATED, canary=dataset.canary)
        return True
    data = model_files.read_bytes(path)
    if path.name == folder.TASK_FILE:
        instance = folder.read_instance(path.parent)
        marked = replace(instance, extra={**instance.extra, FIELD: dataset.canary})
        folder.write_instances(dataset, (marked,))
        return True
    new_data = in_file(path.name, data, dataset.canary)
    if new_data != data:
        files.write_bytes(path, new_data)
    return new_data != data

"""`holdout merge`: several datasets into a new one, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.core import files
from harness.core.errors import GoldseamError, InputError
from harness.core.grouping import grouped
from harness.core.instance import Instance, TaskState
from harness.core.wording import counted
from harness.dataset import content
from harness.dataset.folder import (
    Dataset,
    create_dataset,
    open_dataset,
    place_task,
    public_files,
    write_settings,
    write_task,
)
from harness.dataset.ledger import chain, ledger
from harness.dataset.model_files import read_bytes
from harness.dataset.schema import DatasetModel
from harness.dataset.seal import canary_marks
from harness.dataset.seal.identity import PASSPHRASE_FILE, Keys, WrongKeyError, load_keys, recipients_digest, short
from harness.dataset.seal.sealed import SEALED_FILE
from harness.dataset.splits import Split

FORMER_CANARIES = "former_canaries"
"""The field of a merged dataset's dataset.yaml: what copies of its parts can be recognised by."""
_LOCK = ".merging"
_STATES = (TaskState.CANDIDATE, TaskState.PROVED, TaskState.QUARANTINED, TaskState.RETIRED)
"""The further on, the more is known against a task."""
_SPLITS = (Split.HOLDOUT.value, Split.DEV.value, Split.RETIRED.value)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One dataset's part in a merge."""

    name: str
    version: int
    tasks: tuple[str, ...]
    same: tuple[str, ...]
    """Were there from an earlier one, with the same content."""


@dataclass(frozen=True, kw_only=True)
class Merged:
    """A merged dataset."""

    path: Path
    parts: tuple[Part, ...]
    sealed_to: tuple[str, ...]
    notes: tuple[str, ...]


def merge(inputs: Sequence[Dataset], out: Path, *, name: str | None = None) -> Merged:
    """Put the tasks of several datasets into a new one, with what their ledgers say of exposures.

    Where one input is sealed, so is the result, to the recipients of the first that is. Those sealed to others need
    their keys. A killed merge leaves no dataset, and its remains go with the next one.

    Raises:
        InputError: fewer than two inputs or one twice, `out` is there, an id names two different tasks, or keys are
            missing; all clashes are told.
        AnswerIsNoError: an input is not what its ledger binds.

    """
    if len({dataset.path.resolve() for dataset in inputs}) < max(2, len(inputs)):
        raise InputError("a merge needs two datasets or more, each once")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} already exists", hint="name a new folder with -o")
    sources = _sources(inputs)
    _refuse_closed(inputs, sources)
    for dataset in inputs:
        chain.require(dataset)  # a merge binds anew what it takes
    with _building(out) as place:
        model, notes = _description(inputs, name or out.resolve().name)
        merged = create_dataset(place, name=model.name)
        write_settings(merged, {**dict(model), "canary": merged.canary})
        merged = open_dataset(place)
        _copy_passphrase(inputs, merged)
        for task_id, owners in sorted(sources.items()):
            _copy(owners, task_id, merged)
        _funnel(inputs, place)
        _cursors(inputs, place)
        parts = _tell(inputs, sources, merged)
        content.settle(merged)
        with files.explained(out):
            if out.is_dir():
                out.rmdir()
            place.rename(out)
    return Merged(path=out, parts=parts, sealed_to=merged.recipients, notes=notes)


def opened(paths: Sequence[Path], identity: str | None) -> tuple[Dataset, ...]:
    """The datasets to merge; an identity opens those of the sealed ones that it has a key for.

    Raises:
        InputError: one is none, or the identity holds no key at all.

    """
    datasets = [open_dataset(path) for path in paths]
    if identity is None:
        return tuple(datasets)
    return tuple(dataset.with_keys(_keys(identity, dataset)) if dataset.sealed else dataset for dataset in datasets)


def _keys(identity: str, dataset: Dataset) -> Keys | None:
    """Keys that open the dataset's first task; None where they do not, so that it is as if there were none."""
    keys, first = load_keys(identity, dataset.path), next(iter(dataset.ids()), None)
    try:
        if first is not None:
            dataset.with_keys(keys).task(first)
    except WrongKeyError:
        return None
    return keys


def _sources(inputs: Sequence[Dataset]) -> dict[str, list[Dataset]]:
    """Who has each task; of those with the same content the first gives it.

    Raises:
        InputError: an id names two different tasks.

    """
    datasets = grouped((task_id, dataset) for dataset in inputs for task_id in dataset.ids())
    clashes = [
        f"{task_id} in {owners[0].path} and {other.path}"
        for task_id, owners in sorted(datasets.items())
        for other in owners[1:]
        if _fingerprint(owners[0], task_id) != _fingerprint(other, task_id)
    ]
    if clashes:
        more = f" and {len(clashes) - 5} more" if len(clashes) > 5 else ""  # noqa: PLR2004 - a few are enough
        raise InputError(
            f"{counted(len(clashes), 'id names', 'ids name')} two different tasks: {'; '.join(clashes[:5])}{more}",
            hint="retire or remove one of each, or mine one of the datasets again",
        )
    return datasets


def _fingerprint(dataset: Dataset, task_id: str) -> str:
    return content.task_content(dataset.task_folder(task_id), life=False)


def _refuse_closed(inputs: Sequence[Dataset], sources: dict[str, list[Dataset]]) -> None:
    target = next((dataset for dataset in inputs if dataset.sealed), None)
    for dataset in inputs:
        gives = [task_id for task_id, owners in sources.items() if owners[0] is dataset]
        if target and gives and not _same_recipients(dataset, target) and dataset.sealed and dataset.keys is None:
            raise InputError(
                f"{dataset.path} is sealed to {', '.join(map(short, dataset.recipients))}, and {target.path} to "
                f"{', '.join(map(short, target.recipients))}",
                hint="give a key of the former with --identity, or seal both to the same recipients first",
            )


def _same_recipients(dataset: Dataset, two: Dataset) -> bool:
    return recipients_digest(dataset.recipients) == recipients_digest(two.recipients)


def _description(inputs: Sequence[Dataset], name: str) -> tuple[DatasetModel, tuple[str, ...]]:
    models = [dataset.description() for dataset in inputs]
    notes: list[str] = []
    fields: dict[str, Any] = {}
    for field in ("splits", "policy"):
        values = [getattr(model, field) for model in models]
        if all(value == values[0] for value in values):
            fields[field] = values[0]
        else:
            notes.append(f"the datasets have different {field}, so the new one has none: tasks stay where they are")
    licences = list(dict.fromkeys(model.licence_note for model in models if model.licence_note))
    former = [model.canary for model in models]
    for model in models:
        former += (model.model_extra or {}).get(FORMER_CANARIES) or []
    sealed_to = next((dataset.recipients for dataset in inputs if dataset.sealed), ())
    if sealed_to and not all(_same_recipients(dataset, inputs[0]) for dataset in inputs):
        notes.append(f"everything is sealed to {', '.join(map(short, sealed_to))}")
    return (
        DatasetModel(
            name=name,
            licence_note="; ".join(licences),
            recipients=sealed_to,
            **fields,
            **{FORMER_CANARIES: list(dict.fromkeys(canary for canary in former if canary))},
        ),
        tuple(notes),
    )


def _copy_passphrase(inputs: Sequence[Dataset], merged: Dataset) -> None:
    first = next((dataset for dataset in inputs if dataset.sealed), None)
    if first and (first.path / PASSPHRASE_FILE).exists():
        files.write_bytes(merged.path / PASSPHRASE_FILE, read_bytes(first.path / PASSPHRASE_FILE))


def _copy(owners: Sequence[Dataset], task_id: str, dataset: Dataset) -> None:
    source = owners[0]
    instance = _cautious([owner.instance(task_id) for owner in owners])
    public = public_files(source, task_id)
    if not (source.sealed and _same_recipients(source, dataset)):
        write_task(dataset, replace(source.task(task_id), instance=instance), public_files=public)
        return
    data = read_bytes(source.task_folder(task_id) / SEALED_FILE)
    place_task(dataset, instance, {SEALED_FILE: data}, public_files=public)


def _cautious(instances: Sequence[Instance]) -> Instance:
    """The first, with what is known against the task in any of them."""
    worst = max(instances, key=lambda instance: _STATES.index(instance.state))
    split = max(
        (instance.split for instance in instances), key=lambda name: _SPLITS.index(name) if name in _SPLITS else 0
    )
    fields = {name: worst.extra[name] for name in ("quarantined", "retired") if name in worst.extra}
    return replace(instances[0], state=worst.state, split=split, extra={**instances[0].extra, **fields})


def _funnel(inputs: Sequence[Dataset], place: Path) -> None:
    """Every line of every funnel, each once."""
    lines: dict[bytes, None] = {}
    for dataset in inputs:
        path = dataset.path / canary_marks.FUNNEL_FILE
        for line in read_bytes(path).split(b"\n")[:-1] if path.exists() else ():
            if not line.startswith(b'{"schema_version": 1, "canary"'):
                lines[line] = None
    path = place / canary_marks.FUNNEL_FILE
    files.write_bytes(path, (read_bytes(path) if path.exists() else b"") + b"".join(line + b"\n" for line in lines))


def _cursors(inputs: Sequence[Dataset], place: Path) -> None:
    """How far origins were mined that one dataset alone knows; those of several are looked at again."""
    states: list[dict[str, Any]] = []
    for dataset in inputs:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            states.append(dict(json.loads((dataset.path / "cursors.json").read_bytes())["origins"]))
    origins = {
        name: value
        for fields in states
        for name, value in fields.items()
        if sum(name in other for other in states) == 1
    }
    if origins:
        files.write_json(place / "cursors.json", {"schema_version": 1, "origins": origins})


def _tell(inputs: Sequence[Dataset], sources: dict[str, list[Dataset]], merged: Dataset) -> tuple[Part, ...]:
    """The new ledger: where each task is from, and to whom it was shown before."""
    parts = []
    for dataset in inputs:
        gave = tuple(task_id for task_id, owners in sorted(sources.items()) if owners[0] is dataset)
        task_ids = tuple(task_id for task_id, owners in sorted(sources.items()) if dataset in owners[1:])
        version = content.content_told_now(dataset)
        ledger.record(
            merged,
            ledger.Event.MERGED,
            sorted((*gave, *task_ids)),
            source=dataset.name,
            version=dataset.version,
            content=version,
            ledger=ledger.head(dataset),
        )
        for entry in ledger.read(dataset):
            if entry.event == ledger.Event.EXPOSED:
                fields = {"originally_at": entry.at, **entry.facts, "source": dataset.name}
                facts = {key: value for key, value in fields.items() if key not in ("torn", canary_marks.FIELD)}
                ledger.record(merged, ledger.Event.EXPOSED, entry.tasks, **facts)
        parts.append(Part(name=dataset.name, version=dataset.version, tasks=gave, same=task_ids))
    return tuple(parts)


@contextlib.contextmanager
def _building(out: Path) -> Iterator[Path]:
    """A folder beside `out` to build in; what killed merges left of theirs is removed."""
    with files.explained(out):
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        for stray in out.absolute().parent.glob(f".{out.name}.*{_LOCK}"):
            with contextlib.suppress(GoldseamError), files.locked(stray / _LOCK, busy="it is being made"):
                shutil.rmtree(stray, ignore_errors=True)
        place = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=_LOCK, dir=out.absolute().parent))
    try:
        with files.locked_in_turn(place / _LOCK):
            inside = place / out.name
            inside.mkdir()
            yield inside
    finally:
        shutil.rmtree(place, ignore_errors=True)

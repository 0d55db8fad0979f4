"""Whether a dataset is what its ledger binds, and binding one as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.core.errors import InputError
from harness.core.wording import counted
from harness.dataset.folder import Dataset, read_parts
from harness.dataset.ledger import binding
from harness.dataset.ledger.binding import Bindings
from harness.dataset.ledger.entry import Event
from harness.dataset.model_files import read_bytes
from harness.dataset.seal import sealed
from harness.dataset.seal.identity import recipients_digest, short

_PLACES = {
    "source": "repo, base_commit, created_at, language or version of task.yaml is",
    "statement": "problem_statement.md is",
    "scaffold": "scaffold.patch is",
    "hidden": "its hidden files are",
}
"""Where a part of a task lies, where that is not the field of task.yaml with its name."""
_BIND = "`goldseam holdout bind DATASET` binds it"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A dataset beside what its ledger binds."""

    differences: tuple[str, ...]
    """Differences from what is bound, in words."""
    broken: tuple[str, ...] = ()
    """Tasks that cannot be read, and why: nothing is judged by them."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of dataset.yaml that are not bound, or not so, as they are now."""
    tasks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By task, the parts that are not bound, or not so, as they are now."""
    files: Mapping[str, str] = field(default_factory=dict)
    """By task, SHA-256 of a sealed file that the ledger does not know."""
    unbound_settings: tuple[str, ...] = ()
    unbound_tasks: int = 0
    """Tasks with a part that no line binds, in a ledger of which not all have to be bound."""

    @property
    def is_whole(self) -> bool:
        """Everything is bound, as it is."""
        return not (self.differences or self.broken or self.settings or self.tasks or self.files)

    def notes(self) -> tuple[str, ...]:
        """Parts that are not bound, so that a change of them would go unseen."""
        parts = [f"{', '.join(self.unbound_settings)} of dataset.yaml"] if self.unbound_settings else []
        parts += [f"{counted(self.unbound_tasks, 'task')}"] if self.unbound_tasks else []
        return (f"not bound by the ledger, so a change goes unseen: {' and '.join(parts)}; {_BIND}",) if parts else ()


def compare(dataset: Dataset, bound: Bindings) -> Comparison:
    """Hold a dataset against what its ledger binds.

    Raises:
        InputError: dataset.yaml is broken.

    """
    model = dataset.description()
    fields = binding.settings_of(model)
    differing = {name: value for name, value in fields.items() if bound.settings.get(name, value) != value}
    if not bound.settings.get("ledger_keys"):
        differing.pop("ledger_keys", None)  # that a key was added to none is told as not bound
    unbound = tuple(name for name in fields if fields[name] and not bound.settings.get(name) and name not in differing)
    differences = [*bound.refused, *_sealing(dataset, bound), *(_setting(name, fields, bound) for name in differing)]
    tasks: dict[str, Mapping[str, str]] = {}
    files: dict[str, str] = {}
    broken: list[str] = []
    unbound_tasks = 0
    for task_id in dataset.ids():
        try:
            parts = read_parts(dataset.task_folder(task_id))
        except InputError as error:
            broken.append(error.message)
            continue
        digests = bound.tasks.get(task_id, {})
        wrong = [name for name in parts if name in digests and digests[name] != parts[name]]
        differences += [_part(task_id, name) for name in wrong]
        lacking = [name for name in parts if name not in digests]
        if bound.complete and not digests:
            differences.append(f"{task_id} was added without a line in the ledger")
        elif lacking:
            unbound_tasks += 1
        if wrong or lacking:
            tasks[task_id] = {name: parts[name] for name in (*wrong, *lacking)}
        sealed_file = _sealed_file(dataset, task_id, bound)
        if sealed_file is not None:
            differences.append(sealed_file[0])
            files.update(sealed_file[1])
    return Comparison(
        differences=tuple(differences),
        broken=tuple(broken),
        settings={name: fields[name] for name in (*differing, *unbound)},
        tasks=tasks,
        files=files,
        unbound_settings=unbound,
        unbound_tasks=unbound_tasks,
    )


def _sealing(dataset: Dataset, bound: Bindings) -> list[str]:
    if dataset.sealed and not bound.is_sealed:
        return ["the dataset is sealed, but no line of the ledger says so: the ledger is missing, or lines of it are"]
    if bound.is_sealed and not dataset.sealed:
        return ["the ledger has the dataset sealed, but dataset.yaml names no recipients: it is readable here"]
    return []


def _setting(name: str, fields: Mapping[str, Any], bound: Bindings) -> str:
    if name == "splits":
        return "splits of dataset.yaml is not the rule that the ledger binds"
    listed, bound_values = ([short(key) for key in values] for values in (fields[name], bound.settings[name]))
    return (
        f"{name} of dataset.yaml: {', '.join(listed) or 'none'}; the ledger binds {', '.join(bound_values) or 'none'}"
    )


def _part(task_id: str, name: str) -> str:
    return f"{task_id}: {_PLACES.get(name, f'{name} of task.yaml is')} not what the ledger binds"


def _sealed_file(dataset: Dataset, task_id: str, bound: Bindings) -> tuple[str, dict[str, str]] | None:
    """What is wrong with a task's sealed file, and the digest of the one there: age tells nobody who wrote it."""
    if not dataset.sealed:
        return None
    bound_digest = bound.sealed_digest(task_id, dataset.recipients)
    file = sealed.sealed_file(dataset.task_folder(task_id), dataset.recipients, bound=bound_digest)
    if file is None:
        return f"{sealed.SEALED_FILE} of {task_id} is gone; its hidden files are readable, or are gone too", {}
    digest = sealed.digest(read_bytes(file))
    if digest == bound_digest:
        return None
    says = "was sealed without a line in the ledger" if bound_digest is None else "is not the file that was sealed"
    return f"{sealed.SEALED_FILE} of {task_id} {says}", {task_id: digest}


def bind(dataset: Dataset, *, accept: bool = False) -> Comparison:
    """Bind what the ledger does not bind yet, in one line; with `accept`, also what differs, as it is now.

    Returns:
        The comparison as it was before. Where it has differences and `accept` is off, nothing was written.

    Raises:
        InputError: a task is broken, the ledger cannot be read or written, or no listed key is there to sign it.

    """
    bound = binding.current(dataset)
    comparison = compare(dataset, bound)
    if comparison.broken:
        raise InputError(comparison.broken[0], hint="`goldseam holdout check` reports every problem of a dataset")
    if (comparison.is_whole and bound.complete) or (comparison.differences and not accept):
        return comparison
    model = dataset.description()
    binding.record(
        dataset,
        Event.BOUND,
        sorted({*comparison.tasks, *comparison.files}),
        bound=comparison.tasks,
        settings=binding.settings_of(model),
        files=comparison.files,
        **({"to": recipients_digest(dataset.recipients)} if comparison.files else {}),
        complete=True,
    )
    return comparison

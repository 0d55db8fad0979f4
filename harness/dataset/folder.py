"""A dataset on disk: a folder of small readable files, one folder a task."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from harness import files
from harness.dataset import canary_marks, ledger, opened, sealed
from harness.dataset.digests import HIDDEN_DIGEST, hidden_digest
from harness.dataset.hidden_files import (
    CALLS_FILE,
    EXPECTATIONS_FILE,
    HIDDEN_FILES,
    HINTS_FILE,
    ORIGINAL_FILE,
    TESTS_FILE,
    TRUST_FILE,
    hidden_files,
    hidden_names,
    hidden_of,
)
from harness.dataset.model_files import read_bytes, read_model, read_text, write_model
from harness.dataset.schema import (
    BudgetsModel,
    DatasetModel,
    ServiceModel,
    TaskModel,
    TestModel,
)
from harness.dataset.survivors import is_survivor
from harness.errors import InputError
from harness.instance import INSTANCE_ID, Budgets, Hidden, Instance, Service, Task, TaskState, TestSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from harness.dataset.identity import Keys
    from harness.dataset.schema import FileModel

_Part = TypeVar("_Part", Budgets, Service, TestSpec)

DATASET_FILE = "dataset.yaml"
TASK_FILE = "task.yaml"
STATEMENT_FILE = "problem_statement.md"
SCAFFOLD_FILE = "scaffold.patch"
_GIT_ATTRIBUTES = """\
# what a dataset's files need of git: bytes as they are, and ledgers of two branches one after the other
*.patch -text
*.age binary
*.jsonl -text merge=union
"""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset folder and its description; tasks are read when asked for."""

    path: Path
    name: str
    version: int
    canary: str
    recipients: tuple[str, ...] = ()
    """Whose keys open it; none where it is not sealed."""
    keys: Keys | None = field(default=None, repr=False, compare=False)
    """What opens its hidden side, where it is sealed."""

    @property
    def sealed(self) -> bool:
        return bool(self.recipients)

    def with_keys(self, keys: Keys | None) -> Dataset:
        """The same dataset, with what opens its hidden side."""
        return replace(self, keys=keys)

    @property
    def tasks_folder(self) -> Path:
        return self.path / "tasks"

    def task_folder(self, instance_id: str) -> Path:
        return self.tasks_folder / instance_id

    def ids(self) -> tuple[str, ...]:
        """Every task's id, sorted; half-written folders (their names start with a dot) are none."""
        if not self.tasks_folder.is_dir():
            return ()
        found = (entry.name for entry in self.tasks_folder.iterdir() if entry.is_dir())
        return tuple(sorted(name for name in found if not name.startswith(".")))

    def tasks(self) -> Iterator[Task]:
        for instance_id in self.ids():
            yield self.task(instance_id)

    def task(self, instance_id: str) -> Task:
        """One task, whole; in memory alone where it is sealed, and with a line in the ledger.

        Raises:
            InputError: it is not there, a file of it is broken, or it is sealed and `keys` do not open it, or the
                ledger cannot be written.

        """
        folder = self._existing(instance_id)
        hidden = read_hidden(folder, keys=self.keys, recipients=self.recipients)
        if hidden.secret:
            opened.ensure(self, instance_id)
        return Task(instance=read_instance(folder), hidden=hidden)

    def try_keys(self, instance_id: str) -> None:
        """See that the keys open a task.

        Raises:
            InputError: they do not, or its hidden side is broken.

        """
        read_hidden(self._existing(instance_id), keys=self.keys, recipients=self.recipients)

    def instances(self) -> Iterator[Instance]:
        """The public side of every task; hidden files are not touched."""
        for instance_id in self.ids():
            yield self.instance(instance_id)

    def instance(self, instance_id: str) -> Instance:
        """The public side of one task: all that a model may see, and all that most commands need.

        Raises:
            InputError: it is not there, or a public file of it is broken.

        """
        return read_instance(self._existing(instance_id))

    def _existing(self, instance_id: str) -> Path:
        folder = self.task_folder(instance_id)
        if not folder.is_dir():
            raise InputError(f"there is no task {instance_id!r} in {self.path}")
        return folder


def open_dataset(path: Path, *, keys: Keys | None = None) -> Dataset:
    """Read a dataset's description. `keys` open its hidden side, where it is sealed.

    Raises:
        InputError: the folder is no dataset, or dataset.yaml is broken.

    """
    if not (path / DATASET_FILE).is_file():
        what = "there is no such folder" if not path.exists() else f"it has no {DATASET_FILE}"
        raise InputError(f"{path} is not a dataset: {what}", hint="make one with `goldseam mine SOURCE -o DATASET`")
    model = read_model(path / DATASET_FILE, DatasetModel)
    return Dataset(
        path=path, name=model.name, version=model.version, canary=model.canary, recipients=model.recipients, keys=keys
    )


def create_dataset(path: Path, *, name: str | None = None) -> Dataset:
    """Open a dataset, or start one where there is none."""
    if not (path / DATASET_FILE).exists():
        if path.exists() and not path.is_dir():
            raise InputError(f"cannot write {path}: it is a file, not a folder")
        if path.is_dir() and any(not entry.name.startswith(".") for entry in path.iterdir()):
            raise InputError(
                f"{path} is neither empty nor a dataset: it has no {DATASET_FILE}", hint="choose another folder"
            )
        files.make_folder(path / "tasks")
        mark = canary_marks.new()
        files.write_bytes(path / canary_marks.FUNNEL_FILE, canary_marks.funnel_line(mark))
        files.write_text(path / ".gitattributes", _GIT_ATTRIBUTES)
        files.write_text(path / ".gitignore", f"{sealed.WORKINGS}/\n.*.tmp\n.*.next\n")
        write_model(path / DATASET_FILE, DatasetModel(name=name or path.resolve().name, canary=mark))
        ledger.record(open_dataset(path), ledger.Event.CREATED)
    dataset = open_dataset(path)
    files.make_folder(dataset.tasks_folder)
    return dataset


def read_task(folder: Path) -> Task:
    """Read a task's folder.

    Raises:
        InputError: a file is missing or broken; the message names it.

    """
    return Task(instance=read_instance(folder), hidden=read_hidden(folder))


def read_instance(folder: Path) -> Instance:
    """Read the public side of a task's folder.

    Raises:
        InputError: a public file is missing or broken; the message names it.

    """
    model = read_model(folder / TASK_FILE, TaskModel)
    if model.instance_id != folder.name:
        raise InputError(
            f"{folder / TASK_FILE}: instance_id is {model.instance_id!r}, but its folder is {folder.name!r}"
        )
    if not INSTANCE_ID.fullmatch(model.instance_id):
        raise InputError(f"{folder / TASK_FILE}: {model.instance_id!r} is no instance id (letters, digits, `_.-`)")
    instance = _instance(model, canary_marks.without_in_markdown(read_text(folder / STATEMENT_FILE)))
    scaffold = folder / SCAFFOLD_FILE
    if not scaffold.exists():
        return instance
    return replace(instance, scaffold=canary_marks.without_in_patch(read_bytes(scaffold)))


def read_hidden(folder: Path, *, keys: Keys | None = None, recipients: tuple[str, ...] = ()) -> Hidden:
    """Read the hidden side of a task's folder, sealed or not.

    Raises:
        InputError: a hidden file is missing or broken, or `keys` do not open it; the message names it.

    """
    file = sealed.sealed_file(folder, recipients)
    if file is None or (not recipients and (folder / TESTS_FILE).exists()):
        optional = (HINTS_FILE, ORIGINAL_FILE, EXPECTATIONS_FILE, TRUST_FILE, CALLS_FILE)
        present = [name for name in HIDDEN_FILES if (folder / name).exists() or name not in optional]
        present += [name for name in hidden_names(folder) if is_survivor(name)]
        return hidden_of({name: read_bytes(folder / name) for name in present}, folder)
    container = sealed.open_task(file, folder.name, keys=keys, recipients=recipients)
    return replace(hidden_of(container.files, file), secret=container.secret)


def _instance(model: TaskModel, statement: str) -> Instance:
    return Instance(
        instance_id=model.instance_id,
        repo=model.repo,
        base_commit=model.base_commit,
        created_at=model.created_at,
        language=model.language,
        version=model.version,
        image=model.image,
        problem_statement=statement,
        state=TaskState(model.state),
        split=model.split,
        test=_part(TestSpec, model.test, services=tuple(_part(Service, one) for one in model.test.services)),
        budgets=_part(Budgets, model.budgets),
        quality=model.quality,
        extra=model.model_extra or {},
    )


def _part(kind: type[_Part], model: FileModel, **fields: Any) -> _Part:
    """A part of task.yaml with all that it says, known or not."""
    known = {name: getattr(model, name) for name in kind.__dataclass_fields__ if name != "extra"}
    return kind(**{**known, **fields, "extra": model.model_extra or {}})


def _told(part: Budgets | Service | TestSpec) -> dict[str, Any]:
    """The same the other way round."""
    known = {name: getattr(part, name) for name in part.__dataclass_fields__ if name != "extra"}
    return {**part.extra, **known}


def write_task(dataset: Dataset, task: Task, *, public_files: Mapping[str, str] | None = None) -> Path:
    """Write a task's folder; it appears whole or not at all. In a sealed dataset the task is sealed from the start.

    `public_files` are further public files by name: Dockerfile, locks.
    """
    instance = task.instance
    target = dataset.task_folder(instance.instance_id)
    building = dataset.tasks_folder / f".{instance.instance_id}.tmp"
    with files.explained(target):
        _remove_tree(building)
        building.mkdir(parents=True)
    mark = dataset.canary
    for name, text in (public_files or {}).items():
        files.write_bytes(building / name, canary_marks.in_file(name, text.encode("utf-8", "surrogateescape"), mark))
    files.write_text(building / STATEMENT_FILE, canary_marks.in_markdown(mark) + instance.problem_statement)
    if instance.scaffold:
        files.write_bytes(building / SCAFFOLD_FILE, canary_marks.in_comment(mark).encode() + instance.scaffold)
    instance = replace(instance, extra={**instance.extra, **({canary_marks.FIELD: mark} if mark else {})})
    hidden = hidden_files(task.hidden, canary=mark)
    if dataset.sealed:
        secret = task.hidden.secret or secrets.token_hex(16)
        data = sealed.seal_task(instance.instance_id, hidden, secret=secret, recipients=dataset.recipients)
        files.write_bytes(building / sealed.SEALED_FILE, data)
        instance = replace(instance, extra={**instance.extra, HIDDEN_DIGEST: hidden_digest(hidden)})
    else:
        for name, content in hidden.items():
            files.write_bytes(building / name, content)
    write_instance(building, instance)
    with files.explained(target):
        _remove_tree(target)
        building.rename(target)
    if dataset.sealed:
        sealed.forget_workings(dataset.path, instance.instance_id)
        facts = {"files": {instance.instance_id: sealed.digest(data)}}
        ledger.record(dataset, ledger.Event.SEALED, [instance.instance_id], **facts)
    return target


def write_scaffold(folder: Path, instance: Instance, *, canary: str) -> None:
    """Write or remove scaffold.patch of a task that is there, and write its task.yaml."""
    if instance.scaffold:
        files.write_bytes(folder / SCAFFOLD_FILE, canary_marks.in_comment(canary).encode() + instance.scaffold)
    else:
        with files.explained(folder):
            (folder / SCAFFOLD_FILE).unlink(missing_ok=True)
    write_instance(folder, instance)


def write_instance(folder: Path, instance: Instance) -> None:
    """Write task.yaml."""
    services = tuple(ServiceModel(**{**_told(one), "env": dict(one.env)}) for one in instance.test.services)
    model = TaskModel.model_validate(
        {
            **instance.extra,
            "instance_id": instance.instance_id,
            "repo": instance.repo,
            "base_commit": instance.base_commit,
            "created_at": instance.created_at,
            "language": instance.language,
            "version": instance.version,
            "image": instance.image,
            "state": instance.state.value,
            "split": instance.split,
            "test": TestModel(**{**_told(instance.test), "env": dict(instance.test.env), "services": services}),
            "budgets": BudgetsModel(**_told(instance.budgets)),
            "quality": dict(instance.quality),
        }
    )
    write_model(folder / TASK_FILE, model)


def _remove_tree(path: Path) -> None:
    if path.is_dir():
        for entry in path.iterdir():
            _remove_tree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        path.rmdir()

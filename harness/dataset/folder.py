"""A dataset on disk: a folder of small readable files, one folder a task."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from harness.core import files
from harness.core.errors import InputError
from harness.core.instance import (
    INSTANCE_ID,
    Budgets,
    Build,
    Declared,
    Hidden,
    Instance,
    Service,
    Task,
    TaskState,
    TestSpec,
)
from harness.core.wording import did_you_mean
from harness.dataset.hidden_files import (
    CALLS_FILE,
    EXPECTATIONS_FILE,
    HIDDEN_DIGEST,
    HIDDEN_FILES,
    HINTS_FILE,
    ORIGINAL_FILE,
    TESTS_FILE,
    TRUST_FILE,
    hidden_digest,
    hidden_files,
    hidden_names,
    hidden_of,
    is_hidden,
)
from harness.dataset.ledger import binding
from harness.dataset.ledger.entry import Event
from harness.dataset.model_files import read_bytes, read_model, read_text, write_model
from harness.dataset.schema import DatasetModel, FileModel, TaskModel
from harness.dataset.seal import access_log, canary_marks, sealed
from harness.dataset.seal.identity import Keys, recipients_digest
from harness.dataset.seal.sealed import WORKINGS

_Part = TypeVar("_Part", Budgets, Build, Declared, Instance, Service, TestSpec)

DATASET_FILE = binding.DATASET_FILE
TASK_FILE = "task.yaml"
STATEMENT_FILE = "problem_statement.md"
SCAFFOLD_FILE = "scaffold.patch"
_NOT_IN_TASK_YAML = ("problem_statement", "scaffold", "extra")
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
    """Keys that open its hidden side, where it is sealed."""

    @property
    def sealed(self) -> bool:
        return bool(self.recipients)

    def with_keys(self, keys: Keys | None) -> Dataset:
        """The same dataset, with what opens its hidden side."""
        return replace(self, keys=keys)

    def description(self) -> DatasetModel:
        """What dataset.yaml says now.

        Raises:
            InputError: it is broken.

        """
        return read_model(self.path / DATASET_FILE, DatasetModel)

    @property
    def tasks_folder(self) -> Path:
        return self.path / "tasks"

    def task_folder(self, instance_id: str) -> Path:
        return self.tasks_folder / instance_id

    def ids(self) -> tuple[str, ...]:
        """Every task's id, sorted; half-written folders (their names start with a dot) are none."""
        if not self.tasks_folder.is_dir():
            return ()
        names = (entry.name for entry in self.tasks_folder.iterdir() if entry.is_dir())
        return tuple(sorted(name for name in names if not name.startswith(".")))

    def tasks(self) -> Iterator[Task]:
        for instance_id in self.ids():
            yield self.task(instance_id)

    def task(self, instance_id: str) -> Task:
        """One task, whole; in memory alone where it is sealed, and with a line in the ledger.

        Raises:
            InputError: it is not there, a file of it is broken, or it is sealed and `keys` do not open it, the ledger
                does not know its sealed file, or cannot be written.

        """
        hidden = self._hidden(instance_id)
        if hidden.secret:
            access_log.ensure(self, instance_id)
        return Task(instance=self.instance(instance_id), hidden=hidden)

    def try_keys(self, instance_id: str) -> None:
        """See that the keys open a task.

        Raises:
            InputError: they do not, or its hidden side is broken.

        """
        self._hidden(instance_id)

    def _hidden(self, instance_id: str) -> Hidden:
        folder = self._existing(instance_id)
        if not self.sealed:
            return read_hidden(folder)
        digest = binding.current(self).sealed_digest(instance_id, self.recipients)
        file = sealed.sealed_file(folder, self.recipients, bound=digest)
        if file is None:
            raise InputError(
                f"{instance_id} is not sealed although its dataset is, so nothing vouches for its hidden files",
                hint="find out where it came from, then seal it with `goldseam holdout seal`",
            )
        container = sealed.open_task(file, instance_id, keys=self.keys, recipients=self.recipients, bound=digest)
        return replace(hidden_of(container.files, file), secret=container.secret)

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
            self.require([instance_id])
        return folder

    def require(self, ids: Iterable[str]) -> None:
        """See that all these tasks are here.

        Raises:
            InputError: some are not; all are named, and the task that was probably meant.

        """
        task_ids = self.ids()
        if unknown := sorted(set(ids) - set(task_ids)):
            hint = did_you_mean(unknown[0], task_ids, otherwise=f"`goldseam holdout ls {self.path}` lists them")
            raise InputError(f"{self.path} has no task {', '.join(unknown)}", hint=hint)


def open_dataset(path: Path, *, keys: Keys | None = None) -> Dataset:
    """Read a dataset's description. `keys` open its hidden side, where it is sealed.

    Raises:
        InputError: the folder is no dataset, something in it is a link, or dataset.yaml is broken.

    """
    if not (path / DATASET_FILE).is_file():
        text = f"{path} is not a dataset: it has no {DATASET_FILE}" if path.is_dir() else files.no_folder(path)
        raise InputError(text, hint="make a dataset with `goldseam mine SOURCE -o DATASET`")
    refuse_links(path)
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
        model = DatasetModel(name=name or path.resolve().name, canary=mark)
        write_model(path / DATASET_FILE, model)
        binding.record(open_dataset(path), Event.CREATED, settings=binding.settings_of(model), complete=True)
    dataset = open_dataset(path)
    files.make_folder(dataset.tasks_folder)
    return dataset


@contextlib.contextmanager
def begun_dataset(path: Path) -> Iterator[Dataset]:
    """As `create_dataset`; where the block fails and a dataset that is new has nothing yet, it is taken away again."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    before = _contents(path)
    dataset = create_dataset(path)
    begun = _contents(path)
    try:
        yield dataset
    except BaseException:
        if DATASET_FILE not in before and _contents(path) == begun:
            for name in begun.keys() - before.keys():
                (path / name).unlink()
            (path / ".goldseam" / "lock").unlink(missing_ok=True)
            for folder in (dataset.tasks_folder, path / ".goldseam", *missing):
                with contextlib.suppress(OSError):  # where somebody else has put something
                    folder.rmdir()
        raise


def _contents(path: Path) -> dict[str, int]:
    """Size of each file, by its name from here; locks are none of them."""
    return {
        str(file.relative_to(path)): file.stat().st_size
        for file in path.rglob("*")
        if not file.is_dir() and file.name != "lock"
    }


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
        raise InputError(f"{folder / TASK_FILE}: {model.instance_id!r} is not an instance id (letters, digits, `_.-`)")
    instance = _instance(model, canary_marks.without_in_markdown(read_text(folder / STATEMENT_FILE)))
    scaffold = folder / SCAFFOLD_FILE
    if not scaffold.exists():
        return instance
    return replace(instance, scaffold=canary_marks.without_in_patch(read_bytes(scaffold)))


def read_hidden(folder: Path) -> Hidden:
    """Read the hidden side of a task's folder where it lies open.

    Raises:
        InputError: a hidden file is missing or broken; the message names it.

    """
    optional = (HINTS_FILE, ORIGINAL_FILE, EXPECTATIONS_FILE, TRUST_FILE, CALLS_FILE)
    present = [name for name in HIDDEN_FILES if (folder / name).exists() or name not in optional]
    present += [name for name in hidden_names(folder) if name not in HIDDEN_FILES]
    return hidden_of({name: read_bytes(folder / name) for name in present}, folder)


def read_parts(folder: Path) -> dict[str, str]:
    """The parts of a task's folder as the ledger binds them, each as a digest.

    Raises:
        InputError: a file is missing or broken; the message names it.

    """
    return _parts(folder, read_instance(folder))


def _parts(folder: Path, instance: Instance) -> dict[str, str]:
    """The parts of a task as it is to be, with the hidden files that its folder holds."""
    model = _model(instance)
    return binding.task_parts(
        model,
        statement=instance.problem_statement,
        scaffold=instance.scaffold,
        hidden=hidden_content(folder, model),
    )


def hidden_content(folder: Path, model: TaskModel) -> str:
    """The digest of a task's hidden files: as they lie there, or as the task.yaml of a sealed task tells it.

    Raises:
        InputError: there are none, or one cannot be read.

    """
    if (folder / TESTS_FILE).exists():
        paths = {name: folder / name for name in HIDDEN_FILES if (folder / name).exists()}
        return hidden_digest({name: read_bytes(path) for name, path in paths.items()})
    digest = (model.model_extra or {}).get(HIDDEN_DIGEST)
    if isinstance(digest, str):
        return digest
    if (folder / sealed.SEALED_FILE).exists():
        return f"sealed:{sealed.digest(read_bytes(folder / sealed.SEALED_FILE))}"
    raise InputError(
        f"{folder} has neither {TESTS_FILE} nor {sealed.SEALED_FILE}, so its content is unknown",
        hint="`goldseam holdout check` reports every problem of a dataset",
    )


def _instance(model: TaskModel, statement: str) -> Instance:
    test = model.test
    return _part(
        Instance,
        model,
        problem_statement=statement,
        state=TaskState(model.state),
        test=_part(
            TestSpec,
            test,
            services=tuple(_part(Service, service) for service in test.services),
            build=_part(Build, test.build) if test.build else None,
            declared=_part(Declared, test.declared) if test.declared else None,
        ),
        budgets=_part(Budgets, model.budgets),
    )


def _part(kind: type[_Part], model: FileModel, **fields: Any) -> _Part:
    """A part of task.yaml with its fields, also those this version does not know."""
    names = kind.__dataclass_fields__.keys() & type(model).model_fields
    return kind(**{**{name: getattr(model, name) for name in names}, **fields, "extra": model.model_extra or {}})


def write_task(dataset: Dataset, task: Task, *, public_files: Mapping[str, str] | None = None) -> Path:
    """Write a task's folder; it appears whole or not at all. In a sealed dataset the task is sealed from the start.

    `public_files` are further public files by name: Dockerfile, locks, what else the image was built from.
    """
    hidden = hidden_files(task.hidden, canary=dataset.canary)
    if not dataset.sealed:
        return place_task(dataset, task.instance, hidden, public_files=public_files)
    binding.refuse_recipients(dataset)
    secret = task.hidden.secret or secrets.token_hex(16)
    data = sealed.seal_task(task.instance_id, hidden, secret=secret, recipients=dataset.recipients)
    fields = {**task.instance.extra, HIDDEN_DIGEST: hidden_digest(hidden)}
    instance = replace(task.instance, extra=fields)
    target = place_task(dataset, instance, {sealed.SEALED_FILE: data}, public_files=public_files)
    sealed.forget_workings(dataset.path, task.instance_id)
    return target


def public_files(dataset: Dataset, task_id: str) -> dict[str, str]:
    """The further public files of a task by name, as `write_task` takes them: without the dataset's canary."""
    own_files = {TASK_FILE, STATEMENT_FILE, SCAFFOLD_FILE, sealed.SEALED_FILE}
    texts = {}
    for path in sorted(dataset.task_folder(task_id).iterdir()):
        if path.is_file() and path.name not in own_files and not is_hidden(path.name) and not path.name.startswith("."):
            bare = canary_marks.without_in_file(path.name, read_bytes(path), dataset.canary)
            texts[path.name] = bare.decode("utf-8", "surrogateescape")
    return texts


def place_task(
    dataset: Dataset, instance: Instance, hidden: Mapping[str, bytes], *, public_files: Mapping[str, str] | None = None
) -> Path:
    """Write a task's folder from its public side and its hidden files, sealed or not. The ledger is told first."""
    target = dataset.task_folder(instance.instance_id)
    building = dataset.tasks_folder / f".{instance.instance_id}.tmp"
    with files.explained(target):
        if building.exists():
            shutil.rmtree(building)
        building.mkdir(parents=True)
    mark = dataset.canary
    for name, text in (public_files or {}).items():
        files.write_bytes(building / name, canary_marks.in_file(name, text.encode("utf-8", "surrogateescape"), mark))
    files.write_text(building / STATEMENT_FILE, canary_marks.in_markdown(mark) + instance.problem_statement)
    if instance.scaffold:
        files.write_bytes(building / SCAFFOLD_FILE, canary_marks.in_comment(mark).encode() + instance.scaffold)
    instance = replace(instance, extra={**instance.extra, **({canary_marks.FIELD: mark} if mark else {})})
    for name, content in hidden.items():
        files.write_bytes(building / name, content)
    write_model(building / TASK_FILE, _model(instance))
    bound = {instance.instance_id: _parts(building, instance)}
    if sealed.SEALED_FILE in hidden:
        digests = {instance.instance_id: sealed.digest(hidden[sealed.SEALED_FILE])}
        to = recipients_digest(dataset.recipients)
        binding.record(dataset, Event.SEALED, bound, bound=bound, files=digests, to=to)
    else:
        binding.record(dataset, Event.BOUND, bound, bound=bound)
    with files.explained(target):
        if target.exists():
            shutil.rmtree(target)
        building.rename(target)
    return target


def write_scaffold(dataset: Dataset, instance: Instance, event: Event = Event.BOUND, **facts: Any) -> None:
    """Write or remove scaffold.patch of a task that is there, and write its task.yaml, as `write_instances`."""
    folder = dataset.task_folder(instance.instance_id)
    _tell(dataset, (instance,), event, facts)
    if instance.scaffold:
        before = canary_marks.in_comment(dataset.canary).encode()
        files.write_bytes(folder / SCAFFOLD_FILE, before + instance.scaffold)
    else:
        with files.explained(folder):
            (folder / SCAFFOLD_FILE).unlink(missing_ok=True)
    write_model(folder / TASK_FILE, _model(instance))


def write_instances(dataset: Dataset, instances: Sequence[Instance], event: Event = Event.BOUND, **facts: Any) -> None:
    """Write task.yaml of tasks that are there. The ledger has a line of it first, with the parts that change.

    So a killed process leaves a task that the ledger has and that is not changed yet; the same command again does it.

    Args:
        dataset: whose tasks they are.
        instances: as they are to be.
        event: what happens to them; a line of `bound` is left out where no bound part changes.
        facts: whatever else is to be known of it.

    Raises:
        InputError: a file is broken, or it or the ledger cannot be written.

    """
    _tell(dataset, instances, event, facts)
    for instance in instances:
        write_model(dataset.task_folder(instance.instance_id) / TASK_FILE, _model(instance))


def _tell(dataset: Dataset, instances: Sequence[Instance], event: Event, facts: Mapping[str, Any]) -> None:
    bound = {}
    for instance in instances:
        folder = dataset.task_folder(instance.instance_id)
        before, after = read_parts(folder), _parts(folder, instance)
        if changed := {name: part for name, part in after.items() if before[name] != part}:
            bound[instance.instance_id] = changed
    if bound or event is not Event.BOUND:
        binding.record(dataset, event, [instance.instance_id for instance in instances], bound=bound, **facts)


def write_settings(
    dataset: Dataset, fields: Mapping[str, Any], event: Event = Event.BOUND, tasks: Iterable[str] = (), **facts: Any
) -> None:
    """Change fields of dataset.yaml. The ledger has a line of it first, where bound ones change, as `write_instances`.

    Raises:
        InputError: dataset.yaml is broken, or it or the ledger cannot be written.

    """
    old = dataset.description()
    new = old.model_copy(update=dict(fields))
    before, after = binding.settings_of(old), binding.settings_of(new)
    changed = {name: value for name, value in after.items() if before[name] != value}
    if changed or event is not Event.BOUND:
        binding.record(dataset, event, tasks, settings=changed, **facts)
    write_model(dataset.path / DATASET_FILE, new)


def _model(instance: Instance) -> TaskModel:
    return TaskModel.model_validate(_as_written(instance))


def _as_written(value: Any) -> Any:
    """A part of a task with all below it, as task.yaml has them."""
    if isinstance(value, tuple):
        return tuple(_as_written(item) for item in value)
    if not dataclasses.is_dataclass(value):
        return value
    names = [item.name for item in dataclasses.fields(value) if item.name not in _NOT_IN_TASK_YAML]
    return {**getattr(value, "extra", {}), **{name: _as_written(getattr(value, name)) for name in names}}


def refuse_links(dataset: Path) -> None:
    """See that nothing in a dataset's folder is a link, a socket, a pipe or a device; its own path may hold links.

    Folders whose name starts with a dot are others' (`.git`) and not looked into, but for goldseam's own.

    Raises:
        InputError: something is; the message names it.

    """
    for entry in _entries(dataset):
        if entry.is_symlink():
            where = str(Path(entry).readlink())
            raise InputError(
                f"{entry.path} is a link, to {where!r}: a dataset holds files and folders alone",
                hint="put the file itself in its place, if you trust where it comes from",
            )
        if not (entry.is_file() or entry.is_dir()):
            raise InputError(f"{entry.path} is neither a file nor a folder, and a dataset holds nothing else")


def _entries(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    # another command may just have removed it
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as scanned:
        for entry in sorted(scanned, key=lambda item: item.name):
            yield entry
            if entry.is_dir(follow_symlinks=False) and (entry.name == WORKINGS or not entry.name.startswith(".")):
                yield from _entries(entry.path)

"""A dataset on disk: a folder of small readable files, one folder a task."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import ValidationError

from harness import files
from harness.dataset import canary_marks, ledger, opened, sealed
from harness.dataset.digests import HIDDEN_DIGEST, hidden_digest
from harness.dataset.schema import (
    SCHEMA_VERSION,
    BudgetsModel,
    DatasetModel,
    FileModel,
    TaskModel,
    TestModel,
    TestsModel,
    TrustModel,
)
from harness.dataset.survivors import is_survivor
from harness.errors import InputError
from harness.instance import INSTANCE_ID, Budgets, Hidden, Instance, Task, TaskState, TestSpec, TrustMaterial
from harness.versions import refuse_newer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from harness.dataset.identity import Keys

Model = TypeVar("Model", bound=FileModel)

DATASET_FILE = "dataset.yaml"
TASK_FILE = "task.yaml"
STATEMENT_FILE = "problem_statement.md"
HINTS_FILE = "hints.md"
ORIGINAL_FILE = "original_statement.md"
TESTS_FILE = "tests.json"
GOLD_FILE = "gold.patch"
TEST_FILE = "test.patch"
TRUST_FILE = "trust.json"
SCAFFOLD_FILE = "scaffold.patch"
HIDDEN_FILES = (HINTS_FILE, ORIGINAL_FILE, TESTS_FILE, GOLD_FILE, TEST_FILE, TRUST_FILE)
"""What of a task is hidden, with its survivors; where it is sealed, `sealed.age` stands in place of these."""
_GIT_ATTRIBUTES = """\
# what a dataset's files need of git: bytes as they are, and ledgers of two branches one after the other
*.patch -text
*.age binary
*.jsonl -text merge=union
"""
_BUDGET_FIELDS = tuple(Budgets.__dataclass_fields__)
_SPEC_FIELDS = tuple(TestSpec.__dataclass_fields__)


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
        optional = (HINTS_FILE, ORIGINAL_FILE, TRUST_FILE)
        present = [name for name in HIDDEN_FILES if (folder / name).exists() or name not in optional]
        present += [name for name in hidden_names(folder) if is_survivor(name)]
        return hidden_of({name: read_bytes(folder / name) for name in present}, folder)
    container = sealed.open_task(file, folder.name, keys=keys, recipients=recipients)
    return replace(hidden_of(container.files, file), secret=container.secret)


def is_hidden(name: str) -> bool:
    """Whether a file of a task's folder, by its name, belongs to its hidden side."""
    return name in HIDDEN_FILES or is_survivor(name)


def hidden_names(folder: Path) -> tuple[str, ...]:
    """The hidden files that lie open in a task's folder, by name."""
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return (*(name for name in HIDDEN_FILES if name in there), *filter(is_survivor, there))


def hidden_of(found: Mapping[str, bytes], where: Path) -> Hidden:
    """The hidden side, from its files by name.

    Raises:
        InputError: a file is missing or broken; the message names it as lying in `where`.

    """
    if missing := [name for name in (TESTS_FILE, GOLD_FILE, TEST_FILE) if name not in found]:
        raise InputError(f"{where} holds no {missing[0]}")
    tests = parse_model(found[TESTS_FILE], where / TESTS_FILE, TestsModel)
    hints, original = found.get(HINTS_FILE, b""), found.get(ORIGINAL_FILE, b"")
    return Hidden(
        gold_patch=canary_marks.without_in_patch(found[GOLD_FILE]),
        test_patch=canary_marks.without_in_patch(found[TEST_FILE]),
        fail_to_pass=tests.fail_to_pass,
        pass_to_pass=tests.pass_to_pass,
        flaky=tests.flaky,
        test_files=tests.test_files,
        hints=canary_marks.without_in_markdown(decoded(hints, where / HINTS_FILE)),
        original_statement=canary_marks.without_in_markdown(decoded(original, where / ORIGINAL_FILE)),
        evidence=tests.evidence,
        trust=_trust(found[TRUST_FILE], where / TRUST_FILE) if TRUST_FILE in found else TrustMaterial(),
        survivors={
            name: canary_marks.without_in_patch(data) for name, data in sorted(found.items()) if is_survivor(name)
        },
        extra=tests.model_extra or {},
    )


def _trust(data: bytes, where: Path) -> TrustMaterial:
    model = parse_model(data, where, TrustModel)
    return TrustMaterial(
        files=dict(model.files), twinned=model.twinned, blinded=dict(model.blinded), renamed=model.renamed
    )


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
        test=TestSpec(**{name: getattr(model.test, name) for name in _SPEC_FIELDS}),
        budgets=Budgets(**{name: getattr(model.budgets, name) for name in _BUDGET_FIELDS}),
        quality=model.quality,
        extra=model.model_extra or {},
    )


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


def hidden_files(hidden: Hidden, *, canary: str = "") -> dict[str, bytes]:
    """The hidden side as files by name, each with the canary: the given one, or the one it was read with."""
    mark = canary or str(hidden.extra.get(canary_marks.FIELD, ""))
    told = {canary_marks.FIELD: mark} if mark else {}
    before = canary_marks.in_comment(mark).encode()
    found = {
        GOLD_FILE: before + hidden.gold_patch,
        TEST_FILE: before + hidden.test_patch,
        TESTS_FILE: _tests_file(replace(hidden, extra={**hidden.extra, **told})),
        **{name: before + data for name, data in hidden.survivors.items()},
    }
    for name, text in ((HINTS_FILE, hidden.hints), (ORIGINAL_FILE, hidden.original_statement)):
        if text:
            found[name] = (canary_marks.in_markdown(mark) + text).encode("utf-8", "surrogateescape")
    if hidden.trust.files:
        model = TrustModel.model_validate(asdict(hidden.trust))
        found[TRUST_FILE] = (json.dumps({**model.known(), **told}, indent=1) + "\n").encode()
    return found


def _tests_file(hidden: Hidden) -> bytes:
    model = TestsModel.model_validate(
        {
            **hidden.extra,
            "FAIL_TO_PASS": hidden.fail_to_pass,
            "PASS_TO_PASS": hidden.pass_to_pass,
            "flaky": hidden.flaky,
            "test_files": hidden.test_files,
            "evidence": dict(hidden.evidence),
        }
    )
    return (json.dumps(model.known(), indent=1) + "\n").encode()


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
    spec = {name: getattr(instance.test, name) for name in _SPEC_FIELDS}
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
            "test": TestModel(**{**spec, "env": dict(instance.test.env)}),
            "budgets": BudgetsModel(**{name: getattr(instance.budgets, name) for name in _BUDGET_FIELDS}),
            "quality": dict(instance.quality),
        }
    )
    write_model(folder / TASK_FILE, model)


def read_model(path: Path, kind: type[Model]) -> Model:
    """Read a YAML or JSON file into its model.

    Raises:
        InputError: missing, not UTF-8, not YAML or JSON, a wrong type, or written by a newer goldseam.

    """
    return parse_model(read_bytes(path), path, kind)


def parse_model(data: bytes, path: Path, kind: type[Model]) -> Model:
    """As `read_model`, from bytes that are already here; `path` is their name in messages."""
    text = decoded(data, path)
    try:
        raw: Any = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path} is not {path.suffix[1:].upper()}: {' '.join(str(error).split())[:300]}") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: expected a mapping of fields, found {type(raw).__name__}")
    refuse_newer(path, raw.get("schema_version", SCHEMA_VERSION), SCHEMA_VERSION)
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in item['loc']) or 'file'}: {item['msg']}" for item in error.errors()[:5]
        )
        raise InputError(f"{path}: {problems}") from error


def write_model(path: Path, model: FileModel) -> None:
    """Write a model as YAML, in the order of its fields."""
    text = yaml.safe_dump(model.known(), sort_keys=False, allow_unicode=True, width=120)
    files.write_text(path, text)


def read_bytes(path: Path) -> bytes:
    """A file's bytes; missing or unreadable is an InputError that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def read_text(path: Path) -> str:
    """A file's text, UTF-8; anything else is an InputError that names it."""
    return decoded(read_bytes(path), path)


def decoded(data: bytes, path: Path) -> str:
    """Bytes as text, UTF-8; `path` is their name in messages.

    Raises:
        InputError: they are none.

    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8 (byte {error.start} of the file)") from error


def _remove_tree(path: Path) -> None:
    if path.is_dir():
        for entry in path.iterdir():
            _remove_tree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        path.rmdir()

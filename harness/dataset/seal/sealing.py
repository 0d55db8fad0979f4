"""Sealing a dataset to recipients, sealing it anew to others, and opening it into a folder.

Sealing can be killed anywhere. New sealed files are written beside what is there, under a name that tells whom they
are for, synced and proved to open; then dataset.yaml names the recipients, in one step; then the ledger tells of it;
then the new files take their places and what was readable is removed. Killed before the step, the dataset is as it was;
after it, the next `seal` finishes, and until then both sides read.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyrage  # type: ignore[import-untyped]

from harness.core import files, process
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import Hidden
from harness.core.wording import counted
from harness.dataset import content, folder, hidden_files, model_files
from harness.dataset.folder import Dataset
from harness.dataset.hidden_files import HIDDEN_DIGEST, hidden_digest
from harness.dataset.ledger import binding, ledger
from harness.dataset.ledger.entry import Event
from harness.dataset.schema import DatasetModel
from harness.dataset.seal import canary, identity, sealed
from harness.dataset.seal.identity import PASSPHRASE_FILE, Keys, PassphraseKey, recipients_digest, short
from harness.dataset.seal.sealed import Container

_CONTENT = (hidden_files.TESTS_FILE, hidden_files.GOLD_FILE, hidden_files.TEST_FILE)
"""Hidden files that every task has, the one first whose absence says that a task is sealed."""


@dataclass(frozen=True, kw_only=True)
class Sealing:
    """The result of `seal`."""

    recipients: tuple[str, ...]
    sealed: tuple[str, ...]
    """Tasks sealed now."""
    already: tuple[str, ...]
    """Tasks that were sealed to these recipients before."""
    workings_removed: int
    """Logs and proofs of mining that were removed, since they may quote hidden tests."""
    proved: bool
    """A key that opens it was at hand, and did."""

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return asdict(self)

    def notes(self) -> tuple[str, ...]:
        """Remarks for a person."""
        notes = []
        if not self.proved:
            notes.append("not proved that you hold a key to it: `goldseam holdout open` with --identity proves it")
        if self.workings_removed:
            removed = counted(self.workings_removed, "log or proof", "logs and proofs")
            notes.append(f"removed: {removed} of mining, which may quote tests")
        return tuple(notes)


@dataclass(frozen=True, kw_only=True)
class _Recipients:
    """Whom a dataset is to be sealed to."""

    recipients: tuple[str, ...]
    passphrase: PassphraseKey | None = field(default=None, repr=False)


def seal(
    dataset: Dataset,
    recipients: Sequence[str] = (),
    *,
    keys: Keys | None = None,
    passphrase: str | None = None,
) -> Sealing:
    """Seal every task's hidden files, to these recipients and no others; without any, to those of dataset.yaml.

    Args:
        dataset: what to seal; a sealed one is sealed anew where the recipients are others.
        recipients: public keys of age or SSH.
        keys: what opens it now; needed where tasks are sealed to other recipients.
        passphrase: opens it too.

    Raises:
        InputError: no recipient is named, no key for what is sealed, a broken task, or the folder is in use.

    """
    busy = f"another goldseam is writing {dataset.path}"
    with files.locked(dataset.path / sealed.WORKINGS / sealed.LOCK, busy=busy):
        _refuse_unfinished_tasks(dataset)
        finish(dataset)
        canary.add_locked(dataset)
        targets = _recipients_of(dataset, recipients, passphrase)
        changed = recipients_digest(targets.recipients) != recipients_digest(dataset.recipients)
        due = [task_id for task_id in dataset.ids() if changed or _is_readable(dataset, task_id)]
        if changed and dataset.sealed and keys is None:
            _refuse_without_key(dataset, due)
        digests = {task_id: _stage(dataset, task_id, targets, keys) for task_id in due}
        if targets.passphrase:
            staged = dataset.path / sealed.staged_name(targets.recipients, PASSPHRASE_FILE)
            files.write_bytes(staged, targets.passphrase.file)
        new = _commit(dataset, targets.recipients, digests) if due or changed else dataset
        finish(new)
        workings = sealed.forget_workings(new.path)
    task_ids = tuple(task_id for task_id in dataset.ids() if task_id not in digests)
    return Sealing(
        recipients=new.recipients,
        sealed=tuple(digests),
        already=task_ids,
        workings_removed=workings,
        proved=_proved(new, keys) or (targets.passphrase is not None and _proved(new, targets.passphrase.keys)),
    )


def _recipients_of(dataset: Dataset, recipients: Sequence[str], passphrase: str | None) -> _Recipients:
    if not recipients and passphrase is None:
        binding.refuse_recipients(dataset)
        if not dataset.sealed:
            raise InputError(
                "no recipient is named",
                hint="name one or more with --to age1… (age-keygen makes a key), or --passphrase-env",
            )
        return _Recipients(recipients=dataset.recipients)
    own = identity.passphrase_key(passphrase) if passphrase is not None else None
    return _Recipients(recipients=(*recipients, *([own.recipient] if own else [])), passphrase=own)


def _refuse_unfinished_tasks(dataset: Dataset) -> None:
    """A task that cannot be read must not be sealed: its fault would be hidden with it."""
    for task_id in dataset.ids():
        dataset.instance(task_id)
        if _is_readable(dataset, task_id):
            folder.read_hidden(dataset.task_folder(task_id))
        elif sealed.sealed_file(dataset.task_folder(task_id), dataset.recipients) is None:
            raise InputError(
                f"{dataset.task_folder(task_id)} has neither its hidden files nor {sealed.SEALED_FILE}",
                hint="`goldseam holdout check` reports every problem of a dataset",
            )


def _refuse_without_key(dataset: Dataset, due: Sequence[str]) -> None:
    shut = [task_id for task_id in due if not _is_readable(dataset, task_id)]
    if shut:
        whom = ", ".join(short(recipient) for recipient in dataset.recipients)
        raise InputError(
            f"{counted(len(shut), 'task is', 'tasks are')} sealed to {whom}; to seal to others, open the dataset first",
            hint=identity.GIVE_ONE,
        )


def _is_readable(dataset: Dataset, task_id: str) -> bool:
    """All of its hidden files lie there unsealed, and nothing sealed has taken their place."""
    place = dataset.task_folder(task_id)
    if dataset.sealed and sealed.sealed_file(place, dataset.recipients) is not None:
        return False
    return (place / hidden_files.TESTS_FILE).exists()


def _stage(dataset: Dataset, task_id: str, recipients: _Recipients, keys: Keys | None) -> str:
    """Write a task's new sealed file beside what is there, see that it opens, and return its digest."""
    place = dataset.task_folder(task_id)
    if _is_readable(dataset, task_id):
        contents = {name: model_files.read_bytes(place / name) for name in hidden_files.hidden_names(place)}
        content.keep_hidden_digest(dataset, task_id, contents)
        secret = secrets.token_hex(16)
    else:
        opened = open_container(dataset.with_keys(keys), task_id)
        contents, secret = dict(opened.files), opened.secret
    proof = pyrage.x25519.Identity.generate()  # thrown away: it proves that this very file opens, whoever else can
    data = sealed.seal_task(
        task_id, contents, secret=secret, recipients=recipients.recipients, also=[proof.to_public()]
    )
    staged = place / sealed.staged_name(recipients.recipients)
    files.write_bytes(staged, data)
    files.sync_folder(place)
    on_disk = staged.read_bytes()
    plain = Keys(identities=(proof,)).open(on_disk, where=str(staged))
    again = sealed.unpack(plain, kind=sealed.TASK, name=task_id, where=str(staged))
    if dict(again.files) != contents:
        raise InfrastructureError(f"{staged} does not hold what was sealed; the disk may be failing")
    return sealed.digest(on_disk)


def _commit(dataset: Dataset, recipients: tuple[str, ...], digests: Mapping[str, str]) -> Dataset:
    """Tell the ledger, then take the one step from which on the dataset is sealed to these recipients."""
    changed = recipients_digest(recipients) != recipients_digest(dataset.recipients)
    facts = _facts(recipients, digests, again=dataset.sealed and changed)
    with content.locked(dataset):
        settings = {"recipients": recipients} if changed else {}
        folder.write_settings(dataset, settings, Event.SEALED, sorted(digests), **facts)
        files.sync_folder(dataset.path)
    return folder.open_dataset(dataset.path, keys=dataset.keys)


def _facts(recipients: Sequence[str], digests: Mapping[str, str], *, again: bool) -> dict[str, Any]:
    return {
        "recipients": [short(recipient) for recipient in recipients],
        "to": recipients_digest(recipients),
        "files": dict(sorted(digests.items())),
        **({"again": True} if again else {}),
    }


def finish(dataset: Dataset) -> None:
    """Finish what a killed `seal` left: staged files that the ledger knows take their places, others go."""
    _settle(dataset.path / PASSPHRASE_FILE, dataset)
    if not identity.has_passphrase(dataset.recipients):
        (dataset.path / PASSPHRASE_FILE).unlink(missing_ok=True)
    for task_id in dataset.ids():
        place = dataset.task_folder(task_id)
        _forget_unknown(dataset, task_id)
        _settle(place / sealed.SEALED_FILE, dataset)
        if dataset.sealed and (place / sealed.SEALED_FILE).exists():
            _refuse_others(place)
            # tests.json first: without it the rest is not read
            for name in (*_CONTENT, *hidden_files.hidden_names(place)):
                (place / name).unlink(missing_ok=True)
        files.remove_strays(place)


def _refuse_others(place: Path) -> None:
    """Readable files beside a sealed one are removed only where they are known to be what was sealed."""
    if not (place / hidden_files.TESTS_FILE).exists():
        return
    names = hidden_files.hidden_names(place)
    digest = folder.read_instance(place).extra.get(HIDDEN_DIGEST)
    if digest != hidden_digest({name: model_files.read_bytes(place / name) for name in names}):
        raise InputError(
            f"{place} has readable hidden files beside {sealed.SEALED_FILE} that are not what was sealed",
            hint=f"to seal them, delete {sealed.SEALED_FILE}; otherwise delete them; then seal again",
        )


def _forget_unknown(dataset: Dataset, task_id: str) -> None:
    """Remove a staged file that no line tells of: `seal` was killed before the line, or somebody else made it."""
    staged = dataset.task_folder(task_id) / sealed.staged_name(dataset.recipients)
    digest = binding.current(dataset).sealed_digest(task_id, dataset.recipients)
    if staged.exists() and sealed.digest(staged.read_bytes()) != digest:
        staged.unlink()


def _settle(target: Path, dataset: Dataset) -> None:
    staged = target.parent / sealed.staged_name(dataset.recipients, target.name) if dataset.sealed else None
    with files.explained(target):
        if staged is not None and staged.exists():
            staged.replace(target)
            files.sync_folder(target.parent)
        for stray in target.parent.glob(f".{target.name}-*.next"):
            stray.unlink()


def _proved(dataset: Dataset, keys: Keys | None) -> bool:
    """True where the keys at hand open the first task: then somebody can."""
    first = next(iter(dataset.ids()), None)
    if keys is None or first is None:
        return False
    try:
        open_container(dataset.with_keys(keys), first)
    except InputError:
        return False
    return True


def reseal(dataset: Dataset, task_id: str, hidden: Hidden) -> None:
    """Seal a task's hidden side anew, as it is now, to the same recipients. Can be killed anywhere, as `seal` can.

    Raises:
        InputError: the folder is in use, or cannot be written.

    """
    binding.refuse_recipients(dataset)
    busy = f"another goldseam is writing {dataset.path}"
    with files.locked(dataset.path / sealed.WORKINGS / sealed.LOCK, busy=busy):
        contents = hidden_files.hidden_files(hidden, canary=dataset.canary)
        secret = hidden.secret or secrets.token_hex(16)
        data = sealed.seal_task(task_id, contents, secret=secret, recipients=dataset.recipients)
        place = dataset.task_folder(task_id)
        files.write_bytes(place / sealed.staged_name(dataset.recipients), data)
        files.sync_folder(place)
        facts = _facts(dataset.recipients, {task_id: sealed.digest(data)}, again=True)
        binding.record(dataset, Event.SEALED, [task_id], **facts)
        finish(dataset)


def open_container(dataset: Dataset, task_id: str) -> Container:
    """A sealed task's files, in memory.

    Raises:
        InputError: it is not sealed, or the dataset's keys do not open it.

    """
    digest = binding.current(dataset).sealed_digest(task_id, dataset.recipients)
    file = sealed.sealed_file(dataset.task_folder(task_id), dataset.recipients, bound=digest)
    if file is None:
        raise InputError(f"{task_id} is not sealed")
    return sealed.open_task(file, task_id, keys=dataset.keys, recipients=dataset.recipients, bound=digest)


def open_into(dataset: Dataset, out: Path, *, ids: Collection[str] = ()) -> tuple[str, ...]:
    """Write an opened copy of a sealed dataset, readable by its owner alone. The ledger is told first.

    Args:
        dataset: with the keys that open it.
        out: a new or empty folder.
        ids: only these tasks.

    Returns:
        The tasks that were opened.

    Raises:
        InputError: it is not sealed, an id is unknown, the keys do not open it, or `out` holds something.

    """
    if not dataset.sealed:
        raise InputError(f"{dataset.path} is not sealed; there is nothing to open")
    dataset.require(ids)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not an empty folder", hint="choose another one")
    chosen = tuple(task_id for task_id in dataset.ids() if not ids or task_id in ids)
    for task_id in chosen[:1]:
        open_container(dataset, task_id)  # a wrong key is told before the ledger is
    ledger.record(dataset, Event.OPENED, chosen, purpose="open", into=out.name)
    with files.explained(out):
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        out.chmod(0o700)
    for task_id in chosen:
        _open_one(dataset, task_id, out / "tasks" / task_id)
    for name in (folder.DATASET_FILE, "funnel.jsonl"):
        if (dataset.path / name).exists():
            files.write_bytes(out / name, (dataset.path / name).read_bytes())
    model = model_files.read_model(out / folder.DATASET_FILE, DatasetModel)
    model_files.write_model(out / folder.DATASET_FILE, model.model_copy(update={"recipients": ()}))
    return chosen


def _open_one(dataset: Dataset, task_id: str, target: Path) -> None:
    place = dataset.task_folder(task_id)
    readable = _is_readable(dataset, task_id)
    hidden = {} if readable else open_container(dataset, task_id).files
    for path in sorted(place.iterdir()):
        ours = path.is_file() and not path.name.startswith(".") and path.name != sealed.SEALED_FILE
        if ours and (readable or not hidden_files.is_hidden(path.name)):
            files.write_bytes(target / path.name, path.read_bytes())
    for name, data in hidden.items():
        if not hidden_files.is_hidden(name):
            raise InputError(f"{place} holds a sealed file called {name[:40]!r}, which no task has")
        files.write_bytes(target / name, data, mode=0o600)


def plain_copies(path: Path) -> tuple[str, ...]:
    """Hidden files in the history of a git repository that holds the dataset: sealing cannot reach them."""
    if process.which("git") is None:
        return ()
    names = [f":(glob)tasks/*/{name}" for name in (*hidden_files.HIDDEN_FILES, "survivor-*.patch")]
    try:
        completed = process.run(
            ["git", "-C", path, "log", "--all", "-1", "--format=%h", "--", *names], check=False, timeout=60
        )
    except InfrastructureError:
        return ()
    if completed.returncode or not completed.stdout.strip():
        return ()
    return ("git's history of this folder holds hidden files as they were before; sealing does not remove them there",)

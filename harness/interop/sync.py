"""Pushing a dataset to a store and pulling it, so that nobody's work and no line of a ledger is lost."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core import files, json_text, origin
from harness.core.errors import InputError
from harness.core.wording import counted, first_of
from harness.dataset.folder import Dataset, open_dataset
from harness.dataset.hidden_files import hidden_names
from harness.dataset.ledger import chain, ledger
from harness.dataset.model_files import read_bytes
from harness.interop.store import FileEntry, Revision, Store

STATE_FILE = ".goldseam/store.json"
"""In a dataset: which revision of which store it was when it was last pushed or pulled; not pushed itself."""
_LOCK_FILE = ".goldseam/store.lock"
_SHOWN = 5


class BehindError(InputError):
    """The store has what this copy lacks; a pull comes first."""


class OtherDatasetError(InputError):
    """The store holds another dataset than the folder."""


@dataclass(frozen=True, kw_only=True)
class Synced:
    """What a push or a pull did."""

    url: str
    path: Path
    revision: int
    files: int
    """Of the revision."""
    changed: int
    """Files that were uploaded, or written or removed here."""
    ledger_lines: int = 0
    """Lines of the store's ledger that this copy lacked."""

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "path": str(self.path)}


@dataclass(frozen=True, kw_only=True)
class _State:
    revision: str
    """SHA-256 of the revision."""
    number: int
    files: Mapping[str, str]
    """SHA-256 by path, as they were then."""


def push(dataset: Dataset, url: str, *, allow_unsealed: bool = False) -> Synced:
    """Make a revision of a dataset in a store.

    Raises:
        InputError: hidden files lie open in it; the store has another dataset.
        BehindError: the store has work or ledger lines that this copy lacks.
        TakenError: somebody else pushed at the same moment.
        InfrastructureError: the store cannot be reached.

    """
    if not allow_unsealed:
        _refuse_unsealed(dataset)
    store = Store(url)
    with _locked(dataset.path):
        newest = store.newest()
        contents = _contents(dataset.path)
        entries = {path: FileEntry(sha256=_sha(data), size=len(data)) for path, data in contents.items()}
        if newest is not None:
            revision, digest = newest
            _refuse_other(dataset.canary, revision, store)
            if revision.files == entries:
                _write_state(dataset.path, store, revision, digest)
                return _synced(store, dataset.path, revision, changed=0)
            _refuse_lost_work(_read_state(dataset.path, store), revision, digest, entries, store)
            _refuse_lost_lines(contents.get(ledger.LEDGER_FILE, b""), revision, store)
        pushed = Revision(
            number=newest[0].number + 1 if newest else 1,
            previous=newest[1] if newest else "",
            name=dataset.name,
            version=dataset.version,
            canary=dataset.canary,
            sealed=dataset.sealed,
            pushed_at=origin.now(),
            files=entries,
        )
        uploaded = store.upload({entries[path].sha256: data for path, data in contents.items()})
        _write_state(dataset.path, store, pushed, store.commit(pushed))
    return _synced(store, dataset.path, pushed, changed=uploaded)


def pull(url: str, folder: Path) -> Synced:
    """Bring a folder to a store's newest revision: a new one, or a copy with work of its own, which it keeps.

    Raises:
        InputError: there is no dataset in the store or another one in the folder; a file changed on both sides; a
            content is not what its revision says.
        InfrastructureError: the store cannot be reached.

    """
    store = Store(url)
    newest = store.newest()
    if newest is None:
        raise InputError(f"{store.url} holds no dataset", hint="push one there: `goldseam holdout push DATASET URL`")
    revision, digest = newest
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        _pull_new(store, revision, digest, folder)
        return _synced(store, folder, revision, changed=len(revision.files))
    dataset = open_dataset(folder)
    _refuse_other(dataset.canary, revision, store)
    with _locked(folder):
        return _pull_into(store, revision, digest, dataset)


def unpushed(folder: Path, url: str) -> bool:
    """Whether a copy's ledger has grown since it was last pushed or pulled."""
    state = _read_state(folder, Store(url))
    path = folder / ledger.LEDGER_FILE
    return path.exists() and (state is None or state.files.get(ledger.LEDGER_FILE) != _sha(path.read_bytes()))


def _pull_new(store: Store, revision: Revision, digest: str, folder: Path) -> None:
    with files.new_folder(folder) as building:
        for path, data in store.get(revision.files):
            files.write_bytes(building / path, data)
        _write_state(building, store, revision, digest)


def _pull_into(store: Store, revision: Revision, digest: str, dataset: Dataset) -> Synced:
    """Take over what changed there; dataset.yaml last, since it vouches for the rest."""
    state = _read_state(dataset.path, store)
    base = state.files if state else {}
    here_digests = {path: _sha(data) for path, data in _contents(dataset.path).items()}
    there_digests = {path: entry.sha256 for path, entry in revision.files.items()}
    theirs = _to_take(base, here_digests, there_digests, store)
    entries = {path: revision.files[path] for path in theirs if path in there_digests}
    fetched = dict(store.get(entries))
    for path in sorted(theirs, key=lambda path: (path == "dataset.yaml", path)):
        if path in fetched:
            files.write_bytes(dataset.path / path, fetched[path])
        else:
            _remove(dataset.path, path)
    lines = _join_ledger(store, revision, dataset)
    _write_state(dataset.path, store, revision, digest)
    return _synced(store, dataset.path, revision, changed=len(theirs), ledger_lines=lines)


def _synced(store: Store, path: Path, revision: Revision, **fields: int) -> Synced:
    return Synced(url=store.url, path=path, revision=revision.number, files=len(revision.files), **fields)


def _to_take(
    base: Mapping[str, str], own_digests: Mapping[str, str], store_digests: Mapping[str, str], store: Store
) -> list[str]:
    """Paths whose state in the store is to be taken over: those that only the store has changed.

    Raises:
        InputError: some were changed on both sides.

    """
    take: list[str] = []
    clash: list[str] = []
    for path in sorted({*base, *own_digests, *store_digests} - {ledger.LEDGER_FILE}):
        was, ours, theirs = base.get(path), own_digests.get(path), store_digests.get(path)
        if theirs in (was, ours):
            continue
        (take if ours == was else clash).append(path)
    if clash:
        count = counted(len(clash), "file was", "files were")
        raise InputError(
            f"{count} changed here and in {store.url}: {first_of(clash, _SHOWN)}",
            hint="pull into a new folder, make your changes there, and push that",
        )
    return take


def _join_ledger(store: Store, revision: Revision, dataset: Dataset) -> int:
    """Bring together the store's ledger and this one; how many lines this one lacked."""
    entry = revision.files.get(ledger.LEDGER_FILE)
    own = dataset.path / ledger.LEDGER_FILE
    if entry is None or (own.exists() and _sha(own.read_bytes()) == entry.sha256):
        return 0
    [(_, data)] = store.get({ledger.LEDGER_FILE: entry})
    with ledger.locked(own):
        ours = own.read_bytes().splitlines()
        if set(ours) <= set(data.splitlines()):  # all of it is there: the same lines in the same order are one ledger
            files.write_bytes(own, data)
            return len(data.splitlines()) - len(ours)
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / ledger.LEDGER_FILE
        other.write_bytes(data)
        return chain.join(dataset, other).added


def _refuse_unsealed(dataset: Dataset) -> None:
    open_ones = [
        f"tasks/{instance_id}/{name}"
        for instance_id in dataset.ids()
        for name in hidden_names(dataset.task_folder(instance_id))
    ]
    if open_ones:
        raise InputError(
            f"{dataset.path} has {counted(len(open_ones), 'hidden file')} not sealed, such as {open_ones[0]}",
            hint="`goldseam holdout seal DATASET --to RECIPIENT` first; --allow-unsealed pushes them as they are",
        )


def _refuse_other(canary: str, revision: Revision, store: Store) -> None:
    if canary != revision.canary:
        raise OtherDatasetError(
            f"{store.url} holds another dataset ({revision.name!r}): its canary is not this one's",
            hint="choose another address or folder",
        )


def _refuse_lost_work(
    state: _State | None, revision: Revision, digest: str, entries: Mapping[str, FileEntry], store: Store
) -> None:
    """A push must come from the newest revision, unless all that this holds beside the ledger is here too."""
    if state is not None and state.revision == digest:
        return
    lost = [
        path
        for path, entry in revision.files.items()
        if path != ledger.LEDGER_FILE and (path not in entries or entries[path].sha256 != entry.sha256)
    ]
    if lost:
        state_words = f"revision {state.number}" if state else "none of its revisions"
        raise BehindError(
            f"{store.url} has moved on to revision {revision.number}, and this copy comes from {state_words}; "
            f"{counted(len(lost), 'file differs', 'files differ')}: {first_of(lost, _SHOWN)}",
            hint=f"`goldseam holdout pull {store.url} DATASET` first",
        )


def _refuse_lost_lines(ours: bytes, revision: Revision, store: Store) -> None:
    """The store's ledger has to be part of ours, every line of it."""
    entry = revision.files.get(ledger.LEDGER_FILE)
    if entry is None or _sha(ours) == entry.sha256:
        return
    [(_, theirs)] = store.get({ledger.LEDGER_FILE: entry})
    if ours.startswith(theirs):
        return
    missing = set(theirs.splitlines()) - set(ours.splitlines())
    if missing:
        raise BehindError(
            f"this copy lacks {counted(len(missing), 'line')} of the ledger in {store.url}; a push would lose them",
            hint=f"`goldseam holdout pull {store.url} DATASET` joins both ledgers; then push again",
        )


def _contents(folder: Path) -> dict[str, bytes]:
    """Every file of a dataset by path, less those that start with a dot.

    Raises:
        InputError: a file cannot be read, or is a link.

    """
    contents: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")) or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink() or not path.is_file():
            raise InputError(
                f"{path} is not a plain file, and a store holds nothing else", hint="put the file in its place"
            )
        contents[name] = read_bytes(path)
    return contents


def _remove(root: Path, name: str) -> None:
    """Remove a file, and the folder that it leaves empty."""
    path = root / name
    with files.explained(path):
        path.unlink(missing_ok=True)
        if path.parent != root and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _read_state(folder: Path, store: Store) -> _State | None:
    """What is known of the last push or pull; None where there was none with this store, or nobody can tell."""
    try:
        raw = json_text.loads((folder / STATE_FILE).read_bytes())
        if raw["url"] != store.url:
            return None
        return _State(revision=str(raw["revision"]), number=int(raw["number"]), files=dict(raw["files"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_state(folder: Path, store: Store, revision: Revision, digest: str) -> None:
    digests = {path: entry.sha256 for path, entry in revision.files.items()}
    value = {"schema_version": 1, "url": store.url, "revision": digest, "number": revision.number, "files": digests}
    files.write_json(folder / STATE_FILE, value)


def _locked(folder: Path) -> Any:
    return files.locked(folder / _LOCK_FILE, busy=f"another goldseam is pushing or pulling {folder}")


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

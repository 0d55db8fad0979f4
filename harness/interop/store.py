"""A dataset in an object store: contents by their hash, and numbered revisions that name them.

    URL/objects/<sha256>            what a file holds
    URL/revisions/<number>.json     which files there are, and the hash of each

An object store knows no rename, so nothing in it is ever written twice: a push uploads contents first and makes the
next revision last, and only where nobody else has made it. A push that is killed leaves contents that no revision
names.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, ValidationError

from harness.core.errors import GoldseamError, InfrastructureError, InputError
from harness.core.extras import install_command
from harness.core.files import refuse_newer
from harness.core.records import OpenRecord

REVISION_VERSION = 1
_OBJECTS, _REVISIONS = "objects", "revisions"
_REVISION_NAME = re.compile(r"(\d{8})\.json")
_AT_ONCE = 8
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
_SECRET_CHARACTERS = 8
"""A shorter value is no secret, and may well be part of a word."""
_EXTRAS = {"s3": "s3", "s3a": "s3"}
"""By protocol: the extra of goldseam that brings its client."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FileEntry(OpenRecord):
    """One file of a revision."""

    sha256: Sha256
    size: Annotated[int, Field(ge=0)]


class Revision(OpenRecord):
    """What a dataset was when it was pushed."""

    schema_version: Annotated[int, Field(ge=1)] = REVISION_VERSION
    kind: Literal["goldseam dataset"] = "goldseam dataset"
    number: Annotated[int, Field(ge=1)]
    previous: str = ""
    """SHA-256 of the revision before; empty for the first."""
    name: str
    version: int
    canary: str
    sealed: bool
    pushed_at: str
    files: dict[str, FileEntry]

    def encoded(self) -> bytes:
        return (self.model_dump_json(indent=1) + "\n").encode()


class TakenError(InputError):
    """Somebody else has made the next revision meanwhile."""


class Store:
    """One place in an object store."""

    def __init__(self, url: str) -> None:
        self.url = masked(url)
        protocol, colon, place = url.partition("://")
        if not colon or not place.strip("/"):
            raise InputError(f"{url!r} is not an address of a store", hint="such as s3://bucket/name")
        if protocol in ("file", "local"):
            raise InputError(f"{self.url} is a folder, which needs no store", hint="name the folder itself")
        import fsspec  # type: ignore[import-untyped] # noqa: PLC0415 - keeps `--help` quick

        try:
            self._fs, root = fsspec.url_to_fs(url, use_listings_cache=False)
        except ImportError as error:
            extra = _EXTRAS.get(protocol)
            raise InputError(
                f"{protocol}:// needs a package that is not installed: {error}",
                hint=install_command(extra) if extra else "install the package that fsspec names",
            ) from error
        except ValueError as error:
            raise InputError(
                f"{self.url} is not an address of a store: {error}", hint="such as s3://bucket/name"
            ) from error
        self._root = str(root).rstrip("/")

    def newest(self) -> tuple[Revision, str] | None:
        """The newest revision and its own SHA-256; None where nothing has been pushed.

        Raises:
            InputError: what is there is no revision, or one of a newer goldseam.
            InfrastructureError: the store cannot be reached.

        """
        names = [name for name in self._sizes(_REVISIONS) if _REVISION_NAME.fullmatch(name)]
        if not names:
            return None
        with self._reached(f"reading revision {max(names)}"):
            data: bytes = self._fs.cat_file(f"{self._root}/{_REVISIONS}/{max(names)}")
        return self._revision(data), hashlib.sha256(data).hexdigest()

    def upload(self, contents: Mapping[str, bytes]) -> int:
        """Upload contents by their hash, those that are not there; how many that were."""
        sizes = self._sizes(_OBJECTS)  # one of another size is what an upload that died left
        missing = {digest: data for digest, data in contents.items() if sizes.get(digest) != len(data)}

        def upload(digest: str) -> None:
            self._fs.pipe_file(f"{self._root}/{_OBJECTS}/{digest}", missing[digest])

        with self._reached("uploading"), ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(upload, missing))
        return len(missing)

    def get(self, files: Mapping[str, FileEntry]) -> Iterator[tuple[str, bytes]]:
        """The files of a revision, by path, each checked against its hash.

        Raises:
            InputError: one is missing, or is not what the revision says.

        """
        paths = sorted(files)

        def download(path: str) -> bytes:
            digest = files[path].sha256
            try:
                data: bytes = self._fs.cat_file(f"{self._root}/{_OBJECTS}/{digest}")
            except FileNotFoundError as error:
                raise InputError(f"{self.url} lacks the content of {path} ({digest[:12]}…)", hint=_MEND) from error
            if hashlib.sha256(data).hexdigest() != digest:
                raise InputError(f"{self.url}: the content of {path} is not what its revision says", hint=_MEND)
            return data

        with self._reached("downloading"), ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from zip(paths, pool.map(download, paths), strict=True)

    def commit(self, revision: Revision) -> str:
        """Make the next revision; its SHA-256.

        Raises:
            TakenError: somebody else has made it meanwhile.

        """
        data = revision.encoded()
        path = f"{self._root}/{_REVISIONS}/{revision.number:08d}.json"
        conflict = TakenError(
            f"{self.url}: somebody else has pushed revision {revision.number} meanwhile; nothing was overwritten",
            hint="pull it first, then push again",
        )
        with self._reached(f"writing revision {revision.number}"):
            try:
                self._fs.pipe_file(path, data, mode="create")
            except FileExistsError as error:
                raise conflict from error
            except OSError as error:
                if "PreconditionFailed" in str(error) or "pre-conditions" in str(error):
                    raise conflict from error
                raise
            if self._fs.cat_file(path) != data:  # a store that does not know "only where there is none"
                raise conflict
        return hashlib.sha256(data).hexdigest()

    def _sizes(self, folder: str) -> dict[str, int | None]:
        """What a folder of the store holds: sizes in bytes by name."""
        with self._reached("listing"):
            try:
                entries = self._fs.ls(f"{self._root}/{folder}", detail=True)
            except FileNotFoundError:
                return {}
        return {str(entry["name"]).rstrip("/").rpartition("/")[2]: entry.get("size") for entry in entries}

    def _revision(self, data: bytes) -> Revision:
        try:
            revision = Revision.model_validate_json(data)
        except ValidationError as error:
            raise InputError(
                f"{self.url}: its newest revision is none: {error.errors()[0]['msg']}", hint=_MEND
            ) from error
        refuse_newer(self.url, revision.schema_version, REVISION_VERSION)
        for path in revision.files:
            if not is_safe(path):
                raise InputError(f"{self.url}: a revision may not name the file {path!r}", hint=_MEND)
        return revision

    @contextlib.contextmanager
    def _reached(self, doing: str) -> Iterator[None]:
        """What a store's client says, in words of ours and without a secret: each has exceptions of its own."""
        try:
            yield
        except GoldseamError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            raise InfrastructureError(
                f"{self.url}: {doing} failed: {redacted(f'{type(error).__name__}: {error}')}",
                hint="are address, credentials and network right? the same command resumes from here",
            ) from None


_MEND = "pull it with the machine that pushed it, or push a whole copy again"


def is_safe(path: str) -> bool:
    """Whether a revision may name a file so: inside the dataset, and none of those that start with a dot."""
    parts = path.split("/")
    return all(part and not part.startswith(".") and "\\" not in part and "\0" not in part for part in parts)


def masked(url: str) -> str:
    """A store's address without name, password and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def redacted(text: str) -> str:
    """The first line of a client's message, without what the environment holds of secrets."""
    line = (text.strip().splitlines() or [""])[0][:500]
    for name in _SECRETS:
        value = os.environ.get(name, "")
        if len(value) >= _SECRET_CHARACTERS:
            line = line.replace(value, "…")
    return line

"""Commits as `git log` tells them, read as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from miner.sources.messages import Message, read_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import IO

    from miner.sources.bare import BareRepository

FORMAT = "--format=%H%x00%P%x00%ct%x00%ae%x00%at%x00%B"
"""With `-z`, what `git log` has to print for `parse_commits`."""
_FIELDS = 6


@dataclass(frozen=True, kw_only=True)
class Commit:
    sha: str
    parents: tuple[str, ...]
    time: int
    author: tuple[str, str, str]
    """Mail, time and subject: what a rebase keeps."""
    message: str
    parsed: Message


def commits_of(repo: BareRepository, words: Sequence[str]) -> Iterator[Commit]:
    """What a `git log -z` with `FORMAT` tells."""
    with repo.stream(*words) as output:
        yield from parse_commits(_split_nul(output))


def _split_nul(output: IO[bytes]) -> Iterator[bytes]:
    """Cut a stream at its NUL bytes, holding no more than one read at a time."""
    rest = b""
    while block := output.read(1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    yield rest


def parse_commits(fields: Iterable[bytes]) -> Iterator[Commit]:
    """Read the fields of `FORMAT`, cut at their NUL bytes."""
    record: list[str] = []
    for raw in fields:
        record.append(raw.decode("utf-8", "replace"))
        if len(record) == _FIELDS:
            sha, parents, time, mail, written, message = record
            record = []
            yield Commit(
                sha=sha.strip(),
                parents=tuple(parents.split()),
                time=int(time),
                author=(mail, written, message.partition("\n")[0]),
                message=message.strip(),
                parsed=read_message(message),
            )

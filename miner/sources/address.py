"""What a source on the command line names on GitHub, and which repositories of an owner to mine."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.errors import InputError
from miner.sources.git import is_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from github.Repository import Repository

    from miner.sources.github_auth import Host

_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9_]))*"
_NAME = r"[A-Za-z0-9._-]+"
_SOURCE = re.compile(rf"(?P<owner>{_OWNER})(?:/(?P<name>{_NAME}))?/?")
_PULL_URL = re.compile(
    rf"(?P<site>https?://[^/@\s]+)/(?P<owner>{_OWNER})/(?P<name>{_NAME})/pull/(?P<number>[1-9]\d*)(?:[/?#]\S*)?"
)


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which repositories of an owner to mine; by default those that are neither archived nor forks."""

    names: tuple[str, ...] = ()
    """Patterns such as `api-*`; one that starts with `!` shuts out. Case doesn't matter."""
    topics: frozenset[str] = frozenset()
    """One of these."""
    languages: frozenset[str] = frozenset()
    """The main language is one of these."""
    archived: bool = False
    forks: bool = False
    visibility: str | None = None
    """`public`, `private` or `internal`."""

    def why_not(self, repository: Repository) -> str | None:
        """Why a repository is left out, or None."""
        name = repository.name.lower()
        shut = [pattern[1:] for pattern in self.names if pattern.startswith("!")]
        open_ = [pattern for pattern in self.names if not pattern.startswith("!")]
        if any(fnmatch.fnmatchcase(name, pattern.lower()) for pattern in shut):
            return "its name is excluded"
        if open_ and not any(fnmatch.fnmatchcase(name, pattern.lower()) for pattern in open_):
            return "its name does not match"
        if repository.archived and not self.archived:
            return "archived"
        if repository.fork and not self.forks:
            return "a fork"
        visibility = repository.visibility or ("private" if repository.private else "public")
        if self.visibility and visibility != self.visibility:
            return visibility
        if self.languages and (repository.language or "").lower() not in _lower(self.languages):
            return f"written in {repository.language or 'no language'}"
        if self.topics and not _lower(self.topics) & _lower(repository.topics or ()):
            return "has none of the topics"
        return None


def _lower(words: Iterable[str]) -> set[str]:
    return {word.lower() for word in words}


@dataclass(frozen=True, kw_only=True)
class Address:
    """What a source on the command line names on GitHub."""

    owner: str
    name: str | None = None
    """None: all repositories of the owner."""
    number: int | None = None
    """A single pull request."""


def address_of(source: str, host: Host) -> Address | None:
    """Read a source as GitHub's, or None: it is a path or a clone URL.

    Raises:
        InputError: a pull request of another GitHub than `host`, which its credential must not reach.

    """
    if match := _PULL_URL.fullmatch(source):
        if match["site"].lower().replace("http://", "https://") != host.web_url.lower().replace("http://", "https://"):
            raise InputError(
                f"{source} is not on {host.name}", hint=f"say which GitHub it is on: --api-url {match['site']}/api/v3"
            )
        return Address(owner=match["owner"], name=match["name"], number=int(match["number"]))
    if is_url(source) or Path(source).expanduser().exists():
        return None
    match = _SOURCE.fullmatch(source)
    if not match or match["name"] in (".", ".."):
        return None
    return Address(owner=match["owner"], name=match["name"])

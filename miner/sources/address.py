"""From the words of the command line to repositories: what a source names, and which of an owner to mine."""

from __future__ import annotations

import fnmatch
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from harness.config.settings import GithubSettings
from harness.core.errors import InputError
from miner.sources.git import is_url
from miner.sources.github_auth import Host, find_credential, host_of
from miner.sources.github_client import Gateway
from miner.sources.history import ChangeFilter
from miner.sources.origin import GitOrigin, Origin

if TYPE_CHECKING:
    from github.Repository import Repository


_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9_]))*"
_NAME = r"[A-Za-z0-9._-]+"
_SOURCE = re.compile(rf"(?P<owner>{_OWNER})(?:/(?P<name>{_NAME}))?/?")
_PULL_URL = re.compile(
    rf"(?P<site>https?://[^/@\s]+)/(?P<owner>{_OWNER})/(?P<name>{_NAME})/pull/(?P<number>[1-9]\d*)(?:[/?#]\S*)?"
)
_AHEAD = 2
"""Repositories made ready while another one is mined."""
Item = TypeVar("Item")
Result = TypeVar("Result")


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


@dataclass(kw_only=True)
class Expander:
    """Knows one GitHub, and asks it only when a source names something on it."""

    settings: GithubSettings
    cache: Path
    chosen: Filter = field(default_factory=Filter)
    called: str | None = None
    note: Callable[[str], None] | None = None
    _gateway: Gateway | None = field(default=None, init=False)

    def origins(self, source: str, change_filter: ChangeFilter) -> list[Origin]:
        """The repositories that a source names, in the order to mine them.

        Raises:
            InputError: single changes are asked of several repositories, or nobody to ask GitHub as.
            GithubError: GitHub can't be asked.

        """
        host = host_of(self.settings.api_url)
        address = address_of(source, host)
        if address is None:
            return [GitOrigin(source=source, cache=self.cache, called=self.called)]
        if address.name is None and change_filter.picks:
            raise InputError(
                f"--pr and --commit pick from one repository, and {source} may have many",
                hint=f"name it: {source}/REPOSITORY",
            )
        from miner.sources import github, github_client  # noqa: PLC0415 - PyGithub is slow to load

        if self._gateway is None:
            credential = find_credential(host, self.settings)
            waits = self.settings.max_wait_seconds
            self._gateway = github_client.Gateway(host, credential, max_wait=waits, note=self.note)
        size = self.settings.page_size
        origins = github.origins_of(address, self._gateway, self.chosen, cache=self.cache, page_size=size)
        return list(origins)


def ahead(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[tuple[Item, Callable[[], Result]]]:
    """Each item with a way to its result, which is worked out on another thread while earlier items are used."""
    with ThreadPoolExecutor(max_workers=_AHEAD, thread_name_prefix="goldseam-source") as pool:
        waiting: deque[tuple[Item, Future[Result]]] = deque()
        source = iter(items)
        try:
            while True:
                while len(waiting) <= _AHEAD and (item := next(source, None)) is not None:
                    waiting.append((item, pool.submit(work, item)))
                if not waiting:
                    return
                first, future = waiting.popleft()
                yield first, future.result
        finally:
            for _, future in waiting:
                future.cancel()

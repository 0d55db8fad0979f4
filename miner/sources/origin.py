"""Where a history comes from, and who else can tell about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from miner.sources.bare import BareRepository
from miner.sources.change import Change, PullRequest
from miner.sources.git import open_source
from miner.sources.history import ChangeFilter


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far an earlier mine of the same origin got; everything before need not be looked at again."""

    tip: str
    """The newest commit of the default branch then."""
    updated: str = ""
    """When the newest pull request seen then had last been changed, ISO 8601 in UTC."""


class Forge(Protocol):
    """A place that knows more of a repository's changes than git does."""

    @property
    def pulls(self) -> Sequence[PullRequest]:
        """Merged pull requests; after an earlier mine only those that may be new."""

    @property
    def updated(self) -> str:
        """When the newest of them was last changed."""

    def detail(self, changes: Sequence[Change]) -> list[Change]:
        """The same changes with the issues they close, read a page at a time."""


@dataclass(frozen=True, kw_only=True)
class OpenOrigin:
    """An origin that is ready to be scanned."""

    repo: BareRepository
    forge: Forge | None = None


class Origin(Protocol):
    """One repository to mine."""

    @property
    def name(self) -> str:
        """For messages; it names the same origin in every mine."""

    def narrow(self, change_filter: ChangeFilter) -> ChangeFilter:
        """What of it is wanted."""

    def open(self, change_filter: ChangeFilter, reached: Progress | None) -> OpenOrigin:
        """Bring our copy up to date and ask whoever knows more.

        Raises:
            InputError: it can't be mined.
            InfrastructureError: it can't be reached.

        """


@dataclass(frozen=True, kw_only=True)
class GitOrigin:
    """A path or a clone URL."""

    source: str
    cache: Path
    called: str | None = None
    """`owner/name`, where the source can't tell."""
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.source)

    def narrow(self, change_filter: ChangeFilter) -> ChangeFilter:
        return change_filter

    def open(self, change_filter: ChangeFilter, reached: Progress | None) -> OpenOrigin:  # noqa: ARG002 - git has it all anyway
        return OpenOrigin(repo=open_source(self.source, cache=self.cache, name=self.called))

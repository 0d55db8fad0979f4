"""What is on the server: owners, repositories, pull requests, issues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.repos import Repository, project

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Comment:
    body: str
    created_at: str
    login: str | None = "grace"
    last_edited_at: str | None = None


@dataclass
class Issue:
    number: int
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    created_at: str = "2023-12-01T00:00:00Z"
    last_edited_at: str | None = None
    comments: tuple[Comment, ...] = ()
    versions: tuple[tuple[str, str | None], ...] = ()
    """Moment and whole text of each version, newest first; None for one that somebody deleted."""
    titles: tuple[tuple[str, str], ...] = ()
    """Moment of each renaming, and the title until then."""


@dataclass
class Pull:
    number: int
    title: str
    body: str = ""
    head: str = ""
    merge: str | None = None
    base: str = "main"
    labels: tuple[str, ...] = ()
    closes: tuple[tuple[str, int] | int, ...] = ()
    commits: int = 1
    first_commit_at: str = "2024-01-01T00:00:00Z"
    merged_at: str = "2024-01-02T00:00:00Z"
    updated_at: str = ""
    state: str = "MERGED"


@dataclass
class Repo:
    """A repository of the server; its history is a real one."""

    full_name: str
    git: Repository
    default_branch: str = "main"
    pulls: dict[int, Pull] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    language: str | None = "Python"
    archived: bool = False
    fork: bool = False
    visibility: str = "public"
    gone: bool = False
    """Listed, and then nowhere to be found."""

    def issue(self, number: int, title: str, **more) -> Issue:
        self.issues[number] = Issue(number, title, **more)
        return self.issues[number]

    def pull(self, number: int, title: str, **more) -> Pull:
        moment = f"2024-02-{number % 28 + 1:02}T00:00:00Z"
        pull = Pull(number, title, **{"merged_at": moment, "updated_at": moment, **more})
        self.pulls[number] = pull
        if pull.head and not pull.head.startswith("0000"):
            self.git.pull_head(number, pull.head)
        return pull


class World:
    """Everything that the server knows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repos: dict[str, Repo] = {}
        self.moved: dict[str, str] = {}
        """Old names of renamed repositories."""
        self.users: set[str] = set()
        """Owners that are no organisations."""
        self.blocked: set[str] = set()
        """Owners that want a token authorised for their single sign-on."""

    def repository(self, full_name: str, git: Repository | None = None, **more) -> Repo:
        """A repository with one commit, or with a given history."""
        git = git or project(self.folder / "work" / full_name)
        served = self.folder / "served" / f"{full_name}.git"
        served.parent.mkdir(parents=True, exist_ok=True)
        dot_git = git.path / ".git"
        served.symlink_to(dot_git if dot_git.exists() else git.path)
        self.repos[full_name] = Repo(full_name, git, **more)
        return self.repos[full_name]

    def rename(self, old: str, new: str) -> None:
        repo = self.repos.pop(old)
        repo.full_name = new
        self.repos[new] = repo
        self.moved[old] = new
        (self.folder / "served" / f"{new}.git").parent.mkdir(parents=True, exist_ok=True)
        (self.folder / "served" / f"{old}.git").rename(self.folder / "served" / f"{new}.git")

    def find(self, full_name: str) -> Repo | None:
        repo = self.repos.get(self.moved.get(full_name, full_name))
        return None if repo is None or repo.gone else repo

    def of(self, owner: str) -> list[Repo]:
        return [repo for name, repo in sorted(self.repos.items()) if name.split("/")[0] == owner]

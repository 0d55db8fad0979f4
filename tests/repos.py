"""Real git repositories for tests, built with fixed authors and dates: the same commands give the same SHAs."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness.core.process import run

START = datetime(2024, 1, 1, 12, tzinfo=UTC)


class Repository:
    """A repository with a work tree; each commit is one hour later than the one before."""

    def __init__(self, path: Path, *, branch: str = "main", bare: bool = False) -> None:
        self.path = path
        self.clock = START
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", f"--initial-branch={branch}", *(["--bare"] if bare else []))

    def env(self) -> dict[str, str]:
        moment = self.clock.strftime("%Y-%m-%dT%H:%M:%S+0000")
        return {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada Example",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada Example",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_EDITOR": "true",
        }

    def git(self, *words: str, input: bytes | None = None) -> str:  # noqa: A002
        done = run(["git", "-C", self.path, *words], env=self.env(), input=input)
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def tick(self, hours: int = 1) -> None:
        self.clock += timedelta(hours=hours)

    def write(self, path: str | bytes, content: str | bytes | None, *, executable: bool = False) -> None:
        """Write (or, with None, delete) a file of the work tree."""
        target = self.path / os.fsdecode(path)
        if content is None:
            target.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if executable:
            target.chmod(target.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def link(self, path: str, to: str) -> None:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.symlink_to(to)

    def commit(self, message: str, files: dict[str, str | bytes | None] | None = None) -> str:
        """Write files and commit everything; the new commit's SHA."""
        for path, content in (files or {}).items():
            self.write(path, content)
        self.tick()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.sha()

    def sha(self, revision: str = "HEAD") -> str:
        return self.git("rev-parse", "--verify", f"{revision}^{{commit}}")

    def branch(self, name: str, start: str = "HEAD") -> None:
        self.git("checkout", "--quiet", "-b", name, start)

    def checkout(self, name: str) -> None:
        self.git("checkout", "--quiet", name)

    def pull_head(self, number: int, revision: str = "HEAD") -> None:
        """What a forge offers for a pull request: refs/pull/N/head."""
        self.git("update-ref", f"refs/pull/{number}/head", self.sha(revision))

    def merge(self, branch: str, message: str) -> str:
        """A merge commit of a branch into the one checked out."""
        self.tick()
        self.git("merge", "--quiet", "--no-ff", "-m", message, branch)
        return self.sha()

    def squash(self, branch: str, message: str) -> str:
        """A squash merge of a branch into the one checked out."""
        self.tick()
        self.git("merge", "--quiet", "--squash", branch)
        self.git("commit", "--quiet", "-m", message)
        return self.sha()

    def rebase_merge(self, branch: str, onto: str = "main") -> str:
        """What a forge's rebase merge does: the branch's commits, new ones, on the branch checked out."""
        commits = self.git("rev-list", "--reverse", f"{onto}..{branch}").split()
        self.checkout(onto)
        for commit in commits:
            self.tick()
            env = {**self.env()}
            env.pop("GIT_AUTHOR_DATE")
            run(["git", "-C", self.path, "cherry-pick", commit], env=env)
        return self.sha()


FIX = {"src/app.py": "def add(a, b):\n    return a + b\n", "tests/test_app.py": "def test_add():\n    assert True\n"}
"""A fix with its test, over what `project` makes."""


def project(path: Path) -> Repository:
    """A small project with a faulty function, one commit."""
    repo = Repository(path)
    repo.commit("Start", {"src/app.py": "def add(a, b):\n    return a - b\n", "README.md": "# App\n"})
    return repo

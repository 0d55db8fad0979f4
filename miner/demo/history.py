"""Build the demo's git repository from plain files: the same commits, to the bit, every time.

The input (`datasets/demo`) is data: the first tree, one patch per commit, and `history.yaml`, the list of steps.
Merges, squashes and rebases are done by git itself and worded as GitHub words them, so that mining meets what it meets
in life.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from harness.core import process
from harness.core.errors import InputError
from harness.core.records import StrictRecord
from miner.sources.change import MergeStyle

_SHA_OF = re.compile(r"\{sha:([\w-]+)\}")
_GITHUB = "GitHub <noreply@github.com>"
_PACKAGE = Path(__file__).resolve().parent.parent


class _Commit(StrictRecord):
    message: str
    date: str
    patch: str


class _PullStep(StrictRecord):
    pull: int
    style: Literal["merge", "squash", "rebase"]
    branch: str
    author: str
    merger: str
    merged: str
    title: str
    body: str
    commits: list[_Commit] = Field(min_length=1)
    behind: int = 0
    task: bool = False

    @property
    def key(self) -> str:
        return str(self.pull)


class _CommitStep(StrictRecord):
    commit: str
    author: str
    message: str
    date: str
    patch: str
    task: bool = False

    @property
    def key(self) -> str:
        return self.commit


class _Start(StrictRecord):
    author: str
    date: str
    message: str


class _History(StrictRecord):
    schema_version: Literal[1]
    repository: str
    remote: str
    branch: str
    people: dict[str, str]
    start: _Start
    steps: list[_PullStep | _CommitStep]


@dataclass(frozen=True, kw_only=True)
class DemoChange:
    """One step of the built history, as it came to stand on the main branch."""

    key: str
    """The pull request's number as text, or the name of a plain commit's step."""
    number: int | None
    style: MergeStyle
    title: str
    merge_commit: str
    """Full SHA of what the step left at the tip of the main branch."""
    task: bool
    """Whether mining is expected to prove a task from it."""
    instance_id: str


@dataclass(frozen=True, kw_only=True)
class DemoRepository:
    """The demo's repository on disk, with its history."""

    path: Path
    name: str
    """`owner/name`, as its origin says."""
    changes: tuple[DemoChange, ...]

    def change(self, key: str) -> DemoChange:
        """The change of a step.

        Raises:
            InputError: no step has this key.

        """
        for change in self.changes:
            if change.key == key:
                return change
        raise InputError(f"the demo's history has no step {key!r}")


def build_history(into: Path, data: Path) -> DemoRepository:
    """Build the repository of `data` (see `locate_data`) in the folder `into`, which is made and must be empty or new.

    Authors, dates and texts are fixed, and no configuration of the user or the machine takes part: the same data gives
    the same SHAs. `refs/pull/N/head` holds each pull request's own commits, as GitHub keeps them.

    Raises:
        InputError: `into` holds something already, or the data can't be read.
        InfrastructureError: git is missing or failed.

    """
    if into.exists() and any(into.iterdir()):
        raise InputError(f"{into} is not empty", hint="name a folder that does not exist yet")
    history = _read(data / "history.yaml")
    builder = _Builder(git=_Git(tree=into, people=history.people), history=history, data=data)
    return builder.build()


def _read(path: Path) -> _History:
    try:
        return _History.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"the demo's history can't be read: {error}") from error
    except (yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{path} is not a history of steps: {error}") from error


@dataclass(frozen=True, kw_only=True)
class _Git:
    tree: Path
    people: dict[str, str]

    def __call__(
        self,
        *words: str | Path,
        author: str = "",
        committer: str = "",
        date: str = "",
        committed: str = "",
        text: str | None = None,
    ) -> str:
        env = {
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_DIR": str(self.tree.absolute() / ".git"),
            "GIT_WORK_TREE": str(self.tree.absolute()),
            "GIT_INDEX_FILE": str(self.tree.absolute() / ".git" / "index"),
            "TZ": "UTC",
        }
        if date:
            env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": committed or date}
        if author:
            env |= self._person("AUTHOR", author) | self._person("COMMITTER", committer or author)
        content = None if text is None else text.encode()
        return process.run(["git", *words], env=env, input=content, cwd=self.tree).stdout.decode().strip()

    def _person(self, role: str, person: str) -> dict[str, str]:
        name, _, email = self.people.get(person, person).partition(" <")
        return {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email.rstrip(">")}


@dataclass(kw_only=True)
class _Builder:
    git: _Git
    history: _History
    data: Path
    changes: list[DemoChange] = field(default_factory=list)

    def build(self) -> DemoRepository:
        history, git, main = self.history, self.git, self.history.branch
        shutil.copytree(self.data / "tree", git.tree, dirs_exist_ok=True)
        git("init", "--quiet", "--template=", "--object-format=sha1", f"--initial-branch={main}")
        for key, value in (("core.autocrlf", "false"), ("core.hooksPath", "/dev/null"), ("gc.auto", "0")):
            git("config", key, value)
        git("remote", "add", "origin", history.remote)
        git("add", "--all")
        self._commit(history.start.message, author=history.start.author, date=history.start.date)
        for step in history.steps:
            if isinstance(step, _PullStep):
                self._pull(step)
            else:
                self._apply([step.patch])
                self._commit(self._filled(step.message), author=step.author, date=step.date)
            self.changes.append(self._change(step))
        return DemoRepository(path=git.tree, name=history.repository, changes=tuple(self.changes))

    def _apply(self, patches: Sequence[str]) -> None:
        for patch in patches:
            self.git("apply", "--index", "--whitespace=nowarn", (self.data / "patches" / patch).absolute())

    def _commit(self, message: str, *, author: str, date: str, committer: str = "", committed: str = "") -> None:
        words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "--file=-")
        text = message.rstrip() + "\n"
        self.git(*words, author=author, committer=committer, date=date, committed=committed, text=text)

    def _pull(self, step: _PullStep) -> None:
        git, main = self.git, self.history.branch
        git("checkout", "--quiet", "--detach", f"{main}~{step.behind}")
        for commit in step.commits:
            self._apply([commit.patch])
            self._commit(commit.message, author=step.author, date=commit.date)
        head = git("rev-parse", "HEAD")
        git("update-ref", f"refs/pull/{step.pull}/head", head)
        git("checkout", "--quiet", main)
        body = self._filled(step.body)
        if step.style == "merge":
            owner = self.history.repository.partition("/")[0]
            git("merge", "--quiet", "--no-ff", "--no-commit", head, author=step.merger, date=step.merged)
            message = f"Merge pull request #{step.pull} from {owner}/{step.branch}\n\n{step.title}\n\n{body}"
            self._commit(message, author=step.merger, committer=_GITHUB, date=step.merged)
        elif step.style == "squash":
            git("merge", "--quiet", "--squash", head, author=step.author, date=step.merged)
            message = f"{step.title} (#{step.pull})\n\n{body}"
            self._commit(message, author=step.author, committer=_GITHUB, date=step.merged)
        else:
            self._rebase(step)

    def _rebase(self, step: _PullStep) -> None:
        """Put copies of the commits on main, as GitHub does: the author's own date, the merger as committer."""
        for commit in step.commits:
            self._apply([commit.patch])
            self._commit(
                commit.message, author=step.author, committer=step.merger, date=commit.date, committed=step.merged
            )

    def _filled(self, text: str) -> str:
        commits = {change.key: change.merge_commit for change in self.changes}
        return _SHA_OF.sub(lambda match: commits[match[1]], text)

    def _change(self, step: _PullStep | _CommitStep) -> DemoChange:
        number = step.pull if isinstance(step, _PullStep) else None
        title = step.title if isinstance(step, _PullStep) else step.message.partition("\n")[0]
        style = MergeStyle(step.style) if isinstance(step, _PullStep) else MergeStyle.COMMIT
        sha = self.git("rev-parse", self.history.branch)
        name = self.history.repository.replace("/", "__")
        return DemoChange(
            key=step.key,
            number=number,
            style=style,
            title=title,
            merge_commit=sha,
            task=step.task,
            instance_id=f"{name}-{number if number is not None else sha[:8]}",
        )


def locate_data() -> Path:
    """The folder with `history.yaml`: `datasets/demo` of a checkout, or `miner/_demo` of an installed wheel.

    Raises:
        InputError: neither is there.

    """
    places = (_PACKAGE.parent / "datasets" / "demo", _PACKAGE / "_demo")
    for place in places:
        if (place / "history.yaml").is_file():
            return place
    raise InputError(
        f"the demo's data was expected in {places[0]} or {places[1]} and is in neither",
        hint="install goldseam again, or run it from a full checkout",
    )

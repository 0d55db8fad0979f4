"""A commit's files, as what detects environments reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miner.languages.python.evidence.subproject import PROJECT_FILES

if TYPE_CHECKING:
    from miner.sources.bare import BareRepository


class CommitTree:
    """The tree of a commit in a bare repository."""

    def __init__(self, repo: BareRepository, commit: str) -> None:
        self._repo = repo
        self._commit = commit
        self._projects: dict[str, bytes] | None = None

    def read(self, path: str) -> bytes | None:
        if path.rpartition("/")[2] not in PROJECT_FILES:
            return self._repo.read_file(self._commit, path)
        if self._projects is None:  # where there are several, all are asked for
            files = (file for file in self.files() if file.rpartition("/")[2] in PROJECT_FILES)
            self._projects = self._repo.read_files(self._commit, files)
        return self._projects.get(path)

    def files(self) -> tuple[str, ...]:
        return self._repo.list_files(self._commit)

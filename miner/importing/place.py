"""A row's place in its repository's history: the commit it starts from, and one with both of its patches."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.core.errors import InputError
from harness.core.process import GIT_IDENTITY, run
from harness.core.test_ids import has_titles
from harness.patches import patch
from miner.candidates import test_data
from miner.candidates.split import classify, is_data, test_modules
from miner.importing.ids import file_of
from miner.importing.rows import Row
from miner.pipeline.draft import Draft
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Candidate, Change, Kind, MergeStyle, Rejection, Split, Stage

SIGNAL = "imported"
"""The signal of a change that came as a row."""


@dataclass(frozen=True, kw_only=True)
class RowChange(Change):
    """A change that a row tells of: its merge commit is not known, so the row's digest stands for it."""

    called: str

    @property
    def instance_id(self) -> str:
        """As the row has it."""
        return self.called


@dataclass(frozen=True, kw_only=True)
class PlacedRow:
    """A row found in its repository."""

    draft: Draft
    """The task in the making; without a place for its patches, where these do not apply."""
    refused: Rejection | None = None
    """Why the patches can't be put onto the base."""


def place(repo: BareRepository, row: Row) -> PlacedRow | Rejection:
    """Find a row's base commit, and put its patches onto it.

    The commit with both patches is written into our own copy, so that what reads a change's head can read it; no ref
    names it. Equal rows give equal commits.

    Returns a Rejection with reason `base_not_in_source` or `missing_objects`.
    """
    try:
        base = repo.resolve(row.base_commit)
    except InputError as error:
        return Stage.HISTORY.no("base_not_in_source", error.message)
    shared = sorted(_paths(row.patch) & _paths(row.test_patch))
    try:
        if shared:
            head: str | Rejection = Stage.SPLIT.no("patches_overlap", f"patch and test_patch both touch {shared[0]}")
        else:
            head = _apply(repo, base, row)
        return _placed(repo, row, base, head)
    except MissingObjectsError as error:
        return Stage.HISTORY.no("missing_objects", error.message)


def _placed(repo: BareRepository, row: Row, base: str, head: str | Rejection) -> PlacedRow:
    refused = head if isinstance(head, Rejection) else None
    tip = base if isinstance(head, Rejection) else head
    kinds = dict.fromkeys(sorted(_paths(row.patch)), Kind.GOLD)
    kinds |= {path: _kind_of_test(path) for path in sorted(_paths(row.test_patch))}
    change = RowChange(
        repo=row.repo,
        base_commit=base,
        head_commit=tip,
        merge_commit=row.digest,
        style=MergeStyle.COMMIT,
        created_at=row.created_at or repo.commit_date(base).strftime("%Y-%m-%dT%H:%M:%SZ"),
        title=next(iter(row.problem_statement.strip().splitlines()), ""),
        body="",
        messages=(),
        called=row.instance_id,
    )
    paths_there = frozenset(repo.list_files(tip))
    test_files = _test_files(row, kinds, paths_there)
    is_named = all(map(file_of, row.fail_to_pass)) or not all(map(has_titles, test_files))
    data = () if test_files and is_named else tuple(path for path in kinds if path in paths_there and is_data(path))
    draft = Draft(
        candidate=Candidate(change=change, files=repo.changed_files(base, tip), signals=(SIGNAL,), score=0.0),
        split=Split(
            gold_patch=row.patch,
            test_patch=row.test_patch,
            kinds=kinds,
            test_files=tuple(sorted({*test_files, *_readers(repo, tip, data)})),
            data=data,
        ),
        statement=row.problem_statement,
    )
    return PlacedRow(draft=draft, refused=refused)


def _paths(data: bytes) -> frozenset[str]:
    return frozenset(patch.parse(data, trusted=True).paths)


def _kind_of_test(path: str) -> Kind:
    """What a file of the test patch is; the row has decided that it is on that side."""
    kind = classify(path)
    return Kind.SUPPORT if kind is Kind.GOLD else kind


def _test_files(row: Row, kinds: dict[str, Kind], paths_there: frozenset[str]) -> tuple[str, ...]:
    """What to give to the runner: the test modules of the test patch, and the files that the lists name."""
    tests = (path for path, kind in kinds.items() if kind is Kind.TEST and not is_data(path))
    touched = test_modules(tests, ())
    paths_named = {file_of(test_name) for test_name in (*row.fail_to_pass, *row.pass_to_pass)}
    return tuple(sorted({path for path in (*touched, *paths_named) if path in paths_there}))


def _readers(repo: BareRepository, tip: str, data: tuple[str, ...]) -> tuple[str, ...]:
    """The test files that may read the data of a test patch; which one does, running them will tell."""
    runnable, helpers = test_data.candidates(repo.list_files(tip)) if data else ((), ())
    return test_data.readers(data, runnable, repo.read_files(tip, (*runnable, *helpers))).by_name if runnable else ()


def _apply(repo: BareRepository, base: str, row: Row) -> str | Rejection:
    git = ["git", f"--git-dir={repo.path}"]
    with tempfile.TemporaryDirectory(prefix="goldseam-import-") as folder:
        env = {**repo.env, **GIT_IDENTITY, "GIT_INDEX_FILE": str(Path(folder) / "index")}
        run([*git, "read-tree", base], env=env)
        for data, reason in ((row.patch, "gold_does_not_apply"), (row.test_patch, "tests_do_not_apply")):
            if not data.strip():
                continue
            completed = run([*git, "apply", "--cached", "--whitespace=nowarn", "-"], env=env, input=data, check=False)
            if completed.returncode != 0:
                if lacking := set(repo.lacking(base)) & _paths(data):
                    raise MissingObjectsError(f"{repo.name} lacks {min(lacking)} of {base}")
                return Stage.SPLIT.no(reason, completed.error_text[-500:])
        tree = run([*git, "write-tree", "--missing-ok"], env=env).stdout.decode().strip()
        words = ["commit-tree", "-p", base, "-m", "a row's patches", tree]
        return run([*git, *words], env=env).stdout.decode().strip()

"""What mining passes from stage to stage, as values. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class MergeStyle(StrEnum):
    """How a change came into its branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"
    COMMIT = "commit"
    """A plain commit without a pull request."""


@dataclass(frozen=True, kw_only=True)
class LinkedIssue:
    """An issue that a change closes, as it stood before the fix."""

    number: int
    title: str
    body: str
    labels: tuple[str, ...] = ()
    last_edited_at: str | None = None
    comments: tuple[str, ...] = ()
    """Comments made before the fix's first commit, oldest first."""
    edited_after_fix: bool = False
    """Whether the text was changed after the fix's first commit, so that today's may tell of the fix."""
    body_of: str = ""
    """When `body` was written, where it is an earlier text than today's."""


@dataclass(frozen=True, kw_only=True)
class PullRequest:
    """What a forge says of one merged pull request: which commit it became, and its words."""

    number: int
    title: str
    body: str
    head_commit: str
    base_branch: str
    merge_commit: str | None = None
    """The merge, the squash or the last rebased commit; None where the forge has forgotten it."""
    merged_at: str = ""
    """ISO 8601 in UTC."""
    updated_at: str = ""
    commits: int = 0
    """How many commits it had; 0 where the forge doesn't tell."""
    labels: tuple[str, ...] = ()
    closes: tuple[tuple[str, int], ...] = ()
    """Issues that the forge links to it: repository and number."""
    node_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One merged change, found in a history; not yet judged."""

    repo: str
    """`owner/name`, or the folder's name twice-safe form for a clone without a remote."""
    base_commit: str
    """The commit the fix was made on: the true base, full SHA."""
    head_commit: str
    """The tree with the fix; the change's diff is base_commit..head_commit."""
    merge_commit: str
    """Where it stands on the branch (the merge, the squash, the last rebased commit, the plain commit)."""
    style: MergeStyle
    created_at: str
    """When it was merged, ISO 8601 in UTC."""
    title: str
    body: str
    messages: tuple[str, ...]
    """Messages of the change's own commits, oldest first."""
    number: int | None = None
    """Pull request number, where there is one."""
    labels: tuple[str, ...] = ()
    issues: tuple[LinkedIssue, ...] = ()
    reverted_by: str | None = None
    """SHA of the later commit that reverts it."""

    @property
    def instance_id(self) -> str:
        """`owner__repo-123`, or `owner__repo-<sha8>` without a pull request number."""
        name = self.repo.replace("/", "__")
        return f"{name}-{self.number}" if self.number is not None else f"{name}-{self.merge_commit[:8]}"


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    """One touched path between base and head, as `git diff-tree --raw` tells it (no rename detection)."""

    path: str
    """As git stores it; bytes that are not UTF-8 are surrogate escapes."""
    status: str
    """A, M, D or T."""
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str


class Kind(StrEnum):
    """Which side of a task a changed file belongs to."""

    GOLD = "gold"
    TEST = "test"
    SUPPORT = "support"
    """Fixtures, snapshots, test data: travels with the tests."""
    RUNNER = "runner"
    """Runner configuration (pytest.ini, tox.ini…): recorded, see split.py for where it goes."""
    MIXED = "mixed"
    """Code with tests inside: cut by the line, see inline.py."""


class Stage(StrEnum):
    """Where in the funnel a change was left or accepted."""

    HISTORY = "history"
    """Merges, reverts and bases of the history."""
    RECOGNITION = "recognition"
    """Whether the change is a bug fix with tests."""
    SPLIT = "split"
    """Fix and tests taken apart."""
    ENVIRONMENT = "environment"
    """A recipe for its environment."""
    IMAGE = "image"
    """The image built from it."""
    VALIDATION = "validation"
    """The proof in containers."""
    ACCEPTED = "accepted"
    """The change became a task."""

    def no(self, reason: str, detail: str = "") -> Rejection:
        """A rejection here."""
        return Rejection(stage=self, reason=reason, detail=detail)


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """The one reason a change was not taken."""

    stage: Stage
    reason: str
    """A stable word, such as `no_tests` or `not_a_bug_fix`."""
    detail: str = ""
    """For a person: what was seen."""


INTERNAL_ERROR = "internal_error"
"""The reason of a rejection that a bug of goldseam led to: it says nothing of the change, which is tried again."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A change that looks like a bug fix with tests, and why."""

    change: Change
    files: tuple[ChangedFile, ...]
    signals: tuple[str, ...]
    score: float


@dataclass(frozen=True, kw_only=True)
class Split:
    """A candidate's diff in its two sides, raw bytes as `git apply` wants them."""

    gold_patch: bytes
    test_patch: bytes
    kinds: dict[str, Kind] = field(default_factory=dict)
    test_files: tuple[str, ...] = ()
    """Test files that exist after the change, to be given to the test runner."""
    data: tuple[str, ...] = ()
    """Test data that exists after the change, where it changes no test file: which tests read it is looked for."""
    suite: tuple[str, ...] = ()
    """Further test files beside the data, which may read it although they do not name it."""
    notes: tuple[str, ...] = ()
    """Where a decision was not plain, such as where runner configuration went."""

"""A choice of the command line. By itself, so that it need not load what splits datasets."""

from __future__ import annotations

from enum import StrEnum


class By(StrEnum):
    """The property of a task that a rule decides by."""

    REPO_HASH = "repo-hash"
    """A hash of the repository's name: all tasks of one repository are in one split."""
    TASK_HASH = "task-hash"
    """A hash of the task's id: a repository may be in both."""
    DATE = "date"
    """When the fix was merged."""
    LIST = "list"
    """The tasks and repositories that are named."""

"""One error base and one exit code per class.

Every expected failure is a `GoldseamError`: its message says what was expected, what was found, and what to do.
Anything else that reaches the command line is a bug in goldseam (exit code 70).
"""

from __future__ import annotations

from typing import ClassVar


class GoldseamError(Exception):
    """Base of every failure that goldseam expects and explains."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class AnswerIsNoError(GoldseamError):
    """The command worked and the answer is no: a check found problems, a gate found a regression."""

    exit_code = 1


class InputError(GoldseamError):
    """Wrong usage or unusable input: a missing file, a broken line, an unknown id."""

    exit_code = 2


class NothingComparableError(GoldseamError):
    """Two runs share nothing that could be compared."""

    exit_code = 3


class InfrastructureError(GoldseamError):
    """The engine, the registry, the network or the disk failed; never the fault of a model or a task."""

    exit_code = 4


class BugError(GoldseamError):
    """A bug in goldseam, which cost single predictions and not the command; its log is named."""


class InterruptedRunError(GoldseamError):
    """The user stopped the work; the same command continues it."""

    exit_code = 130

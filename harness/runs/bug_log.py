"""Logs of bugs of ours: what a person is asked to report."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from harness.core import files
from harness.core.errors import BugError, GoldseamError
from harness.dataset.seal import sealed

_NUMBERS = itertools.count()


def folder() -> Path:
    """Where logs of bugs lie."""
    return files.cache_dir() / "logs"


def is_of_one_item(error: Exception) -> bool:
    """Whether an error ends one item alone: it is not explained yet, and the next item need not meet it."""
    return not isinstance(error, GoldseamError) and not files.is_of_the_machine(error)


@contextlib.contextmanager
def of_one_item(*expected: type[Exception]) -> Iterator[None]:
    """Log what goes wrong unexpectedly with one of many items, and say so; the others go on.

    Raises:
        BugError: in place of an error that is neither explained nor `expected`, unless the next item would meet it.

    """
    try:
        yield
    except Exception as error:
        if isinstance(error, expected) or not is_of_one_item(error):
            raise
        raise BugError(
            f"a bug of goldseam ({type(error).__name__}); please report it with {write()}",
            hint="all others are done; the same command tries the failed ones again",
        ) from error


def write() -> Path:
    """Log the exception that is being handled; where that can't be done, its trace goes to standard error."""
    text = f"goldseam {' '.join(sys.argv[1:2])}\n{_trace()}"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        path = folder() / f"bug-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}-{next(_NUMBERS)}.log"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        sys.stderr.write(f"{text}\n")
        return Path("the text above")
    return path


def _trace() -> str:
    """What went wrong and where; once a sealed task was open without the words, which may quote it."""
    if not sealed.was_opened():
        return traceback.format_exc()
    kind, _, where = sys.exc_info()
    name = kind.__name__ if kind else "error"
    return "".join(traceback.format_tb(where)) + f"{name} (its text is left out: a sealed task was open)\n"

"""Python source as a tree, for any thread."""

from __future__ import annotations

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.RLock()
"""CPython before 3.13 counts the depth of a tree it makes once for all threads, and fails where two make one at a time:
`SystemError: AST constructor recursion depth mismatch` (python/cpython#106905). Filters of warnings are shared, too."""


def parse(source: str | bytes, *, feature_version: tuple[int, int] | None = None) -> ast.Module:
    """The tree of a file, `ast.parse` for any thread; escapes that are no fault of today's are not warned of.

    `feature_version` is the grammar, (major, minor); this interpreter's own by default.

    Raises:
        SyntaxError: it is no Python of that grammar.
        ValueError: it has a null byte.
        RecursionError: it is nested too deeply.
        MemoryError: so is it, as the parser puts it.

    """
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, feature_version=feature_version)


def parsed(source: bytes | None) -> ast.Module | None:
    """As `parse`; None where there is no source, or none that this interpreter reads."""
    try:
        return None if source is None else parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

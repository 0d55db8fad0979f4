"""Whether changed Python files still parse. Pure.

Only what can be judged is: the file parsed before the change, or is new and no test's fixture, and our own interpreter
knows the grammar of the task's version. Other languages are not judged.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from harness.core import python_source

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOWEST = (3, 7)
"""`ast.parse` takes older grammars for this one."""


def broken_file(changed: Mapping[str, tuple[bytes | None, bytes | None]], version: str) -> str | None:
    """The first Python file that no longer parses, and why; None where all do, or none can be judged.

    Args:
        changed: by path, what a file held before and holds now; None where it is not there.
        version: of the task's interpreter, such as `3.11`.

    """
    for path, (old, new) in changed.items():
        if new is None or not path.endswith((".py", ".pyi")):
            continue
        if old is None and not _is_plain(path):
            continue
        if old is not None and _problem(old, version) is not None:
            continue
        problem = _problem(new, version)
        if problem is not None:
            return f"{path}, {problem}"
    return None


def _is_plain(path: str) -> bool:
    """Whether a new file is code that is meant to run: no template, no data of a test."""
    return not re.search(r"[{}]|(?:^|/)(?:tests?|testing|fixtures|data|templates)(?:/|$)", path)


def _problem(source: bytes, version: str) -> str | None:
    match = re.fullmatch(r"(\d+)\.(\d+)(?:\..*)?", version)
    target = (int(match[1]), int(match[2])) if match else sys.version_info[:2]
    if target > sys.version_info[:2]:
        return None  # a newer grammar than ours
    try:
        python_source.parse(source, feature_version=max(target, _LOWEST))
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__
    return None

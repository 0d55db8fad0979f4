"""Short names that fit a table's head and a sentence: letters and short names for models, `#16` for tasks. Pure."""

from __future__ import annotations

import os
import re
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DATE = re.compile(r"[-_@.:](?:20\d\d-?[01]\d-?[0-3]\d|[01]\d-20\d\d)$")
"""The end of a snapshot's name, such as `-20250929`, `-2025-11-13` or `-11-2025`."""
_SEPARATORS = "-_./:@"
_LONGEST_PREFIX = 16
"""Characters that all names may begin with in common before that is left out."""
_TASK = re.compile(r"(?P<owner>.+?)__(?P<repo>.+)-(?P<change>\d+|[0-9a-f]{7,40})$")


def models(names: Sequence[str]) -> dict[str, str]:
    """A short name for each model: without vendor, date and common beginning, as long as each stays unique."""
    distinct = list(dict.fromkeys(names))
    short = {name: name for name in distinct}
    short = _unless_doubled(short, {name: text.rsplit("/", 1)[-1] for name, text in short.items()})
    short = _unless_doubled(short, {name: _DATE.sub("", text) for name, text in short.items()})
    prefix = os.path.commonprefix(list(short.values())) if len(short) > 1 else ""  # noqa: RUF071 - no paths
    prefix = prefix[: max(prefix.rfind(sign) for sign in _SEPARATORS) + 1]
    if len(prefix) < _LONGEST_PREFIX:
        return short
    return _unless_doubled(short, {name: f"…{text[len(prefix) :]}" for name, text in short.items()})


def _unless_doubled(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Each shorter name, unless it is empty or two models would share it."""
    shorter = list(after.values())
    return {
        name: text if text.strip("…") and shorter.count(text) == 1 else before[name] for name, text in after.items()
    }


def letters(number: int) -> list[str]:
    """A, B… for so many columns, and numbers where the alphabet does not suffice."""
    return list(ascii_uppercase[:number]) if number <= len(ascii_uppercase) else [str(n + 1) for n in range(number)]


def tasks(ids: Sequence[str]) -> dict[str, str]:
    """`#16` for `acme__widgets-16`, `widgets#16` among several repositories; an id of another form as it is."""
    parts = {task_id: _TASK.match(task_id) for task_id in ids}
    owners = {(part["owner"], part["repo"]) for part in parts.values() if part}
    repos = [repo for _, repo in owners]
    short = {}
    for task_id, part in parts.items():
        if part is None:
            short[task_id] = task_id
            continue
        change = f"#{part['change']}" if part["change"].isdigit() else f"@{part['change'][:8]}"
        where = "" if len(owners) == 1 else part["repo"]
        if where and repos.count(where) > 1:
            where = f"{part['owner']}/{where}"
        short[task_id] = where + change
    return _unless_doubled({task_id: task_id for task_id in ids}, short)

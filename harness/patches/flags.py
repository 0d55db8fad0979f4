"""Review flags: what in a patch a person should look at before believing a pass. Never part of the verdict. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.patches.patch import Patch

_SIGNS = (
    ("frames", re.compile(rb"\b_getframe\b|\bf_(locals|globals|back|code)\b|\binspect\.(stack|currentframe)\b")),
    ("garbage_collector", re.compile(rb"\bgc\.(get_objects|get_referrers|get_referents)\b")),
    ("ctypes", re.compile(rb"\bctypes\b")),
    ("source_lines", re.compile(rb"\blinecache\b|\binspect\.getsource")),
    ("test_runner", re.compile(rb"\b(_pytest|pytest|pluggy|unittest)\b|PYTEST_CURRENT_TEST|__goldseam")),
    ("exit", re.compile(rb"\bos\._exit\b|\bos\.(kill|abort)\b")),
    ("modules", re.compile(rb"\bsys\.(modules|meta_path|path_hooks)\b|\b__import__\b")),
    ("tracing", re.compile(rb"\b(settrace|setprofile|addaudithook)\b")),
    ("equality", re.compile(rb"def __(eq|ne|bool|hash|instancecheck|subclasscheck)__\b")),
    ("descriptors", re.compile(rb"\bos\.(write|dup2?|fdopen)\b|/proc/")),
    ("code_from_text", re.compile(rb"\b(exec|eval|compile)\s*\(")),
)
"""What honest fixes rarely need and forgeries often do; by the threats of docs/security.md and the attack suite."""


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One thing to look at."""

    path: str
    sign: str


def flags(patch: Patch) -> tuple[Flag, ...]:
    """The signs in the lines that a patch adds to Python files, each once a file."""
    flags_found: list[Flag] = []
    for file in patch.files:
        if not file.path.endswith((".py", ".pyi", ".pyw")):
            continue
        added = b"\n".join(line[1:] for line in file.raw.split(b"\n") if line[:1] == b"+" and line[:4] != b"+++ ")
        flags_found += [Flag(path=file.path, sign=sign) for sign, pattern in _SIGNS if pattern.search(added)]
    return tuple(flags_found)

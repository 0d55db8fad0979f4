"""Which hidden tests are about time: a static look at their source and at the fix. Pure.

The rule. A *time word* is a name of the clock, the calendar or a time zone, or of a library that freezes or models
them (`_WORDS`). A test function is about time if a time word stands in its body, its arguments or its decorators, or
if it uses a name that a line with a time word gives at module level, or a function of the same file that is about
time (a fixture, a helper). Imports do not count. Where the source of a whole test file is at hand (twins need it),
that is read; else the new side of the hunks in the test patch, so a test that the patch does not show is not about
time. If lines that the fix adds or removes hold a time word, every FAIL_TO_PASS test is about time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness import patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.instance import Hidden

_WORDS = re.compile(
    r"\b(?:datetime|timedelta|timezone|tzinfo|zoneinfo|ZoneInfo|pytz|dateutil|freezegun|freeze_time|time_machine|"
    r"utcnow|fromtimestamp|utcfromtimestamp|utcoffset|astimezone|strftime|strptime|localtime|gmtime|mktime|tzset|"
    r"tzlocal|tzutc|monotonic|perf_counter|isoformat|fromisoformat|isocalendar|toordinal|fromordinal|weekday|"
    r"isoweekday)\b"
    r"|\b(?:arrow|pendulum|calendar|date|dt)\.\w|\btime\.(?:time|time_ns|sleep)\b|\bdate\(\s*\d{4}\b"
    r"|\.(?:now|today)\("
)
_IMPORT = re.compile(r"\s*(?:from\s+\S+\s+)?import\b")
_FUNCTION = re.compile(r"(\s*)(?:async\s+)?def\s+(\w+)")
_GIVES = re.compile(r"(\w+)\s*(?::[^=]+)?=[^=]")
_HUNK = re.compile(r"@@ [^@]* @@ ?(.*)")
_START_OF_FILE = ""


def time_dependent(hidden: Hidden) -> frozenset[str]:
    """The listed ids whose tests are about time, by the rule above."""
    functions = {path: timed_functions(pieces) for path, pieces in _sources(hidden)}
    found = {
        test_id
        for test_id in (*hidden.fail_to_pass, *hidden.pass_to_pass)
        if test_id.split("::")[-1].split("[")[0] in functions.get(test_id.split("::")[0], ())
    }
    return frozenset(found.union(hidden.fail_to_pass) if _fix_is_about_time(hidden.gold_patch) else found)


def _sources(hidden: Hidden) -> Iterator[tuple[str, list[str]]]:
    """Test files by path, each as pieces of source; a piece may begin inside a function, which its first line names."""
    whole = {path: forms["real"] for path, forms in hidden.trust.files.items() if "real" in forms}
    for path, text in whole.items():
        yield path, [text]
    for file in patch.parse(hidden.test_patch, trusted=True).files if hidden.test_patch else ():
        if file.path not in whole:
            yield file.path, list(_new_sides(file.raw.decode("utf-8", "replace")))


def _new_sides(raw: str) -> Iterator[str]:
    """The new side of each hunk, after the function that the hunk's header names."""
    for hunk in re.split(r"^(?=@@ )", raw, flags=re.MULTILINE)[1:]:
        head, *lines = hunk.split("\n")
        match = _HUNK.match(head)
        yield "\n".join([match[1] if match else "", *(line[1:] for line in lines if line[:1] in (" ", "+"))])


def timed_functions(pieces: list[str]) -> frozenset[str]:
    """The functions in a file's pieces that are about time."""
    bodies: dict[str, list[str]] = {}
    for piece in pieces:
        for name, line in _by_function(piece):
            bodies.setdefault(name, []).append(line)
    timed = {name for name, lines in bodies.items() if any(map(_has_word, lines))} - {_START_OF_FILE}
    names = {match[1] for line in bodies.get(_START_OF_FILE, ()) if _has_word(line) and (match := _GIVES.match(line))}
    while True:
        used = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names | timed)))})\b") if names | timed else None
        more = {name for name, lines in bodies.items() if used and any(map(used.search, lines))} - {_START_OF_FILE}
        if more <= timed:
            return frozenset(timed)
        timed |= more


def _by_function(piece: str) -> Iterator[tuple[str, str]]:
    """Each line with the function that it belongs to, decorators included; `_START_OF_FILE` for module level."""
    name, depth = _START_OF_FILE, -1
    waiting: list[str] | None = None  # decorators whose function is yet to come
    stretch: list[str] = []  # lines since the last blank one
    for line in piece.split("\n"):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        outermost = depth < 0 or indent <= depth
        match = _FUNCTION.match(line) if outermost else None
        if match:
            ends_decorator = waiting is None and stretch and stretch[-1].strip()[:1] in (")", "]")
            above = waiting or (stretch if ends_decorator else [])
            name, depth, waiting = match[2], indent, None
            yield from ((name, one) for one in [*above, line])
        elif waiting is not None or (outermost and bare.startswith("@")):
            waiting = [*(waiting or ()), line]
        else:
            if bare and outermost and (bare[0].isalpha() or bare[0] == "_"):
                name, depth = _START_OF_FILE, -1
            yield name, line
        stretch = [*stretch, line] if bare else []


def _has_word(line: str) -> bool:
    return _IMPORT.match(line) is None and _WORDS.search(line) is not None


def _fix_is_about_time(gold_patch: bytes) -> bool:
    lines = gold_patch.decode("utf-8", "replace").split("\n")
    return any(line[:1] in ("+", "-") and line[:3] not in ("+++", "---") and _has_word(line[1:]) for line in lines)

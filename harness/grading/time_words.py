"""Which hidden tests are about time: a static look at their source and at the fix. Pure.

The rule. A *time word* is a name of the clock, the calendar or a time zone, or of a library that freezes or models
them (`_WORDS`). A test function is about time if a time word stands in its body, its arguments or its decorators, or
if it uses a name that a line with a time word gives at module level, or a function of the same file that is about
time (a fixture, a helper). Imports do not count. Where the task holds a whole test file, which it does of
stripped ones, that is read; else the new side of the hunks in the test patch; of a test that the patch does not show,
nothing is known. Functions are told apart in Python alone. Where no FAIL_TO_PASS test is about time by its source, but
lines that the fix adds or removes hold a time word, they all are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.core.grouping import grouped
from harness.core.instance import Hidden
from harness.patches import patch

_WORDS = re.compile(
    r"\b(?:datetime|timedelta|timezone|tzinfo|zoneinfo|ZoneInfo|pytz|dateutil|freezegun|freeze_time|time_machine|"
    r"utcnow|fromtimestamp|utcfromtimestamp|utcoffset|astimezone|strftime|strptime|localtime|gmtime|mktime|tzset|"
    r"tzlocal|tzutc|monotonic|perf_counter|isoformat|fromisoformat|isocalendar|toordinal|fromordinal|weekday|"
    r"isoweekday)\b"
    r"|\b(?:arrow|pendulum|calendar|date|dt)\.\w|\btime\.(?:time|time_ns|sleep)\b|\bdate\(\s*\d{4}\b"
    r"|\.(?:now|today)\("
    r"|\bnew Date\b|\bDate\.(?:now|parse|UTC)\b|\b[gs]et(?:UTC)?FullYear\b|\b(?:getTimezoneOffset|toISOString)\b"
    r"|\b(?:dayjs|moment|luxon)\b|\bTemporal\.\w"  # JavaScript
    r"|\btime\.(?:Now|Date|Parse|ParseInLocation|Unix|UnixMilli|Since|Until|LoadLocation|FixedZone|UTC|RFC\w+)\b"  # Go
    r"|\b(?:LocalDate|LocalTime|LocalDateTime|ZonedDateTime|OffsetDateTime|ZoneOffset|SimpleDateFormat|DateTimeFormatter"
    r"|TimeZone|GregorianCalendar|currentTimeMillis|nanoTime)\b|\b(?:ZoneId|Calendar)\.\w"  # Java
    r"|\b(?:SystemTime|NaiveDate|NaiveTime|NaiveDateTime|DateTime|chrono)\b|\bInstant::now\b"  # Rust
)
_IMPORT = re.compile(r"\s*(?:from\s+\S+\s+)?import\b")
_FUNCTION = re.compile(r"(\s*)(?:async\s+)?def\s+(\w+)")
_GIVES = re.compile(r"(\w+)\s*(?::[^=]+)?=[^=]")
_HUNK = re.compile(r"@@ [^@]* @@ ?(.*)")
_START_OF_FILE = ""


@dataclass(frozen=True, kw_only=True)
class TimeTests:
    """The listed ids by what their source says; an id is in neither where its source is not to be seen."""

    about_time: frozenset[str] = frozenset()
    about_else: frozenset[str] = frozenset()


def time_tests(hidden: Hidden) -> TimeTests:
    """Which listed tests are about time, by the rule above."""
    functions = {path: _functions(pieces) for path, pieces in _sources(hidden)}
    listed = hidden.listed
    by_test = {test_id: functions.get(test_id.split("::")[0], {}).get(_function_of(test_id)) for test_id in listed}
    timed = {test_id for test_id, is_timed in by_test.items() if is_timed}
    if timed.isdisjoint(hidden.fail_to_pass) and _fix_is_about_time(hidden.gold_patch):
        timed |= set(hidden.fail_to_pass)
    plain = {test_id for test_id, is_timed in by_test.items() if is_timed is False}
    return TimeTests(about_time=frozenset(timed), about_else=frozenset(plain - timed))


def _function_of(test_id: str) -> str:
    return test_id.split("[", maxsplit=1)[0].rsplit("::", maxsplit=1)[-1]


def _sources(hidden: Hidden) -> Iterator[tuple[str, list[str]]]:
    """Test files by path, as pieces of source; the first line of each is where a hunk's header says that it stands."""
    whole = dict(hidden.expectations.files)
    for path, text in whole.items():
        yield path, ["\n" + text]
    for file in patch.parse(hidden.test_patch, trusted=True).files if hidden.test_patch else ():
        if file.path not in whole:
            yield file.path, list(_new_sides(file.raw.decode("utf-8", "replace")))


def _new_sides(raw: str) -> Iterator[str]:
    """The new side of each hunk, after the function that the hunk's header names."""
    for hunk in re.split(r"^(?=@@ )", raw, flags=re.MULTILINE)[1:]:
        head, *lines = hunk.split("\n")
        match = _HUNK.match(head)
        yield "\n".join([match[1] if match else "", *(line[1:] for line in lines if line[:1] in (" ", "+"))])


def _functions(pieces: list[str]) -> dict[str, bool]:
    """The functions in a file's pieces, and whether they are about time.

    One that only a hunk's header names is no part of it unless it is: what is not shown may be.
    """
    bodies = grouped((name, line) for piece in pieces for name, line in _by_function(piece))
    timed = {name for name, lines in bodies.items() if any(map(_has_word, lines))} - {_START_OF_FILE}
    names = {match[1] for line in bodies.get(_START_OF_FILE, ()) if _has_word(line) and (match := _GIVES.match(line))}
    while True:
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names | timed)))})\b") if names | timed else None
        more = {name for name, lines in bodies.items() if pattern and any(map(pattern.search, lines))}
        more -= {_START_OF_FILE}
        if more <= timed:
            defined = {
                match[2] for piece in pieces for line in piece.split("\n")[1:] if (match := _FUNCTION.match(line))
            }
            return {name: name in timed for name in bodies if name in timed or name in defined}
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
            yield from ((name, line_of) for line_of in [*above, line])
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

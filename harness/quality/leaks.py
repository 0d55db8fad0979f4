"""What a statement gives away of the fix, and what it leaves untold that the hidden tests ask for. Pure.

docs/quality.md states every formula; `FORMULA` counts up when one changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from packaging.version import InvalidVersion, Version

from harness.dataset.similarity import shingles
from harness.quality.base import Names, Reader, Subject
from harness.quality.change import FileChange

FORMULA = 1
GRAM = 5
"""Tokens in an n-gram of code, see `shingles`."""
_TELLING = 8
"""Characters of a line, blanks aside, from which it is no chance that a text has it too."""
_PART = 8
"""Characters from which one text being part of another is no chance."""
_SHORTEST_TEXT = 3
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_LINK = re.compile(
    r"https?://[^\s/]+/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)/(?:-/)?"
    r"(?P<kind>pulls?|merge_requests|commits?|compare|releases?)/(?P<rest>[^\s)>\]\"']+)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w/])(?:#|GH-|!)(\d+)\b")
_VERSION = re.compile(
    r"\b(?:fixed|solved|resolved|corrected|released?|shipped|available|landed|included|upgrad\w+|updat\w+)\s+"
    r"(?:(?:in|by|with|to|as|from|version|release|v)\s*){1,3}\s*v?(?P<version>\d+(?:\.\d+)+\w*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Pointers:
    """How often the statement points to where the fix is."""

    shas: int = 0
    """Commits that base_commit's history does not hold."""
    links: int = 0
    """To a later pull request, commit, comparison or release of the repository."""
    numbers: int = 0
    """The change's own number."""
    versions: int = 0
    """Newer than base_commit's, where the statement says that they hold a fix."""

    @property
    def total(self) -> int:
        return self.shas + self.links + self.numbers + self.versions


@dataclass(frozen=True, kw_only=True)
class Leaks:
    """What was found; shares from 0 to 1, None where there is nothing to take a share of or it can't be told."""

    lines: float | None
    """Of the lines that the fix adds: quoted in the statement."""
    ngrams: float | None
    """Of the runs of `GRAM` tokens that only the fix has: found in the statement."""
    names: float | None
    """Of the names that the fix brings: told by the statement."""
    pointers: Pointers
    unshown_names: tuple[str, ...] | None
    """Names that hidden tests ask for, the fix brings, and neither statement nor tree shows. Hidden."""
    unshown_texts: tuple[str, ...] | None
    """The same of string literals, such as messages. Hidden."""
    quoted_lines: tuple[str, ...] = ()
    """Hidden."""
    told_names: tuple[str, ...] = ()
    """Hidden."""

    @property
    def overlap(self) -> float | None:
        """The larger of `lines` and `ngrams`."""
        shares = [share for share in (self.lines, self.ngrams) if share is not None]
        return max(shares) if shares else None

    def public(self) -> dict[str, object]:
        """`quality.leaks` of task.yaml: counts and shares alone."""
        return {
            "formula": FORMULA,
            "overlap": self.overlap,
            "lines": self.lines,
            "ngrams": self.ngrams,
            "names": self.names,
            **asdict(self.pointers),
            "unshown_names": None if self.unshown_names is None else len(self.unshown_names),
            "unshown_texts": None if self.unshown_texts is None else len(self.unshown_texts),
        }

    def hidden(self) -> dict[str, object]:
        """`evidence.leaks` of tests.json: what was counted."""
        return {
            "quoted_lines": list(self.quoted_lines),
            "told_names": list(self.told_names),
            "unshown_names": list(self.unshown_names or ()),
            "unshown_texts": list(self.unshown_texts or ()),
        }


def leaks(subject: Subject) -> Leaks:
    """Measure what a statement leaks and leaves untold.

    Raises:
        PatchError: gold or test patch is none.

    """
    gold, tests = subject.gold(), subject.tests()
    fix, asking = (_names(changes, subject.base.reader) for changes in (gold, tests))
    line_share, quoted = _quoted(gold, subject)
    names_brought = _new_names(fix, subject)
    named_names = tuple(name for name in names_brought or () if _says(subject.statement, name))
    return Leaks(
        lines=line_share,
        ngrams=_gram_share(gold, subject.statement),
        names=_share(len(named_names), len(names_brought or ())),
        pointers=pointers(subject),
        unshown_names=_unshown_names(names_brought, gold, asking, subject),
        unshown_texts=_unshown_texts(fix, asking, subject),
        quoted_lines=quoted,
        told_names=named_names,
    )


@dataclass(frozen=True, kw_only=True)
class SharedWithTests:
    """What a statement has of the hidden tests; shares from 0 to 1, None where there is nothing to take a share of."""

    lines: float | None
    """Of the lines that the test patch adds: quoted in the statement."""
    ngrams: float | None
    """Of the runs of `GRAM` tokens that only the changed tests have: found in the statement."""
    ngrams_of_fix: float | None
    """Of the runs that only the fix has and that are not the tests' as well: found in the statement."""
    quoted_lines: tuple[str, ...] = ()
    """Hidden."""

    def public(self) -> dict[str, object]:
        """Shares alone."""
        return {"lines": self.lines, "ngrams": self.ngrams, "ngrams_of_fix": self.ngrams_of_fix}


def shared_with_tests(subject: Subject) -> SharedWithTests:
    """Measure what a statement has of the hidden tests, by the formulae of `lines` and `ngrams`.

    Raises:
        PatchError: gold or test patch is none.

    """
    gold, tests = subject.gold(), subject.tests()
    lines, quoted = _quoted(tests, subject)
    return SharedWithTests(
        lines=lines,
        ngrams=_gram_share(tests, subject.statement),
        ngrams_of_fix=_gram_share(gold, subject.statement, beside=tests),
        quoted_lines=quoted,
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _quoted(gold: Sequence[FileChange], subject: Subject) -> tuple[float | None, tuple[str, ...]]:
    """The share of telling lines that the statement holds, white space aside, and those lines.

    A line that some file of the tree has too gives nothing away.
    """
    lines = {
        line for change in gold for raw in change.added.values() if (line := raw.decode("utf-8", "replace").strip())
    }
    lines_wanted = [line for line in sorted(lines) if _tells(_squeezed(line)) and not subject.base.shows_text(line)]
    statement = _squeezed(subject.statement)
    quoted = tuple(line for line in lines_wanted if _squeezed(line) in statement)
    return _share(len(quoted), len(lines_wanted)), quoted


def _tells(line: str) -> bool:
    return len(line) >= _TELLING and any(sign.isalpha() for sign in line)


def _gram_share(gold: Sequence[FileChange], statement: str, *, beside: Sequence[FileChange] = ()) -> float | None:
    """The share of the n-grams that only the fixed files have which the statement has too.

    What the files of `beside` have after their change does not count.
    """
    only = _grams(map(_new_side, gold)) - _grams(map(_old_side, gold)) - _grams(map(_new_side, beside))
    return _share(len(only & _grams([statement.encode("utf-8", "replace")])), len(only))


def _new_side(change: FileChange) -> bytes:
    return change.after if change.after is not None else b"\n".join(change.added.values())


def _old_side(change: FileChange) -> bytes:
    return change.before if change.before is not None else b"\n".join(change.removed.values())


def _grams(texts: Iterable[bytes]) -> set[int]:
    """The runs of `GRAM` tokens that any of the texts has."""
    return set().union(*(shingles.hashes(shingles.tokens(shingles.plain(text)), GRAM) for text in texts))


def _names(changes: Sequence[FileChange], reader: Reader) -> tuple[Names, ...] | None:
    """What new lines of source files have, by file; None where one of them can't be read."""
    sources = [change for change in changes if reader.is_source(change.path) and change.added]
    names = [
        reader.names(change.path, change.after, change.added.keys()) if change.after is not None else None
        for change in sources
    ]
    return tuple(file_names for file_names in names if file_names) if all(names) else None


def _new_names(fix: Sequence[Names] | None, subject: Subject) -> tuple[str, ...] | None:
    """Names that the fix binds and that stand nowhere in the tree; None where that can't be told."""
    if fix is None:
        return None
    bound = frozenset().union(*(names.introduced for names in fix))
    return tuple(name for name in sorted(bound) if not subject.base.shows_name(name))


def _says(statement: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", statement) is not None


def unshown(texts_wanted: Iterable[str], subject: Subject) -> tuple[str, ...]:
    """Of names, those that neither statement nor tree shows; of a dotted one each part has to be shown."""
    return tuple(
        name
        for name in texts_wanted
        if not all(_says(subject.statement, part) or subject.base.shows_name(part) for part in name.split("."))
    )


def _unshown_names(
    names_brought: tuple[str, ...] | None,
    gold: Sequence[FileChange],
    asking: Sequence[Names] | None,
    subject: Subject,
) -> tuple[str, ...] | None:
    """Names that new lines of the tests ask for and only the fix has: new to the tree, or new to what is called."""
    if names_brought is None or asking is None:
        return None
    asked_names = frozenset().union(*(names.asked for names in asking))
    keyword_pairs = frozenset().union(*(names.keywords for names in asking))
    reader = subject.base.reader
    after, before = (
        {
            keyword
            for change in gold
            if reader.is_source(change.path) and (source := getattr(change, side)) is not None
            for keyword in reader.parameters(change.path, source)
        }
        for side in ("after", "before")
    )
    names_wanted = {*asked_names.intersection(names_brought), *(word for _, word in keyword_pairs & (after - before))}
    return tuple(name for name in sorted(names_wanted) if not _says(subject.statement, name))


def _unshown_texts(
    fix: Sequence[Names] | None, asking: Sequence[Names] | None, subject: Subject
) -> tuple[str, ...] | None:
    if fix is None or asking is None:
        return None
    brought_texts = frozenset().union(*(names.texts for names in fix))
    wanted_texts = frozenset().union(*(names.texts for names in asking))
    shared = {part for text in wanted_texts for brought_text in brought_texts if (part := _common(text, brought_text))}
    statement = _squeezed(subject.statement).lower()
    return tuple(
        part
        for part in sorted(shared)
        if _squeezed(part).lower() not in statement and not subject.base.shows_text(part)
    )


def _common(left: str, other: str) -> str:
    """The shorter of two texts where it is all of the other or a telling part of it, else nothing."""
    shorter, longer = sorted((left, other), key=len)
    if len(shorter) < _SHORTEST_TEXT or not any(sign.isalpha() for sign in shorter):
        return ""
    return shorter if shorter == longer or (len(shorter) >= _PART and shorter in longer) else ""


def pointers(subject: Subject) -> Pointers:
    """Where a statement points to the fix, or may: what stands in base_commit's history does not count."""
    text = subject.statement
    links = [match for match in _LINK.finditer(text) if _leads(match, subject)]
    outside = _LINK.sub(" ", text)
    return Pointers(
        shas=sum(sha[0] not in subject.earlier for sha in _SHA.finditer(outside)),
        links=len(links),
        numbers=sum(int(match[1]) == subject.number for match in _NUMBER.finditer(outside)),
        versions=sum(_is_newer(match["version"], subject.version) for match in _VERSION.finditer(text)),
    )


def shas(statement: str) -> tuple[str, ...]:
    """Words of a statement that may be a commit's SHA, whole or abbreviated."""
    return tuple(dict.fromkeys(match[0] for match in _SHA.finditer(statement)))


def _leads(match: re.Match[str], subject: Subject) -> bool:
    """Whether a link can lead to the fix: to the same repository or a fork of it, and to nothing that came before."""
    if match["name"].lower() != subject.repo.partition("/")[2].lower():
        return False
    kind, tail = match["kind"].lower(), match["rest"]
    if kind.startswith("commit"):
        return re.split(r"[/#?.]", tail)[0] not in subject.earlier
    digits = re.match(r"\d+", tail)
    if kind.startswith(("pull", "merge")) and digits and subject.number is not None:
        return int(digits[0]) >= subject.number
    if kind.startswith("release"):
        return _is_newer(tail.rpartition("/")[2], subject.version)
    return True


def _is_newer(candidate: str, version: str | None) -> bool:
    """Whether a version is newer than the project's; so it is taken where one of them is no version."""
    try:
        return version is None or Version(candidate.lstrip("v").rstrip(".")) > Version(version)
    except InvalidVersion:
        return True

"""Verifying a ledger's chain, and joining two branches of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.core.errors import AnswerIsNoError, InputError
from harness.dataset.folder import Dataset
from harness.dataset.ledger import binding, custody, ledger
from harness.dataset.ledger.entry import GENESIS, LEDGER_VERSION, Entry, Event, Line, lines, render, torn_note
from harness.dataset.ledger.key import holds, listed_keys

SHORT = 12
"""Digits of a hash that messages show, and the fewest that `--head` takes."""
_NAMED = 5
_CONFLICT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that should not be in a ledger."""

    line: int | None
    """Of the file, from 1; None where it is about the whole."""
    text: str
    unreadable: bool = False
    """A task that cannot be read, so that nothing is judged by it."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of verifying a ledger."""

    entries: int
    head: str | None
    """Hash of the newest line."""
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    """Remarks for a person that are no problem."""
    unsigned: tuple[int, ...]
    """Numbers of the lines without a signature."""

    def as_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "entries": self.entries,
            "head": self.head,
            "problems": [{"line": problem.line, "what": problem.text} for problem in self.problems],
            "notes": list(self.notes),
            "unsigned": list(self.unsigned),
        }


def verify(dataset: Dataset, *, head: str | None = None) -> Verification:
    """Look for changed, missing, reordered and repeated lines, and, where a head is remembered, for a cut end.

    Args:
        dataset: whose ledger it is.
        head: hash of a line that is known to have been there, or its first 12 digits or more.

    Raises:
        InputError: the ledger cannot be read, dataset.yaml lists what is no key, or `head` is no hash.

    """
    model = dataset.description()
    checked = lines(ledger.read_ledger(dataset.path / ledger.LEDGER_FILE))
    walk = _Walk(checked)
    problems = [*walk.problems, *_signatures(walk.entries, listed_keys(model.ledger_keys))]
    entries = [entry for _, entry in walk.entries]
    if head is not None:
        problems += _head(head, entries)
    if entries and entries[0].facts.get("canary", dataset.canary) != dataset.canary:
        problems.append(Problem(line=walk.entries[0][0], text="it belongs to another dataset: its canary is not ours"))
    compared = custody.compare(dataset, binding.replay(entries))
    problems += (Problem(line=None, text=difference) for difference in compared.differences)
    problems += (Problem(line=None, text=problem, unreadable=True) for problem in compared.broken)
    return Verification(
        entries=len(entries),
        head=entries[-1].hash if entries else None,
        problems=tuple(sorted(problems, key=lambda problem: problem.line or 0)),
        notes=(*walk.notes, *compared.notes()),
        unsigned=tuple(number for number, entry in walk.entries if entry.signature is None),
    )


def require(dataset: Dataset) -> tuple[str, ...]:
    """See that a dataset is what its ledger binds, before anything is judged by it; what it does not bind is returned.

    Tasks that cannot be read are no matter here: whoever asks for one is told so.

    Raises:
        AnswerIsNoError: it is not, or the ledger itself does not verify; the message names what differs.
        InputError: the ledger or dataset.yaml cannot be read.

    """
    verification = verify(dataset)
    problems = [problem for problem in verification.problems if not problem.unreadable]
    if problems:
        sentences = [
            f"line {problem.line}: {problem.text}" if problem.line else problem.text for problem in problems[:_NAMED]
        ]
        more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
        raise AnswerIsNoError(
            f"{dataset.path} is not what its ledger says: {'; '.join(sentences)}{more}",
            hint="`goldseam holdout log DATASET --verify` names every difference; restore what somebody else changed, "
            "run a command again that was killed, or `goldseam holdout bind DATASET --accept` binds it as it is now",
        )
    return verification.notes


class _Walk:
    """One pass over the lines: every rule of the chain in one place."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.entries: list[tuple[int, Entry]] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self._every = {line.entry.hash for line in lines if line.entry}
        self._seen: dict[str, Entry] = {}
        self._followed: set[str] = set()
        broken: list[Line] = []
        for line in lines:
            if line.entry is None:
                broken.append(line)
                continue
            self._torn(line, line.entry, broken)
            broken = []
            self._entry(line, line.entry)
        self._cut_end(broken)
        self._open_branches()

    def _problem(self, line: int | None, text: str) -> None:
        self.problems.append(Problem(line=line, text=text))

    def _torn(self, line: Line, entry: Entry, broken: Sequence[Line]) -> None:
        if entry.facts.get("torn", []) == torn_note(broken):
            self.notes += [f"line {cut.number} was cut short; line {line.number} says so" for cut in broken]
            return
        for line_cut in broken:
            self._problem(line_cut.number, _unexplained(line_cut))
        if "torn" in entry.facts:
            self._problem(line.number, "it vouches for earlier lines that are not the ones before it")

    def _cut_end(self, broken: Sequence[Line]) -> None:
        for line in broken:
            if line.text.startswith(_CONFLICT):
                self._problem(line.number, _unexplained(line))
            else:
                self.notes.append(f"line {line.number}, the last, was cut short; the next line written will say so")

    def _entry(self, line: Line, entry: Entry) -> None:
        number = line.number
        if not line.intact:
            self._problem(number, "it was changed: its hash is not the hash of what it says")
        if entry.schema_version > LEDGER_VERSION:
            self._problem(number, f"schema_version {entry.schema_version} is of a newer goldseam; upgrade to verify it")
        if entry.hash in self._seen:
            self._problem(number, "it is repeated")
            return
        self._order(number, entry)
        self._followed.add(entry.prev)
        self._followed.update(_joins(entry))
        self._seen[entry.hash] = entry
        self.entries.append((number, entry))

    def _order(self, number: int, entry: Entry) -> None:
        before = self.entries[-1][1].hash if self.entries else GENESIS
        follows = entry.prev == GENESIS or entry.prev in self._seen
        if not follows:
            reason = "comes later: lines were reordered" if entry.prev in self._every else "is missing, or was changed"
            self._problem(number, f"the line that it follows ({entry.prev[:SHORT]}…) {reason}")
            return
        if before not in (entry.prev, *_joins(entry)) and entry.prev not in self._followed:
            self._problem(number, "it does not follow the line before it: lines were reordered")
        if unknown := [tip for tip in _joins(entry) if tip not in self._seen]:
            self._problem(number, f"it joins a branch that is missing ({unknown[0][:SHORT]}…)")
        parents = [self._seen[digest].seq for digest in (entry.prev, *_joins(entry)) if digest in self._seen]
        if entry.seq != max(parents, default=0) + 1:
            self._problem(number, f"its number is {entry.seq}, expected {max(parents, default=0) + 1}")

    def _open_branches(self) -> None:
        for number, entry in self.entries[:-1]:
            if entry.hash not in self._followed:
                self._problem(
                    number,
                    "a branch of the ledger ends here, as after a merge in git; "
                    "`goldseam holdout log DATASET --join DATASET` joins it",
                )


def _unexplained(line: Line) -> str:
    if line.text.startswith(_CONFLICT):
        return "git's mark of a conflict: delete such lines, keep all others, then join the branches with --join"
    return f"it is broken ({line.problem}), and no later line explains it"


def _joins(entry: Entry) -> tuple[str, ...]:
    if entry.event != Event.JOINED:
        return ()
    joins = entry.facts.get("joins")
    return tuple(digest for digest in joins if isinstance(digest, str)) if isinstance(joins, list) else ()


def _signatures(entries: Iterable[tuple[int, Entry]], listed: frozenset[str]) -> list[Problem]:
    problems = []
    for number, entry in entries:
        if (entry.signature is None) != (entry.key is None):
            reason = (
                "its signature was taken away" if entry.signature is None else "it has a signature but names no key"
            )
            problems.append(Problem(line=number, text=reason))
        elif entry.signature is not None and entry.key is not None:
            if not holds(entry.key, entry.signature, entry.hash):
                problems.append(Problem(line=number, text="its signature does not hold"))
            elif entry.key not in listed:
                reason = f"it is signed by a key that ledger_keys of dataset.yaml does not list: {entry.key}"
                problems.append(Problem(line=number, text=reason))
    return problems


def _head(head: str, entries: Iterable[Entry]) -> list[Problem]:
    prefix = head.strip().lower().rstrip("…")
    if len(prefix) < SHORT or not set(prefix) <= set("0123456789abcdef"):
        raise InputError(f"{head!r} is not a head of a ledger: expected {SHORT} hex digits or more")
    if any(entry.hash.startswith(prefix) for entry in entries):
        return []
    return [Problem(line=None, text=f"the line {prefix[:SHORT]}… is not there: the end was cut off, or rewritten")]


@dataclass(frozen=True, kw_only=True)
class Join:
    """The result of joining two branches."""

    added: int
    """Lines of the other branch that ours lacked."""
    entry: Entry | None
    """The line that joins them; None where there was nothing to join."""


def _tips(entries: Sequence[Entry]) -> list[Entry]:
    """Entries that nothing follows, oldest first."""
    followed = {digest for entry in entries for digest in (entry.prev, *_joins(entry))}
    return [entry for entry in entries if entry.hash not in followed]


def join(dataset: Dataset, other: Path) -> Join:
    """Append the lines of another branch of the ledger that this one lacks, unchanged, and a line that joins both.

    Args:
        dataset: whose ledger is appended to.
        other: a dataset folder, or a ledger's file such as `git show BRANCH:ledger.jsonl` gave; the dataset's own
            joins branches that a merge in git has put into one file already.

    Raises:
        InputError: the other is no ledger of this dataset, or is broken.

    """
    source = other / ledger.LEDGER_FILE if other.is_dir() else other
    if not source.is_file():
        raise InputError(f"there is no ledger at {source}")
    theirs = lines(ledger.read_ledger(source))
    _whole(theirs, source)
    path = dataset.path / ledger.LEDGER_FILE
    if (before := lines(ledger.read_ledger(path))) and before[-1].entry is None:
        ledger.append(path, Event.JOINED, facts={"joins": []})  # says what was cut short, before others' lines follow
    writer = ledger.Writer(path)
    with ledger.locked(path) as handle:
        ours = lines(ledger.read_ledger(path))
        _whole(ours, path)
        hashes = {line.entry.hash for line in ours if line.entry}
        _same_origin(ours, theirs, source)
        new = _lacking(theirs, hashes)
        added = [line.entry for line in new if line.entry]
        entries = [*(line.entry for line in ours if line.entry), *added]
        tips = _tips(entries)
        start = b"" if not ours or ours[-1].ended else b"\n"
        text = b"".join(line.text + b"\n" for line in new)
        if len(tips) < 2:  # noqa: PLR2004 - two branches, or nothing to join
            if text:
                ledger.write_end(handle, start + text)
            return Join(added=len(added), entry=None)
        last = entries[-1]
        joins = [tip.hash for tip in tips if tip.hash != last.hash]
        seq = max(tip.seq for tip in tips) + 1
        fields = writer.fields(Event.JOINED, (), {"joins": joins}, prev=last.hash, seq=seq)
        line = render(fields)
        ledger.write_end(handle, start + text + line + b"\n")
    return Join(added=len(added), entry=lines(line)[0].entry)


def _lacking(theirs: Sequence[Line], hashes: set[str]) -> list[Line]:
    """The lines that we lack, each with the broken ones before it, which it tells of."""
    lacking: list[Line] = []
    broken: list[Line] = []
    for line in theirs:
        if line.entry is None:
            broken.append(line)
            continue
        if line.entry.hash not in hashes:
            lacking += [*broken, line]
        broken = []
    return lacking


def _whole(entries: Sequence[Line], path: Path) -> None:
    problems = _Walk(entries).problems
    bad = [problem for problem in problems if "branch of the ledger ends here" not in problem.text]
    if bad:
        raise InputError(
            f"{path}, line {bad[0].line}: {bad[0].text}", hint="only ledgers that verify can be joined; fix it first"
        )


def _same_origin(ours: Sequence[Line], theirs: Sequence[Line], source: Path) -> None:
    mine = next((line.entry for line in ours if line.entry), None)
    other = next((line.entry for line in theirs if line.entry), None)
    if mine and other and mine.hash != other.hash and mine.facts.get("canary") != other.facts.get("canary"):
        raise InputError(f"{source} is the ledger of another dataset: its first line has another canary")

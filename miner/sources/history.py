"""The changes of a branch, newest first: each with messages, files and the reason against it that git alone gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness.core.errors import InputError
from miner.sources.bare import BareRepository
from miner.sources.change import Change, ChangedFile, PullRequest, Rejection, Stage
from miner.sources.messages import is_revert_title, read_message
from miner.sources.walk import CHUNK, Entry, Walk

MAX_FILES = 100
"""A change that touches more is too large to be a task."""

_LFS = b"version https://git-lfs.github.com/spec/"
_LFS_LARGEST = 1024
_GITLINK = "160000"


@dataclass(frozen=True, kw_only=True)
class ChangeFilter:
    """Which changes to look at; everything by default."""

    since: datetime | None = None
    """Merged at this moment or later (an aware datetime)."""
    until: datetime | None = None
    """Merged at this moment or earlier."""
    numbers: frozenset[int] = frozenset()
    commits: frozenset[str] = frozenset()
    """Revisions: the merge commit, or a commit that came with it."""

    @property
    def picks(self) -> bool:
        return bool(self.numbers or self.commits)


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A change found in the history, its files, and the reason against it where git alone gives one."""

    change: Change
    files: tuple[ChangedFile, ...] = ()
    rejection: Rejection | None = None


def sightings(
    repo: BareRepository,
    change_filter: ChangeFilter | None = None,
    *,
    requests: Sequence[PullRequest] = (),
    after: str | None = None,
    missing: Callable[[InputError], None] | None = None,
) -> Iterator[Sighting]:
    """Changes of the default branch, newest first, each with its files and perhaps a rejection.

    `requests` is what a forge says of its pull requests: their numbers and words, and those merged into other branches.
    `after` is the tip of an earlier look: only what came since is seen again, and what has been reverted since.
    `missing` is told of each pull request or commit that was asked for and is not there, if others are.

    Raises:
        InputError: nothing of what was asked for is there, or a part where `missing` is not given.

    """
    change_filter = change_filter or ChangeFilter()
    walk = Walk(repo, requests)
    entries = _select(walk, change_filter, missing)
    if after is not None:
        entries = _since(walk, entries, after)
    for start in range(0, len(entries), CHUNK):
        yield from _details(walk, entries[start : start + CHUNK], picked=change_filter.picks)


def _since(walk: Walk, entries: Sequence[Entry], tip: str) -> list[Entry]:
    """What a tip did not reach yet, and what changes since have reverted."""
    position = walk.graph.position(tip)
    if position is None:
        return list(entries)

    def is_new(sha: str) -> bool:
        arrival = walk.graph.arrival(sha) if sha in walk.graph else None
        return arrival is None or arrival > position

    return [entry for entry in entries if is_new(entry.commit.sha) or (entry.reverted_by and is_new(entry.reverted_by))]


def _select(walk: Walk, change_filter: ChangeFilter, missing: Callable[[InputError], None] | None) -> list[Entry]:
    if change_filter.picks:
        entries, problems = _pick(walk, change_filter)
        for problem in problems:
            if missing is None or not entries:
                raise problem
            missing(problem)
    else:
        shas = {entry.commit.sha for entry in walk.entries}
        numbers = {entry.number for entry in walk.entries}
        others = (
            pull for pull in walk.requests.values() if pull.number not in numbers and pull.merge_commit not in shas
        )
        entries = [*walk.entries, *(walk.elsewhere(pull) for pull in others)]
    since = change_filter.since.timestamp() if change_filter.since else float("-inf")
    until = change_filter.until.timestamp() if change_filter.until else float("inf")
    return [entry for entry in entries if since <= entry.commit.time <= until]


def _pick(walk: Walk, change_filter: ChangeFilter) -> tuple[list[Entry], list[InputError]]:
    """The entries of what was asked for, newest first, and an error for each that is not there."""
    picked: dict[str, Entry] = {}
    problems: list[InputError] = []
    by_number = {entry.number: entry for entry in walk.entries if entry.number is not None}
    for number in sorted(change_filter.numbers, reverse=True):
        if (entry := _find(walk, by_number, number)) is None:
            sight = "its head is there, but it was not merged" if number in walk.pulls else "nothing names it"
            branch = f"{walk.repo.default_branch()} of {walk.repo.name}"
            problems.append(
                InputError(
                    f"pull request {number} is not in the history of {branch}: {sight}",
                    hint="fetch the branch it was merged into, or pick its merge with --commit",
                )
            )
            continue
        picked[entry.commit.sha] = entry
    for revision in sorted(change_filter.commits):
        try:
            entry = walk.entry_of(walk.repo.resolve(revision))
        except InputError as error:
            problems.append(error)
            continue
        picked[entry.commit.sha] = entry
    order = {entry.commit.sha: place for place, entry in enumerate(walk.entries)}
    return sorted(picked.values(), key=lambda entry: order.get(entry.commit.sha, -1)), problems


def _find(walk: Walk, by_number: dict[int, Entry], number: int) -> Entry | None:
    """A pull request wherever it went: the default branch, another one's merge, another branch."""
    if entry := by_number.get(number) or walk.entry_of_pull(number):
        return entry
    if pull := walk.requests.get(number):
        return walk.elsewhere(pull)
    return walk.entry_on_other_branch(number)


def _details(walk: Walk, entries: Sequence[Entry], *, picked: bool) -> Iterator[Sighting]:
    """Sightings of some entries: messages, files and the rejections that git alone can tell."""
    shas = [sha for entry in entries if not entry.reason for sha in entry.own if sha != entry.commit.sha]
    messages = {commit.sha: commit.message for commit in walk.read(shas)}
    pairs = [(entry.base, entry.head) for entry in entries if entry.base]
    changed_files = iter(walk.repo.changed_files_of(pairs)) if pairs else iter(())
    files = {id(entry): next(changed_files) for entry in entries if entry.base}
    lfs = _lfs_blobs(walk.repo, [file for touched in files.values() for file in touched])
    for entry in entries:
        own = tuple(
            messages.get(sha, "") or (entry.commit.message if sha == entry.commit.sha else "") for sha in entry.own
        )
        pull = walk.requests.get(entry.number or 0)
        change = _change(walk.repo.name, entry, tuple(message for message in own if message), pull)
        touched = files.get(id(entry), ())
        rejection = _reject(walk, entry, touched, lfs)
        if picked and rejection and rejection.reason == "duplicate":
            rejection = None  # whoever names a backport means that one
        yield Sighting(change=change, files=touched, rejection=rejection)


def _change(repo: str, entry: Entry, messages: tuple[str, ...], pull: PullRequest | None) -> Change:
    message = entry.commit.parsed
    if not message.title and messages:
        first = read_message(messages[0])
        message = replace(first, number=None) if len(messages) == 1 else replace(first, body="", number=None)
    return Change(
        repo=repo,
        base_commit=entry.base or entry.head,
        head_commit=entry.head,
        merge_commit=entry.commit.sha,
        style=entry.style,
        created_at=datetime.fromtimestamp(entry.commit.time, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        title=(pull.title if pull else message.title) or entry.commit.message.partition("\n")[0],
        body=pull.body if pull else message.body,
        messages=messages,
        number=entry.number,
        labels=pull.labels if pull else (),
        reverted_by=entry.reverted_by,
    )


def _reject(walk: Walk, entry: Entry, files: tuple[ChangedFile, ...], lfs: frozenset[str]) -> Rejection | None:
    no = Stage.HISTORY.no
    if entry.reason:
        return no(entry.reason, entry.detail)
    if not files:
        return no("empty_change", "base and head have the same tree")
    if is_revert_title(entry.commit.parsed.title):
        return no("is_revert", entry.commit.parsed.title)
    if entry.reverted_by:
        return no("reverted", f"by {entry.reverted_by}")
    if picked := next((sha for sha in entry.commit.parsed.cherry_picked_from if walk.in_branch(sha)), None):
        return no("duplicate", f"cherry-picked from {picked}, which this branch holds too")
    if links := [file.path for file in files if _GITLINK in (file.old_mode, file.new_mode)]:
        return no("submodule", f"moves {links[0]}")
    if pointers := [file.path for file in files if lfs & {file.old_blob, file.new_blob}]:
        return no("lfs", f"{pointers[0]} is a Git LFS pointer")
    if len(files) > MAX_FILES:
        return no("too_large", f"{len(files)} files, more than {MAX_FILES}")
    return None


def _lfs_blobs(repo: BareRepository, files: Iterable[ChangedFile]) -> frozenset[str]:
    """Blobs that are Git LFS pointers: small, and with the first line that the LFS specification asks for."""
    blobs = {blob for file in files for blob in (file.old_blob, file.new_blob) if blob.strip("0")}
    lines = "\n".join(sorted(blobs)).encode()
    sizes = repo.git("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", input=lines)
    small = [
        words[0]
        for words in (line.split() for line in sizes.stdout.splitlines())
        if len(words) == 3 and words[1] == b"blob" and 100 < int(words[2]) < _LFS_LARGEST  # noqa: PLR2004
    ]
    contents = zip(small, repo.blobs(small), strict=True)
    return frozenset(sha.decode() for sha, content in contents if content and content.startswith(_LFS))

"""From a branch's history to changes: one line of first parents, each told apart as merge, squash, rebase or commit.

The rules for the true base (what the fix was made on):

- two parents: the change is merge-base(M^1, M^2)..M^2;
- one parent and a pull request's head whose patch id equals that of S^..S: squash, base S^;
- … equals that of S~n..S, with n the pull request's own commits and their authors and dates: rebase merge, base S~n;
- one parent and a number, but another patch than the pull request's: rejected, `base_unknown`;
- one parent and no pull request's head to compare with: squash where the subject has a number, else a plain commit.

Patch ids are compared without context lines, which move on while a pull request waits.
A merge of a whole branch that brings changes with numbers (`Merge branch '8.1.x'`, or a pull request `Merge stable into
main`) is rejected as `branch_merge`, and what it brings is looked at change by change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from harness.core.grouping import grouped
from miner.sources import submodules
from miner.sources.bare import MISSING, BareRepository
from miner.sources.change import ChangedFile, MergeStyle, PullRequest
from miner.sources.git import FORMAT, Commit, commits_of, parse_commits
from miner.sources.graph import CommitGraph
from miner.sources.messages import Message, is_branch_merge_title, reverted_commits, reverted_numbers

CHUNK = 200
"""How many changes are asked of git at a time."""

_LARGE = 100
"""A change that touches more files is left anyway (`history.MAX_FILES`): no need to compare its patch."""


@dataclass(kw_only=True)
class Entry:
    """One change in the making."""

    commit: Commit
    style: MergeStyle
    base: str = ""
    head: str = ""
    position: int | None = None
    """Chain position of its first parent; None inside a merged branch."""
    number: int | None = None
    own: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""
    reverted_by: str | None = None


_Case = tuple[Entry, int, str, str]
"""A commit with a number, how many commits its pull request has, and that one's base and head."""


class Walk:
    """The state of one pass over one repository."""

    def __init__(self, repo: BareRepository, requests: Sequence[PullRequest] = ()) -> None:
        """Walk a history; `requests` is what a forge says of its pull requests, which beats what messages say."""
        self.repo = repo
        self.pulls = repo.pull_heads()
        self.requests = {pull.number: pull for pull in requests}
        self._request_of = {pull.merge_commit: pull for pull in requests if pull.merge_commit}
        self._pull_of_head = {head: number for number, head in sorted(self.pulls.items(), reverse=True)}
        tip = repo.tip()
        graph_words = ("rev-list", "--topo-order", "--parents", tip, "--glob=refs/pull/*/head", "--")
        self.graph = CommitGraph(repo.lines(*graph_words), tip)
        commits = list(commits_of(repo, ("log", "--first-parent", "-z", FORMAT, tip, "--")))
        self.entries = self._unfold(commits)
        self._claim_numbers()
        self._compare_with_pulls()
        self._find_rebases()
        self._mark_reverts()

    # -- entries

    def _unfold(self, chain: Sequence[Commit]) -> list[Entry]:
        """An entry for each commit on the chain, and for those of merged branches that hold changes of their own."""
        lanes = self._lanes(chain)
        return [
            entry
            for place, commit in enumerate(chain)
            for entry in self._unfolded(commit, len(self.graph) - place - 2, lanes)
        ]

    def _unfolded(self, commit: Commit, position: int | None, lanes: Mapping[str, Sequence[Commit]]) -> list[Entry]:
        entry = self._entry(commit, position)
        if not _brings_numbers(commit, lanes):
            return [entry]
        lane = lanes[commit.sha]
        entry.reason, entry.detail = "branch_merge", f"merges {len(lane)} changes of another branch"
        return [entry, *(inner_entry for inner in lane for inner_entry in self._unfolded(inner, None, lanes))]

    def _lanes(self, chain: Sequence[Commit]) -> dict[str, list[Commit]]:
        """What each merge of a branch brings, also where that branch has merged another one (2.0.x, 2.x, main)."""
        lanes: dict[str, list[Commit]] = {}
        shas_taken: set[str] = set()
        level = [
            (commit, len(chain) - place - 2) for place, commit in enumerate(chain) if self._merges_a_branch(commit)
        ]
        while level:
            lanes_found: dict[str, tuple[str, ...]] = {}
            for commit, position in level:
                lane = self.graph.first_parent_lane(position, commit.parents[1], shas_taken)
                lanes_found[commit.sha] = lane
                shas_taken.update(lane)
            commits = {
                commit.sha: commit for commit in self.read([sha for lane in lanes_found.values() for sha in lane])
            }
            lanes.update((sha, [commits[inner] for inner in lane]) for sha, lane in lanes_found.items())
            level = [
                (inner, position)
                for commit, position in level
                for inner in reversed(lanes[commit.sha])  # the oldest merge is the one that brought a change
                if self._merges_a_branch(inner)
            ]
        return lanes

    def _merges_a_branch(self, commit: Commit) -> bool:
        if len(commit.parents) != 2:  # noqa: PLR2004
            return False
        anonymous = commit.parsed.number is None and commit.parents[1] not in self._pull_of_head
        return anonymous or is_branch_merge_title(commit.parsed.title)

    def read(self, shas: Sequence[str]) -> Iterator[Commit]:
        for start in range(0, len(shas), 5 * CHUNK):
            lines = "\n".join(shas[start : start + 5 * CHUNK]).encode()
            words = ("log", "--no-walk=unsorted", "--stdin", "-z", FORMAT, "--")
            yield from parse_commits(self.repo.git(*words, input=lines).stdout.split(b"\0"))

    def _entry(self, commit: Commit, position: int | None) -> Entry:
        parents = commit.parents
        if not parents:
            return Entry(
                commit=commit, style=MergeStyle.COMMIT, head=commit.sha, reason="root_commit", detail="no parent"
            )
        number = self._number_of(commit)
        if len(parents) == 1:
            style = MergeStyle.COMMIT if number is None else MergeStyle.SQUASH
            return Entry(
                commit=commit, style=style, base=parents[0], head=commit.sha, position=position, own=(commit.sha,),
                number=number,
            )  # fmt: skip
        entry = Entry(
            commit=commit, style=MergeStyle.MERGE, base=parents[0], head=parents[1], position=position,
            number=number or self._pull_of_head.get(parents[1]),
        )  # fmt: skip
        if len(parents) > 2:  # noqa: PLR2004
            entry.reason, entry.detail = "octopus_merge", f"{len(parents)} parents"
            return entry
        base = self._merge_base(parents[0], position, parents[1])
        if base is None:
            entry.reason, entry.detail = "base_unknown", "the merged branch shares no history with this one"
            return entry
        entry.base = base
        if position is not None:
            entry.own = self.graph.own_commits(position, parents[1])
        elif fork := self.graph.fork(parents[0], parents[1]):
            entry.own = fork[1]
        else:
            out = self.repo.git("rev-list", "--reverse", f"{parents[0]}..{parents[1]}", "--").stdout.decode()
            entry.own = tuple(out.split())
        return entry

    def _number_of(self, commit: Commit) -> int | None:
        """The forge's word first, then the message's, unless the forge knows that number by another commit."""
        if pull := self._request_of.get(commit.sha):
            return pull.number
        request = self.requests.get(commit.parsed.number or 0)
        return None if request and request.merge_commit else commit.parsed.number

    def elsewhere(self, pull: PullRequest) -> Entry:
        """A pull request that is no change of the default branch by itself, and what became of it."""
        sha = pull.merge_commit or pull.head_commit
        is_there = bool(sha) and self.repo.full_sha(sha) is not None
        if is_there and (arrival := self.graph.arrival(sha) if sha in self.graph else None) is not None:
            carrier = self.graph.at(arrival)
            entry = self._entry(next(self.read([sha])), None)
            if not entry.reason:
                entry.reason, entry.detail = "part_of_another", f"came into {self.repo.default_branch()} with {carrier}"
        elif is_there and pull.merge_commit:
            entry = self._entry(next(self.read([sha])), None)
        else:
            empty = Commit(sha=sha, parents=(), time=_seconds(pull.merged_at), author=("", "", ""), message="",
                           parsed=Message(title=pull.title, body=pull.body))  # fmt: skip
            entry = Entry(commit=empty, style=MergeStyle.COMMIT, head=sha, reason="not_in_history",
                          detail=f"merged into {pull.base_branch}, of which the clone has nothing")  # fmt: skip
        entry.number = pull.number
        return entry

    def _merge_base(self, parent: str, position: int | None, head: str) -> str | None:
        if position is not None:
            base, is_known = self.graph.merge_base(position, head)
            if is_known:
                return base
        if (fork := self.graph.fork(parent, head)) and len(fork[0]) == 1:
            return fork[0][0]
        return self.repo.merge_base(parent, head)

    def entry_of(self, sha: str) -> Entry:
        """The change that a commit is or came with."""
        by_sha = {entry.commit.sha: entry for entry in self.entries}
        holding = next((entry for entry in self.entries if sha in entry.own and not entry.reason), None)
        arrival = self.graph.arrival(sha) if sha in self.graph else None
        chain = by_sha.get(self.graph.at(arrival)) if arrival is not None else None
        if change := by_sha.get(sha) or holding or chain:
            return change
        return self._entry(next(self.read([sha])), None)  # beyond the default branch, yet asked for

    def entry_of_pull(self, number: int) -> Entry | None:
        """A pull request that came into the branch without a merge of its own, inside another one's; else None."""
        head = self.pulls.get(number)
        arrival = self.graph.arrival(head) if head is not None else None
        if head is None or not arrival or self.graph.position(head) is not None:
            return None
        position = arrival - 1
        base = self._merge_base(self.graph.at(position), position, head)
        if base is None:
            return None
        own = self.graph.own_commits(position, head)
        commit = next(self.read([head]))
        return Entry(
            commit=commit, style=MergeStyle.MERGE, base=base, head=head, position=position, number=number, own=own
        )  # fmt: skip

    def entry_on_other_branch(self, number: int) -> Entry | None:
        """A pull request that messages off the default branch's own line name; the one its head merges to, if any."""
        own = (f"--exclude={submodules.REFS}/*", "--all", "--")
        words = ("log", "-z", FORMAT, "--fixed-strings", f"--grep=#{number}", *own)
        commits = [commit for commit in commits_of(self.repo, words) if commit.parsed.number == number]
        entries = [entry for commit in commits if not (entry := self._entry(commit, None)).reason]
        for entry in entries:
            entry.number = number
        return self._rightful(number, entries) if entries else None

    def in_branch(self, sha: str) -> bool:
        """Whether the default branch reaches a commit, named in full or abbreviated."""
        full = self.repo.full_sha(sha)
        return full is not None and full in self.graph and self.graph.arrival(full) is not None

    # -- numbers and styles

    def _claim_numbers(self) -> None:
        """A number belongs to one change: to its merge first, else to the newest that bears it."""
        claimed: dict[int, Entry] = {}
        for style in (MergeStyle.MERGE, MergeStyle.SQUASH):
            rivals = grouped(
                (entry.number, entry) for entry in self.entries if entry.number is not None and entry.style is style
            )
            for number, entries in rivals.items():
                holder = claimed.get(number) or self._rightful(number, entries)
                claimed[number] = holder
                for entry in entries:
                    if entry is not holder:
                        entry.number = None
                        entry.style = MergeStyle.COMMIT if style is MergeStyle.SQUASH else style
        self._claimed = set(claimed)

    def _rightful(self, number: int, entries: Sequence[Entry]) -> Entry:
        """Of several squashes that bear a number (one was carried to or from a release branch), the pull request's."""
        if len(entries) > 1 and number in self.pulls:
            return next((entry for entry in entries if self._merges_to(entry, self.pulls[number])), entries[0])
        return entries[0]

    def _merges_to(self, entry: Entry, head: str) -> bool | None:
        """Whether merging a head into an entry's parent gives the entry's tree: what a squash is. None: can't tell."""
        if entry.style is not MergeStyle.SQUASH or not entry.base:
            return False
        tree = self.repo.merged_tree(entry.base, head)
        return None if tree == MISSING else tree == self.repo.tree(entry.head)

    def _compare_with_pulls(self) -> None:
        """Tell squash from rebase where the pull request's head is there to compare with."""
        cases: list[_Case] = []
        for entry in self.entries:
            if entry.style is not MergeStyle.SQUASH or entry.number is None or entry.reason:
                continue
            if entry.number not in self.pulls:
                self._without_head(entry, entry.number)
                continue
            head = self.pulls[entry.number]
            base = self._merge_base(entry.base, entry.position, head)
            if base == head:  # the head was merged before; this commit only mentions it
                entry.number, entry.style = None, MergeStyle.COMMIT
            elif base is not None:
                count = len(self.graph.own_commits(entry.position, head)) if entry.position is not None else 1
                cases.append((entry, count, base, head))
        for start in range(0, len(cases), CHUNK):
            for case, is_same in self._squashes(cases[start : start + CHUNK]):
                self._settle(*case, brings_patch=is_same)

    def _settle(self, entry: Entry, count: int, base: str, head: str, *, brings_patch: bool | None) -> None:
        """Say what a commit is to the pull request whose number it bears, knowing whether it brings its patch."""
        if brings_patch is False and not self._is_rebase(entry, count, (base, head)):
            brings_patch = self._merges_to(entry, head)
            if brings_patch is False:
                entry.reason = "base_unknown"
                entry.detail = f"its patch differs from that of pull request {entry.number}"
        if brings_patch is None:
            entry.reason, entry.detail = "missing_objects", "the clone lacks files of this change"

    def _squashes(self, cases: Sequence[_Case]) -> Iterator[tuple[_Case, bool | None]]:
        """Which commits bring the very patch of their pull request; None where the clone lacks files to tell.

        Most touch the same blobs, and those that touch other paths are another patch: few patches need be made.
        """
        theirs = self.repo.changed_files_of([(base, head) for _, _, base, head in cases])
        ours = self.repo.changed_files_of([(entry.base, entry.head) for entry, _, _, _ in cases])
        doubtful: list[_Case] = []
        for case, files, other in zip(cases, theirs, ours, strict=True):
            if files == other or len(other) > _LARGE:
                yield case, True
            elif _paths(files) != _paths(other):
                yield case, False
            else:
                doubtful.append(case)
        whole = self.repo.patch_ids([(base, head) for _, _, base, head in doubtful], context=0)
        single = self.repo.patch_ids([(entry.base, entry.head) for entry, _, _, _ in doubtful], context=0)
        for case, pull_id, own_id in zip(doubtful, whole, single, strict=True):
            yield case, None if MISSING in (pull_id, own_id) else pull_id == own_id

    def _without_head(self, entry: Entry, number: int) -> None:
        """Of several commits and no head to compare with, only a message that names the number tells a squash."""
        pull = self.requests.get(number)
        if pull and pull.commits > 1 and entry.commit.parsed.number != number:
            entry.reason = "base_unknown"
            entry.detail = f"the head of pull request {number} is gone, so squash and rebase can't be told apart"

    def _is_rebase(self, entry: Entry, count: int, pull: tuple[str, str]) -> bool:
        """Take the last `count` commits for one change if together they are the pull request's patch."""
        if entry.position is None or not 1 < count <= entry.position + 1:
            return False
        places = range(entry.position + 2 - count, entry.position + 2)
        shas = [self.graph.at(place) for place in places]
        if any(len(self.graph.parents(sha)) != 1 for sha in shas):
            return False
        base = self.graph.at(entry.position + 1 - count)
        if not self._same_patch((base, entry.head), pull):
            return False
        # A squash over what its pull request was stacked on comes to the same patch, but its author's date is new.
        authors = {commit.author[:2] for commit in self.read(self.graph.own_commits(entry.position, pull[1]))}
        if any(commit.author[:2] not in authors for commit in self.read(shas)):
            return False
        entry.style, entry.base, entry.own = MergeStyle.REBASE, base, tuple(shas)
        shas_taken = set(shas[:-1])
        self.entries = [other for other in self.entries if other.commit.sha not in shas_taken]
        return True

    def _find_rebases(self) -> None:
        """Rebase merges leave no number: find them by author and author date, then by patch id.

        Of several commits of one author and date the one with the same subject is asked; who merges by hand may reword.
        """
        free = {number: head for number, head in self.pulls.items() if number not in self._claimed}
        heads = sorted(set(free.values()))
        author_of = {commit.sha: commit.author for commit in self.read(heads)}
        plain: dict[tuple[str, ...], Entry] = {}
        for candidate in reversed(self.entries):
            if candidate.style is MergeStyle.COMMIT and candidate.position is not None and not candidate.reason:
                plain[candidate.commit.author] = plain[candidate.commit.author[:2]] = candidate
        for number, head in sorted(free.items()):
            author: tuple[str, ...] = author_of.get(head, ())
            entry = plain.get(author) or plain.get(author[:2])
            if entry is None or entry.position is None or self.graph.arrival(head) is not None:
                continue
            base = self._merge_base(entry.base, entry.position, head)
            if base in (None, head) or entry.number is not None:
                continue
            count = len(self.graph.own_commits(entry.position, head))
            pull = (str(base), head)
            if self._is_rebase(entry, count, pull) or (count == 1 and self._same_patch((entry.base, entry.head), pull)):
                entry.number, entry.style = number, MergeStyle.REBASE

    def _same_patch(self, ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
        """Whether two diffs are one patch, wherever its lines stand by now."""
        files, other = self.repo.changed_files_of([ours, theirs])
        if files == other:
            return True
        if _paths(files) != _paths(other) or len(files) > _LARGE:
            return False
        [mine], [other_id] = (self.repo.patch_ids([pair], context=0) for pair in (ours, theirs))
        return mine == other_id != MISSING

    # -- reverts

    def _mark_reverts(self) -> None:
        """Newest first, so that the revert of a revert is known before the revert itself speaks."""
        words = ("log", "-z", "--format=%H%x00%B", "-i", "--grep=this reverts commit", self.repo.tip(), "--")
        fields = self.repo.git(*words).stdout.decode("utf-8", "replace").split("\0")
        by_change: dict[str, list[str]] = {}
        owners = {sha: entry.commit.sha for entry in reversed(self.entries) for sha in (*entry.own, entry.commit.sha)}
        for sha, message in zip(fields[::2], fields[1::2], strict=False):
            speaker = owners.get(sha.strip())
            if speaker:
                by_change.setdefault(speaker, []).extend(reverted_commits(message))
        commits: dict[str, str] = {}
        numbers: dict[int, str] = {}
        for entry in self.entries:
            sha, parsed = entry.commit.sha, entry.commit.parsed
            single = entry.own if len(entry.own) == 1 else ()
            by_sha = (
                commits.get(sha_named) or commits.get(sha_named[:7])
                for sha_named in (sha, entry.head, *single)
                if sha_named
            )
            reverted = next((reverter for reverter in by_sha if reverter), None) or numbers.get(entry.number or 0)
            entry.reverted_by = reverted if reverted != sha else None
            if entry.reverted_by is None:
                for short in by_change.get(sha, ()):
                    commits.setdefault(short, sha)
                    commits.setdefault(short[:7], sha)
                for number in reverted_numbers(parsed.title, parsed.body):
                    numbers.setdefault(number, sha)


def _brings_numbers(commit: Commit, lanes: Mapping[str, Sequence[Commit]]) -> bool:
    """Whether a merge brings changes that have numbers of their own."""
    return any(inner.parsed.number is not None or _brings_numbers(inner, lanes) for inner in lanes.get(commit.sha, ()))


def _paths(files: Iterable[ChangedFile]) -> set[str]:
    return {file.path for file in files}


def _seconds(moment: str) -> int:
    """Seconds since 1970 of an ISO 8601 moment; 0 for none."""
    return int(datetime.fromisoformat(moment).timestamp()) if moment else 0

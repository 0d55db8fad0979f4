"""A commit graph small enough to keep whole: who brought which commit, and merge bases without a process each. Pure.

The branch is its first-parent chain. A commit *arrives* with the oldest chain commit that reaches it. That one number
per commit answers what mining asks: which commits a merge brought, and where its branch left the chain.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Container, Iterable

_NEVER = -1
_FAR = 20_000
"""Commits to visit before git is asked instead."""
_ONE, _OTHER, _STALE = 1, 2, 4


class CommitGraph:
    """Parents and arrivals of all commits that a branch and some further heads reach.

    Positions count along the first-parent chain from the oldest commit (0) to the tip.
    """

    def __init__(self, lines: Iterable[bytes], tip: str) -> None:
        """Read lines `<sha> <parents…>`, children before parents."""
        self._ids: dict[bytes, int] = {}
        self._names: list[bytes] = []
        self._parents: dict[int, tuple[int, ...]] = {}
        self._order: dict[int, int] = {}
        for line in lines:
            words = line.split()
            commit = self._id(words[0])
            self._order[commit] = len(self._order)
            self._parents[commit] = tuple(self._id(parent) for parent in words[1:])
        self._chain = self._first_parents(self._ids[bytes.fromhex(tip)])
        self._position = {commit: position for position, commit in enumerate(self._chain)}
        self._arrival = self._arrivals()

    def _id(self, sha: bytes) -> int:
        key = bytes.fromhex(sha.decode())
        if (position := self._ids.get(key)) is not None:
            return position
        self._ids[key] = new = len(self._names)
        self._names.append(key)
        return new

    def _first_parents(self, tip: int) -> list[int]:
        chain = [tip]
        while parents := self._parents.get(chain[-1], ()):
            chain.append(parents[0])
        chain.reverse()
        return chain

    def _arrivals(self) -> array[int]:
        arrival = array("l", [_NEVER]) * len(self._names)
        for position, commit in enumerate(self._chain):
            stack = [commit]
            while stack:
                current = stack.pop()
                if arrival[current] == _NEVER:
                    arrival[current] = position
                    stack.extend(self._parents.get(current, ()))
        return arrival

    def __contains__(self, sha: str) -> bool:
        return bytes.fromhex(sha) in self._ids

    def __len__(self) -> int:
        return len(self._chain)

    def at(self, position: int) -> str:
        """The chain commit at a position."""
        return self._names[self._chain[position]].hex()

    def position(self, sha: str) -> int | None:
        """Where a commit stands on the chain, or None."""
        return self._position.get(self._ids.get(bytes.fromhex(sha), _NEVER))

    def arrival(self, sha: str) -> int | None:
        """The position with which a commit came into the branch, or None if it never did."""
        commit = self._ids.get(bytes.fromhex(sha))
        place = _NEVER if commit is None else self._arrival[commit]
        return None if place == _NEVER else place

    def parents(self, sha: str) -> tuple[str, ...]:
        """Parents of a known commit, first parent first."""
        return tuple(self._names[parent].hex() for parent in self._parents.get(self._ids[bytes.fromhex(sha)], ()))

    def _beyond(self, position: int, head: str) -> tuple[list[int], list[int]]:
        """Commits that head has and chain[..position] has not, and the commits of the latter where they begin."""
        positions_seen: set[int] = set()
        own: list[int] = []
        boundary: list[int] = []
        stack = [self._ids[bytes.fromhex(head)]]
        while stack:
            commit = stack.pop()
            if commit in positions_seen:
                continue
            positions_seen.add(commit)
            if _NEVER < self._arrival[commit] <= position:
                boundary.append(commit)
            else:
                own.append(commit)
                stack.extend(self._parents.get(commit, ()))
        return own, boundary

    def own_commits(self, position: int, head: str) -> tuple[str, ...]:
        """`chain[position]..head` in git's notation, oldest first."""
        own, _ = self._beyond(position, head)
        own.sort(key=lambda commit: self._order.get(commit, len(self._order)), reverse=True)
        return tuple(self._names[commit].hex() for commit in own)

    def merge_base(self, position: int, head: str) -> tuple[str | None, bool]:
        """The merge base of a chain commit and a head, and whether the graph could tell.

        (None, True) means unrelated histories. (None, False) means that the graph alone cannot order the common
        ancestors (criss-cross merges through other branches); ask `git merge-base`.
        """
        _, boundary = self._beyond(position, head)
        if len(boundary) < 2:  # noqa: PLR2004 - none or one
            return (self._names[boundary[0]].hex(), True) if boundary else (None, True)
        newest = max((self._position.get(commit, _NEVER) for commit in boundary), default=_NEVER)
        # Whatever arrived no later than a chain commit is that commit's ancestor.
        if all(self._arrival[commit] <= newest for commit in boundary):
            return self._names[self._chain[newest]].hex(), True
        return None, False

    def fork(self, position: str, other: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:  # noqa: C901 - one loop
        """The merge bases of two commits, and what the other has and the first has not, oldest first.

        None where a commit is unknown or the walk would take too long; ask git then.
        """
        ids = [self._ids.get(bytes.fromhex(sha)) for sha in (position, other)]
        if ids[0] is None or ids[1] is None or any(commit not in self._order for commit in ids):
            return None
        # Painting down: children come before parents in the order, so a commit's colours are final when it is taken.
        colours: dict[int, int] = {}
        heap: list[tuple[int, int]] = []
        bases: list[int] = []
        own: list[int] = []
        fresh = 0
        for commit, colour in ((ids[0], _ONE), (ids[1], _OTHER)):
            if commit not in colours:
                heapq.heappush(heap, (self._order[commit], commit))
                fresh += 1
            colours[commit] = colours.get(commit, 0) | colour
        for _ in range(_FAR):
            if not fresh:
                own.reverse()
                return tuple(self._names[base].hex() for base in bases), tuple(
                    self._names[commit].hex() for commit in own
                )
            _, commit = heapq.heappop(heap)
            colour = colours[commit]
            fresh -= not colour & _STALE
            if colour == _OTHER:
                own.append(commit)
            elif colour == _ONE | _OTHER:
                bases.append(commit)
                colour |= _STALE
            for parent in self._parents.get(commit, ()):
                before = colours.get(parent)
                after = (before or 0) | colour
                if before is None:
                    heapq.heappush(heap, (self._order.get(parent, len(self._order)), parent))
                    fresh += not after & _STALE
                elif after & _STALE and not before & _STALE:
                    fresh -= 1
                colours[parent] = after
        return None

    def first_parent_lane(self, position: int, head: str, claimed: Container[str] = ()) -> tuple[str, ...]:
        """The first-parent line of a merged branch, newest first, down to what the chain had or is `claimed`."""
        lane: list[str] = []
        commit: int | None = self._ids[bytes.fromhex(head)]
        while commit is not None and not _NEVER < self._arrival[commit] <= position:
            name = self._names[commit].hex()
            if name in claimed:
                break
            lane.append(name)
            commit = next(iter(self._parents.get(commit, ())), None)
        return tuple(lane)

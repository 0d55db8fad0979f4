"""What of a model patch reaches the work tree: everything but what could touch the judge. Pure.

Honest agents add tests, edit configuration and leave byproducts behind, so such parts are dropped and recorded, not
refused. What no patch may bring (links, submodules) `patches.patch` leaves out before, and it refuses patches that
reach for git's own folder or out of the tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from harness.core import test_ids
from harness.core.instance import Task, TestSpec
from harness.languages import language_of
from harness.patches.patch import MAX_BYTES, MAX_FILES, Dropped, FilePatch, Patch, overlap, parse


@dataclass(frozen=True, kw_only=True)
class Screened:
    """What is left of a patch, and what was taken out of it."""

    kept: Patch
    dropped: tuple[Dropped, ...]
    """At most `MAX_FILES`, and one more that says how many others there are."""


class HiddenTests(Protocol):
    """What screening has to know of hidden tests: the hidden side of a task, or what is to become one."""

    @property
    def test_patch(self) -> bytes: ...

    @property
    def test_files(self) -> tuple[str, ...]: ...


def screen_task(task: Task, data: bytes) -> Screened:
    """What of a model patch may reach the work tree of this task.

    Raises:
        PatchError: it is no patch that may be applied.

    """
    hidden, test = task.hidden, task.instance.test
    return screen_for(parse(data), hidden, replace(test, allowed_paths=allowed_by(hidden.gold_patch, hidden, test)))


def allowed_by(gold_patch: bytes, tests: HiddenTests, spec: TestSpec) -> tuple[str, ...]:
    """What a model may change although it looks like the judge's: what is listed, and what the gold patch changes."""
    if not gold_patch:
        return spec.allowed_paths
    allowable = language_of(spec.framework).allowable
    dropped = screen_for(parse(gold_patch, trusted=True), tests, spec).dropped
    return tuple(sorted({*spec.allowed_paths, *(part.path for part in dropped if part.reason in allowable)}))


def screen_for(patch: Patch, tests: HiddenTests, spec: TestSpec) -> Screened:
    """Take out of a model patch what could touch the judge of these tests; proof and grading both do it here."""
    return screen(patch, parse(tests.test_patch, trusted=True).paths | set(test_ids.files(tests.test_files)), spec)


def screen(patch: Patch, hidden_paths: Collection[str], spec: TestSpec) -> Screened:
    """Take out of a model patch what could touch the judge.

    `hidden_paths` are the files that the hidden tests consist of. What the gold patch changes although it looks like
    the judge's (`spec.allowed_paths`), a model may change too.
    """
    reason_of = language_of(spec.framework).screen(spec, hidden_paths)
    patches: list[FilePatch] = []
    dropped: list[Dropped] = list(patch.left_out)
    for file in patch.files:
        reasons = (
            None
            if path in spec.allowed_paths
            else "hidden_test"
            if any(overlap(path, hidden) for hidden in hidden_paths)
            else reason_of(file, path)
            for path in sorted(file.paths)
        )
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is None:
            patches.append(file)
        else:
            dropped.append(Dropped(path=file.path, reason=reason))
    patches, more = _within_limits(patches)
    return Screened(kept=Patch(files=tuple(patches), repairs=patch.repairs), dropped=_listed([*dropped, *more]))


def caveat(patch: Patch, spec: TestSpec) -> str:
    """What a person should know of a patch that resolves nothing; empty where there is nothing."""
    return language_of(spec.framework).caveat(spec, [path for file in patch.files for path in sorted(file.paths)])


def _within_limits(files: list[FilePatch]) -> tuple[list[FilePatch], list[Dropped]]:
    """What of a patch is applied, `MAX_FILES` files and `MAX_BYTES` at most, and what is too much.

    A fix goes before what was left behind beside it: files that there were before new ones, new ones in parts of the
    tree that get few before those that get many, small changes before large ones.
    """
    crowds = Counter(_top(file) for file in files if file.is_new)
    ranked = sorted(files, key=lambda file: (file.is_new, crowds[_top(file)] if file.is_new else 0, len(file.raw)))
    left = MAX_BYTES
    paths_kept: set[str] = set()
    dropped: list[Dropped] = []
    for file in ranked:
        if len(paths_kept) == MAX_FILES or len(file.raw) > left:
            reason = "too_many_files" if len(paths_kept) == MAX_FILES else "too_large"
            dropped.append(Dropped(path=file.path, reason=reason))
        else:
            paths_kept.add(file.path)
            left -= len(file.raw)
    return [file for file in files if file.path in paths_kept], dropped


def _top(file: FilePatch) -> str:
    return file.path.partition("/")[0] if "/" in file.path else ""


def _listed(dropped: list[Dropped]) -> tuple[Dropped, ...]:
    """What was left out, as a report has it: a count in place of a list that nobody reads."""
    if len(dropped) <= MAX_FILES:
        return tuple(dropped)
    unlisted = dropped[MAX_FILES:]
    return (*dropped[:MAX_FILES], Dropped(path=f"{len(unlisted)} more", reason=unlisted[0].reason))

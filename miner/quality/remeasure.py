"""Measure again what mining measured of a dataset's tasks: the work of `holdout quality`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core import files
from harness.core.errors import InputError
from harness.dataset import content
from harness.dataset.folder import write_instances
from harness.dataset.hidden_files import TESTS_FILE, hidden_files
from harness.judging.places import carded
from miner.quality import assessment
from miner.sources.git import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from harness.core.instance import Instance, Task
    from harness.dataset.folder import Dataset
    from miner.layers.package_index import Index
    from miner.sources.bare import BareRepository


@dataclass(frozen=True, kw_only=True)
class Appraised:
    """One task after it was measured."""

    instance: Instance
    changed: bool
    unknown: str = ""
    """Why it could not be measured; empty where it was."""


def appraise(
    dataset: Dataset,
    sources: Mapping[str, str],
    *,
    ids: Sequence[str],
    index: Index,
    cache: Path,
    write: bool,
    note: Callable[[str], None],
) -> tuple[Appraised, ...]:
    """Measure tasks and write what was found: public fields into task.yaml, hidden names into tests.json.

    The hidden side of a sealed task stays as it is: only its public fields are written.

    Args:
        dataset: opened with keys where it is sealed.
        sources: by `owner/name`, or "" for every repository: a path or a URL.
        ids: which tasks; all where there is none.
        index: where it is asked whether fixes were released.
        cache: folder of our bare copies.
        write: whether anything is written.
        note: told what is being done just now.

    Raises:
        InputError: an id is unknown, a source can't be read, or a task's repository has no source.

    """
    appraisals: list[Appraised] = []
    with ExitStack() as stack:
        repos: dict[str, BareRepository] = {}
        stack.enter_context(content.locked(dataset))
        for instance_id in ids or dataset.ids():
            task = dataset.task(instance_id)
            source = sources.get(task.instance.repo, sources.get(""))
            if source is None:
                raise InputError(
                    f"there is no source for {task.instance.repo}, the repository of {instance_id}",
                    hint=f"add --source {task.instance.repo}=PATH-or-URL",
                )
            if source not in repos:
                note(f"opening {source}")
                repos[source] = stack.enter_context(open_source(source, cache=cache))
            note(instance_id)
            appraisals.append(_remeasure(dataset, task, repos[source], index, write=write))
        if write and any(appraisal.changed for appraisal in appraisals):
            content.settle_locked(dataset)
    return tuple(appraisals)


def _remeasure(dataset: Dataset, task: Task, repo: BareRepository, index: Index, *, write: bool) -> Appraised:
    base = task.instance.base_commit
    if repo.full_sha(base) is None:
        return Appraised(instance=task.instance, changed=False, unknown=f"{repo.name} has no commit {base}")
    after = carded(assessment.appraised(task, repo, index))
    hidden = not dataset.sealed and after.hidden.evidence != task.hidden.evidence
    changed = hidden or after.instance.quality != task.instance.quality
    if write and changed:
        if hidden:
            place = dataset.task_folder(task.instance_id) / TESTS_FILE
            files.write_bytes(place, hidden_files(after.hidden)[TESTS_FILE])
        write_instances(dataset, (after.instance,))
    return Appraised(
        instance=after.instance,
        changed=changed,
        unknown="" if "leaks" in after.instance.quality else "its tree is not whole in the source",
    )

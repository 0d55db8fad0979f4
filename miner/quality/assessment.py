"""What can be said of a task without running it, as fields of task.yaml: what is needed is read from the bare copy.

The measuring itself is in harness/quality, as pure functions. docs/quality.md states every rule.
`holdout quality` measures a dataset's tasks again in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.core import files
from harness.core.errors import InputError
from harness.core.instance import Instance, Task
from harness.dataset import content
from harness.dataset.folder import Dataset, write_instances
from harness.dataset.hidden_files import TESTS_FILE, hidden_files
from harness.judging.places import carded
from harness.patches import patch
from harness.patches.patch import PatchError
from harness.quality import sensitive
from harness.quality.base import BaseTree, Reader, Subject
from harness.quality.difficulty import measure
from harness.quality.leaks import leaks, shas, unshown
from harness.quality.licence import licence
from harness.quality.sensitive import EMAIL, PRIVATE_KEY
from miner.candidates.split import is_docs
from miner.languages import language_of
from miner.languages.base import Described
from miner.layers.package_index import Index
from miner.sources.bare import BareRepository, MissingObjectsError
from miner.sources.change import Rejection, Split, Stage
from miner.sources.git import open_source

_LARGEST_FILE = 1024 * 1024
_HEAD = 8192


def _size(data: bytes) -> dict[str, int]:
    """The size of a patch: files, hunks, and lines added and removed.

    As unidiff counts; what that can't read (binary payloads, odd paths) our own parser counts.
    """
    counts = [(file.hunks, file.added, file.removed) for file in patch.parse(data, trusted=True).files]
    with suppress(UnidiffParseError, ValueError):
        theirs = PatchSet(data.decode("utf-8", "surrogateescape").splitlines(keepends=True))
        if len(theirs) == len(counts):
            counts = [(len(file), file.added, file.removed) for file in theirs]
    hunks, added, removed = (sum(numbers) for numbers in zip(*counts, strict=True)) if counts else (0, 0, 0)
    return {"files": len(counts), "hunks": hunks, "added": added, "removed": removed}


def fields(gold_patch: bytes, test_patch: bytes, statement: str) -> Mapping[str, object]:
    """The `quality` fields known when a task is mined."""
    return {
        "gold": _size(gold_patch),
        "tests": _size(test_patch),
        "statement_chars": len(statement),
    }


@dataclass(frozen=True, kw_only=True)
class CleanStatement:
    """A statement by the policy on secrets, and what was found."""

    statement: str
    policy: str = "keep"
    report: sensitive.Report = field(default_factory=sensitive.Report)

    def of_hints(self, hints: str) -> str:
        """Hints by the same policy."""
        return sensitive.mask(hints) if self.policy == "mask" else hints

    def public(self) -> dict[str, object]:
        """`quality.hygiene` of task.yaml."""
        return {"policy": self.policy, **self.report.public()}


def cleaned(statement: str, parts: Split, policy: str) -> CleanStatement | Rejection:
    """Look a statement and both patches through for secrets, and do with them as the policy says.

    `mask` takes secrets and e-mail addresses out of the statement, and rejects a private key in a patch, where nothing
    can be taken out; `reject` rejects any secret, but not addresses; `keep` does nothing.
    """
    report = sensitive.Report(
        statement=sensitive.counts(statement), patches=sensitive.patch_counts(parts.gold_patch, parts.test_patch)
    )
    refused = {
        "mask": {"a patch": {PRIVATE_KEY} & report.patches.keys()},
        "reject": {"a patch": report.patches.keys() - {EMAIL}, "the statement": report.statement.keys() - {EMAIL}},
    }
    for where, kinds in refused.get(policy, {}).items():
        if kinds:
            return Stage.SPLIT.no("has_secret", f"{where} holds: {', '.join(sorted(kinds))}")
    statement_kept = sensitive.mask(statement) if policy == "mask" else statement
    return CleanStatement(statement=statement_kept, policy=policy, report=report)


class _Files:
    """A base tree, as environment detection reads it."""

    def __init__(self, tree: BaseTree) -> None:
        self._files = tree.files

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def files(self) -> tuple[str, ...]:
        return tuple(self._files)


def base_tree(repo: BareRepository, commit: str, reader: Reader) -> BaseTree:
    """The text files of a commit's tree, up to 1 MiB each, for a reader of the task's language.

    Raises:
        MissingObjectsError: a file of it is not in the copy.

    """
    files_read = repo.files(commit, largest=_LARGEST_FILE)
    return BaseTree(files={path: data for path, data in files_read if b"\0" not in data[:_HEAD]}, reader=reader)


def subject_of(task: Task, repo: BareRepository, tree: BaseTree) -> Subject:
    """A task with what its repository shows, as its quality is told from it."""
    instance, hidden = task.instance, task.hidden
    paths = patch.parse(hidden.gold_patch, trusted=True).paths
    number = _origin(task).get("number")
    return Subject(
        gold_patch=hidden.gold_patch,
        test_patch=hidden.test_patch,
        statement=instance.problem_statement,
        base=tree,
        fail_to_pass=hidden.fail_to_pass,
        docs=frozenset(path for path in paths if is_docs(path)),
        repo=instance.repo,
        number=number if isinstance(number, int) else None,
        earlier=frozenset(
            sha for sha in shas(instance.problem_statement) if _contains_commit(repo, sha, instance.base_commit)
        ),
        version=repo.nearest_version(instance.base_commit),
        roots=tuple(dict.fromkeys(("", "src", "lib", *instance.test.pythonpath))),
    )


def _origin(task: Task) -> Mapping[str, Any]:
    origin = task.instance.extra.get("origin")
    return origin if isinstance(origin, dict) else {}


def _contains_commit(repo: BareRepository, sha: str, commit: str) -> bool:
    """Whether a commit's history holds another."""
    full = repo.full_sha(sha)
    return full is not None and repo.git("merge-base", "--is-ancestor", full, commit, check=False).returncode == 0


def appraised(task: Task, repo: BareRepository, index: Index, *, hygiene: Mapping[str, object] | None = None) -> Task:
    """A task with all that can be said of it without running it: public counts and shares, hidden names.

    What a partial clone can't tell is left out. `hygiene` is what was found before the statement was masked; without
    it, what an earlier appraisal found there stands, and the patches are looked through anew.
    """
    instance, hidden = task.instance, task.hidden
    quality = dict(instance.quality)
    quality["hygiene"] = dict(hygiene or _hygiene(task))
    evidence = dict(hidden.evidence)
    try:
        code = language_of(instance.test).code
        tree = base_tree(repo, instance.base_commit, code)
        subject = subject_of(task, repo, tree)
        described = code.described(_Files(tree))
        leaks_found = leaks(subject)
        quality["leaks"] = {**leaks_found.public(), **_released(task, described, index)}
        evidence["leaks"] = leaks_found.hidden()
        if names := [str(name) for name in evidence.get("new_names", ())]:
            evidence["new_names_unshown"] = list(unshown(names, subject))
            quality["new_api"] = {"names": len(names), "unshown": len(evidence["new_names_unshown"])}
        quality["difficulty"] = _difficulty(quality.get("difficulty"), measure(subject).public())
        licence_found = licence(tree.files, words=described.licence, classifiers=described.classifiers)
        quality["licence"] = licence_found.public()
    except (MissingObjectsError, PatchError):
        pass  # a partial clone, or an imported patch that only git understands: unknown, and no reason to lose the task
    return replace(task, instance=replace(instance, quality=quality), hidden=replace(hidden, evidence=evidence))


def _hygiene(task: Task) -> dict[str, object]:
    before = task.instance.quality.get("hygiene")
    measured = before if isinstance(before, dict) else {}
    return {
        "policy": measured.get("policy", "keep"),
        "statement": measured.get("statement") or sensitive.counts(task.instance.problem_statement),
        "patches": sensitive.patch_counts(task.hidden.gold_patch, task.hidden.test_patch),
    }


def _released(task: Task, described: Described, index: Index) -> dict[str, object]:
    """Whether the package index has what came after the fix was merged; None where it can't be asked."""
    count = index.releases_since(described.name, _moment(task.instance.created_at))
    return {"released": None if count is None else count > 0, "releases_since": count}


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _difficulty(before: object, by_rule: dict[str, object]) -> dict[str, object]:
    """The rule's difficulty; what runs measured of the task stays, and its tier with it."""
    if not isinstance(before, dict) or "measured" not in before:
        return by_rule
    settled = before.get("by") == "runs"
    tier = before.get("tier") if settled else by_rule["tier"]
    tiers = {"tier": tier, "by": "runs" if settled else "rule", "rule_tier": by_rule["tier"]}
    return {**by_rule, **tiers, "measured": before["measured"]}


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
    after = carded(appraised(task, repo, index))
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

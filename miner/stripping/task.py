"""A proved task's expectations, by running its tests on its image."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from harness.core import test_ids
from harness.core.expectations import Expectations
from harness.core.instance import PASSING, Task
from harness.grading import scoring, trial
from harness.judging import tripwires
from harness.languages.base import TestReport
from harness.languages.screening import screen_task
from harness.patches import patch
from harness.sandbox.job import Sandbox
from miner.candidates.split import classify, is_source
from miner.languages import language_of
from miner.languages.base import Guess, KnownText, ReadFiles, RecordedTests
from miner.proof.variations import Cause, variation
from miner.sources.change import Kind

_PATIENCE, _MOST_FACTOR = 30.0, 2.0
"""Seconds that a run of what keeps the base going may take beside so many times those with the fix: it may wait for
ever."""
_LATER_FACTOR = 3
"""So many times as long a run with the fix may take once more, if it has taken too long."""
_LARGEST_DATA = 1 << 20
"""Bytes of a file beside the tests that is looked through."""
LARGEST_IN_TREE, _LARGEST_TREE = 1 << 22, 1 << 26
"""Bytes of a file, and of all of them, that a forger is taken to look through."""
_HEAD = 1 << 13
"""Bytes in which what is no text has a NUL."""
_SNAPSHOTS = (".snap", ".snapshot", ".ambr")
"""Endings of what runners compare by themselves."""


@dataclass(frozen=True, kw_only=True)
class _Runs:
    """Runs a task's tests, without expectations; what a listed test is sensitive to is as in evaluation in each run."""

    task: Task
    sandbox: Sandbox
    data: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def _fix(self) -> patch.Patch:
        return screen_task(self.task, self.task.hidden.gold_patch).kept

    def __call__(
        self, files: Mapping[str, bytes], *, gold: bool, number: int = 0, tests: Collection[str] = ()
    ) -> TestReport:
        evidence = self.task.hidden.evidence
        around = variation(number)
        kept_as_is = {Cause.ORDER, Cause.USER, *map(Cause, evidence.get("sensitive", {}).values())}
        varied = around.only(*(cause for cause in around.causes if cause not in kept_as_is))
        spec = scoring.trial_spec(self.task, self._fix if gold else None)
        if tests:
            spec = replace(spec, files=test_ids.selectors(tests, spec.files))
        if tests and not gold:
            patience = _PATIENCE + _MOST_FACTOR * evidence.get("gold_seconds", 0.0)
            spec = replace(spec, budgets=replace(spec.budgets, seconds=min(spec.budgets.seconds, patience)))
        spec = replace(spec, overlay=files, env={**spec.env, **varied.env()}, cpu_count=varied.cpu_count)
        ran = trial.run(spec, self.sandbox)
        if gold and ran.timed_out:  # a machine that is busy is no reason to judge inside
            longer = replace(spec.budgets, seconds=_LATER_FACTOR * spec.budgets.seconds)
            ran = trial.run(replace(spec, budgets=longer), self.sandbox)
        return ran.report


def of_task(
    task: Task,
    sources: Mapping[str, bytes],
    sandbox: Sandbox,
    data: Mapping[str, str] | None = None,
    base: Mapping[str, bytes] | None = None,
) -> RecordedTests:
    """What a task's hidden tests expect, recorded and proved with its own fix; empty where nothing can be kept outside.

    `sources` are its hidden test files by path, as the tests' patch leaves them; `data` those that are no such sources;
    `base` files of the tree without its patches: constants that are made of what the fix changes are told by these.
    What a listed test is sensitive to is as in evaluation in each run, and so is the user, whose name pytest's folders
    have.

    Raises:
        InfrastructureError: the engine failed.

    """
    plain = replace(task, hidden=replace(task.hidden, expectations=Expectations()))
    runs = _Runs(task=plain, sandbox=sandbox, data=data or {}, base=base or {})
    return language_of(task.instance.test).strip(plain, sources, runs)


def sources(
    task: Task,
    paths: Iterable[str],
    read: ReadFiles,
    listed: Callable[[], Iterable[str]],
) -> dict[str, bytes]:
    """Of test files of a task, those that assertions are taken out of, with what tells of these.

    `read` gives files of the tree with the fix, `listed` the paths of all of them. What the tests' patch makes of a
    commit that has no such file is read there.
    """
    made = {file.path: file for file in patch.parse(task.hidden.test_patch, trusted=True).files if file.is_new}

    def read_with_folders(wanted_paths: Iterable[str]) -> Mapping[str, bytes]:
        places = tuple(wanted_paths)
        folders = {path for path in places if path.endswith("/")}
        inside = (path for path in listed() if f"{posixpath.dirname(path)}/" in folders) if folders else ()
        contents = read(dict.fromkeys((*(path for path in places if path not in folders), *inside)))
        others = (path for path in places if path in made and path not in contents)
        return {**contents, **{path: b"".join(after + b"\n" for _, after in made[path].sides()) for path in others}}

    language = language_of(task.instance.test)
    return language.test_sources(paths, read_with_folders, lambda path: classify(path) in (Kind.TEST, Kind.SUPPORT))


def data(task: Task, test_sources: Collection[str], read: ReadFiles) -> dict[str, str]:
    """The texts by path that a task's tests bring beside their sources; `read` gives files of the tree with the fix."""
    paths = (file.new_path for file in patch.parse(task.hidden.test_patch, trusted=True).files)
    beside = [path for path in paths if path and path not in test_sources and not is_source(path)]
    contents = read([path for path in beside if not path.endswith(_SNAPSHOTS)])
    texts: dict[str, str] = {}
    for path, content in contents.items():
        with contextlib.suppress(UnicodeDecodeError):
            texts |= {path: content.decode()} if len(content) <= _LARGEST_DATA else {}
    return texts


def stripped(
    task: Task,
    test_sources: Mapping[str, bytes],
    base: Mapping[str, bytes],
    sandbox: Sandbox,
    data: Mapping[str, str] | None = None,
    tree: Mapping[str, bytes] | None = None,
) -> Task:
    """A proved task with its expectations kept outside, as far as that can be had, and how hard they are to guess.

    `base` are the files that the fix and its tests change, as they were; `data` as `of_task` has it; `tree` the
    files that they leave alone.

    Raises:
        InfrastructureError: the engine failed.

    """
    recorded = of_task(task, test_sources, sandbox, data, {**(tree or {}), **base})
    texts, tests = (
        {path: file.decode("utf-8", "replace") for path, file in files.items()} for files in (base, test_sources)
    )
    guessed = guess(task, recorded, texts, tests, tree)
    evidence = {**task.hidden.evidence, "guess_bits": guessed.bits, "guess_rule": guessed.rule}
    return replace(task, hidden=replace(task.hidden, expectations=recorded.expectations, evidence=evidence))


def confirmed(task: Task, sandbox: Sandbox) -> Task | str:
    """The task as its fix resolves it, with what that trips, which of others is no news then; or why it does not.

    Raises:
        InfrastructureError: the engine failed.

    """
    scored = scoring.score(task, screen_task(task, task.hidden.gold_patch).kept, sandbox, scoring.Demands())
    if scored.grade.outcome not in PASSING:
        return scored.grade.reason
    hits = sorted(tripwires.as_json(scored.trial.tripwires.hits), key=lambda hit: (hit["path"], hit["kind"]))
    fields = {name: value for name, value in task.hidden.evidence.items() if name != "tripwires"}
    evidence = {**fields, "tripwires": hits} if hits else fields
    return replace(task, hidden=replace(task.hidden, evidence=evidence))


def changed_paths(task: Task) -> tuple[str, ...]:
    """The files that a task's fix and its tests change and that were there before."""
    return tuple(dict.fromkeys(file.old_path for file in _patched(task) if file.old_path is not None))


def _patched(task: Task) -> Iterator[patch.FilePatch]:
    for text in (task.hidden.gold_patch, task.hidden.test_patch):
        yield from patch.parse(text, trusted=True).files


def unpatched(task: Task, files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """The texts among some files that no patch of a task touches, as far as a forger is taken to look through them."""
    touched = {path for file in _patched(task) for path in (file.old_path, file.new_path)}
    room, texts = _LARGEST_TREE, dict[str, bytes]()
    for path, content in files:
        is_text = 0 < len(content) <= LARGEST_IN_TREE and b"\0" not in content[:_HEAD]
        if is_text and path not in touched and len(content) <= room:
            room -= len(content)
            texts[path] = content
    return texts


def guess(
    task: Task,
    recorded: RecordedTests,
    base: Mapping[str, str],
    tests: Mapping[str, str],
    tree: Mapping[str, bytes] | None = None,
) -> Guess:
    """How hard a task's expectations are to guess for whoever knows its statement, its base and its stripped tests.

    `tests` are its test files with what they expect, `tree` the files that its patches leave alone.
    """
    lines = task.hidden.gold_patch.decode("utf-8", "replace").splitlines()
    changed = [line[1:] for line in lines if line[:1] in (" ", "-") and not line.startswith("---")]
    files = patch.parse(task.hidden.test_patch, trusted=True).files
    stripped_files = recorded.expectations.files
    sources_left = {path: source for path, source in stripped_files.items() if path in tests}
    beside = ["\n".join(file.lines("+")) for file in files if file.new_path not in stripped_files]
    data = [path for path in stripped_files if path not in tests]
    is_stripped = {file.old_path: file.new_path in sources_left for file in files}
    were = [text for path, text in base.items() if not is_stripped.get(path, True)]
    beside += [*(stripped_files[path] for path in data), *(text for text in were if len(text) <= _LARGEST_DATA)]
    written = {slot: form for slot, form in recorded.written.items() if slot not in recorded.out_of_data}
    recorded = replace(recorded, written=written, expectations=replace(recorded.expectations, files=sources_left))
    text = KnownText(
        words="\n".join((task.instance.problem_statement, *changed)),
        changed=tuple(source for path, source in base.items() if path not in is_stripped),
        old_tests=tuple(source for path, source in base.items() if is_stripped.get(path)),
        tests=tuple(tests.values()),
        beside_tests=tuple(beside),
        tree=tree or {},
    )
    return language_of(task.instance.test).guess(recorded, task.hidden.fail_to_pass, text)

"""Which hidden tests a task shows, and the patch that brings them; proved before anybody sees it.

For a dataset that is there, the tests are cut out of what each task's image has, and proved in it.
"""

from __future__ import annotations

import functools
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.core.instance import Instance, Task, TaskState, TestStatus
from harness.core.json_text import mapping
from harness.core.wording import counted
from harness.dataset import content, task_states
from harness.dataset.content import Version
from harness.dataset.folder import Dataset, write_scaffold
from harness.dataset.ledger import ledger
from harness.dataset.revealed import FIELD, Function, candidates, function_of, functions_shown
from harness.dataset.seal import access_log
from harness.grading import scoring, trial
from harness.languages import language_of, screening
from harness.languages.base import CannotCutError, Names
from harness.patches import patch, written
from harness.sandbox.job import Sandbox

if TYPE_CHECKING:
    from harness.solve.base import Workspace


@dataclass(frozen=True, kw_only=True)
class PublicTests:
    """What of a task's hidden tests was made public."""

    functions: tuple[Function, ...] = ()
    ids: tuple[str, ...] = ()
    """Of FAIL_TO_PASS."""
    patch: bytes = b""
    why_not: tuple[str, ...] = ()
    """Why there are fewer than asked for, in words that name no hidden test."""


def reveal(task: Task, count: int, read: Callable[[str], bytes | None], sandbox: Sandbox) -> PublicTests:
    """Choose up to `count` functions that can be shown, and prove each: it fails at base and passes with the fix.

    At least one function of FAIL_TO_PASS stays hidden.

    Args:
        task: proved, with its hidden side.
        count: how many functions are asked for.
        read: a file's bytes at the base commit; None where it is not there.
        sandbox: where they are proved.

    Raises:
        InfrastructureError: the engine failed; nothing is said of the task.

    """
    functions = candidates(task.instance_id, task.hidden)
    most = min(count, len(functions) - 1)
    why: list[str] = []
    if most < count:
        why.append(f"it has {counted(len(functions), 'test function')} in FAIL_TO_PASS, and one at least stays hidden")
    sides = functools.cache(lambda path: _sides(task, path, read(path)))
    chosen = PublicTests()
    for function in functions:
        if len(chosen.functions) >= most:
            break
        if function in chosen.functions:
            continue
        try:
            tried = _proved(task, _with(chosen, function, task, sides), sandbox)
        except CannotCutError as error:
            why.append(str(error))
            continue
        chosen = tried
    return replace(chosen, why_not=tuple(dict.fromkeys(why)))


def applied(task: Task, tests: PublicTests, *, count: int) -> Task:
    """The task with what it shows; as it was before where it shows nothing."""
    extra = {name: value for name, value in task.instance.extra.items() if name != FIELD}
    left = len(candidates(task.instance_id, task.hidden)) - len(tests.functions)
    fields: dict[str, Any] = {
        "asked": count,
        "functions": len(tests.functions),
        "hidden_functions": left,
        "revealed": list(tests.ids),
        "why_not": list(tests.why_not),
    }
    return replace(task, instance=replace(task.instance, extra={**extra, FIELD: fields}, scaffold=tests.patch))


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """A test file before the change and after it."""

    before: str | None
    after: str


def _sides(task: Task, path: str, before: bytes | None) -> _Sides:
    """A test file's two sides.

    Raises:
        CannotCutError: the hidden tests do not bring it as plain text.

    """
    after = _patched(path, before, task.hidden.test_patch)
    try:
        return _Sides(before=None if before is None else before.decode("utf-8"), after=after.decode("utf-8"))
    except UnicodeDecodeError:
        raise CannotCutError("a test file is not UTF-8") from None


def _patched(path: str, before: bytes | None, test_patch: bytes) -> bytes:
    """A file after the test patch."""
    parsed = patch.parse(test_patch, trusted=True)
    part = next((file for file in parsed.files if file.new_path == path), None)
    if part is None:
        raise CannotCutError("a test's own file is not among those that the change brings")
    if part.old_path not in (None, path):
        raise CannotCutError("a test file was moved by the change")
    with tempfile.TemporaryDirectory(prefix="goldseam-") as folder:
        place = Path(folder) / path
        place.parent.mkdir(parents=True)
        if before is not None:
            place.write_bytes(before)
        try:
            process.apply_patch(part.raw, Path(folder))
            return place.read_bytes()
        except (process.ProgramError, OSError):
            raise CannotCutError("the hidden tests do not apply to a file as it was") from None


def _with(chosen: PublicTests, function: Function, task: Task, sides: Callable[[str], _Sides]) -> PublicTests:
    """The chosen functions and one more: their ids, and the patch that brings them all."""
    functions = (*chosen.functions, function)
    by_path: dict[str, list[Names]] = defaultdict(list)
    for revealed in functions:
        by_path[revealed.path].append(revealed.names)
    language = language_of(task.instance.test.framework)
    parts = []
    for path, keep in sorted(by_path.items()):
        file = sides(path)
        before = None if file.before is None else file.before.encode()
        parts.append(written.section(path, before, language.cut(path, file.before, file.after, keep).encode()))
    ids = tuple(test_id for test_id in task.hidden.fail_to_pass if function_of(test_id) in functions)
    return PublicTests(functions=functions, ids=ids, patch="".join(parts).encode())


def _proved(task: Task, public_tests: PublicTests, sandbox: Sandbox) -> PublicTests:
    """See that the scaffold applies, and that its tests fail without the fix and pass with it.

    Tests of FAIL_TO_PASS that come along are public as well: rows that one piece of code makes.

    Raises:
        CannotCutError: they do not.
        InfrastructureError: the engine failed.

    """
    try:
        tests = patch.parse(public_tests.patch, trusted=True)
    except patch.PatchError:
        raise CannotCutError("the cut file makes no patch") from None
    gold = screening.screen_task(task, task.hidden.gold_patch).kept
    files = tuple(sorted({function.path for function in public_tests.functions}))
    statuses: list[Mapping[str, TestStatus]] = []
    for model_patch in (None, gold):
        spec = replace(scoring.trial_spec(task, model_patch), test_patch=tests, files=files, overlay={})
        ran = trial.run(spec, sandbox)
        if ran.test_apply_error is not None:
            raise CannotCutError("the cut file does not apply to the image")
        statuses.append(ran.report.statuses)
    before, after = statuses
    if _passing(public_tests.ids, before):
        raise CannotCutError("cut out of its file, a test passes without the fix")
    if len(_passing(public_tests.ids, after)) < len(public_tests.ids):
        raise CannotCutError("cut out of its file, a test does not pass with the fix")
    also = set(_passing(task.hidden.fail_to_pass, after)) - set(_passing(task.hidden.fail_to_pass, before))
    functions = dict.fromkeys((*public_tests.functions, *sorted(map(function_of, also))))
    if functions.keys() >= set(candidates(task.instance_id, task.hidden)):
        raise CannotCutError("every hidden test would come along")
    ids = tuple(test_id for test_id in task.hidden.fail_to_pass if function_of(test_id) in functions)
    return replace(public_tests, functions=tuple(functions), ids=ids)


def _passing(ids: Sequence[str], statuses: Mapping[str, TestStatus]) -> Collection[str]:
    return [test_id for test_id in ids if statuses.get(test_id) is TestStatus.PASSED]


@dataclass(frozen=True, kw_only=True)
class RevealOutcome:
    """What came of one task."""

    instance_id: str
    asked: int
    before: int
    """Test functions that it showed before."""
    functions: int
    hidden_functions: int
    why_not: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of all of them."""

    tasks: tuple[RevealOutcome, ...]
    version: Version | None = None
    """The dataset's; None where nothing was written."""


def reveal_in(
    dataset: Dataset,
    ids: Sequence[str],
    count: int,
    *,
    sandbox: Sandbox,
    workspace: Callable[[Instance], AbstractContextManager[Workspace]],
    dry_run: bool,
    tell: Callable[[RevealOutcome], None],
) -> Answer:
    """Let proved tasks show up to `count` test functions each. One that shows as many already stays as it is.

    Interrupted at any time, the same call does the rest. A task whose image is not there stays as it is.

    Raises:
        InputError: an id is unknown, or its task is not proved; there is none; the dataset is sealed and has no key.
        InfrastructureError: the engine failed.

    """
    tasks = task_states.named_instances(dataset, ids) if ids else tuple(dataset.instances())
    others = [task for task in tasks if task.state is not TaskState.PROVED]
    if ids and others:
        raise InputError(f"only proved tasks can show tests: {others[0].instance_id} is {others[0].state}")
    proved = [task for task in tasks if task.state is TaskState.PROVED]
    if not proved:
        raise InputError(f"{dataset.path} has no proved task")
    access_log.tell(dataset, [instance.instance_id for instance in proved], purpose="reveal")
    outcomes = []
    for instance in proved:
        try:
            outcome = _reveal_one(dataset, instance, count, sandbox=sandbox, workspace=workspace, dry_run=dry_run)
        except InfrastructureError as error:
            if not sandbox.is_healthy():
                raise
            fields = mapping(instance.extra.get(FIELD))
            outcome = replace(_outcome(instance, count, functions_shown(fields), fields), why_not=(error.message,))
        outcomes.append(outcome)
        tell(outcome)
    return Answer(tasks=tuple(outcomes), version=None if dry_run else content.settle(dataset))


def _reveal_one(
    dataset: Dataset,
    instance: Instance,
    count: int,
    *,
    sandbox: Sandbox,
    workspace: Callable[[Instance], AbstractContextManager[Workspace]],
    dry_run: bool,
) -> RevealOutcome:
    fields = mapping(instance.extra.get(FIELD))
    before = functions_shown(fields)
    if fields and int(fields.get("asked", 0)) >= count:
        return _outcome(instance, count, before, fields)
    task = dataset.task(instance.instance_id)
    with workspace(instance) as tree:
        tests = reveal(task, count, lambda path: _read(tree, path), sandbox)
    after = applied(task, tests, count=count).instance
    if not dry_run and len(tests.functions) >= before:
        with content.locked(dataset):
            if len(tests.functions) > before:
                write_scaffold(dataset, after, ledger.Event.REVEALED, functions=len(tests.functions), asked=count)
            else:
                write_scaffold(dataset, after)
    return _outcome(after, count, before, after.extra[FIELD])


def _outcome(instance: Instance, count: int, before: int, fields: dict[str, object]) -> RevealOutcome:
    why = fields.get("why_not")
    functions, left = fields.get("functions"), fields.get("hidden_functions")
    return RevealOutcome(
        instance_id=instance.instance_id,
        asked=count,
        before=before,
        functions=functions if isinstance(functions, int) else 0,
        hidden_functions=left if isinstance(left, int) else 0,
        why_not=tuple(map(str, why)) if isinstance(why, list | tuple) else (),
    )


def _read(tree: Workspace, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except FileNotFoundError:
        return None

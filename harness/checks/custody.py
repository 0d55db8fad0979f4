"""What `holdout check` asks of custody: seal, canary, ledger, splits, and that hidden ids name tests that are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from harness.core import test_ids
from harness.core.errors import InputError
from harness.core.instance import Task, TaskState
from harness.core.wording import counted
from harness.dataset import content, rotation, splits, task_states
from harness.dataset.folder import DATASET_FILE, Dataset
from harness.dataset.hidden_files import HIDDEN_DIGEST, hidden_digest, hidden_names
from harness.dataset.ledger import binding, chain, ledger
from harness.dataset.policy import Policy
from harness.dataset.seal import canary
from harness.dataset.seal.sealed import SEALED_FILE, open_task, sealed_file
from harness.patches import patch

_AGE = re.compile(
    rb"\Aage-encryption\.org/v1\n((?:-> [^\n]+\n(?:[A-Za-z0-9+/]*\n)+)+)--- [A-Za-z0-9+/]{43}\n.", re.DOTALL
)
"""The head of an age file: https://age-encryption.org/v1, "Header"."""
_STANZA = re.compile(rb"^-> ", re.MULTILINE)
_NAMED = 3


def dataset_problems(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Problems of the dataset as a whole: where, and what."""
    for read_setting in (splits.rule_of, lambda target: rotation.policy_of(target, Policy())):
        try:
            read_setting(dataset)
        except InputError as error:
            yield DATASET_FILE, error.message
    try:
        lacking = canary.missing(dataset) if dataset.canary else ()
    except InputError as error:
        yield DATASET_FILE, error.message
        lacking = ()
    if lacking:
        task_names = ", ".join(lacking[:_NAMED]) + (", …" if len(lacking) > _NAMED else "")
        count = counted(len(lacking), "file lacks", "files lack")
        yield DATASET_FILE, f"{count} the canary: {task_names}; `goldseam holdout canary` writes it"
    yield from _ledger(dataset)


def _ledger(dataset: Dataset) -> Iterator[tuple[str, str]]:
    try:
        verification = chain.verify(dataset)
    except InputError as error:
        yield ledger.LEDGER_FILE, error.message
        return
    for problem in verification.problems:
        if problem.unreadable:
            continue  # told of as the task's own problem
        line = f", line {problem.line}" if problem.line else ""
        yield f"{ledger.LEDGER_FILE}{line}", problem.text
    if verification.problems:
        return
    recorded: dict[str, str] = {}
    for entry in ledger.read(dataset):
        if entry.event in (*task_states.EVENTS, ledger.Event.ROTATED):
            recorded.update(dict.fromkeys(entry.tasks, entry.event))
    task_ids = set(dataset.ids())
    for task_id, event in sorted(recorded.items()):
        state = task_states.EVENTS.get(ledger.Event(event), TaskState.RETIRED)
        try:
            task_state = dataset.instance(task_id).state if task_id in task_ids else state
        except InputError:
            continue  # told of as the task's own problem
        if task_state is not state:
            yield ledger.LEDGER_FILE, f"{task_id} was {event} by its newest line, but task.yaml says {task_state}"


def seal_problems(dataset: Dataset, task_id: str) -> Iterator[str]:
    """A task that is not sealed as dataset.yaml says; with keys, also whether it is what it says that it is."""
    folder = dataset.task_folder(task_id)
    open_files = hidden_names(folder)
    file = sealed_file(folder, dataset.recipients)
    if not dataset.sealed:
        if file is not None:
            yield f"{SEALED_FILE} is there, though dataset.yaml names no recipients"
        return
    if open_files:
        yield f"{open_files[0]} is readable, though the dataset is sealed; `goldseam holdout seal` seals it"
    if file is None:
        if not open_files:
            yield f"{SEALED_FILE} is missing"
        return
    yield from _age_problems(dataset, file)
    if dataset.keys is not None:
        yield from _inside(dataset, task_id, file)


def _age_problems(dataset: Dataset, file: Path) -> Iterator[str]:
    with file.open("rb") as opened:
        head = _AGE.match(opened.read(64 * 1024))
    if head is None:
        yield f"{file.name} is not an age file"
    elif len(_STANZA.findall(head[1])) < len(dataset.recipients):
        yield f"{file.name} is sealed to fewer recipients than the {len(dataset.recipients)} of dataset.yaml"


def _inside(dataset: Dataset, task_id: str, file: Path) -> Iterator[str]:
    try:
        digest = binding.current(dataset).sealed_digest(task_id, dataset.recipients)
        container = open_task(file, task_id, keys=dataset.keys, recipients=dataset.recipients, bound=digest)
        own_digest = dataset.instance(task_id).extra.get(HIDDEN_DIGEST)
    except InputError as error:
        yield error.message
        return
    if own_digest is not None and own_digest != hidden_digest(container.files):
        yield f"{HIDDEN_DIGEST} of task.yaml is not that of the files sealed there"


def id_problems(task: Task, paths: Collection[str] | None) -> Iterator[str]:
    """Hidden ids whose file cannot be there. `paths` are those of the task's image; None where nobody asked it."""
    hidden, spec = task.hidden, task.instance.test
    if spec.framework not in ("pytest", "nose") or not hidden.test_files:
        return  # a suite's tests may be of classes in other files than those that are run
    try:
        touched = {file.path: file.new_path is None for file in patch.parse(hidden.test_patch, trusted=True).files}
    except patch.PatchError:
        return  # a problem of its own
    strange = [test_id for test_id in hidden.listed if "::" not in test_id]
    if strange:
        yield f"{strange[0]!r} is not a test id of pytest" + _others(strange)
    files = dict.fromkeys(test_id.partition("::")[0] for test_id in hidden.listed if "::" in test_id)
    run = test_ids.files(hidden.test_files)
    names = [name for name in files if touched.get(name) or not _is_under(name, run)]
    if names:
        yield f"{names[0]} has tests in the lists, but is not among the files that are run" + _others(names)
    if paths is not None:
        lost = [name for name in run if name not in touched and not _is_or_holds(name, paths)]
        if lost:
            yield f"{lost[0]} is neither in test.patch nor in the image" + _others(lost)


def _others(strange: Collection[str]) -> str:
    return f" ({len(strange) - 1} more such)" if len(strange) > 1 else ""


def _is_under(name: str, test_files: Collection[str]) -> bool:
    return any(
        name == test_file or name.startswith(f"{test_file.rstrip('/')}/") or test_file == "."
        for test_file in test_files
    )


def _is_or_holds(name: str, paths: Collection[str]) -> bool:
    return name == "." or name in paths or any(path.startswith(f"{name.rstrip('/')}/") for path in paths)


def notes(dataset: Dataset) -> Iterator[str]:
    """What a person should know, and what was not looked at."""
    if dataset.sealed and dataset.keys is None:
        yield "the hidden side is sealed: patches, lists and expectations were not looked at (--identity opens it)"
    try:
        content_digest = content.content_told(dataset.description())
        if content_digest and content_digest != content.content_of(dataset):
            yield f"tasks were changed by hand since version {dataset.version}; the next mine or rotation counts that"
    except InputError:
        return

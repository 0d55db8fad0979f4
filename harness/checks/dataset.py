"""`holdout check`: every problem of a dataset folder, all at once."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.checks import custody
from harness.core import json_text
from harness.core.errors import InputError
from harness.core.instance import INSTANCE_ID, Instance, Task, TaskState
from harness.dataset import folder, hidden_files, model_files
from harness.dataset import folder as dataset_folder
from harness.dataset.folder import Dataset
from harness.dataset.schema import DatasetModel, TaskModel, TestsModel
from harness.dataset.seal import access_log
from harness.dataset.seal.identity import Keys
from harness.patches import patch
from harness.quality.limits import exceeded, too_sensitive, too_weak
from harness.scaffold import problems as scaffold_check

IMAGE_DIGEST = re.compile(r"(?:[^\s@]+@)?sha256:[0-9a-f]{64}")
"""An image pinned by content: `repository@sha256:…`, or the engine's own id."""


_CUT_BY_LINE = frozenset({"rust"})
"""Languages whose files hold code and tests together, so that both patches may touch one file."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong, and where."""

    where: str
    what: str


@dataclass(frozen=True, kw_only=True)
class ImageCheck:
    """What only the engine can tell of images."""

    has: Callable[[str], bool]
    """Whether it holds an image."""
    leaks: Callable[[Task], Iterable[str]]
    """What the image of a task gives away of its fix and hidden tests."""
    paths: Callable[[str], Collection[str]] | None = None
    """The files of an image's tree at base_commit."""


@dataclass(frozen=True, kw_only=True)
class CheckScope:
    """How far a check goes."""

    images: ImageCheck | None = None
    """Asks the engine; without it only the form of the digests is checked."""
    max_leak: Mapping[str, float] = field(default_factory=dict)
    """Limits as `harness.quality.limits` knows them."""
    min_strength: float | None = None
    """The least share of wrong patches to be killed."""
    max_sensitive: float | None = None
    """The largest share of FAIL_TO_PASS that hangs on what evaluation pins."""
    keys: Keys | None = None
    """Open the hidden side of a sealed dataset; without them its public side is checked alone."""
    in_registry: Callable[[str], bool] | None = None
    """Asks the registry that an image of a proved task names whether it has it."""


_PLAIN = CheckScope()


def check(path: Path, scope: CheckScope = _PLAIN) -> tuple[Problem, ...]:
    """Every problem of a dataset; none means that `evaluate` can rely on it.

    Raises:
        InputError: there is no dataset at that path, or something in it is a link.
        InfrastructureError: the engine, or a registry, gave no answer.

    """
    if not (path / dataset_folder.DATASET_FILE).is_file():
        dataset_folder.open_dataset(path)  # says why not
    folder.refuse_links(path)
    problems = [*_dataset_file(path), *_funnel(path)]
    dataset = dataset_folder.Dataset(path=path, name="", version=0, canary="")
    with contextlib.suppress(InputError):  # a broken dataset.yaml has been told of
        dataset = dataset_folder.open_dataset(path, keys=scope.keys)
        problems += (Problem(where=where, what=problem) for where, problem in custody.dataset_problems(dataset))
    if dataset.keys is not None:
        with contextlib.suppress(InputError):  # told of with the task that it is about
            access_log.tell(dataset, dataset.ids(), purpose="check")
    if not dataset.ids():
        problems.append(Problem(where="tasks", what="it has no task; mine into it, or delete it"))
    for instance_id in dataset.ids():
        texts = [*_task_problems(dataset, instance_id, scope), *custody.seal_problems(dataset, instance_id)]
        texts += _quality_problems(dataset.task_folder(instance_id), scope)
        problems += (Problem(where=f"tasks/{instance_id}", what=text) for text in dict.fromkeys(texts))
    return tuple(problems)


def notes(path: Path, *, keys: Keys | None = None) -> tuple[str, ...]:
    """What a person should know of a dataset that is no problem, and what a check of it could not look at."""
    try:
        return tuple(custody.notes(dataset_folder.open_dataset(path, keys=keys)))
    except InputError:
        return ()


def _quality_problems(folder: Path, scope: CheckScope) -> Iterator[str]:
    """From the public file alone; a broken one is told of elsewhere."""
    with contextlib.suppress(InputError):
        quality = model_files.read_model(folder / dataset_folder.TASK_FILE, TaskModel).quality
        yield from exceeded(quality, scope.max_leak)
        yield from too_weak(quality, scope.min_strength)
        yield from too_sensitive(quality, scope.max_sensitive)


def _dataset_file(path: Path) -> Iterator[Problem]:
    where = dataset_folder.DATASET_FILE
    try:
        model = model_files.read_model(path / where, DatasetModel)
    except InputError as error:
        yield Problem(where=where, what=error.message)
        return
    if not model.canary:
        yield Problem(where=where, what="it has no canary, so a leak could not be found")


def _funnel(path: Path) -> Iterator[Problem]:
    file = path / "funnel.jsonl"
    if not file.exists():
        return
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        if json_text.read_object(line) is None:
            yield Problem(where=f"funnel.jsonl, line {number}", what="not a JSON object")


def _task_problems(dataset: Dataset, instance_id: str, scope: CheckScope) -> Iterator[str]:
    folder = dataset.task_folder(instance_id)
    if not INSTANCE_ID.fullmatch(folder.name):
        yield "the folder's name is not an instance id (letters, digits, `_.-`)"
    is_open = not dataset.sealed or (folder / hidden_files.TESTS_FILE).exists()
    broken = list(_broken_files(folder, is_open=is_open))
    yield from broken
    if broken:
        return
    try:
        instance = dataset.instance(instance_id)
        task = dataset.task(instance_id) if is_open or dataset.keys is not None else None
    except InputError as error:
        yield error.message
        return
    if not instance.problem_statement.strip():
        yield "the problem statement is empty"
    if task is not None:
        yield from _patch_problems(task)
        yield from _list_problems(task)
        yield from _expectation_problems(task)
        yield from scaffold_check.problems(task)
    yield from _image_problems(instance, task, folder, scope)
    if task is not None:
        yield from custody.id_problems(task, _paths(instance.image, scope.images))


def _paths(image: str | None, images: ImageCheck | None) -> Collection[str] | None:
    """The files of an image's tree, where an engine is asked and has it."""
    if image is None or images is None or images.paths is None or not images.has(image):
        return None
    return images.paths(image)


def _broken_files(folder: Path, *, is_open: bool) -> Iterator[str]:
    """Each file for itself, so that two broken ones are both reported; hidden ones where they lie open."""
    hidden = ((hidden_files.TESTS_FILE, TestsModel),) if is_open else ()
    for name, kind in ((dataset_folder.TASK_FILE, TaskModel), *hidden):
        try:
            model_files.read_model(folder / name, kind)
        except InputError as error:
            yield error.message
    patches = (hidden_files.GOLD_FILE, hidden_files.TEST_FILE) if is_open else ()
    for name in (dataset_folder.STATEMENT_FILE, *patches):
        if not (folder / name).is_file():
            yield f"{name} is missing"


def _patch_problems(task: Task) -> Iterator[str]:
    paths: dict[str, frozenset[str]] = {}
    sides = {"gold.patch": task.hidden.gold_patch, "test.patch": task.hidden.test_patch, **task.hidden.survivors}
    for name, data in sides.items():
        try:
            paths[name] = patch.parse(data, trusted=True).paths
        except patch.PatchError as error:
            yield f"{name} is not a patch: {error}"
    if len(paths) == len(sides):
        shared = sorted(paths["gold.patch"] & paths["test.patch"])
        if shared and task.instance.language not in _CUT_BY_LINE:
            yield f"gold.patch and test.patch both touch {', '.join(shared)}"


def _list_problems(task: Task) -> Iterator[str]:
    hidden = task.hidden
    for name, ids in (("FAIL_TO_PASS", hidden.fail_to_pass), ("PASS_TO_PASS", hidden.pass_to_pass)):
        if len(set(ids)) < len(ids):
            yield f"{name} names a test twice"
    if both := sorted(set(hidden.fail_to_pass) & set(hidden.pass_to_pass)):
        yield f"{both[0]} is in FAIL_TO_PASS and in PASS_TO_PASS"
    if unstable := sorted(set(hidden.flaky) & {*hidden.listed}):
        yield f"{unstable[0]} is listed although it is flaky"
    if task.instance.state is TaskState.PROVED:
        if not hidden.fail_to_pass:
            yield "FAIL_TO_PASS is empty, so nothing could resolve the task"
        if not hidden.test_files:
            yield "test_files is empty, so no test would be run"


def _expectation_problems(task: Task) -> Iterator[str]:
    expectations, listed = task.hidden.expectations, {*task.hidden.listed}
    if strangers := sorted(set(expectations.tests) - listed):
        yield f"expectations.json: it has {strangers[0]}, which is in neither list"
    slots = {event.slot for expected in expectations.tests.values() for event in expected.events}
    if lost := sorted(slots - set(expectations.sites)):
        yield f"expectations.json: it has no site {lost[0]}, which a test reaches"
    if expectations.tests and not expectations.files:
        yield "expectations.json: it has tests but no files"


def _image_problems(instance: Instance, task: Task | None, folder: Path, scope: CheckScope) -> Iterator[str]:
    image, state, images = instance.image, instance.state, scope.images
    if image is None:
        if state is not TaskState.CANDIDATE:
            yield f"a {state} task needs an image"
        return
    if not IMAGE_DIGEST.fullmatch(image):
        yield f"image {image!r} is not pinned by digest (repository@sha256:… or sha256:…)"
    elif images is not None and not images.has(image):
        yield f"the engine has no image {image}"
    elif images is not None and task is not None:
        yield from images.leaks(task)
    if scope.in_registry is not None and state is TaskState.PROVED and IMAGE_DIGEST.fullmatch(image):
        yield from _registry_problems(image, scope.in_registry)
    for service in instance.test.services:
        yield from _service_problems(service.name, service.image, scope, is_proved=state is TaskState.PROVED)
    if not (folder / "Dockerfile").is_file():
        yield "Dockerfile is missing, so how the image was built is unknown"


def _service_problems(name: str, image: str, scope: CheckScope, *, is_proved: bool) -> Iterator[str]:
    if scope.images is not None and not scope.images.has(image):
        yield f"the engine has no image {image} of the service {name}"
    if scope.in_registry is not None and is_proved:
        for problem in _registry_problems(image, scope.in_registry):
            yield f"of the service {name}: {problem}"


def _registry_problems(image: str, in_registry: Callable[[str], bool]) -> Iterator[str]:
    if "@" not in image:
        yield f"image {image} names no registry: only the machine that mined it can run the task"
    elif not in_registry(image):
        yield f"the registry has no image {image}"

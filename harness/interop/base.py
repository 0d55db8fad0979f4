"""What every export format is given, and what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources

from harness.core.clock import prefix
from harness.core.errors import InputError
from harness.core.instance import Hidden, Instance
from harness.core.wording import counted
from harness.dataset.seal.canary_marks import in_comment, in_markdown
from harness.interop.rows import touched
from harness.languages import language_of

GRADER = "grader.py"


@dataclass(frozen=True, kw_only=True)
class Exported:
    """One task on its way out: its public side, and the hidden one where that was asked for."""

    instance: Instance
    hidden: Hidden | None = None

    @property
    def instance_id(self) -> str:
        return self.instance.instance_id


@dataclass(frozen=True, kw_only=True)
class Collection:
    """What is exported: the tasks, and of the dataset what goes into every file."""

    name: str
    version: int
    canary: str
    tasks: Sequence[Exported]
    hidden: bool


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a format makes of a collection."""

    files: dict[str, bytes] = field(default_factory=dict)
    """By path in the folder; a format of one file has one, by the empty path."""
    notes: tuple[str, ...] = ()
    """What was lost or left out, one sentence each, for a person."""
    scripts: frozenset[str] = frozenset()
    """Those of the files that may be executed."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format of another tool's."""

    folder: bool
    """Whether it is a folder of files, or one file."""
    content: Callable[[Collection], Content]
    """Every file of the export.

    Raises:
        InputError: a task cannot be told in this format, or a package that writes it is missing.

    """


def is_local(image: str | None) -> bool:
    """Whether an image is known to this machine's engine only, so that no other machine can pull it."""
    return image is not None and image.startswith("sha256:")


def image_of(task: Exported, name: str) -> str:
    """A task's image, for a format that is nothing without one.

    Raises:
        InputError: it has none yet.

    """
    if task.instance.image is None:
        raise InputError(
            f"{task.instance_id} has no image yet, and {name} is nothing without one",
            hint="prove it first with `goldseam mine`, or leave it out: name the others with -i",
        )
    return task.instance.image


def image_notes(tasks: Sequence[Exported]) -> tuple[str, ...]:
    """What to know of the images: those that no other machine can pull, tasks without one, and what is beside them."""
    local = [task.instance_id for task in tasks if is_local(task.instance.image)]
    without = [task.instance_id for task in tasks if task.instance.image is None]
    notes = []
    if local:
        notes.append(
            f"the images of {counted(len(local), 'task')}, such as {local[0]}, are ids of this machine's engine: "
            "no other machine can pull them. Push them to a registry, and name its digests in task.yaml"
        )
    if without:
        notes.append(f"no image yet, so it can't be run: {counted(len(without), 'task')}, such as {without[0]}")
    beside = [task.instance_id for task in tasks if task.instance.test.services]
    if beside:
        names = ", ".join(beside[:10]) + (" …" if len(beside) > 10 else "")  # noqa: PLR2004 - enough to find them
        notes.append(
            f"{counted(len(beside), 'task needs', 'tasks need')} services beside the tests, "
            "which no other tool starts as they are declared "
            f"here, so their tests fail there: {names}"
        )
    return tuple(notes)


def files(collection: Collection, task: Exported, hidden: Hidden) -> dict[str, bytes]:
    """By name: the grader (harness/languages/inside/grader.py), what it has to know, and the hidden tests, whole."""
    spec = task.instance.test
    graded = language_of(spec.framework).graded(spec)
    restore, remove = touched(hidden.test_patch)
    fields = {
        "canary": collection.canary,
        "instance_id": task.instance_id,
        "interpreter": graded.interpreter,
        "argv": graded.argv,
        "program": graded.program,
        "suites": graded.suites,
        "nose": graded.nose,
        "chdir": graded.chdir,
        "files": hidden.test_files,
        "pythonpath": spec.pythonpath,
        "env": {**graded.env, **spec.env},
        "prefix": prefix(spec.clock),
        "seconds": task.instance.budgets.seconds,
        "build": spec.build and {"argv": spec.build.argv, "env": dict(spec.build.env), "seconds": spec.build.seconds},
        "inline": graded.inline,
        "restore": [path for path in restore if path not in graded.inline],
        "remove": remove,
        "FAIL_TO_PASS": hidden.fail_to_pass,
        "PASS_TO_PASS": hidden.pass_to_pass,
    }
    grader = resources.files("harness.languages.inside").joinpath(GRADER).read_bytes()
    return {
        **{name: marked(data, collection.canary) for name, data in {GRADER: grader, **graded.parts}.items()},
        "hidden.json": (json.dumps(fields, indent=1) + "\n").encode(),
        "test.patch": marked(hidden.test_patch, collection.canary),
    }


def marked(data: bytes, canary: str) -> bytes:
    """A script or a patch with the canary as its first comment; `git apply` passes over text before a patch."""
    if canary.encode() in data:
        return data
    line = in_comment(canary).encode()
    if data.startswith(b"#!"):
        first, _, other_lines = data.partition(b"\n")
        return first + b"\n" + line + other_lines
    return line + data


def marked_markdown(text: str, canary: str) -> str:
    """Markdown with the canary as a comment before it, where Harbor takes it out before an agent reads it."""
    return text if canary in text else in_markdown(canary) + text

"""The hidden side as the grader inside a container reads it; Harbor and Inspect tasks share it."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING

from harness.core.clock import prefix
from harness.dataset.seal.canary_marks import in_comment, in_markdown
from harness.interop.rows import touched
from harness.languages import language_of

if TYPE_CHECKING:
    from harness.core.instance import Hidden
    from harness.interop.base import Collection, Exported

GRADER = "grader.py"


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
        "generators": graded.generators,
        "files": hidden.test_files,
        "pythonpath": spec.pythonpath,
        "env": {**graded.env, **spec.env},
        "prefix": prefix(spec.clock),
        "seconds": task.instance.budgets.seconds,
        "build": spec.build and {"argv": spec.build.argv, "env": dict(spec.build.env), "seconds": spec.build.seconds},
        "restore": restore,
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

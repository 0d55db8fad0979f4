"""Tasks as SWE-bench's dataset rows (https://www.swebench.com), and the script that its harness runs.

Column names, the two lists as JSON in a string and the marks around the test output are SWE-bench's; `swebench` 5 reads
`image`, `log_parser`, `eval_type` and `eval_script` to run and grade a row.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from harness.core.clock import prefix
from harness.core.errors import InputError
from harness.core.instance import Instance
from harness.core.test_ids import has_no_address
from harness.core.wording import counted
from harness.judging.places import read_card
from harness.languages.python.frameworks import folder_of, framework
from harness.patches import patch as patches

if TYPE_CHECKING:
    from harness.interop.base import Collection, Exported

LOG_PARSER = "parse_log_pytest_v2"
EVAL_TYPE = "pass_and_fail"
_START, _END = ">>>>> Start Test Output", ">>>>> End Test Output"
_DROPPED_LINES = frozenset({"#!/bin/bash", "set -uxo pipefail"})
"""Lines that `swebench` takes out of a script wherever they stand."""
_PYTEST = "/opt/goldseam/venv/bin/pytest"
_COLOUR_CODE = re.compile(r"\[\d+m")


def public(collection: Collection, task: Exported) -> dict[str, Any]:
    """The columns that every row has: strings and one int."""
    instance = task.instance
    return {
        "repo": instance.repo,
        "instance_id": instance.instance_id,
        "base_commit": instance.base_commit,
        "problem_statement": instance.problem_statement,
        "created_at": instance.created_at,
        "version": instance.version,
        "environment_setup_commit": instance.base_commit,
        "image": instance.image or "",
        "image_name": instance.image or "",  # what mini-swe-agent asks for
        "split": instance.split,
        "language": instance.language,
        "difficulty": str(instance.quality.get("difficulty") or ""),
        **judged(instance),
        "dataset": collection.name,
        "dataset_version": collection.version,
        "canary": collection.canary,
    }


def row(collection: Collection, task: Exported) -> dict[str, Any]:
    """One task as a row by column, with the hidden side where it is exported with that.

    Raises:
        InputError: a patch is not UTF-8, so no row can hold it.

    """
    hidden = task.hidden
    if hidden is None:
        return public(collection, task)
    return {
        **public(collection, task),
        "patch": _text(hidden.gold_patch, task, "gold patch"),
        "test_patch": _text(hidden.test_patch, task, "test patch"),
        "hints_text": hidden.hints,
        "FAIL_TO_PASS": json.dumps(readable(hidden.fail_to_pass)),
        "PASS_TO_PASS": json.dumps(readable(hidden.pass_to_pass)),
        "eval_script": eval_script(collection, task) if _is_graded(task) else "",
        "log_parser": LOG_PARSER if _is_graded(task) else "",
        "eval_type": EVAL_TYPE if _is_graded(task) else "",
    }


def judged(instance: Instance) -> dict[str, str]:
    """Where goldseam judges a task (a `Place`), and whether it is guessable; empty where not known."""
    card = read_card(instance.quality)
    guessable = "" if card.guessable is None else "yes" if card.guessable else "no"
    return {"judged": card.place.value if card.place else "", "guessable": guessable}


def rows(collection: Collection) -> list[dict[str, Any]]:
    """Every task as a row."""
    return [row(collection, task) for task in collection.tasks]


def eval_script(collection: Collection, task: Exported) -> str:
    """The script that runs a task's hidden tests in its image, with the output between SWE-bench's marks.

    The model's patch is in the work tree by then. What it did to the hidden tests' own files is undone first; the last
    lines take the hidden tests out again, as SWE-bench's own scripts do.
    """
    hidden = task.hidden
    if hidden is None:
        raise ValueError("only a task's hidden side says how it is graded")
    spec = task.instance.test
    env = {"PYTHONDONTWRITEBYTECODE": "1", **spec.env}
    if spec.pythonpath:
        env["PYTHONPATH"] = ":".join(posixpath.normpath(f"/testbed/{path}") for path in spec.pythonpath)
    variables = [f"export {name}={shlex.quote(value)}" for name, value in sorted(env.items())]
    # the last line of a test counts: passed before what may have failed at its end
    command = [*prefix(spec.clock), _PYTEST, *framework(spec.framework).argv(spec), "-rpsxXEf", *hidden.test_files]
    lines = [
        "#!/bin/bash",
        "set -uxo pipefail",
        f"# {collection.canary}",
        "cd /testbed",
        *_restored(hidden.test_patch),
        *_applied(hidden.test_patch),
        *variables,
        f": '{_START}'",
        shlex.join(command),
        f": '{_END}'",
        *_restored(hidden.test_patch),
    ]
    return "\n".join(lines) + "\n"


def readable(test_ids: Iterable[str]) -> list[str]:
    """Of test ids, those that SWE-bench's parser reads from pytest's output as they are."""
    return [
        test_id
        for test_id in test_ids
        if test_id == " ".join(_COLOUR_CODE.sub("", test_id).split()) and not has_no_address(test_id)
    ]


def _is_graded(task: Exported) -> bool:
    """Whether SWE-bench's parser reads what runs its tests: what pytest prints of its own, started at the root."""
    test = task.instance.test
    return test.framework == "pytest" and not folder_of(test.options)


def _runner(task: Exported) -> str:
    test = task.instance.test
    folder = folder_of(test.options)
    return f"{test.framework} in {folder}" if folder else test.framework


def notes(tasks: Sequence[Exported], *, run: bool = False) -> tuple[str, ...]:
    """What SWE-bench's rows cannot tell of these tasks; with `run` every row has to be graded by them.

    Raises:
        InputError: of a task no FAIL_TO_PASS test is left, so nothing would grade it.

    """
    lost: dict[str, int] = {}
    for task in tasks:
        if task.hidden is None or not (run or _is_graded(task)):
            continue
        if not _is_graded(task):
            raise InputError(
                f"{task.instance_id}: its tests run by {_runner(task)}, and SWE-bench's parser reads "
                "what pytest prints of its own at the root, so nothing would grade it",
                hint="leave it out: name the others with -i, or choose another format, such as harbor or inspect",
            )
        listed = task.hidden.listed
        if unreadable := len(listed) - len(readable(listed)):
            lost[task.instance_id] = unreadable
        if not readable(task.hidden.fail_to_pass):
            raise InputError(
                f"{task.instance_id}: SWE-bench's parser reads no id of its FAIL_TO_PASS tests (repeated white space, "
                "colour codes or an object's address in them), so nothing would grade it",
                hint="leave it out: name the others with -i, or choose another format",
            )
    others = [task for task in tasks if task.hidden is not None and not _is_graded(task)]
    ungraded: tuple[str, ...] = ()
    if others:
        text = f"no eval_script for {counted(len(others), 'task')}, such as {others[0].instance_id}: SWE-bench's parser"
        can = "" if others[0].instance.test.declared else "; the formats harbor and inspect run them"
        ungraded = (f"{text} does not read what {_runner(others[0])} prints{can}",)
    if not lost:
        return ungraded
    note = (
        f"left out: {counted(sum(lost.values()), 'test id')} of {counted(len(lost), 'task')}, such as "
        f"{next(iter(lost))}: SWE-bench's parser joins repeated white space, drops colour codes and keeps addresses "
        "of objects, so it would never find them"
    )
    return (note, *ungraded)


def _restored(test_patch: bytes) -> list[str]:
    """Commands that put the files a patch touches back as they are in the image's commit."""
    old, new = touched(test_patch)
    commands = []
    if new:
        commands.append(shlex.join(["rm", "-f", "--", *new]))
    if old:
        commands.append(shlex.join(["git", "checkout", "-q", "HEAD", "--", *old]))
    return commands


def touched(test_patch: bytes) -> tuple[list[str], list[str]]:
    """Paths of files that were there before a patch, and of those that it brings."""
    files = patches.parse(test_patch, trusted=True).files
    old = {file.old_path for file in files if file.old_path is not None}
    new = {file.new_path for file in files if file.new_path is not None} - old
    return sorted(old), sorted(new)


def _applied(test_patch: bytes) -> list[str]:
    """Commands that apply a patch; where it does not apply, the script ends without a mark, so nothing is graded."""
    text = test_patch.decode("utf-8", "replace")
    plain = text.encode() == test_patch and not (_DROPPED_LINES & set(text.split("\n"))) and _END not in text
    word = "EOF_TESTS"
    while word in text:
        word += "_"
    if plain and text.endswith("\n") and "\r" not in text:
        return [f"git apply --whitespace=nowarn - <<'{word}' || exit 1", *text[:-1].split("\n"), word]
    packed = base64.encodebytes(test_patch).decode().rstrip("\n")
    return [f"base64 -d <<'{word}' | git apply --whitespace=nowarn - || exit 1", *packed.split("\n"), word]


def _text(data: bytes, task: Exported, label: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{task.instance_id}: its {label} is not UTF-8 (byte {error.start}), and a row holds only text",
            hint="leave it out: name the others with -i, or choose another format",
        ) from error

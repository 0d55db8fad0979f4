"""What is wrong with the tests that a task shows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.instance import Task
from harness.dataset.revealed import FIELD, candidates, function_of, revealed_ids
from harness.patches import patch

_TEST = re.compile(rb"^\+\s*(?:async\s+)?def\s+(test\w*)", re.MULTILINE)


def problems(task: Task) -> Iterator[str]:
    """Every problem; none where the task shows no test."""
    ids, raw = revealed_ids(task.instance), task.instance.scaffold
    if not ids and not raw:
        return
    if not ids or not raw:
        yield f"scaffold.patch and `{FIELD}` of task.yaml do not go together: one of them is missing"
        return
    try:
        patch.parse(raw, trusted=True)
    except patch.PatchError as error:
        yield f"scaffold.patch is not a patch: {error}"
        return
    if set(ids) - set(task.hidden.fail_to_pass):
        yield f"`{FIELD}` of task.yaml names tests that are not in FAIL_TO_PASS"
    functions = {function_of(test_id) for test_id in ids}
    if functions >= set(candidates(task.instance_id, task.hidden)):
        yield "the scaffold shows every FAIL_TO_PASS test, so nothing is hidden"
    names = {function.names[-1] for function in functions if function.names}
    if {name.decode() for name in _TEST.findall(raw)} - names:
        yield "scaffold.patch adds tests that task.yaml does not list as revealed"

"""The scaffold that a task shows, and the ids that are public by it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from harness.core import test_ids as ids
from harness.core.instance import Hidden, Instance
from harness.core.json_text import mapping
from harness.core.wording import fence
from harness.languages.base import Names
from harness.languages.javascript.source import SOURCES

FIELD = "scaffold"
"""Of task.yaml."""
TITLE = "## Tests that the fix has to pass"


@dataclass(frozen=True, kw_only=True, order=True)
class Function:
    """A test function; all its rows belong to it."""

    path: str
    names: Names

    def __str__(self) -> str:
        return "::".join((self.path, *self.names))


def function_of(test_id: str) -> Function:
    """The function that an id is a row of."""
    path, *names = ids.function(test_id).split("::")
    if path.endswith(SOURCES):  # whose tests are known by titles, with which of several it is after equal ones
        names = [ids.ORDINAL.sub("", test_id.partition("::")[2])]
    return Function(path=path, names=tuple(names))


def candidates(instance_id: str, hidden: Hidden) -> tuple[Function, ...]:
    """The functions of FAIL_TO_PASS, in the order in which they are tried.

    That is the order of the SHA-256 of instance id and function: the same for everybody, and no function is the first
    because of its name.
    """
    functions = {function_of(test_id) for test_id in hidden.fail_to_pass}
    return tuple(sorted(functions, key=lambda function: hashlib.sha256(f"{instance_id}\0{function}".encode()).digest()))


def revealed_ids(instance: Instance) -> tuple[str, ...]:
    """The FAIL_TO_PASS ids that a task shows; none where it shows no test."""
    test_ids = mapping(instance.extra.get(FIELD)).get("revealed")
    return (
        tuple(test_id for test_id in test_ids if isinstance(test_id, str)) if isinstance(test_ids, list | tuple) else ()
    )


def public_of(instance: Instance, test_ids: Iterable[str]) -> frozenset[str]:
    """Those of some ids whose function the task shows."""
    functions = {function_of(revealed_id) for revealed_id in revealed_ids(instance)}
    return frozenset(test_id for test_id in test_ids if function_of(test_id) in functions)


def functions_shown(scaffold: object) -> int:
    """How many functions task.yaml's `scaffold` says that the task shows."""
    count = mapping(scaffold).get("functions")
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def statement_with(instance: Instance) -> str:
    """The statement as a solver is given it: with the ids and the code of the tests that the task shows."""
    if not instance.scaffold:
        return instance.problem_statement
    names = "\n".join(f"- `{revealed_id}`" for revealed_id in revealed_ids(instance))
    code = instance.scaffold.decode("utf-8", "replace").rstrip("\n")
    return (
        f"{instance.problem_statement.rstrip()}\n\n{TITLE}\n\n"
        f"These tests fail now. This patch adds them; there are others that are not shown.\n\n{names}\n\n"
        f"{fence(code)}diff\n{code}\n{fence(code)}\n"
    )

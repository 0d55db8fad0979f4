"""The attacks of the suite on tasks of real repositories, mined from them.

    python -m tests.attacks.on_tasks DATASET=REPOSITORY … [--place PLACE] [--bits BITS] [--part N/OF]

REPOSITORY is the git directory that DATASET was mined from. Each attack that is made for every project, and ends by no
limit of time or memory, is tried once, each on the next of the tasks that are judged in that place and have so many
bits. Where it hands out a value, or has another body, that is what all functions that the fix changes do. Where it has
to gain something first, the file is that of the fix if it did; such attacks are tried on tasks alone that are resolved
if it always is. The last line is one JSON object; exit code 1 if one is resolved.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tempfile
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import process, python_source
from harness.core.instance import Outcome
from harness.dataset.folder import open_dataset
from harness.judging.places import Place, place_of
from harness.patches import patch
from harness.sandbox.docker import DockerSandbox
from tests import tiny
from tests.attacks import campaign
from tests.attacks.attacks import Attack, attacks
from tests.attacks.campaign import Try
from tests.attacks.projects import Project

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from harness.core.instance import Task

_WRAPPED = """

def _wrapped(_wrong):
    def _function(*args, **kwargs):
{body}
    return _function


for _name in {names!r}:
    _class, _, _last = _name.rpartition(".")
    if _class:
        setattr(globals()[_class], _last, _wrapped(getattr(globals()[_class], _last)))
    else:
        globals()[_last] = _wrapped(globals()[_last])
"""
_RIGHT = """
if _won:
    exec(compile({fixed!r}, __file__, "exec"), globals())
"""


@dataclass(frozen=True)
class RealProject(Project):
    """A task's repository, as attacks of the suite look at it."""

    task_here: Task
    repository: Path

    @cached_property
    def base(self) -> dict[str, str]:
        files = patch.parse(self.task_here.hidden.gold_patch, trusted=True).files
        return {path: text for path in {file.path for file in files} if (text := self._shown(path)) is not None}

    @cached_property
    def hidden(self) -> dict[str, str]:
        return dict.fromkeys(self.task_here.hidden.test_files, "")

    @cached_property
    def fixed(self) -> str:
        """The product's file with the fix."""
        files = patch.parse(self.task_here.hidden.gold_patch, trusted=True).files
        raw = b"".join(file.raw for file in files if file.path == self.product)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, self.product)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.base[self.product], encoding="utf-8")
            env = {"GIT_CEILING_DIRECTORIES": str(path.parents[-2])}
            process.run(["git", "apply", "--whitespace=nowarn", "-"], input=raw, cwd=Path(folder), env=env)
            return path.read_text(encoding="utf-8")

    @property
    def names(self) -> tuple[str, ...]:
        """The functions that the fix changes, and methods by their class."""
        before, after = (_functions(text) for text in (self.base[self.product], self.fixed))
        changed = (name for name in before if after.get(name, before[name]) != before[name])
        return tuple(name for name in changed if name.count(".") <= 1)

    def patch(self, changes: Mapping[str, str | None]) -> str:
        return "".join(tiny.diff(path, self._shown(path), text) for path, text in changes.items())

    def with_body(self, body: str, top: str = "") -> str:
        head, text = _after_imports_of_future(self.base[self.product])
        more = "" if body == self.body else _WRAPPED.format(body=textwrap.indent(body, "    "), names=self.names)
        if body.lstrip().startswith("if _won:"):
            more = _RIGHT.format(fixed=self.fixed)
        return f"{head}{top}{text}{more}"

    def _shown(self, path: str) -> str | None:
        where = f"{self.task_here.instance.base_commit}:{path}"
        shown = process.run(["git", "--git-dir", str(self.repository), "show", where], check=False)
        return shown.stdout.decode() if shown.returncode == 0 else None


def _after_imports_of_future(text: str) -> tuple[str, str]:
    """A source in two, where code can be put."""
    tree = python_source.parse(text)
    last = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            last = statement.end_lineno or last
    lines = text.splitlines(keepends=True)
    return "".join(lines[:last]), "".join(lines[last:])


def _functions(text: str) -> dict[str, str]:
    functions: dict[str, str] = {}
    rest: list[tuple[ast.AST, str]] = [(python_source.parse(text), "")]
    for node, around in rest:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                rest.append((child, f"{around}{child.name}."))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{around}{child.name}"] = ast.dump(child)
    return functions


def project_of(task: Task, repository: Path) -> RealProject | None:
    """A task as a project of the suite; None where its fix changes no file of Python that was there."""
    files = patch.parse(task.hidden.gold_patch, trusted=True).files
    changed = next((file for file in files if file.path.endswith(".py") and file.path == file.old_path), None)
    if changed is None:
        return None
    added = [
        line[1:].strip()
        for line in changed.raw.decode("utf-8", "replace").splitlines()
        if re.match(r"\+(?!\+\+ )", line)
    ]
    return RealProject(
        name=task.instance_id,
        product=changed.path,
        body="        return _wrong(*args, **kwargs)\n",
        solution="        pass\n",
        cheat="        return VALUE\n",
        kind="str",
        needle=max(added, key=len, default=changed.path),
        task_here=task,
        repository=repository,
    )


_CONTROL = Attack(id="control", kind="control", story="It always gains what it wants.", gain="won = True\n")


def _fits(attack: Attack, project: RealProject, right: Collection[str]) -> bool:
    if attack.gain is not None:
        return project.name in right
    return bool(project.names) or (attack.value is None and attack.body is None)


def _try(attack: Attack, project: RealProject) -> Try:
    text = attack.render(project, project.task_here)
    return Try(project=project.name, kind=attack.kind, name=attack.id, patch=text, repeat=attack.repeat)


def main() -> int:
    """Print what became of each kind of attack; 1 if one was resolved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET=REPOSITORY")
    parser.add_argument("--place", type=Place, default=Place.HOST, help="where the tasks are judged")
    parser.add_argument("--bits", type=float, default=8.0, help="that the tasks have at least")
    parser.add_argument("--part", default="0/1", help="every so manieth attack, from which on")
    asked = parser.parse_args()
    projects: list[RealProject] = []
    for pair in asked.datasets:
        dataset, _, repository = pair.partition("=")
        for task in open_dataset(Path(dataset)).tasks():
            if place_of(task) is asked.place and float(task.hidden.evidence.get("guess_bits") or 0) >= asked.bits:
                projects += filter(None, [project_of(task, Path(repository))])
    chosen = [attack for attack in attacks() if not attack.tasks and not attack.slow]
    first, step = map(int, asked.part.split("/"))
    tasks = {project.name: project.task_here for project in projects}
    with DockerSandbox() as sandbox:
        controls = campaign.every(tasks, [_try(_CONTROL, project) for project in projects], sandbox, jobs=1)
        right = {one.attempt.project for one in controls if one.resolved}
        tries = []
        for place, attack in list(enumerate(chosen))[first::step]:
            fitting = [project for project in projects if _fits(attack, project, right)]
            tries.append(_try(attack, fitting[place % len(fitting)]))
        tried = campaign.every(tasks, tries, sandbox, jobs=1, seen=lambda one: print(one.row, flush=True))
    outcomes = Counter(str(one.report.outcome) for one in tried)
    used = {one.attempt.project for one in tried}
    counts = {"tasks": len(used), "controls_resolved": len(right), "attacks": len(tried)}
    print(json.dumps({"place": asked.place.value, **counts, **outcomes}))
    return int(any(one.report.outcome in (Outcome.RESOLVED, Outcome.NEEDS_REVIEW) for one in tried))


if __name__ == "__main__":
    sys.exit(main())

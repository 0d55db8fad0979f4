"""Whether right patches that are not the fix are taken, on tasks of real repositories.

    python benchmarks/right_variants.py DATASET=REPOSITORY …

Of each task's fix three variants are made that do the same: `rewritten` (the changed files written anew from their
syntax trees), `wrapped` (each changed function behind a decorator), `subclassed` (each changed function gives an
instance of a subclass of str, list, dict, tuple, int or float in place of a plain one). REPOSITORY is the git directory
that DATASET was mined from. The last line is one JSON object; exit code 1 if one is not resolved. What is not resolved
has to be looked at: a variant can be wrong, as where a test compares types.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness.core import process
from harness.core.instance import Outcome, Prediction, TaskState
from harness.dataset.folder import open_dataset
from harness.judging.places import place_of
from harness.patches.patch import parse
from harness.runs.evaluate import Settings, evaluate_one
from harness.sandbox.docker import DockerSandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.core.instance import Task

SAME = """
import functools as _functools

def _variant(function):
    @_functools.wraps(function)
    def made(*args, **kwargs):
        return function(*args, **kwargs)
    return made
"""
OTHER = """
import functools as _functools

_KINDS = {kind: type("Other" + kind.__name__, (kind,), {}) for kind in (str, list, dict, tuple, int, float)}

def _variant(function):
    @_functools.wraps(function)
    def made(*args, **kwargs):
        found = function(*args, **kwargs)
        return _KINDS[type(found)](found) if type(found) in _KINDS else found
    return made
"""


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Plain functions and methods without decorators, by their dotted names."""
    found: dict[str, ast.FunctionDef] = {}

    def walk(node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                walk(child, (*names, child.name))
            elif isinstance(child, ast.FunctionDef) and not child.decorator_list:
                found[".".join((*names, child.name))] = child

    walk(tree, ())
    return found


def rewritten(_old: str, new: str) -> str:
    """The same program in other words."""
    return ast.unparse(ast.parse(new)) + "\n"


def decorated(old: str, new: str, head: str) -> str:
    """With a decorator on each function that the fix changes; special methods are left as they are."""
    before, tree = functions(ast.parse(old)), ast.parse(new)
    for name, function in functions(tree).items():
        is_special = function.name.startswith("__")
        if not is_special and (name not in before or ast.dump(before[name]) != ast.dump(function)):
            function.decorator_list.append(ast.Name(id="_variant", ctx=ast.Load()))
    start = 1 if ast.get_docstring(tree) is not None else 0
    while isinstance(node := tree.body[start], ast.ImportFrom) and node.module == "__future__":
        start += 1
    tree.body[start:start] = ast.parse(head).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


VARIANTS: dict[str, Callable[[str, str], str]] = {
    "rewritten": rewritten,
    "wrapped": lambda old, new: decorated(old, new, SAME),
    "subclassed": lambda old, new: decorated(old, new, OTHER),
}


def changed_files(task: Task, repository: Path) -> dict[str, tuple[str, str]]:
    """By path: each Python file that the fix changes, at its base and with the fix."""
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, ".base.tar")
        git = ["git", "--git-dir", str(repository.resolve())]
        process.run([*git, "archive", "-o", str(packed), task.instance.base_commit])
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        patch = Path(folder, ".fix.patch")
        patch.write_bytes(task.hidden.gold_patch)
        paths = {
            line[6:] for line in task.hidden.gold_patch.decode("utf-8", "replace").splitlines() if "+++ b/" in line
        }
        there = [path for path in sorted(paths) if path.endswith(".py") and Path(folder, path).is_file()]
        before = {path: Path(folder, path).read_text("utf-8") for path in there}
        process.run(["git", "apply", "--whitespace=nowarn", patch.name], cwd=Path(folder), check=False)
        return {path: (old, Path(folder, path).read_text("utf-8")) for path, old in before.items()}


def variants(task: Task, repository: Path) -> Iterator[tuple[str, str]]:
    """Each variant of a fix by its kind, as a patch; what the fix does to other files is in it as it is."""
    files = changed_files(task, repository)
    others = [one.raw.decode() for one in parse(task.hidden.gold_patch, trusted=True).files if one.path not in files]
    if not files:
        return
    for kind, change in VARIANTS.items():
        patch = "".join(others)
        for path, (old, new) in files.items():
            lines = difflib.unified_diff(
                old.splitlines(keepends=True), change(old, new).splitlines(keepends=True), f"a/{path}", f"b/{path}"
            )
            text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
            patch += f"diff --git a/{path} b/{path}\n{text}"
        yield kind, patch


def main() -> int:
    """Judge them; 1 if one is not resolved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", metavar="DATASET=REPOSITORY")
    outcomes: Counter[str] = Counter()
    for pair in parser.parse_args().datasets:
        dataset, _, repository = pair.partition("=")
        with DockerSandbox() as sandbox:
            for task in open_dataset(Path(dataset)).tasks():
                if task.instance.state is not TaskState.PROVED:
                    continue
                for kind, patch in variants(task, Path(repository)):
                    prediction = Prediction(instance_id=task.instance_id, model_name_or_path=kind, model_patch=patch)
                    report = evaluate_one(task, prediction, sandbox, settings=Settings()).report
                    outcomes[report.outcome.value] += 1
                    place = place_of(task).value
                    said = "" if report.resolved else report.reason
                    print(f"{task.instance_id}  {place}  {kind}  {report.outcome.value}  {said}", flush=True)
    print(json.dumps({"variants": outcomes.total(), **outcomes}))
    return 0 if set(outcomes) <= {Outcome.RESOLVED.value} else 1


if __name__ == "__main__":
    sys.exit(main())

"""nox: what the session that runs the tests installs, as far as it is literal. Parsed, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from harness.core import python_source
from miner.evidence.tree import Evidence, Tree
from miner.languages.python.recipes import installs

_TESTS = re.compile(r"(?:unit_?|run_?)?tests?(?:_?(?:suite|unit|default|core|py))?$|^default$|^unit$|^pytest$")
_INSTALLS = frozenset({"install", "conda_install", "run_install", "run", "run_always", "sync"})


def detect(tree: Tree) -> Evidence | None:
    """What the test session of noxfile.py installs."""
    chosen, scripts = commands(tree)
    return installs.read(scripts).evidence(f"nox:{chosen}", tree, tree) if chosen else None


def commands(tree: Tree) -> tuple[str, list[tuple[str, ...]]]:
    """The name of the session that runs the tests, and its commands as far as they are literal; none without one."""
    source = tree.read("noxfile.py") or tree.read("nox.py")
    if (module := python_source.parsed(source)) is None:
        return "", []
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    sessions = [name for name, node in functions.items() if _is_session(node)]
    chosen = next((name for name in sorted(sessions, key=len) if _TESTS.search(name)), None) or next(
        (name for name in sessions if "pytest" in ast.unparse(functions[name])), None
    )
    if chosen is None:
        return "", []
    return chosen, _commands(functions[chosen], functions, _constants(module), ())


def _is_session(node: ast.FunctionDef) -> bool:
    return any("session" in ast.unparse(decorator) for decorator in node.decorator_list)


def _constants(module: ast.Module) -> dict[str, tuple[str, ...]]:
    """The names of the module that hold strings."""
    constants: dict[str, tuple[str, ...]] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            words = _strings(node.value, constants)
            if words:
                constants[node.targets[0].id] = words
    return constants


def _strings(node: ast.expr, constants: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The strings that an expression stands for, as far as they are literal; an f-string is one that is not known."""
    if isinstance(node, ast.Constant):
        return (node.value,) if isinstance(node.value, str) else ()
    if isinstance(node, ast.Starred):
        return _strings(node.value, constants)
    if isinstance(node, ast.Name):
        return constants.get(node.id, ())
    if isinstance(node, ast.List | ast.Tuple):
        return tuple(word for elt in node.elts for word in _strings(elt, constants))
    return ("$expression",) if isinstance(node, ast.JoinedStr) else ()


def _commands(
    function: ast.FunctionDef,
    functions: Mapping[str, ast.FunctionDef],
    constants: Mapping[str, tuple[str, ...]],
    stack: tuple[str, ...],
) -> list[tuple[str, ...]]:
    """The commands of a session, and of the helpers of the same file that it hands itself to."""
    commands_found: list[tuple[str, ...]] = []
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        words = tuple(word for arg in node.args for word in _strings(arg, constants))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _INSTALLS:
            is_run = node.func.attr.startswith("run") and node.func.attr != "run_install"
            command = words if is_run or node.func.attr == "run_install" else ("pip", "install", *words)
            if command:
                commands_found.append(command)
        elif isinstance(node.func, ast.Name) and node.func.id in functions and node.func.id not in stack:
            commands_found += _commands(
                functions[node.func.id], functions, constants, (*stack, function.name, node.func.id)
            )
    return commands_found

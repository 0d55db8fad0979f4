"""What of a model patch reaches the work tree: everything but what could touch the judge. Pure.

Honest agents add tests, edit configuration and leave byproducts behind, so such parts are dropped and recorded, not
refused. What no patch may bring (links, submodules) `patches.patch` leaves out before, and it refuses patches that
reach for git's own folder or out of the tree.
"""

from __future__ import annotations

import posixpath
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.languages.python.suites import program_of
from harness.patches.patch import MAX_BYTES, MAX_FILES, Dropped, FilePatch, Patch, parse

if TYPE_CHECKING:
    from collections.abc import Collection

    from harness.core.instance import Task, TestSpec

RUNNER_CONFIG = frozenset(
    {
        ".coveragerc",
        ".pytest.ini",
        ".pytest.toml",
        "noxfile.py",
        "pyproject.toml",
        "pytest.ini",
        "pytest.toml",
        "setup.cfg",
        "tox.ini",
        "tox.toml",
    }
)
"""Files that a Python test runner reads its settings from, at any depth."""

_BINARY_SUFFIXES = (".so", ".pyd", ".dylib", ".pyc", ".pyo", ".pth", ".egg-link")
_TEST_FOLDERS = frozenset({"__tests__", "test", "tests"})
COMPILED = (".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".f", ".f90")
"""Sources of extension modules. These are built with the image, not after a patch."""
ALLOWABLE = frozenset({"runner_config", "shadows_module", "test_support"})
"""Reasons that do not stand against a file which the gold patch itself changes."""
_STARTUP = frozenset({"sitecustomize", "usercustomize"})
_RUNNER_MODULES = frozenset(
    {"_pytest", "pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "attr", "attrs"}
)
_STDLIB = frozenset(sys.stdlib_module_names)


@dataclass(frozen=True, kw_only=True)
class Screened:
    """What is left of a patch, and what was taken out of it."""

    kept: Patch
    dropped: tuple[Dropped, ...]
    """At most `MAX_FILES`, and one more that says how many others there are."""


class HiddenTests(Protocol):
    """What screening has to know of hidden tests: the hidden side of a task, or what is to become one."""

    @property
    def test_patch(self) -> bytes: ...

    @property
    def test_files(self) -> tuple[str, ...]: ...


def screen_task(task: Task, data: bytes) -> Screened:
    """What of a model patch may reach the work tree of this task.

    Raises:
        PatchError: it is no patch that may be applied.

    """
    return screen_for(parse(data), task.hidden, task.instance.test)


def screen_for(given: Patch, tests: HiddenTests, spec: TestSpec) -> Screened:
    """Take out of a model patch what could touch the judge of these tests; proof and grading both do it here."""
    return screen(
        given,
        hidden_paths=parse(tests.test_patch, trusted=True).paths | set(tests.test_files),
        allowed=spec.allowed_paths,
        modules=spec.modules,
        program=program_of(spec.options),
    )


def screen(
    patch: Patch,
    *,
    hidden_paths: Collection[str],
    allowed: Collection[str] = (),
    modules: Collection[str] = (),
    program: str = "",
) -> Screened:
    """Take out of a model patch what could touch the judge.

    `hidden_paths` are the files that the hidden tests consist of; `allowed` those that the gold patch changes although
    they look like the judge's, so that a model may; `modules` the names that the task's dependencies are imported by;
    `program` is the repository's own program that runs the tests, where one does.
    """
    taken = _STDLIB | _RUNNER_MODULES | set(modules)
    folders = test_folders(hidden_paths)
    roots = import_roots((*hidden_paths, *((program,) if program else ())))
    kept: list[FilePatch] = []
    dropped: list[Dropped] = list(patch.left_out)
    for file in patch.files:
        reasons = (
            None
            if path in allowed
            else "runner_config"
            if program and _overlaps(path, program)
            else _reason(file, path, hidden_paths, folders, roots, taken)
            for path in sorted(file.paths)
        )
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is None:
            kept.append(file)
        else:
            dropped.append(Dropped(path=file.path, reason=reason))
    kept, more = _within_limits(kept)
    return Screened(kept=Patch(files=tuple(kept), repairs=patch.repairs), dropped=_listed([*dropped, *more]))


def _within_limits(files: list[FilePatch]) -> tuple[list[FilePatch], list[Dropped]]:
    """What of a patch is applied, `MAX_FILES` files and `MAX_BYTES` at most, and what is too much.

    A fix goes before what was left behind beside it: files that there were before new ones, new ones in parts of the
    tree that get few before those that get many, small changes before large ones.
    """
    crowds = Counter(_top(file) for file in files if file.is_new)
    ranked = sorted(files, key=lambda file: (file.is_new, crowds[_top(file)] if file.is_new else 0, len(file.raw)))
    left = MAX_BYTES
    taken: set[str] = set()
    dropped: list[Dropped] = []
    for file in ranked:
        if len(taken) == MAX_FILES or len(file.raw) > left:
            reason = "too_many_files" if len(taken) == MAX_FILES else "too_large"
            dropped.append(Dropped(path=file.path, reason=reason))
        else:
            taken.add(file.path)
            left -= len(file.raw)
    return [file for file in files if file.path in taken], dropped


def _top(file: FilePatch) -> str:
    return file.path.partition("/")[0] if "/" in file.path else ""


def _listed(dropped: list[Dropped]) -> tuple[Dropped, ...]:
    """What was left out, as a report has it: a count in place of a list that nobody reads."""
    if len(dropped) <= MAX_FILES:
        return tuple(dropped)
    rest = dropped[MAX_FILES:]
    return (*dropped[:MAX_FILES], Dropped(path=f"{len(rest)} more", reason=rest[0].reason))


def on_compiled(kept: Patch) -> str:
    """What a person should know of a patch that changes sources which are compiled; nothing where it changes none."""
    paths = [path for file in kept.files for path in sorted(file.paths) if path.endswith(COMPILED)]
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"the patch changes {paths[0]}{more}, and extension modules are built with the image, not after a patch"


def import_roots(test_paths: Collection[str]) -> frozenset[str]:
    """Folders that can end up on sys.path: the root, `src`, `lib`, and every folder above a hidden test."""
    roots = {"", "src", "lib"}
    for path in test_paths:
        folder = posixpath.dirname(path)
        while folder:
            roots.add(folder)
            folder = posixpath.dirname(folder)
    return frozenset(roots)


def test_folders(test_paths: Collection[str]) -> frozenset[str]:
    """The outermost folder of each hidden test that is named for tests: helpers and data of the tests live there."""
    found: set[str] = set()
    for path in test_paths:
        parts = path.split("/")[:-1]
        depth = next((number for number, part in enumerate(parts, start=1) if part in _TEST_FOLDERS), None)
        if depth is not None:
            found.add("/".join(parts[:depth]))
    return frozenset(found)


test_folders.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def _reason(
    file: FilePatch,
    path: str,
    hidden_paths: Collection[str],
    folders: frozenset[str],
    roots: frozenset[str],
    taken: frozenset[str],
) -> str | None:
    name = posixpath.basename(path)
    parts = path.split("/")
    if any(_overlaps(path, hidden) for hidden in hidden_paths):
        return "hidden_test"
    if name == "conftest.py":
        return "conftest"
    if name in RUNNER_CONFIG:
        return "runner_config"
    if any(path.startswith(folder + "/") for folder in folders):
        return "test_support"
    if name.endswith(_BINARY_SUFFIXES) or "__pycache__" in parts:
        return "compiled_or_path_file"
    if any(part.endswith((".egg-info", ".dist-info")) for part in parts):
        return "package_metadata"
    if name.startswith(".git"):
        return "git_settings"
    if name == "__init__.py" and file.unmakes_file and path == file.old_path and posixpath.dirname(path) in roots:
        return "import_root"  # without it pytest would put another folder first on sys.path
    return _shadow(path, roots, taken) if file.makes_file and path == file.new_path else None


def _overlaps(path: str, hidden: str) -> bool:
    """The same file, or one where the other needs a folder."""
    return path == hidden or path.startswith(hidden + "/") or hidden.startswith(path + "/")


def _shadow(path: str, roots: frozenset[str], taken: frozenset[str]) -> str | None:
    """Whether a new module would be imported in place of the standard library's, the runner's or a dependency's.

    Only new ones count: a package's own `numbers.py` that was there before is in no folder on sys.path, or the tests
    would not have run at base.
    """
    for root in roots:
        if root and not path.startswith(root + "/"):
            continue
        first = path[len(root) + 1 if root else 0 :].split("/", 1)[0]
        module = first.split(".", 1)[0] if first.endswith((".py", ".pyi", ".pyw")) else first
        if first != module or "/" in path[len(root) + 1 if root else 0 :]:
            if module in _STARTUP:
                return "startup_module"
            if module in taken and module not in {"test", "this"}:
                return "shadows_module"
    return None

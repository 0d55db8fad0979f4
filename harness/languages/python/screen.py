"""What of a model's patch Python or its test runner could take in place of what the task has. Pure."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import partial

from harness.core.instance import TestSpec
from harness.core.wording import words
from harness.languages.base import Reason
from harness.languages.python.frameworks import program_of
from harness.patches.patch import FilePatch, folders_of, overlap

RUNNER_CONFIG = words(
    ".coveragerc .pytest.ini .pytest.toml noxfile.py pyproject.toml pytest.ini pytest.toml setup.cfg tox.ini tox.toml"
)
"""Files that a Python test runner reads its settings from, at any depth."""

BUILD_CONFIG = words(
    "setup.py Cargo.toml Cargo.lock build.rs rust-toolchain rust-toolchain.toml meson.build meson.options"
    " meson_options.txt CMakeLists.txt *.cmake Makefile"
)
"""Files that say how extension modules are built, at any depth: names, and patterns of names."""

_BINARY_SUFFIXES = (".so", ".pyd", ".dylib", ".pyc", ".pyo", ".pth", ".egg-link")
_TEST_FOLDER = re.compile(r"__tests__|tests?|(?:[a-z]+[_-]?)tests?|tests?[_-][a-z0-9_-]+")
_PLAIN = frozenset({"__tests__", "test", "tests"})
_OTHER_WORDS = frozenset({"attest", "contest", "contests", "latest", "protest", "protests"})
COMPILED = (
    ".pyx", ".pxd", ".pxi", ".pyx.in", ".pxd.in", ".pxi.in", ".pyx.tp",
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".c.src", ".h.src", ".c.in", ".h.in",
    ".rs", ".f", ".f90", ".pyf",
)  # fmt: skip
"""Ends of the names of sources of extension modules, and of templates of such sources."""
ALLOWABLE = frozenset({"build_config", "runner_config", "shadows_module", "test_support"})
"""Reasons that do not stand against a file which the gold patch itself changes."""
_STARTUP = frozenset({"sitecustomize", "usercustomize"})
_RUNNER_MODULES = frozenset(
    {"_pytest", "pytest", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "attr", "attrs"}
)
_PYTEST = frozenset({"_pytest", "pytest", "py"})
"""What pytest's own repository brings."""
_STDLIB = frozenset(sys.stdlib_module_names)


def reasons(test: TestSpec, hidden_paths: Collection[str]) -> Reason:
    """Why a file may not reach these tests.

    `hidden_paths` are the files that the hidden tests consist of. Where the repository has a program of its own that
    runs the tests, no patch may change that.
    """
    program = program_of(test.options)
    return partial(
        _reason,
        program=program,
        folders=test_folders(hidden_paths),
        roots=import_roots((*hidden_paths, *((program,) if program else ()))),
        names_in_use=_STDLIB | _runner_modules(test) | set(test.modules),
        builds=test.build is not None,
    )


def _runner_modules(test: TestSpec) -> frozenset[str]:
    """What runs the tests, less what the repository brings itself: pytest, or a library that pytest may need."""
    if test.own_runner:
        return _RUNNER_MODULES - _PYTEST
    return _RUNNER_MODULES & {*test.modules} if "pytest" in test.modules else _RUNNER_MODULES


def on_compiled(test: TestSpec, paths: Sequence[str]) -> str:
    """What a person should know of a patch to sources that are compiled; nothing where they are built after it."""
    if test.build is not None and test.build.is_touched_by(paths):
        return ""
    compiled = [path for path in paths if path.endswith(COMPILED)]
    if not compiled:
        return ""
    more = f" and {len(compiled) - 1} more" if len(compiled) > 1 else ""
    return f"the patch changes {compiled[0]}{more}, and the task does not say how that is built, so it had no effect"


def import_roots(test_paths: Collection[str]) -> frozenset[str]:
    """Folders that can end up on sys.path: the root, `src`, `lib`, and every folder above a hidden test."""
    return frozenset({"", "src", "lib", *(folder for path in test_paths for folder in folders_of(path))})


def test_folders(test_paths: Collection[str]) -> frozenset[str]:
    """The outermost folder of each hidden test that is named for tests: helpers and data of the tests live there.

    Of several such names the plainest counts: in `webtest/tests` the second.
    """
    folders: set[str] = set()
    for path in test_paths:
        parts = path.split("/")[:-1]
        names = [part for part in parts if _TEST_FOLDER.fullmatch(part) and part not in _OTHER_WORDS]
        if names or parts[:1] == ["testing"]:
            outermost = next((part for part in names if part in _PLAIN), names[0] if names else "testing")
            folders.add("/".join(parts[: parts.index(outermost) + 1]))
    return frozenset(folders)


test_folders.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def _reason(
    file: FilePatch,
    path: str,
    *,
    program: str,
    folders: frozenset[str],
    roots: frozenset[str],
    names_in_use: frozenset[str],
    builds: bool,
) -> str | None:
    name = posixpath.basename(path)
    parts = path.split("/")
    if program and overlap(path, program):
        return "runner_config"
    if (reason := _setting(name, parts, builds=builds)) is not None:
        return reason
    if any(path.startswith(folder + "/") for folder in folders):
        return "test_support"
    if name.endswith(_BINARY_SUFFIXES) or "__pycache__" in parts:
        return "compiled_or_path_file"
    if any(part.lower().endswith((".egg-info", ".dist-info")) for part in parts):
        return "package_metadata"
    if name.startswith(".git"):
        return "git_settings"
    if name == "__init__.py" and file.unmakes_file and path == file.old_path and posixpath.dirname(path) in roots:
        return "import_root"  # without it pytest would put another folder first on sys.path
    return _shadow(path, roots, names_in_use) if file.makes_file and path == file.new_path else None


def _setting(name: str, parts: Sequence[str], *, builds: bool) -> str | None:
    """Whether a file says how tests go, or how what they load is built."""
    if name == "conftest.py":
        return "conftest"
    if name in RUNNER_CONFIG:
        return "runner_config"
    is_build_config = ".cargo" in parts or any(fnmatchcase(name, pattern) for pattern in BUILD_CONFIG)
    return "build_config" if builds and is_build_config else None


def _shadow(path: str, roots: frozenset[str], names_in_use: frozenset[str]) -> str | None:
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
            if module in names_in_use and module not in {"test", "this"}:
                return "shadows_module"
    return None

"""Which distribution has a module. Pure."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources

from miner.evidence.tree import Tree

PACKAGE_NAMES: Mapping[str, dict[str, str]] = tomllib.loads(
    resources.files("miner.languages.python").joinpath("package_names.toml").read_text(encoding="utf-8")
)
"""What Debian, PyPI and conda call what builds and imports ask for, by the kind of what that is."""
OTHERWISE_NAMED = PACKAGE_NAMES["modules"]
"""Distributions whose name is not that of their module; an empty one has none that pip could install."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,60}")
_OTHER_SYSTEMS = frozenset({"winreg", "msvcrt", "_winapi", "win32api", "win32con", "pythoncom", "pywintypes", "wmi"})


def of_module(module: str) -> str | None:
    """The distribution that has a module; None where none can be told, such as for one of the standard library.

    A module that the table doesn't know is taken to be in the distribution of its own name.
    """
    parts = module.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        if name in OTHERWISE_NAMED:
            return OTHERWISE_NAMED[name] or None
    top = parts[0]
    if top in sys.stdlib_module_names or top in _OTHER_SYSTEMS or not _PLAIN.fullmatch(top):
        return None
    if top.lower() in _NOT_ON_AN_INDEX:
        return None
    return top.replace("_", "-")


_NOT_ON_AN_INDEX = frozenset({"conftest", "helpers", "setup", "settings", "test", "testing", "tests", "utils", "util"})
"""What a test imports under these names is its repository's own, whatever the index has by the same name."""


def own_modules(tree: Tree) -> frozenset[str]:
    """The top-level names by which something of the tree can be imported, once its tests run.

    pytest puts the folder above a file's outermost package on sys.path; packages without `__init__.py` are imported
    from the root and from `src` and the like.
    """
    paths = [path for path in tree.files() if path.endswith((".py", ".pyx", ".so"))]
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py")}
    modules: set[str] = set()
    for path in paths:
        parts = path.split("/")
        place = len(parts) - 1
        while place and "/".join(parts[:place]) in packages:
            place -= 1
        modules.add(parts[place].partition(".")[0])
        modules.add(parts[0].partition(".")[0])
        if len(parts) > 1 and parts[0] in _ROOTS:
            modules.add(parts[1].partition(".")[0])
    return frozenset(modules)


_ROOTS = ("src", "lib", "python")


def of_others(modules: Iterable[str], tree: Tree) -> tuple[str, ...]:
    """The installed modules that are dependencies' alone: the tree's own may share a package with theirs (`google`)."""
    own = own_modules(tree)
    return tuple(module for module in modules if module not in own)

"""Extension modules: whether a tree may have some, and what they are built from. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from harness.core.instance import Build
from harness.languages.python.screen import BUILD_CONFIG, COMPILED
from miner.evidence.tree import Tree
from miner.languages.python.recipes.missing import RUST

HOME = "/opt/goldseam/build"
"""Where an image has the build requirements, and the program that builds."""
_DECLARED = re.compile(
    rb"ext_modules|Extension\(|cythonize|cffi_modules|mypycify|rust_extensions|maturin|mesonpy|scikit_build"
)
_RUST = re.compile(rb"maturin|setuptools[-_]rust|rust_extensions|RustExtension")
_SETUP = ("setup.py", "setup.cfg", "pyproject.toml")
_MADE = (".c", ".cpp", ".cxx", ".cc")
_SECONDS_FACTOR, _SECONDS_FLOOR, _SECONDS_CEILING = 10.0, 120.0, 1800.0


def may_have(tree: Tree, root: str) -> bool:
    """Whether the project in this folder may build extension modules; what comes of it says whether it does."""
    prefix = f"{root}/" if root else ""
    if not any(tree.read(prefix + name) is not None for name in ("setup.py", "pyproject.toml")):
        return False
    if any(path.startswith(prefix) and path.endswith(COMPILED) for path in tree.files()):
        return True
    return any(_DECLARED.search(tree.read(prefix + name) or b"") for name in _SETUP)


def packages(tree: Tree) -> tuple[str, ...]:
    """The Debian packages without which a project's extension modules can't be built: Rust."""
    if not any(_RUST.search(tree.read(name) or b"") for name in _SETUP):
        return ()
    return (RUST,) if any(path.rpartition("/")[2] == "Cargo.toml" for path in tree.files()) else ()


def made_by_cython(tree: Tree, root: str) -> tuple[str, ...]:
    """C sources, relative to the project's folder, that its setup names and the tree lacks: Cython is to make them.

    Projects whose releases hold such sources leave them out of the repository, and make them by a command of their own.
    """
    prefix = f"{root}/" if root else ""
    paths = {path.removeprefix(prefix) for path in tree.files() if path.startswith(prefix)}
    stems = sorted(path.removesuffix(".pyx") for path in paths if path.endswith(".pyx"))
    text = b"\n".join(tree.read(prefix + name) or b"" for name in _SETUP)
    outputs = (stem + suffix for stem in stems for suffix in _MADE if stem + suffix not in paths)
    return tuple(path for path in outputs if re.search(rb"\b%b\b" % re.escape(path.rpartition("/")[2].encode()), text))


def build_of(facts: Mapping[str, Any], interpreter: str) -> Build | None:
    """How the modules of an image are built again, by what images/tools/rebuildable.py found out of it."""
    build = facts.get("build")
    if not build:
        return None
    seconds = min(_SECONDS_CEILING, max(_SECONDS_FLOOR, build["seconds"] * _SECONDS_FACTOR))
    return Build(
        argv=(interpreter, f"{HOME}/compile.py"),
        inputs=(*(f"*{suffix}" for suffix in COMPILED), *sorted(BUILD_CONFIG), *build["shadowed"]),
        outputs=tuple(build["outputs"]),
        seconds=float(math.ceil(seconds)),
    )

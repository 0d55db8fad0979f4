"""Extension modules: whether a tree may have some, and what they are built from. Pure."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from harness.core.instance import Build
from harness.languages.python.screen import BUILD_CONFIG, COMPILED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miner.evidence.tree import Tree

HOME = "/opt/goldseam/build"
"""Where an image has the build requirements, and the program that builds."""
_DECLARED = re.compile(
    rb"ext_modules|Extension\(|cythonize|cffi_modules|mypycify|rust_extensions|maturin|mesonpy|scikit_build"
)
_SECONDS_FACTOR, _SECONDS_FLOOR, _SECONDS_CEILING = 10.0, 120.0, 1800.0


def may_have(tree: Tree, root: str) -> bool:
    """Whether the project in this folder may build extension modules; what comes of it says whether it does."""
    prefix = f"{root}/" if root else ""
    if not any(tree.read(prefix + name) is not None for name in ("setup.py", "pyproject.toml")):
        return False
    if any(path.startswith(prefix) and path.endswith(COMPILED) for path in tree.files()):
        return True
    return any(
        _DECLARED.search(tree.read(prefix + name) or b"") for name in ("setup.py", "setup.cfg", "pyproject.toml")
    )


def build_of(facts: Mapping[str, Any], interpreter: str) -> Build | None:
    """How the modules of an image are built again, by what images/tools/rebuildable.py found out of it."""
    found = facts.get("build")
    if not found:
        return None
    seconds = min(_SECONDS_CEILING, max(_SECONDS_FLOOR, found["seconds"] * _SECONDS_FACTOR))
    return Build(
        argv=(interpreter, f"{HOME}/compile.py"),
        inputs=(*(f"*{suffix}" for suffix in COMPILED), *sorted(BUILD_CONFIG), *found["shadowed"]),
        outputs=tuple(found["outputs"]),
        seconds=float(math.ceil(seconds)),
    )

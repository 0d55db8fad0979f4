"""Dependency groups (PEP 735) and extras for tests: PEP 621 optional-dependencies, setup.cfg, and literal setup.py."""

from __future__ import annotations

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.metadata import ini, lines, pyproject, setup_call, table

TEST_NAMES = ("test", "tests", "testing", "unittest", "unittests", "pytest", "dev-test", "test-dev", "tests-dev")
"""What a group or extra for tests is called, most particular first."""
DEVELOPMENT_NAMES = ("dev", "develop", "development", "all")


def pick(names: tuple[str, ...]) -> str | None:
    """The one of these groups or extras that tests most likely need; None if none sounds like it."""
    plain = {name.lower().replace("_", "-"): name for name in reversed(names)}
    return next((plain[name] for name in (*TEST_NAMES, *DEVELOPMENT_NAMES) if name in plain), None)


def group(tree: Tree) -> Evidence | None:
    """The dependency group for tests, by name."""
    name = pick(tuple(table(pyproject(tree), "dependency-groups")))
    return Evidence(rung=f"group:{name}", groups=(name,)) if name else None


def declared(tree: Tree) -> tuple[str, ...]:
    """The names of all extras, as far as they are written down."""
    setup_cfg = ini(tree.read("setup.cfg"))
    return (
        *table(pyproject(tree), "project", "optional-dependencies"),
        *table(pyproject(tree), "tool", "poetry", "extras"),
        *(setup_cfg.options("options.extras_require") if setup_cfg.has_section("options.extras_require") else ()),
        *setup_call(tree).extras,
    )


def detect(tree: Tree) -> Evidence | None:
    """The extra for tests, by name, and `tests_require`."""
    setup_cfg = ini(tree.read("setup.cfg"))
    extra = pick(declared(tree))
    required = (*lines(setup_cfg.get("options", "tests_require", fallback="")), *setup_call(tree).tests_require)
    if extra is None and not required:
        return None
    return Evidence(
        rung=f"extra:{extra}" if extra else "tests_require",
        extras=(extra,) if extra else (),
        requirements=required,
    )

"""PEP 735 dependency groups."""

from __future__ import annotations

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.metadata import pyproject, table

TEST_NAMES = ("test", "tests", "testing", "unittest", "unittests", "pytest", "dev-test", "test-dev", "tests-dev")
"""What a group or extra for tests is called, most particular first."""
DEVELOPMENT_NAMES = ("dev", "develop", "development", "all")


def pick(names: tuple[str, ...]) -> str | None:
    """The one of these groups or extras that tests most likely need; None if none sounds like it."""
    plain = {name.lower().replace("_", "-"): name for name in reversed(names)}
    return next((plain[name] for name in (*TEST_NAMES, *DEVELOPMENT_NAMES) if name in plain), None)


def detect(tree: Tree) -> Evidence | None:
    """The dependency group for tests, by name."""
    name = pick(tuple(table(pyproject(tree), "dependency-groups")))
    return Evidence(rung=f"group:{name}", groups=(name,)) if name else None

"""Extras for tests: PEP 621 optional-dependencies, setup.cfg, and setup.py as far as it is literal."""

from __future__ import annotations

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.groups import pick
from miner.languages.python.evidence.metadata import ini, lines, pyproject, setup_call, table


def declared(tree: Tree) -> tuple[str, ...]:
    """The names of all extras, as far as they are written down."""
    setup_cfg = ini(tree.read("setup.cfg"))
    call = setup_call(tree)
    return (
        *table(pyproject(tree), "project", "optional-dependencies"),
        *table(pyproject(tree), "tool", "poetry", "extras"),
        *(setup_cfg.options("options.extras_require") if setup_cfg.has_section("options.extras_require") else ()),
        *(call.extras if call else ()),
    )


def detect(tree: Tree) -> Evidence | None:
    """The extra for tests, by name, and `tests_require`."""
    setup_cfg = ini(tree.read("setup.cfg"))
    call = setup_call(tree)
    extra = pick(declared(tree))
    required = (
        *lines(setup_cfg.get("options", "tests_require", fallback="")),
        *(call.tests_require if call else ()),
    )
    if extra is None and not required:
        return None
    return Evidence(
        rung=f"extra:{extra}" if extra else "tests_require",
        extras=(extra,) if extra else (),
        requirements=tuple(required),
    )

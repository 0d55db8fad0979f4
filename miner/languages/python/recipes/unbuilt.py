"""Projects whose build fails: what they need as far as it is written down, with the tree on `sys.path`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import metadata, poetry

RUNG = "unbuilt"


def detect(tree: Tree, extras: Iterable[str]) -> Evidence:
    """What the project and these extras of it need, as evidence of its own."""
    return Evidence(rung=RUNG, requirements=needs(tree, extras))


def needs(tree: Tree, extras: Iterable[str] = ()) -> tuple[str, ...]:
    """What the project and these extras of it need, literally, from wherever it is written down."""
    requirements = [*_dependencies(tree), *(requirement for extra in extras for requirement in _of_extra(tree, extra))]
    return tuple(dict.fromkeys(filter(metadata.requirement, requirements)))


def _dependencies(tree: Tree) -> Iterator[str]:
    document = metadata.pyproject(tree)
    yield from metadata.strings(metadata.table(document, "project").get("dependencies"))
    yield from poetry.dependencies(tree)
    yield from metadata.strings(metadata.table(document, "tool", "flit", "metadata").get("requires"))
    yield from metadata.lines(metadata.ini(tree.read("setup.cfg")).get("options", "install_requires", fallback=""))
    yield from metadata.setup_call(tree).install_requires


def _of_extra(tree: Tree, extra: str) -> Iterator[str]:
    document = metadata.pyproject(tree)
    yield from metadata.strings(metadata.table(document, "project", "optional-dependencies").get(extra))
    section = metadata.ini(tree.read("setup.cfg"))
    yield from metadata.lines(section.get("options.extras_require", extra.lower(), fallback=""))
    yield from metadata.setup_call(tree).extras.get(extra, ())

"""Projects of the same repository that a project needs: taken from the tree, never from an index. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from miner.evidence.tree import TESTBED, Below, Evidence, Tree
from miner.languages.python.evidence import metadata, subproject
from miner.languages.python.recipes import unbuilt
from miner.languages.python.recipes.missing import distribution

RUNG = "siblings"
_MOST = 200
"""Projects of one repository that are read."""


def detect(tree: Tree, root: str, rungs: Iterable[Evidence], touched: Iterable[str] = ()) -> Evidence | None:
    """The projects beside `root` that it needs or that are `touched`, and that these need.

    `rungs` say what else is asked for.
    """
    folders = [folder for folder in subproject.every_project(tree)[:_MOST] if folder != root]
    if not folders:
        return None
    places = {
        distribution(name): folder
        for folder in reversed(folders)
        if (name := metadata.name(Below(tree, folder))) is not None
    }
    project_tree = subproject.project(tree, root)
    own = distribution(metadata.name(project_tree) or "")
    evidences = list(rungs)
    extras = {extra for rung in evidences for extra in rung.extras}
    names = {folder: name for name, folder in places.items()}
    tested = [folder for folder in folders if folder in names and subproject.is_tested(folder)]
    homes = (subproject.home_of(path, tested) for path in touched)
    due: list[str] = [names[home] for home in dict.fromkeys(homes) if home in names]
    due += [
        *unbuilt.needs(project_tree, sorted(extras)),
        *(requirement for rung in evidences for requirement in rung.requirements),
    ]
    selected: dict[str, str] = {}
    while due:
        name = distribution(due.pop(0))
        if name and name in places and name != own and name not in selected:
            selected[name] = places[name]
            due += unbuilt.needs(Below(tree, places[name]))
    if not selected:
        return None
    requirements = (f"{name} @ file://{TESTBED}/{folder}" for name, folder in sorted(selected.items()))
    return Evidence(rung=RUNG, requirements=tuple(requirements))

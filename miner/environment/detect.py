"""From a tree to the ladder of recipes, richest first."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from miner.environment import extras, groups, imports, metadata, poetry, requirements, tox
from miner.environment.evidence import Detection, Evidence, Recipe

if TYPE_CHECKING:
    from miner.environment.evidence import Detector, Tree

DETECTORS: tuple[Detector, ...] = (
    groups.detect,
    extras.detect,
    poetry.detect,
    tox.detect,
    requirements.detect,
    imports.detect,
)
"""Every kind of evidence, the most explicit first. Adding a kind is adding a line."""


def detect(tree: Tree) -> Detection:
    """Everything the tree says about its environment.

    The ladder: all evidence together, each kind alone, the source of a compiled requirements file, plain pytest.
    Two recipes never ask for the same thing.
    """
    project = metadata.project_file(tree)
    found = [evidence for detector in DETECTORS if (evidence := detector(tree)) is not None]
    rungs = [reduce(or_, found)] if len(found) > 1 else []
    rungs += found
    rungs += [
        replace(evidence, rung=f"requirements:{source}", files=(source,))
        for evidence in found
        if len(evidence.files) == 1 and (source := requirements.source_of(evidence.files[0], tree))
    ]
    rungs.append(imports.PLAIN)
    if project is None and tree.read(requirements.PROJECT_FILE) is not None:
        needed = Evidence(rung=f"requirements:{requirements.PROJECT_FILE}", files=(requirements.PROJECT_FILE,))
        rungs = [*(needed | rung for rung in rungs), imports.PLAIN]
    distinct = {replace(rung, rung=""): rung for rung in reversed(rungs)}
    return Detection(
        recipes=tuple(
            Recipe(project=project, evidence=rung) for rung in rungs if distinct[replace(rung, rung="")] is rung
        ),
        name=metadata.name(tree),
        requires_python=metadata.requires_python(tree),
        classifiers=metadata.classifiers(tree),
    )

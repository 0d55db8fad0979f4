"""What only the fix requires: its tests run in an image of the commit before it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from miner.evidence.tree import Detection, Tree, text_at
from miner.languages.python.evidence import metadata, subproject
from miner.languages.python.evidence.metadata import requirement
from miner.languages.python.recipes import missing, unbuilt
from miner.languages.python.recipes.recipe_fixes import Learned


def required(before: tuple[Tree, Detection], after: tuple[Tree, Detection], fixed_at: datetime) -> Learned | None:
    """What the project and its tests require after the fix alone, as of that day; None where that is nothing."""
    known = _written(*before)
    new = tuple(requirement for requirement in _written(*after) if requirement not in known)
    day = (fixed_at + timedelta(days=1)).date().isoformat()
    later = tuple((missing.distribution(requirement), day) for requirement in new)
    return Learned(requirements=new, apt=(), later=later) if new else None


def _written(tree: Tree, detection: Detection) -> dict[str, None]:
    """What is required, as it is written, of the project and of what the richest recipe installs beside it."""
    recipe = detection.recipes[0]
    evidence = recipe.evidence
    project = subproject.project(tree, recipe.root)
    groups = metadata.table(metadata.pyproject(project), "dependency-groups")
    lines = [line for path in evidence.files for line in metadata.lines(text_at(tree, path))]
    lines += [line for group in evidence.groups for line in metadata.strings(groups.get(group))]
    needs = unbuilt.needs(project, evidence.extras)
    return dict.fromkeys((*needs, *evidence.requirements, *filter(requirement, lines)))

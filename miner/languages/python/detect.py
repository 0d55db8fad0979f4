"""From a tree to the ladder of recipes, richest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from miner.evidence.tree import Detection, Detector, Evidence, Recipe, Remembered, Tree
from miner.languages.python.evidence import (
    conda,
    declared_ci,
    django,
    extras,
    locks,
    metadata,
    nox,
    poetry,
    requirements,
    subproject,
    tools,
    tox,
)
from miner.languages.python.recipes import extensions, imports, qt, siblings, unbuilt

if TYPE_CHECKING:
    from miner.languages.python.evidence.declared_ci import Declared

PLAINEST: tuple[Detector, ...] = (
    extras.group,
    extras.detect,
    poetry.detect,
    tox.detect,
    requirements.detect,
    imports.detect,
)
"""Kinds of evidence that most repositories have, the most explicit first."""
FURTHER: tuple[Detector, ...] = (
    tools.hatch,
    tools.pdm,
    tools.uv,
    tools.flit,
    tools.pipenv,
    nox.detect,
    django.detect,
)
"""Kinds that some tools bring along. Adding a kind is adding a line."""


def detect(tree: Tree, touched: Sequence[str] = ()) -> Detection:
    """Everything the tree says about its environment, for the project that `touched` files are of.

    The ladder: all evidence together with the lock's versions, the same without them, what stands in the project's own
    files alone, each kind alone, the source of a compiled requirements file, plain pytest. Two recipes never ask for
    the same thing.
    """
    tree = Remembered(tree)
    root = subproject.root_of(tree, touched)
    project_tree = subproject.project(tree, root)
    declared = declared_ci.read(tree, project_tree)
    project = metadata.project_file(project_tree)
    rungs = list(_rungs(tree, project_tree, declared, root))
    if project is None and (needed := requirements.of_project(project_tree)):
        rungs = [*(subproject.lifted(needed, root) | rung for rung in rungs), imports.PLAIN]
    if beside := siblings.detect(tree, root, rungs[:1], touched):
        rungs = [rung | beside for rung in rungs]
    if extensions.made_by_cython(tree, root):
        rungs = [rung | Evidence(rung="cython", requirements=("cython",)) for rung in rungs]
    name = metadata.name(project_tree)
    distinct = {replace(rung, rung=""): rung for rung in reversed(rungs)}
    draws = qt.is_needed(tree, rungs)
    variables = {**(qt.VARIABLES if draws else {}), **tox.variables(project_tree)}
    packages = (*extensions.packages(project_tree), *declared.apt, *(qt.PACKAGES if draws else ()))
    file = (f"{root}/{project}" if root else project) if project else None
    plain = Recipe(
        project=file, evidence=Evidence(rung=""), apt=tuple(dict.fromkeys(packages)), root=root, env=variables,
        is_runner=is_runner(name),
    )  # fmt: skip
    recipes = [replace(plain, evidence=rung) for rung in rungs if distinct[replace(rung, rung="")] is rung]
    return Detection(
        recipes=tuple(recipes),
        unbuilt=_unbuilt(project_tree, recipes[0], root) if project else None,
        name=name,
        requires_python=metadata.requires_python(project_tree) or (metadata.requires_python(tree) if root else None),
        classifiers=metadata.classifiers(project_tree),
        tested=declared.tested,
        declared=_evidence(declared),
        notes=declared.notes,
    )


def is_runner(name: str | None) -> bool:
    """Whether a project of this name is pytest itself."""
    return (name or "").lower() == "pytest"


def _rungs(tree: Tree, project_tree: Tree, declared: Declared, root: str) -> Iterator[Evidence]:
    plain = [subproject.lifted(rung, root) for detector in PLAINEST if (rung := detector(project_tree)) is not None]
    if root and (shared := requirements.detect(tree)):
        plain.append(shared)
    further = [subproject.lifted(rung, root) for detector in FURTHER if (rung := detector(project_tree)) is not None]
    from_conda = conda.detect(project_tree)
    alone = all(evidence.rung == "imports" for evidence in (*plain, *further))
    if from_conda is not None and (alone or conda.is_used_by(tree.read(declared.file) if declared.file else None)):
        further.append(from_conda)
        from_conda = None  # it names much that tests don't need: where CI has no use for it, others go first
    every = [*([declared.evidence] if declared.evidence else []), *plain, *further]
    lock = locks.detect(project_tree) or (locks.detect(tree) if root else None)
    if every and lock:
        yield reduce(or_, [lock, *every])
    if len(every) > 1:
        yield reduce(or_, every)
    if len(plain) > 1:
        yield reduce(or_, plain)
    if every and metadata.project_file(project_tree) and (needed := requirements.of_project(project_tree)):
        yield reduce(or_, [*every, subproject.lifted(needed, root)])
    yield from every
    for evidence in plain:
        if len(evidence.files) == 1 and (source := requirements.source_of(evidence.files[0], tree)):
            yield replace(evidence, rung=f"requirements:{source}", files=(source,))
    if from_conda is not None:
        yield from_conda
    yield imports.PLAIN


def _unbuilt(tree: Tree, richest: Recipe, root: str) -> Recipe:
    """For a project that can't be built: all its evidence and what is written down of its needs, nothing installed."""
    needed = unbuilt.detect(tree, richest.evidence.extras)
    evidence = replace(needed | replace(richest.evidence, extras=(), pins=()), rung=unbuilt.RUNG)
    if listed := requirements.of_project(tree):
        evidence = replace(evidence | subproject.lifted(listed, root), rung=unbuilt.RUNG)
    return replace(richest, project=None, evidence=evidence)


def _evidence(declared: Declared) -> dict[str, tuple[str, ...]]:
    fields = {
        "ci": (declared.file,) if declared.file else (),
        "pythons": declared.tested,
        "services": declared.services,
        "env": declared.env,
    }
    return {kind: words for kind, words in fields.items() if words}

"""How a recipe is changed by what its failure says is missing, or gone. Pure; no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from miner.evidence.tree import Recipe, Tree
from miner.languages.python.recipes import distributions, imports, missing

_SILENT_SETUPTOOLS = "setuptools<67.3"
"""The last that imports `pkg_resources` and declares its namespaces without a warning."""
_WARNS_OF_PKG_RESOURCES = re.compile(r"Warning: (?:pkg_resources is deprecated|Deprecated call to `pkg_resources)")


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What a recipe was mended with."""

    requirements: tuple[str, ...]
    apt: tuple[str, ...]
    later: tuple[tuple[str, str], ...] = ()
    built_with: tuple[tuple[str, str], ...] = ()

    @classmethod
    def between(cls, recipe: Recipe, mended: Recipe) -> Learned:
        """What the mended recipe has that the other had not."""
        before = recipe.evidence.requirements
        return cls(
            requirements=tuple(
                requirement for requirement in mended.evidence.requirements if requirement not in before
            ),
            apt=tuple(package for package in mended.apt if package not in recipe.apt),
            later=tuple(pair for pair in mended.later if pair not in recipe.later),
            built_with=tuple(pair for pair in mended.built_with if pair not in recipe.built_with),
        )


def with_learned(recipe: Recipe, learned: Iterable[Learned]) -> Recipe:
    """A recipe with what others had to be mended with, where it hasn't got it itself."""
    for lesson in learned:
        distributions_there = {missing.distribution(requirement) for requirement in recipe.evidence.requirements}
        new = tuple(word for word in lesson.requirements if missing.distribution(word) not in distributions_there)
        recipe = _with_packages(_with_requirements(recipe, new), lesson.apt) or _with_requirements(recipe, new)
        recipe = replace(
            recipe,
            later=tuple(dict.fromkeys((*recipe.later, *lesson.later))),
            built_with=tuple(dict.fromkeys((*recipe.built_with, *lesson.built_with))),
        )
    return recipe


def after_failure(recipe: Recipe, output: str, settled: str = "") -> Recipe | None:
    """The recipe to try next after resolving or installing failed; None where the output names nothing known.

    What a distribution needs to be built and does not declare is there when it is built. What was uploaded again after
    the commit is taken as of then. Versions that the index doesn't have (any more) lose their pin; so does a pytest
    that is too old to be used. What a git repository out of reach would give is taken from the index. What a native
    build lacks is added from Debian. What can't be built at all, on an interpreter that is younger than the commit, is
    taken as of the day on which that one was `settled` (ISO 8601).
    """
    return (
        _with_packages(recipe, missing.packages(output))
        or _with_build_requirements(recipe, missing.undeclared(output))
        or _with_later(recipe, missing.younger(output))
        or _without_vanished(recipe, missing.vanished(output))
        or _with_newer_pytest(recipe, output)
        or _with_releases(recipe, missing.repositories(output))
        or _with_later(recipe, ((name, settled) for name in missing.unbuilt(output) if settled))
    )


def after_collecting(
    recipe: Recipe, modules: Iterable[str], output: str, tree: Tree, *, pytest: str = ""
) -> Recipe | None:
    """The recipe to try next after tests could not be collected: with the distributions of the missing modules.

    What a build or the tests lack is added from Debian. Where the warning of a new setuptools is an error, an older one
    is taken: tox's environments had that of their virtualenv. Where a plugin fails in `pytest`, the version that is
    there, or it refuses a generator, one before its major version is: plugins and tests may not have known the latest.
    """
    distributions_there = {missing.distribution(requirement) for requirement in recipe.evidence.requirements}
    own = distributions.own_modules(tree)
    candidates = (distributions.of_module(module) for module in modules if module.partition(".")[0] not in own)
    new = tuple(
        dict.fromkeys(
            distribution
            for distribution in candidates
            if distribution and missing.distribution(distribution) not in distributions_there
        )
    )
    if new:
        return _with_requirements(recipe, new)
    return (
        _with_packages(recipe, missing.packages(output))
        or _with_older_setuptools(recipe, output)
        or _with_older_pytest(recipe, output, pytest)
    )


def paths_for(modules: Iterable[str], parts: Iterable[str], tree: Tree, paths_there: Iterable[str]) -> tuple[str, ...]:
    """The folders of the tree to put on `sys.path` for modules of the tree that could not be found.

    Such a module is there, but was found only because its project's tests are started from a certain folder, or is of
    another project of the repository. `parts` are modules of whose package something was found.
    """
    paths = tree.files()
    folders: list[str] = []
    for module, whole in (*((module_name, False) for module_name in modules), *((part, True) for part in parts)):
        homes = _homes(module, paths, whole=whole)
        if homes:
            folders.append(min(homes, key=lambda home: (home != ".", home.count("/"), home)))
    return tuple(dict.fromkeys(folder for folder in folders if folder not in paths_there))


def _homes(module: str, paths: Sequence[str], *, whole: bool) -> set[str]:
    """The folders that hold a module, or else, unless `whole`, the nearest package above it."""
    words = module.split(".")
    if not all(word.isidentifier() for word in words):
        return set()
    for length in range(len(words), 0, -1):
        end = re.compile(rf"(?:(.*?)/)?{'/'.join(words[:length])}(?:\.py|/[^/]+\.py|/.+/[^/]+\.py)$")
        homes = {match[1] or "." for path in paths if (match := end.match(path))}
        if homes or whole:
            return homes
    return set()


def _changed(recipe: Recipe, mark: str, **fields: tuple[Any, ...]) -> Recipe:
    """The recipe with other fields, which the mark in its name tells."""
    return replace(recipe, evidence=replace(recipe.evidence, rung=f"{recipe.rung}{mark}"), **fields)  # type: ignore[arg-type]


def _with_requirements(recipe: Recipe, new: tuple[str, ...]) -> Recipe:
    if not new:
        return recipe
    evidence = recipe.evidence
    rung = f"{evidence.rung}+missing:{','.join(new)}"
    return replace(recipe, evidence=replace(evidence, rung=rung, requirements=(*evidence.requirements, *new)))


def _with_older_setuptools(recipe: Recipe, output: str) -> Recipe | None:
    is_new = _WARNS_OF_PKG_RESOURCES.search(output) and _SILENT_SETUPTOOLS not in recipe.evidence.requirements
    return _with_requirements(recipe, (_SILENT_SETUPTOOLS,)) if is_new else None


def _with_older_pytest(recipe: Recipe, output: str, version: str) -> Recipe | None:
    bound = f"pytest<{version.partition('.')[0]}"
    is_too_new = version and _TOO_NEW.search(output) and bound not in recipe.evidence.requirements
    return _with_requirements(recipe, (bound,)) if is_too_new else None


_TOO_NEW = re.compile(
    r"site-packages/(?!_pytest/|pluggy/)\S+\.py:\d+: in pytest_\w+\n"
    r"(?: .*\n)*E +(?:AttributeError|TypeError|ImportError)"
    r"|'yield' keyword is allowed in fixtures, but not in tests"
)
"""A plugin that pytest calls fails at once by names and arguments; a file is lost for a generator called `test_…`."""


def _with_packages(recipe: Recipe, packages: tuple[str, ...]) -> Recipe | None:
    new = tuple(package for package in packages if package not in recipe.apt)
    return _changed(recipe, f"+apt:{','.join(new)}", apt=(*recipe.apt, *new)) if new else None


def _with_newer_pytest(recipe: Recipe, output: str) -> Recipe | None:
    """The recipe with the oldest pytest that can be used in place of whatever is asked for."""
    if imports.OLDEST_PYTEST in recipe.overrides or not _TOO_OLD.search(" ".join(output.split())):
        return None
    return _changed(recipe, "-gone:pytest", overrides=(*recipe.overrides, imports.OLDEST_PYTEST))


_TOO_OLD = re.compile(rf"(?:requires?|depends? on|and) {re.escape(imports.OLDEST_PYTEST)}\b.{{0,2000}}unsatisfiable")


def _with_releases(recipe: Recipe, names: Iterable[str]) -> Recipe | None:
    """The recipe with the day's releases of what it wants from repositories."""
    new = tuple(name for name in names if name not in recipe.overrides)
    return _changed(recipe, f"-repository:{','.join(new)}", overrides=(*recipe.overrides, *new)) if new else None


def _with_build_requirements(recipe: Recipe, pairs: Iterable[tuple[str, str]]) -> Recipe | None:
    """The recipe with the distributions of modules that builds lacked."""
    needs = ((name, distributions.of_module(module)) for name, module in pairs if module not in _OF_EVERY_BUILD)
    pairs_needed = ((name, needed) for name, needed in needs if needed)
    new = tuple(dict.fromkeys(pair for pair in pairs_needed if pair not in recipe.built_with))
    mark = f"+build:{','.join(needed for _, needed in new)}"
    return _changed(recipe, mark, built_with=(*recipe.built_with, *new)) if new else None


_OF_EVERY_BUILD = frozenset({"setuptools", "distutils", "pkg_resources"})


def _with_later(recipe: Recipe, pairs: Iterable[tuple[str, str]]) -> Recipe | None:
    """The recipe with distributions as of the day after the one on which they were uploaded again."""
    by_name = dict(recipe.later)
    new = {
        name: (date.fromisoformat(day) + timedelta(days=1)).isoformat() for name, day in pairs if name not in by_name
    }
    return _changed(recipe, f"+later:{','.join(new)}", later=(*recipe.later, *new.items())) if new else None


def _without_vanished(recipe: Recipe, names: tuple[str, ...]) -> Recipe | None:
    """The recipe less the pins and direct requirements on what is gone."""
    evidence = recipe.evidence
    changed = replace(
        evidence,
        pins=missing.without(evidence.pins, names),
        requirements=missing.without(evidence.requirements, names) if not evidence.pins else evidence.requirements,
    )
    if changed == evidence:
        return None
    there = set(map(missing.distribution, (*evidence.pins, *evidence.requirements)))
    mark = f"-gone:{','.join(name for name in names if name in there)}"
    return _changed(replace(recipe, evidence=changed), mark)

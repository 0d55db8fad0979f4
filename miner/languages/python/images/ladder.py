"""The ladder: recipes tried one after the other, mended where it is known how, until the tests can be collected."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from miner.evidence.tree import Recipe
from miner.languages.base import RefusedError
from miner.languages.building import refusal
from miner.languages.built import BuiltImage, Collected, Failing, Repairing
from miner.languages.python.images import exclude_newer, pythons
from miner.languages.python.images.build_recipe import BuildJob, RecipeBuild
from miner.languages.python.recipes import imports, recipe_fixes
from miner.languages.python.recipes.interpreter import preference
from miner.layers import base
from miner.layers.build import BuiltLayer

if TYPE_CHECKING:
    from miner.languages.python.images.pythons import Interpreter

_INTERPRETERS_TRIED = 2
_MENDED = 6
"""How often one recipe is mended."""
_TRIED = 12
"""How many recipes are tried in all, mended ones included."""
_TRIED_WITH_AN_IMAGE = 1
"""How many more recipes are tried once there is an image, in which the tests could not all be collected."""
_COSTLY = frozenset({"build_timeout", "build_oom", "build_disk"})
"""Two of these are enough: a build that hangs with one recipe does so with the next."""
_VAGUE = frozenset({"install_failed", "unresolvable"})
"""Reasons that say nothing of the cause."""
_FOLDERS = 3
"""How often folders are put on `sys.path`."""


@dataclass(frozen=True, kw_only=True)
class _Stood:
    """An image that was built, and what could be collected in it."""

    recipe_build: RecipeBuild
    image: BuiltImage
    collected: Collected | None

    @property
    def lost(self) -> int:
        return self.collected.lost if self.collected and not self.collected.ok else 0

    @property
    def ok(self) -> bool:
        return self.collected is None or self.collected.ok


def climb(job: BuildJob, began: float) -> BuiltImage:
    """The first image in which all tests can be collected; else the one in which the fewest files are lost.

    Raises:
        RefusedError: no recipe gives an image; it tells of the last one.
        InfrastructureError: the engine, a registry, the package index or the disk failed.

    """
    ground = base.ensure(job.request.workshop)
    best, refused = _rungs(job, ground)
    if best is None and job.request.collect is not None and job.detection.unbuilt is not None:
        best = _unbuilt(job, ground, job.detection.unbuilt)
    if job.request.repairing is not None and (best is None or not best.ok):
        begun, failing = (best.recipe_build, _lacking(best)) if best else (refused[0][0], _failing(*refused[0]))
        best = _repaired(begun, ground, job.request.repairing, failing, best)
    if best is None:
        raise _telling([error for _, error in refused])  # there is always one, or _interpreters refuses
    return _finished(job, replace(best.image, way=best.collected.way if best.collected else 0), began)


def _telling(refused: Sequence[RefusedError]) -> RefusedError:
    """The last refusal; before it goes the last that says what no recipe can change, such as a host out of reach."""
    return next((error for error in reversed(refused) if error.rejection.reason not in _VAGUE), refused[-1])


def _rungs(job: BuildJob, ground: BuiltLayer) -> tuple[_Stood | None, list[tuple[RecipeBuild, RefusedError]]]:
    """The best that the detected recipes give, in their order, and those that came to nothing."""
    refused: list[tuple[RecipeBuild, RefusedError]] = []
    best: _Stood | None = None
    left = _TRIED
    for interpreter in _interpreters(job, ground):
        for recipe in job.detection.recipes:
            if left <= 0:
                return best, refused
            recipe_build = RecipeBuild(job=job, interpreter=interpreter, recipe=recipe)
            try:
                stood = _try(recipe_build, ground)
            except RefusedError as error:
                refused.append((recipe_build, error))
                left -= _TRIED // 2 if error.rejection.reason in _COSTLY else 1
                if error.step == "source" and recipe.project is not None:
                    break  # the project is built apart from what a recipe installs: the next one fails alike
                continue
            if best is None or stood.lost < best.lost:
                best = stood
            if stood.ok:
                return best, refused
            left = min(left - 1, _TRIED_WITH_AN_IMAGE)
            if interpreter.minor in job.detection.of_change:
                break  # it is named by words alone: rather another Python than another recipe
    return best, refused


def _unbuilt(job: BuildJob, ground: BuiltLayer, recipe: Recipe) -> _Stood | None:
    """The tree on `sys.path` and what it needs, where it can't be built; None unless all tests are collected so."""
    for interpreter in _interpreters(job, ground):
        with contextlib.suppress(RefusedError):
            stood = _try(RecipeBuild(job=job, interpreter=interpreter, recipe=recipe), ground)
            if stood.ok:
                return stood
    return None


def _failing(recipe_build: RecipeBuild, refused: RefusedError) -> Failing:
    output = refused.said or refused.rejection.detail
    return Failing(recipe=recipe_build.recipe, python=recipe_build.interpreter.minor, step=refused.step, said=output)


def _lacking(stood: _Stood) -> Failing:
    """What may be said of tests that could not be collected: they are hidden, and so is what they print."""
    collected = stood.collected
    missing = f": {', '.join(collected.missing)}" if collected and collected.missing else ""
    output = f"{collected.failure}{missing}" if collected else ""
    return Failing(
        recipe=stood.recipe_build.recipe, python=stood.recipe_build.interpreter.minor, step="collect", said=output
    )


def _repaired(
    recipe_build: RecipeBuild, ground: BuiltLayer, repairing: Repairing, failing: Failing, best: _Stood | None
) -> _Stood | None:
    """The best image of all, where recipes that were proposed count as well; marked where it is one of theirs."""
    rungs: set[str] = set()
    while (best is None or not best.ok) and (recipe := repairing.propose(failing)) is not None:
        rungs.add(recipe.rung)
        recipe_build = replace(recipe_build, recipe=recipe)
        try:
            stood = _stood(recipe_build, recipe_build.image(ground))
        except RefusedError as refused:
            failing = _failing(recipe_build, refused)
            continue
        failing = _lacking(stood)
        if best is None or stood.lost < best.lost:
            best = stood
    repair = repairing.summary(mended=best is not None and best.ok)
    if best is None or best.recipe_build.recipe.rung not in rungs:
        return best
    return replace(best, image=replace(best.image, repair=repair))


def _finished(job: BuildJob, image: BuiltImage, began: float) -> BuiltImage:
    """The image with all attempts that were made, and how long it took."""
    seconds = {**image.seconds, "total": time.monotonic() - began}
    for step in ("resolve", "collect"):
        seconds[step] = sum(attempt.seconds for attempt in job.attempts if attempt.step == step)
    if not any(attempt.step == "collect" for attempt in job.attempts):
        del seconds["collect"]
    return replace(image, attempts=tuple(job.attempts), seconds=seconds)


def _interpreters(job: BuildJob, ground: BuiltLayer) -> Iterator[Interpreter]:
    """The interpreters to try, best first.

    Raises:
        RefusedError: there is none.

    """
    offered = pythons.available_pythons(job.request.workshop.settings, str(ground.facts.get("python")))
    at_hand = [minor for minor, origin in offered.items() if origin is not pythons.Origin.DOWNLOAD]
    minors = preference(job.detection, job.request.when.date(), offered, at_hand=at_hand)
    count = 0
    for minor in minors:
        interpreter = pythons.ensure(job.request.workshop, ground, minor, offered[minor])
        if interpreter is not None:
            count += 1
            yield interpreter
        if count == _INTERPRETERS_TRIED:
            return
    if not count:
        failed = next((why for minor in minors if (why := pythons.unavailable(minor))), "")
        required = job.detection.requires_python or "nothing"
        wish = f"requires-python {required}; available: {', '.join(at_hand) or 'none'}"
        detail = f"{wish}. {failed}".strip()
        raise refusal("no_interpreter", detail)


def _try(recipe_build: RecipeBuild, ground: BuiltLayer) -> _Stood:
    """The image of a recipe, mended as long as what fails says what is missing.

    Raises:
        RefusedError: it can't be built.

    """
    best: _Stood | None = None
    request = recipe_build.request
    recipe_build = replace(
        recipe_build, recipe=recipe_fixes.with_learned(recipe_build.recipe, recipe_build.job.learned)
    )
    tried = imports.optional(request.fixed, request.tree)
    for _ in range(_MENDED):
        try:
            image = recipe_build.image(ground)
        except RefusedError as refused:
            settled = exclude_newer.settled(request.when, recipe_build.interpreter.minor)
            mended = recipe_fixes.after_failure(recipe_build.recipe, refused.said, settled)
            if mended is None:
                if best is not None:
                    return best
                raise
            recipe_build = _mended(recipe_build, mended)
            continue
        stood = _stood(recipe_build, image)
        if best is None or stood.ok or stood.lost < best.lost:
            best = stood
        if stood.collected is None:
            return stood
        absent = (module for module in tried if module not in image.modules)
        lacking = (*stood.collected.missing, *stood.collected.optional, *absent)
        said = stood.collected.output
        mended = recipe_fixes.after_collecting(recipe_build.recipe, lacking, said, request.tree, pytest=image.pytest)
        if mended is None:
            return best
        recipe_build = _mended(recipe_build, mended)
    if best is None:
        raise refusal("install_failed", "repairs did not help")
    return best


def _stood(recipe_build: RecipeBuild, image: BuiltImage) -> _Stood:
    """What can be collected in an image; folders that hold what is missing are put on `sys.path` where that helps."""
    image = replace(image, pythonpath=tuple(dict.fromkeys((*image.pythonpath, *recipe_build.job.folders))))
    stood = _Stood(recipe_build=recipe_build, image=image, collected=_collect(recipe_build, image))
    for _ in range(_FOLDERS):
        if stood.collected is None or stood.ok:
            break
        lacked = stood.collected.missing, stood.collected.parts
        folders = recipe_fixes.paths_for(*lacked, recipe_build.request.tree, stood.image.pythonpath)
        if not folders:
            break
        wider = replace(stood.image, pythonpath=(*stood.image.pythonpath, *folders))
        again = replace(stood, image=wider, collected=_collect(recipe_build, wider))
        collected = again.collected
        if collected is not None and (
            (again.lost >= stood.lost and (collected.missing, collected.parts) == lacked)
            # a module of that name, and not the package that is imported
            or any(module.startswith(f"{other}.") for module in collected.missing for other in lacked[0])
        ):
            break
        recipe_build.job.folders.extend(folders)
        stood = again
    return stood


def _mended(recipe_build: RecipeBuild, mended: Recipe) -> RecipeBuild:
    recipe_build.job.learned.append(recipe_fixes.Learned.between(recipe_build.recipe, mended))
    return replace(recipe_build, recipe=mended)


def _collect(recipe_build: RecipeBuild, image: BuiltImage) -> Collected | None:
    if recipe_build.request.collect is None:
        return None
    recipe_build.request.workshop.progress(f"collecting tests in {recipe_build.recipe.rung}")
    collected = recipe_build.request.collect(image)
    failure = "" if collected.ok else collected.failure or "not all files could be collected"
    called = f"{collected.command or 'pytest'} --collect-only"
    command = " ".join([*(f"PYTHONPATH={':'.join(on)}" for on in (image.pythonpath,) if on), called])
    recipe_build.record("collect", collected.seconds, failure=failure, command=command)
    return collected

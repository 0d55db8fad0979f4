"""The ladder: recipes tried one after the other, mended where it is known how, until the tests can be collected."""

from __future__ import annotations

import contextlib
import hashlib
import time
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from miner.change import Rejection, Stage
from miner.environment import mend
from miner.environment.interpreter import preference
from miner.image import base, build, dockerfile, pythons, steps, system
from miner.image.built import Attempt, BuiltImage, Failing
from miner.image.layer import Input
from miner.image.runner import read_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from miner.environment import Detection, Recipe, Tree
    from miner.image.build import BuiltLayer
    from miner.image.built import Collect, Collected, Repairing
    from miner.image.layer import Layer
    from miner.image.pythons import Interpreter
    from miner.image.runner import Workshop

_INTERPRETERS_TRIED = 2
_MENDED = 6
"""How often one recipe is mended."""
_TRIED = 12
"""How many recipes are tried in all, mended ones included."""
_TRIED_WITH_AN_IMAGE = 1
"""How many more recipes are tried once there is an image, in which the tests could not all be collected."""
_COSTLY = frozenset({"build_timeout", "build_oom"})
"""Two of these are enough: a build that hangs with one recipe does so with the next."""
_FOLDERS = 3
"""How often folders are put on `sys.path`."""
_DETAIL = 2000
_not_to_be_had: set[str] = set()
"""Layers of Debian packages that failed in this process: where Debian can't be reached, that is waited for once."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What stays the same over all attempts at one image."""

    workshop: Workshop
    tree: Tree
    tar: Input
    detection: Detection
    repo: str
    base_commit: str
    when: datetime
    version_hint: str | None
    collect: Collect | None
    attempts: list[Attempt] = field(default_factory=list)
    learned: list[mend.Learned] = field(default_factory=list)
    """What one recipe was mended with, which the next ones get at once."""
    folders: list[str] = field(default_factory=list)
    """Folders of the tree that had to be put on `sys.path`."""
    repairing: Repairing | None = None
    """What is asked for recipes where no rung gives an environment."""


class RefusedError(Exception):
    """One recipe has come to nothing."""

    def __init__(self, rejection: Rejection, *, step: str = "", said: str = "") -> None:
        super().__init__(rejection.reason)
        self.rejection = rejection
        self.step = step
        self.said = said
        """The end of the output."""


@dataclass(frozen=True, kw_only=True)
class _Stood:
    """An image that was built, and what could be collected in it."""

    interpreter: Interpreter
    recipe: Recipe
    image: BuiltImage
    collected: Collected | None

    @property
    def lost(self) -> int:
        return self.collected.lost if self.collected and not self.collected.ok else 0

    @property
    def ok(self) -> bool:
        return self.collected is None or self.collected.ok


def climb(job: Job, began: float) -> BuiltImage:
    """The first image in which all tests can be collected; else the one in which the fewest files are lost.

    Raises:
        RefusedError: no recipe gives an image; it tells of the last one.
        InfrastructureError: the engine, a registry, the package index or the disk failed.

    """
    ground = base.ensure(job.workshop)
    best, refused = _rungs(job, ground)
    if best is None and job.collect is not None and job.detection.unbuilt is not None:
        best = _unbuilt(job, ground, job.detection.unbuilt)
    if job.repairing is not None and (best is None or not best.ok):
        interpreter, failing = (best.interpreter, _lacking(best)) if best else (refused[0][0], _failing(*refused[0]))
        best = _repaired(job, ground, job.repairing, interpreter, failing, best)
    if best is None:
        raise refused[-1][-1]  # there is always a recipe, and _interpreters refuses when it has none
    return _finished(job, best.image, began)


def _rungs(job: Job, ground: BuiltLayer) -> tuple[_Stood | None, list[tuple[Interpreter, Recipe, RefusedError]]]:
    """The best that the detected recipes give, in their order, and those that came to nothing."""
    refused: list[tuple[Interpreter, Recipe, RefusedError]] = []
    best: _Stood | None = None
    left = _TRIED
    for interpreter in _interpreters(job, ground):
        for recipe in job.detection.recipes:
            if left <= 0:
                return best, refused
            try:
                stood = _try(job, interpreter, recipe, ground)
            except RefusedError as error:
                refused.append((interpreter, recipe, error))
                left -= _TRIED // 2 if error.rejection.reason in _COSTLY else 1
                continue
            if best is None or stood.lost < best.lost:
                best = stood
            if stood.ok:
                return best, refused
            left = min(left - 1, _TRIED_WITH_AN_IMAGE)
    return best, refused


def _unbuilt(job: Job, ground: BuiltLayer, recipe: Recipe) -> _Stood | None:
    """The tree on `sys.path` and what it needs, where it can't be built; None unless all tests are collected so."""
    for interpreter in _interpreters(job, ground):
        with contextlib.suppress(RefusedError):
            stood = _try(job, interpreter, recipe, ground)
            if stood.ok:
                return stood
    return None


def _failing(interpreter: Interpreter, recipe: Recipe, refused: RefusedError) -> Failing:
    said = refused.said or refused.rejection.detail
    return Failing(recipe=recipe, python=interpreter.minor, step=refused.step, said=said)


def _lacking(stood: _Stood) -> Failing:
    """What may be said of tests that could not be collected: they are hidden, and so is what they print."""
    found = stood.collected
    missing = f": {', '.join(found.missing)}" if found and found.missing else ""
    said = f"{found.failure}{missing}" if found else ""
    return Failing(recipe=stood.recipe, python=stood.interpreter.minor, step="collect", said=said)


def _repaired(
    job: Job,
    ground: BuiltLayer,
    repairing: Repairing,
    interpreter: Interpreter,
    failing: Failing,
    best: _Stood | None,
) -> _Stood | None:
    """The best image of all, where recipes that were proposed count as well; marked where it is one of theirs."""
    rungs: set[str] = set()
    while (best is None or not best.ok) and (recipe := repairing.propose(failing)) is not None:
        rungs.add(recipe.rung)
        try:
            stood = _stood(job, interpreter, recipe, _image(job, interpreter, recipe, ground))
        except RefusedError as refused:
            failing = _failing(interpreter, recipe, refused)
            continue
        failing = _lacking(stood)
        if best is None or stood.lost < best.lost:
            best = stood
    told = repairing.told(mended=best is not None and best.ok)
    if best is None or best.recipe.rung not in rungs:
        return best
    return replace(best, image=replace(best.image, repair=told))


def _finished(job: Job, image: BuiltImage, began: float) -> BuiltImage:
    """The image with all attempts that were made, and how long it took."""
    seconds = {**image.seconds, "total": time.monotonic() - began}
    for step in ("resolve", "collect"):
        seconds[step] = sum(attempt.seconds for attempt in job.attempts if attempt.step == step)
    if not any(attempt.step == "collect" for attempt in job.attempts):
        del seconds["collect"]
    return replace(image, attempts=tuple(job.attempts), seconds=seconds)


def _interpreters(job: Job, ground: BuiltLayer) -> Iterator[Interpreter]:
    """The interpreters to try, best first.

    Raises:
        RefusedError: there is none.

    """
    offered = pythons.available_pythons(job.workshop.settings, str(ground.facts.get("python")))
    at_hand = [minor for minor, origin in offered.items() if origin is not pythons.Origin.DOWNLOAD]
    wanted = preference(job.detection, job.when.date(), offered, at_hand=at_hand)
    found = 0
    for minor in wanted:
        interpreter = pythons.ensure(job.workshop, ground, minor, offered[minor])
        if interpreter is not None:
            found += 1
            yield interpreter
        if found == _INTERPRETERS_TRIED:
            return
    if not found:
        failed = next((why for minor in wanted if (why := pythons.unavailable(minor))), "")
        wish = f"requires-python {job.detection.requires_python or 'nothing'}; at hand: {', '.join(at_hand) or 'none'}"
        detail = f"{wish}. {failed}".strip()
        raise RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason="no_interpreter", detail=detail))


def _try(job: Job, interpreter: Interpreter, recipe: Recipe, ground: BuiltLayer) -> _Stood:
    """The image of a recipe, mended as long as what fails says what is missing.

    Raises:
        RefusedError: it can't be built.

    """
    best: _Stood | None = None
    recipe = mend.with_learned(recipe, job.learned)
    for _ in range(_MENDED):
        try:
            image = _image(job, interpreter, recipe, ground)
        except RefusedError as refused:
            mended = mend.after_failure(recipe, refused.said)
            if mended is None:
                if best is not None:
                    return best
                raise
            recipe = _mended(job, recipe, mended)
            continue
        stood = _stood(job, interpreter, recipe, image)
        if best is None or stood.lost < best.lost:
            best = stood
        if stood.ok or stood.collected is None:
            return stood
        mended = mend.after_collecting(recipe, stood.collected.missing, stood.collected.output, job.tree)
        if mended is None:
            return best
        recipe = _mended(job, recipe, mended)
    if best is None:
        raise RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason="install_failed", detail="mended in vain"))
    return best


def _stood(job: Job, interpreter: Interpreter, recipe: Recipe, image: BuiltImage) -> _Stood:
    """What can be collected in an image; folders that hold what is missing are put on `sys.path` where that helps."""
    image = replace(image, pythonpath=tuple(dict.fromkeys((*image.pythonpath, *job.folders))))
    stood = _Stood(
        interpreter=interpreter, recipe=recipe, image=image, collected=_collect(job, interpreter, recipe, image)
    )
    for _ in range(_FOLDERS):
        if stood.collected is None or stood.ok:
            break
        lacked = stood.collected.missing
        folders = mend.paths_for(lacked, job.tree, stood.image.pythonpath)
        if not folders:
            break
        wider = replace(stood.image, pythonpath=(*stood.image.pythonpath, *folders))
        again = replace(stood, image=wider, collected=_collect(job, interpreter, recipe, wider))
        if again.lost >= stood.lost and again.collected is not None and again.collected.missing == lacked:
            break
        job.folders.extend(folders)
        stood = again
    return stood


def _mended(job: Job, recipe: Recipe, mended: Recipe) -> Recipe:
    job.learned.append(mend.Learned.between(recipe, mended))
    return mended


def _image(job: Job, interpreter: Interpreter, recipe: Recipe, ground: BuiltLayer) -> BuiltImage:
    packed, versions = _system(job, interpreter, recipe)
    lock, local = _resolve(job, packed, recipe)
    deps, deps_built = _install(job, packed, recipe, lock)
    source, source_built = _source(job, deps_built, recipe, local)
    recipes = [base.layer(base.resolve(job.workshop.settings))]
    recipes += [one for one in (interpreter.recipe, packed.recipe) if one and one not in recipes]
    stack = [ground]
    stack += [one for one in (interpreter.layer, packed.layer) if one.tag not in {below.tag for below in stack}]
    stack += [deps_built, source_built]
    facts = source_built.facts
    return BuiltImage(
        image_id=source_built.image_id,
        python=str(facts["python"]),
        pytest=str(facts["pytest"]),
        pytest_plugins=tuple(facts["plugins"]),
        modules=tuple(facts["modules"]),
        pythonpath=tuple(_below(recipe.root, path) for path in facts["pythonpath"]),
        dockerfile=dockerfile.render(
            base.describe(job.workshop.settings), [*recipes, deps, source], job.workshop.variables
        ),
        locks={steps.LOCK_NAME: lock},
        rung=recipe.rung,
        attempts=(),
        layers=tuple(one.tag for one in stack),
        seconds={one.kind: one.seconds for one in stack},
        layer_bytes={one.kind: one.size for one in stack},
        root=recipe.root,
        system=versions,
        declared=job.detection.declared,
        notes=job.detection.notes,
        env=recipe.env,
    )


def _below(root: str, path: str) -> str:
    return str(PurePosixPath(root, path)) if root else path


def _system(job: Job, interpreter: Interpreter, recipe: Recipe) -> tuple[Interpreter, tuple[str, ...]]:
    """The interpreter with the recipe's Debian packages; without them where they can't be had, which is recorded."""
    if not recipe.apt:
        return interpreter, ()
    layer = system.layer(interpreter.layer.image_id, recipe.apt, python=interpreter.path)
    command = f"apt-get install {' '.join(recipe.apt)}"
    if layer.key in _not_to_be_had:
        return interpreter, ()
    try:
        built = build.ensure(job.workshop, layer)
    except build.StepFailedError as error:
        _not_to_be_had.add(layer.key)
        failure = error.detail or "failed"
        _record(job, recipe, interpreter, "system", error.ran.seconds, failure=failure, command=command)
        return interpreter, ()
    _record(job, recipe, interpreter, "system", built.seconds, command=command)
    return replace(interpreter, layer=built, recipe=layer), tuple(built.facts.get("packages", ()))


def _resolve(job: Job, interpreter: Interpreter, recipe: Recipe, *, again: bool = True) -> tuple[str, tuple[str, ...]]:
    """The lock of a recipe, and the folders of the tree that are installed beside the project."""
    job.workshop.progress(f"resolving {recipe.rung} for Python {interpreter.minor}")
    inputs = [job.tar, text_input(job, "extra.in", steps.requirement_lines(recipe, interpreter.minor))]
    if recipe.evidence.pins:
        inputs.append(text_input(job, steps.PINS_NAME, "\n".join(recipe.evidence.pins) + "\n"))
    if recipe.overrides:
        inputs.append(text_input(job, steps.OVERRIDES_NAME, "\n".join(recipe.overrides) + "\n"))
    script = steps.resolve_script(recipe, interpreter, job.when, job.version_hint)
    command = steps.resolve_command(recipe, interpreter, job.when)
    image = interpreter.layer.image_id
    with job.workshop.run(image, script, kind="resolve", inputs=tuple(inputs)) as ran:
        if ran.ok:
            _record(job, recipe, interpreter, "resolve", ran.seconds, command=command)
            text = read_result(ran.out / steps.LOCK_NAME).decode()
            return steps.clean_lock(text), steps.local_folders(text, recipe.root, set(job.tree.files()))
        build.raise_if_infrastructure(job.workshop, image, ran)
        _record(job, recipe, interpreter, "resolve", ran.seconds, failure=ran.tail[-_DETAIL:], command=command)
        failed = build.StepFailedError("resolve", ran)
    if again and build.misses_network(ran):
        return _resolve(job, interpreter, recipe, again=False)
    reason = failed.reason if failed.reason != "install_failed" else "unresolvable"
    rejection = Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail=failed.detail)
    raise RefusedError(rejection, step="resolve", said=ran.tail)


def _install(job: Job, interpreter: Interpreter, recipe: Recipe, lock: str) -> tuple[Layer, BuiltLayer]:
    layer = steps.dependencies(interpreter, text_input(job, steps.LOCK_NAME, lock), lock)
    command = f"uv pip install --no-deps --require-hashes -r {steps.LOCK_NAME}"
    try:
        built = build.ensure(job.workshop, layer)
    except build.StepFailedError as error:
        _record(job, recipe, interpreter, "install", error.ran.seconds, failure=error.detail, command=command)
        rejection = Rejection(stage=Stage.ENVIRONMENT, reason=error.reason, detail=error.detail)
        raise RefusedError(rejection, said=error.ran.tail) from error
    _record(job, recipe, interpreter, "install", built.seconds, command=command)
    return layer, built


def _source(job: Job, deps: BuiltLayer, recipe: Recipe, local: tuple[str, ...]) -> tuple[Layer, BuiltLayer]:
    layer = steps.source(
        deps.image_id,
        job.tar,
        installable=recipe.project is not None,
        when=job.when,
        version_hint=job.version_hint,
        repo=job.repo,
        commit=job.base_commit,
        root=recipe.root,
        local=local,
        further=recipe.commands,
    )
    try:
        return layer, build.ensure(job.workshop, layer)
    except build.StepFailedError as error:
        python = str(deps.facts.get("python", ""))
        job.attempts.append(
            Attempt(
                rung=recipe.rung,
                python=".".join(python.split(".")[:2]),
                step="source",
                ok=False,
                seconds=error.ran.seconds,
                failure=error.detail,
                command="uv pip install --no-deps -e .",
            )
        )
        rejection = Rejection(stage=Stage.IMAGE, reason=error.reason, detail=error.detail)
        raise RefusedError(rejection, step="source", said=error.ran.tail) from error


def _collect(job: Job, interpreter: Interpreter, recipe: Recipe, image: BuiltImage) -> Collected | None:
    if job.collect is None:
        return None
    job.workshop.progress(f"collecting tests in {recipe.rung}")
    found = job.collect(image)
    failure = "" if found.ok else found.failure or "not all files could be collected"
    command = " ".join([*(f"PYTHONPATH={':'.join(on)}" for on in (image.pythonpath,) if on), "pytest --collect-only"])
    _record(job, recipe, interpreter, "collect", found.seconds, failure=failure, command=command)
    return found


def _record(
    job: Job,
    recipe: Recipe,
    interpreter: Interpreter,
    step: str,
    seconds: float,
    *,
    failure: str = "",
    command: str = "",
) -> None:
    known = any(one.rung == recipe.rung and one.python == interpreter.minor for one in job.attempts)
    job.attempts.append(
        Attempt(
            rung=recipe.rung,
            python=interpreter.minor,
            step=step,
            ok=not failure,
            seconds=seconds,
            failure=failure,
            command=command,
            evidence={} if known else recipe.said(),
        )
    )


def text_input(job: Job, name: str, text: str) -> Input:
    """A text as a file that a build reads."""
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    path = job.workshop.folder / f"{digest[:16]}-{name}"
    path.write_bytes(data)
    return Input(name=name, path=path, sha256=digest)

"""One recipe of the ladder, built: Debian packages, lock, dependencies, source; every step of it goes on record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from harness.languages.python.language import INTERPRETER
from miner.evidence.tree import Detection, Recipe
from miner.languages import system
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.built import Attempt, BuiltImage
from miner.languages.python.evidence import subproject
from miner.languages.python.images import exclude_newer, repositories, steps
from miner.languages.python.recipes import distributions, extensions, recipe_fixes
from miner.layers import base, build, dockerfile
from miner.layers.build import BuiltLayer
from miner.layers.layer import Input, Layer
from miner.layers.runner import Workshop, read_result
from miner.layers.source import KIND
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from miner.languages.python.images.pythons import Interpreter

_DETAIL = 2000
_YANKED = re.compile(r"warning: `([\w.-]+)==(\S+?)` is yanked(?: \(reason: \"(.*?)\"\))?")
_not_to_be_had: set[str] = set()
"""Layers of Debian packages that failed in this process: where Debian can't be reached, that is waited for once."""


_RESOLVING = "resolve"


@dataclass(kw_only=True)
class _Lately:
    """How a repository's last commit was built in this process. The next one is likely the same."""

    image: str
    """What it was resolved in."""
    then: tuple[str, str]
    """Image and kind of the first layer after that: the source where its dependencies were there, else those."""


_lately: dict[Path, _Lately] = {}


def expect_resolving(workshop: Workshop) -> None:
    """Have a container ready for what comes first, while it is found out what that is."""
    if last := _lately.get(workshop.cache):
        workshop.expect(last.image, _RESOLVING)


@dataclass(frozen=True, kw_only=True)
class BuildJob:
    """What stays the same over all attempts at one image."""

    request: ImageRequest
    tar: Input
    detection: Detection
    attempts: list[Attempt] = field(default_factory=list)
    learned: list[recipe_fixes.Learned] = field(default_factory=list)
    """What one recipe was mended with, which the next ones get at once."""
    folders: list[str] = field(default_factory=list)
    """Folders of the tree that had to be put on `sys.path`."""


def image_of(job: BuildJob, interpreter: Interpreter, recipe: Recipe, ground: BuiltLayer) -> BuiltImage:
    packed, versions = _system(job, interpreter, recipe)
    image = packed.layer.image_id
    new = image, steps.DEPENDENCIES
    last = _lately.get(job.request.workshop.cache)
    job.request.workshop.expect(*(last.then if last and last.image == image else new))
    locked = _resolve(job, packed, recipe)
    deps, deps_built = _install(job, packed, recipe, locked)
    installed = deps_built.image_id, KIND
    job.request.workshop.ahead.clear(keep=installed)
    _lately[job.request.workshop.cache] = _Lately(image=image, then=installed if deps_built.reused else new)
    source, source_built = _source(job, interpreter, deps_built, recipe, locked.local)
    recipes = [base.layer(base.resolve(job.request.workshop.settings))]
    recipes += [layer for layer in (interpreter.recipe, packed.recipe) if layer and layer not in recipes]
    stack = [ground]
    stack += [layer for layer in (interpreter.layer, packed.layer) if layer.tag not in {below.tag for below in stack}]
    stack += [deps_built, source_built]
    facts = source_built.facts
    return BuiltImage(
        image_id=source_built.image_id,
        platform=source_built.platform,
        python=str(facts["python"]),
        pytest=str(facts["pytest"]),
        pytest_plugins=tuple(facts["plugins"]),
        modules=distributions.of_others(facts["modules"], subproject.project(job.request.tree, recipe.root)),
        pythonpath=tuple(
            str(PurePosixPath(recipe.root, path)) if recipe.root else path for path in facts["pythonpath"]
        ),
        dockerfile=dockerfile.render(
            base.describe(job.request.workshop.settings),
            [*recipes, deps, source],
            _variables(job, interpreter, recipe),
            job.request.workshop.reached,
        ),
        locks={steps.LOCK_NAME: locked.text},
        rung=recipe.rung,
        attempts=(),
        layers=tuple(layer.tag for layer in stack),
        seconds={layer.kind: layer.seconds for layer in stack},
        layer_bytes={layer.kind: layer.size for layer in stack},
        root=recipe.root,
        system=versions,
        declared=job.detection.declared,
        notes=(*job.detection.notes, *locked.notes, *_unbuildable(facts)),
        build=extensions.build_of(facts, INTERPRETER),
        env=recipe.env,
        own_runner=recipe.is_runner,
    )


def _variables(job: BuildJob, interpreter: Interpreter, recipe: Recipe) -> dict[str, str]:
    """The variables of builds, with the day of the dependencies' own build requirements."""
    options = " ".join(exclude_newer.for_dependencies(job.request.when, interpreter.minor, recipe.later))
    return {**job.request.workshop.variables, **_undeclared(recipe), steps.CUTOFF_VARIABLE: options}


def _undeclared(recipe: Recipe) -> dict[str, str]:
    """The variable that tells our own tools what the project needs to be built and does not say."""
    needed = " ".join(requirement for name, requirement in recipe.built_with if not name)
    return {"GOLDSEAM_BUILT_WITH": needed} if needed else {}


def _with_undeclared(job: BuildJob, recipe: Recipe) -> Workshop:
    """The workshop, where builds have what they import and do not declare."""
    variables = {**job.request.workshop.variables, **_undeclared(recipe)}
    pairs = tuple(pair for pair in recipe.built_with if pair[0])
    return replace(job.request.workshop, variables=variables, built_with=pairs)


def _system(job: BuildJob, interpreter: Interpreter, recipe: Recipe) -> tuple[Interpreter, tuple[str, ...]]:
    """The interpreter with the recipe's Debian packages; without them where they can't be had, which is recorded."""
    if not recipe.apt:
        return interpreter, ()
    layer = system.layer(interpreter.layer.image_id, recipe.apt)
    command = f"apt-get install {' '.join(recipe.apt)}"
    if layer.key in _not_to_be_had:
        return interpreter, ()
    try:
        built = build.ensure(job.request.workshop, layer)
    except build.StepFailedError as error:
        _not_to_be_had.add(layer.key)
        failure = error.detail or "failed"
        record(job, recipe, interpreter, "system", error.ran.seconds, failure=failure, command=command)
        return interpreter, ()
    record(job, recipe, interpreter, "system", built.seconds, command=command)
    return replace(interpreter, layer=built, recipe=layer), tuple(built.facts.get("packages", ()))


@dataclass(frozen=True, kw_only=True)
class _Locked:
    """A recipe, resolved."""

    text: str
    """The lock."""
    local: tuple[str, ...]
    """The folders of the tree that are installed beside the project."""
    notes: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """What installing it needs of secrets, which the lock is kept without."""


def _resolve(job: BuildJob, interpreter: Interpreter, recipe: Recipe) -> _Locked:
    """The lock of a recipe, where git repositories are at the commit that they had on the day."""
    text, warned = _compile(job, interpreter, recipe)
    pinned = repositories.pinned(text)
    notes: list[str] = []
    if pinned:
        commits = repositories.of_the_day(job.request.workshop, interpreter.layer.image_id, pinned, job.request.when)
        overrides, notes = repositories.moved(pinned, commits, job.request.when)
        if overrides:
            replaced = dict.fromkeys((*recipe.overrides, *overrides))
            try:
                text, warned = _compile(job, interpreter, replace(recipe, overrides=tuple(replaced)))
            except RefusedError:
                notes = [repositories.stays(pin, job.request.when) for pin in pinned]
    return _Locked(
        text=repositories.without_passwords(steps.clean_lock(text)),
        local=steps.local_folders(text, recipe.root, set(job.request.tree.files())),
        notes=(*notes, *_uncommon(recipe, warned)),
        variables=repositories.passwords(text, job.request.workshop.secrets.variables),
    )


def _unbuildable(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """That extension modules stay as they are after a patch, where they do."""
    why = facts.get("unbuildable")
    return (f"its extension modules can't be built again after a patch: {' '.join(str(why).split())}",) if why else ()


def _uncommon(recipe: Recipe, warned: str) -> list[str]:
    """What there is to say of versions that are not simply of the day."""
    notes = [f"{name}=={version} was yanked since: {why}" for name, version, why in _YANKED.findall(warned)]
    late = (
        f"{name} is as of {day}: the index has nothing as old as the commit that would do" for name, day in recipe.later
    )
    return [*notes, *late]


def _compile(job: BuildJob, interpreter: Interpreter, recipe: Recipe, *, again: bool = True) -> tuple[str, str]:
    """The lock that the resolver writes for a recipe, and what it says."""
    workshop = job.request.workshop
    workshop.progress(f"resolving {recipe.rung} for Python {interpreter.minor}")
    inputs = [
        job.tar,
        workshop.input("extra.in", steps.requirement_lines(recipe, interpreter.minor).encode()),
    ]
    if recipe.evidence.pins:
        inputs.append(job.request.workshop.input(steps.PINS_NAME, _lines(recipe.evidence.pins)))
    if recipe.overrides:
        inputs.append(job.request.workshop.input(steps.OVERRIDES_NAME, _lines(recipe.overrides)))
    script = steps.resolve_script(recipe, interpreter, job.request.when, job.request.version_hint)
    command = steps.resolve_command(recipe, interpreter, job.request.when)
    image = interpreter.layer.image_id
    workshop = _with_undeclared(job, recipe)
    with workshop.run(image, script, kind=_RESOLVING, inputs=tuple(inputs), foreign=True) as ran:
        if ran.ok:
            record(job, recipe, interpreter, "resolve", ran.seconds, command=command)
            return read_result(ran.out / steps.LOCK_NAME).decode(), ran.tail
        build.raise_if_infrastructure(job.request.workshop, image, ran)
        record(job, recipe, interpreter, "resolve", ran.seconds, failure=ran.tail[-_DETAIL:], command=command)
        failed = build.StepFailedError("resolve", ran, job.request.workshop.settings)
    if again and build.misses_network(ran):
        return _compile(job, interpreter, recipe, again=False)
    rejection = Rejection(stage=Stage.ENVIRONMENT, reason=failed.reason, detail=failed.detail)
    raise RefusedError(rejection, step="resolve", said=ran.tail)


def _install(job: BuildJob, interpreter: Interpreter, recipe: Recipe, locked: _Locked) -> tuple[Layer, BuiltLayer]:
    lock = job.request.workshop.input(steps.LOCK_NAME, locked.text.encode())
    layer = steps.dependencies(interpreter, lock, locked.text, has_pytest=not recipe.is_runner)
    command = f"uv pip install --no-deps --require-hashes -r {steps.LOCK_NAME}"
    try:
        variables = {**_variables(job, interpreter, recipe), **locked.variables}
        workshop = replace(_with_undeclared(job, recipe), variables=variables)
        built = build.ensure(workshop, layer)
    except build.StepFailedError as error:
        raise _refused(job, recipe, interpreter, "install", error, stage=Stage.ENVIRONMENT, command=command) from error
    record(job, recipe, interpreter, "install", built.seconds, command=command)
    return layer, built


def _source(
    job: BuildJob, interpreter: Interpreter, deps: BuiltLayer, recipe: Recipe, local: tuple[str, ...]
) -> tuple[Layer, BuiltLayer]:
    layer = steps.source(
        deps.image_id,
        job.tar,
        installable=recipe.project is not None,
        when=job.request.when,
        minor=interpreter.minor,
        version_hint=job.request.version_hint,
        repo=job.request.repo,
        commit=job.request.base_commit,
        root=recipe.root,
        local=local,
        further=recipe.commands,
        compiled=recipe.project is not None and extensions.may_have(job.request.tree, recipe.root),
        cython=extensions.made_by_cython(job.request.tree, recipe.root),
        has_package=job.request.tree.read("__init__.py") is not None,
    )
    try:
        built = build.ensure(_with_undeclared(job, recipe), layer)
    except build.StepFailedError as error:
        command = "uv pip install --no-deps -e ."
        raise _refused(job, recipe, interpreter, "source", error, stage=Stage.IMAGE, command=command) from error
    how = str(built.facts.get("how") or "")
    record(job, recipe, interpreter, "source", built.seconds, command=how)
    return layer, built


def _refused(
    job: BuildJob,
    recipe: Recipe,
    interpreter: Interpreter,
    step: str,
    error: build.StepFailedError,
    *,
    stage: Stage,
    command: str,
) -> RefusedError:
    """What a layer that can't be built makes of its recipe, which is recorded."""
    record(job, recipe, interpreter, step, error.ran.seconds, failure=error.detail, command=command)
    rejection = Rejection(stage=stage, reason=error.reason, detail=error.detail)
    return RefusedError(rejection, step=step, said=error.ran.tail)


def record(
    job: BuildJob,
    recipe: Recipe,
    interpreter: Interpreter,
    step: str,
    seconds: float,
    *,
    failure: str = "",
    command: str = "",
) -> None:
    is_known = any(attempt.rung == recipe.rung and attempt.python == interpreter.minor for attempt in job.attempts)
    job.attempts.append(
        Attempt(
            rung=recipe.rung,
            python=interpreter.minor,
            step=step,
            ok=not failure,
            seconds=seconds,
            failure=failure,
            command=command,
            evidence={}
            if is_known
            else {
                kind: tuple(map(repositories.without_passwords, words))
                for kind, words in recipe.evidence_by_kind().items()
            },
        )
    )


def _lines(words: Iterable[str]) -> bytes:
    return ("\n".join(words) + "\n").encode()

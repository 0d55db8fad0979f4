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
from miner.languages.building import image_of
from miner.languages.built import Attempt, BuiltImage
from miner.languages.python.evidence import subproject
from miner.languages.python.images import exclude_newer, repositories, steps
from miner.languages.python.recipes import distributions, extensions, recipe_fixes
from miner.layers import build
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


def _undeclared(recipe: Recipe) -> dict[str, str]:
    """The variable that tells our own tools what the project needs to be built and does not say."""
    needed = " ".join(requirement for name, requirement in recipe.built_with if not name)
    return {"GOLDSEAM_BUILT_WITH": needed} if needed else {}


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


@dataclass(frozen=True, kw_only=True)
class RecipeBuild:
    """One recipe on one interpreter, in the making."""

    job: BuildJob
    interpreter: Interpreter
    recipe: Recipe

    @property
    def request(self) -> ImageRequest:
        """What the image is built from."""
        return self.job.request

    def image(self, ground: BuiltLayer) -> BuiltImage:
        """All of it, each step on record; raises `RefusedError` where it can't be had."""
        request, recipe = self.request, self.recipe
        packed, versions = self.with_packages()
        image = packed.interpreter.layer.image_id
        new = image, steps.DEPENDENCIES
        last = _lately.get(request.workshop.cache)
        request.workshop.expect(*(last.then if last and last.image == image else new))
        locked = packed.resolve()
        deps, deps_built = packed.install(locked)
        installed = deps_built.image_id, KIND
        request.workshop.ahead.clear(keep=installed)
        _lately[request.workshop.cache] = _Lately(image=image, then=installed if deps_built.reused else new)
        source, source_built = self._source(deps_built, locked.local)
        own, below = self.interpreter, packed.interpreter
        interpreters = [own] if own.layer.tag == below.layer.tag else [own, below]
        recipes = [base_of.recipe for base_of in interpreters if base_of.recipe]
        stack = [ground]
        stack += [base_of.layer for base_of in interpreters if base_of.layer.tag != ground.tag]
        stack += [deps_built, source_built]
        facts = source_built.facts
        return replace(
            image_of(request.workshop, [*recipes, deps, source], stack, recipe.rung, self._variables()),
            inputs={},
            python=str(facts["python"]),
            pytest=str(facts["pytest"]),
            pytest_plugins=tuple(facts["plugins"]),
            modules=distributions.of_others(facts["modules"], subproject.project(request.tree, recipe.root)),
            pythonpath=tuple(
                str(PurePosixPath(recipe.root, path)) if recipe.root else path for path in facts["pythonpath"]
            ),
            locks={steps.LOCK_NAME: locked.text},
            root=recipe.root,
            system=versions,
            declared=self.job.detection.declared,
            notes=(*self.job.detection.notes, *locked.notes, *_unbuildable(facts)),
            build=extensions.build_of(facts, INTERPRETER),
            env=recipe.env,
            own_runner=recipe.is_runner,
        )

    def record(self, step: str, seconds: float, *, failure: str = "", command: str = "") -> None:
        """Keep one step; with the first of a recipe on an interpreter, what that is made of."""
        attempts, recipe, python = self.job.attempts, self.recipe, self.interpreter.minor
        is_known = any(attempt.rung == recipe.rung and attempt.python == python for attempt in attempts)
        kinds = {} if is_known else recipe.evidence_by_kind()
        attempts.append(
            Attempt(
                rung=recipe.rung,
                python=python,
                step=step,
                ok=not failure,
                seconds=seconds,
                failure=failure,
                command=command,
                evidence={kind: tuple(map(repositories.without_passwords, words)) for kind, words in kinds.items()},
            )
        )

    def _variables(self) -> dict[str, str]:
        """The variables of builds, with the day of the dependencies' own build requirements."""
        options = " ".join(exclude_newer.for_dependencies(self.request.when, self.interpreter.minor, self.recipe.later))
        return {**self.request.workshop.variables, **_undeclared(self.recipe), steps.CUTOFF_VARIABLE: options}

    def _with_undeclared(self) -> Workshop:
        """The workshop, where builds have what they import and do not declare."""
        variables = {**self.request.workshop.variables, **_undeclared(self.recipe)}
        pairs = tuple(pair for pair in self.recipe.built_with if pair[0])
        return replace(self.request.workshop, variables=variables, built_with=pairs)

    def with_packages(self) -> tuple[RecipeBuild, tuple[str, ...]]:
        """On the recipe's Debian packages, with their versions; without where they can't be had, which is recorded."""
        if not self.recipe.apt:
            return self, ()
        layer = system.layer(self.interpreter.layer.image_id, self.recipe.apt)
        command = f"apt-get install {' '.join(self.recipe.apt)}"
        if layer.key in _not_to_be_had:
            return self, ()
        try:
            built = build.ensure(self.request.workshop, layer)
        except build.StepFailedError as error:
            _not_to_be_had.add(layer.key)
            failure = error.detail or "failed"
            self.record("system", error.ran.seconds, failure=failure, command=command)
            return self, ()
        self.record("system", built.seconds, command=command)
        packed = replace(self.interpreter, layer=built, recipe=layer)
        return replace(self, interpreter=packed), tuple(built.facts.get("packages", ()))

    def resolve(self) -> _Locked:
        """The lock of a recipe, where git repositories are at the commit that they had on the day."""
        text, warned = self.compile()
        pinned = repositories.pinned(text)
        notes: list[str] = []
        if pinned:
            commits = repositories.of_the_day(
                self.request.workshop, self.interpreter.layer.image_id, pinned, self.request.when
            )
            overrides, notes = repositories.moved(pinned, commits, self.request.when)
            if overrides:
                replaced = dict.fromkeys((*self.recipe.overrides, *overrides))
                try:
                    text, warned = replace(self, recipe=replace(self.recipe, overrides=tuple(replaced))).compile()
                except RefusedError:
                    notes = [repositories.stays(pin, self.request.when) for pin in pinned]
        return _Locked(
            text=repositories.without_passwords(steps.clean_lock(text)),
            local=steps.local_folders(text, self.recipe.root, set(self.request.tree.files())),
            notes=(*notes, *_uncommon(self.recipe, warned)),
            variables=repositories.passwords(text, self.request.workshop.secrets.variables),
        )

    def compile(self, *, again: bool = True) -> tuple[str, str]:
        """The lock that the resolver writes for a recipe, and what it says."""
        workshop = self.request.workshop
        workshop.progress(f"resolving {self.recipe.rung} for Python {self.interpreter.minor}")
        inputs = [
            self.job.tar,
            workshop.input("extra.in", steps.requirement_lines(self.recipe, self.interpreter.minor).encode()),
        ]
        if self.recipe.evidence.pins:
            inputs.append(self.request.workshop.input(steps.PINS_NAME, _lines(self.recipe.evidence.pins)))
        if self.recipe.overrides:
            inputs.append(self.request.workshop.input(steps.OVERRIDES_NAME, _lines(self.recipe.overrides)))
        script = steps.resolve_script(self.recipe, self.interpreter, self.request.when, self.request.version_hint)
        command = steps.resolve_command(self.recipe, self.interpreter, self.request.when)
        image = self.interpreter.layer.image_id
        workshop = self._with_undeclared()
        with workshop.run(image, script, kind=_RESOLVING, inputs=tuple(inputs), foreign=True) as ran:
            if ran.ok:
                self.record("resolve", ran.seconds, command=command)
                return read_result(ran.out / steps.LOCK_NAME).decode(), ran.tail
            build.raise_if_infrastructure(self.request.workshop, image, ran)
            self.record("resolve", ran.seconds, failure=ran.tail[-_DETAIL:], command=command)
            failed = build.StepFailedError("resolve", ran, self.request.workshop.settings)
        if again and build.misses_network(ran):
            return self.compile(again=False)
        rejection = Rejection(stage=Stage.ENVIRONMENT, reason=failed.reason, detail=failed.detail)
        raise RefusedError(rejection, step="resolve", said=ran.tail)

    def install(self, locked: _Locked) -> tuple[Layer, BuiltLayer]:
        lock = self.request.workshop.input(steps.LOCK_NAME, locked.text.encode())
        layer = steps.dependencies(self.interpreter, lock, locked.text, has_pytest=not self.recipe.is_runner)
        command = f"uv pip install --no-deps --require-hashes -r {steps.LOCK_NAME}"
        workshop = replace(self._with_undeclared(), variables={**self._variables(), **locked.variables})
        built = self._built("install", workshop, layer, stage=Stage.ENVIRONMENT, command=command)
        self.record("install", built.seconds, command=command)
        return layer, built

    def _source(self, deps: BuiltLayer, local: tuple[str, ...]) -> tuple[Layer, BuiltLayer]:
        request = self.request
        layer = steps.source(deps.image_id, self.job.tar, request, self.recipe, self.interpreter.minor, local)
        command = "uv pip install --no-deps -e ."
        built = self._built("source", self._with_undeclared(), layer, stage=Stage.IMAGE, command=command)
        self.record("source", built.seconds, command=str(built.facts.get("how") or ""))
        return layer, built

    def _built(self, step: str, workshop: Workshop, layer: Layer, *, stage: Stage, command: str) -> BuiltLayer:
        """A layer of the recipe; where it can't be built that is recorded, and the recipe refused."""
        try:
            return build.ensure(workshop, layer)
        except build.StepFailedError as error:
            self.record(step, error.ran.seconds, failure=error.detail, command=command)
            rejection = Rejection(stage=stage, reason=error.reason, detail=error.detail)
            raise RefusedError(rejection, step=step, said=error.ran.tail) from error


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


def _lines(words: Iterable[str]) -> bytes:
    return ("\n".join(words) + "\n").encode()

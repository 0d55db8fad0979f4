"""From a tree at base_commit to an image pinned by digest: the whole way, one ladder."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from harness.errors import InfrastructureError
from harness.sandbox import engine
from miner.change import Rejection, Stage
from miner.environment import detect
from miner.environment.interpreter import preference
from miner.image import base, build, dockerfile, pythons, secrets, steps
from miner.image.layer import Input
from miner.image.runner import Workshop, read_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from harness.settings import ImageSettings
    from miner.environment import Detection, Recipe, Tree
    from miner.image.build import BuiltLayer
    from miner.image.layer import Layer
    from miner.image.pythons import Interpreter

_INTERPRETERS_TRIED = 2
_RUNNER = "pytest"
_DETAIL = 2000


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One rung of the ladder, tried."""

    rung: str
    python: str
    step: str
    """`resolve` or `install`."""
    ok: bool
    seconds: float
    failure: str = ""
    """End of the output, where it failed."""


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    """The image of a task, and how it came to be."""

    image_id: str
    """`sha256:…`, as the engine knows it."""
    python: str
    """Full version of the interpreter, such as `3.11.2`."""
    pytest: str
    """Version of pytest."""
    pytest_plugins: tuple[str, ...]
    """Entry point names of group pytest11."""
    modules: tuple[str, ...]
    """Top-level modules and packages of the dependencies."""
    pythonpath: tuple[str, ...]
    """Folders of the repository that had to be put on sys.path, since it can't be installed."""
    dockerfile: str
    locks: dict[str, str]
    """Lock files by name."""
    rung: str
    attempts: tuple[Attempt, ...]
    layers: tuple[str, ...]
    """Tags of the layers, from the base up."""
    seconds: dict[str, float]
    """Wall time by step; a reused layer took 0."""
    layer_bytes: dict[str, int]
    """Bytes that each layer adds."""


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What stays the same over all attempts at one image."""

    workshop: Workshop
    tree: Input
    detection: Detection
    repo: str
    base_commit: str
    when: datetime
    version_hint: str | None
    attempts: list[Attempt] = field(default_factory=list)


class _Refused(Exception):  # noqa: N818 - carries a result, not an error
    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.reason)
        self.rejection = rejection


def build_environment(
    tree: Tree,
    *,
    repo: str,
    base_commit: str,
    when: datetime,
    version_hint: str | None,
    tar: Callable[[], IO[bytes]],
    settings: ImageSettings,
    log: Path,
    progress: Callable[[str], None],
) -> BuiltImage | Rejection:
    """Find out what the tests of a tree need, and build the image they run in.

    `when` is the date of base_commit, in UTC: dependencies are those of that day. `version_hint` is the version that
    git's tags would give. `tar` opens the tree as an uncompressed tar stream (byte-exact: without export-subst and
    export-ignore). The whole build goes to `log`, credentials masked.

    Raises:
        InfrastructureError: the engine, a registry, the package index or the disk failed.
        InputError: a setting is wrong.

    """
    log.parent.mkdir(parents=True, exist_ok=True)
    detection = detect(tree)
    if (detection.name or "").lower() == _RUNNER:
        detail = "the project is pytest itself: a patch to it would change what judges the patch"
        return Rejection(stage=Stage.ENVIRONMENT, reason="tests_its_own_runner", detail=detail)
    with open_workshop(settings, repo, log, progress, when) as workshop:
        began = time.monotonic()
        job = _Job(
            workshop=workshop,
            tree=_save(tar, workshop.folder / steps.SOURCE_NAME),
            detection=detection,
            repo=repo,
            base_commit=base_commit,
            when=when,
            version_hint=version_hint,
        )
        try:
            return _build(job, began)
        except _Refused as refused:
            return refused.rejection


@contextmanager
def open_workshop(
    settings: ImageSettings, repo: str, log: Path, progress: Callable[[str], None], when: datetime | None = None
) -> Iterator[Workshop]:
    """A scratch folder that is gone afterwards; those of killed processes go as well."""
    builds = settings.cache_dir / "builds"
    cache = settings.cache_dir / "uv" / hashlib.sha256(repo.encode()).hexdigest()[:16]
    try:
        for folder in (builds, cache):
            folder.mkdir(parents=True, exist_ok=True)
        for left in builds.iterdir():
            if engine.is_dead(left.name.rpartition("~")[0]):
                shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(dir=builds, prefix=f"{engine.owner()}~"))
    except OSError as error:
        raise InfrastructureError(
            f"the cache folder {settings.cache_dir} can't be used: {error.strerror}", hint="set GOLDSEAM_CACHE_DIR"
        ) from error
    try:
        yield Workshop(
            settings=settings,
            secrets=secrets.collect(),
            folder=folder,
            log=log,
            progress=progress,
            cache=cache,
            variables={steps.CUTOFF_VARIABLE: " ".join((*steps.cutoff(when), *steps.test_tools(when, None)))}
            if when
            else {},
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _save(tar: Callable[[], IO[bytes]], path: Path) -> Input:
    digest = hashlib.sha256()
    with tar() as stream, path.open("wb") as file:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            file.write(chunk)
    return Input(name=path.name, path=path, sha256=digest.hexdigest())


def _text_input(job: _Job, name: str, text: str) -> Input:
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    path = job.workshop.folder / f"{digest[:16]}-{name}"
    path.write_bytes(data)
    return Input(name=name, path=path, sha256=digest)


def _build(job: _Job, began: float) -> BuiltImage:
    ground = base.ensure(job.workshop)
    last: _Refused | None = None
    for interpreter in _interpreters(job, ground):
        for recipe in job.detection.recipes:
            try:
                lock = _resolve(job, interpreter, recipe)
                deps, deps_built = _install(job, interpreter, recipe, lock)
            except _Refused as refused:
                last = refused
                continue
            source, built = _source(job, deps_built, recipe)
            return _result(job, recipe, interpreter, ground, lock, (deps, source), (deps_built, built), began)
    assert last is not None  # noqa: S101 - there is always a recipe, and _interpreters refuses when it has none
    raise last


def _interpreters(job: _Job, ground: BuiltLayer) -> Iterator[Interpreter]:
    """The interpreters to try, best first.

    Raises:
        _Refused: there is none.

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
        raise _Refused(Rejection(stage=Stage.ENVIRONMENT, reason="no_interpreter", detail=detail))


def _resolve(job: _Job, interpreter: Interpreter, recipe: Recipe, *, again: bool = True) -> str:
    """The lock of a recipe."""
    job.workshop.progress(f"resolving {recipe.rung} for Python {interpreter.minor}")
    extra = _text_input(job, "extra.in", steps.requirement_lines(recipe, interpreter.minor))
    script = steps.resolve_script(recipe, interpreter, job.when, job.version_hint)
    image = interpreter.layer.image_id
    with job.workshop.run(image, script, kind="resolve", inputs=(job.tree, extra)) as ran:
        if ran.ok:
            _record(job, recipe, interpreter, "resolve", ran.seconds)
            return steps.clean_lock(read_result(ran.out / steps.LOCK_NAME).decode())
        build.raise_if_infrastructure(job.workshop, image, ran)
        _record(job, recipe, interpreter, "resolve", ran.seconds, failure=ran.tail[-_DETAIL:])
        failed = build.StepFailedError("resolve", ran)
    if again and build.misses_network(ran):
        return _resolve(job, interpreter, recipe, again=False)
    reason = failed.reason if failed.reason != "install_failed" else "unresolvable"
    raise _Refused(Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail=failed.detail))


def _install(job: _Job, interpreter: Interpreter, recipe: Recipe, lock: str) -> tuple[Layer, BuiltLayer]:
    layer = steps.dependencies(interpreter, _text_input(job, steps.LOCK_NAME, lock), lock)
    try:
        built = build.ensure(job.workshop, layer)
    except build.StepFailedError as error:
        _record(job, recipe, interpreter, "install", error.ran.seconds, failure=error.detail)
        raise _Refused(Rejection(stage=Stage.ENVIRONMENT, reason=error.reason, detail=error.detail)) from error
    _record(job, recipe, interpreter, "install", built.seconds)
    return layer, built


def _source(job: _Job, deps: BuiltLayer, recipe: Recipe) -> tuple[Layer, BuiltLayer]:
    layer = steps.source(
        deps.image_id,
        job.tree,
        installable=recipe.project is not None,
        when=job.when,
        version_hint=job.version_hint,
        repo=job.repo,
        commit=job.base_commit,
    )
    try:
        return layer, build.ensure(job.workshop, layer)
    except build.StepFailedError as error:
        raise _Refused(Rejection(stage=Stage.IMAGE, reason=error.reason, detail=error.detail)) from error


def _record(
    job: _Job, recipe: Recipe, interpreter: Interpreter, step: str, seconds: float, *, failure: str = ""
) -> None:
    job.attempts.append(
        Attempt(rung=recipe.rung, python=interpreter.minor, step=step, ok=not failure, seconds=seconds, failure=failure)
    )


def _result(
    job: _Job,
    recipe: Recipe,
    interpreter: Interpreter,
    ground: BuiltLayer,
    lock: str,
    layers: tuple[Layer, Layer],
    built: tuple[BuiltLayer, BuiltLayer],
    began: float,
) -> BuiltImage:
    own = (interpreter.layer,) if interpreter.recipe else ()
    stack = (ground, *own, *built)
    facts = built[-1].facts
    root = base.layer(base.resolve(job.workshop.settings))
    recipes = (root, *((interpreter.recipe,) if interpreter.recipe else ()), *layers)
    seconds = {one.kind: one.seconds for one in stack}
    seconds["resolve"] = sum(attempt.seconds for attempt in job.attempts if attempt.step == "resolve")
    seconds["total"] = time.monotonic() - began
    return BuiltImage(
        image_id=built[-1].image_id,
        python=str(facts["python"]),
        pytest=str(facts["pytest"]),
        pytest_plugins=tuple(facts["plugins"]),
        modules=tuple(facts["modules"]),
        pythonpath=tuple(facts["pythonpath"]),
        dockerfile=dockerfile.render(base.describe(job.workshop.settings), recipes, job.workshop.variables),
        locks={steps.LOCK_NAME: lock},
        rung=recipe.rung,
        attempts=tuple(job.attempts),
        layers=tuple(one.tag for one in stack),
        seconds=seconds,
        layer_bytes={one.kind: one.size for one in stack},
    )

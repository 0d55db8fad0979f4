"""The image of a Go project's tests: base, toolchain, modules, source at base_commit; each with what it compiles."""

from __future__ import annotations

import hashlib
import io
import posixpath
import tarfile
import time
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import TYPE_CHECKING

from harness.languages.go.language import CACHE, ENV, MODULES, ROOT, part
from harness.sandbox.images import platforms
from miner.evidence.tree import TESTBED
from miner.languages.base import RefusedError
from miner.languages.built import Attempt, BuiltImage
from miner.languages.go import modules
from miner.layers import base, build, dockerfile, source
from miner.layers.layer import FACTS_PATH, INPUT_DIR, Folder, Input, Layer, quote, readable, write_tool
from miner.layers.secrets import RUN_DIR
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.config.settings import ImageSettings
    from miner.languages.base import ImageRequest
    from miner.languages.built import Collected
    from miner.layers.build import BuiltLayer

_MOUNTED = f"{RUN_DIR}/go"
_FETCH, _WARM, _RECORDER = "/tmp/toolchain.py", "/tmp/warm.py", "/tmp/recorder.go"  # noqa: S108 - inside the container
_GIVEN = "imports.tar"
_RUNG = {True: modules.SUMS, False: modules.MANIFEST}
_DETAIL = 2000
_UNUSED = ("./test", "./api", "./doc", "./misc", "testdata", "*_test.go")


@dataclass(frozen=True, kw_only=True)
class _Job:
    request: ImageRequest
    rung: str
    attempts: list[Attempt] = field(default_factory=list)

    def record(self, minor: int, step: str, seconds: float, *, failure: str = "", command: str = "") -> None:
        self.attempts.append(
            Attempt(
                rung=self.rung,
                python=f"go 1.{minor}",
                step=step,
                ok=not failure,
                seconds=seconds,
                failure=failure[-_DETAIL:],
                command=command,
            )
        )


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, the module proxy or the disk failed.

    """
    began = time.monotonic()
    if why := _objection(request):
        raise RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason=why[0], detail=why[1]))
    ground = base.ensure(request.workshop)
    sums = any(posixpath.basename(path) == modules.SUMS for path in request.tree.files())
    job = _Job(request=request, rung=_RUNG[sums])
    best: tuple[BuiltImage, Collected | None] | None = None
    refused: list[RefusedError] = []
    for minor in modules.minors(request.tree, request.when.date()):
        try:
            image = _image(job, ground, minor)
        except RefusedError as error:
            refused.append(error)
            continue
        collected = _collected(job, image, minor)
        if best is None or (collected and best[1] and collected.lost < best[1].lost):
            best = image, collected
        if collected is None or collected.ok:
            break
    if best is None:
        raise refused[-1]
    image, collected = best
    seconds = {**image.seconds, "total": time.monotonic() - began}
    return replace(image, attempts=tuple(job.attempts), seconds=seconds, way=collected.way if collected else 0)


def _objection(request: ImageRequest) -> tuple[str, str] | None:
    """Why no image can be made of a tree: a stable word and a sentence; None where nothing speaks against it."""
    folders = modules.module_folders(request.tree)
    tests = [path for path in request.touched if path.endswith("_test.go")]
    if any(modules.module_of(folders, path) is None for path in tests) or not folders:
        return "no_module", "no folder at or above the tests has a go.mod"
    if not modules.minors(request.tree, request.when.date()):
        return "no_go", f"a go.mod asks for a version of Go after 1.{max(modules.RELEASED)}, the newest that is known"
    return None


def _collected(job: _Job, image: BuiltImage, minor: int) -> Collected | None:
    if job.request.collect is None:
        return None
    job.request.workshop.progress(f"collecting tests on Go 1.{minor}")
    collected = job.request.collect(image)
    job.record(
        minor,
        "collect",
        collected.seconds,
        failure="" if collected.ok else collected.failure,
        command=collected.command,
    )
    return collected


def _image(job: _Job, ground: BuiltLayer, minor: int) -> BuiltImage:
    request = job.request
    go_layer = layer_of_go(ground.image_id, minor, request.workshop.settings)
    toolchain = _ensure(job, go_layer, minor, "system", f"go 1.{minor}")
    module_layer = _modules(toolchain.image_id, request)
    installed = _ensure(job, module_layer, minor, "install", "go list -deps -test ./...")
    tree_layer = _tree(installed.image_id, request)
    tree = _ensure(job, tree_layer, minor, "source", "go list -export -test ./...")
    stack = (ground, toolchain, installed, tree)
    recipes = [base.layer(base.resolve(request.workshop.settings)), go_layer, module_layer, tree_layer]
    sums = request.tree.read(modules.SUMS)
    failure = tree.facts.get("not_compiled")
    return BuiltImage(
        image_id=tree.image_id,
        platform=tree.platform,
        dockerfile=dockerfile.render(
            base.describe(request.workshop.settings), recipes, dict(request.workshop.variables)
        ),
        locks={modules.SUMS: sums.decode("utf-8", "replace")} if sums else {},
        rung=job.rung,
        attempts=(),
        layers=tuple(layer.tag for layer in stack),
        seconds={layer.kind: layer.seconds for layer in stack},
        layer_bytes={layer.kind: layer.size for layer in stack},
        notes=(str(toolchain.facts.get("go")), *((f"not all packages can be compiled: {failure}",) if failure else ())),
        env=_env(request),
    )


def _env(request: ImageRequest) -> dict[str, str]:
    """Variables of the tests."""
    flags = modules.flags(request.tree)
    return {"GOFLAGS": flags} if flags else {}


def _ensure(job: _Job, layer: Layer, minor: int, step: str, command: str) -> BuiltLayer:
    try:
        built = build.ensure(job.request.workshop, layer)
    except build.StepFailedError as error:
        job.record(minor, step, error.ran.seconds, failure=error.detail, command=command)
        rejection = Rejection(stage=Stage.ENVIRONMENT, reason=error.reason, detail=error.detail)
        raise RefusedError(rejection, step=step, said=error.ran.tail) from error
    job.record(minor, step, built.seconds, command=command)
    return built


def layer_of_go(parent: str, minor: int, settings: ImageSettings) -> Layer:
    """The toolchain, of this machine where the settings name one for it, else the module proxy's; and its library."""
    own = settings.gos.get(f"1.{minor}") if platforms.is_of_here(settings.platform) else None
    folders: tuple[Folder, ...] = ()
    laid: tuple[str, ...] = (
        write_tool(_FETCH, _tool("toolchain.py")),
        f'python3 {_FETCH} {minor} "$(dpkg --print-architecture)" {ROOT}',
    )
    if own:
        digest = hashlib.sha256((own / "VERSION").read_bytes() + (own / "bin/go").read_bytes()).hexdigest()
        folders = (Folder(path=own, target=_MOUNTED, key=digest, context=f"go-1.{minor}"),)
        excluded = " ".join(f"--exclude='{pattern}'" for pattern in _UNUSED)
        laid = (
            f"mkdir -p {ROOT}",
            f"tar -C {_MOUNTED} {excluded} -cf /tmp/go.tar .",
            f"tar -C {ROOT} --no-same-owner -xf /tmp/go.tar",
        )
    return Layer(
        kind="go",
        parent=parent,
        folders=folders,
        foreign=True,
        commands=(*laid, *_environment(), _warmed("std"), readable(ROOT, CACHE)),
    )


def _environment(flags: str = "") -> tuple[str, ...]:
    """Commands that let the toolchain find itself, a home, its caches, and the module proxy."""
    variables = {**ENV, "HOME": "/tmp", "GOCACHE": CACHE}  # noqa: S108 - inside the container
    settings = {name: value for name, value in variables.items() if name not in ("GOPROXY", "GOSUMDB")}
    return (
        *(f"export {name}={quote(value)}" for name, value in settings.items()),
        'export GOPROXY="${GOPROXY:-https://proxy.golang.org}" GOSUMDB="${GOSUMDB:-off}"',
        f"export GOFLAGS={quote(f'-buildvcs=false {flags}'.strip())}",
        f"mkdir -p {CACHE} {MODULES}",
    )


def _warmed(kind: str, folders: Sequence[str] = ()) -> str:
    """The commands that compile for the build cache."""
    places = " ".join(quote(posixpath.join(TESTBED, folder)) for folder in folders)
    return "\n".join(
        (
            write_tool(_RECORDER, part("recorder.go")),
            write_tool(_WARM, part("overlay.py") + _tool("warm.py")),
            f"python3 {_WARM} {_RECORDER} {FACTS_PATH} {kind} {places}".rstrip(),
        )
    )


def _imports(request: ImageRequest) -> Input:
    """The tree's skeleton as a tar; the same bytes for the same imports."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, data in modules.skeleton(request.tree):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return request.workshop.input(_GIVEN, buffer.getvalue())


def _folders(request: ImageRequest) -> tuple[str, ...]:
    """Where the toolchain is called: in the modules of the tests, and in the root's."""
    folders = modules.module_folders(request.tree)
    own = {modules.module_of(folders, path) for path in request.touched}
    return tuple(folder for folder in folders if folder in own or not folder)


def _modules(parent: str, request: ImageRequest) -> Layer:
    vendored = request.tree.read("vendor/modules.txt") is not None
    warmed = () if vendored else (_warmed("modules", _folders(request)),)
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=(_imports(request),),
        commands=(
            f"mkdir -p {TESTBED} && tar -C {TESTBED} --no-same-owner -xf {INPUT_DIR}/{_GIVEN}",
            *_environment(modules.flags(request.tree)),
            f"echo '{{}}' > {FACTS_PATH}",
            *warmed,
            f"rm -rf {TESTBED}; find {MODULES} -name '*.zip' -delete",
            readable(MODULES, CACHE),
        ),
    )


def _tree(parent: str, request: ImageRequest) -> Layer:
    """The tree, and what is compiled of it; the toolchain's own changes of manifests are undone."""
    return Layer(
        kind=source.KIND,
        parent=parent,
        foreign=True,
        inputs=(request.source(),),
        env={
            "PATH": f"{ROOT}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            **{name: value for name, value in {**ENV, **_env(request)}.items() if name != "PATH"},
            "TZ": "UTC",
            "LANG": "C.UTF-8",
        },
        workdir=TESTBED,
        labels=source.labels(request.repo, request.base_commit),
        commands=(
            *source.committed(),
            *_environment(modules.flags(request.tree)),
            "export GOPROXY=off",
            _warmed("packages", _folders(request)),
            f"cd {TESTBED} && git checkout -q -- . && git clean -fdqx",
            readable(TESTBED, CACHE),
            *source.copied(),
        ),
    )


def _tool(name: str) -> str:
    return resources.files("miner.languages.go").joinpath("tools", name).read_text(encoding="utf-8")

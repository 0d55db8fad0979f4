"""The image of a Go project's tests: base, toolchain, modules, source at base_commit; each with what it compiles."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.config.settings import ImageSettings
from harness.languages.go.language import CACHE, ENV, MODULES, ROOT, part, sources
from miner.evidence.tree import TESTBED
from miner.languages.base import ImageRequest
from miner.languages.building import Building, Stack, own_folder, refusal, tree_layer
from miner.languages.built import BuiltImage
from miner.languages.go import modules
from miner.languages.toolchain import Toolchain
from miner.layers import base, egress, package_index
from miner.layers.build import BuiltLayer
from miner.layers.layer import FACTS_PATH, Layer, quote, readable, tool, unpacked, write_tool

_tool = partial(tool, "miner.languages.go")
_FETCH, _WARM, _REQUIRE, _SOURCES = (
    f"/tmp/{name}"  # noqa: S108 - inside the container
    for name in ("toolchain.py", "warm.py", "requirements.py", "sources.json")
)
_GIVEN, _FIXED = "imports.tar", "fixed.tar"
_MANIFESTS = "/opt/goldseam/manifest"
_OVERLAY = f"{_MANIFESTS}/overlay.json"
_UNUSED = ("./test", "./api", "./doc", "./misc", "testdata", "*_test.go")


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, the module proxy or the disk failed.

    """
    if not modules.module_folders(request.tree):
        request = replace(request, tree=modules.WithManifest(request.tree, request.repo))
    if why := _objection(request):
        raise refusal(*why)
    ground = base.ensure(request.workshop)
    building = Building(request)
    minors = modules.minors(request.tree, request.when.date())
    return building.over(minors, _toolchain, partial(_image, building, ground))


def _toolchain(minor: int) -> str:
    return f"go 1.{minor}"


def _objection(request: ImageRequest) -> tuple[str, str] | None:
    """Why no image can be made of a tree: a stable word and a sentence; None where nothing speaks against it."""
    folders = modules.module_folders(request.tree)
    tests = [path for path in request.touched if path.endswith("_test.go")]
    if any(modules.module_of(folders, path) is None for path in tests):
        return "no_module", "no folder at or above the tests has a go.mod, and others do"
    if not modules.minors(request.tree, request.when.date()):
        return "no_go", f"a go.mod asks for a version of Go after 1.{max(modules.RELEASED)}, the newest that is known"
    return None


def _image(building: Building, ground: BuiltLayer, minor: int) -> BuiltImage:
    request, version = building.request, _toolchain(minor)
    sums = request.tree.read(modules.SUMS)
    rung = modules.MANIFEST if sums is None else modules.SUMS
    stack = Stack(building, ground, rung, version)
    toolchain = stack.add(layer_of_go(ground.image_id, minor, request.workshop.settings), "system", version)
    installed = stack.add(_modules(stack.image_id, request), "install", "go list -deps -test ./...")
    tree = stack.add(_tree(stack.image_id, request), "source", "go list -export -test ./...")
    failure = tree.facts.get("not_compiled")
    locks = {modules.SUMS: sums.decode("utf-8", "replace")} if sums else {}
    locks |= {name: str(installed.facts[name]) for name in (modules.MANIFEST, modules.SUMS) if name in installed.facts}
    return replace(
        stack.image(),
        locks=locks,
        notes=(str(toolchain.facts.get("go")), *((f"not all packages can be compiled: {failure}",) if failure else ())),
        env=_env(request),
    )


def _env(request: ImageRequest) -> dict[str, str]:
    """Variables of the tests."""
    overlay = f"-overlay={_OVERLAY}" if isinstance(request.tree, modules.WithManifest) else ""
    flags = f"{modules.flags(request.tree)} {overlay}".strip()
    return {"GOFLAGS": flags} if flags else {}


def _manifest(request: ImageRequest) -> tuple[str, ...]:
    """Commands that lay a go.mod and its sums beside the tree, which the compiler takes for those in it."""
    if not isinstance(request.tree, modules.WithManifest):
        return ()
    names = (modules.MANIFEST, modules.SUMS)
    replaced = {posixpath.join(TESTBED, name): posixpath.join(_MANIFESTS, name) for name in names}
    return (
        write_tool(_REQUIRE, _tool("requirements.py")),
        f"python3 {_REQUIRE} {TESTBED} {request.when:%Y-%m-%d} {FACTS_PATH}",
        f"mkdir -p {_MANIFESTS} && cp {' '.join(replaced)} {_MANIFESTS}",
        write_tool(_OVERLAY, json.dumps({"Replace": replaced})),
    )


def layer_of_go(parent: str, minor: int, settings: ImageSettings) -> Layer:
    """The toolchain, of this machine where the settings name one for it, else the module proxy's; and its library."""
    own = own_folder("go", f"1.{minor}", settings, "bin/go")
    laid: tuple[str, ...] = (
        write_tool(_FETCH, _tool("toolchain.py")),
        f'python3 {_FETCH} {minor} "$(dpkg --print-architecture)" {ROOT}',
    )
    if own:
        excluded = " ".join(f"--exclude='{pattern}'" for pattern in _UNUSED)
        laid = (
            f"mkdir -p {ROOT}",
            f"tar -C {own.target} {excluded} -cf /tmp/go.tar .",
            f"tar -C {ROOT} --no-same-owner -xf /tmp/go.tar",
        )
    return Layer(
        kind="go",
        parent=parent,
        folders=(own,) if own else (),
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
            write_tool(_SOURCES, json.dumps(sources())),
            write_tool(_WARM, part("overlay.py") + _tool("warm.py")),
            f"python3 {_WARM} {_SOURCES} {FACTS_PATH} {kind} {places}".rstrip(),
        )
    )


def _folders(request: ImageRequest) -> tuple[str, ...]:
    """Where the toolchain is called: in the modules of the tests, and in the root's."""
    folders = modules.module_folders(request.tree)
    own = {modules.module_of(folders, path) for path in request.touched}
    return tuple(folder for folder in folders if folder in own or not folder)


def _modules(parent: str, request: ImageRequest) -> Layer:
    vendored = request.tree.read("vendor/modules.txt") is not None
    warmed = () if vendored else (_warmed("modules", _folders(request)),)
    inputs = [request.workshop.packed(_GIVEN, modules.skeleton(request.tree))]
    with_fix: tuple[str, ...] = ()
    if not vendored and (fixed := modules.of_fix(request.tree, request.fixed)):
        inputs.append(request.workshop.packed(_FIXED, fixed.items(), is_of_fix=True))
        with_fix = (unpacked(_FIXED),)
    if isinstance(request.tree, modules.WithManifest):
        installed = (*with_fix, *_manifest(request), *warmed)
    else:
        installed = (*warmed, *(with_fix and (*with_fix, *warmed)))
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=tuple(inputs),
        commands=(
            unpacked(_GIVEN),
            *_environment(modules.flags(request.tree)),
            f"echo '{{}}' > {FACTS_PATH}",
            *installed,
            f"rm -rf {TESTBED}; find {MODULES} -name '*.zip' -delete",
            readable(MODULES, CACHE, *((_MANIFESTS,) if isinstance(request.tree, modules.WithManifest) else ())),
        ),
    )


def _tree(parent: str, request: ImageRequest) -> Layer:
    """The tree, and what is compiled of it; the toolchain's own changes of manifests are undone."""
    return tree_layer(
        parent,
        request,
        programs=f"{ROOT}/bin",
        env={**ENV, **_env(request)},
        commands=(
            *_environment(_env(request).get("GOFLAGS", "")),
            "export GOPROXY=off",
            _warmed("packages", _folders(request)),
            f"cd {TESTBED} && git checkout -q -- . && git clean -fdqx",
            readable(TESTBED, CACHE),
        ),
    )


def _versions() -> tuple[str, ...] | None:
    versions = package_index.go_versions()
    return None if versions is None else tuple(f"1.{minor}" for minor in modules.RELEASED if f"1.{minor}" in versions)


TOOLCHAINS = (
    Toolchain(
        name="go",
        origin="the module proxy",
        versions=_versions,
        remedy="name your module proxy in GOPROXY, or folders of Go in [images.gos]",
        layer=lambda parent, version, settings: layer_of_go(parent, int(version.removeprefix("1.")), settings),
        hosts=(egress.GO,),
    ),
)

"""The image of a Rust project's tests: base, toolchain, crates, source at base_commit, with what these compile to."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.config.settings import ImageSettings
from harness.languages.rust.language import CARGO_HOME, ENV, HOME, TARGET, TOOLCHAIN, part
from miner.evidence.tree import TESTBED
from miner.languages import system
from miner.languages.base import ImageRequest, RefusedError
from miner.languages.building import Building, Resolution, Stack, installed, own_folder, reason_in, refusal, tree_layer
from miner.languages.rust import cargo
from miner.languages.toolchain import Toolchain
from miner.layers import base, build
from miner.layers.build import BuiltLayer
from miner.layers.layer import (
    APT_CERTIFICATES,
    APT_CLEANED,
    FACTS_PATH,
    INPUT_DIR,
    OUT_DIR,
    Input,
    Layer,
    quote,
    readable,
    tool,
    unpacked,
    write_tool,
)

if TYPE_CHECKING:
    from datetime import datetime

    from miner.languages.built import BuiltImage

_DAY, _RECORDER = "/tmp/day.py", "/tmp/recorder.c"  # noqa: S108 - inside the container
_GIVEN, _FIXED = "manifests.tar", "fixed.tar"
_OF_FIX = "/tmp/of-fix"  # noqa: S108 - inside the container
_KEPT_LOCK = f"{HOME}/{cargo.LOCK}"
_UNUSED = (
    "./share", "./libexec", "./etc", "./lib/rustlib/src", "./bin/*-*", "./bin/rust-*", "./bin/rls",
)  # fmt: skip
_DEBIAN = ("rustc-web cargo-web", "rustc cargo")
"""Debian's packages of Rust: those that it renews for browsers, which not every Debian has, and those it came with."""
_OLD_CARGO = (
    "export CARGO_UNSTABLE_SPARSE_REGISTRY=true CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse",
    "export __CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS=nightly",
    'exec /usr/bin/cargo "$@"',
)
"""Calls a cargo before 1.70, which else clones the index of crates whole, and can't have it as of a day."""
_WITHOUT_GIT = (
    f"rm {TOOLCHAIN}/bin/cargo; printf '%s\\n' '#!/bin/sh' {' '.join(map(quote, _OLD_CARGO))} > {TOOLCHAIN}/bin/cargo;"
    f" chmod 755 {TOOLCHAIN}/bin/cargo"
)
_FAILURES = (
    ("no_rust", "requires rustc|is not supported by the following package|edition2024|lock file version"),
    ("unresolvable", "failed to select a version|no matching package|failed to get `|failed to load source"),
)
"""Reasons, and how cargo says so; what comes first goes before others."""


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, a registry or the disk failed.

    """
    packages = cargo.packages(request.tree, _sources(request))
    if not packages:
        raise refusal("no_cargo_toml", "no folder at or above the tests has a Cargo.toml of a package")
    workspace = cargo.workspace_of(request.tree, packages[0])
    least = cargo.oldest(request.tree, {"", workspace, *packages})
    settings = request.workshop.settings
    own = [int(version[2:]) for version in installed("rust", settings)]
    ground = base.ensure(request.workshop)
    day = request.when.date()
    of_debian = _of_debian(request, ground, cargo.minor_of(day))
    minors = cargo.minors([*own, *of_debian], least, day)
    if not minors:
        detail = (
            f'it asks for Rust 1.{least}: name a toolchain of it, "1.{least}", under [images.rusts] in goldseam.toml'
        )
        raise refusal("no_rust", detail)
    building = Building(request, partial(reason_in, _FAILURES))
    layers = {**of_debian, **{minor: layer_of_rust(ground.image_id, minor, settings) for minor in own}}
    return building.over(minors, _toolchain, lambda minor: _image(building, ground, workspace, minor, layers[minor]))


def _of_debian(request: ImageRequest, ground: BuiltLayer, of_day: int) -> dict[int, Layer]:
    """The layers of Debian's Rust by minor version: the newest, and the older one if the newest is of a later day."""
    layers: dict[int, Layer] = {}
    for packages in _DEBIAN:
        layer = _debian_rust(ground.image_id, packages)
        with suppress(build.StepFailedError):
            facts = build.ensure(request.workshop, layer).facts
            minor = next(map(int, re.findall(r"^rustc 1\.(\d+)", str(facts.get("rust")))), 0)
            layers.setdefault(minor, layer)
            if of_day >= minor or facts.get("packages") == _DEBIAN[-1]:
                break
    return layers


def _toolchain(minor: int) -> str:
    return f"rust 1.{minor}"


def _sources(request: ImageRequest) -> list[str]:
    return [path for path in request.touched if path.endswith(".rs")]


def _image(building: Building, ground: BuiltLayer, workspace: str, minor: int, rust_layer: Layer) -> BuiltImage:
    request, version = building.request, _toolchain(minor)
    lock = request.tree.read(posixpath.join(workspace, cargo.LOCK))
    rung = cargo.MANIFEST if lock is None else cargo.LOCK
    stack = Stack(building, ground, rung, version)
    toolchain = top = stack.add(rust_layer, "system", version)
    files = dict(cargo.skeleton(request.tree, workspace))
    if lock is None:
        packed = request.workshop.packed(_GIVEN, files.items())
        lock = _resolved(building, toolchain, packed, workspace, version, request.when)
        files[posixpath.join(workspace, cargo.LOCK)] = lock
    if packages := cargo.system_packages(lock):
        called = f"apt-get install {' '.join(packages)}"
        with suppress(RefusedError):  # most of the crates may do without
            top = stack.add(system.layer(toolchain.image_id, packages), "system", called)
    inputs = [request.workshop.packed(_GIVEN, files.items())]
    if fixed := _of_fix(building, toolchain, files, workspace, version):
        inputs.append(request.workshop.packed(_FIXED, fixed.items(), is_of_fix=True))
    stack.add(_crates(stack.image_id, request, tuple(inputs), workspace), "install", "cargo fetch")
    tree = stack.add(_tree(stack.image_id, request, workspace), "source", "cargo test --no-run")
    failed = tree.facts.get("not_compiled")
    return replace(
        stack.image(),
        locks={cargo.LOCK: lock.decode("utf-8", "replace")},
        system=tuple(top.facts.get("packages", ())),
        notes=(
            str(toolchain.facts.get("rust")),
            *((f"tests can't be compiled in: {failed}",) if failed else ()),
            *(("crates that only the fix requires are downloaded, too",) if fixed else ()),
        ),
    )


def _of_fix(
    building: Building, toolchain: BuiltLayer, files: Mapping[str, bytes], workspace: str, version: str
) -> dict[str, bytes]:
    """Manifests as the fix leaves them, if it requires other crates; empty if not, or if these can't be resolved."""
    request, place = building.request, posixpath.join(workspace, cargo.LOCK)
    changed = {path: data for path, data in request.fixed.items() if path in files and path != place}
    manifests = {path: data for path, data in changed.items() if posixpath.basename(path) == cargo.MANIFEST}
    if not any(cargo.requires_others(files[path], data) for path, data in manifests.items()):
        return {}
    fixed = {**files, **manifests, place: request.fixed.get(place) or files[place]}
    if request.tree.read(place) is None:
        try:
            packed = request.workshop.packed(_GIVEN, ((path, data) for path, data in fixed.items() if path != place))
            when = request.fixed_at or request.when
            fixed[place] = _resolved(building, toolchain, packed, workspace, version, when)
        except RefusedError:
            return {}
    return fixed


def layer_of_rust(parent: str, minor: int, settings: ImageSettings) -> Layer:
    """The toolchain, of this machine where the settings name one for it, else the newest that Debian has."""
    own = own_folder("rust", f"1.{minor}", settings, "bin/rustc", "bin/cargo")
    if own is None:
        return _debian_rust(parent, _DEBIAN[0])
    excluded = " ".join(f"--exclude={quote(name)}" for name in _UNUSED)
    return Layer(
        kind="rust",
        parent=parent,
        folders=(own,),
        commands=(
            f"mkdir -p {TOOLCHAIN}",
            f"tar -C {own.target} {excluded} -cf - . | tar -C {TOOLCHAIN} --no-same-owner -xf -",
            readable(TOOLCHAIN),
            f'printf \'{{"rust": "%s"}}\' "$({TOOLCHAIN}/bin/rustc --version)" > {FACTS_PATH}',
        ),
    )


def _debian_rust(parent: str, packages: str) -> Layer:
    """The toolchain of these packages, or of the last ones of all in a Debian without them."""
    return Layer(
        kind="rust",
        parent=parent,
        needs_root=True,
        commands=(
            f'options="$({APT_CERTIFICATES})" packages="{packages}"',
            "apt-get $options -qq update",
            f'apt-cache show $packages >/dev/null 2>&1 || packages="{_DEBIAN[-1]}"',
            "apt-get $options -qq install -y --no-install-recommends $packages",
            APT_CLEANED,
            f"mkdir -p {TOOLCHAIN}/bin && ln -s /usr/bin/rustc /usr/bin/cargo {TOOLCHAIN}/bin/",
            f'case "$(cargo --version)" in "cargo 1."[0-6]?.*) {_WITHOUT_GIT} ;; esac',
            'facts="$(printf \'{"rust": "%s", "packages": "%s"}\' "$(rustc --version)" "$packages")"',
            f'echo "$facts" > {FACTS_PATH}',
        ),
    )


def _environment(*, offline: bool) -> tuple[str, ...]:
    """Commands that let cargo find itself, a home, and the index of crates."""
    variables = {**ENV, "HOME": "/tmp", "CARGO_TARGET_DIR": TARGET}  # noqa: S108 - inside the container
    variables["CARGO_NET_OFFLINE"] = str(offline).lower()
    return (
        *(f"export {name}={quote(value)}" for name, value in variables.items()),
        'if [ -n "${SSL_CERT_FILE:-}" ]; then export CARGO_HTTP_CAINFO="$SSL_CERT_FILE"; fi',
        f"mkdir -p {CARGO_HOME} {TARGET}",
        # lints of newer compilers are no errors
        f"printf '[build]\\nrustflags = [\"--cap-lints=warn\"]\\n' > {CARGO_HOME}/config.toml",
    )


def _unpacked(workspace: str) -> tuple[str, ...]:
    folder = quote(posixpath.join(TESTBED, workspace))
    return (unpacked(_GIVEN), f"cd {folder}")


def _resolved(
    building: Building, toolchain: BuiltLayer, packed: Input, workspace: str, version: str, when: datetime
) -> bytes:
    """The lock of a workspace that has none, with the versions of a day."""

    def resolution(day: datetime) -> Resolution:
        return Resolution(
            image_id=toolchain.image_id,
            manifests=packed,
            commands=(
                *_unpacked(workspace),
                *_environment(offline=False),
                write_tool(_DAY, tool("miner.languages.rust", "day.py")),
                f"python3 {_DAY} {day:%Y-%m-%dT%H:%M:%SZ} . && cp {cargo.LOCK} {OUT_DIR}/{cargo.LOCK}",
            ),
            lock=cargo.LOCK,
            rung=cargo.MANIFEST,
            toolchain=version,
            command="cargo generate-lockfile",
        )

    return building.lock_of_day(when, resolution)


def _compiled(request: ImageRequest) -> str:
    """The commands that compile the packages of the tests; `failed` names those that can't be."""
    sources = _sources(request)
    ways = (" ".join(map(quote, options)) for options in cargo.options(request.tree, sources))
    folders = " ".join(quote(folder or ".") for folder in cargo.packages(request.tree, sources))
    calls = " || ".join((*(f"cargo test --no-run {way}" for way in ways), 'failed="$failed $folder"'))
    return f'failed=; for folder in {folders}; do cd "{TESTBED}/$folder"; {calls}; done'


def _crates(parent: str, request: ImageRequest, inputs: tuple[Input, ...], workspace: str) -> Layer:
    """The crates, downloaded and compiled: commits with the same manifests and lock share it."""
    unpacked_fix = f"mkdir {_OF_FIX} && tar -C {_OF_FIX} --no-same-owner -xf {INPUT_DIR}/{_FIXED}"
    fetched = f"(cd {quote(posixpath.join(_OF_FIX, workspace))} && cargo fetch) || true; rm -rf {_OF_FIX}"
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=inputs,
        commands=(
            *_unpacked(workspace),
            *_environment(offline=False),
            "cargo fetch",
            *((unpacked_fix, fetched) if len(inputs) > 1 else ()),
            f"cp {cargo.LOCK} {_KEPT_LOCK}",
            "export CARGO_NET_OFFLINE=true",
            _compiled(request),
            f"rm -rf {TESTBED} {TARGET}/debug/incremental; echo '{{}}' > {FACTS_PATH}",
            readable(CARGO_HOME, TARGET),
        ),
    )


def _tree(parent: str, request: ImageRequest, workspace: str) -> Layer:
    """The tree, and what is compiled of it."""
    lock = posixpath.join(workspace, cargo.LOCK)
    is_resolved = request.tree.read(lock) is None
    recorder = part("recorder.c")
    library = f"{HOME}/{hashlib.sha256(recorder.encode()).hexdigest()[:16]}.so"
    return tree_layer(
        parent,
        request,
        programs=f"{TOOLCHAIN}/bin",
        env=ENV,
        unversioned=("target/", *((f"/{lock}",) if is_resolved else ())),
        commands=(
            *((f"cp {_KEPT_LOCK} {quote(lock)}",) if is_resolved else ()),
            *_environment(offline=True),
            "find . -name '*.rs' -exec touch {} +",  # newer than what was compiled of empty files in their place
            _compiled(request),
            f'printf \'{{"not_compiled": "%s"}}\' "$failed" > {FACTS_PATH}',
            write_tool(_RECORDER, recorder),
            f"cc -shared -fPIC -O1 -o {library} {_RECORDER} -ldl",
            readable(TESTBED, HOME),
        ),
    )


TOOLCHAINS = (
    Toolchain(
        name="rust",
        origin="the base's Debian",
        versions=lambda: ("",),
        layer=lambda parent, version, settings: layer_of_rust(parent, int(version.removeprefix("1.") or 0), settings),
    ),
)

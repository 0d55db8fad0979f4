"""The image of a Maven project's tests: base, JDK, Maven with libraries, source at base_commit with its classes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from harness.languages.java.language import ENV, HOME, JDK, MAVEN, REPOSITORY, sources
from harness.sandbox.images import platforms
from miner.evidence.tree import TESTBED
from miner.languages.base import RefusedError
from miner.languages.building import Building
from miner.languages.java import poms
from miner.layers import base, source
from miner.layers.layer import FACTS_PATH, INPUT_DIR, Folder, Layer, quote, readable, write_tool
from miner.layers.secrets import RUN_DIR
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from harness.config.settings import ImageSettings
    from miner.languages.base import ImageRequest
    from miner.languages.built import BuiltImage
    from miner.layers.build import BuiltLayer

_MOUNTED = f"{RUN_DIR}/jdk"
_FETCH, _ACCESS, _PROJECT = (f"/tmp/{name}.py" for name in ("maven", "access", "project"))  # noqa: S108
_SETTINGS, _STORE = "/tmp/settings.xml", "/tmp/trust.jks"  # noqa: S108 - inside the container
_GIVEN = "poms.tar"
_FAILURES = (
    ("snapshot_dependency", r"(?:Could not (?:find|resolve|transfer)|Non-resolvable parent)[^\n]*-SNAPSHOT"),
    ("no_jdk", r"release version \d+ not supported|invalid (?:target|source) release|class file has wrong version"),
    ("no_jdk", r"(?:Source|Target) option [\d.]+ is no longer supported"),
    ("base_not_compiled", r"COMPILATION ERROR|Compilation failure"),
    ("unresolvable", r"Could not (?:find|resolve|transfer)|Non-resolvable|No versions available"),
)
"""Reasons, and how Maven says so; what comes first goes before others."""


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt.
        InfrastructureError: the engine, a repository or the disk failed.

    """
    if why := _objection(request):
        raise RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason=why[0], detail=why[1]))
    ground = base.ensure(request.workshop)
    building = Building(request, told_reason)
    return building.over(poms.jdks(request.tree, _own(request)), _toolchain, partial(_image, building, ground))


def told_reason(output: str) -> str:
    """The reason that Maven's words for it give; empty where they give none."""
    return next((reason for reason, form in _FAILURES if re.search(form, output)), "")


def _toolchain(major: int) -> str:
    return f"jdk {major}"


def _own(request: ImageRequest) -> tuple[int, ...]:
    settings = request.workshop.settings
    return tuple(map(int, settings.jdks)) if platforms.is_of_here(settings.platform) else ()


def _tests(request: ImageRequest) -> list[str]:
    return [path for path in request.touched if path.endswith(".java")]


def _objection(request: ImageRequest) -> tuple[str, str] | None:
    """Why no image can be made of a tree: a stable word and a sentence; None where nothing speaks against it."""
    tree = request.tree
    if not poms.reactors(tree, _tests(request)):
        if any(path.endswith((".gradle", ".gradle.kts")) for path in tree.files()):
            return "gradle_unsupported", "it is built by Gradle; goldseam.toml may declare how its tests are run"
        return "no_pom", "no folder at or above the tests has a pom.xml"
    if not poms.jdks(tree, _own(request)):
        release = poms.release(tree)
        return (
            "no_jdk",
            f'a pom asks for Java {release}: name a JDK of it, "{release}" under [images.jdks] in goldseam.toml',
        )
    return None


def _image(building: Building, ground: BuiltLayer, major: int) -> BuiltImage:
    request, version, rung = building.request, _toolchain(major), poms.MANIFEST
    jdk_layer = layer_of_jdk(ground.image_id, major, request.workshop.settings)
    jdk = building.ensure(jdk_layer, rung, version, "system", version)
    library_layer = _libraries(jdk.image_id, request)
    installed = building.ensure(library_layer, rung, version, "install", "mvn test-compile dependency:build-classpath")
    tree_layer = _tree(installed.image_id, request)
    tree = building.ensure(tree_layer, rung, version, "source", "mvn test-compile")
    stack = (ground, jdk, installed, tree)
    recipes = [base.layer(base.resolve(request.workshop.settings)), jdk_layer, library_layer, tree_layer]
    return replace(
        building.image(rung, recipes, stack),
        notes=(
            f"JDK {jdk.facts.get('jdk')}, Maven {poms.maven_version(request.tree)}",
            *(f"a version that is not the same each day: {range_}" for range_ in poms.drifting(request.tree)),
            *(f"a library of a snapshot: {snapshot}" for snapshot in tree.facts.get("snapshots", [])),
            *(f"a pom of its release, as the snapshot is gone: {pom}" for pom in tree.facts.get("released", [])),
        ),
    )


def layer_of_jdk(parent: str, major: int, settings: ImageSettings) -> Layer:
    """The JDK, of this machine where the settings name one for it, else Debian's."""
    own = settings.jdks.get(str(major)) if platforms.is_of_here(settings.platform) else None
    folders: tuple[Folder, ...] = ()
    certificates = 'if [ -n "${SSL_CERT_FILE:-}" ]; then echo "-o Acquire::https::CAInfo=$SSL_CERT_FILE"; fi'
    laid: tuple[str, ...] = (
        f'options="$({certificates})"',
        "mkdir -p /usr/share/man/man1",  # which packages of Java want, and slim images lack
        "apt-get $options -qq update",
        f"apt-get $options -qq install -y --no-install-recommends openjdk-{major}-jdk-headless",
        "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin",
        f"rm -rf /usr/lib/jvm/java-{major}-openjdk-*/jmods",  # what jlink alone takes
        f"mkdir -p {HOME} && ln -s /usr/lib/jvm/java-{major}-openjdk-* {JDK}",
    )
    if own:
        digest = hashlib.sha256((own / "release").read_bytes()).hexdigest()
        folders = (Folder(path=own, target=_MOUNTED, key=digest, context=f"jdk-{major}"),)
        excluded = " ".join(
            f"--exclude={name}" for name in ("./src.zip", "./lib/src.zip", "./jmods", "./demo", "./man")
        )
        laid = (
            f"mkdir -p {JDK}",
            f"tar -C {_MOUNTED} {excluded} -cf /tmp/jdk.tar .",
            f"tar -C {JDK} --no-same-owner -xf /tmp/jdk.tar",
            f"rm /tmp/jdk.tar; {readable(JDK)}",
        )
    return Layer(
        kind="jdk",
        parent=parent,
        folders=folders,
        needs_root=not own,
        commands=(
            *laid,
            f'version="$({JDK}/bin/java -version 2>&1 | sed -n \'s/.* version "\\(.*\\)".*/\\1/p\')"',
            f'printf \'{{"jdk": "%s"}}\' "$version" > {FACTS_PATH}',
        ),
    )


def _environment() -> tuple[str, ...]:
    """Commands that let Maven find the JDK, a home, and the network of builds."""
    return (
        *(f"export {name}={quote(value)}" for name, value in {**ENV, "HOME": "/tmp"}.items()),  # noqa: S108
        write_tool(_ACCESS, _tool("access.py")),
        f"python3 {_ACCESS} {_SETTINGS} {_STORE}",
    )


def _called(request: ImageRequest, kind: str) -> str:
    """The commands that compile the modules of the tests and write down how these are run."""
    groups = (
        [root or ".", *(module or "." for module in modules)]
        for root, modules in poms.reactors(request.tree, _tests(request)).items()
    )
    words = " -- ".join(" ".join(map(quote, group)) for group in groups)
    return "\n".join(
        (
            *(write_tool(f"/tmp/{name}", text) for name, text in sources().items()),  # noqa: S108 - inside the container
            write_tool(_PROJECT, _tool("project.py")),
            f"python3 {_PROJECT} {HOME} {FACTS_PATH} {_SETTINGS} {_STORE} {kind} {words}",
        )
    )


def _libraries(parent: str, request: ImageRequest) -> Layer:
    """Maven and what it downloads for the poms alone: commits that have the same share it."""
    files = ((path, request.tree.read(path) or b"") for path in poms.manifests(request.tree))
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=(request.workshop.packed(_GIVEN, files),),
        commands=(
            write_tool(_FETCH, _tool("maven.py")),
            f"python3 {_FETCH} {quote(poms.maven_version(request.tree))} {MAVEN}",
            f"mkdir -p {TESTBED} {REPOSITORY} && tar -C {TESTBED} --no-same-owner -xf {INPUT_DIR}/{_GIVEN}",
            *_environment(),
            _called(request, "skeleton"),
            _cleaned(),
            f"rm -rf {TESTBED}; echo '{{}}' > {FACTS_PATH}",
            readable(MAVEN, REPOSITORY),
        ),
    )


def _cleaned() -> str:
    """Remove what Maven remembers of its downloads: it would ask again, and what failed once may be there later."""
    names = " -o ".join(
        f"-name '{name}'" for name in ("*.lastUpdated", "_remote.repositories", "resolver-status.properties")
    )
    return f"find {REPOSITORY} \\( {names} \\) -delete"


def _tree(parent: str, request: ImageRequest) -> Layer:
    return source.layer(
        parent,
        request.source(),
        repo=request.repo,
        commit=request.base_commit,
        programs=f"{JDK}/bin:{MAVEN}/bin",
        env={name: value for name, value in ENV.items() if name != "PATH"},
        commands=(
            *source.committed(unversioned=("target/",)),
            *_environment(),
            _called(request, "whole"),
            _cleaned(),
            readable(TESTBED, HOME),
            *source.copied(),
        ),
    )


def _tool(name: str) -> str:
    return resources.files("miner.languages.java").joinpath("tools", name).read_text(encoding="utf-8")

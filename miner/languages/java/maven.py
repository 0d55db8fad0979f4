"""The image of a Maven project's tests: JDK, Maven with libraries, source at base_commit with its classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.languages.java.language import ENV, HOME, JDK, MAVEN, REPOSITORY, sources
from miner.evidence.tree import TESTBED
from miner.languages.building import tree_layer
from miner.languages.java import poms
from miner.languages.java.toolchain import (
    SETTINGS,
    STORE,
    called_like_tests,
    environment,
    layer_of_jdk,
    name_of_jdk,
    tool,
)
from miner.layers.layer import CACHE_DIR, FACTS_PATH, INPUT_DIR, Layer, quote, readable, write_tool

if TYPE_CHECKING:
    from miner.languages.base import ImageRequest
    from miner.languages.building import Building
    from miner.languages.built import BuiltImage
    from miner.layers.build import BuiltLayer

_FETCH, _PROJECT = (f"/tmp/{name}.py" for name in ("maven", "project"))  # noqa: S108
_GIVEN = "poms.tar"
_CACHE = f"{CACHE_DIR}/maven"
"""Libraries that builds of the repository have had; what one may put there, others of the same repository get."""
FAILURES = (
    ("snapshot_dependency", r"(?:Could not (?:find|resolve|transfer)|Non-resolvable parent)[^\n]*-SNAPSHOT"),
    ("no_jdk", r"release version \d+ not supported|invalid (?:target|source) release|class file has wrong version"),
    ("no_jdk", r"(?:Source|Target) option [\d.]+ is no longer supported"),
    ("base_not_compiled", r"COMPILATION ERROR|Compilation failure"),
    ("unresolvable", r"Could not (?:find|resolve|transfer)|Non-resolvable|No versions available"),
)
"""Reasons, and how Maven says so; what comes first goes before others."""


def image(building: Building, ground: BuiltLayer, major: int) -> BuiltImage:
    """The image on a JDK.

    Raises:
        RefusedError: it can't be built.
        InfrastructureError: the engine, a repository or the disk failed.

    """
    request, version, rung = building.request, name_of_jdk(major), poms.MANIFEST
    jdk_layer = layer_of_jdk(ground.image_id, major, request.workshop.settings)
    jdk = building.ensure(jdk_layer, rung, version, "system", version)
    library_layer = _libraries(jdk.image_id, request)
    installed = building.ensure(library_layer, rung, version, "install", "mvn test-compile dependency:build-classpath")
    source_layer = _tree(installed.image_id, request)
    tree = building.ensure(source_layer, rung, version, "source", "mvn test-compile")
    layers = ((jdk_layer, jdk), (library_layer, installed), (source_layer, tree))
    return replace(
        building.image(rung, ground, *layers),
        notes=(
            f"JDK {jdk.facts.get('jdk')}, Maven {poms.maven_version(request.tree)}",
            *(f"a version that is not the same each day: {range_}" for range_ in poms.drifting(request.tree)),
            *(f"a library of a snapshot: {snapshot}" for snapshot in tree.facts.get("snapshots", [])),
            *(f"a pom of its release, as the snapshot is gone: {pom}" for pom in tree.facts.get("released", [])),
        ),
    )


def _called(request: ImageRequest, kind: str) -> str:
    """The commands that compile the modules of the tests and write down how these are run."""
    groups = (
        [root or ".", *(module or "." for module in modules)]
        for root, modules in poms.reactors(request.tree, called_like_tests(request)).items()
    )
    words = " -- ".join(" ".join(map(quote, group)) for group in groups)
    return "\n".join(
        (
            *(write_tool(f"/tmp/{name}", text) for name, text in sources().items()),  # noqa: S108 - inside the container
            write_tool(_PROJECT, tool("project.py")),
            f"python3 {_PROJECT} {HOME} {FACTS_PATH} {SETTINGS} {STORE} {_CACHE} {kind} {words}",
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
            write_tool(_FETCH, tool("maven.py")),
            f"python3 {_FETCH} {quote(poms.maven_version(request.tree))} {MAVEN}",
            f"mkdir -p {TESTBED} {REPOSITORY} && tar -C {TESTBED} --no-same-owner -xf {INPUT_DIR}/{_GIVEN}",
            *environment(ENV, _CACHE),
            _called(request, "skeleton"),
            _cleaned(),
            f"rm -rf {TESTBED}; echo '{{}}' > {FACTS_PATH}",
            readable(MAVEN, REPOSITORY),
        ),
    )


def _cleaned() -> str:
    """Remove what Maven remembers of its downloads: it would ask again, and what failed once may be there later.

    Checksums are there of what did not come from the cache alone.
    """
    patterns = ("*.lastUpdated", "_remote.repositories", "resolver-status.properties", "*.sha1", "*.md5")
    names = " -o ".join(f"-name '{name}'" for name in patterns)
    return f"find {REPOSITORY} \\( {names} \\) -delete"


def _tree(parent: str, request: ImageRequest) -> Layer:
    return tree_layer(
        parent,
        request,
        programs=f"{JDK}/bin:{MAVEN}/bin",
        env=ENV,
        unversioned=("target/",),
        commands=(
            *environment(ENV, _CACHE),
            _called(request, "whole"),
            _cleaned(),
            readable(TESTBED, HOME),
        ),
    )

"""The image of a Maven project's tests: JDK, Maven with libraries, source at base_commit with its classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.languages.java.language import ENV, HOME, JDK, MAVEN, REPOSITORY, sources
from miner.evidence.tree import TESTBED
from miner.languages.building import Stack, tree_layer
from miner.languages.java import poms
from miner.languages.java.toolchain import (
    OPENED,
    RESTORED,
    SETTINGS,
    STORE,
    WITH_FIX,
    called_like_tests,
    environment,
    layer_of_jdk,
    manifests_given,
    name_of_jdk,
    opened,
    tool,
)
from miner.layers.layer import CACHE_DIR, FACTS_PATH, Layer, quote, readable, unpacked, write_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miner.languages.base import ImageRequest
    from miner.languages.building import Building
    from miner.languages.built import BuiltImage
    from miner.layers.build import BuiltLayer

_FETCH, _PROJECT, _EXTENSION = (f"/tmp/{name}" for name in ("maven.py", "project.py", "OldestJava.java"))  # noqa: S108
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
    request, version = building.request, name_of_jdk(major)
    stack = Stack(building, ground, poms.MANIFEST, version)
    jdk = stack.add(layer_of_jdk(ground.image_id, major, request.workshop.settings), "system", version)
    opens = opened(request.tree, poms.release(request.tree), major)
    env = {**ENV, **opens}
    libraries = _libraries(stack.image_id, request, env)
    stack.add(libraries, "install", "mvn test-compile dependency:build-classpath")
    tree = stack.add(_tree(stack.image_id, request, env), "source", "mvn test-compile")
    return replace(
        stack.image(),
        env=opens,
        notes=(
            f"JDK {jdk.facts.get('jdk')}, Maven {poms.maven_version(request.tree)}",
            *(OPENED for _ in opens),
            *(["what only the fix's poms ask for is there, too"] if any(map(poms.is_manifest, request.fixed)) else []),
            *(f"a version that is not the same each day: {range_}" for range_ in poms.drifting(request.tree)),
            *(f"a library of a snapshot: {snapshot}" for snapshot in tree.facts.get("snapshots", [])),
            *(f"a test file that can't be compiled: {path}" for path in tree.facts.get("broken", [])),
            *(f"a version that can't be had, replaced: {artifact}" for artifact in tree.facts.get("others", [])),
        ),
    )


def _called(request: ImageRequest, kind: str) -> str:
    """The commands that compile the modules of the tests and write down how these are run."""
    groups = (
        [root or ".", *(module or "." for module in modules)]
        for root, modules in poms.reactors(request.tree, called_like_tests(request)).items()
    )
    words = " -- ".join(" ".join(map(quote, group)) for group in groups)
    day = f"{request.when:%Y-%m-%d}" if poms.drifting(request.tree) else "-"
    return "\n".join(
        (
            *(write_tool(f"/tmp/{name}", text) for name, text in sources().items()),  # noqa: S108 - inside the container
            write_tool(_EXTENSION, tool("OldestJava.java")),
            write_tool(_PROJECT, tool("project.py")),
            f"python3 {_PROJECT} {HOME} {FACTS_PATH} {SETTINGS} {STORE} {_CACHE} {day} {kind} {words}",
        )
    )


def _libraries(parent: str, request: ImageRequest, env: Mapping[str, str]) -> Layer:
    """Maven and what it downloads for the poms alone, and for those of the fix: commits that have the same share it."""
    inputs = manifests_given(request, _GIVEN, poms.is_manifest)
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=inputs,
        commands=(
            write_tool(_FETCH, tool("maven.py")),
            f"python3 {_FETCH} {quote(poms.maven_version(request.tree))} {MAVEN}",
            unpacked(_GIVEN, REPOSITORY),
            *environment(env, _CACHE),
            _called(request, "skeleton"),
            *((WITH_FIX, _called(request, "fixed")) if len(inputs) > 1 else ()),
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


def _tree(parent: str, request: ImageRequest, env: Mapping[str, str]) -> Layer:
    return tree_layer(
        parent,
        request,
        programs=f"{JDK}/bin:{MAVEN}/bin",
        env=env,
        unversioned=("target/",),
        commands=(
            *environment(env, _CACHE),
            _called(request, "whole"),
            RESTORED,
            _cleaned(),
            readable(TESTBED, HOME),
        ),
    )

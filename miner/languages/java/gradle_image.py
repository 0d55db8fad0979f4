"""The image of a Gradle build's tests: JDK, Gradle, its libraries, source at base_commit with its classes."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.languages.java.language import GRADLE, GRADLE_ENV, GRADLE_HOME, HOME, JDK, sources
from miner.evidence.tree import TESTBED
from miner.languages.base import RefusedError
from miner.languages.building import Stack, installed, tree_layer
from miner.languages.java import gradle
from miner.languages.java.toolchain import (
    OPENED,
    RESTORED,
    STORE,
    WITH_FIX,
    called_like_tests,
    copied,
    environment,
    layer_of_jdk,
    manifests_given,
    name_of_jdk,
    of_debian,
    opened,
    tool,
)
from miner.layers.layer import FACTS_PATH, Folder, Layer, quote, readable, unpacked, write_tool
from miner.layers.secrets import RUN_DIR
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miner.languages.base import ImageRequest
    from miner.languages.building import Building
    from miner.languages.built import BuiltImage
    from miner.languages.java.gradle import Distribution
    from miner.layers.build import BuiltLayer

_FETCH, _MOUNTED = "/tmp/distribution.py", f"{RUN_DIR}/gradle"  # noqa: S108 - inside the container
_GIVEN = "gradle.tar"
_JAVA = {"JAVA_HOME": JDK, "PATH": f"{JDK}/bin:{GRADLE}/bin:/usr/local/bin:/usr/bin:/bin", **GRADLE_ENV}
_NO_GRADLE, _BROKEN = "no_gradle", "broken_build_file"
FAILURES = (
    ("no_test_project", r"no project of the Gradle build compiles tests in"),
    ("snapshot_dependency", r"Could not (?:find|resolve|get|GET) [^\n]*-SNAPSHOT"),
    ("no_jdk", r"(?:invalid|error:) (?:source|target) release|release version \d+ not supported|has wrong version"),
    ("no_jdk", r"No (?:matching|compatible) toolchains? found|Cannot find a Java installation"),
    ("no_jdk", r"Unsupported class file major version|Could not determine java version"),
    ("base_not_compiled", r"Compilation failed|Compilation error"),
    ("needs_plugin_portal", r"Plugin \[[^\n]*\] was not found|for configuration '(?::[\w-]+)*:classpath'"),
    ("needs_plugin_portal", r"Could not (?:find|resolve|get|GET) [^\n]*(?:\.gradle\.plugin:|plugins\.gradle\.org)"),
    (_BROKEN, r"Could not compile (?:build|settings) file|A problem occurred (?:evaluating|configuring)"),
    (_BROKEN, r"without an existing directory"),
    ("unresolvable", r"Could not (?:find|resolve|get|GET|download)"),
)
"""Reasons, and how Gradle says so; what comes first goes before others."""
_OF_A_VERSION = (_BROKEN, "install_failed")
"""Reasons that may come from a Gradle that is not the wrapper's."""


def image(building: Building, ground: BuiltLayer, major: int) -> BuiltImage:
    """The image on a JDK, with the first Gradle that can be had.

    Raises:
        RefusedError: it can't be built.
        InfrastructureError: the engine, a repository or the disk failed.

    """
    request, version = building.request, name_of_jdk(major)
    stack = Stack(building, ground, gradle.MANIFEST, version)
    jdk = stack.add(layer_of_jdk(ground.image_id, major, request.workshop.settings), "system", version)
    distribution = _gradle(stack, major)
    stack.toolchain = f"{version}, {distribution.origin}"
    opens = opened(request.tree, gradle.release(request.tree), major)
    env = {**_JAVA, **opens}
    try:
        stack.add(_libraries(stack.image_id, request, env), "install", "gradle testClasses")
        tree = stack.add(_tree(stack.image_id, request, env), "source", "gradle testClasses")
    except RefusedError as error:
        raise _in_place(error, distribution) from error
    fixes_build = any(map(gradle.is_manifest, request.fixed))
    return replace(
        stack.image(),
        env={**GRADLE_ENV, **opens},
        notes=(
            f"JDK {jdk.facts.get('jdk')}, {distribution.origin}",
            *(OPENED for _ in opens),
            *(["what only the fix's build files ask for is there, too"] if fixes_build else []),
            *(f"a version that is not the same each day: {library}" for library in gradle.drifting(request.tree)),
            *("libraries of JCenter, which is no more: Maven Central's" for _ in tree.facts.get("replaced", [])),
        ),
    )


def usable(request: ImageRequest, major: int) -> list[Distribution]:
    """The distributions that run on a JDK, and can read the build files, in the order in which they are tried."""
    is_in_kotlin = gradle.is_in_kotlin(request.tree)
    return [
        distribution
        for distribution in _distributions(request)
        if distribution.runs_on(major) and (distribution.is_whole or not is_in_kotlin)
    ]


def _distributions(request: ImageRequest) -> list[Distribution]:
    roots, folders = gradle.roots(request.tree, _tests(request)), installed("gradle", request.workshop.settings)
    return list(gradle.distributions(request.tree, next(iter(roots)), folders))


def _gradle(stack: Stack, major: int) -> Distribution:
    """The first distribution that runs on the JDK and can be had, added to that."""
    request = stack.building.request
    refused = None
    for distribution in usable(request, major):
        try:
            stack.add(_distribution(stack.image_id, distribution), "gradle", distribution.origin)
        except RefusedError as error:
            refused = error
        else:
            return distribution
    first = _distributions(request)[0]
    version = f" {first.version}" if first.is_whole else ""
    kotlin = ", with build files in Kotlin" if gradle.is_in_kotlin(request.tree) else ""
    rejection = Rejection(
        stage=Stage.ENVIRONMENT,
        reason=_NO_GRADLE,
        detail=f"its build asks for Gradle{version}{kotlin}, and none that runs on JDK {major} can be had;"
        " [images.gradles] in goldseam.toml may name one of this machine",
    )
    raise RefusedError(rejection, step="gradle", said=refused.said if refused else "")


def _in_place(error: RefusedError, distribution: Distribution) -> RefusedError:
    """A failure, which may be that of another Gradle than the wrapper's."""
    rejection = error.rejection
    if distribution.replaces and rejection.reason in _OF_A_VERSION:
        detail = f"with {distribution.origin} it can't be built; [images.gradles] may name it\n{rejection.detail}"
        rejection = replace(rejection, reason=_NO_GRADLE, detail=detail)
    return RefusedError(rejection, step=error.step, said=error.said)


def _tests(request: ImageRequest) -> list[str]:
    """The files of the change by which its projects are found, without code of products where there are others."""
    files = called_like_tests(request)
    return [path for path in files if "/src/main/" not in f"/{path}"] or files


def _distribution(parent: str, distribution: Distribution) -> Layer:
    folders: tuple[Folder, ...] = ()
    if distribution.url:
        words = " ".join(map(quote, (distribution.url, distribution.sha256)))
        laid: tuple[str, ...] = (
            write_tool(_FETCH, tool("distribution.py")),
            f"python3 {_FETCH} {words} {GRADLE}; {readable(GRADLE)}",
        )
    elif distribution.folder:
        jars = sorted((jar.name, jar.stat().st_size) for jar in distribution.folder.glob("lib/**/*.jar"))
        key = hashlib.sha256(repr(jars).encode()).hexdigest()
        context = f"gradle-{distribution.version}"
        folders = (Folder(path=distribution.folder, target=_MOUNTED, key=key, context=context),)
        laid = copied(_MOUNTED, GRADLE, "docs", "src")
    else:
        laid = (*of_debian("gradle"), f"ln -s /usr/share/gradle {GRADLE}")
    return Layer(
        kind="gradle",
        parent=parent,
        folders=folders,
        needs_root=not (distribution.url or distribution.folder),
        foreign=bool(distribution.url),
        commands=(*laid, f"echo '{{}}' > {FACTS_PATH}"),
    )


def _called(request: ImageRequest, kind: str) -> str:
    """The commands that compile what the tests need and write down how these are run."""
    roots = gradle.roots(request.tree, _tests(request))
    whole = kind == "whole"  # else for the folders, which more commits have in common than test files
    groups = ([root or ".", *(tests if whole else gradle.source_folders(tests))] for root, tests in roots.items())
    words = " -- ".join(" ".join(map(quote, group)) for group in groups)
    names = ("project.py", "gradle.py", "init.gradle")
    return "\n".join(
        (
            *(write_tool(f"/tmp/{name}", text) for name, text in sources().items()),  # noqa: S108 - inside the container
            *(write_tool(f"/tmp/{name}", tool(name)) for name in names),  # noqa: S108
            f"python3 /tmp/gradle.py {HOME} {FACTS_PATH} {STORE} {kind} {words}",
        )
    )


def _libraries(parent: str, request: ImageRequest, env: Mapping[str, str]) -> Layer:
    """What Gradle downloads for the build files alone, and for those of the fix."""
    inputs = manifests_given(request, _GIVEN, gradle.is_manifest)
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=inputs,
        commands=(
            unpacked(_GIVEN, GRADLE_HOME),
            *environment(env),
            _called(request, "skeleton"),
            *((WITH_FIX, _called(request, "fixed")) if len(inputs) > 1 else ()),
            f"rm -rf {TESTBED}; echo '{{}}' > {FACTS_PATH}",
            readable(GRADLE_HOME),
        ),
    )


def _tree(parent: str, request: ImageRequest, env: Mapping[str, str]) -> Layer:
    return tree_layer(
        parent,
        request,
        programs=f"{JDK}/bin:{GRADLE}/bin",
        env=env,
        unversioned=("build/", ".gradle/"),
        commands=(
            *environment(env),
            _called(request, "whole"),
            RESTORED,
            readable(TESTBED, HOME),
        ),
    )

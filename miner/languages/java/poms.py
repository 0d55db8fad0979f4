"""What a repository's files say of Java: its modules, the versions of JDK and Maven, where libraries are from. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from harness.core.grouping import grouped
from miner.evidence.tree import Tree, folders_above, text_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


MANIFEST = "pom.xml"
WRAPPER = ".mvn/wrapper/maven-wrapper.properties"
MAVEN = "3.9.11"
"""Version of Maven where a tree has no wrapper that can be used."""
_OLDEST_MAVEN = 3, 6, 3
"""What the plugins take that tell the class path and the effective pom."""
DEBIAN = 17
"""Major version of the JDK that the base's Debian has."""
LATER = {21: "trixie", 25: "trixie"}
"""Those of later Debians, by suite: where a build asks for a newer one than is there."""
CLOSED = 16
"""The first JDK that does not let reflection into its own packages."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MODULE = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_RELEASE = re.compile(
    r"<(?:maven\.compiler\.(?:release|source|target|testRelease|testSource)|release|testRelease|source|target|(?:java|jdk)[.-]?"
    r"(?:source|target|release)?[.-]?(?:version|level)?|javaVersion)>\s*(?:1\.)?(\d{1,2})\s*</",
    re.IGNORECASE,
)
_DISTRIBUTION = re.compile(r"apache-maven-(\d+\.\d+\.\d+(?:-[\w-]+)?)-bin")
_ADDRESS = re.compile(
    r"<(?:repository|pluginRepository)>(?:(?!</).|</(?!(?:pluginR|r)epository>)){0,2000}?<url>\s*(https?://[^<\s]+)",
    re.DOTALL,
)
_RULE = re.compile(r"<require\w{1,40}>(?:[^<]|<(?!/?require)){0,2000}")
"""What the enforcer asks of Maven or the JDK, by a range as well."""
_VERSIONS = re.compile(r"<(?:[\w.-]*[.-])?version>\s*([\[(][^<]*|(?:LATEST|RELEASE)\s*)</")
_WORKFLOWS = re.compile(r"\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml")
_OF_CI = re.compile(
    r"^[ \t-]*[\"']?(?:java(?:[-_]?versions?)?|jdk(?:[-_]?versions?)?|java_version)[\"']?:(.*(?:\n[ \t]*-.*)*)",
    re.MULTILINE | re.IGNORECASE,
)
_MAJOR = re.compile(r"(?<![\d.])(?:1\.)?(\d{1,2})(?![\d.]*\d*%)\b")


def text_of(tree: Tree, path: str) -> str:
    """A file without XML's comments; empty where there is none."""
    return _COMMENT.sub("", text_at(tree, path))


def module_of(tree: Tree, path: str) -> str | None:
    """The folder of the module that a file is in; None where no folder above it has a pom.xml."""
    above = (folder for folder in folders_above(path) if tree.read(posixpath.join(folder, MANIFEST)) is not None)
    return next(above, None)


def reactor_of(tree: Tree, module: str) -> str:
    """The folder that Maven is called in for a module: the topmost whose pom.xml leads there by its modules."""
    folder = module
    while folder:
        above = posixpath.dirname(folder)
        while above and tree.read(posixpath.join(above, MANIFEST)) is None:
            above = posixpath.dirname(above)
        below = _MODULE.findall(text_of(tree, posixpath.join(above, MANIFEST)))
        if not any(
            posixpath.normpath(posixpath.join(above, name)).removesuffix(f"/{MANIFEST}") == folder for name in below
        ):
            return folder
        folder = above
    return folder


def reactors(tree: Tree, tests: Collection[str]) -> dict[str, list[str]]:
    """The modules of test files, by the folder that Maven is called in."""
    modules = sorted({module for path in tests if (module := module_of(tree, path)) is not None})
    return grouped((reactor_of(tree, module), module) for module in modules)


def manifests(tree: Tree) -> Iterator[str]:
    """What decides which libraries are there: poms, and what is told Maven beside them."""
    yield from filter(is_manifest, tree.files())


def is_manifest(path: str) -> bool:
    """Whether a file is one of these."""
    parts = path.split("/")
    return (parts[-1] == MANIFEST and "src" not in parts) or (".mvn" in parts[:-1] and not path.endswith(".jar"))


def maven_version(tree: Tree) -> str:
    """That of the wrapper's distribution, unless it is too old."""
    match = _DISTRIBUTION.search(text_of(tree, WRAPPER))
    is_usable = match is not None and tuple(map(int, re.findall(r"\d+", match[1])[:3])) >= _OLDEST_MAVEN
    return match[1] if match is not None and is_usable else MAVEN


def release(tree: Tree) -> int:
    """The newest release of Java that a pom names for its compiler; 0 where none does."""
    texts = (text_of(tree, path) for path in manifests(tree) if path.endswith(MANIFEST))
    return max((int(number) for text in texts for number in _RELEASE.findall(text)), default=0)


def jdks(tree: Tree, installed: Collection[int], oldest: int) -> tuple[int, ...]:
    """The major versions of the JDK to try, from the `oldest` on: Debian's unless CI wants others, then CI's newest.

    Only where all these are too old it is one of a later Debian.
    """
    usable = sorted({DEBIAN, *installed} - set(range(oldest))) or sorted(LATER.keys() - set(range(oldest)))[:1]
    of_ci = _of_ci(tree) & set(usable)
    first = [DEBIAN] if DEBIAN in usable and (DEBIAN in of_ci or not of_ci) else []
    return tuple(dict.fromkeys((*first, *sorted(of_ci, reverse=True), *usable)))[:2]


def is_before_closing(tree: Tree, release: int) -> bool:
    """Whether CI tests on JDKs before 16 alone; without such words in it, whether build files name such a `release`."""
    return max(_of_ci(tree) or {release}) < CLOSED


def _of_ci(tree: Tree) -> set[int]:
    texts = (text_of(tree, path) for path in tree.files() if _WORKFLOWS.fullmatch(path))
    return {int(major) for text in texts for part in _OF_CI.findall(text) for major in _MAJOR.findall(part)}


def hosts(tree: Tree) -> tuple[str, ...]:
    """Addresses of the repositories that poms name."""
    texts = (text_of(tree, path) for path in manifests(tree) if path.endswith(MANIFEST))
    return tuple(dict.fromkeys(address for text in texts for address in _ADDRESS.findall(text)))


def drifting(tree: Tree) -> tuple[str, ...]:
    """Versions of libraries that are not the same each day: ranges, LATEST and RELEASE."""
    texts = (text_of(tree, path) for path in manifests(tree) if path.endswith(MANIFEST))
    return tuple(dict.fromkeys(version.strip() for text in texts for version in _VERSIONS.findall(_RULE.sub("", text))))

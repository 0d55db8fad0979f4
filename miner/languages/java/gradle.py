"""What a repository's files say of its builds by Gradle: where they are, and what they take. Pure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.core.grouping import grouped
from miner.evidence.tree import Tree, folders_above, text_at
from miner.languages.java.poms import DEBIAN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path


MANIFEST = "build.gradle"
WRAPPER = "gradle/wrapper/gradle-wrapper.properties"
OF_DEBIAN = "4.4.1"
"""The Gradle of the base's Debian, which is patched for its JDK and has no Kotlin in build files."""
_BUILD, _SETTINGS = ("build.gradle", "build.gradle.kts"), ("settings.gradle", "settings.gradle.kts")
_MANIFEST = re.compile(r".*\.gradle(?:\.kts)?|gradle\.properties|.*\.versions\.toml|.*\.lockfile")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|(?<![:\"'/])//[^\n]*", re.DOTALL)
_RELEASE = re.compile(
    r"(?:(?:source|target)Compatibility|\brelease(?:\.set)?|jvmTarget|jvmToolchain|JavaLanguageVersion\.of|languageVersion"
    r"|java_?version)\W{0,3}(?:=|\(|\s)[\s(\"']*(?:JavaVersion\.)?(?:JavaLanguageVersion\.of\()?(?:VERSION_)?(?:1[._])?(\d{1,2})\b",
    re.IGNORECASE,
)
_DISTRIBUTION = re.compile(r"gradle-(\d+(?:\.\d+)+(?:-[\w-]+?)?)-(?:bin|all)\.zip")
_PROPERTY = re.compile(r"^\s*(\w+)\s*[=:]\s*(.*?)\s*$", re.MULTILINE)
_ADDRESS = re.compile(r"url\s*(?:=|\(|\s)\s*(?:uri\()?\s*[\"'](https?://[^\"'$\s]+)")
_DRIFTING = re.compile(r"[\"']([\w.-]+:[\w.-]+:(?:[\w.]*\+|latest\.\w+|[\[(][^\"']*|[\w.-]*-SNAPSHOT))[\"']")
_RUNS_ON = (
    *((8, (2, 0)), (9, (4, 3)), (10, (4, 7)), (11, (5, 0)), (12, (5, 4)), (13, (6, 0)), (14, (6, 3)), (15, (6, 7))),
    *((16, (7, 0)), (17, (7, 3)), (18, (7, 5)), (19, (7, 6)), (20, (8, 3)), (21, (8, 5)), (22, (8, 8)), (23, (8, 10))),
    *((24, (8, 14)), (25, (9, 1))),
)
"""The first Gradle that runs on a JDK: docs.gradle.org, compatibility matrix."""
_NEEDS_17 = 9
"""The first Gradle that runs on no JDK before 17."""


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A Gradle that can be put into an image: from an address, from a folder of this machine, else Debian's."""

    version: str
    url: str = ""
    sha256: str = ""
    """Of the archive; empty where the wrapper does not say."""
    folder: Path | None = None
    replaces: str = ""
    """The version that the wrapper names, where that is another."""

    def runs_on(self, jdk: int) -> bool:
        """Whether it does on a JDK of that major version."""
        if not self.is_whole:
            return jdk == DEBIAN
        first = next((gradle for major, gradle in _RUNS_ON if major == jdk), (99,))
        return first <= numbers(self.version) and (jdk >= DEBIAN or numbers(self.version)[0] < _NEEDS_17)

    @property
    def is_whole(self) -> bool:
        """Whether it reads build files in Kotlin, which Debian's does not."""
        return bool(self.url or self.folder)

    @property
    def origin(self) -> str:
        """As a person would say where it is from."""
        place = "of its wrapper" if self.url else "of [images.gradles]" if self.folder else "of Debian"
        return f"Gradle {self.version} {place}" + (f" in place of its {self.replaces}" if self.replaces else "")


def numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with."""
    return tuple(map(int, re.match(r"[\d.]*\d|", version)[0].split(".") if version[:1].isdigit() else (0,)))  # type: ignore[index]


def text_of(tree: Tree, path: str) -> str:
    """A file without comments; empty where there is none."""
    return _COMMENT.sub("", text_at(tree, path))


def root_of(tree: Tree, path: str) -> str | None:
    """The folder that Gradle is called in for a file: the nearest with settings, else the topmost with a build file."""
    built = None
    for folder in folders_above(path):
        if any(tree.read(posixpath.join(folder, name)) is not None for name in _SETTINGS):
            return folder
        if any(tree.read(posixpath.join(folder, name)) is not None for name in _BUILD):
            built = folder
    return built


def roots(tree: Tree, tests: Collection[str]) -> dict[str, list[str]]:
    """Test files by the folder that Gradle is called in."""
    return grouped((root, test) for test in sorted(tests) if (root := root_of(tree, test)) is not None)


def source_folders(paths: Collection[str]) -> list[str]:
    """The folders of sources that files are in, as far as their paths tell: `src/test/java`."""
    parts = (path.split("/") for path in paths)
    return sorted({"/".join(names[: names.index("src") + 3] if "src" in names[:-3] else names[:-1]) for names in parts})


def manifests(tree: Tree) -> Iterator[str]:
    """What decides which libraries are there: build files, what they apply, and the code of `buildSrc`."""
    yield from filter(is_manifest, tree.files())


def is_manifest(path: str) -> bool:
    """Whether a file is one of these."""
    *folders, name = path.split("/")
    if "buildSrc" in folders or name == "gradle.properties":
        return True
    return "src" not in folders and bool(_MANIFEST.fullmatch(name))


def wrapper(tree: Tree, root: str) -> Distribution | None:
    """The distribution that the wrapper names; None without one."""
    text = (tree.read(posixpath.join(root, WRAPPER)) or tree.read(WRAPPER) or b"").decode("utf-8", "replace")
    properties: Mapping[str, str] = dict(_PROPERTY.findall(text))
    url = properties.get("distributionUrl", "").replace("\\:", ":").replace("\\=", "=")
    match = _DISTRIBUTION.search(url)
    if not match or not url.startswith(("https://", "http://")):
        return None
    return Distribution(version=match[1], url=url, sha256=properties.get("distributionSha256Sum", ""))


def distributions(tree: Tree, root: str, folders: Mapping[str, Path]) -> tuple[Distribution, ...]:
    """What to try: the wrapper's version from a folder or from its address, then folders' others, Debian's at last.

    Of the others the nearest of the same major version goes before later and earlier ones.
    """
    of_wrapper = wrapper(tree, root)
    own = [Distribution(version=version, folder=folder) for version, folder in folders.items()]
    if of_wrapper is None:
        newest = sorted(own, key=lambda distribution: numbers(distribution.version), reverse=True)
        return (*newest[:1], Distribution(version=OF_DEBIAN))
    preferred = numbers(of_wrapper.version)

    def distance(distribution: Distribution) -> tuple[bool, bool, tuple[int, ...]]:
        version = numbers(distribution.version)
        return version[:1] != preferred[:1], version < preferred, version

    exact = [distribution for distribution in own if distribution.version == of_wrapper.version]
    nearest = sorted((distribution for distribution in own if distribution not in exact), key=distance)[:1]
    others = (
        other if other.version == of_wrapper.version else replace(other, replaces=of_wrapper.version)
        for other in (*nearest, Distribution(version=OF_DEBIAN))
    )
    return (*(exact or [of_wrapper]), *others)


def is_in_kotlin(tree: Tree) -> bool:
    """Whether build files are in Kotlin."""
    return any(path.endswith(".gradle.kts") for path in manifests(tree))


def release(tree: Tree) -> int:
    """The newest release of Java that a build file names; 0 where none does."""
    texts = (text_of(tree, path) for path in manifests(tree))
    return max((int(number) for text in texts for number in _RELEASE.findall(text)), default=0)


def hosts(tree: Tree) -> tuple[str, ...]:
    """Addresses of the repositories that build files name, and of the distributions that wrappers do."""
    texts = (text_of(tree, path) for path in manifests(tree))
    folders = (path.removesuffix(WRAPPER) for path in tree.files() if path.endswith(WRAPPER))
    wrappers = (distribution.url for folder in folders if (distribution := wrapper(tree, folder)))
    return tuple(dict.fromkeys((*wrappers, *(address for text in texts for address in _ADDRESS.findall(text)))))


def drifting(tree: Tree) -> tuple[str, ...]:
    """Libraries whose version is not the same each day: ranges, `+`, `latest`, snapshots."""
    texts = (text_of(tree, path) for path in manifests(tree))
    return tuple(dict.fromkeys(library for text in texts for library in _DRIFTING.findall(text)))

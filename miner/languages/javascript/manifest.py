"""What a repository's files say of Node, of its package manager and of how its tests are called. Pure."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from harness.languages.javascript.language import ROOT
from miner.languages.base import TestCommand

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miner.evidence.tree import Tree

MANIFEST = "package.json"
RELEASED: Mapping[int, date] = {
    10: date(2018, 4, 24),
    12: date(2019, 4, 23),
    14: date(2020, 4, 21),
    16: date(2021, 4, 20),
    18: date(2022, 4, 19),
    20: date(2023, 4, 18),
    22: date(2024, 4, 24),
    24: date(2025, 5, 6),
}
"""Lines of Node with long-term support, and when each came out (nodejs.org/en/about/previous-releases)."""
LOCKS: Mapping[str, str] = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
}
"""The package manager by its lock, the likeliest first where there are several."""
_VERSION_FILES = (".nvmrc", ".node-version")
_BERRY = "__metadata:"
_PNPM_OF_LOCK = (("9", "9"), ("6", "8"), ("5.4", "7"), ("5", "6"))
"""Newest pnpm by what its lock begins its version with."""
_IMPORTS: Mapping[str, re.Pattern[str]] = {
    framework: re.compile(rf"""(?:from\s*|require\(\s*|import\s*)["'](?:{names})["']""")
    for framework, names in {
        "vitest": "vitest",
        "node:test": "node:test",
        "tap": "tape(?:-[a-z-]+)?|tap|@tapjs/[a-z-]+",
        "jest": "@jest/globals",
        "mocha": "mocha",
    }.items()
}
_UNSUPPORTED = re.compile(
    r"\b(ava|jasmine|uvu|karma|cypress|playwright|bun test|deno test|lab|qunit|web-test-runner)\b"
)
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "vitest": ("vitest",),
    "jest": ("jest",),
    "mocha": ("mocha",),
    "tap": ("tape", "tap"),
}
_TAKES_A_VALUE = frozenset(
    {"--require", "-r", "--import", "--loader", "--ui", "-u", "--timeout", "-t", "--config", "-c"}
)
_KEPT = re.compile(
    r"(--?(?:require|r|import|loader|ui|u|timeout|t|config|c|experimental-[\w-]+|env|no-warnings|check-leaks))(?:=|$)"
)
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Manager:
    """A package manager, and the lock that it installs from."""

    name: str
    """`npm`, `pnpm`, `yarn` (1) or `berry` (2 and later)."""
    version: str
    """As npm's registry is asked for it: a version, or the beginning of one."""
    lock: str | None
    """The file's name; None where versions are those of the day."""


def read_manifest(tree: Tree, folder: str = "") -> dict[str, Any]:
    """A package.json; empty where there is none, or none that can be read."""
    data = tree.read(posixpath.join(folder, MANIFEST))
    try:
        found = json.loads(data) if data and len(data) <= _LARGEST else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def node_majors(tree: Tree, day: date) -> tuple[int, ...]:
    """The lines of Node to try: the one that the repository names, then the newest of that day which it allows."""
    released = sorted((major for major, since in RELEASED.items() if since <= day), reverse=True) or [min(RELEASED)]
    named = [
        int(match[1])
        for path in _VERSION_FILES
        if (match := re.match(r"\s*v?(\d{1,2})\b", (tree.read(path) or b"").decode("utf-8", "replace")))
    ]
    manifest = read_manifest(tree)
    volta = manifest.get("volta")
    if isinstance(volta, dict) and (match := re.match(r"(\d{1,2})\b", str(volta.get("node", "")))):
        named.append(int(match[1]))
    engines = manifest.get("engines")
    wish = str(engines.get("node", "")) if isinstance(engines, dict) else ""
    fitting = [major for major in released if _allows(wish, major)] or released
    steady = [major for major in fitting if (day - RELEASED[major]).days >= _STEADY_DAYS] or fitting
    return tuple(dict.fromkeys((*(major for major in named if major in RELEASED), steady[0])))


_STEADY_DAYS = 180
"""After half a year a line of Node becomes the one for everyday use."""


def _allows(wish: str, major: int) -> bool:
    """Whether an `engines.node` allows some version of a line; what can't be read allows everything."""
    alternatives = [part.strip() for part in wish.split("||")]
    return any(_allows_one(part, major) for part in alternatives) if wish else True


def _allows_one(part: str, major: int) -> bool:
    for operator, number in re.findall(r"(>=|<=|>|<|\^|~|=)?\s*v?(\d{1,3})", re.sub(r"\.[\dx*]+", "", part)):
        bound = int(number)
        if (operator in (">=", ">") and major < bound) or (operator == "<" and major >= bound):
            return False
        if operator == "<=" and major > bound:
            return False
        if operator in ("^", "~", "=", "") and major != bound:
            return False
    return True


def manager_of(tree: Tree) -> Manager:
    """The package manager by lock and `packageManager`; npm as of the day where there is no lock."""
    files = set(tree.files())
    lock = next((name for name in LOCKS if name in files), None)
    wanted = re.match(r"(npm|pnpm|yarn)@(\d+(?:\.\d+)*)", str(read_manifest(tree).get("packageManager", "")))
    if wanted and (
        match := next((name for name, manager in LOCKS.items() if manager == wanted[1] and name in files), None)
    ):
        lock = match
    if lock is None:
        return Manager(name="npm", version="", lock=None)
    name = LOCKS[lock]
    version = wanted[2] if wanted and wanted[1] == name and name != "npm" else ""
    text = (tree.read(lock) or b"")[:4096].decode("utf-8", "replace")
    if name == "pnpm" and not version:
        said = re.search(r"lockfileVersion:\s*['\"]?([\d.]+)", text)
        version = next((pnpm for begin, pnpm in _PNPM_OF_LOCK if said and said[1].startswith(begin)), "9")
    if name == "yarn":
        berry = _BERRY in text
        name = "berry" if berry else "yarn"
        version = (version if berry and version and not version.startswith("1") else "3") if berry else "1.22"
    return Manager(name=name, version=version, lock=lock)


def package_folder(tree: Tree, test_files: Sequence[str]) -> str:
    """The folder of the package that tests are of: the nearest above the first of them that has a manifest."""
    files = set(tree.files())
    folder = posixpath.dirname(test_files[0]) if test_files else ""
    while folder and posixpath.join(folder, MANIFEST) not in files:
        folder = posixpath.dirname(folder)
    own = read_manifest(tree, folder)
    return folder if folder and (own.get("scripts") or own.get("name")) else ""


def _manifests(tree: Tree, test_files: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """The folder of the package that tests are of, and its manifest before the root's."""
    folder = package_folder(tree, test_files)
    return folder, [read_manifest(tree, place) for place in dict.fromkeys((folder, ""))]


def test_commands(tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
    """The ways to call the tests: by what they import, by the scripts of their package, by what it depends on."""
    folder, manifests = _manifests(tree, test_files)
    places: list[TestCommand] = []
    for framework, options in _named(tree, test_files, manifests):
        rooted = (f"{ROOT}{folder}",) if folder else ()
        command = TestCommand(framework=framework, options=(*rooted, *options), runner=framework)
        if command not in places:
            places.append(command)
    return tuple(places) or (TestCommand(framework="mocha", runner="mocha"),)


def unsupported(tree: Tree, test_files: Sequence[str]) -> str:
    """The runner of a package's scripts where it is none that can be called; empty where one can."""
    _, manifests = _manifests(tree, test_files)
    if next(_named(tree, test_files, manifests), None):
        return ""
    scripts = " ".join(script for manifest in manifests for _, script in _scripts(manifest))
    match = _UNSUPPORTED.search(scripts)
    return match[1] if match else "no runner that is known"


def _named(
    tree: Tree, test_files: Sequence[str], manifests: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    called = [found for manifest in manifests for found in _called(manifest)]
    options = dict(reversed(called))
    for path in test_files:
        text = (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace")
        for framework, pattern in _IMPORTS.items():
            if pattern.search(text):
                yield framework, options.get(framework, ())
    yield from called
    depended = {name for manifest in manifests for name in _dependencies(manifest)}
    for framework, packages in _PACKAGES.items():
        if depended & set(packages):
            yield framework, options.get(framework, ())


def _dependencies(manifest: Mapping[str, Any]) -> Iterator[str]:
    for key in ("devDependencies", "dependencies"):
        if isinstance(manifest.get(key), dict):
            yield from manifest[key]


def _scripts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    scripts = manifest.get("scripts")
    found = scripts.items() if isinstance(scripts, dict) else ()
    tests = [
        (name, script)
        for name, script in found
        if re.search(r"test|unit|mocha|jest|tap", name) and isinstance(script, str)
    ]
    return sorted(tests, key=lambda pair: (pair[0] != "test", len(pair[0])))


def _called(manifest: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Runners that the scripts for tests call, with the options that say how files are loaded."""
    found = []
    for _, script in _scripts(manifest):
        for part in re.split(r"&&|\|\||;", script):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            if (call := _call(words)) is not None:
                found.append(call)
    return found


def _call(words: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    for at, word in enumerate(words):
        name = posixpath.basename(word)
        if name in ("vitest", "jest", "mocha"):
            # what decides which tests there are is ours to say
            kept = _options(words[at + 1 :]) if name == "mocha" else _config(words[at + 1 :])
            return name, kept
        if name in ("tape", "tap", "tape-run"):
            return "tap", _options(words[at + 1 :]) if name == "tape" else ()
        if name == "node" and "--test" in words[at + 1 :]:
            return "node:test", tuple(word for word in _options(words[at + 1 :]) if word != "--test")
        if name == "node" and "mocha" not in " ".join(words[at + 1 :]):
            return None
    return None


def _options(words: Sequence[str]) -> tuple[str, ...]:
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if not (match := _KEPT.match(word)):
            continue
        kept.append(word)
        if match[1] in _TAKES_A_VALUE and "=" not in word and (value := next(left, None)) is not None:
            kept.append(value)
    return tuple(kept)


def _config(words: Sequence[str]) -> tuple[str, ...]:
    options = _options(words)
    kept: list[str] = []
    for at, word in enumerate(options):
        if word.partition("=")[0] in ("--config", "-c"):
            kept += options[at : at + (1 if "=" in word else 2)]
    return tuple(kept)

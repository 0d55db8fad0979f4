"""What a repository's files say of Node, of its package manager and of how its tests are called. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

from harness.core import json_text
from harness.languages.javascript.language import ROOT, TRANSPILED
from miner.evidence import yamlfile
from miner.evidence.ci_jobs import WORKFLOWS
from miner.evidence.tree import Below, Fixed, Remembered, Tree, folders_above, text_at
from miner.languages.base import TestCommand
from miner.languages.javascript.scripts import Call, called, table, test_scripts, told_node

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
    26: date(2026, 5, 6),
}
"""Lines of Node with long-term support, and when each came out (nodejs.org/en/about/previous-releases)."""
LOCKS: Mapping[str, str] = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
}
"""The package manager by its lock, the likeliest first where there are several."""
_PNPM_WORKSPACE, _RUSH = "pnpm-workspace.yaml", "common/config/rush/"
_RUSH_PROJECT = re.compile(r"""^  (['"]?)\.\./\.\./(.+?)\1:$""", re.MULTILINE)
"""A project in Rush's lock, as seen from the folder that Rush installs in."""
_CHECKSUMS = re.compile(r"^(?:pnpmfile|packageExtensions)Checksum: .*\n", re.MULTILINE)
_OVERRIDES = re.compile(r"^overrides:\n(?:  .*\n)+", re.MULTILINE)
_OWN_PEERS = re.compile(r"^  autoInstallPeers: (\w+)$", re.MULTILINE)
_VERSION_FILES = (".nvmrc", ".node-version")
_TOOL_FILES = (".tool-versions", "mise.toml", ".mise.toml")
_NODE_OF_TOOLS = re.compile(r"""^\s*node(?:js)?\s*=?\s*[\["']*([\w/.*-]+)""", re.MULTILINE)
_NODE_OF_CI = re.compile(r"node[_-]?(?:js)?[_-]?(?:versions?)?", re.IGNORECASE)
_LINE_OF_CI = re.compile(r"[v^~=]*\s?(\d{1,2})(?:\.[\dx*.]+)?")
_IMAGE_OF_CI = re.compile(r"(?:[\w.-]+/)*node:(\d{1,2})\b")
_NEWEST_OF_CI = frozenset({"node", "latest", "current", "stable", "lts", "lts/*"})
_BERRY = "__metadata:"
_VERSION_OF_LOCK = re.compile(rf"""(?:"?lockfileVersion"?:|{_BERRY}\n\s+version:)\s*['"]?([\d.]+)""")
_PNPM_OF_LOCK = (("9", "9"), ("6", "8"), ("5.4", "7"), ("5", "6"))
"""Newest pnpm by what its lock begins its version with."""
_YARN_OF_LOCK = {"4": "2.4", "5": "3.1", "6": "3", "8": "4.13", "9": "4.14"}
"""Newest later yarn by its lock's version, where a yarn that is newer refuses that: it would write another."""
_ANY_LATER = 999
_NODES_OF_LOCK: Mapping[str, Sequence[tuple[str, int, int]]] = {
    "npm": (("1", 0, 14), ("2", 16, _ANY_LATER), ("3", 18, _ANY_LATER)),
    "pnpm": (("9", 18, _ANY_LATER), ("6", 16, 20), ("5.4", 14, 18), ("5.3", 12, 16), ("5", 8, 14)),
    "berry": (
        ("10", 18, _ANY_LATER),
        ("9", 18, _ANY_LATER),
        ("8", 18, _ANY_LATER),
        ("6", 12, 20),
        ("5", 12, 16),
        ("4", 10, 16),
    ),
}
"""Oldest and newest line of Node by what a lock begins its version with.

npm's are of the lines that came with what writes such a lock (6 with Node up to 14, 7 and 8 with 16, 9 and later with
18), where later ones keep what they find from 2 on. The others': from the oldest that the first to write it runs on
(`engines` of pnpm 3 to 9 and of @yarnpkg/cli 2 to 4), to the newest with long-term support of its time.
"""
_IMPORTS: Mapping[str, re.Pattern[str]] = {
    framework: re.compile(rf"""(?:from\s*|require\(\s*|import\s*)["'](?:{names})["']""")
    for framework, names in {
        "vitest": "vitest",
        "node:test": "node:test",
        "tap": "tape(?:-[a-z-]+)?|tap|@tapjs/[a-z-]+",
        "jest": "@jest/globals",
        "mocha": "mocha",
        "ava": "ava",
        "uvu": "uvu",
        "qunit": "qunit",
        "lab": "(?:@hapi/)?lab",
    }.items()
}
_UNSUPPORTED = re.compile(r"\b(zora|intern|vows|nodeunit|poku|jstestr|testling)\b")
_RUNTIMES: Mapping[str, re.Pattern[str]] = {
    "Bun": re.compile(r"""["']bun:test["']"""),
    "Deno": re.compile(r"""\bDeno\.test\(|["'](?:jsr:@std/|@std/testing|https://deno\.land/)"""),
}
"""What only tests of another runtime have."""
_RUNTIME = re.compile(r"\b(bun|deno) (?:run )?test\b(?!:)")
_BROWSERS = re.compile(
    r"\b(karma|cypress|playwright|web-test-runner|wtr|testcafe|nightwatch|wdio|airtap|tape-run|testem|--browser)\b"
)
_TASKS = re.compile(r"\b(?:grunt|gulp|make|nx|turbo|lerna|rush|wireit)\b")
"""What scripts call that may call any runner."""
_IN_BROWSER = re.compile(
    r"""(?:from\s*|require\(\s*)["'](@playwright/test|cypress|testcafe|nightwatch|puppeteer|@?vitest/browser\b|vitest-browser-)"""
    r"""|\bcy\.visit\("""
)
_BROWSER_MODE = re.compile(r"\bbrowser\s*:\s*\{[^{}]*\benabled\s*:\s*true\b")
"""Of vitest's configuration: tests run in a browser."""
_OF_TYPES = re.compile(r"\b(tsd|tsd-lite|dtslint|check-dts|attw|tstyche)\b|\b(tsc)\b")
_NAMED_TYPES = re.compile(
    r".*\.d\.[cm]?ts|.*\.(?:test-d|tst|type-test)\.[cm]?tsx?|(?:.*/)?(?:test-d|dtslint|types?-tests?|__typetests__)/.*\.[cm]?tsx?"
)
_BESIDE_TESTS = re.compile(
    r"(?:.*/)?(?:tests?/types?/.*|typings?/.*|types?/(?:.*/)?[\w-]*tests?|tests?/(?:types|typings|typescript))\.[cm]?tsx?"
)
_IMPORTS_TYPES = re.compile(
    r"""(?:from\s*|require\(\s*)["'](tsd|tsd-lite|expect-type|tstyche|@typescript/twoslash)["']"""
)
_IS_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|cypress)/|(?:\.(?:test|spec|e2e|cy|test-d)|(?:^|/)test)\.[cm]?[jt]sx?$",
    re.IGNORECASE,
)
_RUNS = re.compile(r"(?:(?<![\w.])|\bt(?:ap)?\.)(?:test|it|describe|suite)\s*(?:\.\w+)?\(")
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "vitest": ("vitest",),
    "jest": ("jest",),
    "mocha": ("mocha",),
    "tap": ("tape", "tap"),
    "ava": ("ava",),
    "jasmine": ("jasmine",),
    "uvu": ("uvu",),
    "qunit": ("qunit", "qunitjs"),
    "lab": ("@hapi/lab", "lab"),
}
RUNNERS = frozenset(name for names in _PACKAGES.values() for name in names)
"""The packages that are runners: no script may name them where a Makefile calls them."""
_LOADING = frozenset({"node:test", "mocha", "tap", "ava", "jasmine", "uvu", "qunit", "lab"})
"""Runners that leave the loading of files to Node."""
_ALONE = ("node:test", "tap", "uvu")
"""Runners of which Node needs no more than a test's file."""
_LOADED_BY = frozenset({"--require", "-r", "--import", "--loader", "--experimental-loader", "--node-option", "-n"})
_LOADERS = re.compile(
    r"\b(?:ts-node|tsx|esbuild-register|esbuild-runner|esbuild-node-loader|swc-node|swc/register|tsm|sucrase)\b"
)
_NO_DIAGNOSTICS = '--globals={"ts-jest":{"diagnostics":false}}'
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_CONFIGURED = re.compile(r"(?:vitest|vite|jest)\.config\.\w+")
_CONFIGURE = re.compile(r"\.?(vitest|jest|mocha|ava|tap)(?:\.config\.\w+|rc(?:\.\w+)?)")
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


DEPENDENCIES = ("devDependencies", "dependencies", "optionalDependencies")
GIT_HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
_HOSTS = "|".join(map(re.escape, GIT_HOSTS))
_FROM_GIT = re.compile(
    rf"(?:git\+\w+://|git@|ssh://git@|git://|codeload\.)(?:[\w.-]+@)?({_HOSTS})"
    rf"|({_HOSTS})/[\w.-]+/[\w.-]+?(?:/archive/|/tarball/|\.git\b)"
)
_FROM_GITHUB = re.compile(r":\s*[\"'](?:github:)?[\w-]+/[\w.-]+(?:#[^\"']*)?[\"']")
OF_THE_DAY = Manager(name="npm", version="", lock=None)


def read_manifest(tree: Tree, folder: str = "") -> dict[str, Any]:
    """A package.json; empty where there is none, or none that can be read."""
    data = tree.read(posixpath.join(folder, MANIFEST)) or b""
    return (json_text.read_object(data) if len(data) <= _LARGEST else None) or {}


def manifest_folders(tree: Tree) -> list[str]:
    """The folders that have a package.json, whosever it is."""
    return [folder for folder, name in map(posixpath.split, tree.files()) if name == MANIFEST]


def project_folder(tree: Tree, test_files: Sequence[str]) -> str | None:
    """Where what tests require is installed; None where no folder above them has a manifest.

    That is the root, where it is a workspace, of Rush's too, or has a manifest and the tests are its own. Else of the
    folders above the package that the tests are of, from its own on, the first that has a lock or names the packages of
    a workspace; none such, the root where it has a manifest, else the package's own.
    """
    files = set(tree.files())
    packages = [package_folder(tree, [path]) for path in test_files]
    package = next(filter(None, packages), None)
    if MANIFEST in files and (not package or not all(packages) or _is_workspace(tree)):
        return ""
    if package is None:
        return None
    if _is_workspace_of_rush(tree):
        return ""
    places = (package, *folders_above(package))
    marks = {*LOCKS, _PNPM_WORKSPACE}
    other = "" if MANIFEST in files else package
    return next((place for place in places if any(posixpath.join(place, mark) in files for mark in marks)), other)


def project_of(tree: Tree, folder: str) -> Tree:
    """The project in a folder as a tree of its own.

    What the repository's root says of Node holds for it, too, and a lock of Rush that is yarn 1's: it has a version for
    each range that any package of the repository asks for.
    """
    files = tree.files()
    if not folder:
        if MANIFEST in files:
            of_lerna = _as_workspace(tree)
            return Fixed(tree, of_lerna) if of_lerna else tree
        return Fixed(tree, _as_pnpm(tree) if _is_workspace_of_rush(tree) else {MANIFEST: b'{"private": true}'})
    own = Remembered(Below(tree, folder))
    around = {path: path for path in files if path in {*_VERSION_FILES, *_TOOL_FILES} or WORKFLOWS.fullmatch(path)}
    if not _locks(own):
        around["yarn.lock"] = f"{_RUSH}yarn.lock"
    texts = {path: tree.read(place) for path, place in around.items() if own.read(path) is None}
    return Fixed(own, {path: text for path, text in texts.items() if text})


def _is_workspace_of_rush(tree: Tree) -> bool:
    """Whether Rush has pnpm link the packages; its earlier locks are of archives that it makes of them."""
    return _RUSH_PROJECT.search(text_at(tree, f"{_RUSH}pnpm-lock.yaml")) is not None


def _is_workspace(tree: Tree) -> bool:
    """Whether the root names packages that are installed with it."""
    names = {"lerna.json", _PNPM_WORKSPACE} & {*tree.files()}
    return bool(names) or "workspaces" in read_manifest(tree)


def is_alone(tree: Tree) -> bool:
    """Whether the root's manifest is all that an install reads of them: no workspace, and no requirement by a path."""
    root = read_manifest(tree)
    wishes = (wish for key in (*DEPENDENCIES, "overrides", "resolutions") for wish in table(root, key).values())
    return not _is_workspace(tree) and not any(re.match(r"(?:file|link|portal):|[./~{]", str(wish)) for wish in wishes)


def _as_workspace(tree: Tree) -> dict[str, bytes]:
    """The root's manifest where lerna alone links the packages: as that of a workspace, which package managers link."""
    root, lerna = read_manifest(tree), json_text.read_object(tree.read("lerna.json") or b"")
    if lerna is None or "workspaces" in root or tree.read(_PNPM_WORKSPACE) is not None:
        return {}
    packages = lerna.get("packages")
    patterns = packages if isinstance(packages, list) else ["packages/*"]
    return {MANIFEST: json.dumps({**root, "private": True, "workspaces": patterns}).encode()}


def _as_pnpm(tree: Tree) -> dict[str, bytes]:
    """What makes a workspace of Rush's one of pnpm's: files at the root, of what Rush writes into a folder of its own.

    Hooks of a pnpmfile are left out: what they change is in the lock.
    """
    rush, lock = text_at(tree, "rush.json"), text_at(tree, f"{_RUSH}pnpm-lock.yaml")
    settings = dict(re.findall(r'^\s*"(\w+)":\s*"([^"\n]*)"', rush, re.MULTILINE))
    overrides = _OVERRIDES.search(lock)
    root = {
        "private": True,
        "packageManager": f"pnpm@{settings['pnpmVersion']}" if "pnpmVersion" in settings else "",
        "engines": {"node": settings.get("nodeSupportedVersionRange", "")},
        "pnpm": yamlfile.load(overrides[0].encode()) if overrides else {},
    }
    projects = [project for _, project in _RUSH_PROJECT.findall(lock)]
    peers = "".join(f"auto-install-peers={word}\n" for word in _OWN_PEERS.findall(lock)[:1])
    texts = {
        MANIFEST: json.dumps(root),
        _PNPM_WORKSPACE: json.dumps({"packages": projects}),
        "pnpm-lock.yaml": _CHECKSUMS.sub("", _RUSH_PROJECT.sub(r"  \1\2\1:", lock)),
        ".npmrc": f"{text_at(tree, f'{_RUSH}.npmrc')}\n{peers}",
    }
    return {path: text.encode() for path, text in texts.items()}


def with_fix(tree: Tree, fixed: Mapping[str, bytes]) -> Tree | None:
    """A tree as the fix leaves it; None where that asks for no other dependencies."""
    after = Fixed(tree, fixed)
    folders = {posixpath.dirname(path) for path in fixed if posixpath.basename(path) == MANIFEST}
    tables = [
        [read_manifest(side, folder).get(key) for side in (tree, after)] for folder in folders for key in DEPENDENCIES
    ]
    return after if any(before != now for before, now in tables) else None


def node_majors(tree: Tree, day: date) -> tuple[int, ...]:
    """The lines of Node to try: the one that the repository names, CI's newest, then the newest of that day.

    Both are of those that the repository allows. Where it names none and CI neither, the newest that its lock tells of
    goes before that of the day.

    None where it asks for what was not there on that day.
    """
    released = sorted((major for major, since in RELEASED.items() if since <= day), reverse=True) or [min(RELEASED)]
    lines = range(_OLDEST, released[0] + 2)
    texts = _versions_in_files(tree).values()
    named = [int(match[1]) for text in texts if (match := re.match(r"\s*v?(\d{1,3})\b", text))]
    named += _by_codename(texts)
    if match := re.match(r"(\d{1,3})\b", str(table(read_manifest(tree), "volta").get("node", ""))):
        named.append(int(match[1]))
    wish = _engine(read_manifest(tree))
    fitting = [major for major in released if _allows(wish, major)]
    fitting = fitting or [major for major in reversed(lines) if _allows(wish, major)]
    since = {major: RELEASED.get(major, day) for major in fitting}
    steady = [major for major in fitting if (day - since[major]).days >= _STEADY_DAYS] or fitting
    there = [major for major in named if major in lines]
    if named and not there and not wish:
        return ()
    in_ci = [text.strip() for text in _versions_in_ci(tree)]
    majors = [*there, *_of_ci(in_ci, wish, lines, fitting)[:1]]
    if not majors and not _takes_newest(in_ci):
        majors = _of_lock(tree, [*steady, *fitting])[:1]
    return tuple(dict.fromkeys(max(major, _RUNNING) for major in (*majors, *steady[:1])))


def _by_codename(texts: Iterable[str]) -> list[int]:
    return [_CODENAMES[name] for text in texts if (name := text.strip().lower().removeprefix("lts/")) in _CODENAMES]


def _takes_newest(in_ci: Iterable[str]) -> bool:
    return any(text.lower() in _NEWEST_OF_CI for text in in_ci)


def _of_ci(in_ci: Sequence[str], wish: str, lines: Container[int], fitting: Container[int]) -> list[int]:
    """The lines that CI names and that are there and allowed: those with long-term support first, the newest first.

    None where CI takes the newest as well, whichever that is.
    """
    if _takes_newest(in_ci):
        return []
    majors = {int(match[1]) for text in in_ci if (match := _LINE_OF_CI.fullmatch(text))} | {*_by_codename(in_ci)}
    usable = [major for major in majors if major in lines and _allows(wish, major)]
    return sorted(usable, key=lambda major: (major in fitting, major), reverse=True)


def _of_lock(tree: Tree, majors: Sequence[int]) -> list[int]:
    """Of some lines those that fit the lock: its form, and the `engines` of the manifest that it was made of."""
    manager = manager_of(tree)
    if manager.lock is None:
        return []
    version = _version_of_lock(text_at(tree, manager.lock))
    forms = _NODES_OF_LOCK.get(manager.name, ())
    oldest, newest = next(((oldest, newest) for begin, oldest, newest in forms if version.startswith(begin)), (0, 0))
    wish = _engine(table(_packages_in_lock(tree, manager.lock), ""))
    if not (newest or wish):
        return []
    return [major for major in majors if oldest <= major <= (newest or _ANY_LATER) and _allows(wish, major)]


def _version_of_lock(text: str) -> str:
    """The version of a lock's form; empty where it has none."""
    match = _VERSION_OF_LOCK.search(text[:4096])
    return match[1] if match else ""


def _packages_in_lock(tree: Tree, lock: str) -> dict[str, Any]:
    """What a lock of npm has by its place, the root by an empty one; nothing where it has no such table."""
    document = json_text.read_object(tree.read(lock) or b"") if lock.endswith(".json") else None
    return table(document or {}, "packages")


def _versions_in_ci(tree: Tree) -> Iterator[str]:
    """The versions of Node that files of CI name, as they have them."""
    for path in filter(WORKFLOWS.fullmatch, tree.files()):
        try:
            document = yamlfile.load(tree.read(path) or b"")
        except yamlfile.NotReadError:
            continue
        for keys, text in yamlfile.walk(document):
            if not (keys and isinstance(text, str)) or "exclude" in keys:
                continue
            if _NODE_OF_CI.fullmatch(keys[-1]):
                yield text
            elif keys[-1] == "image" and (match := _IMAGE_OF_CI.match(text)):
                yield match[1]


def _versions_in_files(tree: Tree) -> dict[str, str]:
    """The version of Node that files name, by their paths."""
    texts = {path: text_at(tree, path) for path in (*_VERSION_FILES, *_TOOL_FILES)}
    tools = {path: match[1] for path in _TOOL_FILES if (match := _NODE_OF_TOOLS.search(texts[path]))}
    return {path: texts[path].strip() for path in _VERSION_FILES} | tools


def _engine(manifest: Mapping[str, Any]) -> str:
    """The versions of Node that a manifest allows; empty where it says none."""
    return str(table(manifest, "engines").get("node", ""))


_OLDEST, _RUNNING = 6, 8
"""Lines of Node: the oldest that is taken for one that was asked for, and the oldest that can load what runs tests."""
_CODENAMES: Mapping[str, int] = {
    "boron": 6,
    "carbon": 8,
    "dubnium": 10,
    "erbium": 12,
    "fermium": 14,
    "gallium": 16,
    "hydrogen": 18,
    "iron": 20,
    "jod": 22,
    "krypton": 24,
}
"""What lines with long-term support are called (the same page)."""
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
    """The package manager by lock and `packageManager`; npm as of the day where there is no lock that can be read."""
    locks = [name for name in _locks(tree) if not _broken(tree, name)]
    wanted = re.match(r"(npm|pnpm|yarn)@(\d+(?:\.\d+)*)", _named_manager(tree))
    lock = next((name for name in locks if wanted and LOCKS[name] == wanted[1]), next(iter(locks), None))
    if lock is None:
        return OF_THE_DAY
    name = LOCKS[lock]
    version = wanted[2] if wanted and wanted[1] == name and name != "npm" else ""
    text = text_at(tree, lock)[:4096]
    if name == "pnpm" and not version:
        version = _pnpm_of(tree, text)
    if name == "yarn":
        name = "berry" if _BERRY in text else "yarn"
        newest = _YARN_OF_LOCK.get(_version_of_lock(text), "4")
        version = (version if version and not version.startswith("1") else newest) if name == "berry" else "1.22"
    return Manager(name=name, version=version, lock=lock)


def _named_manager(tree: Tree) -> str:
    """The package manager that the manifest names, with its version or the beginning of one: `pnpm@11`."""
    said = read_manifest(tree)
    asked = table(said, "devEngines").get("packageManager")
    if said.get("packageManager") or not isinstance(asked, dict):
        return str(said.get("packageManager", ""))
    wish = str(asked.get("version", ""))
    number = re.match(r"\d+\.\d+\.\d+(?=\+|$)", wish) or re.search(r"\d+", wish)
    return f"{asked.get('name')}@{number[0]}" if number else ""


def _pnpm_of(tree: Tree, lock: str) -> str:
    """The version of pnpm, or the beginning of one, by the lock and by what only a later one reads."""
    if own := re.search(r"packageManagerDependencies:\n(?:.*\n)*?\s+pnpm:\n.*\n\s+version: ([\d.]+)", lock):
        return own[1]
    form = _version_of_lock(lock)
    version = next((pnpm for begin, pnpm in _PNPM_OF_LOCK if form.startswith(begin)), "9")
    workspace = tree.read(_PNPM_WORKSPACE)
    keys = set(re.findall(rb"^(\w+):", workspace or b"packages:", re.MULTILINE))
    is_later = b"packages" not in keys or keys - {b"packages", b"catalog", b"catalogs"}
    return "10" if version == "9" and is_later else version


def linking_manager(tree: Tree) -> Manager:
    """The package manager that links the packages of a workspace: that of the lock, else of what names them."""
    manager = manager_of(tree)
    if manager.lock:
        return manager
    if _PNPM_WORKSPACE in tree.files():
        return Manager(name="pnpm", version="10", lock="pnpm-lock.yaml")
    return Manager(name="berry", version="4", lock="yarn.lock")


def _locks(tree: Tree) -> list[str]:
    files = set(tree.files())
    return [name for name in LOCKS if name in files]


def _broken(tree: Tree, lock: str) -> bool:
    """Whether a lock can be read by no package manager."""
    data = tree.read(lock) or b""
    if not data.strip() or re.search(rb"^(?:<{7}|>{7}) ", data, re.MULTILINE):
        return True
    return lock.endswith(".json") and json_text.read_object(data) is None


def lock_notes(tree: Tree) -> tuple[str, ...]:
    """What a person should know of the locks: none that can be read, several, one of another package manager."""
    locks, lock = _locks(tree), manager_of(tree).lock
    notes = [f"{name} is broken: it can't be read" for name in locks if _broken(tree, name)]
    if lock and len(locks) > 1:
        notes.append(f"there are several locks, {', '.join(locks)}: {lock} is used")
    said = str(read_manifest(tree).get("packageManager", "")).partition("@")[0]
    if lock and said and said != LOCKS[lock]:
        notes.append(f"packageManager names {said}, and the lock that is used, {lock}, is that of {LOCKS[lock]}")
    return tuple(notes)


def is_from_git(wish: object) -> bool:
    """Whether a requirement is on a repository, of a forge or elsewhere, and on no release of the registry."""
    text = str(wish)
    return bool(_FROM_GIT.search(text) or re.match(r"git(?:\+\w+)?:", text) or _FROM_GITHUB.fullmatch(f':"{text}"'))


def from_git(tree: Tree, keys: Sequence[str] = DEPENDENCIES) -> frozenset[str]:
    """What any manifest of the repository's own requires from a git repository, in these tables."""
    manifests = [read_manifest(tree, folder) for folder in manifest_folders(tree)]
    listed = (item for manifest in manifests for key in keys for item in table(manifest, key).items())
    return frozenset(name for name, wish in listed if is_from_git(wish))


def git_hosts(tree: Tree) -> tuple[str, ...]:
    """The forges that manifest or lock take packages from."""
    manifest = read_manifest(tree)
    wishes = json.dumps([manifest.get(key) for key in (*DEPENDENCIES, "overrides", "resolutions", "pnpm")])
    texts = [wishes, *(text_at(tree, name) for name in _locks(tree))]
    named = {match[1] or match[2] for text in texts for match in _FROM_GIT.finditer(text)}
    named |= {GIT_HOSTS[0]} if _FROM_GITHUB.search(wishes) else set()
    return tuple(host for host in GIT_HOSTS if host in named)


def objection(tree: Tree, day: date) -> tuple[str, str] | None:
    """Why no image can be made of a project: a stable word and a sentence; None where nothing speaks against it."""
    if not read_manifest(tree):
        return "broken_manifest", f"{MANIFEST} can't be read: it is no JSON object, or larger than {_LARGEST} bytes"
    if not node_majors(tree, day):
        return "no_node", f"{_version_asked(tree)}: there was no such line of Node on {day}, from {_OLDEST} on"
    return None


def no_project(tree: Tree) -> tuple[str, str]:
    """Why tests that are below no manifest can't be run: a stable word and a sentence."""
    if deno := _deno_file(tree):
        return "other_runtime", f"{deno}: it is Deno's, and no folder above its tests has a {MANIFEST}"
    return "no_manifest", f"no folder above its tests has a {MANIFEST}"


def _deno_file(tree: Tree) -> str | None:
    return next((path for path in tree.files() if path in ("deno.json", "deno.jsonc")), None)


def _version_asked(tree: Tree) -> str:
    """Which version of Node a repository asks for, and where."""
    places = {f"engines.node of {MANIFEST}": _engine(read_manifest(tree))}
    places |= _versions_in_files(tree)
    places[f"volta of {MANIFEST}"] = str(table(read_manifest(tree), "volta").get("node", ""))
    place = next((place for place, wish in places.items() if wish), MANIFEST)
    return f"{place} asks for {places.get(place, '')[:80]!r}"


def tests_among(paths: Sequence[str]) -> list[str]:
    """Of changed files the tests, by their names and folders; all where none is."""
    code = [path for path in paths if posixpath.basename(path) != MANIFEST]
    return list(filter(_IS_TEST.search, code)) or code


def package_folder(tree: Tree, test_files: Sequence[str]) -> str:
    """The folder of the package that tests are of: the nearest above the first of them whose manifest says a name.

    One that has scripts will do; where there is none, the root.
    """
    files = set(tree.files())
    above = PurePosixPath(test_files[0]).parents if test_files else ()
    folders = [str(folder) for folder in above if folder.name and f"{folder}/{MANIFEST}" in files]
    manifests = ((folder, read_manifest(tree, folder)) for folder in folders)
    return next((folder for folder, own in manifests if own.get("scripts") or own.get("name")), "")


def _manifests(tree: Tree, test_files: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """The folder of the package that tests are of, and its manifest before the root's."""
    folder = package_folder(tree, test_files)
    return folder, [read_manifest(tree, place) for place in dict.fromkeys((folder, ""))]


def test_commands(tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
    """The ways to call the tests: by what they import, by the scripts of their package, by what it depends on.

    Tests in TypeScript are transpiled by the project's own compiler where their runner can't load them as they are.
    """
    folder, manifests = _manifests(tree, test_files)
    calls = [*dict.fromkeys(_named(tree, test_files, manifests))]
    places = [folder, *([""] if folder else [])]
    are_several = len({package_folder(tree, [path]) for path in test_files}) > 1
    if _has_projects(tree) or are_several or (folder and not _calls_itself(tree, folder)):
        places.reverse()
    if any(call.framework == "vitest" for call in calls) and re.search(r"\bbrowser\b", _configuration(tree)):
        calls.append(Call("vitest", ("--project=!*browser*",)))
    depended = {name for one in manifests for name in _dependencies(one)}
    if any(path.endswith(_TYPED) for path in test_files) and "typescript" in depended:
        loading = [call for call in calls if call.framework in _LOADING]
        calls += [*map(_unchecked, loading), *(_unchecked(_without_loaders(call)) for call in loading)]
        if "ts-jest" in depended:
            jest = [call for call in calls if call.framework == "jest"]
            calls += [replace(call, options=(*call.options, _NO_DIAGNOSTICS)) for call in jest]
    commands = (
        TestCommand(
            framework=call.framework,
            options=(
                *((f"{ROOT}{place}",) if place else ()),
                *call.options,
                *_without_types(tree, call.framework, folder),
            ),
            env=call.env,
            runner=call.framework,
        )
        for call in calls
        for place in places
    )
    return tuple(dict.fromkeys(commands)) or (TestCommand(framework="mocha", runner="mocha"),)


def _unchecked(call: Call) -> Call:
    """A call whose TypeScript is transpiled by the project's own compiler, or by ts-node, and never checked."""
    env = {**dict(call.env), **({"TS_NODE_TRANSPILE_ONLY": "true"} if "ts-node" in " ".join(call.options) else {})}
    return replace(call, options=(TRANSPILED, *call.options), env=tuple(env.items()))


def _without_loaders(call: Call) -> Call:
    """A call without what loads TypeScript, which may be too old for the Node at hand."""

    def kept(words: Sequence[str]) -> tuple[str, ...]:
        found = []
        for word, value in zip_longest(words, words[1:], fillvalue=""):
            loaded = f"{word} {value}" if word in _LOADED_BY else word
            found.append(None if _LOADERS.search(loaded) else word)
        return tuple(word for word in found if word)

    env = tuple((name, " ".join(kept(value.split())) if name == "NODE_OPTIONS" else value) for name, value in call.env)
    return replace(call, options=kept(call.options), env=env)


def _has_projects(tree: Tree) -> bool:
    """Whether the root's own configuration of a runner names the packages, so that it is called there."""
    return bool(re.search(r"\b(?:projects|workspace)\b", _configuration(tree))) or any(
        path.startswith("vitest.workspace.") for path in tree.files()
    )


def _calls_itself(tree: Tree, folder: str) -> bool:
    """Whether a package has a script for its tests or configures their runner, where its root does."""
    own = any(test_scripts(read_manifest(tree, folder), around=False)) or _configuration(tree, folder)
    return bool(own) or not _configuration(tree)


def _without_types(tree: Tree, framework: str, folder: str) -> tuple[str, ...]:
    """The option that leaves out vitest's tests of types, each of which would be one more test of the same name."""
    texts = [_configuration(tree, place) for place in dict.fromkeys((folder, ""))]
    asked = framework == "vitest" and any(re.search(r"\btypecheck\b", text) for text in texts)
    return ("--typecheck.enabled=false",) if asked else ()


def _configuration(tree: Tree, folder: str = "") -> str:
    """The text of a folder's configuration of runners."""
    split = map(posixpath.split, tree.files())
    paths = [posixpath.join(place, name) for place, name in split if place == folder and _CONFIGURED.fullmatch(name)]
    texts = [tree.read(path) or b"" for path in paths]
    jest = read_manifest(tree, folder).get("jest")
    return "\n".join([*(text.decode("utf-8", "replace") for text in texts), json.dumps(jest) if jest else ""])


def unsupported(tree: Tree, test_files: Sequence[str]) -> tuple[str, str] | None:
    """Why the tests of a change can't be run: reason and detail; None where a runner can be called.

    Tests of types alone run nothing; those of a browser need one; Bun and Deno run their own; other runners have no
    reporter.
    """
    texts = {path: (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace") for path in test_files}
    known = [path for path, text in texts.items() if text]
    code = [path for path in test_files if re.search(r"\.[cm]?[jt]sx?$", path)]
    if code and all(_NAMED_TYPES.fullmatch(path) or _is_of_types(path, texts[path]) for path in code):
        return "type_tests", "its tests are tests of types: nothing of them runs"
    browsers = [match for path in known if (match := _IN_BROWSER.search(texts[path]))]
    if known and len(browsers) == len(known):
        return "browser_tests", browsers[0][1] or "cypress"
    for runtime, pattern in _RUNTIMES.items():
        if known and all(pattern.search(texts[path]) for path in known):
            return "other_runtime", f"its tests are {runtime}'s"
    folder, manifests = _manifests(tree, test_files)
    if _is_in_browsers(tree, folder):
        return "browser_tests", "vitest's browser mode"
    scripts = " ".join(script for manifest in manifests for script in test_scripts(manifest, around=True))
    is_called = any(_imported_runners(tree, test_files)) or any(map(called, manifests)) or _TASKS.search(scripts)
    if not is_called and (match := _RUNTIME.search(scripts)):
        return "other_runtime", match[0]
    if (is_called or not _BROWSERS.search(scripts)) and next(_named(tree, test_files, manifests), None):
        return None
    for reason, pattern in (
        ("browser_tests", _BROWSERS),
        ("runner_unsupported", _UNSUPPORTED),
        ("type_tests", _OF_TYPES),
    ):
        if match := pattern.search(scripts):
            return reason, match[1] or match[2]
    return "runner_unsupported", "no runner that is known"


def untestable(tree: Tree, test_files: Sequence[str]) -> tuple[str, str] | None:
    """What `unsupported` says of tests below a manifest; that those below none are Deno's."""
    if project_folder(tree, tests_among(test_files)) is None:
        return no_project(tree) if _deno_file(tree) else None
    return unsupported(tree, test_files)


def _is_in_browsers(tree: Tree, folder: str) -> bool:
    """Whether all tests of a package are run in vitest's browser mode."""
    if any(path.startswith("vitest.workspace.") for path in tree.files()):
        return False
    text = next(filter(None, (_configuration(tree, place) for place in dict.fromkeys((folder, "")))), "")
    return bool(_BROWSER_MODE.search(text)) and not re.search(r"\b(?:projects|workspace)\b", text)


def is_of_types(path: str, source: bytes) -> bool:
    """Whether a file has tests of types alone."""
    if path.endswith((".d.ts", ".d.mts", ".d.cts")):
        return False
    return bool(_NAMED_TYPES.fullmatch(path)) or _is_of_types(path, source.decode("utf-8", "replace"))


def _is_of_types(path: str, text: str) -> bool:
    return bool(_IMPORTS_TYPES.search(text) or (text and _BESIDE_TESTS.fullmatch(path))) and not _RUNS.search(text)


def _named(tree: Tree, test_files: Sequence[str], manifests: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """What calls the tests: what they import, scripts, dependencies; else what is configured or locked."""
    calls = [call for manifest in manifests for call in called(manifest)]
    by_node = next(filter(None, map(told_node, manifests)), None)
    alone = {name: replace(by_node, framework=name) for name in _ALONE} if by_node else {}
    by_framework = {**alone, **{call.framework: call for call in reversed(calls)}}
    for framework in _imported_runners(tree, test_files):
        yield by_framework.get(framework, Call(framework))
    yield from calls
    depended = {name for manifest in manifests for name in _dependencies(manifest)}
    typed = {name.removeprefix("@types/") for name in depended}
    frameworks = [*_by_package(depended), *_by_package(typed)]
    if not frameworks and not calls:
        frameworks = _by_package({*_configured(tree, manifests), *_locked(tree)})
    for framework in frameworks:
        yield by_framework.get(framework, Call(framework))


def _imported_runners(tree: Tree, test_files: Sequence[str]) -> Iterator[str]:
    """The runners that tests import."""
    for path in test_files:
        text = (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace")
        yield from (framework for framework, pattern in _IMPORTS.items() if pattern.search(text))


def _by_package(names: Container[str]) -> list[str]:
    """The runners that some packages are, or bring."""
    return [framework for framework, packages in _PACKAGES.items() if any(package in names for package in packages)]


def _configured(tree: Tree, manifests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The runners that files or tables of their own configure: a tool of the repository may call them."""
    yield from (match[1] for path in tree.files() if (match := _CONFIGURE.fullmatch(posixpath.basename(path))))
    yield from (name for name in _PACKAGES if any(isinstance(manifest.get(name), dict) for manifest in manifests))


def _locked(tree: Tree) -> set[str]:
    """The packages that a lock of npm has: a tool of the repository may bring the runner."""
    return {path.removeprefix("node_modules/") for path in _packages_in_lock(tree, "package-lock.json")}


def _dependencies(manifest: Mapping[str, Any]) -> Iterator[str]:
    return (name for key in DEPENDENCIES[:2] for name in table(manifest, key))

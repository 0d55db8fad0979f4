"""What a repository's files say of Node, of its package manager and of how its tests are called. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from harness.languages.javascript.language import ROOT, TRANSPILED
from miner.languages.base import TestCommand
from miner.languages.javascript.scripts import Call, called, test_scripts

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

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
        "ava": "ava",
        "uvu": "uvu",
        "qunit": "qunit",
        "lab": "(?:@hapi/)?lab",
    }.items()
}
_UNSUPPORTED = re.compile(r"\b(bun test|deno test|zora|intern)\b")
_BROWSERS = re.compile(
    r"\b(karma|cypress|playwright|web-test-runner|wtr|testcafe|nightwatch|wdio|airtap|tape-run|testem|--browser)\b"
)
_IN_BROWSER = re.compile(
    r"""(?:from\s*|require\(\s*)["'](@playwright/test|cypress|testcafe|nightwatch|puppeteer)["']|\bcy\.visit\("""
)
_OF_TYPES = re.compile(r"\b(tsd|tsd-lite|dtslint|check-dts|attw|tstyche)\b|\b(tsc)\b")
_NAMED_TYPES = re.compile(
    r".*\.d\.[cm]?ts|.*\.(?:test-d|tst|type-test)\.[cm]?tsx?|(?:.*/)?(?:test-d|dtslint|types?-tests?)/.*\.[cm]?tsx?"
)
_BESIDE_TESTS = re.compile(r"(?:.*/)?tests?/types?/.*\.[cm]?tsx?")
_IMPORTS_TYPES = re.compile(
    r"""(?:from\s*|require\(\s*)["'](tsd|tsd-lite|expect-type|tstyche|@typescript/twoslash)["']"""
)
_RUNS = re.compile(r"\b(?:test|it|describe|suite)\s*(?:\.\w+)?\(")
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
_LOADING = frozenset({"node:test", "mocha", "tap", "jasmine", "uvu", "qunit", "lab"})
"""Runners that leave the loading of files to Node."""
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
    data = tree.read(posixpath.join(folder, MANIFEST))
    try:
        found = json.loads(data) if data and len(data) <= _LARGEST else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Fixed:
    """A tree with some files as the fix leaves them."""

    base: Tree
    fixed: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.fixed.get(path) or self.base.read(path)

    def files(self) -> tuple[str, ...]:
        return tuple(sorted({*self.base.files(), *self.fixed}))


def with_fix(tree: Tree, fixed: Mapping[str, bytes]) -> Tree | None:
    """A tree as the fix leaves it; None where that asks for no other dependencies."""
    after = Fixed(tree, fixed)
    folders = {posixpath.dirname(path) for path in fixed if posixpath.basename(path) == MANIFEST}
    tables = [
        [read_manifest(side, folder).get(key) for side in (tree, after)] for folder in folders for key in DEPENDENCIES
    ]
    return after if any(before != now for before, now in tables) else None


def node_majors(tree: Tree, day: date) -> tuple[int, ...]:
    """The lines of Node to try: the one that the repository names, then the newest of that day which it allows.

    None where it asks for what was not there on that day.
    """
    released = sorted((major for major, since in RELEASED.items() if since <= day), reverse=True) or [min(RELEASED)]
    lines = range(_OLDEST, released[0] + 2)
    texts = [(tree.read(path) or b"").decode("utf-8", "replace") for path in _VERSION_FILES]
    named = [int(match[1]) for text in texts if (match := re.match(r"\s*v?(\d{1,3})\b", text))]
    named += [_CODENAMES[name] for text in texts if (name := text.strip().lower().removeprefix("lts/")) in _CODENAMES]
    if match := re.match(r"(\d{1,3})\b", str(_field(tree, "volta").get("node", ""))):
        named.append(int(match[1]))
    wish = str(_field(tree, "engines").get("node", ""))
    fitting = [major for major in released if _allows(wish, major)]
    fitting = fitting or [major for major in reversed(lines) if _allows(wish, major)]
    since = {major: RELEASED.get(major, day) for major in fitting}
    steady = [major for major in fitting if (day - since[major]).days >= _STEADY_DAYS] or fitting
    there = [major for major in named if major in lines]
    if named and not there and not wish:
        return ()
    return tuple(dict.fromkeys((*there, *steady[:1])))


def _field(tree: Tree, name: str) -> dict[str, Any]:
    """A table of the manifest."""
    table = read_manifest(tree).get(name)
    return table if isinstance(table, dict) else {}


_OLDEST = 6
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
    wanted = re.match(r"(npm|pnpm|yarn)@(\d+(?:\.\d+)*)", str(read_manifest(tree).get("packageManager", "")))
    lock = next((name for name in locks if wanted and LOCKS[name] == wanted[1]), next(iter(locks), None))
    if lock is None:
        return OF_THE_DAY
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


def _locks(tree: Tree) -> list[str]:
    files = set(tree.files())
    return [name for name in LOCKS if name in files]


def _broken(tree: Tree, lock: str) -> bool:
    """Whether a lock can be read by no package manager."""
    text = (tree.read(lock) or b"").decode("utf-8", "replace")
    if not text.strip() or re.search(r"^(?:<{7}|>{7}) ", text, re.MULTILINE):
        return True
    try:
        return lock.endswith(".json") and not isinstance(json.loads(text), dict)
    except ValueError:
        return True


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


def from_git(tree: Tree) -> frozenset[str]:
    """What any manifest of the repository's own requires from a git repository."""
    folders = [posixpath.dirname(path) for path in tree.files() if posixpath.basename(path) == MANIFEST]
    tables = [read_manifest(tree, folder).get(key) for folder in folders for key in DEPENDENCIES]
    listed = [item for table in tables if isinstance(table, dict) for item in table.items()]
    return frozenset(name for name, wish in listed if is_from_git(wish))


def git_hosts(tree: Tree) -> tuple[str, ...]:
    """The forges that manifest or lock take packages from."""
    manifest = read_manifest(tree)
    wishes = json.dumps([manifest.get(key) for key in (*DEPENDENCIES, "overrides", "resolutions", "pnpm")])
    texts = [wishes, *((tree.read(name) or b"").decode("utf-8", "replace") for name in _locks(tree))]
    named = {match[1] or match[2] for text in texts for match in _FROM_GIT.finditer(text)}
    named |= {GIT_HOSTS[0]} if _FROM_GITHUB.search(wishes) else set()
    return tuple(host for host in GIT_HOSTS if host in named)


def objection(tree: Tree, day: date) -> tuple[str, str] | None:
    """Why no image can be made of a tree: a stable word and a sentence; None where nothing speaks against it."""
    if tree.read(MANIFEST) is None:
        return "no_manifest", f"the root of the tree has no {MANIFEST}"
    if not read_manifest(tree):
        return "broken_manifest", f"{MANIFEST} can't be read: it is no JSON object, or larger than {_LARGEST} bytes"
    if not node_majors(tree, day):
        return "no_node", f"{_version_asked(tree)}, which was no version of Node on {day}"
    return None


def _version_asked(tree: Tree) -> str:
    """Which version of Node a repository asks for, and where."""
    places = {f"engines.node of {MANIFEST}": str(_field(tree, "engines").get("node", ""))}
    places |= {path: (tree.read(path) or b"").decode("utf-8", "replace").strip() for path in _VERSION_FILES}
    places[f"volta of {MANIFEST}"] = str(_field(tree, "volta").get("node", ""))
    place = next((place for place, wish in places.items() if wish), MANIFEST)
    return f"{place} asks for {places.get(place, '')[:80]!r}"


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
    """The ways to call the tests: by what they import, by the scripts of their package, by what it depends on.

    Tests in TypeScript are transpiled by the project's own compiler where their runner can't load them as they are.
    """
    folder, manifests = _manifests(tree, test_files)
    named = [*dict.fromkeys(_named(tree, test_files, manifests))]
    places = [folder, *([""] if folder else [])]
    if _has_projects(tree):
        places.reverse()
        if any(_without_types(tree, call.framework) for call in named):
            named.sort(key=lambda call: not call.options)  # of projects no option turns tests of types off
    depended = {name for one in manifests for name in _dependencies(one)}
    if any(path.endswith(_TYPED) for path in test_files) and "typescript" in depended:
        named += [_unchecked(call) for call in named if call.framework in _LOADING]
        if "ts-jest" in depended:
            jest = [call for call in named if call.framework == "jest"]
            named += [replace(call, options=(*call.options, _NO_DIAGNOSTICS)) for call in jest]
    commands = (
        TestCommand(
            framework=call.framework,
            options=(*((f"{ROOT}{place}",) if place else ()), *call.options, *_without_types(tree, call.framework)),
            env=call.env,
            runner=call.framework,
        )
        for call in named
        for place in places
    )
    return tuple(dict.fromkeys(commands)) or (TestCommand(framework="mocha", runner="mocha"),)


def _unchecked(call: Call) -> Call:
    """A call whose TypeScript is transpiled by the project's own compiler, or by ts-node, and never checked."""
    env = {**dict(call.env), **({"TS_NODE_TRANSPILE_ONLY": "true"} if "ts-node" in " ".join(call.options) else {})}
    return replace(call, options=(TRANSPILED, *call.options), env=tuple(env.items()))


def _has_projects(tree: Tree) -> bool:
    """Whether the root's own configuration of a runner names the packages, so that it is called there."""
    return bool(re.search(r"\b(?:projects|workspace)\b", _configuration(tree))) or any(
        path.startswith("vitest.workspace.") for path in tree.files()
    )


def _without_types(tree: Tree, framework: str) -> tuple[str, ...]:
    """The option that leaves out vitest's tests of types, each of which would be one more test of the same name."""
    asked = framework == "vitest" and re.search(r"\btypecheck\b", _configuration(tree))
    return ("--typecheck.enabled=false",) if asked else ()


def _configuration(tree: Tree) -> str:
    """The text of the root's configuration of runners."""
    texts = [tree.read(path) or b"" for path in tree.files() if _CONFIGURED.fullmatch(path)]
    jest = read_manifest(tree).get("jest")
    return "\n".join([*(text.decode("utf-8", "replace") for text in texts), json.dumps(jest) if jest else ""])


def unsupported(tree: Tree, test_files: Sequence[str]) -> tuple[str, str] | None:
    """Why the tests of a change can't be run: reason and detail; None where a runner can be called.

    Tests of types alone run nothing; those of a browser need one; other runners have no reporter.
    """
    texts = {path: (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace") for path in test_files}
    known = [path for path, text in texts.items() if text]
    code = [path for path in test_files if re.search(r"\.[cm]?[jt]sx?$", path)]
    if code and all(_NAMED_TYPES.fullmatch(path) or _is_of_types(path, texts[path]) for path in code):
        return "type_tests", "its tests are tests of types: nothing of them runs"
    browsers = [match for path in known if (match := _IN_BROWSER.search(texts[path]))]
    if known and len(browsers) == len(known):
        return "browser_tests", browsers[0][1] or "cypress"
    _, manifests = _manifests(tree, test_files)
    if next(_named(tree, test_files, manifests), None):
        return None
    scripts = " ".join(script for manifest in manifests for script in test_scripts(manifest, around=True))
    for reason, pattern in (
        ("browser_tests", _BROWSERS),
        ("runner_unsupported", _UNSUPPORTED),
        ("type_tests", _OF_TYPES),
    ):
        if match := pattern.search(scripts):
            return reason, match[1] or match[2]
    return "runner_unsupported", "no runner that is known"


def _is_of_types(path: str, text: str) -> bool:
    return bool(_IMPORTS_TYPES.search(text) or (text and _BESIDE_TESTS.fullmatch(path))) and not _RUNS.search(text)


def _named(tree: Tree, test_files: Sequence[str], manifests: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """What calls the tests: what they import, scripts, dependencies; else what is configured or locked."""
    calls = [call for manifest in manifests for call in called(manifest)]
    by_framework = {call.framework: call for call in reversed(calls)}
    for path in test_files:
        text = (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace")
        for framework, pattern in _IMPORTS.items():
            if pattern.search(text):
                yield by_framework.get(framework, Call(framework))
    yield from calls
    depended = {name for manifest in manifests for name in _dependencies(manifest)}
    typed = {name.removeprefix("@types/") for name in depended}
    frameworks = [*_by_package(depended), *_by_package(typed)]
    if not frameworks and not calls:
        frameworks = _by_package({*_configured(tree, manifests), *_locked(tree)})
    for framework in frameworks:
        yield by_framework.get(framework, Call(framework))


def _by_package(names: Container[str]) -> list[str]:
    """The runners that some packages are, or bring."""
    return [framework for framework, packages in _PACKAGES.items() if any(package in names for package in packages)]


def _configured(tree: Tree, manifests: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The runners that files or tables of their own configure: a tool of the repository may call them."""
    yield from (match[1] for path in tree.files() if (match := _CONFIGURE.fullmatch(posixpath.basename(path))))
    yield from (name for name in _PACKAGES if any(isinstance(manifest.get(name), dict) for manifest in manifests))


def _locked(tree: Tree) -> set[str]:
    """The packages that a lock of npm has: a tool of the repository may bring the runner."""
    try:
        lock = json.loads((tree.read("package-lock.json") or b"{}")[:_LARGEST])
    except ValueError:
        return set()
    packages = lock.get("packages") if isinstance(lock, dict) else None
    return {path.removeprefix("node_modules/") for path in packages} if isinstance(packages, dict) else set()


def _dependencies(manifest: Mapping[str, Any]) -> Iterator[str]:
    for key in DEPENDENCIES[:2]:
        if isinstance(manifest.get(key), dict):
            yield from manifest[key]

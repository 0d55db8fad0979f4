"""What tests load that is built before it is there, and the scripts of a package that may build it. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from miner.evidence.tree import Tree
from miner.languages.javascript.manifest import RUNNERS, manifest_folders, package_folder, read_manifest
from miner.languages.javascript.scripts import table, test_scripts

SUFFIXES = (".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".tsx", ".jsx", ".json", ".node", ".vue", ".svelte")
INPUTS = tuple(f"*{suffix}" for suffix in SUFFIXES if suffix != ".node")
"""Patterns of what a build is made from."""
SOURCES: Mapping[str, tuple[str, ...]] = {
    ".js": (".ts", ".tsx", ".jsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)
}  # fmt: skip
"""How TypeScript's own files may be called that an import names as they will be."""
_OTHERS = frozenset({".css", ".scss", ".less", ".svg", ".png", ".txt", ".md", ".html", ".wasm", ".snap"})
_IMPORTED = re.compile(
    r"""(?:\bfrom\s*|\brequire(?:\.resolve)?\(\s*|\bimport\s*\(?\s*)(["'])((?:\.|@?[a-z])[^"'\n]*)\1"""
)
_TYPES_ALONE = re.compile(
    r"^\s*(?:import|export)\s+type\b[^;'\"]*?\bfrom\s*[\"'][^\"'\n]*[\"']|^\s*(?://|\*).*$", re.MULTILINE
)
"""Imports that leave nothing to run, and comments."""
_NEEDS = ("dependencies", "peerDependencies", "optionalDependencies")
_SCRIPTS = ("build", "compile", "prepare", "prepack", "prebuild", "dist", "bundle")
_NAMED_AS_BUILD = re.compile(
    r"(?:(?:pre)?build|compile|generate|codegen|gen|transpile|bundle|tsc|transform|grammar|parser)"
    r"(?!.*(?:watch|docs?|site|demo|example|story|bench|types?|browser|test|release|web|check|verify|clean|lint|size|serve|publish|ci)s?\b)(?:[:_-][\w:-]+)?"
)
_NO_BUILD = re.compile(
    r"\b(lint|eslint|prettier|standard|xo|tsd|audit|attw|publint|size-limit|knip|husky|readme|format|check|coverage"
    r"|types?-?check|patch-package|is-ci|install|date|echo|mocha|jest|vitest|ava|tape|tap|nyc|c8|safe-publish-latest"
    r"|not-in-publish)\b(?!\.|:build)|\b(?:npm|yarn|pnpm) (?:run )?tests?\b"
)
_BUILDS = re.compile(
    r"(?<![\w:-])(?:build|compile|babel|tsc|tsup|rollup|webpack|esbuild|swc|bundle|dist|prepare)\b(?!.*--noEmit)"
)
_CLEARS = re.compile(r"\s*(?:rimraf|rm|mkdirp|mkdir|del-cli|del|shx rm|npm run clean\S*)\b.*|\s*")
_READ = re.compile(
    r"(?!.*(?:node_modules|fixtures)/)(?!(?:dist|docs?|examples?|bench(?:marks?)?)/)(?!bench).*(?:\.[cm]?[jt]sx?|rc|rc\.json|config(?:\.[\w-]+)?\.json)"
)
_LOOKS = re.compile(
    r"eslint|oxlint|oxfmt|biome|knip|cspell|prettier|commitlint|stylelint|lint-?staged|release|renovate|\.d\.ts$"
)
_OF_CODE = re.compile(r"(?:.*/)?(?:tests?|specs?|__tests__|src|lib)/")
_TOOLS = re.compile(
    r"^@types/|babel|typescript|jest|run|rollup|webpack|browserify|esbuild|vite|swc|tsx|ts-|rimraf|uglify|terser"
)
_NAME = re.compile(r"(?:@[\w.-]+/)?[\w.-]+")
_IS_NOT_OWN = re.compile(r"(?:^|/)(?:node_modules|tests?|fixtures?|examples?|__[a-z]+__)(?:/|$)")
"""Folders whose manifests are of no package that is published."""
_OF_BUILDS = re.compile(
    r"(?:^|/)\.?(?:dist|lib|libs|build|built|out|output|es\d?|esm|cjs|umd|bundles?|compiled|generated|__generated__|gen|tmp|target|types|tsc)(?:[-_.][\w.-]+)?/"
    r"|(?:^|[/._-])(?:min|generated|parser|grammar|version)\.[cm]?[jt]s$"
)
_MOST_READ = 3000
_MOST_FILES, _MOST_COMMANDS, _LARGEST = 400, 5, 1 << 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the tree may get what its tests load and it does not hold."""

    wanted: tuple[tuple[str, ...], ...]
    """Of each import that leads nowhere, the paths of which any would do."""
    is_by_name: bool
    """Whether all of it are packages of the repository, which a runner may be told to take as sources."""
    commands: tuple[tuple[str, str], ...]
    """Folder and line for `sh`, the likeliest first."""


def plan(tree: Tree, test_files: Sequence[str]) -> Plan | None:
    """What to build; None where the tests find all that they load, or no script could make the rest.

    Tests that load none of the sources may start a program, or make up its path: what their script builds is built.
    """
    ways, loaded = _loaded(tree, test_files)
    if not ways and any(path not in test_files and not _IS_NOT_OWN.search(path) for path in loaded):
        return None
    wanted = tuple(ways)
    commands = tuple(dict.fromkeys(_commands(tree, test_files, wanted)))[:_MOST_COMMANDS]
    is_by_name = bool(ways) and all(ways.values())
    return Plan(wanted=wanted, is_by_name=is_by_name, commands=commands) if commands else None


def is_built(path: str) -> bool:
    """Whether a path is in a folder that is called as those are which builds make."""
    return bool(_OF_BUILDS.search(path))


def lacking(tree: Tree, test_files: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Imports that lead nowhere, of tests and of what they load in turn; test files that are yet to come as others."""
    return tuple(_loaded(tree, test_files)[0])


def _loaded(tree: Tree, test_files: Sequence[str]) -> tuple[dict[tuple[str, ...], bool], list[str]]:
    """What `lacking` gives, each with whether it is a package by its name, and the files that were read for it."""
    files = frozenset(tree.files())
    manifests = _manifests(tree)
    packages, mains = dict(_packages(manifests)), dict(_packages(manifests, fields=("main",)))
    code = [path for path in test_files if path.endswith(SUFFIXES) and not path.endswith((".json", ".node"))]
    waiting = [path for path in code if path in files]
    if len(waiting) < len(code):
        folders = {posixpath.dirname(path) for path in code}
        waiting += [path for path in files if posixpath.dirname(path) in folders and path.endswith(SUFFIXES)]
    seen = dict.fromkeys(sorted(waiting)[:_MOST_FILES])
    wanted: dict[tuple[str, ...], bool] = {}
    for path in (order := list(seen)):
        for name, is_required in _imported(_text(tree, path)):
            ways = import_ways(name, path, mains if is_required else packages)
            there = [way for way in ways if way in files]
            if not there:
                if ways:
                    wanted[ways] = not name.startswith(".")
            elif there[0] not in seen and len(seen) < _MOST_FILES and not there[0].endswith((".json", ".node")):
                seen[there[0]] = None
                order.append(there[0])
    return wanted, order


def _text(tree: Tree, path: str) -> str:
    """The text of a file of code, of a large one its beginning."""
    return (tree.read(path) or b"")[:_LARGEST].decode("utf-8", "replace")


def imported(path: str, source: bytes, files: Mapping[str, bytes]) -> Iterator[str]:
    """The tree's files that a file loads by their paths."""
    for name, _ in _imported(source[:_LARGEST].decode("utf-8", "replace")):
        yield from [way for way in import_ways(name, path, {}) if way in files][:1]


def idle(tree: Tree, *, around: bool = True) -> frozenset[str]:
    """Development dependencies that neither code, nor tests, nor the scripts that build and test name.

    Without `around` those as well that are named by what runs before or after tests, and builds nothing.
    """
    manifests = [read_manifest(tree, folder) for folder in dict.fromkeys(("", *own_packages(tree).values()))]
    texts = [script for manifest in manifests for script in test_scripts(manifest, around=around)]
    for manifest in manifests:
        scripts = table(manifest, "scripts").items()
        texts += [str(line) for name, line in scripts if re.search(r"build|compile|prepare", name)]
        texts += [json.dumps(manifest.get(key)) for key in ("jest", "mocha", "ava", "babel", "tap", "nyc", "imports")]
    called = "\n".join(texts)
    read = [path for path in tree.files() if _READ.fullmatch(path) and (not _looks(path) or _is_called(path, called))]
    texts += [_text(tree, path) for path in read[:_MOST_READ]]
    text = "\n".join(texts)
    names = (item for manifest in manifests for item in table(manifest, "devDependencies").items())
    rest = (name for name, wish in names if name not in RUNNERS and not _is_tool(name, wish))
    return frozenset(name for name in rest if not _is_named(name, text))


def _is_called(path: str, text: str) -> bool:
    """Whether scripts or settings of tests and builds name a file by its path, with its ending or without."""
    return re.search(rf"(?<![\w-]){re.escape(posixpath.splitext(path)[0])}(?![\w-])", text) is not None


def _looks(path: str) -> bool:
    """Whether a file is of what looks at code, or releases it, and is none of the code and tests themselves."""
    return path.endswith(".d.ts") or (_LOOKS.search(path) is not None and _OF_CODE.match(path) is None)


def _is_tool(name: str, wish: Any) -> bool:
    """Whether a package of the registry is of those that others call by another name, or not by name at all."""
    return "/" not in str(wish) and bool(_TOOLS.search(name)) and not _LOOKS.search(name)


def _is_named(name: str, text: str) -> bool:
    """Whether a text has a package's name, or the short one that presets and plugins go by."""
    short = re.sub(r"^(?:@babel/|babel-)(?:preset|plugin)-", "", name)
    if f'"{short}"' in text or f"'{short}'" in text:
        return True
    whole = rf"(?:(?<![\w@/-])|node_modules/){re.escape(name)}(?![\w-])"
    return name in text and re.search(whole, text) is not None  # texts are long, and most have no trace of it


def _imported(text: str) -> Iterator[tuple[str, bool]]:
    """The names that a text imports, each with whether `require` does, which knows no field `module`."""
    found = _IMPORTED.finditer(_TYPES_ALONE.sub("", text))
    return ((match[2], match[0].startswith("require")) for match in found)


def own_packages(tree: Tree) -> dict[str, str]:
    """The packages that the repository itself holds: the folder of each by its name."""
    folders = (folder for folder in manifest_folders(tree) if not _IS_NOT_OWN.search(folder))
    named = ((read_manifest(tree, folder).get("name"), folder) for folder in folders)
    return {name: folder for name, folder in named if isinstance(name, str) and _NAME.fullmatch(name)}


def unneeded(tree: Tree, test_files: Sequence[str]) -> frozenset[str]:
    """Folders of the packages of a repository that neither its root nor those of some tests require, through others.

    Nor do the tests load them by their paths. None where tests are the root's, which may make up any.
    """
    own = own_packages(tree)
    waiting = [package_folder(tree, [path]) for path in test_files]
    if "" in waiting:
        return frozenset()
    waiting += [package_folder(tree, [path]) for path in _loaded(tree, test_files)[1]]
    needed = {"", *waiting}
    waiting.append("")
    while waiting:
        manifest = read_manifest(tree, waiting.pop())
        required = {own[name] for key in (*_NEEDS, "devDependencies") for name in table(manifest, key) if name in own}
        waiting += required - needed
        needed |= required
    return frozenset(manifest_folders(tree)) - needed


def _manifests(tree: Tree) -> list[tuple[str, dict[str, Any]]]:
    """Folder and manifest of each package that the repository itself holds."""
    folders = (folder for folder in manifest_folders(tree) if "node_modules" not in folder.split("/"))
    return [(folder, read_manifest(tree, folder)) for folder in folders]


def _packages(
    manifests: Sequence[tuple[str, Mapping[str, Any]]], *, fields: Sequence[str] = ("main", "module")
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name of each of these packages, and the files that its import may mean."""
    for folder, manifest in manifests:
        exports = manifest.get("exports")
        root = exports.get(".", exports) if isinstance(exports, dict) else exports
        leaves = [*_leaves([*map(manifest.get, fields), root])]
        ways = [posixpath.normpath(posixpath.join(folder, leaf)) for leaf in leaves or ["index"]]
        entries = tuple(dict.fromkeys(way + end for way in ways for end in ("", *SUFFIXES, "/index.js")))
        if isinstance(own := manifest.get("name"), str):
            yield own, entries
            for key, value in exports.items() if isinstance(exports, dict) else ():
                if key.startswith("./") and (leaves := [*_leaves(value)]):
                    yield own + key[1:], tuple(posixpath.normpath(posixpath.join(folder, leaf)) for leaf in leaves)
        yield folder, entries


def _leaves(value: Any) -> Iterator[str]:
    """The files in a field of a manifest, types aside."""
    if isinstance(value, str) and not value.endswith((".d.ts", ".d.mts", ".d.cts")) and "*" not in value:
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _leaves(inner)


def import_ways(name: str, importer: str, packages: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The paths of which an import means the first that is there; none where it is no business of the tree's."""
    if not name.startswith("."):
        return packages.get(name, ())
    path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), name.partition("?")[0]))
    path = "" if path == "." else path
    stem, suffix = posixpath.splitext(path)
    if path.startswith("..") or suffix in _OTHERS or "node_modules" in path.split("/"):
        return ()
    if suffix in SUFFIXES:
        return (path, *(stem + other for other in SOURCES.get(suffix, ())))
    own = (path, *(path + other for other in (*SUFFIXES, ".d.ts"))) if path else ()
    inside = packages.get(path) or tuple(posixpath.join(path, f"index{other}") for other in SUFFIXES)
    return (*own, *inside)


def _commands(tree: Tree, test_files: Sequence[str], wanted: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
    """What the scripts for tests build before anything is tested; where anything is `wanted`, what others build too."""
    own = package_folder(tree, test_files)
    packages = _needed(tree, wanted)
    if any(folder != own for folder, _ in packages):
        yield "", " && ".join(f"(cd {folder} && npm run {name})" for folder, name in packages)
    for folder in dict.fromkeys((own, "")):
        lines = _lines(tree, folder)
        if (line := _building(lines.get("pretest"))) and (wanted or _BUILDS.search(line)):
            yield folder, line
        if parts := [part for part in _building(lines.get("test")).split(" && ") if _BUILDS.search(part)]:
            yield folder, " && ".join(parts)
        for name in _builders(lines) if wanted else ():
            yield folder, f"npm run {name}"


def _needed(tree: Tree, wanted: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """The packages of a workspace, below its root, that make what is wanted, each after those that it requires.

    Folder and script of each that has one and lacks what its import means.
    """
    own, files = own_packages(tree), frozenset(tree.files())
    ways = {folder: entries for folder, entries in _packages(_manifests(tree)) if folder in own.values()}
    visited: set[str] = set()
    order: dict[str, str] = {}

    def visit(folder: str) -> None:
        visited.add(folder)
        manifest = read_manifest(tree, folder)
        required = {name for key in _NEEDS for name in table(manifest, key)}
        for needed in sorted(own[name] for name in required & own.keys()):
            if needed not in visited and files.isdisjoint(ways[needed]):
                visit(needed)
        if folder and (name := next(_builders(_lines(tree, folder)), "")):
            order[folder] = name

    makers = (
        max((folder for folder in own.values() if f"{path}/".startswith(f"{folder}/")), key=len, default="")
        for path in (paths[0] for paths in wanted)
    )
    for folder in dict.fromkeys(makers):
        if folder not in visited:
            visit(folder)
    return list(order.items())


def _lines(tree: Tree, folder: str) -> dict[str, Any]:
    """The scripts of a package."""
    return table(read_manifest(tree, folder), "scripts")


def _builders(lines: Mapping[str, Any]) -> Iterator[str]:
    """The names of those scripts that build."""
    others = sorted(filter(_NAMED_AS_BUILD.fullmatch, lines), key=len)
    return (name for name in (*_SCRIPTS, *others) if _building(lines.get(name)))


def _building(script: Any) -> str:
    """A script without the parts that build nothing; empty where nothing is left."""
    parts = re.split(r"\s*&&\s*", script) if isinstance(script, str) else []
    kept = [part for part in parts if not _NO_BUILD.search(part)]
    return "" if all(map(_CLEARS.fullmatch, kept)) else " && ".join(kept)

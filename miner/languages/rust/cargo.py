"""What a repository's files say of Rust: packages, versions of the toolchain, features of its tests. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from miner.evidence.tree import Tree, folders_above, text_at, toml
from miner.evidence.yamlfile import NotReadError, load, strings, walk

MANIFEST, LOCK = "Cargo.toml", "Cargo.lock"
_FIRST, _BETWEEN = date(2015, 5, 15), 42
"""When Rust 1.0 came out, and the days from one minor version to the next (https://doc.rust-lang.org/book/appendix-07-nightly-rust.html)."""
_EDITIONS = {"2018": 31, "2021": 56, "2024": 85}
_LOCKS = {"4": 78}
"""The minor versions that first read an edition, and a form of Cargo.lock."""
_MINOR = re.compile(r"1\.(\d+)")
_CHANNEL = re.compile(r"^\s*(?:channel\s*=\s*\"?)?1\.(\d+)", re.MULTILINE)
_LOCK_VERSION = re.compile(r"^version = (\d+)$", re.MULTILINE)
_WORKFLOWS = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml|azure-pipelines\.yml"
    r"|\.?(?i:justfile|makefile)|(?:\.?ci|\.?scripts?|tools|\.github)/(?:[^/]+/)?[^/]+\.sh"
)
_CALLS = re.compile(
    r"\bcargo (?:\+\S+ )?(?:hack )?(?:test|nextest run|tarpaulin|llvm-cov)\b(.*)"
    r"|\bcommand: *[\"']?test\b.*\n(?: +[\w-]+:.*\n)*? +args: *(.*)"
)
"""Calls in a shell, and those that an action of GitHub's makes."""
_MATRIX = re.compile(r"\$\{\{\s*matrix(?:\.[\w-]+)*\.([\w-]+)\s*\}\}")
_MOST = 20
"""Values of a matrix that are looked at."""
_GATES = re.compile(
    r"#\[cfg\(([^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*?#\[test\]|#\[test\]\s*(?:#\[[^\]]*\]\s*)*?#\[cfg\(([^\]]*)\)\]|#!\[cfg\(([^\]]*)\)\]"
)
"""What a test, or a whole file, is compiled for."""
_WHOLE = re.compile(r"#!\[cfg\(([^\]]*)\)\]")
_FEATURE = re.compile(r"(?<!not\()feature\s*=\s*\"([^\"]+)\"")
_OFF = re.compile(r"not\(feature\s*=\s*\"([^\"]+)\"")
_ALL = "--all-features"
_UNSTABLE = frozenset({"nightly", "unstable", "simd", "portable_simd", "bench", "default"})
"""Features that stable compilers refuse, by what they are usually called, and such as add no test."""
_ASKING = re.compile(r"cfg_attr\(\s*feature\s*=\s*\"([^\"]+)\"\s*,\s*feature\(")
"""Where a crate asks the compiler for what stable ones refuse."""
_QUOTED = re.compile(r"[\"']([\w./-]+)[\"']")
_PLACES = tuple(f"{folder}/{{}}{end}" for folder in ("tests", "examples", "benches") for end in (".rs", "/main.rs"))
_ROOTS = re.compile(r"(?:.*/)?(?:src/(?:lib|main|bin/[^/]+|bin/[^/]+/main)|build)\.rs")


_LOCKED = re.compile(rb"^name = \"([\w-]+)\"", re.MULTILINE)
_SYSTEM = {
    "openssl-sys": "libssl-dev", "libsqlite3-sys": "libsqlite3-dev", "pq-sys": "libpq-dev", "x11": "libx11-dev",
    "mysqlclient-sys": "default-libmysqlclient-dev", "libdbus-sys": "libdbus-1-dev", "libudev-sys": "libudev-dev",
    "alsa-sys": "libasound2-dev", "libsystemd-sys": "libsystemd-dev", "freetype-sys": "libfreetype-dev",
    "yeslogic-fontconfig-sys": "libfontconfig-dev", "fontconfig-sys": "libfontconfig-dev", "glib-sys": "libglib2.0-dev",
    "curl-sys": "libcurl4-openssl-dev",
    "clang-sys": "libclang-dev", "prost-build": "protobuf-compiler", "cmake": "cmake",
    "libssh2-sys": "libssh2-1-dev", "libz-sys": "zlib1g-dev", "gmp-mpfr-sys": "m4", "krb5-sys": "libkrb5-dev",
}  # fmt: skip
"""By crates that link with a library of the system, or call a program of it: Debian's package of that."""


def system_packages(lock: bytes) -> tuple[str, ...]:
    """Debian's packages that the crates of a lock are built with."""
    crates = (name.decode() for name in _LOCKED.findall(lock))
    return tuple(sorted({_SYSTEM[name] for name in crates if name in _SYSTEM}))


def manifest(tree: Tree, folder: str) -> dict[str, Any]:
    """The Cargo.toml of a folder; empty where there is none that can be read."""
    return toml(tree.read(posixpath.join(folder, MANIFEST)))


def package_of(tree: Tree, path: str) -> str | None:
    """The folder of the package that a file is in; None where it is in none."""
    return next((folder for folder in folders_above(path) if "package" in manifest(tree, folder)), None)


def packages(tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
    """The packages of some files."""
    return tuple(sorted({package for path in paths if (package := package_of(tree, path)) is not None}))


def workspace_of(tree: Tree, package: str) -> str:
    """The folder of a package's workspace, where its Cargo.lock is."""
    if folder := manifest(tree, package).get("package", {}).get("workspace"):
        return posixpath.normpath(posixpath.join(package, folder)).removeprefix(".").removeprefix("/")
    places = (package, *folders_above(package))
    return next((place for place in places if _is_root(manifest(tree, place), place, package)), package)


def _is_root(facts: dict[str, Any], folder: str, package: str) -> bool:
    """Whether a package is in the workspace that a folder's manifest declares."""
    if "workspace" not in facts:
        return False
    below = posixpath.relpath(package or ".", folder or ".")
    left_out = facts["workspace"].get("exclude", ())
    return not any(below == name.rstrip("/") or below.startswith(name.rstrip("/") + "/") for name in left_out)


def oldest(tree: Tree, folders: Iterable[str]) -> int:
    """The oldest minor version of Rust 1 that what these folders hold asks for."""
    minors = [0]
    for folder in folders:
        facts = manifest(tree, folder)
        for table in (facts.get("package", {}), facts.get("workspace", {}).get("package", {})):
            minors += map(int, _MINOR.findall(str(table.get("rust-version", ""))))
            minors.append(_EDITIONS.get(str(table.get("edition")), 0))
        lock = _LOCK_VERSION.search(text_at(tree, posixpath.join(folder, LOCK)))
        minors.append(_LOCKS.get(lock[1], 0) if lock else 0)
        for name in ("rust-toolchain", "rust-toolchain.toml"):
            minors += map(int, _CHANNEL.findall(text_at(tree, posixpath.join(folder, name))))
    return max(minors)


def minor_of(day: date) -> int:
    """The newest minor version of Rust 1 that was there on a day."""
    return (day - _FIRST).days // _BETWEEN


def minors(installed: Collection[int], least: int, day: date) -> tuple[int, ...]:
    """The two minor versions to try: the newest of that day that is there and the next newer one, the nearer first."""
    usable = sorted({minor for minor in installed if minor >= least})
    of_day = minor_of(day)
    older = [minor for minor in usable if minor <= of_day][-1:]
    newer = [minor for minor in usable if minor > of_day][: 2 - len(older)]
    return tuple(sorted(older + newer, key=lambda minor: (abs(minor - of_day), minor)))


def options(tree: Tree, tests: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The features that tests may be compiled with, the likeliest first; none that their packages lack.

    First those of the call in CI with which most tests are compiled, else of the first call. Added is what a whole
    file, a target of the manifest or, where no call has it, a single test is gated by. Then without the last of
    these, and without what only the call has.
    """
    paths = list(tests)
    available, required, refused = _declared(tree, paths)
    sources = [text_at(tree, path) for path in paths]
    singles = ["".join(condition) for text in sources for condition in _GATES.findall(text)]
    gates = Counter(name for condition in singles for name in _FEATURE.findall(condition))
    gates.subtract(name for condition in singles for name in _OFF.findall(condition))
    above = [condition for path in paths for condition in _above(tree, path)]
    conditions = [*above, *(condition for text in sources for condition in _WHOLE.findall(text))]
    whole = {name for condition in conditions for name in _FEATURE.findall(condition)}
    texts = (text_at(tree, path) for path in sorted(tree.files()) if _WORKFLOWS.fullmatch(path))
    calls = [
        _of_package(call, available, has_all=not refused)
        for text in texts
        for words in _CALLS.findall(text)
        for line in _lines("".join(words), text)
        if (call := _call(line)) is not None
    ]
    best = max(
        calls or [()], key=lambda call: sum(gates[name] for name in (gates if _ALL in call else _features(call)))
    )
    in_calls = {name for call in calls for name in _features(call)}
    single = {name for name in available - in_calls - _UNSTABLE if gates[name] > 0}
    always = (whole & available | required) - _UNSTABLE
    return tuple(dict.fromkeys((_with(best, always | single), _with(best, always), _with((), always))))


def _above(tree: Tree, path: str) -> Iterator[str]:
    """What a file's module is compiled for, and all of the file that has it."""
    folder, stem = posixpath.dirname(path), posixpath.basename(path).removesuffix(".rs")
    if stem == "mod":
        folder, stem = posixpath.split(folder)
    for name in (f"{folder}/main.rs", f"{folder}/lib.rs", f"{folder}/mod.rs", f"{folder}.rs"):
        text = text_at(tree, name) if name != path else ""
        if re.search(rf"\bmod\s+{re.escape(stem)}\s*;", text):
            yield from _WHOLE.findall(text)
            yield from re.findall(rf"#\[cfg\(([^\]]*)\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+{re.escape(stem)}\s*;", text)


def _with(call: tuple[str, ...], features: Collection[str]) -> tuple[str, ...]:
    missing = () if _ALL in call else sorted(set(features) - _features(call))
    return (*call, *(("--features", ",".join(missing)) if missing else ()))


def _declared(tree: Tree, paths: Iterable[str]) -> tuple[set[str], set[str], set[str]]:
    """Features that packages of some files have, those that their targets require, those that stable Rust refuses."""
    available: set[str] = set()
    required: set[str] = set()
    refused: set[str] = set()
    for path in paths:
        if (folder := package_of(tree, path)) is None:
            continue
        facts = manifest(tree, folder)
        features = facts.get("features", {})
        named = {name.removeprefix("dep:") for names in features.values() for name in names if name.startswith("dep:")}
        optional = {
            name
            for table in ("dependencies", *(f"target.{name}.dependencies" for name in facts.get("target", {})))
            for name, value in _table(facts, table).items()
            if isinstance(value, dict) and value.get("optional")
        }
        available |= features.keys() | optional - named
        refused |= _refused(text_at(tree, posixpath.join(folder, "src/lib.rs")), features)
        for kind, place in (("test", "tests"), ("bin", "src/bin"), ("example", "examples"), ("bench", "benches")):
            for target in facts.get(kind, []):
                root = posixpath.join(folder, target.get("path") or f"{place}/{target.get('name')}.rs")
                own = {root, f"{root.removesuffix('.rs')}/main.rs"}
                if path in own or posixpath.dirname(path) == root.removesuffix(".rs"):
                    required |= set(target.get("required-features", ()))
    return available - refused, required & available - refused, refused


def _refused(root: str, features: Mapping[str, Sequence[str]]) -> set[str]:
    """Features that stable compilers refuse, as the root of a library has it, and those that ask for these."""
    refused = set(_ASKING.findall(root))
    while more := {
        name
        for name in features.keys() - refused
        if any(word in refused or word.endswith(("/nightly", "/unstable")) for word in features[name])
    }:
        refused |= more
    return refused


def _table(facts: dict[str, Any], name: str) -> dict[str, Any]:
    if name.startswith("target."):
        return dict(facts["target"][name[len("target.") : -len(".dependencies")]].get("dependencies", {}))
    return dict(facts.get(name, {}))


def _lines(line: str, text: str) -> list[str]:
    """A call with each value of the matrix that it names put in."""
    if not (matrix := _MATRIX.search(line)):
        return [line]
    try:
        nodes = list(walk(load(text.encode())))
    except NotReadError:
        return []
    values = [value for keys, node in nodes if keys[-1:] == (matrix[1],) for value in strings(node)]
    lines = [line.replace(matrix[0], value) for value in dict.fromkeys(values[:_MOST])]
    return [last for first in lines if first != line for last in _lines(first, text)][:_MOST]


def _of_package(call: tuple[str, ...], available: set[str], *, has_all: bool) -> tuple[str, ...]:
    """A call without features that the packages or stable compilers lack; those of a dependency stay.

    Where not all of the packages' features are among the available ones, these are named in place of all.
    """
    words: list[str] = []
    for word in call:
        if word == _ALL and not has_all:
            words += ["--features", ",".join(sorted(available - _UNSTABLE))]
        elif word.startswith("--"):
            words.append(word)
        elif names := [name for name in word.split(",") if name in available - _UNSTABLE or "/" in name]:
            words.append(",".join(names))
        else:
            words.pop()
    return tuple(words)


def _call(line: str) -> tuple[str, ...] | None:
    """What a call of cargo says of features; None where it is for another machine or can't be read."""
    if "${{" in line or "--target" in line or "$" in line:
        return None
    try:
        words = shlex.split(line.partition(" -- ")[0], comments=True)
    except ValueError:
        return None
    flags: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, _, value = word.partition("=")
        if word in (_ALL, "--no-default-features"):
            flags.append(word)
        elif name in ("--features", "-F"):
            flags += ["--features", ",".join(filter(None, re.split(r"[\s,]+", value or following)))]
    return tuple(flags)


def _features(call: Collection[str]) -> set[str]:
    return {name for word in call if not word.startswith("--") for name in word.split(",")}


def skeleton(tree: Tree, workspace: str) -> Iterator[tuple[str, bytes]]:
    """What decides which crates are there and how they are compiled: manifests, and an empty file for each target."""
    texts = {path: text_at(tree, path) for path in tree.files() if posixpath.basename(path) == MANIFEST}
    targets = {
        posixpath.normpath(posixpath.join(posixpath.dirname(path), place))
        for path, text in texts.items()
        for name in _QUOTED.findall(text)
        for place in (name, *(form.format(name) for form in _PLACES))
    }
    beside = {posixpath.join(workspace, name) for name in (LOCK, ".cargo/config", ".cargo/config.toml")}
    for path in tree.files():
        if path in texts or path in beside:
            yield path, tree.read(path) or b""
        elif (path in targets and path.endswith(".rs")) or _ROOTS.fullmatch(path):
            yield path, b"" if path.endswith("lib.rs") else b"fn main() {}\n"


def requires_others(before: bytes, after: bytes) -> bool:
    """Whether a Cargo.toml as a fix leaves it names other crates, or other versions of them."""
    return before != after and _required(before) != _required(after)


def _required(data: bytes) -> dict[str, Any]:
    facts = toml(data)
    tables = {name: table for name, table in facts.items() if name == "target" or name.endswith("dependencies")}
    return {**tables, "workspace": facts.get("workspace", {}).get("dependencies")}

"""What a repository's files say of Rust: packages, versions of the toolchain, features of its tests. Pure."""

from __future__ import annotations

import posixpath
import re
import shlex
import tomllib
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from miner.evidence.tree import Tree

MANIFEST, LOCK = "Cargo.toml", "Cargo.lock"
DEBIAN = 85
"""Minor version of Rust 1 that the base's Debian has at least."""
_FIRST, _BETWEEN = date(2015, 5, 15), 42
"""When Rust 1.0 came out, and the days from one minor version to the next (https://doc.rust-lang.org/book/appendix-07-nightly-rust.html)."""
_EDITIONS = {"2018": 31, "2021": 56, "2024": 85}
_LOCKS = {"4": 78}
"""The minor versions that first read an edition, and a form of Cargo.lock."""
_MINOR = re.compile(r"1\.(\d+)")
_CHANNEL = re.compile(r"^\s*(?:channel\s*=\s*\"?)?1\.(\d+)", re.MULTILINE)
_LOCK_VERSION = re.compile(r"^version = (\d+)$", re.MULTILINE)
_WORKFLOWS = re.compile(r"\.github/workflows/[^/]+\.ya?ml|\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml")
_CALLS = re.compile(r"\bcargo (?:\+\S+ )?(?:test|nextest run)\b(.*)")
_GATES = re.compile(
    r"#\[cfg\(([^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*?#\[test\]|#\[test\]\s*(?:#\[[^\]]*\]\s*)*?#\[cfg\(([^\]]*)\)\]|#!\[cfg\(([^\]]*)\)\]"
)
"""What a test, or a whole file, is compiled for."""
_WHOLE = re.compile(r"#!\[cfg\(([^\]]*)\)\]")
_FEATURE = re.compile(r"(?<!not\()feature\s*=\s*\"([^\"]+)\"")
_OFF = re.compile(r"not\(feature\s*=\s*\"([^\"]+)\"")
_ALL = "--all-features"
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
    try:
        return tomllib.loads((tree.read(posixpath.join(folder, MANIFEST)) or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}


def package_of(tree: Tree, path: str) -> str | None:
    """The folder of the package that a file is in; None where it is in none."""
    folder = path
    while folder:
        folder = posixpath.dirname(folder)
        if "package" in manifest(tree, folder):
            return folder
    return None


def packages(tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
    """The packages of some files."""
    return tuple(sorted({package for path in paths if (package := package_of(tree, path)) is not None}))


def workspace_of(tree: Tree, package: str) -> str:
    """The folder of a package's workspace, where its Cargo.lock is."""
    folder = package
    while "workspace" not in manifest(tree, folder):
        if not folder:
            return package
        folder = posixpath.dirname(folder)
    return folder


def oldest(tree: Tree, folders: Iterable[str]) -> int:
    """The oldest minor version of Rust 1 that what these folders hold asks for."""
    minors = [0]
    for folder in folders:
        facts = manifest(tree, folder)
        for table in (facts.get("package", {}), facts.get("workspace", {}).get("package", {})):
            minors += map(int, _MINOR.findall(str(table.get("rust-version", ""))))
            minors.append(_EDITIONS.get(str(table.get("edition")), 0))
        lock = _LOCK_VERSION.search(_text(tree, posixpath.join(folder, LOCK)))
        minors.append(_LOCKS.get(lock[1], 0) if lock else 0)
        for name in ("rust-toolchain", "rust-toolchain.toml"):
            minors += map(int, _CHANNEL.findall(_text(tree, posixpath.join(folder, name))))
    return max(minors)


def minors(installed: Collection[int], least: int, day: date) -> tuple[int, ...]:
    """The minor versions to try: the newest of that day that is there, then the next newer one."""
    usable = sorted(minor for minor in {DEBIAN, *installed} if minor >= least)
    of_day = (day - _FIRST).days // _BETWEEN
    older = [minor for minor in usable if minor <= of_day][-1:]
    return tuple(older + [minor for minor in usable if minor > of_day])[:2]


def options(tree: Tree, tests: Iterable[str]) -> tuple[str, ...]:
    """The features that tests are compiled with: of the call in CI with which most of them are, else of the first.

    What a whole file is gated by is added.
    """
    sources = [_text(tree, path) for path in tests]
    conditions = ["".join(condition) for text in sources for condition in _GATES.findall(text)]
    gates = Counter(name for condition in conditions for name in _FEATURE.findall(condition))
    gates.subtract(name for condition in conditions for name in _OFF.findall(condition))
    whole = {name for text in sources for condition in _WHOLE.findall(text) for name in _FEATURE.findall(condition)}
    texts = (_text(tree, path) for path in sorted(tree.files()) if _WORKFLOWS.fullmatch(path))
    calls = list(
        dict.fromkeys(call for text in texts for line in _CALLS.findall(text) if (call := _call(line)) is not None)
    )
    calls = calls or [()]
    best = max(calls, key=lambda call: sum(gates[name] for name in (gates if _ALL in call else _features(call))))
    missing = () if _ALL in best else sorted(whole - _features(best) - {"default"})
    return (*best, *(("--features", ",".join(missing)) if missing else ()))


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
            flags += ["--features", ",".join(re.split(r"[\s,]+", value or following))]
    return tuple(flags)


def _features(call: Collection[str]) -> set[str]:
    return {name for word in call if not word.startswith("--") for name in word.split(",")}


def skeleton(tree: Tree, workspace: str) -> Iterator[tuple[str, bytes]]:
    """What decides which crates are there and how they are compiled: manifests, and an empty file for each target."""
    texts = {path: _text(tree, path) for path in tree.files() if posixpath.basename(path) == MANIFEST}
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


def _text(tree: Tree, path: str) -> str:
    return (tree.read(path) or b"").decode("utf-8", "replace")

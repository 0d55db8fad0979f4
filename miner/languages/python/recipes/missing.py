"""What a failed build or collection says is missing, and which package has it. Pure; see docs/images.md."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from miner.languages.python.recipes.distributions import PACKAGE_NAMES

_HEADERS = PACKAGE_NAMES["headers"]
"""Debian's package by the beginning of a header's name as C says it."""

RUST = "cargo-web|cargo"
"""Debian's package with Rust: of a stable Debian the one that is kept new for browsers, where there is one."""
_NAMES = {
    "program": PACKAGE_NAMES["programs"] | dict.fromkeys(("cargo", "rustc"), RUST),
    "library": PACKAGE_NAMES["libraries"],
    "linked": PACKAGE_NAMES["linked"],
    "pkg-config": PACKAGE_NAMES["pkg-config"],
    "cargo": {"": RUST},
    "magic": {"": "libmagic1"},
}
"""Debian's packages by the kind and the name of what is missing: of a shared library without `lib` and `.so`, of what
is linked what the linker was asked for with `-l`."""

_SAID = (
    (re.compile(r"([\w./+-]+\.(?:h|hpp|hh)): No such file or directory"), "header"),
    (re.compile(r"fatal error: ['<\"]([\w./+-]+\.(?:h|hpp))['>\"] file not found"), "header"),
    (re.compile(r"cannot find -l([\w.+-]+)"), "linked"),
    (re.compile(r"lib([\w.+-]+?)\.so[\w.]*: cannot open shared object file"), "library"),
    (re.compile(r"(?:find|load|no) (?:the )?lib(?:rary)?[ :'\"]+lib([\w.+-]+?)(?:\.so|['\" ])"), "library"),
    (re.compile(r"([\w.+-]+-?_?config)(?: executable)? not found"), "program"),
    (re.compile(r"(?:[Cc]ould not|[Cc]annot|[Cc]an't|[Uu]nable to) find (?:the )?([\w.+-]+[-_]config)"), "program"),
    (re.compile(r"(?:/bin/)?(?:ba)?sh:(?: line)? \d+: ([\w.+-]+): (?:command )?not found"), "program"),
    (re.compile(r"No such file or directory: '([\w.+-]+)'"), "program"),
    (re.compile(r"(?:unable to execute|error: command) '([\w.+-]+)'"), "program"),
    (re.compile(r"(?:Unknown compiler|Did not find|Could not find).{0,40}?\b(gfortran|cmake|ninja|swig)"), "program"),
    (re.compile(r"(pg_config|mysql_config|g(?:dal|eos)-config) (?:executable )?(?:is )?(?:required|no)"), "program"),
    (re.compile(r"can't find Rust compiler|requires Rust|is `?cargo`? (?:in|on) your PATH"), "cargo"),
    (re.compile(r"failed to find libmagic"), "magic"),
    (re.compile(r"No package '([\w.+-]+)' found|Package ([\w.+-]+) was not found in the pkg-config"), "pkg-config"),
)  # fmt: skip
_LONGEST = 200_000
_LONGEST_LINE = 400
"""Of a longer line only the beginning is read: the patterns take time by the square of it."""


def packages(text: str) -> tuple[str, ...]:
    """The Debian packages that would have what a build or test run says it lacks; only what the tables know."""
    packages_found: list[str] = []
    for line in text[-_LONGEST:].splitlines():
        for pattern, kind in _SAID:
            match = pattern.search(line[:_LONGEST_LINE])
            if match:
                name = next(filter(None, match.groups()), "")
                packages_found.append(_by_prefix(name) if kind == "header" else _NAMES[kind].get(name, ""))
    return tuple(dict.fromkeys(package for package in packages_found if package))


def _by_prefix(header: str) -> str:
    starts = [start for start in _HEADERS if header.startswith(start) or header.endswith(f"/{start}")]
    return _HEADERS[max(starts, key=len)] if starts else ""


_VANISHED = re.compile(
    r"there (?:is|are) no versions? of ([A-Za-z0-9][\w.-]*)"
    r"|[Bb]ecause only ([A-Za-z0-9][\w.-]*?)(?:\[[^]]*\])?[<>=!~]\S* (?:is|are) available"
)
_NOT_FOUND = re.compile(r"[Bb]ecause ([A-Za-z0-9][\w.-]*) was not found in the package registry")


def vanished(text: str) -> tuple[str, ...]:
    """The names of distributions that a resolver says are gone, or lack the version that is asked for."""
    plain = " ".join(text[-_LONGEST:].split())
    files = [match[1] or match[2] for match in _VANISHED.finditer(plain)] + [
        match[1] for match in _NOT_FOUND.finditer(plain)
    ]
    return tuple(dict.fromkeys(name.rstrip(".").lower().replace("_", "-") for name in files))


_YOUNGER = re.compile(
    r"there (?:are no versions|is no version) of ([A-Za-z0-9][\w.-]*?)(?:==\S+)? .*?"
    r"`\1` was filtered by `exclude-newer` .*? published at (\d{4}-\d\d-\d\d)T"
)


def younger(text: str) -> tuple[tuple[str, str], ...]:
    """Distributions of which a resolver says that all files are younger than it may take: uploaded again, most likely.

    The same of a single version that is asked for. With each comes the day of the file that would do (ISO 8601).
    """
    plain = " ".join(text[-_LONGEST:].split())
    return tuple((match[1].lower().replace("_", "-"), match[2]) for match in _YOUNGER.finditer(plain))


_UNBUILT = re.compile(r"Failed to build `([A-Za-z0-9][\w.-]*)==")


def unbuilt(text: str) -> tuple[str, ...]:
    """The distributions of the index that could not be built, normalised."""
    return tuple(dict.fromkeys(map(distribution, _UNBUILT.findall(text))))


_REPOSITORY = re.compile(r"`([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])? @ (?:│ )?git\+[^`]*`.{0,80}?Git operation failed")


def repositories(text: str) -> tuple[str, ...]:
    """The names of distributions whose git repository a resolver could not fetch."""
    return tuple(dict.fromkeys(_REPOSITORY.findall(" ".join(text[-_LONGEST:].split()))))


_UNDECLARED = re.compile(
    r"likely indicates that `([A-Za-z0-9][\w.-]*)(?:@[^`]*)?` depends on `([A-Za-z_]\w*)[^`]*`, but doesn't"
)


_UNFETCHED = re.compile(
    r"Failed to build `([A-Za-z0-9][\w.-]*)==(?:(?!Failed to build).)*?"
    r"Could not find suitable distribution for Requirement\.parse\('([A-Za-z0-9][\w.-]*)"
)
"""What setup_requires names, where setuptools can't fetch it by itself."""
_SETUP_LACKS = re.compile(
    r"Call to `setuptools[^`]*` failed.*File \"setup\.py\", line.*(?:No module named '([A-Za-z_]\w*)"
    r"|\b(?i:(cython|numpy|cffi|pybind11) (?:\S+ ){0,2}(?:required|needed|missing|installed|found)"
    r"|(?:requires?|needs?|install|without|missing) (cython|numpy|cffi|pybind11))\b)",
    re.DOTALL,
)
"""What a project's setup.py fails to import, or asks for in words of its own."""


def undeclared(text: str) -> tuple[tuple[str, str], ...]:
    """Distributions that could not be built, each with the top-level module that their build lacked.

    The project itself has no name here.
    """
    plain = " ".join(text[-_LONGEST:].split())
    matches = [
        (name, module)
        for name, module in (*_UNDECLARED.findall(plain), *_UNFETCHED.findall(plain))
        # to be built with what itself needs this: a circle, in which uv would wait for ever
        if not re.search(rf"`{re.escape(module)}` \(v[^)]*\) depends on `{re.escape(name)}`", plain)
    ]
    if not matches and "Failed to build" not in text and (match := _SETUP_LACKS.search(text[-_LONGEST:])):
        matches = [("", "".join(filter(None, match.groups())))]
    return tuple((name.lower().replace("_", "-"), module) for name, module in matches)


def without(requirements: Iterable[str], names: Collection[str]) -> tuple[str, ...]:
    """Requirements less those on distributions of these (normalised) names."""
    return tuple(requirement for requirement in requirements if distribution(requirement) not in names)


def distribution(requirement: str) -> str:
    """The normalised name in a requirement."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""

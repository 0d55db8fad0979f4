"""tox: what the environment of the tests installs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence import factors
from miner.languages.python.evidence.metadata import ini, lines, pyproject, requirement, strings, table

if TYPE_CHECKING:
    from configparser import RawConfigParser


_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,60}")
_OF_TOOLS = re.compile(
    r"(?:PIP|UV|TOX|COV|COVERAGE|CODECOV|CI|GITHUB|TRAVIS|PYTHON|PYTEST|LD|VIRTUAL|POETRY|GOLDSEAM|SETUPTOOLS|PRE_COMMIT)"
    r"(?:_|[A-Z]*$)|(?:PATH|HOME|USER|TMPDIR|TZ|LANG|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS)$"
)
"""What a run of a task sets itself, or what is about installing, measuring and reporting."""
_LONGEST_VALUE = 200
_REFERENCE = re.compile(r"\{\[([^\]{}]+)\](\w+)\}")
_MOST_REFERENCES = 20
"""In one value."""
_LONGEST_LIST = 1 << 14
_OPTION = re.compile(r"(-r|--requirement|-c|--constraint)[=\s]*(.+)$")


def parsed(tree: Tree) -> Iterator[tuple[str, RawConfigParser]]:
    """What may hold tox's settings in its own form, with the file it stands in, in tox's order."""
    legacy = table(pyproject(tree), "tool", "tox").get("legacy_tox_ini")
    yield "tox.ini", _read(tree.read("tox.ini"))
    yield "pyproject.toml", _read(legacy.encode() if isinstance(legacy, str) else None)
    yield "setup.cfg", _read(tree.read("setup.cfg"))


def _read(text: bytes | None) -> RawConfigParser:
    """A file of settings with the values that others refer to (`{[base]deps}`) in their place."""
    parser = ini(text)
    for section in parser.sections():
        for key, value in parser.items(section):
            if value and _REFERENCE.search(value):
                parser.set(section, key, _filled(parser, value))
    return parser


def _filled(parser: RawConfigParser, value: str) -> str:
    for _ in range(_MOST_REFERENCES):
        match = _REFERENCE.search(value)
        if match is None or len(value) > _LONGEST_LIST:
            break
        value = value.replace(match[0], parser.get(match[1], match[2], fallback="") or "")
    return value


def _environment(tree: Tree) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """`deps`, `extras` and `dependency_groups` of the default test environment, from whichever file holds it.

    Groups add to each other, so those of every factor are taken: which one a change's tests belong to is not known.
    """
    native = table(pyproject(tree), "tool", "tox", "env_run_base")
    if native:
        return tuple(strings(native.get(key)) for key in ("deps", "extras", "dependency_groups"))  # type: ignore[return-value]
    for _, parser in parsed(tree):
        if parser.has_section("testenv"):
            deps, extras, groups = (
                lines(parser.get("testenv", key, fallback="")) for key in ("deps", "extras", "dependency_groups")
            )
            deps, extras = ((*part, *factors.active(part, _chosen(parser))) for part in (deps, extras))
            groups = (*groups, *factors.active(groups, factors.released(_listed(parser))))
            split = tuple(part.strip() for line in extras for part in line.split(",") if part.strip())
            return deps, split, groups
    return (), (), ()


def _chosen(parser: RawConfigParser) -> frozenset[str]:
    """The factors of the environment of the matrix whose tests say most."""
    installed = (line for key in ("deps", "extras") for line in lines(parser.get("testenv", key, fallback="")))
    return factors.chosen(_listed(parser), installed)


def _listed(parser: RawConfigParser) -> str:
    """The environments of the matrix, as they are written."""
    return "\n".join(parser.get("tox", key, fallback="") for key in ("envlist", "env_list"))


def variables(tree: Tree) -> dict[str, str]:
    """The literal variables that tox sets for tests, in the environment of its matrix that `detect` takes.

    None concerns the interpreter or a tool of the build.
    """
    native = table(pyproject(tree), "tool", "tox", "env_run_base", "set_env")
    by_name = {name: value for name, value in native.items() if isinstance(value, str)}
    for _, parser in parsed(tree):
        if not by_name and parser.has_section("testenv"):
            written = lines("\n".join(parser.get("testenv", key, fallback="") for key in ("setenv", "set_env")))
            pairs = (
                line.split("=", 1) for line in (*written, *factors.active(written, _chosen(parser))) if "=" in line
            )
            by_name = {name.strip(): value.strip() for name, value in pairs}
    return {
        name: value
        for name, value in by_name.items()
        if _VARIABLE.fullmatch(name)
        and not _OF_TOOLS.match(name)
        and "{" not in value
        and "\n" not in value
        and len(value) <= _LONGEST_VALUE
    }


def read_lines(deps: Iterable[str], tree: Tree) -> Evidence:
    """Read `deps` lines; those bound to a factor (`py27: mock`) or unusable outside tox are left out."""
    requirements: list[str] = []
    files: dict[str, list[str]] = {"-r": [], "-c": []}
    for line in deps:
        text = line.replace("{toxinidir}/", "").replace("{tox_root}/", "")
        option = _OPTION.match(text)
        if option:
            path = option[2].strip().removeprefix("./")
            if tree.read(path) is not None:
                files["-c" if option[1] in {"-c", "--constraint"} else "-r"].append(path)
        elif not factors.CONDITION.match(text) and "{" not in text and requirement(text):
            requirements.append(text)
    return Evidence(
        rung="tox", requirements=tuple(requirements), files=tuple(files["-r"]), constraints=tuple(files["-c"])
    )


def _of_project(deps: Iterable[str]) -> Iterator[str]:
    """The extras of the project itself that `deps` lines ask for: `.[test]`, `-e {toxinidir}[test]`."""
    for line in deps:
        if match := _WITH_EXTRAS.match(line):
            yield from (extra.strip() for extra in match[1].split(","))


_WITH_EXTRAS = re.compile(r"(?:-e\s*|--editable[= ]\s*)?(?:\.|\{toxinidir\}|\{tox_root\})/?\[([^\]]+)\]$")


def detect(tree: Tree) -> Evidence | None:
    """What `[testenv]` installs in the environment that is taken of its matrix, extras and groups included."""
    deps, extras, groups = _environment(tree)
    read = read_lines(deps, tree)
    group_names = tuple(table(pyproject(tree), "dependency-groups"))
    evidence = Evidence(
        rung="tox",
        requirements=read.requirements,
        files=read.files,
        constraints=read.constraints,
        extras=tuple(extra for extra in (*extras, *_of_project(deps)) if "{" not in extra and ":" not in extra),
        groups=tuple(group for group in groups if group in group_names),
    )
    return evidence if evidence != Evidence(rung="tox", constraints=read.constraints) else None

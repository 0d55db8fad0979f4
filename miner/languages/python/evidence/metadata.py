"""What a project says of itself in pyproject.toml, setup.cfg and setup.py, read without running anything of it."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from harness.core import python_source
from miner.evidence.tree import Tree, toml
from miner.languages.python.recipes.interpreter import RELEASED, allows

_CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)$")


@dataclass(frozen=True)
class ReadAlone:
    """A tree of files that can be read by their names alone."""

    read: Callable[[str], bytes | None]

    def files(self) -> tuple[str, ...]:
        """None: nobody lists them."""
        return ()


def pyproject(tree: Tree, path: str = "pyproject.toml") -> dict[str, Any]:
    """pyproject.toml, or another such file, as a document; empty where it is missing or broken."""
    return toml(tree.read(path))


def table(document: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A nested table of a document; empty where any step is missing or something else."""
    part: Any = document
    for key in keys:
        part = part.get(key) if isinstance(part, dict) else None
    return part if isinstance(part, dict) else {}


def strings(value: object) -> tuple[str, ...]:
    """The strings of a list; nothing else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _first_text(*values: object) -> str | None:
    """The first of some values that is a text and says something."""
    return next((value for value in values if isinstance(value, str) and value), None)


def requirement(text: str) -> tuple[str, ...]:
    """A text as a PEP 508 requirement, as `packaging` writes it; nothing where it is none."""
    try:
        return (str(Requirement(text)),)
    except InvalidRequirement:
        return ()


def requirements_in(value: object) -> tuple[str, ...]:
    """The strings of a list that are requirements, as they are written."""
    return tuple(filter(requirement, strings(value)))


def ini(data: bytes | None) -> configparser.RawConfigParser:
    """An ini file; empty where it is missing or broken."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string((data or b"").decode("utf-8-sig", "replace"))
    except configparser.Error:
        parser = configparser.RawConfigParser(strict=False)
    return parser


def lines(text: str) -> tuple[str, ...]:
    """The non-empty lines of a multi-line ini value, comments dropped."""
    stripped = (re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip() for line in text.splitlines())
    return tuple(line for line in stripped if line)


@dataclass(frozen=True, kw_only=True)
class SetupCall:
    """The literal parts of a `setup(…)` call."""

    name: str | None = None
    python_requires: str | None = None
    classifiers: tuple[str, ...] = ()
    licence: str | None = None
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tests_require: tuple[str, ...] = ()
    install_requires: tuple[str, ...] = ()


def setup_call(tree: Tree) -> SetupCall:
    """The literal arguments of setup.py's `setup()`; none without a setup.py that parses as Python 3."""
    if (module := python_source.parsed(tree.read("setup.py"))) is None:
        return SetupCall()
    assigned = [(target, node.value) for node in module.body if isinstance(node, ast.Assign) for target in node.targets]
    names = {target.id: value for target, value in assigned if isinstance(target, ast.Name)}
    items = [
        (ast.unparse(target.value), target.slice, value)
        for target, value in assigned
        if isinstance(target, ast.Subscript)
    ]
    for name, key, value in items:  # kwargs["install_requires"] = …
        if isinstance(keywords := names.get(name), ast.Dict):
            names[name] = ast.Dict(keys=[*keywords.keys, key], values=[*keywords.values, value])
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"setup", "setuptools.setup"}:
            return _arguments(node, names)
    return SetupCall()


def _arguments(call: ast.Call, names: Mapping[str, ast.expr]) -> SetupCall:
    fields = {word.arg: _literal(word.value, names) for word in call.keywords if word.arg}
    for word in call.keywords:
        if word.arg is None and isinstance(keywords := _literal(word.value, names), dict):  # setup(**kwargs)
            fields = {**keywords, **fields}
    extras = fields.get("extras_require")
    return SetupCall(
        name=_first_text(fields.get("name")),
        python_requires=_first_text(fields.get("python_requires")),
        classifiers=strings(fields.get("classifiers")),
        licence=_first_text(fields.get("license")),
        extras={str(key): strings(value) for key, value in extras.items()} if isinstance(extras, dict) else {},
        tests_require=strings(fields.get("tests_require")),
        install_requires=strings(fields.get("install_requires")),
    )


def _literal(node: ast.expr, names: Mapping[str, ast.expr]) -> object:
    """A literal, a name assigned to one, or a dict or list of which some is known; else None."""
    if isinstance(node, ast.Name) and node.id in names:
        return _literal(names[node.id], {name: value for name, value in names.items() if name != node.id})
    if isinstance(node, ast.List | ast.Tuple):
        return [literal for part in node.elts if (literal := _literal(part, names)) is not None]
    if isinstance(node, ast.Dict):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        return {key: _literal(value, names) for key, value in zip(keys, node.values, strict=False)}
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return value


def project_file(tree: Tree) -> str | None:
    """The file by which the project can be installed; None where there is none."""
    document = pyproject(tree)
    described = table(document, "tool", "poetry") or table(document, "tool", "flit", "metadata")
    has_metadata = ini(tree.read("setup.cfg")).has_section("metadata")
    older = "setup.py" if tree.read("setup.py") is not None else "setup.cfg" if has_metadata else None
    backend = str(table(document, "build-system").get("build-backend", "setuptools"))
    needs_older = backend.startswith("setuptools")  # which would make a package of every folder
    is_built = "build-system" in document and (older or not needs_older)
    return "pyproject.toml" if "project" in document or described or is_built else older


def name(tree: Tree) -> str | None:
    """The distribution's name, where it is written down."""
    document = pyproject(tree)
    return _first_text(
        table(document, "project").get("name"),
        table(document, "tool", "poetry").get("name"),
        table(document, "tool", "flit", "metadata").get("module"),
        ini(tree.read("setup.cfg")).get("metadata", "name", fallback=None),
        setup_call(tree).name,
    )


def requires_python(tree: Tree) -> str | None:
    """The Python versions the project says it runs on, as a version specifier."""
    document = pyproject(tree)
    poetry = table(document, "tool", "poetry", "dependencies").get("python")
    return _first_text(
        table(document, "project").get("requires-python"),
        _widest(poetry) if isinstance(poetry, str) else None,
        table(document, "tool", "flit", "metadata").get("requires-python"),
        ini(tree.read("setup.cfg")).get("options", "python_requires", fallback=None),
        setup_call(tree).python_requires,
    )


def _widest(constraint: str) -> str:
    """Of alternatives (`~2.7 || ^3.6`) the one that allows the most interpreters that there are."""
    ways = [caret_to_specifier(part.strip()) for part in re.split(r"\|\|?", constraint)]
    return max(ways, key=lambda way: sum(allows(way, minor) for minor in RELEASED))


def classifiers(tree: Tree) -> tuple[str, ...]:
    """The minor versions of Python 3 that the trove classifiers name."""
    matches = (_CLASSIFIER.match(classifier.strip()) for classifier in trove(tree))
    return tuple(dict.fromkeys(match[1] for match in matches if match))


def trove(tree: Tree) -> tuple[str, ...]:
    """The trove classifiers, wherever they are written down."""
    document = pyproject(tree)
    return (
        *strings(table(document, "project").get("classifiers")),
        *strings(table(document, "tool", "poetry").get("classifiers")),
        *strings(table(document, "tool", "flit", "metadata").get("classifiers")),
        *lines(ini(tree.read("setup.cfg")).get("metadata", "classifiers", fallback="")),
        *lines(ini(tree.read("setup.cfg")).get("metadata", "classifier", fallback="")),
        *setup_call(tree).classifiers,
    )


def licence(tree: Tree) -> str | None:
    """What the project's metadata says of its licence, in whatever words."""
    document = pyproject(tree)
    return _first_text(
        table(document, "project").get("license"),
        table(document, "project", "license").get("text"),
        table(document, "tool", "poetry").get("license"),
        ini(tree.read("setup.cfg")).get("metadata", "license", fallback=None),
        setup_call(tree).licence,
    )


_PART = re.compile(r"(\^|~(?!=))\s*v?(\d+(?:\.\d+)*)(.*)$")


def caret_to_specifier(constraint: str) -> str:
    """A Poetry constraint as a PEP 440 specifier, by Poetry's documentation on `^`, `~`, `*` and bare versions.

    Alternatives (`||`) become the range from the first one's lower bound: a specifier knows no "or".
    """
    first = re.sub(r"(?<=[<>=!~^])\s+", "", re.split(r"\|\|?", constraint)[0])
    return ",".join(filter(None, (_specifier(part) for part in re.split(r"[,\s]+", first))))


def _specifier(part: str) -> str:
    if part in {"", "*"}:
        return ""
    match = _PART.match(part)
    if match:
        numbers = [int(number) for number in match[2].split(".")]
        return f">={match[2]}{match[3]},<{_upper(match[1], numbers)}"
    if re.match(r"\d+(\.\d+)*\.\*$", part):
        return f"=={part}"
    return f"=={part}" if part[0].isdigit() else part


def _upper(sign: str, numbers: list[int]) -> str:
    """The version that a caret or tilde constraint stays below."""
    if sign == "~":
        digits = min(len(numbers), 2)
    else:
        digits = next((place + 1 for place, number in enumerate(numbers) if number), len(numbers))
    return ".".join(str(number) for number in (*numbers[: digits - 1], numbers[digits - 1] + 1))

"""Runs inside the tools image, and in tests: what a repository's eslint configuration says, without running any of it.

Only the standard library, and PyYAML where the configuration is YAML.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

CODE = (
    *("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", "eslint.config.mts"),
    *("eslint.config.cts", ".eslintrc.js", ".eslintrc.cjs"),
)
"""Configurations that are programs. eslint prefers them to the others, in this order."""
DECLARED = (".eslintrc.yaml", ".eslintrc.yml", ".eslintrc.json", ".eslintrc", "package.json")
NAMES = (*CODE, *DECLARED)
SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx")
"""Files that eslint is asked about."""
_KNOWN_EXTENDS = ("eslint:recommended", "eslint:all")
_UNDERSTOOD = {"root", "extends", "env", "globals", "rules", "parserOptions", "overrides", "files", "excludedFiles"}
_HARMLESS = {"$schema", "parser", "plugins", "noInlineConfig", "reportUnusedDisableDirectives"}
_MOST_NOTES = 20
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


@dataclass
class Plan:
    """The rules that eslint holds a file to."""

    kind: str
    """`repository` where the configuration is declared, `recommended` where it is code; empty where there is none."""
    layers: list[dict[str, Any]] = field(default_factory=list)
    """One after the other, later ones win."""
    notes: list[str] = field(default_factory=list)
    """Parts of the configuration that are not followed."""
    parser: bool = False
    """The repository names a parser of its own, so that a file that we can't parse may be right."""


def candidates(paths: list[str]) -> list[str]:
    """Where configurations of these files may lie, the innermost folders first."""
    folders = {folder for path in paths for folder in _folders(path)}
    return [
        posixpath.join(folder, name) for folder in sorted(folders, key=lambda folder: -len(folder)) for name in NAMES
    ]


def plan(path: str, configs: dict[str, bytes]) -> Plan:
    """The rules for a file: the declared configurations from its folder up to one that says `root`, merged.

    Raises:
        ValueError: a configuration is broken; it is named.

    """
    merged = Plan(kind="")
    for folder in _folders(path):
        name = next((name for name in NAMES if _counts(posixpath.join(folder, name), configs)), None)
        if name is None:
            continue
        where = posixpath.join(folder, name)
        if name in CODE:
            note = f"{where} is code, which is not run: the rules are those of eslint:recommended but no-undef"
            layers = [{"extends": [_KNOWN_EXTENDS[0]], "rules": {"no-undef": "off"}}]
            return Plan(kind="recommended", layers=layers, notes=[note], parser=True)
        declared = read(where, configs[where])
        layers = _layers(declared, folder, merged, where)
        merged = Plan(kind="repository", layers=[*layers, *merged.layers], notes=merged.notes, parser=merged.parser)
        if declared.get("root") is True:
            break
    merged.notes = list(dict.fromkeys(merged.notes))[:_MOST_NOTES]
    return merged


def _folders(path: str) -> list[str]:
    """The folder of a file and all above it; the root is empty."""
    folders = []
    folder = posixpath.dirname(path)
    while folder:
        folders.append(folder)
        folder = posixpath.dirname(folder)
    return [*folders, ""]


def _counts(where: str, configs: dict[str, bytes]) -> bool:
    if where not in configs:
        return False
    if posixpath.basename(where) != "package.json":
        return True
    try:
        return bool(read(where, configs[where]))
    except ValueError:
        return False


def read(where: str, data: bytes) -> dict[str, Any]:
    """A declared configuration; of package.json its `eslintConfig`.

    Raises:
        ValueError: it is broken.

    """
    name = posixpath.basename(where)
    try:
        text = data.decode("utf-8-sig")
        if name.endswith(".json"):
            config = json.loads(_STRING_OR_COMMENT.sub(lambda hit: hit[0] if hit[0][0] == '"' else " ", text))
        else:
            config = import_module("yaml").safe_load(text)  # JSON is YAML, so this is right for .eslintrc, too
    except Exception as error:
        raise ValueError(f"{where} can't be read: {type(error).__name__}") from error
    if name == "package.json":
        config = config.get("eslintConfig", {}) if isinstance(config, dict) else {}
    if not isinstance(config, dict):
        raise ValueError(f"{where} can't be read: it is no object")  # noqa: TRY004 - as for any other broken one
    return config


def _layers(declared: dict[str, Any], folder: str, into: Plan, where: str) -> list[dict[str, Any]]:
    """A configuration and its overrides, as eslint's runner takes them; what is left out is noted."""
    own: dict[str, Any] = {"extends": [name for name in _listed(declared.get("extends")) if name in _KNOWN_EXTENDS]}
    into.parser = into.parser or bool(declared.get("parser"))
    into.notes += [f"{where}: {ignored} is left out" for ignored in _ignored(declared)]
    for key in ("rules", "globals", "parserOptions"):
        if isinstance(declared.get(key), dict):
            own[key] = declared[key]
    if isinstance(declared.get("env"), dict):
        own["env"] = [str(name) for name, on in declared["env"].items() if on is True]
    for key, target in (("files", "files"), ("excludedFiles", "ignores")):
        if key in declared:
            own[target] = [_pattern(pattern, folder) for pattern in _listed(declared[key])]
    layers = [own]
    for override in declared.get("overrides") or []:
        if isinstance(override, dict):
            layers += _layers(override, folder, into, where)
    return layers


def _ignored(declared: dict[str, Any]) -> list[str]:
    """Parts of a configuration that are not followed."""
    ignored = [f"extends {name}" for name in _listed(declared.get("extends")) if name not in _KNOWN_EXTENDS]
    ignored += [f"plugin {plugin}" for plugin in _listed(declared.get("plugins"))]
    ignored += [f"parser {declared['parser']}"] if declared.get("parser") else []
    return ignored + sorted(set(map(str, declared)) - _UNDERSTOOD - _HARMLESS)


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(item) for item in value] if isinstance(value, list) else []


def _pattern(pattern: str, folder: str) -> str:
    """A pattern from the root of the repository; one without a slash holds in every folder below."""
    pattern = pattern.removeprefix("./")
    return posixpath.join(folder, pattern if "/" in pattern else f"**/{pattern}")

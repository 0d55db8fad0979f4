"""How a repository runs its tests: the options of its own pytest settings that change what a test means."""

from __future__ import annotations

import configparser
import tomllib
from typing import TYPE_CHECKING

from harness.frameworks import pytest
from miner.environment import django

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from miner.environment import Tree

_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
"""pytest reads the first of these that has its section; pyproject.toml comes after pytest.ini.

Source: https://docs.pytest.org/en/stable/reference/customize.html#configuration-file-formats
"""


def pytest_options(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The options to keep of the `addopts` that pytest would read; `read` gives a file of the repository or None."""
    return pytest.kept_options(_addopts(read))


def options_of(tree: Tree) -> tuple[str, ...]:
    """Every option for the tests of a tree, as if all their plugins were there; `usable` says which can be given.

    To the options that are kept comes, for a Django project, the settings that its own runner would use.
    """
    options = pytest_options(tree.read)
    module = None if _names(options, "--ds") else django.settings_module(tree.read, tree.files())
    return (*options, f"--ds={module}") if module else options


def usable(options: Sequence[str], plugins: Collection[str]) -> tuple[str, ...]:
    """The options less those of plugins that are not there, which pytest would refuse."""
    kept: list[str] = []
    dropping = False
    for option in options:
        plugin = _PLUGINS.get(option.partition("=")[0])
        value_of_dropped = dropping and not option.startswith("-")
        dropping = plugin is not None and plugin not in plugins and "=" not in option
        if not value_of_dropped and (plugin is None or plugin in plugins):
            kept.append(option)
    return tuple(kept)


_PLUGINS = {
    "--ds": "django",
    "--dc": "django",
    "--reuse-db": "django",
    "--asyncio-mode": "asyncio",
    "--timeout": "timeout",
}
"""The plugin that an option belongs to, by its entry point."""


def _names(options: Sequence[str], wanted: str) -> bool:
    return any(option.partition("=")[0] == wanted for option in options)


def _addopts(read: Callable[[str], bytes | None]) -> str:
    for name, section in _INI_FILES[:2]:
        if (found := _from_ini(read(name), section)) is not None:
            return found
    if (found := _from_pyproject(read("pyproject.toml"))) is not None:
        return found
    for name, section in _INI_FILES[2:]:
        if (found := _from_ini(read(name), section)) is not None:
            return found
    return ""


def _from_ini(data: bytes | None, section: str) -> str | None:
    if data is None:
        return None
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(data.decode("utf-8", "replace"))
    except configparser.Error:
        return None
    if not parser.has_section(section):
        return None
    return " ".join(parser.get(section, "addopts", fallback="").split())


def _from_pyproject(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        table = tomllib.loads(data.decode("utf-8", "replace")).get("tool", {}).get("pytest", {}).get("ini_options")
    except (tomllib.TOMLDecodeError, AttributeError):
        return None
    if not isinstance(table, dict):
        return None
    addopts = table.get("addopts", "")
    return " ".join(addopts) if isinstance(addopts, list) else str(addopts)

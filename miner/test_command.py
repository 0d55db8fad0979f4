"""How a repository runs its tests: the options of its own pytest settings that change what a test means."""

from __future__ import annotations

import configparser
import tomllib
from typing import TYPE_CHECKING

from harness.frameworks import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_INI_FILES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
"""pytest reads the first of these that has its section; pyproject.toml comes after pytest.ini.

Source: https://docs.pytest.org/en/stable/reference/customize.html#configuration-file-formats
"""


def pytest_options(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The options to keep of the `addopts` that pytest would read; `read` gives a file of the repository or None."""
    return pytest.kept_options(_addopts(read))


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

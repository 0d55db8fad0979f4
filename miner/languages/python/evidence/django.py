"""Django projects: their tests run under pytest with pytest-django, once it knows the settings. Pure.

Django's own runner prints results for people; with pytest-django the same test cases are reported one by one, and the
database is set up by Django's own code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from harness.core import python_source
from miner.evidence.tree import Evidence, Tree
from miner.languages.python.evidence.metadata import ReadAlone, ini, pyproject, table

VARIABLE = "DJANGO_SETTINGS_MODULE"
_RUNNERS = tuple(
    f"{folder}{name}"
    for folder in ("", "tests/", "src/", "test_project/", "testproject/", "example/")
    for name in ("manage.py", "runtests.py", "run_tests.py", "quicktest.py")
)
_SECTIONS = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")
_IN_COMMAND = re.compile(rf"(?:--settings[ =]|--ds[ =]|{VARIABLE}\s*[=:]\s*)[\"']?([A-Za-z_][\w.]*)")


def detect(tree: Tree) -> Evidence | None:
    """pytest-django, where the repository is a Django project or an application with settings for its tests.

    It ends every run where Django itself is missing, as it is if only one group of tests needs it.
    """
    return (
        Evidence(rung="django", requirements=("pytest-django", "django"))
        if settings_module(tree.read, tree.files())
        else None
    )


def settings_module(read: Callable[[str], bytes | None], files: tuple[str, ...]) -> str | None:
    """The settings that the tests run with, as a module that is there; None where none is named."""
    paths = set(files)
    for module, folder in _candidates(read):
        if _MODULE.match(module) and any(
            f"{prefix}{module.replace('.', '/')}{end}" in paths
            for prefix in dict.fromkeys((folder, "", "src/", "tests/"))
            for end in (".py", "/__init__.py")
        ):
            return module
    return None


def _candidates(read: Callable[[str], bytes | None]) -> Iterator[tuple[str, str]]:
    """Candidates, and the folder of the file that names each."""
    for file, section in _SECTIONS:
        yield ini(read(file)).get(section, VARIABLE.lower(), fallback=""), ""
    options = table(pyproject(ReadAlone(read)), "tool", "pytest", "ini_options")
    yield str(options.get(VARIABLE, "")), ""
    for path in _RUNNERS:
        data = read(path)
        if data is not None:
            folder = path.rpartition("/")[0]
            for module in _assigned(data):
                yield module, f"{folder}/" if folder else ""
    for path in ("tox.ini", "Makefile", ".travis.yml", "setup.cfg", "pyproject.toml"):
        for match in _IN_COMMAND.finditer((read(path) or b"")[:100_000].decode("utf-8", "replace")):
            yield match[1], ""


def _assigned(source: bytes) -> Iterator[str]:
    """What a program sets DJANGO_SETTINGS_MODULE to."""
    if (module := python_source.parsed(source)) is None:
        return
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and len(node.args) == 2:  # noqa: PLR2004 - os.environ.setdefault(name, value)
            pair: list[ast.expr] = node.args
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            pair = [node.targets[0].slice, node.value]
        else:
            continue
        values = [element.value if isinstance(element, ast.Constant) else None for element in pair]
        if values[0] == VARIABLE and isinstance(values[1], str):
            yield values[1]

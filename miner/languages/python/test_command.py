"""How a repository's tests are called: the framework, and of the repository's own options those that change a test."""

from __future__ import annotations

import itertools
import posixpath
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.languages.python import pytest
from harness.languages.python.frameworks import (
    DJANGO,
    NOSE,
    PROGRAM,
    PYTEST,
    UNITTEST,
    folder_of,
    framework,
    program_of,
)
from miner.evidence.tree import Remembered, Tree, toml
from miner.languages.base import TestCommand
from miner.languages.python import declared_test_commands, test_sources
from miner.languages.python.evidence import django, subproject
from miner.languages.python.evidence.metadata import ReadAlone, ini, table

if TYPE_CHECKING:
    from miner.languages.python.declared_test_commands import DeclaredCommand

_OLD_SECTION = "pytest"
"""In setup.cfg, what pytest read before 4.0, and refuses since."""
_FILES = (
    ("pytest.toml", ("pytest",)),
    (".pytest.toml", ("pytest",)),
    ("pytest.ini", ("pytest",)),
    (".pytest.ini", ("pytest",)),
    ("pyproject.toml", ("tool.pytest.ini_options", "tool.pytest")),
    ("tox.ini", ("pytest",)),
    ("setup.cfg", ("tool:pytest", _OLD_SECTION)),
)
"""Where pytest looks for its settings: the first of these files that has the section or table is the one it reads.

Source: https://docs.pytest.org/en/stable/reference/customize.html#configuration-file-formats
"""


def _runner(command: TestCommand) -> str:
    """The runner, for a person."""
    if not framework(command.framework).suites:
        return "pytest"
    options = command.options
    words = options[options.index(PROGRAM) + 1 :] if PROGRAM in options else ("-m", "unittest")
    return " ".join(("python", *words))


def test_commands(tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
    """The ways to call the tests of a tree, the likeliest first; pytest is always among them.

    Where the repository never speaks of pytest and runs unittest's or Django's suites, these come first, unless a test
    file is written for pytest. In a repository of several projects the one that the tests are in tells, if it does.
    """
    commands = _of_repository(Remembered(tree), test_files)
    return tuple(
        replace(
            command,
            runner=_runner(command),
            imports_alike=command.imports_alike or command.framework == UNITTEST.name,
        )
        for command in commands
    )


test_commands.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def _of_repository(tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
    root = subproject.root_of(tree, test_files)
    project_tree = subproject.project(tree, root)
    commands = declared_test_commands.commands(project_tree)
    if not root or not (commands or _setting(project_tree.read, "addopts") or _manage(project_tree, ())):
        return _ways(tree, test_files, declared_test_commands.commands(tree) if root else commands)
    inside = [path.removeprefix(f"{root}/") for path in test_files if path.startswith(f"{root}/")]
    ways = _ways(project_tree, inside, commands)
    at_root = tuple(way for way in ways if not framework(way.framework).suites and not folder_of(way.options))
    return (*(_lifted(way, root) for way in ways), *at_root)


def _lifted(way: TestCommand, root: str) -> TestCommand:
    """A way of a project in a folder, in the words of the whole repository."""
    chdir = folder_of(way.options[:1])
    rest = way.options[1:] if chdir else way.options
    return replace(way, options=(f"{pytest.CHDIR}{posixpath.join(root, chdir)}".rstrip("/"), *rest))


def _ways(tree: Tree, test_files: Sequence[str], commands: Sequence[DeclaredCommand]) -> tuple[TestCommand, ...]:
    sources = [tree.read(path) or b"" for path in test_files]
    by_nose = _speaks_of(commands, "nose") and not _speaks_of(commands, "pytest")
    options_of_nose = _NOSES_NAMES if by_nose else ()
    of_nose = by_nose or any(map(test_sources.yields_tests, sources))
    by_pytest = partial(TestCommand, framework=NOSE.name if of_nose else PYTEST.name)
    plain = by_pytest(options=(*_pytests_folder(commands, test_files), *options_of(tree, commands), *options_of_nose))
    bare = by_pytest(options=options_of_nose, imports_alike=True)
    fallback = (bare,) if bare != plain else ()
    own = _first_of_each(way for called in commands if (way := _own_way(called, tree)) is not None)
    if any(map(test_sources.yields_tests, sources)) or any(map(test_sources.is_for_pytest, sources)):
        return (plain, *fallback)
    written = sum(map(test_sources.written, sources))
    own = tuple(replace(way, expects=written) for way in (*own, *_manage(tree, own)))
    if not own:
        return (plain, TestCommand(framework=UNITTEST.name, expects=written), *fallback)
    pytest_first = not commands or _speaks_of(commands, "pytest", "nose")
    return (plain, *own, *fallback) if pytest_first else (*own, plain, *fallback)


def _pytests_folder(commands: Sequence[DeclaredCommand], test_files: Sequence[str]) -> tuple[str, ...]:
    """The option for the folder that pytest is called in, where all the tests are in it."""
    folder = next((called.chdir for called in commands if called.runner == "pytest"), "")
    is_theirs = folder and all(path.startswith(f"{folder}/") for path in test_files)
    return (f"{pytest.CHDIR}{folder}",) if is_theirs else ()


def _first_of_each(ways: Iterable[TestCommand]) -> tuple[TestCommand, ...]:
    """Of ways that call the same program, the first: the others try other databases and the like."""
    commands: dict[str, TestCommand] = {}
    for way in ways:
        commands.setdefault(program_of(way.options) or way.framework, way)
    return tuple(commands.values())[:_MOST_WAYS]


_MOST_WAYS = 2


def _speaks_of(commands: Sequence[DeclaredCommand], *runners: str) -> bool:
    return any(called.runner in runners for called in commands)


_NOSES_NAMES = ("-o", "python_functions=test* Test* *_test* *_Test*")
"""What nose takes for a test function, as pytest's patterns.

Source: `testMatch`, https://nose.readthedocs.io/en/latest/usage.html
"""


def _own_way(called: DeclaredCommand, tree: Tree) -> TestCommand | None:
    """The way of a command that runs suites without pytest."""
    if called.runner not in _SUITES:
        return None
    options = [f"{pytest.CHDIR}{called.chdir}"] if called.chdir else []
    options += [word for warning in called.warnings if _means_something(warning) for word in ("-W", warning)]
    if called.program:
        if _LABELS in (tree.read(posixpath.normpath(posixpath.join(called.chdir, called.program[0]))) or b""):
            options.append("--labels")
        return TestCommand(framework=called.runner, options=(*options, PROGRAM, *_program_words(called.program)))
    top = _top(called.words) if called.runner != "stestr" else _top_of_stestr(tree)
    return TestCommand(framework=UNITTEST.name, options=(*options, *((f"--top={top}",) if top else ())))


_SUITES = frozenset({UNITTEST.name, DJANGO.name, "stestr", "green", "trial"})
"""Runners whose tests are unittest's suites."""


def _top_of_stestr(tree: Tree) -> str:
    """The folder that stestr names modules from; empty for the root."""
    folder = ini(tree.read(".stestr.conf")).get("DEFAULT", "top_dir", fallback=".")
    plain = posixpath.normpath(folder.strip() or ".")
    return "" if plain == "." or plain.startswith(("/", "..", "$", "{")) else plain


def _top(words: Sequence[str]) -> str:
    """The folder that `python -m unittest discover` names modules from; empty for the one it is called in."""
    if words[:1] != ("discover",):
        return ""
    start = next(iter(words[1:2]), "")
    folders = [_value(words, *names) for names in (("-t", "--top-level-directory"), ("-s", "--start-directory"))]
    folder = next((folder_given for folder_given in folders if folder_given), "" if start.startswith("-") else start)
    plain = posixpath.normpath(folder) if folder else "."
    return "" if plain == "." or plain.startswith(("/", "..")) else plain


_LABELS = b"ALWAYS_INSTALLED_APPS"
"""What Django's own program has, which installs nothing but the applications whose labels it is told."""
_DROPPED = frozenset(
    {"--parallel", "--failfast", "--pdb", "--reverse", "--shuffle", "--debug-sql", "--timing", "--buffer", "-b", "-f",
     "-r", "-d", "-q", "-x", "--keepdb", "--noinput", "--no-input", "--verbose", "-c", "--catch", "--durations"}
)  # fmt: skip
"""Of a program's options, those that hide, stop or only show; the runner sets what of them has to be set."""
_DROPPED_WITH_VALUE = frozenset({"-v", "--verbosity", "-k", "-j", "--start-at", "--start-after"})
_LONE_MODULE = 2


def _program_words(words: Sequence[str]) -> tuple[str, ...]:
    """A program's words without labels, which the trial's files take the place of, and without what hides results."""
    head = 3 if words[0] == "-m" else 2 if words[1:2] == ("test",) else 1
    words_kept = list(words[:head])
    rest = list(words[head:])
    while rest:
        word = rest.pop(0)
        name = word.partition("=")[0]
        if name in _DROPPED or (name.startswith("-v") and len(word) == _LONE_MODULE + 1 and word[2:].isdigit()):
            if name in ("--parallel", "-j") and "=" not in word and rest and (rest[0].isdigit() or rest[0] == "auto"):
                rest.pop(0)
        elif name in _DROPPED_WITH_VALUE:
            if "=" not in word and rest:
                rest.pop(0)
        elif word.startswith("-"):
            words_kept.append(word)
            if "=" not in word and rest and not rest[0].startswith("-"):
                words_kept.append(rest.pop(0))
    return tuple(words_kept)


def _means_something(warning: str) -> bool:
    """Whether a filter does more than show."""
    return warning.partition(":")[0] not in ("d", "default", "a", "all", "always", "module", "m", "once", "o")


def _value(words: Sequence[str], *names: str) -> str:
    """What follows an option; empty where nothing does."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else next(iter(words[place + 1 : place + 2]), "")
    return ""


def _manage(tree: Tree, own: Sequence[TestCommand]) -> tuple[TestCommand, ...]:
    """`manage.py test`, where nothing says how else Django's tests are run."""
    if any(way.framework == DJANGO.name for way in own):
        return ()
    program = next((path for path in _MANAGE if b"execute_from_command_line" in (tree.read(path) or b"")), None)
    if program is None:
        return ()
    folder, _, name = program.rpartition("/")
    chdir = (f"{pytest.CHDIR}{folder}",) if folder else ()
    return (TestCommand(framework=DJANGO.name, options=(*chdir, PROGRAM, name, "test")),)


_MANAGE = tuple(f"{folder}manage.py" for folder in ("", "tests/", "src/", "test_project/", "testproject/", "example/"))


def pytest_options(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The options to keep of the `addopts` that pytest would read; `read` gives a file of the repository or None."""
    return pytest.kept_words(_setting(read, "addopts"))


def options_of(tree: Tree, commands: Sequence[DeclaredCommand] | None = None) -> tuple[str, ...]:
    """Every option for the tests of a tree under pytest, as if all their plugins were there; see `usable`.

    They are those of the settings that pytest reads, those of the `commands` that call it, and for a Django
    project the settings that its own runner would use.
    """
    options = _together(
        pytest_options(tree.read), declared_test_commands.commands(tree) if commands is None else commands, tree
    )
    module = None if _names(options, "--ds") else django.settings_module(tree.read, tree.files())
    options = (*_of_old_section(tree), *options)
    return (*options, f"--ds={module}") if module else options


def _of_old_section(tree: Tree) -> tuple[str, ...]:
    """The settings of a setup.cfg that today's pytest refuses, one by one, and an empty file in its place."""
    if _place_of_settings(tree.read) != ("setup.cfg", _OLD_SECTION):
        return ()
    given = [("-o", f"{name}={value}") for name, value in ini(tree.read("setup.cfg")).items(_OLD_SECTION)]
    return ("-c", "/dev/null", *(word for pair in given if pytest.kept_words(pair) for word in pair))


def _together(options: tuple[str, ...], commands: Sequence[DeclaredCommand], tree: Tree) -> tuple[str, ...]:
    """Options of pytest's settings and of the first command that calls it; doctest's from every one of them."""
    calls = [called for called in commands if called.runner == "pytest"]
    pairs = list(pytest.pairs(options))
    for place, called in enumerate(calls):
        filters = [("-W", warning) for warning in called.warnings if _means_something(warning)]
        for pair in (*filters, *pytest.pairs(pytest.kept_words(called.words))):
            name = pair[0].partition("=")[0]
            if name == "-m" or (place and not name.startswith("--doctest")):
                continue
            if name in ("-W", "-p", "-o") or all(name != first_pair[0].partition("=")[0] for first_pair in pairs):
                pairs.append(pair)
    return tuple(word for pair in dict.fromkeys(pairs) if _is_there(pair, tree) for word in pair)


def _is_there(pair: tuple[str, ...], tree: Tree) -> bool:
    """Whether what an option names is in the tree; `-p` may name a plugin of the repository alone."""
    name, _, value = pair[0].partition("=")
    value = value or pair[-1]
    if name in ("-c", "--config-file"):
        return tree.read(value) is not None
    if name != "-p" or value.startswith("no:") or value in _UNLOADED:
        return True
    path = value.replace(".", "/")
    return any(tree.read(f"{root}{path}{end}") is not None for root in ("", "src/") for end in (".py", "/__init__.py"))


_UNLOADED = ("pytester", "_pytest.pytester")
"""A plugin that pytest brings along and loads only where it is named."""


def usable(options: Sequence[str], plugins: Collection[str]) -> tuple[str, ...]:
    """The options less those of plugins that are not there, which pytest would refuse."""
    options_kept: list[str] = []
    dropping = False
    for option in options:
        plugin = _PLUGINS.get(option.partition("=")[0])
        value_of_dropped = dropping and not option.startswith("-")
        dropping = plugin is not None and plugin not in plugins and "=" not in option
        if not value_of_dropped and (plugin is None or plugin in plugins):
            options_kept.append(option)
    return tuple(options_kept)


_PLUGINS = {
    "--ds": "django",
    "--dc": "django",
    "--reuse-db": "django",
    "--no-migrations": "django",
    "--nomigrations": "django",
    "--asyncio-mode": "asyncio",
    "--timeout": "timeout",
}
"""The plugin that an option belongs to, by its entry point."""


def _names(options: Sequence[str], option_name: str) -> bool:
    return any(option.partition("=")[0] == option_name for option in options)


def doctest_globs(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The names of text files that pytest takes for doctests: those of the repository's settings, else pytest's own."""
    if not any(b"--doctest-glob" in (read(path) or b"") for path in _SAYING):
        return _OWN_GLOBS
    words = [word for pair in pytest.pairs(pytest_options(read)) for word in pair]
    commands = declared_test_commands.commands(ReadAlone(read))
    words += [word for called in commands if called.runner == "pytest" for word in pytest.kept_words(called.words)]
    globs = [word.partition("=")[2] for word in words if word.startswith("--doctest-glob=")]
    globs += [value for name, value in itertools.pairwise(words) if name == "--doctest-glob"]
    return tuple(dict.fromkeys(globs)) or _OWN_GLOBS


_OWN_GLOBS = ("test*.txt",)
_SAYING = (*(name for name, _ in _FILES), "Makefile")


def test_paths(tree: Tree) -> tuple[str, ...]:
    """Where pytest looks for tests if it is told nothing else (`testpaths`), as far as that is there."""
    files = tree.files()
    candidates = (path.removeprefix("./").rstrip("/") for path in _setting(tree.read, "testpaths"))
    return tuple(path for path in candidates if path and any(f"{file}/".startswith(f"{path}/") for file in files))


test_paths.__test__ = False  # type: ignore[attr-defined]  # pytest must not take it for a test


def module_names(read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """Patterns of what test modules are called (`python_files`); none where that is as pytest has it."""
    return _setting(read, "python_files")


def _setting(read: Callable[[str], bytes | None], key: str) -> tuple[str, ...]:
    """A setting of the file that pytest would read, in words: a list's as they are, a text's as quoted."""
    place = _place_of_settings(read)
    return (_value_in(read, *place, key) or ()) if place else ()


def _place_of_settings(read: Callable[[str], bytes | None]) -> tuple[str, str] | None:
    """The file, and the section or table in it, that pytest would read."""
    places = ((name, section) for name, sections in _FILES for section in sections)
    return next((place for place in places if _value_in(read, *place, "addopts") is not None), None)


def _value_in(read: Callable[[str], bytes | None], name: str, section: str, key: str) -> tuple[str, ...] | None:
    """What a file says of a setting, in words; None where it has no such section."""
    data = read(name)
    if name.endswith(".toml"):
        settings = table(toml(data), *section.split("."))
        return _words(settings.get(key, "")) if settings else None
    parser = ini(data)
    return _words(parser.get(section, key, fallback="")) if parser.has_section(section) else None


def _words(value: object) -> tuple[str, ...]:
    """A setting's words; none where a quote is not closed, which pytest would refuse."""
    if isinstance(value, list):
        return tuple(map(str, value))
    try:
        return tuple(shlex.split(str(value)))
    except ValueError:
        return ()

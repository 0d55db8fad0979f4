"""How a repository says that its tests are run: the commands of tox, nox, its tools' scripts, CI and make. Pure.

Read and never run. What stands before the runner (`coverage run`, `poetry run`, an interpreter) is taken away.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from harness.core import python_source
from harness.languages.python import pytest
from miner.evidence import ci, shell
from miner.evidence.shell import followed
from miner.evidence.tree import Tree
from miner.languages.python.evidence import factors, nox, tox
from miner.languages.python.evidence.metadata import lines, pyproject, strings, table

_PYTHON = re.compile(
    r"(?:.*/)?(?:python|pypy)(?:\d+(?:\.\d+)?)?(?:\.exe)?$|\{envpython\}$|\$expression$|\$\{?PYTHON3?\}?$"
)
_WITH_VALUE = frozenset({"--rcfile", "--source", "--omit", "--include", "--data-file", "--concurrency", "--context"})
"""Options of coverage that a value follows."""
_MANAGERS = frozenset({"poetry", "uv", "pipenv", "pdm", "rye", "hatch", "pixi", "conda", "mamba"})
_PROGRAM_NAMES = re.compile(r"(?:(?:run|quick|all)_?tests?|tests?_?runner|tests?|run)\.py$|manage\.py$")
_OWN = re.compile(
    rb"DiscoverRunner|get_runner\(|execute_from_command_line|call_command\(|TextTestRunner|unittest\.main\("
)
"""What a program of a repository calls that runs unittest's or Django's suites."""
_DJANGO = re.compile(rb"\bdjango\b")
_USUAL = tuple(
    f"{folder}{name}"
    for folder in ("", "tests/", "test/", "testing/")
    for name in ("runtests.py", "run_tests.py", "runtest.py", "quicktest.py")
)


@dataclass(frozen=True, kw_only=True)
class DeclaredCommand:
    """One command that runs tests."""

    runner: str = ""
    """`pytest`, `unittest`, `django`, `nose`, or another one's name; empty while it is not known."""
    words: tuple[str, ...] = ()
    """Its arguments."""
    program: tuple[str, ...] = ()
    """Where it is not the runner itself that is called: the program, or `-m` and the module, with its arguments."""
    chdir: str = ""
    """The folder it is called in."""
    warnings: tuple[str, ...] = ()
    """Filters that the interpreter is started with."""
    origin: str = ""
    """The file that says so."""


def commands(tree: Tree) -> tuple[DeclaredCommand, ...]:
    """The commands that run tests, in the order: tox, nox, scripts of tools, CI, make, programs that lie about."""
    calls = [
        called
        for origin, chdir, words in (*_tox(tree), *_nox(tree), *_scripts(tree), *_ci(tree), *_make(tree))
        if (called := read(words, tree, chdir=chdir, origin=origin)) is not None
    ]
    if not any(called.runner == "django" for called in calls):
        calls += [_own(path, DeclaredCommand(origin=path), tree) for path in _USUAL if _is_own(tree, path)]
    return tuple(dict.fromkeys(calls))


def read(words: tuple[str, ...], tree: Tree, *, chdir: str = "", origin: str = "") -> DeclaredCommand | None:
    """What a command runs; None where it is no test runner's."""
    filters: list[str] = []
    rest = list(words)
    for _ in range(6):  # each wrapper once, at most
        before = len(rest)
        rest = _unwrapped(rest, filters)
        if len(rest) == before:
            break
    if not rest:
        return None
    name, arguments = rest[0].rpartition("/")[2], _literal(rest[1:])
    called = DeclaredCommand(words=arguments, chdir=chdir, warnings=tuple(filters), origin=origin)
    if rest[0] == "-m":
        return _module(called)
    if name in _PROGRAMS:
        return replace(called, runner=_PROGRAMS[name])
    if name == "django-admin":
        return _module(replace(called, words=("django", *arguments)))
    if name == "setup.py":
        return _setup(tree, called.warnings) if arguments[:1] == ("test",) else None
    path = posixpath.normpath(posixpath.join(chdir, rest[0]))
    if _PROGRAM_NAMES.match(name) and _is_own(tree, path) and (name != "manage.py" or arguments[:1] == ("test",)):
        return _own(path, called, tree)
    return None


_PROGRAMS = {
    **dict.fromkeys(("pytest", "py.test"), "pytest"),
    **dict.fromkeys(("nosetests", "nosetests3"), "nose"),
    **{name: name for name in ("stestr", "green", "ward", "trial", "zope-testrunner")},
}


def _module(called: DeclaredCommand) -> DeclaredCommand | None:
    """What `python -m` with such words runs."""
    name, more = called.words[0] if called.words else "", called.words[1:]
    runner = {
        **{name: name for name in ("pytest", "unittest", "nose", "stestr", "green")},
        "testtools.run": "unittest",
        "subunit.run": "unittest",
        "twisted.trial": "trial",
    }
    if name == "django" and more[:1] == ("test",):
        return replace(called, runner="django", program=("-m", "django", *more), words=())
    return replace(called, runner=runner[name], words=more) if name in runner else None


def _own(path: str, called: DeclaredCommand, tree: Tree) -> DeclaredCommand:
    """A program of the repository that runs the tests, as it is called with such words."""
    source = tree.read(path) or b""
    runner = "pytest" if b"pytest.main(" in source else "django" if _DJANGO.search(source) else "unittest"
    program = () if runner == "pytest" else (posixpath.relpath(path, called.chdir or "."), *called.words)
    return replace(called, runner=runner, program=program, words=())


def _is_own(tree: Tree, path: str) -> bool:
    source = tree.read(path)
    return source is not None and (_OWN.search(source) is not None or b"pytest.main(" in source)


def _setup(tree: Tree, warnings: tuple[str, ...]) -> DeclaredCommand | None:
    """What `python setup.py test` runs."""
    if (module := python_source.parsed(tree.read("setup.py"))) is None:
        return None
    options_given = {
        keyword.arg: keyword.value.value
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant)
    }
    suite = options_given.get("test_suite")
    if not isinstance(suite, str):
        return None
    called = DeclaredCommand(warnings=warnings, origin="setup.py")
    if suite.startswith("nose"):
        return replace(called, runner="nose")
    for path in (f"{suite.partition('.')[0]}.py", f"{'/'.join(suite.split('.')[:-1])}.py"):
        if _is_own(tree, path):
            return _own(path, called, tree)
    return replace(called, runner="unittest")


# -- what stands before a runner


def _unwrapped(words: list[str], filters: list[str]) -> list[str]:
    """A command without the first thing that only starts another; the interpreter's warning filters are noted."""
    if not words:
        return words
    if words[0].startswith("-") and words[0] != "-m":
        return words[1:]  # an option of a wrapper that is gone already
    name = words[0].rpartition("/")[2]
    if _PYTHON.match(words[0]):
        return _after_interpreter(words[1:], filters)
    if name in _MANAGERS and words[1:2] == ["run"]:
        rest = words[2:]
        while rest and rest[0].startswith("-"):
            rest = (
                rest[2:] if rest[0] in ("-n", "--name", "--with", "--extra", "--group", "-p", "--python") else rest[1:]
            )
        return rest
    if name in ("coverage", "coverage3", "coverage-3") and words[1:2] == ["run"]:
        return _after_coverage(words[2:])
    if words[:2] == ["-m", "coverage"] and words[2:3] == ["run"]:
        return _after_coverage(words[3:])
    if name in ("xvfb-run", "time", "env", "unbuffer", "dbus-run-session", "timeout"):
        return [word for place, word in enumerate(words[1:]) if place or not word.startswith("-")]
    return words


def _after_interpreter(words: list[str], filters: list[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        word = rest.pop(0)
        if word in ("-W", "-X") and rest:
            value = rest.pop(0)
            filters += [value] if word == "-W" else []
        elif word.startswith("-W"):
            filters.append(word[2:])
    return rest


def _after_coverage(words: list[str]) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        word = rest.pop(0)
        if word in _WITH_VALUE and rest:
            rest.pop(0)
    return rest


def _literal(words: Iterable[str]) -> tuple[str, ...]:
    """Words without placeholders, and without the options whose values these are."""
    words_kept: list[str] = []
    for word in words:
        if not _is_placeholder(word):
            words_kept.append(word)
        elif words_kept and words_kept[-1] in pytest.KEPT_WITH_VALUE:
            words_kept.pop()
    return tuple(words_kept)


def _is_placeholder(word: str) -> bool:
    """What tox, a shell or a service puts something in for."""
    return "{" in word or "$" in word


# -- where commands stand


def _tox(tree: Tree) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    native = table(pyproject(tree), "tool", "tox", "env_run_base")
    folder = native.get("change_dir")
    for line in native.get("commands", ()) if isinstance(native.get("commands"), list) else ():
        if words := strings(line):
            yield "pyproject.toml", _folder(folder), words
    for origin, parser in tox.parsed(tree):
        for section in [name for name in parser.sections() if _TESTENV.match(name)]:
            text = parser.get(section, "commands", fallback="").replace("\\\n", " ")
            chdir = _folder(parser.get(section, "changedir", fallback=parser.get(section, "change_dir", fallback="")))
            for line in lines(_TOX_ROOT.sub("", text)):
                bound = factors.CONDITION.match(line)
                for words in shell.commands((bound[2] if bound else line).lstrip("-! ")):
                    yield origin, chdir, words


_TOX_ROOT = re.compile(r"\{(?:toxinidir|tox_root)\}/")
_TESTENV = re.compile(r"testenv(?::(?:py|python|test|unit|\{?py)[\w{},.-]*)?$")


def _folder(value: object) -> str:
    text = value if isinstance(value, str) else ""
    plain = re.sub(r"^\{(?:toxinidir|tox_root)\}/?", "", text.strip())
    return "" if "{" in plain or plain.startswith(("/", "..")) else posixpath.normpath(plain) if plain else ""


def _nox(tree: Tree) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for words in nox.commands(tree)[1]:
        yield "noxfile.py", "", words


def _scripts(tree: Tree) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Scripts of hatch, pdm, poe and their like that are named for tests."""
    tool = table(pyproject(tree), "tool")
    tables = [table(tool, "pdm", "scripts"), table(tool, "poe", "tasks"), table(tool, "taskipy", "tasks")]
    tables += [table(env, "scripts") for env in table(tool, "hatch", "envs").values() if isinstance(env, dict)]
    for scripts in tables:
        for name, value in scripts.items():
            if not re.match(r"(?:unit[-_]?)?tests?(?:$|[-_:])|_?cov", name):
                continue
            script = value if not isinstance(value, dict) else value.get("cmd", value.get("shell", ""))
            for text in (script,) if isinstance(script, str) else strings(script):
                for words in shell.commands(text):
                    yield "pyproject.toml", "", words


def _ci(tree: Tree) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for path, job in ci.jobs_with_tests(tree, []):
        yield from _walked(path, job.commands(tree))


def _make(tree: Tree) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for target in ("test", "tests", "check", "unittest"):
        yield from _walked("Makefile", followed(tree, [("make", target)])[1:])


def _walked(origin: str, commands_of_job: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The commands with the folder that those before them went to."""
    folder = ""
    for words in commands_of_job:
        if words[0] == "cd" and len(words) == 2:  # noqa: PLR2004 - cd and where to
            target = words[1]
            folder = (
                ""
                if _is_placeholder(target) or target.startswith("/")
                else posixpath.normpath(f"{folder}/{target}".lstrip("/"))
            )
            folder = "" if folder.startswith("..") or folder == "." else folder
        else:
            yield origin, folder, words

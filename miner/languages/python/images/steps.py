"""The layers of a task's image as values: dependencies from a lock, source at base_commit."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from miner.evidence.tree import TESTBED, Recipe
from miner.languages.python.images import exclude_newer
from miner.languages.python.recipes import extensions
from miner.languages.python.recipes.extensions import HOME
from miner.languages.python.recipes.imports import OLDEST_PYTEST
from miner.layers.layer import (
    CACHE_DIR,
    FACTS_PATH,
    INPUT_DIR,
    OUT_DIR,
    Input,
    Layer,
    quote,
    readable,
    tool,
    write_tool,
)
from miner.layers.source import PRISTINE, UNPACK, committed, copied, layer

if TYPE_CHECKING:
    from miner.languages.base import ImageRequest
    from miner.languages.python.images.pythons import Interpreter

VENV = "/opt/goldseam/venv"
DEPENDENCIES = "deps"
"""The kind of the layer with the virtual environment."""
UV = "/opt/goldseam/uv/bin/uv"
LOCK_NAME = "requirements.lock"
LOCK_PATH = f"{OUT_DIR}/{LOCK_NAME}"
OVERRIDES_NAME = "overrides.in"
PINS_NAME = "pins.txt"

CUTOFF_VARIABLE = "GOLDSEAM_CUTOFF"
"""uv's date options while dependencies are installed, where only the build requirements of source distributions heed
them. A variable, so that commits of different days with the same lock share a layer."""

_tool = partial(tool, "miner.languages.python.images")
_FACTS = "/tmp/facts.py"  # noqa: S108 - a tmpfs of the build container
_PROJECT = "/tmp/project.py"  # noqa: S108
_EDITABLE = "/tmp/editable.py"  # noqa: S108 - project.py imports it
_BYTECODE = "/tmp/bytecode.py"  # noqa: S108
_BUNDLED = "/tmp/bundled.py"  # noqa: S108
_DEVELOP = "/tmp/develop.py"  # noqa: S108
_COMPILER = "/tmp/compile.py"  # noqa: S108 - rebuildable.py copies it
_REBUILDABLE = "/tmp/rebuildable.py"  # noqa: S108
_REBUILT = "/tmp/rebuilt.json"  # noqa: S108
_HOW = "/tmp/how.txt"  # noqa: S108
_PYTHONPATH = "/tmp/pythonpath.json"  # noqa: S108
_ADDED_LINE = re.compile(r"(-e|--editable|\.|/|file:)|[A-Za-z0-9._-]+(\[[^]]*\])?\s*@\s*file:")
_LOCAL = re.compile(
    r"(?:(?:-e|--editable)\s+|[A-Za-z0-9._-]+(?:\[[^]]*\])?\s*@\s*(?=file:)|(?=\.{1,2}/))(?P<path>[^\s;#]+)"
)


def versions(hint: str | None) -> tuple[str, ...]:
    """Variables that tell build backends the version, which they would ask git's tags for."""
    version = hint or "0.0.0"
    names = (*_VERSION_OF_TOOLS.values(), "PDM_BUILD_SCM_VERSION", "UV_DYNAMIC_VERSIONING_BYPASS")
    return (
        *(f"export {name}={version}" for name in names),
        f"export POETRY_DYNAMIC_VERSIONING_BYPASS={version}",
    )


_VERSION_OF_TOOLS = {"setuptools-scm": "SETUPTOOLS_SCM_PRETEND_VERSION", "pbr": "PBR_VERSION"}
"""Tools that are built by themselves, and the variable that would make the project's version theirs."""

OWN_VERSIONS = "[extra-build-variables]\n" + "".join(
    f'{tool} = {{ {name} = "" }}\n' for tool, name in _VERSION_OF_TOOLS.items()
)
"""What uv's configuration says so that these tools keep their own versions."""


def requirement_lines(recipe: Recipe, minor: str) -> str:
    """The requirements that stand in no file of the repository: pytest unless it is the project, and setuptools."""
    lines = [*(() if recipe.is_runner else (OLDEST_PYTEST,)), *recipe.evidence.requirements]
    if tuple(map(int, minor.split("."))) < (3, 12):
        lines.append("setuptools")  # venv and virtualenv put it there until Python 3.12, and old tests rely on it
    return "\n".join(lines) + "\n"


def resolve_script(recipe: Recipe, interpreter: Interpreter, when: datetime, version_hint: str | None) -> str:
    """The script that writes a recipe's lock to LOCK_PATH, in a container that is thrown away."""
    command = resolve_command(recipe, interpreter, when)
    plain = _plain(editable=exclude_newer.has_editable_tools(when)) if recipe.evidence.files else ()
    untagged = _untagged(recipe) if recipe.project else ()
    commands = (UNPACK, f"cd {TESTBED}", *plain, *untagged, *_declared(recipe), *versions(version_hint), command)
    return Layer(kind="resolve", parent="", commands=commands).script()


def _plain(*, editable: bool) -> tuple[str, ...]:
    """Commands that write `-e '.[extra]'` of requirement files as uv reads it: without quotes as pip takes them.

    Where a day's build backends know no editable installs, uv would ask them for the metadata of one: not `editable`.
    """
    line = r"""^(-e|--editable)[ =]+(['"]?)(\.[^ '"]*)\2"""
    written = r"-e \3" if editable else r"\3"
    text = f"grep -rlsZE --include='*.txt' --include='*.in' {quote(line)} ."
    return (f"{text} | xargs -0 -r sed -i -E {quote(f's#{line}#{written}#')}",)


def _untagged(recipe: Recipe) -> tuple[str, ...]:
    """Commands that take off the tags that setup.cfg puts behind a version: old tools make none of PEP 440 of it."""
    path = quote(posixpath.join(recipe.root, "setup.cfg"))
    return (f"test ! -f {path} || sed -i -E '/^ *tag[_-](build|date|svn[_-]revision) *[=:]/d' {path}",)


def _declared(recipe: Recipe) -> tuple[str, ...]:
    """Commands that declare what the project is built with, in a copy of the tree that is thrown away."""
    needed = ["setuptools", "wheel", *(requirement for name, requirement in recipe.built_with if not name)]
    if len(needed) == len(("setuptools", "wheel")):
        return ()
    path = quote(posixpath.join(recipe.root, "pyproject.toml"))
    lines = ("[build-system]", f"requires = {json.dumps(needed)}", 'build-backend = "setuptools.build_meta:__legacy__"')
    text = " ".join(quote(line) for line in lines)
    return (f"grep -qs '^.build-system' {path} || printf '%s\\n' {text} >> {path}",)


def resolve_command(recipe: Recipe, interpreter: Interpreter, when: datetime) -> str:
    """The command that resolves a recipe, as it is run at the repository's root."""
    evidence = recipe.evidence
    words = [f"{UV} pip compile --python {interpreter.path}"]
    words += exclude_newer.for_dependencies(when, interpreter.minor, recipe.later)
    words += ["--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links"]
    words += [f"--output-file {LOCK_PATH}"]
    words += ["--no-emit-package pytest"] if recipe.is_runner else []
    words += [f"--extra {quote(name)}" for name in evidence.extras if recipe.project]
    groups = quote(f"{recipe.root}/pyproject.toml:") if recipe.root else ""
    words += [f"--group {groups}{quote(name)}" for name in evidence.groups]
    words += [f"--constraints {quote(path)}" for path in evidence.constraints]
    words += [f"--constraints {INPUT_DIR}/{PINS_NAME}"] if evidence.pins else []
    words += [f"--overrides {INPUT_DIR}/{OVERRIDES_NAME}"] if recipe.overrides else []
    words += [quote(path) for path in (recipe.project, *evidence.files) if path]
    words += [f"{INPUT_DIR}/extra.in"]
    return " ".join([*words, ">/dev/null"])  # warnings are wanted, the lock is not


def local_folders(text: str, root: str, paths: Collection[str]) -> tuple[str, ...]:
    """The folders of the tree that a lock asks for beside the project itself, relative to the repository's root.

    uv gives a path as it is written, so from the project's folder or from the root; `paths` are the tree's files.
    """
    folders: list[str] = []
    for line in text.splitlines():
        match = _LOCAL.match(line)
        if match is None:
            continue
        written = re.sub(r"^file:(//)?", "", match["path"]).partition("[")[0]
        for start in (root, ""):
            folder = posixpath.relpath(posixpath.normpath(posixpath.join(TESTBED, start, written)), TESTBED)
            if folder not in {root or ".", "."} and any(f"{folder}/{name}" in paths for name in _DESCRIBED_BY):
                folders.append(folder)
                break
    return tuple(dict.fromkeys(folders))


_DESCRIBED_BY = ("pyproject.toml", "setup.py", "setup.cfg")


def clean_lock(text: str) -> str:
    """A lock without the project itself and without paths of the container."""
    lines_kept: list[str] = []
    dropping = False
    for line in text.splitlines():
        if not line.startswith((" ", "\t")):
            dropping = bool(_ADDED_LINE.match(line)) or line.startswith("#")
        if not dropping and line.strip():
            lines_kept.append(line)
    return "\n".join(lines_kept) + "\n"


def dependencies(interpreter: Interpreter, lock: Input, text: str, *, has_pytest: bool = True) -> Layer:
    """The virtual environment with exactly what the lock says."""
    imported = f"{VENV}/bin/python -I -B -c 'import pytest' & imported=$!"
    # a requirement on a repository (`name @ git+https://…`) is pinned by its commit and has no hash
    hashes = "--require-hashes" if " @ git+" not in text else "--verify-hashes"
    install = f"{UV} pip install --quiet --python {VENV}/bin/python --no-deps"
    return Layer(
        kind=DEPENDENCIES,
        parent=interpreter.layer.image_id,
        foreign=True,
        inputs=(lock,),
        commands=(
            f"{UV} venv --quiet --python {interpreter.path} {VENV}",
            f"{install} {hashes} ${{{CUTOFF_VARIABLE}:-}} -r {INPUT_DIR}/{LOCK_NAME}",
            *((imported,) if has_pytest else ()),
            write_tool(_BYTECODE, _tool("bytecode.py")),
            f"{_COMPILE} --installed {VENV}/lib",
            readable(VENV),
            write_tool(_FACTS, _tool("facts.py")),
            f"python3 {_FACTS} {VENV} none > {FACTS_PATH}",
            *(('wait "$imported"',) if has_pytest else ()),
        ),
    )


def source(
    parent: str, tree: Input, request: ImageRequest, recipe: Recipe, minor: str, local: tuple[str, ...] = ()
) -> Layer:
    """The tree at base_commit in a repository with one commit, importable in the virtual environment.

    `local` are folders with projects that the recipe's needs. The recipe's commands come once all that is installed;
    they may change no file of the tree and make no test, and have no package index. With extension modules it has what
    a trial needs to build them again, of which Cython may have to make the sources first.
    A tree that is a package at its root is one to pytest by its folder's name, so not in a clone of `some-project`,
    nor in a trial of it.
    """
    when, root = request.when, recipe.root
    is_package = request.repo.rpartition("/")[2].isidentifier()
    has_package = request.tree.read("__init__.py") is not None
    compiled = recipe.project is not None and extensions.may_have(request.tree, root)
    cython = extensions.made_by_cython(request.tree, root)
    project = _installer(when, minor)
    return layer(
        parent,
        tree,
        repo=request.repo,
        commit=request.base_commit,
        programs=f"{VENV}/bin",
        env={"PYTHONHASHSEED": "0"},
        commands=(
            *committed(("__pycache__/", "*.egg-info/")),
            *versions(request.version_hint),
            write_tool(_BYTECODE, _tool("bytecode.py")),
            write_tool(_EDITABLE, _tool("editable.py")),
            *(() if exclude_newer.has_editable_tools(when) else (write_tool(_DEVELOP, _tool("develop.py")),)),
            write_tool(_PROJECT, _tool("project.py")),
            *((_CARGO,) if compiled else ()),
            *(f"cd {TESTBED}/{quote(path)}; {project}; cd {TESTBED}" for path in local),
            *((f"cd {TESTBED}/{quote(root)}",) if root else ()),
            *(_cythonized(cython) if compiled else ()),
            project if recipe.project is not None else f"python3 {_PROJECT} {UV} {VENV} no {_PYTHONPATH} {_HOW}",
            *((f"cd {TESTBED}",) if root else ()),
            *(_rebuildable(when, minor, root) if compiled else ()),
            *(f"rm -f {quote(posixpath.join(TESTBED, root, path))}" for path in cython if compiled),
            *_further(recipe.commands),
            # by hash: it stays valid where the tree is copied
            f"{_COMPILE} --by-hash --except {quote(f'{_REWRITTEN}|{_UNUSED}|{_READ}')} {TESTBED} {VENV}/lib",
            readable(TESTBED, VENV),
            *copied(),
            *((f"rm {PRISTINE}/__init__.py",) if has_package and not is_package else ()),
            write_tool(_BUNDLED, _tool("bundled.py")),
            f"{VENV}/bin/python -I {_BUNDLED} {quote(posixpath.join(TESTBED, root))}",
            write_tool(_FACTS, _tool("facts.py")),
            f"python3 {_FACTS} {VENV} {_PYTHONPATH} {_HOW} > {FACTS_PATH}",
            *((f"python3 {_REBUILDABLE} --merge {FACTS_PATH} {_REBUILT}",) if compiled else ()),
        ),
    )


_CARGO = f"export CARGO_HOME={HOME}/cargo CARGO_TARGET_DIR=/tmp/goldseam-target"
"""The command that has cargo keep what it downloads where a trial finds it, and what it makes out of the tree."""


def _cythonized(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Commands that have Cython make sources, now and in each build of a trial."""
    quoted = " ".join(map(quote, paths))
    command = f"export GOLDSEAM_CYTHON={quote(' '.join(paths))}; {VENV}/bin/python {_COMPILER} {quoted} || true"
    return (write_tool(_COMPILER, _tool("compile.py")), *((command,) if paths else ()))


def _rebuildable(when: datetime, minor: str, root: str) -> tuple[str, ...]:
    """Commands that keep what extension modules are built with, of the same day as the project was installed with."""
    today, then = exclude_newer.for_editable(when, minor), exclude_newer.of_the_day(when, minor)
    command = f"python3 {_REBUILDABLE} {UV} {VENV} {quote(root)} {_REBUILT}"
    by_day = f"{command} {' '.join(then)}; else {command} {' '.join(today)}; fi"
    return (
        write_tool(_REBUILDABLE, _tool("rebuildable.py")),
        f"if grep -qs 'setup.py develop' {_HOW}; then {by_day}",
        f"if [ -d {HOME} ]; then {readable(HOME)}; fi",
    )


def _installer(when: datetime, minor: str) -> str:
    """The command that installs the project of the current folder: as it was usual then, else as it is today."""
    today = (
        f"python3 {_PROJECT} {UV} {VENV} yes {_PYTHONPATH} {_HOW} {' '.join(exclude_newer.for_editable(when, minor))}"
    )
    if exclude_newer.has_editable_tools(when):
        return today
    return f"python3 {_DEVELOP} {UV} {VENV} {_HOW} {' '.join(exclude_newer.of_the_day(when, minor))} || {today}"


def _further(commands: tuple[str, ...]) -> tuple[str, ...]:
    if not commands:
        return ()
    index = "PIP_NO_INDEX=1 UV_OFFLINE=1 PATH=" + f"{VENV}/bin:$PATH"
    tests = f"git ls-files --others | grep -E '{_TESTS}' || true"
    changed = 'echo "a command changed files of the repository:"; git diff --stat "$tree" | tail -n 5'
    return (
        'tree="$(git rev-parse HEAD^{tree})"',
        f'made="$({tests})"',
        *(f"env {index} sh -euc {quote(command)}" for command in commands),
        f'if ! git diff --quiet "$tree"; then {changed}; exit 1; fi',
        f'if [ "$made" != "$({tests})" ]; then echo "a command made tests"; exit 1; fi',
    )


_TESTS = r"(^|/)(tests?/.*[.]py|test_[^/]*[.]py|[^/]*_tests?[.]py|conftest[.]py|pytest[.]ini|sitecustomize[.]py)$"
"""What says how tests go, as an extended regular expression of paths."""


_COMPILE = f"{VENV}/bin/python -I -S -W ignore {_BYTECODE} --cache {CACHE_DIR}"
"""The command that makes byte code, to be followed by folders."""
_REWRITTEN = r"/(test_[^/]*|[^/]*_test|conftest)[.]py$"
"""Files that pytest compiles for itself, with its assertions: byte code of their own would never be read."""
_UNUSED = rf"^{VENV}/.*/tests/"
"""Tests that dependencies bring along."""
_DATA = "[a-z]*[-_]?data|fixtures?|files|samples?|cases|inputs?|resources|golden|snippets"
_READ = rf"^{TESTBED}/(.*/)?(tests?|testing)/(.*/)?({_DATA})/"
"""Sources that tests read, some of them by listing a folder."""

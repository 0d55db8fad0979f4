"""The image of a JavaScript project's tests: base, Node, dependencies from a lock, source at base_commit."""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from harness.core import json_text
from harness.core.instance import Build
from harness.languages.javascript.language import NODE
from miner.evidence.tree import TESTBED, Fixed, Tree
from miner.languages.base import RefusedError
from miner.languages.building import (
    Building,
    Resolution,
    Stack,
    first_of_quarter,
    installed,
    own_folder,
    refusal,
    tree_layer,
)
from miner.languages.built import BuiltImage
from miner.languages.javascript import artefacts, manifest
from miner.languages.javascript.manifest import GIT_HOSTS, LOCKS, MANIFEST, Manager
from miner.languages.toolchain import Toolchain
from miner.layers import base, egress, package_index
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
from miner.layers.runner import read_result
from miner.sources.change import Rejection, Stage

if TYPE_CHECKING:
    from harness.config.settings import ImageSettings
    from miner.languages.base import ImageRequest
    from miner.languages.javascript.artefacts import Plan
    from miner.layers.build import BuiltLayer

_tool = partial(tool, "miner.languages.javascript")
_HOME, _NPM, STORE = "/opt/goldseam/node", "/opt/goldseam/npm", "/opt/goldseam/modules"
_MANAGER, _YARN, _TYPES = "/opt/goldseam/manager", "/opt/goldseam/yarn.py", "/opt/goldseam/types.cjs"
_TOOLS = ("fetch", "held", "resolve", "modules", "natives", "built")
_FETCH, _HELD, _RESOLVE, _MODULES, _NATIVES, _BUILT = (f"/tmp/{name}.py" for name in _TOOLS)  # noqa: S108
_NPM_OF_NODE = ((18, "10"), (14, "8"), (0, "6"))
"""Newest npm by the oldest Node that it runs on."""
_OLD_NPM = "8.0"
"""It runs scripts on any Node from 12 on, and what it holds is of 2021."""
_MANIFESTS = frozenset(
    {MANIFEST, ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs", *LOCKS}
)
_FOLDERS = ("patches/", ".yarn/patches/", ".yarn/plugins/", ".yarn/releases/")
"""What an install reads beside manifests."""
_MACHINE = "$(dpkg --print-architecture | sed s/amd64/x64/)"
_NEW_NPM = "10"
_OF_THE_DAY, _NEWEST = "as of the day", "the newest"
_ANY, _QUARTER = "-", timedelta(days=92)
"""What tools/resolve.py takes for the newest versions, and the longest that a quarter is."""
_DEV = "devDependencies"
_ABSENT = re.compile(
    r"404 +'((?:@[^/\s']+/)?[^@\s']+)@[^']*' is not in this registry"
    r"|ERR_PNPM_FETCH_404\b.*?//[^/\s]+/((?:@[^/\s]+/)?[^/\s:]+)"
    r"|No matching version found for ((?:@[^/\s]+/)?[^@\s]+)@(?!.* with a date before)"
)
"""How npm and pnpm say that a registry lacks a package, or the version of it that is asked for."""
_OF_NODE = "system"
"""The step that brings Node."""
_DISTRUSTS = 11
"""The first line of pnpm that checks locks by its policies of supply."""
_MIRRORS = "registry.yarnpkg.com|registry.npmmirror.com|registry.npm.taobao.org|registry.nlark.com|r.cnpmjs.org"
_GIVEN, _LOCK = "manifests.tar", "package-lock.json"
_BUILD_ENV = {
    "PATH": f"./node_modules/.bin:{TESTBED}/node_modules/.bin:{_HOME}/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - inside the container, as the next
    "CI": "1",
    "npm_config_offline": "true",
    "npm_config_update_notifier": "false",
    "npm_config_force": "true",  # it runs no script where devEngines names another package manager
    "npm_config_cache": "/tmp/npm",  # noqa: S108
    "npm_config_manage_package_manager_versions": "false",
    "pnpm_config_pm_on_fail": "ignore",
    "pnpm_config_verify_deps_before_run": "false",
    "NX_DAEMON": "false",
    "TURBO_TELEMETRY_DISABLED": "1",
    "NODE_OPTIONS": "--max-old-space-size=1536",  # by itself Node takes 1.1 of the 2 GB of a trial
}
_AS_LONG, _SHORTEST, _LONGEST = 10.0, 120.0, 1800.0
"""A trial's build may take so many times as long as the image's; seconds."""
_UNDATED = "by the registry's dates there was no such version on that day: versions are the newest"
_FIXED = "what is required is as of the fix: its tests can't be loaded with what the base requires"
_LOOSE = "the lock could not be installed as it is: what it lacks is of the newest versions"
_REQUIRES_MODULES = ((20, 19, date(2025, 3, 13)), (22, 12, date(2024, 12, 3)))
"""Of lines of Node the releases, and their days, from which `require` loads ES modules, which it had refused."""
_REFUSES_MODULES = "--no-experimental-require-module"
_RELEASED = "required from git, which can't be reached: releases of these names are taken"
_READ = frozenset(
    {
        *("name", "version", "private", "workspaces", "packageManager", "devEngines", "bin", "directories"),
        *(*manifest.DEPENDENCIES, "peerDependencies", "bundleDependencies", "bundledDependencies"),
        *("peerDependenciesMeta", "dependenciesMeta", "overrides", "resolutions", "flat", "pnpm"),
        *("publishConfig", "installConfig", "os", "cpu", "libc"),
    }
)
"""What package managers read of a manifest before they install, but for `engines`."""
_PROTOCOLS = re.compile(rb'"(?:workspace|catalog):')
"""What npm does not know."""
_RESOLVERS = frozenset({"jest", "vitest"})
"""Runners that find modules in ways of their own."""
_VAGUE = frozenset({"unresolvable", "install_failed"})
"""Reasons that say less than others."""
_CREDENTIALS = re.compile(
    rb"^.*(?:_auth(?:token)?|_password|username|always-auth)\b.*$|(?<=://)[^/\s@'\"]+@|(?<=npmAuthToken:).+|(?<=npmAuthIdent:).+",
    re.IGNORECASE | re.MULTILINE,
)
"""What settings of package managers have of them: lines of an .npmrc, parts of addresses, values of a .yarnrc.yml."""
_ALWAYS = re.compile(rb"(?<=npmAlwaysAuth:) *true")
_WRONG_DATES, _UNREACHED = "registry_dates", "needs_network"
_LOGIN = "registry_login"
_OF_LOGIN = (
    *("E401", "E403", "ENEEDAUTH", "ERR_PNPM_FETCH_401", "ERR_PNPM_FETCH_403"),
    *("YN0041", "Response Code: 401", "Response Code: 403"),
    *("returned a 401", "returned a 403", '"401 Unauthorized"', '"403 Forbidden"', "HTTP Error 401"),
)
"""Of npm, pnpm, a later yarn, yarn 1 and tools/fetch.py."""
_ASKED_FOR_LOGIN = re.compile(r"\b401\b|E401|ENEEDAUTH|YN0041")
_SHUT_OUT = "goldseam: a build may not reach"
"""How the output ends where a host was refused, with 403, by the build's own network (miner/layers/relay.py)."""
_FAILURES = (
    (_LOGIN, *_OF_LOGIN),
    (_UNREACHED, "git ls-remote", "git clone", "git --no-replace-objects", "ssh://git@", "git@github.com"),
    (_WRONG_DATES, "ETARGET", "ENOVERSIONS"),
    ("unresolvable", "ERESOLVE", "EBADENGINE"),
)


@dataclass(frozen=True, kw_only=True)
class _Project:
    """What says what tests require."""

    tree: Tree
    """The project as a tree of its own."""
    folder: str
    """Where it is in the repository, empty for the root."""
    tests: tuple[str, ...]
    """The tests of the change, relative to that folder."""
    is_of_fix: bool = False
    """Whether its manifests are as the fix leaves them."""


@dataclass(frozen=True, kw_only=True)
class _Recipe:
    """What is installed, and by which package manager."""

    project: _Project
    manager: Manager
    rung: str
    without: frozenset[str] = frozenset()
    """Dependencies that are left out: of development, and from git."""
    released: frozenset[str] = frozenset()
    """Dependencies from git of which a release of the same name is taken."""
    apart: frozenset[str] = frozenset()
    """Folders of packages of which no dependency is installed."""
    is_dated: bool = True
    """Whether no version is newer than the change."""
    is_frozen: bool = True
    """Whether what a lock says is installed, and nothing else."""
    is_all: bool = True
    """Whether it is the last where it can be installed, even if tests are lost."""


@dataclass(frozen=True, kw_only=True)
class _Node:
    """Which Node an image gets."""

    line: int
    is_of_base: bool = False
    missing: tuple[int, ...] = ()
    """The lines that could not be had."""


def build_image(request: ImageRequest) -> BuiltImage:
    """The image in which all tests are collected, else the one that loses the fewest files.

    Raises:
        RefusedError: no image can be built; it tells of the last attempt that says why.
        InfrastructureError: the engine, a registry or the disk failed.

    """
    tests = manifest.tests_among(request.touched)
    folder = manifest.project_folder(request.tree, tests)
    if folder is None:
        raise refusal(*manifest.no_project(request.tree))
    project = _project(request.tree, folder, tests)
    if why := manifest.objection(project.tree, request.when.date()) or manifest.unsupported(request.tree, tests):
        raise refusal(*why)
    hosts = (egress.NPM, *manifest.git_hosts(project.tree))
    request = replace(request, workshop=request.workshop.reaching(hosts))
    ground = base.ensure(request.workshop)
    building = Building(request, told_reason)
    plans = _plans(request, tests)
    refused: list[RefusedError] = []
    _attempt(building, ground, project, plans, refused)
    if building.best() and not building.is_sound and (fixed := manifest.with_fix(request.tree, request.fixed)):
        _attempt(building, ground, replace(_project(fixed, folder, tests), is_of_fix=True), plans, [])
    if (best := building.best()) is not None:
        return best
    raise told_login(next((error for error in reversed(refused) if error.rejection.reason not in _VAGUE), refused[-1]))


def _project(tree: Tree, folder: str, tests: Sequence[str]) -> _Project:
    below = tuple(posixpath.relpath(path, folder or ".") for path in tests)
    return _Project(tree=manifest.project_of(tree, folder), folder=folder, tests=below)


def _attempt(
    building: Building,
    ground: BuiltLayer,
    project: _Project,
    plans: Sequence[Plan | None],
    refused: list[RefusedError],
) -> None:
    """Images of what a project requires, by the first recipe that makes any, until one collects all tests.

    One without the build has to have them pass as well. `refused` gets the failures.
    """
    for recipe in _recipes(project, refused):
        is_made = False
        for node, plan in _nodes(building, ground, project, plans, refused):
            if is_made and node.is_of_base:
                break
            try:
                image = _image(building, ground, recipe, node, plan)
            except RefusedError as error:
                refused.append(error)
                if error.step == _OF_NODE:
                    continue
                break  # what is installed hardly depends on Node
            is_made = True
            if building.collects_all(image, _toolchain(node.line)) and (plan is plans[-1] or building.is_sound):
                return
        if (is_made and recipe.is_all) or (refused and refused[-1].step == _OF_NODE):
            return


def _nodes(
    building: Building,
    ground: BuiltLayer,
    project: _Project,
    plans: Sequence[Plan | None],
    refused: Sequence[RefusedError],
) -> Iterator[tuple[_Node, Plan | None]]:
    """Each Node to try with each way to build: of the lines that the project tells of, at last the base's own.

    The base is asked for its own only where `refused`, which grows meanwhile, ends with a line that can't be had.
    """
    request = building.request
    lines = manifest.node_majors(project.tree, request.when.date())
    yield from product([_Node(line=line) for line in lines], plans)
    if not refused or refused[-1].step != _OF_NODE:
        return
    with request.workshop.run(ground.image_id, f"node --version > {OUT_DIR}/node\n", kind="probe") as ran:
        version = read_result(ran.out / "node").decode() if ran.ok else ""
    if match := re.match(r"v(\d+)\.", version):
        yield from product([_Node(line=int(match[1]), is_of_base=True, missing=lines)], plans)


def _plans(request: ImageRequest, tests: Sequence[str]) -> tuple[Plan | None, ...]:
    """What to build: nothing first, where tests may as well be run without it.

    Runners may be told to take the sources of what tests load by its name; what is in no folder for what is built may
    be meant for no file.
    """
    tree = Fixed(request.tree, request.fixed)
    plan = artefacts.plan(tree, tests)
    if plan is None or not request.collect:
        return (plan,)
    runners = {command.framework for command in manifest.test_commands(tree, tests)}
    is_unlikely = bool(plan.wanted) and not any(artefacts.is_built(ways[0]) for ways in plan.wanted)
    return (None, plan) if is_unlikely or (plan.is_by_name and runners <= _RESOLVERS) else (plan,)


def _toolchain(node: int) -> str:
    return f"node {node}"


def _recipes(project: _Project, refused: Sequence[RefusedError]) -> Iterator[_Recipe]:
    """What to install, in this order: as the lock says; of the versions of the day what something names; all of these.

    What something names is of the root, the packages that tests are of, and those that these require.

    For a workspace whose packages only its own package manager can link, instead: what of the lock something names;
    the newest versions of it without a lock.
    Then the newest versions, where `refused`, which grows meanwhile, has it that the registry's dates can't be so; the
    same without what of development the registry lacks, as often as it turns out to lack more; and
    releases of the same names for what code requires from git, and at last none of what comes from there, where that
    can't be reached; what requires it may be for what runs around the tests.
    """
    tree = project.tree
    manager = manifest.manager_of(tree)
    day = _Recipe(project=project, manager=manifest.OF_THE_DAY, rung=_OF_THE_DAY)
    if manager.lock:
        yield _Recipe(project=project, manager=manager, rung=manager.lock)
    idle = artefacts.idle(tree)
    named = replace(day, without=idle, apart=artefacts.unneeded(tree, project.tests))
    is_linked = any(_PROTOCOLS.search(tree.read(path) or b"") for path in tree.files() if path.endswith(MANIFEST))
    if is_linked or manager.lock:
        rung = f"{manager.lock or _NEWEST}, what is named"
        manager = manifest.linking_manager(tree) if is_linked else manager
        yield replace(named, manager=manager, rung=rung, is_dated=False, is_frozen=False)
    if is_linked:
        return
    around = artefacts.idle(tree, around=False)
    before = len(refused)
    if around or named.apart:
        yield replace(named, rung=f"{_OF_THE_DAY}, what is named", without=around, is_all=False)
    if _are_dates_right(refused[before:]):  # what is named of it is no more than all of it
        yield day
    is_dated = _are_dates_right(refused)
    if not is_dated:
        yield replace(named, rung=f"{_NEWEST}, what is named", is_dated=False)
    when = _OF_THE_DAY if is_dated else _NEWEST
    absent: frozenset[str] = frozenset()
    while more := _absent(tree, refused) - absent:
        absent |= more
        rung = f"{when}, without {' and '.join(sorted(absent))}, which the registry lacks"
        yield replace(named, rung=rung, without=idle | absent, is_dated=is_dated)
    reached = all(error.rejection.reason != _UNREACHED for error in refused)
    without = idle | manifest.from_git(tree) | around
    if not reached and without > idle:
        rest = replace(named, rung=f"{when}, without what comes from git", without=without, is_dated=is_dated)
        if released := manifest.from_git(tree, ("dependencies",)):
            yield replace(rest, rung=f"{when}, releases for what comes from git", released=released)
        yield rest


def _are_dates_right(refused: Sequence[RefusedError]) -> bool:
    return all(error.rejection.reason != _WRONG_DATES for error in refused)


def _absent(tree: Tree, refused: Sequence[RefusedError]) -> frozenset[str]:
    """What of development the registry was last found to lack: all of it, or the version that is asked for."""
    output = refused[-1].said if refused else ""
    manifests = [manifest.read_manifest(tree, folder) for folder in ("", *artefacts.own_packages(tree).values())]
    listed = {name for each in manifests if isinstance(each.get(_DEV), dict) for name in each[_DEV]}
    return frozenset(name for names in _ABSENT.findall(output) for name in names if name in listed)


def _image(building: Building, ground: BuiltLayer, recipe: _Recipe, node: _Node, plan: Plan | None) -> BuiltImage:
    request, manager, toolchain = building.request, recipe.manager, _toolchain(node.line)
    required, is_fixed = recipe.project.tree, recipe.project.is_of_fix
    rung = f"{recipe.rung}, of the fix" if is_fixed else recipe.rung
    stack = Stack(building, ground, rung, toolchain)
    noded = _noded(stack, node, _npm_of(node.line))
    is_held = not artefacts.own_packages(request.tree).keys().isdisjoint(noded.facts.get("held", ()))
    if is_held:  # what a later layer takes away an earlier one still has
        stack = Stack(building, ground, rung, toolchain)
        noded = _noded(stack, node, _OLD_NPM if plan else "")
    given = request.workshop.packed(_GIVEN, _read_by_installs(recipe), is_of_fix=is_fixed)
    lock = required.read(manager.lock) if manager.lock else None
    locks = {manager.lock: lock.decode("utf-8", "replace")} if manager.lock and lock else {}
    inputs: tuple[Input, ...] = (given,)
    if manager.lock is None:
        text = _resolve(building, noded, given, recipe, node)
        locks = {_LOCK: text}
        inputs = (given, request.workshop.input(_LOCK, text.encode()))
    tools = _tools(manager, node, request.workshop.settings)
    modules = _modules(stack.image_id, inputs, recipe, tools, artefacts.idle(required), has_gyp=not is_held)
    installed = stack.add(modules, "install", _install(manager, recipe.is_frozen))
    tree = stack.add(_tree(stack.image_id, request, plan), "source", "")
    return replace(
        stack.image(),
        locks=locks,
        notes=(
            f"Node {noded.facts.get('node')}",
            *(
                (f"this Node is the base's own: of {' and '.join(map(str, node.missing))} none could be had",)
                if node.is_of_base
                else ()
            ),
            *((_FIXED,) if is_fixed else ()),
            *(() if recipe.is_frozen else (_LOOSE,)),
            *(() if recipe.is_dated or not recipe.is_frozen else (_UNDATED,)),
            *((f"{', '.join(sorted(recipe.released))}: {_RELEASED}",) if recipe.released else ()),
            *manifest.lock_notes(required),
            *_unbuilt(installed.facts, tree.facts),
        ),
        build=_build_of(tree.facts),
        env=_of_the_day(str(noded.facts.get("node")), request.when.date()),
    )


def _of_the_day(version: str, day: date) -> dict[str, str]:
    """The variables by which a Node that is newer than a day does what its line did then."""
    line, minor, *_ = [*map(int, re.findall(r"\d+", version)), 0, 0]
    is_later = any(line == of and minor >= first and day < since for of, first, since in _REQUIRES_MODULES)
    return {"NODE_OPTIONS": _REFUSES_MODULES} if is_later else {}


def _noded(stack: Stack, node: _Node, npm: str) -> BuiltLayer:
    """The layer of Node.

    Raises:
        RefusedError: there is none of that line.
        InfrastructureError: the engine, the registry or the disk failed.

    """
    settings = stack.building.request.workshop.settings
    try:
        return stack.add(layer_of_node(stack.image_id, node, settings, npm), _OF_NODE, stack.toolchain)
    except RefusedError as error:
        if error.rejection.reason not in (*_VAGUE, _UNREACHED):
            raise
        last_line = error.said.strip().rpartition("\n")[2][-300:]
        detail = (
            f"Node {node.line} can't be had from npm's registry ({last_line}):"
            f' name an installation of it as "{node.line}" under [images.nodes], or under [images] a base that has Node'
        )
        rejection = Rejection(stage=Stage.ENVIRONMENT, reason="no_node", detail=detail)
        raise RefusedError(rejection, step=error.step, said=error.said) from error


def told_reason(output: str) -> str:
    """The reason that a package manager's words for it give; empty where they give none."""
    output = re.sub(r"^\$ .*$", "", output, flags=re.MULTILINE)  # commands as the shell shows them
    reason = next((reason for reason, *words in _FAILURES if any(word in output for word in words)), "")
    is_ours = _SHUT_OUT in output and not _ASKED_FOR_LOGIN.search(output)
    return _UNREACHED if reason == _LOGIN and is_ours else reason


def told_login(error: RefusedError) -> RefusedError:
    """The same; where a registry asks for a token, with a sentence that says which and what to do."""
    if error.rejection.reason != _LOGIN:
        return error
    lines = "\n".join(line for line in error.said.splitlines() if re.search(r"\b40[13]\b|Request URL", line))
    hosts = re.findall(r"https?://(?:[^/\s@]+@)?([\w.:-]+)/", lines)
    registry = f"the registry {hosts[-1]}" if hosts else "a registry"
    sentence = (
        f"{registry} asks for a token, and builds get none, not even the repository's own:"
        " name one in NPM_CONFIG_REGISTRY that has these packages and asks for none"
    )
    rejection = replace(error.rejection, detail=f"{sentence}\n{error.rejection.detail}")
    return RefusedError(rejection, step=error.step, said=error.said)


def _environment() -> tuple[str, ...]:
    """Commands that let package managers find Node, a home, a cache that is kept, and the certificates."""
    return (
        f"export PATH={_HOME}/bin:$PATH HOME=/tmp/home CI=1 npm_config_cache={CACHE_DIR}/npm",
        "export npm_config_update_notifier=false npm_config_fund=false npm_config_audit=false",
        # locks may name mirrors, and an .npmrc refuse the Node that a package manager runs on
        "export npm_config_replace_registry_host=always npm_config_engine_strict=false",
        # a registry, or the relay to it, may fail under many connections
        "export npm_config_fetch_retries=6 npm_config_network_concurrency=8 npm_config_maxsockets=8",
        "export pnpm_config_fetch_retries=6 pnpm_config_network_concurrency=8 yarn_network_concurrency=8",
        "export npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_retry_maxtimeout=5000",
        f"export npm_config_store_dir={CACHE_DIR}/pnpm pnpm_config_store_dir={CACHE_DIR}/pnpm",
        f"export YARN_CACHE_FOLDER={CACHE_DIR}/yarn",
        'export NODE_EXTRA_CA_CERTS="${SSL_CERT_FILE:-}" YARN_ENABLE_TELEMETRY=0 YARN_NODE_LINKER=node-modules',
        'export YARN_HTTP_PROXY="${http_proxy:-}" YARN_HTTPS_PROXY="${https_proxy:-}" YARN_ENABLE_SCRIPTS=0',
        f'export YARN_NPM_REGISTRY_SERVER="${{NPM_CONFIG_REGISTRY:-https://{egress.NPM}}}"',  # a later yarn has another
        "mkdir -p /tmp/home",
        # what locks write down as ssh is public as a rule, and reached through the build's proxy
        *(
            f'git config --global --add url."https://{host}/".insteadOf "{way}"'
            for host in GIT_HOSTS
            for way in (f"ssh://git@{host}/", f"git@{host}:", f"git://{host}/")
        ),
    )


def _npm_of(node: int) -> str:
    """The version of npm for a line of Node."""
    return next(version for oldest, version in _NPM_OF_NODE if node >= oldest)


def layer_of_node(parent: str, node: _Node, settings: ImageSettings, npm: str) -> Layer:
    """Node, of this machine where the settings name one for it, else npm's; and that version of npm, or none."""
    own = None if node.is_of_base else own_folder("node", str(node.line), settings, "bin/node")
    laid: tuple[str, ...] = (f'python3 {_FETCH} "node-linux-{_MACHINE}" {node.line} {_HOME}',)
    if own or node.is_of_base:
        place = own.target if own else '"$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")"'
        laid = (
            f"place={place}; mkdir -p {_HOME}/bin {_HOME}/include; cp $place/bin/node {_HOME}/bin/",
            f"if [ -d $place/include/node ]; then cp -r $place/include/node {_HOME}/include/; fi",
        )
    run = f"exec {NODE} {_NPM}/bin/npm-cli.js"
    with_npm = (
        f"python3 {_FETCH} npm {npm} {_NPM}",
        f"printf '%s\\n' '#!/bin/sh' '{run} \"$@\"' > {_HOME}/bin/npm",
    )
    return Layer(
        kind="node",
        parent=parent,
        folders=(own,) if own else (),
        foreign=True,
        commands=(
            write_tool(_FETCH, _tool("fetch.py")),
            *laid,
            *(with_npm if npm else (f"mkdir {_NPM}",)),
            f"chmod 755 {_HOME}/bin/*",
            f"rm -rf {_HOME}/share {_NPM}/docs {_NPM}/man",
            readable(_HOME, _NPM),
            write_tool(_HELD, _tool("held.py")),
            f"python3 {_HELD} {NODE} {_NPM} > {FACTS_PATH}",
        ),
    )


def _resolve(building: Building, noded: BuiltLayer, given: Input, recipe: _Recipe, node: _Node) -> str:
    """The lock of a project that has none, with the versions of the day."""
    request = building.request

    def locked(day: str, until: str) -> tuple[str, str]:
        """The lock of the first day from one on until another that has what is required, and that day."""
        command = "npm install --package-lock-only --ignore-scripts"
        line = unless_peers_disagree(f"{command} $AS_OF")
        resolution = Resolution(
            image_id=noded.image_id,
            manifests=given,
            commands=(
                *_unpacked(recipe.project.folder),
                *_environment(),
                *_tools(recipe.manager, node, request.workshop.settings),
                write_tool(_RESOLVE, _tool("resolve.py")),
                f"python3 {_RESOLVE} {OUT_DIR}/{_LOCK} {CACHE_DIR} {day} {until} {quote(line)}",
            ),
            lock=_LOCK,
            rung=recipe.rung,
            toolchain=_toolchain(node.line),
            command=command if day == _ANY else f"{command} --before={day}",
        )
        resolved = json.loads(building.lock(resolution))
        return resolved["lock"], resolved["day"]

    if not recipe.is_dated:
        return locked(_ANY, _ANY)[0]
    when = (recipe.project.is_of_fix and request.fixed_at) or request.when
    first = first_of_quarter(when)
    last, begin, end = (f"{day:%Y-%m-%dT%H:%M:%SZ}" for day in (when, first, first + _QUARTER))
    try:
        lock, day = locked(begin, end)
        if day <= last:
            return lock
    except RefusedError as error:
        if error.rejection.reason in (_UNREACHED, _LOGIN):
            raise
    return locked(last, last)[0]


def unless_peers_disagree(command: str) -> str:
    """A command of npm, called again as npm 6 would where peers disagree or make npm 10 fail, or a lock was made so."""
    return _called_again(command, f"{command} --legacy-peer-deps", "grep -Eq 'ERESOLVE|EUSAGE|edgesOut' /tmp/said")


def unless_lock_has_more(command: str) -> str:
    """A command of pnpm, called again less strictly where a lock has dependencies that the manifest has not."""
    again = command.replace("--frozen-lockfile", "--no-frozen-lockfile")
    only = "grep -q 'were removed' /tmp/said && ! grep -Eq 'were added|are mismatched' /tmp/said"
    return _called_again(command, again, f"{{ {only}; }}")


def _called_again(command: str, again: str, when: str) -> str:
    return f"if {command} > /tmp/said 2>&1; then cat /tmp/said; else cat /tmp/said; {when} || exit 1; {again}; fi"


def _unpacked(folder: str) -> tuple[str, ...]:
    place = quote(posixpath.join(TESTBED, folder) if folder else TESTBED)
    return (f"mkdir -p {place}", f"tar -C {place} --no-same-owner -xf {INPUT_DIR}/{_GIVEN}", f"cd {place}")


def _install(manager: Manager, is_frozen: bool = True) -> str:
    """The command that installs what a lock says, and more unless it `is_frozen`, and runs no script of any package."""
    if manager.name == "pnpm":
        # from 11 on, locks are judged again by when and how their versions were published
        trusted = " --config.trust-lockfile=true" if int(manager.version.partition(".")[0]) >= _DISTRUSTS else ""
        return f"pnpm install --{'' if is_frozen else 'no-'}frozen-lockfile --ignore-scripts{trusted}"
    if manager.name == "yarn":
        frozen = " --frozen-lockfile" if is_frozen else ""
        return f"yarn install{frozen} --ignore-scripts --non-interactive --ignore-engines"
    if manager.name == "berry":
        return f"yarn install --{'' if is_frozen else 'no-'}immutable"
    return "npm ci --ignore-scripts" if is_frozen else "npm install --ignore-scripts"


def _manager_node(manager: Manager, node: int) -> int:
    """The line of Node that a package manager runs on: as no script runs, it need not be that of the tests."""
    line = int(manager.version.partition(".")[0] or 0)
    if manager.name == "pnpm" and line in (6, 7):
        return 16
    return max(node, 22) if manager.name == "npm" or (manager.name == "pnpm" and line >= _DISTRUSTS) else max(node, 18)


def _tools(manager: Manager, node: _Node, settings: ImageSettings) -> tuple[str, ...]:
    """Commands that bring a package manager, and the Node that it runs on, for as long as the step takes.

    Where the image's Node is not npm's, whose registry may have none, that does for both.
    """
    package, program = {
        "pnpm": ("pnpm", "bin/pnpm.cjs"),
        "yarn": ("yarn", "bin/yarn.js"),
        "berry": ("@yarnpkg/cli-dist", "bin/yarn.js"),
        "npm": ("npm", "bin/npm-cli.js"),
    }[manager.name]
    name = _install(manager).partition(" ")[0]
    run = f"exec /tmp/node/bin/node /tmp/manager/{program}"
    line = _manager_node(manager, node.line)
    fetched = f'python3 {_FETCH} "node-linux-{_MACHINE}" {line} /tmp/node'
    linked = f"mkdir -p /tmp/node/bin; ln -s {NODE} /tmp/node/bin/node"
    version = manager.version or _NEW_NPM
    if node.is_of_base or str(node.line) in installed("node", settings):
        older = manager.version or _npm_of(node.line)
        fetched, version = f"if {fetched}; then version={version}; else {linked}; version={older}; fi", "$version"
    elif line == node.line:
        fetched = linked
    return (
        write_tool(_FETCH, _tool("fetch.py")),
        fetched,
        f"python3 {_FETCH} {package} {version} /tmp/manager",
        f"mkdir -p /tmp/bin; printf '%s\\n' '#!/bin/sh' '{run} \"$@\"' > /tmp/bin/{name}",
        f"chmod 755 /tmp/bin/{name}; export PATH=/tmp/bin:/tmp/node/bin:$PATH",
        # it opens 50 connections at once otherwise, and has no patience with those that fail
        *(("export YARN_NETWORK_CONCURRENCY=10 YARN_HTTP_RETRY=8",) if manager.name == "berry" else ()),
    )


def _kept_manager(manager: Manager) -> tuple[str, ...]:
    """Commands that leave scripts a package manager to call: pnpm itself; npm in place of yarn."""
    name, place = _install(manager).partition(" ")[0], f"{_HOME}/bin"
    if name == "npm":
        return ()
    if name == "yarn":
        kept, program = write_tool(_YARN, _tool("yarn.py")), f"python3 {_YARN}"
    else:
        kept, program = f"mv /tmp/manager {_MANAGER}", f"{NODE} {_MANAGER}/bin/pnpm.cjs"
    run = f'exec {program} "$@"'
    return (kept, f"printf '%s\\n' '#!/bin/sh' {quote(run)} > {place}/{name}", f"chmod 755 {place}/{name}")


def _natives(idle: frozenset[str], npm: str) -> tuple[str, ...]:
    """Commands that compile native packages for the Node of the tests, with the headers that it came with."""
    gyp = f"exec {NODE} {npm}/node_modules/node-gyp/bin/node-gyp.js"
    arguments = " ".join([TESTBED, FACTS_PATH, *map(quote, sorted(idle))])
    return (
        write_tool(_NATIVES, _tool("natives.py")),
        f"printf '%s\\n' '#!/bin/sh' '{gyp} \"$@\"' > /tmp/bin/node-gyp; chmod 755 /tmp/bin/node-gyp",
        f"PATH={_HOME}/bin:/tmp/bin:$PATH npm_config_nodedir={_HOME} python3 {_NATIVES} {arguments}",
    )


def _modules(
    parent: str,
    inputs: tuple[Input, ...],
    recipe: _Recipe,
    tools: tuple[str, ...],
    idle: frozenset[str],
    *,
    has_gyp: bool,
) -> Layer:
    manager = recipe.manager
    command = _install(manager, recipe.is_frozen)
    owned = () if recipe.is_dated else (f"python3 {_MODULES} own {TESTBED}",)
    given = (f"cp {INPUT_DIR}/{_LOCK} {_LOCK}",) if manager.lock is None else ()
    retries = {"npm": unless_peers_disagree, "pnpm": unless_lock_has_more}
    is_retried = manager.name in retries and (recipe.is_frozen or manager.name == "npm")
    retried = retries[manager.name](command) if is_retried else command
    return Layer(
        kind="deps",
        parent=parent,
        foreign=True,
        inputs=inputs,
        commands=(
            write_tool(_MODULES, _tool("modules.py")),
            *_unpacked(recipe.project.folder),
            *given,
            *_environment(),
            *tools,
            # other names of the registry, and its mirrors
            f'if [ -f yarn.lock ]; then sed -Ei "s#//({_MIRRORS})/#//{egress.NPM}/#" yarn.lock; fi',
            retried,
            *_natives(idle, _NPM if has_gyp else "/tmp/manager"),  # noqa: S108 - inside the container
            "cd /",
            *owned,
            f"mkdir -p {STORE}",
            f"python3 {_MODULES} keep {TESTBED} {STORE}",
            *_kept_manager(manager),
            f"rm -rf {TESTBED}",
            readable(STORE),
        ),
    )


def _tree(parent: str, request: ImageRequest, plan: Plan | None) -> Layer:
    """The tree, with links to its packages and with what its tests load of what is built."""
    building: tuple[str, ...] = (f"echo '{{}}' > {FACTS_PATH}",)
    if plan:
        lenient = {"NODE_OPTIONS": f"{_BUILD_ENV['NODE_OPTIONS']} --require {_TYPES}"}
        text = json.dumps({"wanted": plan.wanted, "commands": plan.commands, "lenient": lenient})
        exports = [f"export {name}={quote(value)}" for name, value in _BUILD_ENV.items()]
        tools = (write_tool(_TYPES, _tool("types.cjs")), write_tool(_BUILT, _tool("built.py")))
        building = (*tools, *exports, f"python3 {_BUILT} {quote(text)} {FACTS_PATH}")
    return tree_layer(
        parent,
        request,
        programs=f"{_HOME}/bin",
        unversioned=("node_modules",),
        commands=(
            write_tool(_MODULES, _tool("modules.py")),
            f"python3 {_MODULES} link {STORE} {TESTBED}",
            *building,
            readable(TESTBED),
        ),
    )


def _build_of(facts: Mapping[str, Any]) -> Build | None:
    """How a trial makes anew what tests load, as an image's facts tell it."""
    if not (build_found := facts.get("build")):
        return None
    folder, command = build_found["folder"], build_found["command"]
    return Build(
        argv=("/bin/sh", "-c", f"cd {quote(folder)} && {command}" if folder else command),
        inputs=artefacts.INPUTS,
        outputs=tuple(build_found["outputs"]),
        env={**_BUILD_ENV, **build_found.get("env", {})},
        seconds=float(math.ceil(min(_LONGEST, max(_SHORTEST, build_found["seconds"] * _AS_LONG)))),
    )


def _unbuilt(installed: Mapping[str, Any], tree: Mapping[str, Any]) -> tuple[str, ...]:
    """What was compiled of packages, and what could be built neither of these nor of the tree."""
    names, idle, why = installed.get("compiled"), installed.get("idle"), tree.get("not_built")
    return (
        *((f"native packages that nothing names were not compiled: {', '.join(idle)}",) if idle else ()),
        *((f"native packages were compiled: {', '.join(names)}",) if names else ()),
        *(f"{name} can't be compiled: {failure}" for name, failure in installed.get("not_compiled", {}).items()),
        *((f"what its tests load can't be built: {why}",) if why else ()),
    )


def _read_by_installs(recipe: _Recipe) -> Iterator[tuple[str, bytes]]:
    tree = recipe.project.tree
    is_linking = not recipe.is_frozen and recipe.manager.name in ("pnpm", "berry")
    linked = frozenset(artefacts.own_packages(tree)) if is_linking else frozenset()
    is_alone = recipe.is_dated and manifest.is_alone(tree)
    for path in tree.files():
        folder, _, name = path.rpartition("/")
        if folder and name == MANIFEST and is_alone:
            continue
        if (name in _MANIFESTS or path.startswith(_FOLDERS)) and "node_modules/" not in path:
            data = tree.read(path) or b""
            if recipe.manager.lock is None and name in LOCKS:
                continue
            if name == MANIFEST:
                is_apart = posixpath.dirname(path) in recipe.apart
                for_npm = recipe.manager.name == "npm"
                is_single = path == MANIFEST and recipe.is_dated
                data = plain(
                    data, recipe.without, linked, recipe.released,
                    is_for_npm=for_npm, is_apart=is_apart, is_single=is_single,
                )  # fmt: skip
            elif name in (".npmrc", ".yarnrc", ".yarnrc.yml"):
                data = _ALWAYS.sub(b" false", _CREDENTIALS.sub(b"", data))  # builds get the user's own
            yield path, data


def plain(
    data: bytes,
    without: frozenset[str],
    linked: frozenset[str] = frozenset(),
    released: frozenset[str] = frozenset(),
    *,
    is_for_npm: bool = False,
    is_apart: bool = False,
    is_single: bool = False,
) -> bytes:
    """A manifest with nothing but what installs ask for, so that commits share a layer.

    `linked` are packages of the workspace that are taken from it whatever version is asked for, `released` those from
    git of which any release will do. Nothing is installed
    where `engines` ask for another package manager, nor by npm where `devEngines` do, or for another Node. One that
    `is_apart` requires nothing; of one that `is_single` nobody asks for a version.
    """
    if (package := json_text.read_object(data)) is None:
        return data
    unread = {"devEngines"} if is_for_npm else set()
    unread |= {*manifest.DEPENDENCIES, "peerDependencies"} if is_apart else set()
    unread |= {"version"} if is_single else set()
    kept = {name: value for name, value in package.items() if name in _READ - unread}
    for key in manifest.DEPENDENCIES if without or linked else ():
        if isinstance(listed := kept.get(key), dict):
            wishes = {**dict.fromkeys(released, "*"), **dict.fromkeys(linked, "workspace:*")}
            kept[key] = {
                name: wishes.get(name, wish) if name in linked or manifest.is_from_git(wish) else wish
                for name, wish in listed.items()
                if name not in without - released or not (key == "devDependencies" or manifest.is_from_git(wish))
            }
    return json.dumps(kept, indent=2).encode()


TOOLCHAINS = (
    Toolchain(
        name="node",
        origin="npm's registry",
        versions=package_index.node_lines,
        remedy="name your registry in NPM_CONFIG_REGISTRY, or folders of Node in [images.nodes]",
    ),
)
"""Its layer has the npm that a project needs, too."""

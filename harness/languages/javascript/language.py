"""JavaScript and TypeScript behind the seam of `harness.languages.base`."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.core.clock import prefix
from harness.core.instance import TestSpec
from harness.languages import parts
from harness.languages.base import Chain, Framework, Language, Program, Reason, TestReport
from harness.languages.javascript.raised import raised
from harness.languages.reporting import Runner
from harness.patches.patch import FilePatch

if TYPE_CHECKING:
    from harness.languages.base import Names

NODE = "/opt/goldseam/node/bin/node"
ROOT = "--root="
"""The first of a task's options where its package is not the repository's root."""
TRANSPILED = "--transpile=typescript"
"""The option by which TypeScript is loaded by the project's own compiler (inside/typescript.js)."""
THROUGH = "--through="
"""The first of jest's options where a tool calls it, by a configuration of its own."""

_PATH = "./node_modules/.bin:/testbed/node_modules/.bin:/opt/goldseam/node/bin:/usr/bin:/bin"
_REQUESTS = ("vary", "clock")
_PROGRAMS = {
    "jest": ("jest",),
    "vitest": ("vitest", "run"),
    "mocha": ("mocha",),
    "node:test": ("node", "--test"),
    "tap": ("sh", "-c", 'export TAP_DISABLE_COVERAGE=1; exec "$(command -v tape || command -v tap)" "$@"', "tap"),
    "ava": ("ava",),
    "jasmine": ("jasmine",),
    "uvu": ("uvu",),
    "qunit": ("qunit",),
    "lab": ("lab",),
}


class Reported(Runner):
    """A runner of JavaScript, whose reporter tells of what was thrown as text."""

    def read(self, frames: Sequence[Mapping[str, Any]]) -> TestReport:
        """What all runners tell, with what the texts show that was thrown."""
        report = super().read(frames)
        return replace(
            report,
            raised=_shown(report.texts) | dict(report.raised),
            collect_raised=_shown(report.collect_errors) | dict(report.collect_raised),
        )


def _shown(texts: Mapping[str, str]) -> dict[str, Chain]:
    return {name: chain for name, text in texts.items() if (chain := raised(text))}


FRAMEWORKS: Mapping[str, Runner] = {name: Reported() for name in _PROGRAMS}

_ALL: Mapping[str, tuple[str, ...]] = {"tap": ("test*/**/*.js",)}
"""What a program is given that runs nothing by itself."""
MANIFEST, CONFIGURATION, INSTALLED, SNAPSHOT = "package_manifest", "test_configuration", "installed_modules", "snapshot"
"""Why a file of a model's patch may not reach the tests."""
_MANIFESTS = frozenset(
    {"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml"}
)
_CONFIGURATIONS = re.compile(
    r"(?:jest|vitest|vite|babel|ava|karma|mocha|tap|nyc|swc|esbuild|tsup|rollup|webpack)[.-](?:config|conf|setup|preset|workspace)"
    r"\b.*|\.(?:babelrc|swcrc|mocharc|nycrc|taprc|npmrc|yarnrc|c8rc|pnp)\b.*|[jt]sconfig.*\.json|jasmine\.(?:json|[cm]?js)|mocha\.opts|\.pnpmfile\.cjs|test-setup\..*"
)


_part = partial(parts.part, language="javascript")


def _reason(_file: FilePatch, path: str) -> str | None:
    """Why a file may not reach the tests by this path: it would change how they are found, loaded or run."""
    folders, _, name = path.rpartition("/")
    within = folders.split("/")
    if {"node_modules", "__mocks__"} & {*within, name}:  # jest takes packages from any `__mocks__` of the tree
        return INSTALLED
    if name in _MANIFESTS:
        return MANIFEST
    if _CONFIGURATIONS.fullmatch(name):
        return CONFIGURATION
    return SNAPSHOT if name.endswith((".snap", ".snapshot")) or "tap-snapshots" in within else None


class JavaScript(Language):
    """The project's own runner, on Node, with a reporter of ours."""

    name = "javascript"
    frameworks: Mapping[str, Framework] = FRAMEWORKS
    allowable = frozenset({MANIFEST, CONFIGURATION, SNAPSHOT})

    def program(self, test: TestSpec, requests: Mapping[str, Any]) -> Program:
        """Node with the driver, as a program of its own, on a clock of its own where that is asked for."""
        root, transpiled, options = _own_options(test)
        order = requests.get("vary", {}).get("order")
        asked = {
            **({"order": order} if order is not None else {}),
            "framework": test.framework,
            "root": root,
            "options": options,
            "shared": _part("shared.js"),
            "handout": _part("handout.js"),
            "transpiler": _part("typescript.js") if transpiled else "",
            "reporter": _part(f"{test.framework.replace(':', '')}.js"),
        }
        argv = [NODE, "-e", _part("driver.cjs"), "--", json.dumps(asked)]
        env = {"CI": "1", "NODE_OPTIONS": "", "NO_COLOR": "1", "FORCE_COLOR": "0", "NODE_DISABLE_COMPILE_CACHE": "1"}
        return parts.command(argv, requests, _REQUESTS, env)

    def screen(self, test: TestSpec, hidden_paths: Collection[str]) -> Reason:
        """What says how tests are found, loaded and run, and what is installed."""
        return _reason

    def by_hand(self, test: TestSpec, paths: Sequence[str]) -> tuple[str, ...]:
        """The runner's own program, in the folder of the package."""
        root, transpiled, options = _own_options(test)
        program = _PROGRAMS[test.framework]
        if options and options[0].startswith(THROUGH):
            program, options = (options[0].removeprefix(THROUGH), "test"), options[1:]
        files = dict.fromkeys(posixpath.relpath(path.partition("::")[0], root) for path in paths)
        given = files or _ALL.get(test.framework, ())
        loader = {"NODE_OPTIONS": _imported("typescript.js")} if transpiled else {}
        enter = ("sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", root)
        env = {"CI": "1", "PATH": _PATH, **_own(test.env), **loader}
        return (*prefix(test.clock), *enter, *parts.with_env(env, *program, *options, *given))

    def cut(self, path: str, before: str | None, after: str, keep: Collection[Names]) -> str:
        """By the syntax trees of both files."""
        from harness.languages.javascript.cut import cut  # noqa: PLC0415 - loads two grammars, and few commands cut

        return cut(path, before, after, keep)


def _own(env: Mapping[str, str]) -> dict[str, str]:
    """A task's variables, without the image's PATH."""
    return {name: value for name, value in env.items() if name != "PATH"}


def _imported(part: str) -> str:
    """The option that makes Node run a part before anything else, without a file of it."""
    names = ("module", "fs", "path", "url")
    text = "".join(f'import {name}_ from "node:{name}";' for name in names) + _part(part)
    return f"--import=data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def _own_options(test: TestSpec) -> tuple[str, bool, list[str]]:
    """The folder of the package, whether TypeScript is transpiled, and the runner's own options."""
    root = next((option[len(ROOT) :] for option in test.options if option.startswith(ROOT)), ".")
    own = [option for option in test.options if option != TRANSPILED and not option.startswith(ROOT)]
    return root, TRANSPILED in test.options, own


JAVASCRIPT = JavaScript()

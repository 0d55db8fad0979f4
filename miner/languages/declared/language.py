"""Runners that goldseam.toml declares, behind the seam of `miner.languages.base`."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.config.settings import DeclaredSettings
from harness.core import instance
from harness.core.instance import TestSpec, is_matched
from harness.languages.base import TestReport
from harness.languages.declared.language import PREFIX
from miner.evidence.tree import TESTBED, Tree
from miner.languages import system
from miner.languages.base import Code, ImageRequest, Language, TestCommand, UnparsedCode
from miner.languages.building import Building, Stack, refusal, tree_layer
from miner.languages.built import BuiltImage
from miner.layers import base
from miner.layers.build import BuiltLayer
from miner.layers.layer import FACTS_PATH, Layer, quote, readable, write_tool

RUNG = "declared"
"""The name of the only recipe."""
_FACTS = (
    "import json, sys; paths = sys.stdin.buffer.read().decode('utf-8', 'replace').split(chr(0)); "
    "print(json.dumps({'installed': list(filter(None, paths))}))"
)
_INSTALL = "/tmp/install.sh"  # noqa: S108 - inside the container
_NOT_DATED = "packages and what `install` downloads are of the day of the build, not of the commit"
_QUALIFIED = r"(?:[\w\\]+(?:::|\\|\.))*"
_WANTED = re.compile(
    r"(?:undefined|undeclared|implicit declaration|no member|cannot find|unresolved|unknown|too (?:many|few) arguments)"
    rf"\b[^\n‘'`\"]{{0,80}}[‘'`\"]{_QUALIFIED}(\w+)"
    rf"|[‘'`\"]{_QUALIFIED}(\w+)['’`\"] (?:undeclared|not found|was not declared)"
    rf"|uninitialized constant {_QUALIFIED}(\w+)"
    rf"|undefined (?:method|function|constant) {_QUALIFIED}(\w+)",
    re.IGNORECASE,
)
"""How compilers and interpreters tell which name they miss: gcc, clang, ld, Ruby, PHP, and others that speak alike."""


class DeclaredCode(UnparsedCode):
    """Names alone; which of them is missing stands in what compilers and interpreters print."""

    def __init__(self) -> None:
        super().__init__("")

    def is_source(self, path: str) -> bool:
        """None: whether a file is code, nobody says."""
        return False

    def missing_names(self, report: TestReport) -> dict[str, str]:
        """The first that the end of the output misses."""
        matches = ((path, _WANTED.search(text)) for path, text in report.collect_errors.items())
        return {path: next(filter(None, match.groups())) if match else "" for path, match in matches}


class Declared(Language):
    """Tests of any language: files by patterns, one command, results in files."""

    name = "declared"
    suffixes: tuple[str, ...] = ()
    test_names = re.compile(r"(?!)")
    test_modules: re.Pattern[str] | None = None
    code: Code = DeclaredCode()

    def test_commands(self, tree: Tree, test_files: Sequence[str]) -> tuple[TestCommand, ...]:
        """The declared one; `spec` has it from the image."""
        return (TestCommand(framework=self.name, runner=RUNG),)

    def build(self, request: ImageRequest) -> BuiltImage:
        """Packages and commands, in layers."""
        return build_image(request)

    def spec(self, image: BuiltImage, command: TestCommand) -> TestSpec:
        """As the image was built for it."""
        assert image.test is not None  # noqa: S101 - `build` gives it
        return image.test

    def arguments(self, spec: TestSpec, test_ids: Collection[str]) -> tuple[str, ...]:
        """None: the command takes files."""
        return ()

    def suite(self, spec: TestSpec, tree: Tree) -> tuple[tuple[str, ...], ...]:
        """The files that are declared as tests."""
        patterns = spec.declared.tests if spec.declared else ()
        return (tuple(path for path in tree.files() if is_matched(path, patterns)),)


def build_image(request: ImageRequest) -> BuiltImage:
    """The image that goldseam.toml declares.

    Raises:
        RefusedError: a package can't be had, or a command fails.
        InfrastructureError: the engine, a mirror or the disk failed.

    """
    declared = request.declared
    if declared is None:
        raise refusal("not_declared", f"goldseam.toml declares nothing for {request.repo}")
    building = Building(request)
    ground = base.ensure(request.workshop)
    stack = Stack(building, ground, RUNG, "")
    packages: tuple[str, ...] = ()
    if declared.packages:
        called = f"apt-get install {' '.join(declared.packages)}"
        installed = stack.add(system.layer(ground.image_id, declared.packages), "system", called)
        _hold_to(declared, installed)
        packages = tuple(installed.facts.get("packages", ()))
    tree = stack.add(_tree(stack.image_id, request, declared), "source", "; ".join(declared.install))
    image = replace(
        stack.image(),
        system=packages,
        notes=(_NOT_DATED,),
        test=_spec(declared, tree.facts.get("installed", ())),
    )
    building.collects_all(image, RUNG)
    return building.best() or image


def _hold_to(declared: DeclaredSettings, layer: BuiltLayer) -> None:
    """Refuse an image that lacks a package: what is declared is all that there is."""
    installed = {package.partition("=")[0] for package in layer.facts.get("packages", ())}
    if lacking := [name for name in declared.packages if name not in installed]:
        raise refusal("no_debian_package", f"Debian has no package {', '.join(lacking)}, or can't install it")


def _tree(parent: str, request: ImageRequest, declared: DeclaredSettings) -> Layer:
    """The tree, and what the commands leave in it; their changes to its own files are undone."""
    return tree_layer(
        parent,
        request,
        programs="/usr/local/bin",
        commands=(
            *(f"export {name}={quote(value)}" for name, value in declared.env.items()),
            *(line for command in declared.install for line in _called(command)),
            f"cd {TESTBED} && git checkout -q -- .",
            f'git ls-files -z -o --directory | python3 -c "{_FACTS}" > {FACTS_PATH}',
            "git ls-files -o --directory --exclude-standard | sed 's|^|/|' >> .git/info/exclude",
            readable(TESTBED),
        ),
    )


def _called(command: str) -> tuple[str, ...]:
    """A command of several lines, perhaps, as each of a Dockerfile's has to be one."""
    return write_tool(_INSTALL, command.strip("\n")), f"cd {TESTBED} && sh -e {_INSTALL}"


def _spec(declared: DeclaredSettings, installed: tuple[str, ...]) -> TestSpec:
    """How a task's tests are run: all of the declaration that a trial has to know."""
    inside = (f"/{glob.escape(path)}{'*' if path.endswith('/') else ''}" for path in installed)
    return TestSpec(
        framework=f"{PREFIX}{declared.format}",
        env=dict(declared.env),
        declared=instance.Declared(
            test=declared.test,
            results=declared.results,
            build=declared.build,
            tests=declared.tests,
            protected=(*declared.protect, *inside),
        ),
    )


DECLARED = Declared()

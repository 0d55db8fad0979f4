"""The image with the tools that read patched files beside the verdict, all locked by hash.

ruff, bandit and lizard are always there; semgrep and eslint are layers on top, for who asks for them.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path

from harness.config.settings import ImageSettings
from harness.core.errors import InfrastructureError
from harness.sandbox.images.tools import KIND, KIND_WITH, PYTHON, TOOLS
from miner.images.cli_choices import Extra
from miner.images.task_image import open_workshop
from miner.languages.python.images.steps import UV
from miner.layers import base, build
from miner.layers.build import BuiltLayer
from miner.layers.layer import APT_CERTIFICATES, APT_CLEANED, FACTS_PATH, INPUT_DIR, Input, Layer, readable

LOCK_NAME = "signals.lock"
"""Made by `uv pip compile --universal --generate-hashes` from `bandit`, `lizard` and `ruff`."""
SEMGREP_LOCK = "semgrep.lock"
"""Made by `uv pip compile --universal --python-version 3.11 --generate-hashes` from `semgrep`."""
ESLINT_FILES = ("eslint-package.json", "eslint-package-lock.json")
"""The second one is made from the first by `npm install --package-lock-only --omit-lockfile-registry-resolved`."""
_SEMGREP_HOME = "/opt/goldseam/semgrep"
_ESLINT_HOME = "/opt/goldseam/eslint"
_HOME = str(Path(PYTHON).parents[1])
_FACTS = (
    "import importlib.metadata as m, json, platform; "
    f"print(json.dumps(dict(python=platform.python_version(), **{{n: m.version(n) for n in {list(TOOLS)!r}}})))"
)
_SEMGREP_FACTS = "import importlib.metadata as m, json; print(json.dumps(dict(semgrep=m.version('semgrep'))))"


def layer(parent: str, lock: Path) -> Layer:
    """The tools in a virtual environment of their own, with the base's own Python."""
    return Layer(
        kind=KIND, parent=parent, inputs=(_input(LOCK_NAME, lock),), commands=_installed(_HOME, LOCK_NAME, _FACTS)
    )


def extra_layer(extra: Extra, parent: str, files: Mapping[str, Path]) -> Layer:
    """One more tool on top; `files` are those of this package, by name."""
    names = (SEMGREP_LOCK,) if extra is Extra.SEMGREP else ESLINT_FILES
    inputs = tuple(_input(name, files[name]) for name in names)
    commands = _installed(_SEMGREP_HOME, SEMGREP_LOCK, _SEMGREP_FACTS) if extra is Extra.SEMGREP else _eslint_commands()
    return Layer(kind=KIND_WITH, parent=parent, inputs=inputs, commands=commands, needs_root=extra is Extra.ESLINT)


def _input(name: str, path: Path) -> Input:
    return Input(name=name, path=path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def _installed(home: str, lock: str, facts: str) -> tuple[str, ...]:
    """The commands that make a virtual environment of what a lock has."""
    python = f"{home}/bin/python"
    install = f"{UV} pip install --quiet --python {python} --no-deps --compile-bytecode --only-binary :all:"
    return (
        f"{UV} venv --quiet --python /usr/bin/python3 {home}",
        f"{install} --require-hashes -r {INPUT_DIR}/{lock}",
        readable(home),
        f'{python} -I -c "{facts}" > {FACTS_PATH}',
    )


def _eslint_commands() -> tuple[str, ...]:
    """Node.js of the base's distribution stays; npm, which needs hundreds of packages, is there for the build only."""
    trust = 'if [ -n "${SSL_CERT_FILE:-}" ]; then export NODE_EXTRA_CA_CERTS="$SSL_CERT_FILE"; fi'
    apt = "apt-get $options -qq -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0"
    install = f"{apt} install -y --no-install-recommends"
    npm = "npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --cache /tmp/npm --loglevel warn"
    facts = (
        "const tool = require('./node_modules/eslint/package.json').version;"
        "console.log(JSON.stringify({eslint: tool, node: process.versions.node}))"
    )
    return (
        f'options="$({APT_CERTIFICATES})"',
        trust,
        f"{apt} update",
        f"{install} nodejs >/dev/null",
        "apt-mark showmanual > /tmp/kept",
        f"{install} npm >/dev/null",
        f"mkdir -p {_ESLINT_HOME}",
        f"cd {_ESLINT_HOME}",
        f"cp {INPUT_DIR}/{ESLINT_FILES[0]} package.json",
        f"cp {INPUT_DIR}/{ESLINT_FILES[1]} package-lock.json",
        npm,
        f"{apt} purge -y --autoremove npm >/dev/null",
        APT_CLEANED,
        readable(_ESLINT_HOME),
        f'node -e "{facts}" > {FACTS_PATH}',
    )


def ensure(settings: ImageSettings, progress: Callable[[str], None], *, extras: Iterable[Extra] = ()) -> BuiltLayer:
    """The tools image, with the extra tools that are asked for, built if need be; `facts` are of all its tools.

    Raises:
        InfrastructureError: no base image, no package index or npm registry, or the engine failed.

    """
    log = settings.cache_dir / "logs" / "tools-image.log"
    extras_wanted = set(extras)
    with contextlib.ExitStack() as opened:
        folder = resources.files("miner.images").joinpath("tools")
        names = (LOCK_NAME, SEMGREP_LOCK, *ESLINT_FILES)
        files = {name: opened.enter_context(resources.as_file(folder.joinpath(name))) for name in names}
        workshop = opened.enter_context(open_workshop(settings, KIND, log, progress))
        ground = base.ensure(workshop)
        try:
            built = build.ensure(workshop, layer(ground.image_id, files[LOCK_NAME]))
            for extra in (extra_known for extra_known in Extra if extra_known in extras_wanted):
                more = build.ensure(workshop, extra_layer(extra, built.image_id, files))
                built = replace(more, facts={**built.facts, **more.facts})
        except build.StepFailedError as error:
            raise InfrastructureError(
                f"the tools image can't be built: {error.detail[-500:]}", hint=f"the log is {log}"
            ) from error
    return built

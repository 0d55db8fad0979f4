"""A layer of an image as a pure value, and how it reads as a Dockerfile."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from harness.dataset.hidden_files import OF_FIX
from miner.evidence.tree import TESTBED
from miner.layers.secrets import CA_PATH, RUN_DIR

INPUT_DIR = f"{RUN_DIR}/in"
CACHE_DIR = f"{RUN_DIR}/uv-cache"
OUT_DIR = f"{RUN_DIR}/out"
"""Where commands leave results for this machine to read."""
APT_CERTIFICATES = 'if [ -n "${SSL_CERT_FILE:-}" ]; then echo "-o Acquire::https::CAInfo=$SSL_CERT_FILE"; fi'
"""The command that prints the option by which `apt-get` trusts the certificates of builds."""
APT_CLEANED = "rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb"
"""Leaves nothing of what `apt-get` fetched in a layer but what it installed."""
FACTS_PATH = f"{OUT_DIR}/facts.json"
"""Where a layer's commands leave what they found out, as one JSON object; it becomes a label."""
REPOSITORY = "goldseam"
SOURCE_NAME = "source.tar"
"""The tree at base_commit, as an input of layers."""
COMPRESSED = ".gz"
_LINE_END = re.compile(r"(?<!\\)\n")
"""In a command of several: what goes on in its next line has a backslash before it."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A file that a layer's commands read at `/run/goldseam/in/<name>`; it is not part of the layer."""

    name: str
    path: Path
    """Where it is on this machine."""
    sha256: str
    is_of_fix: bool = False
    """Whether it has files as the fix leaves them, which stay hidden."""

    @property
    def stored_name(self) -> str:
        """The file of a task's folder that holds it, compressed."""
        return f"{OF_FIX if self.is_of_fix else ''}{self.name}{COMPRESSED}"


@dataclass(frozen=True, kw_only=True)
class Folder:
    """A folder of this machine that a layer's commands read; it is not part of the layer."""

    path: Path
    target: str
    """Where it is mounted, below /run/goldseam."""
    key: str
    """What its content is known by."""
    context: str
    """Name of the build context that stands for it in the Dockerfile."""


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What one layer is built from. Two equal values give the same key, and the layer is built once."""

    kind: str
    parent: str
    """Image id (`sha256:…`)."""
    commands: tuple[str, ...]
    """Commands for `sh -eu`, one after the other; none may print a secret."""
    inputs: tuple[Input, ...] = ()
    folders: tuple[Folder, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """What the image's configuration sets for every container."""
    workdir: str = "/"
    labels: Mapping[str, str] = field(default_factory=dict)
    needs_root: bool = False
    """Whether the commands need all of the engine's default capabilities (apt does)."""
    foreign: bool = False
    """Whether they run code of the repository or of its dependencies, which may not reach whatever it likes."""

    @property
    def key(self) -> str:
        """SHA-256 (hex) of everything above."""
        parts = [
            self.kind,
            self.parent,
            self.commands,
            [(item.name, item.sha256) for item in self.inputs],
            [(folder.target, folder.key) for folder in self.folders],
            sorted(self.env.items()),
            self.workdir,
            sorted(self.labels.items()),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def tag(self) -> str:
        return f"{REPOSITORY}/{self.kind}:{self.key[:16]}"

    def script(self) -> str:
        """The commands as one script for `sh`; each is shown before it runs."""
        lines = ["set -eu", "umask 022"]
        for command in self.commands:
            lines += [f"printf '$ %s\\n' {quote(command.splitlines()[0])}", command]
        return "\n".join(lines) + "\n"

    def dockerfile(self) -> str:
        """The same commands as instructions of a Dockerfile."""
        mounts = [
            "--mount=type=tmpfs,target=/run",
            "--mount=type=tmpfs,target=/tmp",
            f"--mount=type=tmpfs,target={OUT_DIR}",
            f"--mount=type=secret,id=build-env,target={RUN_DIR}/env",
            f"--mount=type=secret,id=ca,target={CA_PATH}",
            f"--mount=type=cache,target={CACHE_DIR}",
            *(f"--mount=type=bind,source={item.name},target={INPUT_DIR}/{item.name}" for item in self.inputs),
            *(f"--mount=type=bind,from={folder.context},target={folder.target}" for folder in self.folders),
        ]
        commands = (_LINE_END.sub("; \\\n    ", command) for command in self.commands)
        body = [f"set -eu; umask 022; if [ -f {RUN_DIR}/env ]; then . {RUN_DIR}/env; fi", *commands]
        text = f"# {self.kind}\nRUN " + " \\\n    ".join(mounts) + " \\\n    " + "; \\\n    ".join(body) + "\n"
        text += "".join(f"ENV {name}={json.dumps(value)}\n" for name, value in sorted(self.env.items()))
        return text + (f"WORKDIR {self.workdir}\n" if self.workdir != "/" else "")


def quote(text: str) -> str:
    """A text as one word of `sh`."""
    return "'" + text.replace("'", "'\\''") + "'"


def readable(*folders: str) -> str:
    """The command that lets everyone read folders; it touches no file that is so already, which would copy it."""
    return f"find {' '.join(folders)} \\( ! -perm -004 -o -type d ! -perm -005 \\) ! -type l -exec chmod a+rX {{}} +"


def unpacked(name: str, *folders: str) -> str:
    """The command that lays the files of an archive among the inputs where the tree is; these folders are made, too."""
    return f"mkdir -p {' '.join((TESTBED, *folders))} && tar -C {TESTBED} --no-same-owner -xf {INPUT_DIR}/{name}"


def tool(package: str, name: str) -> str:
    """The source of one of our helper programs, in the folder `tools` of a package."""
    return resources.files(package).joinpath("tools", name).read_text(encoding="utf-8")


def write_tool(path: str, source: str) -> str:
    """The command that writes one of our helper programs to a path inside the container."""
    lines = " \\\n    ".join(quote(line) for line in source.splitlines())
    return f"printf '%s\\n' \\\n    {lines} > {path}"

"""The Dockerfile of a task: the public record of how its image came to be, and a way to build it again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.core.errors import InputError
from miner.layers.layer import CACHE_DIR, Layer

_HEADER = """\
# How this task's image was built, as BuildKit reads it. The build context holds the files beside this one,
# unpacked where they end in .gz, and source.tar (`git archive` of base_commit, without export attributes). Index and
# proxy settings come in the secret `build-env`, a file of `export NAME=value` lines, a certificate bundle in the secret
# `ca`; nothing of them stays in a layer.
# `goldseam images rebuild` does that, and compares what comes of it with the task's image.
"""
VARIABLES = {
    "HOME": "/tmp/home",  # noqa: S108 - inside the container
    "UV_CACHE_DIR": CACHE_DIR,
    "UV_LINK_MODE": "copy",
    "UV_NO_PROGRESS": "1",
    "UV_NO_CONFIG": "1",
    "UV_PYTHON_DOWNLOADS": "never",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "DEBIAN_FRONTEND": "noninteractive",
    "LANG": "C.UTF-8",
}
"""What is set in every build, and in no image."""
_REACH = "# Builds may reach: "
_SECTION = re.compile(r"^# ([a-z-]+)\n(?=RUN )", re.MULTILINE)
_FLAGS = re.compile(r"RUN (?P<flags>(?:--mount=\S+\s+)+)")
_INPUT = re.compile(r"--mount=type=bind,source=([^,\s]+)")
_CONTEXT = re.compile(r"--mount=type=bind,from=([^,\s]+),target=(\S+)")
_TMP = "--mount=type=tmpfs,target=/tmp"


@dataclass(frozen=True, kw_only=True)
class Section:
    """What one layer of a task's image is built by."""

    kind: str
    text: str
    """Its instructions."""
    body: str
    """Its commands, as one for `sh`."""
    inputs: tuple[str, ...]
    """Files of the build context that it reads."""
    contexts: tuple[tuple[str, str], ...]
    """Folders from elsewhere that it reads: their names, and where it reads them."""
    env: Mapping[str, str]
    workdir: str

    @property
    def leaves_nothing(self) -> bool:
        """Whether BuildKit keeps no scratch files of it; those that were written before have no mount for that."""
        return _TMP in self.text


@dataclass(frozen=True, kw_only=True)
class ParsedDockerfile:
    """A task's Dockerfile, read again."""

    base: str
    variables: Mapping[str, str]
    sections: tuple[Section, ...]
    hosts: tuple[str, ...] = ()
    """What its builds may reach for this repository alone."""


def render(base: str, layers: Sequence[Layer], variables: Mapping[str, str], hosts: Sequence[str] = ()) -> str:
    """A Dockerfile that starts from `base` and runs the commands of these layers, in order, which may reach `hosts`."""
    folders = [folder for layer in layers for folder in layer.folders]
    notes = "".join(
        f"# The interpreter comes from a folder: --build-context {folder.context}=/path/to/it\n" for folder in folders
    )
    if hosts:
        notes += f"{_REACH}{' '.join(hosts)}\n"
    parts = "\n".join(layer.dockerfile() for layer in layers)
    return f"{_HEADER}{notes}{head(base, {**VARIABLES, **variables})}\n{parts}"


def head(base: str, variables: Mapping[str, str]) -> str:
    """The first instructions."""
    return f"FROM {base}\n" + "".join(f"ARG {name}={json.dumps(value)}\n" for name, value in sorted(variables.items()))


def read(text: str) -> ParsedDockerfile:
    """A Dockerfile that `render` wrote.

    Raises:
        InputError: it is none.

    """
    first, *rest = _SECTION.split(text)
    base = next((line.removeprefix("FROM ").strip() for line in first.splitlines() if line.startswith("FROM ")), "")
    try:
        variables = dict(_pair(line, "ARG ") for line in first.splitlines() if line.startswith("ARG "))
        sections = tuple(_section(kind, part) for kind, part in zip(rest[::2], rest[1::2], strict=True))
    except ValueError as error:
        raise InputError(f"this Dockerfile is not one that goldseam wrote: {error}") from error
    if not base or not sections:
        raise InputError("this Dockerfile is not one that goldseam wrote: it has no layers")
    hosts = next((line.removeprefix(_REACH) for line in first.splitlines() if line.startswith(_REACH)), "")
    return ParsedDockerfile(base=base, variables=variables, sections=sections, hosts=tuple(hosts.split()))


def _section(kind: str, text: str) -> Section:
    lines = text.strip("\n").splitlines()
    end = next((number for number, line in enumerate(lines) if not line.endswith("\\")), len(lines))
    whole = "".join(line.removesuffix("\\") for line in lines[: end + 1])
    match = _FLAGS.match(whole)
    if match is None:
        raise ValueError(f"the layer {kind} has no mounts")
    after = lines[end + 1 :]
    return Section(
        kind=kind,
        text=text.strip("\n") + "\n",
        body=whole[match.end() :].strip(),
        inputs=tuple(_INPUT.findall(match["flags"])),
        contexts=tuple(_CONTEXT.findall(match["flags"])),
        env=dict(_pair(line, "ENV ") for line in after if line.startswith("ENV ")),
        workdir=next((line.removeprefix("WORKDIR ") for line in after if line.startswith("WORKDIR ")), "/"),
    )


def _pair(line: str, instruction: str) -> tuple[str, str]:
    name, _, value = line.removeprefix(instruction).partition("=")
    return name, str(json.loads(value))

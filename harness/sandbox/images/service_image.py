"""What an image says of the service in it: its ports, how to ask whether it is ready, where it writes."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from dataclasses import dataclass
from typing import Any

from harness.sandbox import engine, owners
from harness.sandbox.images.layers import Pipe

_ALWAYS = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - inside the container
_DEEPEST = 2
_MOST = 200
_FOLDER = re.compile(r"/[^:,\s]+$")


@dataclass(frozen=True, kw_only=True)
class ServiceImage:
    """An image that a service may run in."""

    name: str
    """`repository@sha256:…`, or the engine's id where no registry has it."""
    ports: tuple[int, ...]
    """TCP ports that it says it listens at."""
    health: str
    """A shell command; empty where it has none."""
    folders: tuple[str, ...]
    """Where a service in it may write: its volumes, temporary folders, and what there is below /run. Each is `PATH`, or
    `PATH:UID:GID:MODE` as the image has it."""


def look(ref: str) -> ServiceImage:
    """What an image that the engine holds says; `ref` is a tag, digest or id.

    Raises:
        InfrastructureError: the engine failed, or does not hold it.

    """
    with engine.calling(f"looking at image {ref}") as client:
        raw = client.inspect_image(ref)
        config = raw.get("Config") or {}
        with owners.passing_container(raw["Id"], "inspect", command=["none"]) as container:
            volumes = [path for path in config.get("Volumes") or () if _FOLDER.match(path)]
            folders = [folder for path in (*_ALWAYS, *sorted(volumes)) for folder in _folders(client, container, path)]
    ports = [int(port.partition("/")[0]) for port in config.get("ExposedPorts") or () if port.endswith("/tcp")]
    return ServiceImage(
        name=_name(ref, raw),
        ports=tuple(sorted(ports)),
        health=_health(config.get("Healthcheck") or {}),
        folders=tuple(dict.fromkeys(folders)),
    )


def _name(ref: str, raw: dict[str, Any]) -> str:
    """The digest in the repository that it was asked for by, else in any, else its id."""
    digests = raw.get("RepoDigests") or []
    repository = ref.partition("@")[0]
    head, colon, tail = repository.rpartition(":")
    repository = head if colon and "/" not in tail else repository
    return str(next((digest for digest in digests if digest.startswith(f"{repository}@")), (*digests, raw["Id"])[0]))


def _health(check: dict[str, Any]) -> str:
    kind, *words = check.get("Test") or ["NONE"]
    if kind == "CMD-SHELL":
        return " ".join(words)
    return shlex.join(words) if kind == "CMD" else ""


def _folders(client: Any, container: str, path: str) -> tuple[str, ...]:
    """A folder of an image, whose place one in memory takes; and those in /run, which that one would hide."""
    try:
        chunks, _ = client.get_archive(container, path)
        with tarfile.open(fileobj=io.BufferedReader(Pipe(chunks)), mode="r|") as archive:
            members = [member for member, _ in zip(archive, range(_MOST if path == "/run" else 1), strict=False)]
    except engine.NotFoundError:
        return (path,)
    except tarfile.TarError:
        return ()  # no folder
    above = path.rpartition("/")[0]
    by_path = {f"{above}/{member.name.strip('/')}": member for member in members if member.isdir()}
    return tuple(
        f"{name}:{member.uid}:{member.gid}:{member.mode & 0o7777:04o}"
        for name, member in sorted(by_path.items())
        if _FOLDER.match(name) and name.count("/") <= path.count("/") + _DEEPEST
    )

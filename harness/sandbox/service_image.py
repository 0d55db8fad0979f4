"""What an image says of the service in it: its ports, how to ask whether it is ready, where it writes."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from dataclasses import dataclass
from typing import Any

from harness.errors import InfrastructureError
from harness.sandbox import engine

_ALWAYS = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - inside the container
_DEEPEST = 3
_MOST = 40
_LARGEST = 1024 * 1024
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
    """Where a service in it may write: its volumes, temporary folders, and what there is below /run."""


def look(ref: str) -> ServiceImage:
    """What an image that the engine holds says; `ref` is a tag, digest or id.

    Raises:
        InfrastructureError: the engine failed, or does not hold it.

    """
    client: Any = engine.connect()
    try:
        raw = client.inspect_image(ref)
        config = raw.get("Config") or {}
        made = client.create_container(
            image=raw["Id"],
            command=["none"],
            network_disabled=True,
            labels={engine.LABEL_OWNER: engine.owner(), engine.LABEL_KIND: "inspect"},
        )["Id"]
        try:
            below_run = _folders(client, made)
        finally:
            engine.remove_container(made)
    except engine.ConnectionLost as error:
        raise engine.engine_failed(f"looking at image {ref}", error) from error
    volumes = [path for path in config.get("Volumes") or () if _FOLDER.match(path)]
    ports = [int(port.partition("/")[0]) for port in config.get("ExposedPorts") or () if port.endswith("/tcp")]
    return ServiceImage(
        name=_name(ref, raw),
        ports=tuple(sorted(ports)),
        health=_health(config.get("Healthcheck") or {}),
        folders=tuple(dict.fromkeys((*_ALWAYS, *sorted(volumes), *below_run))),
    )


def _name(ref: str, raw: dict[str, Any]) -> str:
    """The digest in the repository that it was asked for by, else in any, else its id."""
    digests = raw.get("RepoDigests") or []
    repository = ref.partition("@")[0]
    head, colon, tail = repository.rpartition(":")
    repository = head if colon and "/" not in tail else repository
    return str(next((one for one in digests if one.startswith(f"{repository}@")), (*digests, raw["Id"])[0]))


def _health(check: dict[str, Any]) -> str:
    kind, *words = check.get("Test") or ["NONE"]
    if kind == "CMD-SHELL":
        return " ".join(words)
    return shlex.join(words) if kind == "CMD" else ""


def _folders(client: Any, container: str) -> tuple[str, ...]:
    """The folders below /run in an image, which a folder in memory there would hide."""
    try:
        chunks, _ = client.get_archive(container, "/run")
        data = b""
        for chunk in chunks:
            data += chunk
            if len(data) > _LARGEST:
                return ()
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            names = [f"/{one.name.strip('/')}" for one in archive if one.isdir()]
    except (engine.NotFoundError, tarfile.TarError):
        return ()
    except engine.ApiError as error:
        raise InfrastructureError(f"the container engine failed at reading /run of an image: {error}") from error
    fit = (name for name in names if 1 < name.count("/") <= _DEEPEST and _FOLDER.match(name))
    return tuple(sorted(fit)[:_MOST])

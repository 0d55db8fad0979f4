"""Images between the engine and registries; the engine logs in with what Docker's own configuration holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

_NOT_THERE = ("manifest unknown", "name unknown", "not found")
"""What registries say of an image that they do not have."""


def fetch(ref: str, *, stall_seconds: float) -> Generator[Mapping[str, Any], None, None]:
    """Pull `repository@sha256:…` or `repository:tag` with the log-in that Docker's own configuration holds.

    Yields what the engine says; the engine holds what comes against a digest. Closing the generator ends the pull.

    Raises:
        ConnectionLost: the engine or the registry failed, or nothing came for `stall_seconds`.

    """
    repository, _, version = ref.partition("@") if "@" in ref else ref.rpartition(":")
    with engine.patient(stall_seconds) as client:
        for event in client.pull(repository, tag=version, stream=True, decode=True):
            if "error" in event:
                raise engine.EngineError(event["error"])
            yield event


def push(ref: str, *, stall_seconds: float) -> str:
    """Push `repository:tag` with the log-in of Docker's own configuration. Returns the digest, `sha256:…`.

    Raises:
        ConnectionLost: the engine or the registry failed, or nothing came for `stall_seconds`.

    """
    repository, _, tag = ref.rpartition(":")
    digest = ""
    with engine.patient(stall_seconds) as client:
        for event in client.push(repository, tag=tag, stream=True, decode=True):
            if "error" in event:
                raise engine.EngineError(event["error"])
            digest = (event.get("aux") or {}).get("Digest") or digest
    facts = None if digest else engine.inspect_image(ref)  # Podman does not tell it on the way
    digests = [name.rpartition("@")[2] for name in facts.digests if name.startswith(f"{repository}@")] if facts else []
    if not digest and not digests:
        raise engine.EngineError(f"the registry did not say under which digest it holds {ref}")
    return digest or digests[0]


def in_registry(ref: str) -> bool:
    """Whether the registry that `repository@sha256:…` or `repository:tag` names has it; nothing is pulled.

    Raises:
        InfrastructureError: the engine failed, or the registry gave no answer.

    """
    client: Any = engine.connect()
    try:
        client.inspect_distribution(ref)
    except engine.NotFoundError:
        return False
    except engine.ConnectionLost as error:
        if any(sign in engine.cause(error).lower() for sign in _NOT_THERE):
            return False
        raise engine.engine_failed(f"asking the registry for {ref}", error) from error
    return True

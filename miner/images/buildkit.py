"""BuildKit, where a docker client and the engine have it: `docker build` with secrets and mounts."""

from __future__ import annotations

import functools
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import process
from harness.core.errors import InfrastructureError
from harness.sandbox import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ON = {"DOCKER_BUILDKIT": "1"}
_ASKED_SECONDS = 30.0


@functools.cache
def client() -> str | None:
    """The docker client that can build with BuildKit here; None where there is none, or the engine is Podman.

    Docker 18.09 to 20.10 bring it themselves; later clients need the plug-in buildx. The first on PATH that has it.
    """
    if engine.is_podman():
        return None
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = Path(folder, "docker")
        if not (path.is_file() and os.access(path, os.X_OK)):
            continue
        try:
            completed = process.run([path, "build", "--help"], env=_ON, check=False, timeout=_ASKED_SECONDS)
        except InfrastructureError:
            continue
        if completed.returncode == 0 and b"--secret" in completed.stdout:
            return str(path)
    return None


def build(
    program: str,
    context: Path,
    *,
    tag: str,
    labels: Mapping[str, str],
    exported: Mapping[str, str],
    ca_bundle: Path | None,
    seconds: float,
    mask: Callable[[str], str],
) -> str:
    """Build the folder `context`, which has a Dockerfile, with nothing taken from an earlier build; what was said.

    `exported` and `ca_bundle` are the secrets `build-env` and `ca`. `context` is theirs as well while it builds, so
    that they are gone with it.

    Raises:
        InfrastructureError: it could not be built, or took longer than `seconds`.

    """
    (context / ".dockerignore").write_text("*.secret\n", encoding="utf-8")
    secret = context / "build-env.secret"
    secret.touch(mode=0o600)
    secret.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in exported.items()))
    argv = [program, "build", "--progress=plain", "--no-cache", "--tag", tag, "--secret", f"id=build-env,src={secret}"]
    argv += ["--secret", f"id=ca,src={ca_bundle}"] if ca_bundle else []
    argv += [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]
    completed = process.run([*argv, str(context)], env=_ON, check=False, timeout=seconds)
    output = mask((completed.stdout + completed.stderr).decode("utf-8", "replace"))
    if completed.returncode != 0:
        raise InfrastructureError(f"BuildKit could not build it: {' '.join(output[-600:].split())}")
    return output

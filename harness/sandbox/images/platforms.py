"""For which machines an image is (`os/architecture[/variant]`), and whether the engine can run it."""

from __future__ import annotations

import contextlib
import threading
from platform import machine

from harness.sandbox import engine, owners
from harness.sandbox.engine import ImageFacts
from harness.sandbox.job import SandboxError

_OTHER_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "arm64/v8": "arm64"}
_PROBE_SECONDS = 60

_guard = threading.Lock()
_run: dict[str, bool] = {}
"""By platform of image and engine, whether containers start."""


def normal(platform: str) -> str:
    """A platform under its usual name: `linux/aarch64` is `linux/arm64`, and so is `linux/arm64/v8`. Pure."""
    system, _, architecture = platform.lower().partition("/")
    name = _OTHER_NAMES.get(architecture, architecture)
    return f"{system}/{_OTHER_NAMES.get(name, name)}"


def equal(left: str, other: str) -> bool:
    """Whether two names mean the same platform. Pure."""
    return normal(left) == normal(other)


def is_of_here(platform: str | None) -> bool:
    """Whether programs of this machine run in images for a platform; None is this machine's own."""
    return platform is None or equal(platform, f"linux/{machine()}")


def ensure_runs(image: str) -> None:
    """See that containers of an image can start here; asked once for each platform that is not the engine's own.

    Raises:
        SandboxError: the engine's kernel can't run programs of that platform.
        InfrastructureError: the engine failed.
        ConnectionLost: likewise.

    """
    facts = engine.inspect_image(image)
    own = engine.platform()
    if facts is None or not facts.platform or not own or equal(facts.platform, own):
        return
    with _guard:
        key = f"{facts.platform} on {own}"
        if key not in _run:
            _run[key] = _starts(facts)
    if not _run[key]:
        raise SandboxError(
            f"{image} is for {facts.platform}, which this engine ({own}) can't run",
            hint="use a machine of that architecture, or register an emulator with the kernel (qemu-user-static)",
        )


def _starts(facts: ImageFacts) -> bool:
    client = engine.connect()
    with (
        owners.passing_container(facts.id, "probe", command=["/bin/true"], entrypoint=[]) as container,
        contextlib.suppress(engine.ApiError),
    ):
        client.start(container)
        return bool(client.wait(container, timeout=_PROBE_SECONDS).get("StatusCode") == 0)
    return False

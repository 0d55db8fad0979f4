"""A Debian root file system made on this machine, for where no registry is in reach."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.core import process
from harness.core.errors import InfrastructureError, InputError
from harness.sandbox import engine
from harness.sandbox.images import platforms

REPOSITORY = "goldseam/debian"
SUITE = "bookworm"

_SECONDS = 1800
_EMULATED = 5
"""How much longer it takes where every program of it is emulated."""
_ARCHITECTURES = {"amd64": "amd64", "arm64": "arm64", "arm/v7": "armhf", "386": "i386", "ppc64le": "ppc64el",
                  "s390x": "s390x", "riscv64": "riscv64"}  # fmt: skip
"""Debian's names of architectures."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def name(suite: str = SUITE, platform: str | None = None) -> str:
    """What the image is called; one for another platform than the engine's has that in its tag."""
    if platform is None or platforms.equal(platform, engine.platform()):
        return f"{REPOSITORY}:{suite}"
    return f"{REPOSITORY}:{suite}-{platforms.normal(platform).partition('/')[2].replace('/', '-')}"


def make(
    packages: tuple[str, ...],
    *,
    suite: str = SUITE,
    mirror: str | None = None,
    platform: str | None = None,
    force: bool = False,
) -> str:
    """Build a root file system with packages, and have the engine hold it under its `name`. Returns the image's id.

    An image that is there is kept unless `force`. For another platform than the engine's, the kernel needs an emulator.

    Raises:
        InputError: Debian has no such platform.
        InfrastructureError: neither mmdebstrap nor debootstrap is installed, or it failed; or the engine did.

    """
    platform_wanted = platforms.normal(platform or engine.platform())
    system, _, machine = platform_wanted.partition("/")
    architecture = _ARCHITECTURES.get(machine)
    if system != "linux" or architecture is None:
        text = ", ".join(f"linux/{key}" for key in _ARCHITECTURES)
        raise InputError(f"there is no Debian for {platform_wanted}", hint=f"name one of {text}")
    tag = name(suite, platform)
    image_id = engine.image_id(tag)
    if image_id and not force:
        return image_id
    is_native = platforms.equal(platform_wanted, engine.platform())
    seconds = _SECONDS if is_native else _SECONDS * _EMULATED
    options = [f"--arch={architecture}", "--variant=minbase", f"--include={','.join(packages)}"]
    with tempfile.TemporaryDirectory(prefix="goldseam-debian-") as folder, _explained(suite):
        archive = Path(folder, "root.tar")
        if process.which("mmdebstrap"):
            argv = ["mmdebstrap", *options, suite, str(archive), *([mirror] if mirror else [])]
            process.run(argv, timeout=seconds)
        elif process.which("debootstrap"):
            root = Path(folder, "root")
            process.run(["debootstrap", *options, suite, str(root), *([mirror] if mirror else [])], timeout=seconds)
            left_out = ["--exclude=./var/cache/apt/archives/*.deb", "--exclude=./dev/*"]
            process.run(
                ["tar", "-C", str(root), "--numeric-owner", *left_out, "-cf", str(archive), "."], timeout=seconds
            )
        else:
            raise InfrastructureError(
                "building a base needs mmdebstrap or debootstrap; neither is installed",
                hint="apt-get install mmdebstrap",
            )
        return load(archive, tag, platform_wanted)


@contextlib.contextmanager
def _explained(suite: str) -> Iterator[None]:
    """Raise a failure of the program that builds Debian as ours, with its last line."""
    try:
        yield
    except process.ProgramError as error:
        last = error.completed.error_text.splitlines()[-1:]
        raise InfrastructureError(
            f"Debian {suite} can't be built: {error.completed.argv[0]} ended with exit code"
            f" {error.completed.returncode}: {''.join(last)}",
            hint="check --suite and --mirror, and that the mirror can be reached; --verbose shows all it printed",
        ) from error


def load(layer: Path, tag: str, platform: str) -> str:
    """Have the engine hold an image of one layer, which is a tar of a root file system. Returns the image's id.

    `platform` is `os/architecture[/variant]`; an import would call the image one for the engine's own.

    Raises:
        InfrastructureError: the engine failed.

    """
    with layer.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    system, architecture, *variant = platform.split("/")
    config = {
        "architecture": architecture,
        "os": system,
        **({"variant": variant[0]} if variant else {}),
        "config": {"Env": [f"PATH={_PATH}"], "Cmd": ["/bin/bash"], "Labels": {engine.LABEL_KIND: "debian"}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        # Podman commits nothing on layers without a history; under Docker ids of bases stay what they were.
        **({"history": [{"created_by": "goldseam images base"}]} if engine.is_podman() else {}),
    }
    manifest = [{"Config": "config.json", "RepoTags": [tag], "Layers": ["layer.tar"]}]
    whole = layer.with_name("image.tar")
    with tarfile.open(whole, "w") as archive:
        for path, document in (("config.json", config), ("manifest.json", manifest)):
            data = json.dumps(document).encode()
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        archive.add(layer, "layer.tar")
    with engine.calling("loading the base image") as client, whole.open("rb") as file:
        for _ in client.load_image(file):
            pass
    image_id = engine.image_id(tag)
    if image_id is None:
        raise InfrastructureError("the engine did not keep the base image", hint="run `goldseam doctor`")
    return image_id

"""An image for machines of another architecture, made by hand: its one program is no program here."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile
from typing import Any

from harness.sandbox import engine

PLATFORM = "linux/arm64"
_AARCH64 = 183


def load(name: str) -> str:
    """Have the engine hold it under a name; its id."""
    layer = _tar({"bin/true": _elf(), "bin/sh": _elf()})
    config = {
        "architecture": "arm64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    files = {
        "layer.tar": layer,
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
    }
    client: Any = engine.connect()
    list(client.load_image(_tar(files)))
    found = engine.image_id(name)
    assert found is not None
    return found


def _elf() -> bytes:
    """The header of an executable for 64-bit ARM."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, _AARCH64, 1) + bytes(40)


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()

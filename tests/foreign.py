"""An image for machines of another architecture, made by hand: its one program is no program anywhere."""

from __future__ import annotations

import io
import struct
import tarfile
import tempfile
from pathlib import Path

from miner.layers import debian

PLATFORM = "linux/arm64"
_AARCH64 = 183


def load(name: str) -> str:
    """Have the engine hold it under a name; its id."""
    with tempfile.TemporaryDirectory() as folder:
        layer = Path(folder, "layer.tar")
        with tarfile.open(layer, "w") as archive:
            for path in ("bin/true", "bin/sh"):
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(_elf()), 0o755
                archive.addfile(member, io.BytesIO(_elf()))
        return debian.load(layer, name, PLATFORM)


def _elf() -> bytes:
    """The header of an executable for 64-bit ARM."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, _AARCH64, 1) + bytes(40)

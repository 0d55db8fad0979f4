"""What compiles and runs the tests of a language, as `goldseam doctor` and `goldseam images base` know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.config.settings import ImageSettings
from harness.core.errors import InputError
from miner.layers.layer import Layer


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """A toolchain whose versions come from this machine, where the settings name a folder, or from elsewhere."""

    name: str
    """Of its layers; its setting is `[images.{name}s]`."""
    origin: str
    """Where those are from that the settings do not name."""
    versions: Callable[[], tuple[str, ...] | None]
    """These, oldest first, empty where it shows once it is there; None where nobody answers."""
    usual: str = ""
    """Of these the one that is taken where nobody asks for another; empty for the newest."""
    remedy: str = ""
    """What helps where nobody answers."""
    layer: Callable[[str, str, ImageSettings], Layer] | None = None
    """The layer of a version on a parent; None where it stands on more than the base."""
    hosts: tuple[str, ...] = ()
    """What building that reaches."""

    def version(self, wanted: str, own: Sequence[str]) -> str:
        """The version that is wanted, without such a wish the usual one; `own` are those that the settings name.

        Raises:
            InputError: neither the settings nor anybody else has it.

        """
        there = tuple(own) if wanted in own else (*own, *(self.versions() or ()))
        version = wanted or self.usual or next(reversed(there), "")
        if version not in there:
            choices = ", ".join(name or f"that of {self.origin}" for name in there)
            raise InputError(
                f"{self.name} {version} can't be had, only {choices or 'none'}",
                hint=f"name a folder of it under [images.{self.name}s] in goldseam.toml",
            )
        return version

"""The supervisor's own work on a tree, done on this machine: a tree is copied and a patch applied, by the same code."""

from __future__ import annotations

import functools
import shutil
from typing import TYPE_CHECKING, Any

from harness.grading.trial import patch_facts
from tests import inside

if TYPE_CHECKING:
    from pathlib import Path
    from types import CodeType

    from harness.patches.patch import Patch


class _Frames:
    """Keeps what the supervisor says."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def send(self, kind: str, **fields: Any) -> None:
        self.said.append({"t": kind, **fields})


@functools.cache
def _supervisor() -> tuple[CodeType, ...]:
    return tuple(compile(inside.part(part), part, "exec") for part in ("supervisor", "applying"))


def built(base: Path, patch: Patch, work: Path) -> str:
    """Build the work tree of a model's patch at `work`, where nothing is: why git refuses the patch, or nothing."""
    supervisor: dict[str, Any] = {"__name__": "supervisor"}
    for code in _supervisor():
        exec(code, supervisor)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    supervisor.update(PRISTINE=str(base), WORK=str(work))
    frames = _Frames()
    spec = {"patches": {"model": patch_facts(patch)}, "overlay": []}
    supervisor["build_tree"](frames, spec, {"model": patch.raw, "tests": b"", "overlay": b""}, None)
    return "".join(frame["error"] for frame in frames.said)

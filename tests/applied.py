"""The supervisor's own work on a tree, done on this machine: a tree is copied and a patch applied, by the same code."""

from __future__ import annotations

import functools
import shutil
from typing import TYPE_CHECKING, Any

from harness.grading.trial import patch_facts
from harness.languages.rust.inside import inline as rust
from harness.patches.patch import Patch
from tests import inside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import CodeType


class _Frames:
    """Keeps what the supervisor says."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def send(self, kind: str, **fields: Any) -> None:
        self.said.append({"t": kind, **fields})


@functools.cache
def _supervisor() -> tuple[CodeType, ...]:
    return tuple(compile(inside.part(part), part, "exec") for part in ("supervisor", "applying"))


def built(base: Path, patch: Patch, work: Path, *, tests: Patch | None = None, inline: Sequence[str] = ()) -> str:
    """Build the work tree of a model's patch and the tests' at `work`, where nothing is: why git refuses, or nothing.

    `inline` are files that hold code and tests.
    """
    supervisor: dict[str, Any] = {"__name__": "supervisor", "put_back_tests": rust.put_back_tests}
    for code in _supervisor():
        exec(code, supervisor)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    supervisor.update(PRISTINE=str(base), WORK=str(work))
    frames = _Frames()
    sides = {"model": patch, "tests": tests or Patch(files=())}
    spec = {"patches": {side: patch_facts(one) for side, one in sides.items()}, "overlay": [], "inline": inline}
    blobs = {side: one.raw for side, one in sides.items()}
    supervisor["build_tree"](frames, spec, {**blobs, "overlay": b""}, None)
    return "".join(frame["error"] for frame in frames.said)

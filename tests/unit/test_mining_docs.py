"""docs/mining.md names every reason for which a change can be left by history, recognition and split."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mining.md").read_text(encoding="utf-8")
_REASON = re.compile(
    r"""(?:\breason(?:, entry\.detail)? ?=|\bno\(|_no\(|_rejection\(|return"""
    r"""|\(ran\.[\w. ()]+,|is not None,|_ERROR,)\s*"([a-z_]+)\""""
)
_SINGLE = {"crashed", "duplicate", "lfs", "mixed", "reverted", "submodule", "timeout", "unresolvable"}


def _reasons() -> set[str]:
    found: set[str] = set()
    rooms = ("sources", "candidates", "evidence", "languages", "layers", "images", "proof", "pipeline", "quality")
    for file in (path for room in rooms for path in (ROOT / "miner" / room).rglob("*.py")):
        found |= set(_REASON.findall(file.read_text(encoding="utf-8")))
    return {reason for reason in found if "_" in reason or reason in _SINGLE}


def test_reasons_are_found_in_the_code():
    assert {"no_tests", "base_unknown", "mixed", "duplicate", "part_of_another", "missing_objects"} <= _reasons()


def test_every_reason_is_explained():
    assert {reason for reason in _reasons() if f"| `{reason}` |" not in PAGE} == set()

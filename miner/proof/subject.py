"""What is to be proved, and its patches as they are applied."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from harness.core.instance import TestSpec
from harness.languages import screening
from harness.patches import patch
from miner.sources.change import Rejection, Stage


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is to be proved."""

    instance_id: str
    image: str
    test: TestSpec
    test_files: tuple[str, ...]
    gold_patch: bytes
    test_patch: bytes
    brings: frozenset[str] = frozenset()
    """Names and modules that the fix brings, see miner/proof/new_api.py; no run depends on them."""
    rewritten: frozenset[str] = frozenset()
    """What tests may be called that the change alters and that were there; no run depends on them either."""

    def key(self) -> str:
        """SHA-256 over what the result of a run depends on."""
        parts = (self.image, self.test.key(), self.test_files, self.gold_patch, self.test_patch)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Patches:
    """A subject's patches, ready to be applied."""

    gold: patch.Patch
    tests: patch.Patch


def prepare(subject: Subject) -> Patches | Rejection:
    """A subject's patches: the fix as screening leaves it of a model's patch; `gold_refused` where it can't be one."""
    try:
        tests = patch.parse(subject.test_patch, trusted=True)
        gold = screening.screen_for(patch.parse(subject.gold_patch), subject, subject.test)
    except patch.PatchError as error:
        return rejection("gold_refused", f"the fix could not be given as a model patch: {error}")
    return Patches(gold=gold.kept, tests=tests)


def rejection(reason: str, detail: str = "") -> Rejection:
    """A proof's end without a task."""
    return Stage.VALIDATION.no(reason, detail[:2000])

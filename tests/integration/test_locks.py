"""Locks that are made for projects without one: commits that require the same share them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from harness.config.settings import load_settings
from miner.images.task_image import Order, build_environment
from miner.languages.built import BuiltImage
from miner.sources.change import Rejection
from tests.tiny import MemoryTree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.engine

TEST = "shop.test.js"


def build(folder: Path, day: str, **package: object) -> BuiltImage | Rejection:
    tree = MemoryTree({"package.json": json.dumps({"name": "shop", **package}), TEST: "require('node:test')\n"})
    when = datetime.fromisoformat(day).replace(tzinfo=UTC)
    order = Order(language="javascript", repo="tests/locks", base_commit="0" * 40, when=when, touched=(TEST,))
    log = folder / f"{day}.log"
    return build_environment(
        order, tree, tree.tar, settings=load_settings().images, log=log, progress=lambda _: None
    )  # fmt: skip


def resolving(image: BuiltImage) -> list[tuple[str, bool]]:
    """What each attempt at a lock asked for, and whether it took time."""
    attempts = [attempt for attempt in image.attempts if attempt.step == "resolve"]
    return [(attempt.command.rpartition("=")[2], attempt.seconds > 0) for attempt in attempts]


def test_commits_of_a_quarter_that_require_the_same_share_a_lock_and_a_layer(tmp_path):
    images = [
        build(tmp_path, "2024-05-20", version="1.0.0", dependencies={"ms": "^2.0.0"}),
        build(tmp_path, "2024-06-11", version="1.0.1", dependencies={"ms": "^2.0.0"}, files=["lib"]),
        build(tmp_path, "2024-07-02", version="1.1.0", dependencies={"ms": "^2.0.0"}),
    ]
    [first, second, third] = map(resolving, images)
    assert first == [("2024-04-01T00:00:00Z", True)]
    assert second == [("2024-04-01T00:00:00Z", False)]
    assert third == [("2024-07-01T00:00:00Z", True)]
    assert images[0].layers[:-1] == images[1].layers[:-1]
    assert images[0].locks == images[1].locks


def test_what_can_not_be_had_is_asked_for_as_of_the_day_and_once(tmp_path):
    for takes_time in (True, False):
        refused = build(tmp_path, "2024-05-20", dependencies={"ms": "^99.0.0"})
        assert isinstance(refused, Rejection)
        log = (tmp_path / "2024-05-20.log").read_text()
        assert [f" {day}T" in log for day in ("2024-04-01", "2024-05-20")] == [takes_time, takes_time]
        (tmp_path / "2024-05-20.log").unlink()

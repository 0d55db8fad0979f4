"""Containers that are started before it is known what they will do."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from harness.core.errors import InfrastructureError
from miner.layers import prestarted_containers
from miner.layers.prestarted_containers import Ahead, PrestartedContainer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHICH = ("sha256:aa", "deps")


@pytest.fixture
def laid(tmp_path: Path) -> Iterator[PrestartedContainer]:
    (tmp_path / "scratch/in").mkdir(parents=True)
    with socket.socket() as attached:
        yield PrestartedContainer(container="c1", scratch=tmp_path / "scratch", attached=attached, relayed=True)


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(prestarted_containers, "remove", found.append)
    return found


def test_one_is_started_once_and_given_once(laid: PrestartedContainer, removed: list[str]):
    ahead, calls = Ahead(), []
    for _ in range(3):
        ahead.have(WHICH, lambda: calls.append(1) or laid)
    assert ahead.take(("sha256:bb", "deps")) is None
    assert ahead.take(WHICH) is laid
    assert ahead.take(WHICH) is None
    ahead.close()
    assert (calls, removed) == ([1], [])


def test_what_nobody_takes_goes_at_the_end(laid: PrestartedContainer, removed: list[str]):
    ahead = Ahead()
    ahead.have(WHICH, lambda: laid)
    ahead.close()
    assert removed == ["c1"]
    assert not laid.scratch.exists()
    assert laid.attached.fileno() == -1


def test_what_is_not_needed_after_all_goes_and_what_may_be_stays(
    laid: PrestartedContainer, removed: list[str], tmp_path: Path
):
    (tmp_path / "other/in").mkdir(parents=True)
    with socket.socket() as attached:
        other = PrestartedContainer(container="c2", scratch=tmp_path / "other", attached=attached, relayed=True)
        ahead = Ahead()
        ahead.have(WHICH, lambda: laid)
        ahead.have(("sha256:bb", "task"), lambda: other)
        ahead.clear(keep=WHICH)
        assert ahead.take(("sha256:bb", "task")) is None
        assert ahead.take(WHICH) is laid
        ahead.close()
    assert removed == ["c2"]


def test_one_that_does_not_start_is_nobodys_fault_yet(removed: list[str]):
    def fails() -> PrestartedContainer:
        raise InfrastructureError("the engine went away")

    ahead = Ahead()
    ahead.have(WHICH, fails)
    assert ahead.take(WHICH) is None
    ahead.have(WHICH, fails)
    ahead.close()
    assert removed == []

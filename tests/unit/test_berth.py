"""Containers that are started before it is known what they will do."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from harness.core.errors import InfrastructureError
from harness.sandbox.ahead import Ahead
from miner.layers import prestarted_containers
from miner.layers.prestarted_containers import PrestartedContainer

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


def start(ahead: Ahead, key: tuple[str, str], laid: PrestartedContainer) -> None:
    """Have it started, and wait until that has begun."""
    begun = threading.Event()
    ahead.have(key, lambda: begun.set() or laid)
    assert begun.wait(60)


def test_what_nobody_takes_goes_at_the_end(laid: PrestartedContainer, removed: list[str]):
    ahead = Ahead()
    start(ahead, WHICH, laid)
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
        start(ahead, WHICH, laid)
        start(ahead, ("sha256:bb", "task"), other)
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


def test_what_has_not_begun_is_not_waited_for_unless_in_turn(laid: PrestartedContainer, removed: list[str]):
    ahead, goes_on = Ahead(), threading.Event()
    ahead.have(WHICH, lambda: goes_on.wait(60) and laid)
    ahead.have(("sha256:bb", "task"), lambda: pytest.fail("nobody wants it any more"))
    assert ahead.take(("sha256:bb", "task"), in_turn=False) is None
    goes_on.set()
    assert ahead.take(WHICH) is laid
    ahead.close()
    assert removed == []


def test_where_too_many_wait_the_first_one_goes(laid: PrestartedContainer, removed: list[str], tmp_path: Path):
    (tmp_path / "other/in").mkdir(parents=True)
    with socket.socket() as attached:
        other = PrestartedContainer(container="c2", scratch=tmp_path / "other", attached=attached, relayed=True)
        ahead = Ahead(most=1)
        start(ahead, WHICH, laid)
        ahead.have(("sha256:bb", "task"), lambda: other)
        assert ahead.take(WHICH) is None
        assert ahead.take(("sha256:bb", "task")) is other
        ahead.close()
    assert removed == ["c1"]

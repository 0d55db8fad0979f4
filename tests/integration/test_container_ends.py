"""How a container ended, where the engine's state of it does not tell everything."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from harness.sandbox import engine
from harness.sandbox.containers import end_of

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.engine
HOARD = "x = b'x' * (1 << 30)"
KILLED = 137


@contextlib.contextmanager
def started(image: str, code: str) -> Iterator[str]:
    """A container with 32 MiB whose first process is this Python code; its id."""
    client: Any = engine.connect()
    room = client.create_host_config(mem_limit="32m", memswap_limit="32m", network_mode="none")
    made = client.create_container(image, ["python3", "-c", code], entrypoint=[], host_config=room)["Id"]
    try:
        client.start(made)
        yield made
    finally:
        engine.remove_container(made)


@pytest.fixture
def forgetful(monkeypatch):
    """The engine of a loaded machine: the state says nothing of memory, since the end was known first."""
    client: Any = engine.connect()
    inspect = client.inspect_container

    def late(container: str) -> Any:
        found = inspect(container)
        found["State"]["OOMKilled"] = False
        return found

    monkeypatch.setattr(client, "inspect_container", late)


@pytest.mark.usefixtures("forgetful")
def test_memory_that_ran_out_is_told_by_the_events_where_the_state_does_not(tiny_image):
    with started(tiny_image, HOARD) as container:
        end = end_of(container, ended_by_us=False)
    assert (end.exit_code, end.out_of_memory) == (KILLED, True)


def test_a_container_that_somebody_kills_did_not_run_out_of_memory(tiny_image):
    with started(tiny_image, "import time; time.sleep(600)") as container:
        client: Any = engine.connect()
        client.kill(container)
        end = end_of(container, ended_by_us=False)
    assert (end.exit_code, end.out_of_memory) == (KILLED, False)

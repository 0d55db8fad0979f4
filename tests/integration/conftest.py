"""What integration tests share: the engine's task image, built once, and a sandbox."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from harness.sandbox import engine
from harness.sandbox.docker import DockerSandbox
from harness.solve.workspace.workspace import Workspaces
from tests import second_engine, tiny
from tests.browser import BROWSERS, Browser, installed
from tests.workspace_checks import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.core.instance import Instance
    from harness.solve.workspace.workspace import Workspace


@pytest.fixture(scope="session", autouse=True)
def _closed_connections() -> Iterator[None]:
    yield
    engine.disconnect()


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """Let programs under test hear Ctrl-C, even where whoever started pytest has it ignored (`nohup`, `&`)."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_strength_while_mining() -> None:
    """Strength takes some twenty containers a task; tests of it ask for it themselves."""
    os.environ.setdefault("GOLDSEAM_MINING_MUTANTS", "0")


@pytest.fixture(scope="session")
def tiny_image(tmp_path_factory) -> str:
    """The id of the image of `tests.tiny`'s project."""
    return tiny.build_image(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="session")
def slim_image(tiny_image, tmp_path_factory) -> Path:
    """A tar of what a trial needs of that image, for engines of tests' own."""
    return second_engine.save_slim(tiny_image, tmp_path_factory.mktemp("slim"))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[DockerSandbox]:
    with DockerSandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def workspaces() -> Iterator[Workspaces]:
    """Opens workspaces."""
    with Workspaces() as opened:
        yield opened


@pytest.fixture(scope="module")
def instance(tiny_image) -> Instance:
    """The public side of `tests.tiny`'s task."""
    return tiny.task(tiny_image).instance


@pytest.fixture(scope="module")
def shared(workspaces, instance) -> Iterator[Workspace]:
    """A workspace for a module's tests, started; each has to put its tree back first."""
    with workspaces.open(instance) as opened:
        opened.run(("true",), seconds=SECONDS)
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = installed()
    if program is None:
        why = f"no browser on this machine: none of {', '.join(BROWSERS)} is on PATH"
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; install chromium, so that the page is really looked at")
        pytest.skip(why)
    with Browser(program) as running:
        yield running

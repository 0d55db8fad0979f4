"""What `benchmarks/versus.py` gives Harbor where there is no Docker Compose; a docker command that only listens."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from harness.core import process

PROGRAM = Path(__file__).parents[2] / "benchmarks/compose_stand_in.py"
LISTENER = '#!/bin/sh\necho "$@" >> "$HEARD"\n[ "$1" != "$FAILS" ]\n'


@pytest.fixture
def heard(tmp_path):
    """Runs the stand-in with these words; what docker was asked, line by line."""
    (tmp_path / "docker").write_text(LISTENER)
    (tmp_path / "docker").chmod(0o755)
    service = {"volumes": [{"type": "bind", "source": "/a", "target": "/b"}], "cpus": 2.0, "mem_limit": "64m"}
    (tmp_path / "mounts.json").write_text(json.dumps({"services": {"main": service}}))

    def run(*words, fails=""):
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HEARD": str(tmp_path / "heard"), "FAILS": fails}
        env |= {"PREBUILT_IMAGE_NAME": "sha256:1"}
        argv = [sys.executable, PROGRAM, "compose", "--project-name", "p", "-f", tmp_path / "mounts.json", *words]
        done = process.run(argv, env=env, check=False)
        listened = tmp_path / "heard"
        return done.returncode, listened.read_text().splitlines() if listened.exists() else []

    return run


def test_up_starts_one_container_in_a_network_of_its_own(heard):
    options = "--name p-main-1 --network p_default --mount type=bind,source=/a,target=/b --cpus 2.0 --memory 64m"
    started = f"run --detach {options} sha256:1 sh -c sleep infinity"
    assert heard("up", "--detach", "--wait") == (0, ["network create p_default", started])


def test_down_gives_the_container_the_time_that_compose_gives_it(heard):
    assert heard("down", "--rmi", "local") == (
        0, ["stop --time=10 p-main-1", "rm --volumes p-main-1", "network rm p_default"]
    )  # fmt: skip


def test_down_before_up_is_no_error(heard):
    assert heard("down", fails="stop") == (0, ["stop --time=10 p-main-1"])


def test_a_command_runs_in_the_container_with_its_options(heard):
    assert heard("exec", "-T", "-w", "/testbed", "-u", "root", "main", "bash", "-c", "true") == (
        0, ["exec -w /testbed -u root p-main-1 bash -c true"]
    )  # fmt: skip


def test_files_go_to_the_container_of_the_service(heard):
    assert heard("cp", "/tests/.", "main:/tests")[1] == ["cp /tests/. p-main-1:/tests"]


def test_what_harbor_does_not_ask_is_refused(heard):
    assert heard("logs") == (2, [])

"""The set-up scripts say what is wrong and what to do, and end with the infrastructure code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.core import process

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "scripts" / "engine.sh"


@pytest.fixture(autouse=True)
def _no_chosen_base(monkeypatch):
    monkeypatch.delenv("GOLDSEAM_IMAGES_BASE", raising=False)


def path_of(tmp_path: Path, **programs: str) -> str:
    """A PATH with the few programs the scripts can't do without, and some of our own making."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "basename", "cat", "dirname", "env", "id", "sleep", "tail"):
        found = process.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.engine
def test_an_engine_that_answers_is_used():
    done = process.run([ENGINE, sys.executable])
    assert b"answers at" in done.stdout


def test_a_dead_docker_host_is_named():
    done = process.run([ENGINE, sys.executable], env={"DOCKER_HOST": "tcp://127.0.0.1:1"}, check=False)
    assert done.returncode == 4
    assert b"no engine answers at DOCKER_HOST=tcp://127.0.0.1:1" in done.stderr
    assert b"unset DOCKER_HOST" in done.stderr


def test_a_python_without_goldseam_is_told_apart_from_a_missing_engine(tmp_path):
    path = path_of(tmp_path, python3="exit 1")
    done = process.run([ENGINE, f"{path}/python3"], env={"PATH": path}, check=False)
    assert done.returncode == 4
    assert b"make setup" in done.stderr


@pytest.mark.parametrize("builder", ["mmdebstrap", "debootstrap"])
def test_a_base_that_cannot_be_pulled_is_built(tmp_path, builder):
    path = path_of(
        tmp_path, goldseam='case "$*" in "images base") exit 4 ;; *) echo "did $*" ;; esac', **{builder: "exit 0"}
    )
    done = process.run([ROOT / "scripts" / "base.sh", f"{path}/goldseam"], env={"PATH": path})
    assert b"did images base --from-debian" in done.stdout


def test_a_base_that_is_there_is_enough(tmp_path):
    path = path_of(tmp_path, goldseam='echo "did $*"')
    done = process.run([ROOT / "scripts" / "base.sh", f"{path}/goldseam"], env={"PATH": path})
    assert done.stdout == b"did images base\n"


def test_without_a_builder_there_is_an_explanation(tmp_path):
    path = path_of(tmp_path, goldseam="exit 4")  # no apt-get either, so nothing can be installed
    done = process.run([ROOT / "scripts" / "base.sh", f"{path}/goldseam"], env={"PATH": path}, check=False)
    assert done.returncode == 4
    assert b"GOLDSEAM_IMAGES_BASE" in done.stderr


def test_a_base_that_was_chosen_is_not_replaced(tmp_path):
    path = path_of(tmp_path, goldseam="echo $*; exit 4", mmdebstrap="exit 0")
    env = {"PATH": path, "GOLDSEAM_IMAGES_BASE": "ours:1"}
    done = process.run([ROOT / "scripts" / "base.sh", f"{path}/goldseam"], env=env, check=False)
    assert (done.returncode, done.stdout) == (4, b"images base\n")


def test_other_failures_are_passed_on(tmp_path):
    path = path_of(tmp_path, goldseam="exit 2", mmdebstrap="exit 0")
    done = process.run([ROOT / "scripts" / "base.sh", f"{path}/goldseam"], env={"PATH": path}, check=False)
    assert done.returncode == 2


def test_uv_on_the_path_is_the_one_that_is_used(tmp_path):
    path = path_of(tmp_path, uv="echo uv 9")
    done = process.run([ROOT / "scripts" / "uv.sh"], env={"PATH": path})
    assert done.stdout.decode().split() == [f"{path}/uv"]


def test_every_target_of_the_makefile_that_a_person_types_has_help():
    listed = process.run(["make", "--no-print-directory", "help"], cwd=ROOT).stdout.decode()
    for target in ("setup", "demo", "test", "lint", "check", "clean"):
        assert f"make {target} " in listed

"""What the doctor makes of what it finds."""

from __future__ import annotations

import pytest

from harness.config import doctor
from harness.config.doctor import Check, Diagnosis, EngineInfo, Status
from harness.config.settings import ImageSettings, Settings
from miner.languages.toolchain import Toolchain

HEALTHY = EngineInfo.model_validate(
    {
        "ServerVersion": "20.10.24",
        "Driver": "overlay2",
        "DockerRootDir": "/var/lib/docker",
        "MemoryLimit": True,
        "PidsLimit": True,
        "CpuCfsQuota": True,
        "SecurityOptions": ["name=seccomp,profile=default"],
        "Somebody": "else's field",
    }
)


def check(status: Status) -> Check:
    return Check(name="x", status=status, found="")


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("git version 2.39.5", Status.OK),
        ("git version 2.50.1 (Apple Git-155)", Status.OK),
        ("git version 2.34.1", Status.WARN),
        ("git version 1.8.3.1", Status.MISSING),
        ("what?", Status.MISSING),
        (None, Status.MISSING),
    ],
)
def test_git_is_judged_by_its_version(output, status):
    assert doctor.judge_git(output).status is status


def test_a_warning_does_not_stop_mining():
    assert Diagnosis(checks=(check(Status.OK), check(Status.WARN))).can_mine


def test_something_missing_stops_mining():
    assert not Diagnosis(checks=(check(Status.OK), check(Status.MISSING))).can_mine


def test_a_dead_docker_host_is_named():
    found = doctor.judge_silence("refused", host="unix:///dead.sock", root=True)
    assert found.status is Status.MISSING
    assert "unset DOCKER_HOST" in found.mend
    assert "unix:///dead.sock" in found.mend


def test_a_socket_that_may_not_be_opened_asks_for_the_group():
    assert "usermod -aG docker" in doctor.judge_silence("Permission denied", host=None, root=False).mend


def test_root_is_told_to_install_and_start_an_engine():
    assert "docker.io" in doctor.judge_silence("no socket found", host=None, root=True).mend


def test_a_user_is_told_of_podman_too():
    assert "podman.socket" in doctor.judge_silence("no socket found", host=None, root=False).mend


def test_a_healthy_engine_needs_no_mending():
    for found in (doctor.judge_engine(HEALTHY), doctor.judge_limits(HEALTHY), doctor.judge_seccomp(HEALTHY)):
        assert (found.status, found.mend) == (Status.OK, "")


def test_storage_that_copies_every_layer_is_a_warning():
    slow = HEALTHY.model_copy(update={"driver": "vfs"})
    assert doctor.judge_engine(slow).status is Status.WARN


def test_limits_that_do_not_work_are_named():
    found = doctor.judge_limits(HEALTHY.model_copy(update={"memory_limit": False, "pids_limit": False}))
    assert found.status is Status.WARN
    assert "memory, processes" in found.found


@pytest.mark.parametrize("security", [[], ["name=seccomp,profile=unconfined"], ["name=apparmor"]])
def test_unfiltered_system_calls_are_a_warning(security):
    assert doctor.judge_seccomp(HEALTHY.model_copy(update={"security": security})).status is Status.WARN


def test_a_base_that_can_be_built_is_a_warning():
    found = doctor.judge_base("debian:x", reason="no route to host\ndetails", builder="/usr/bin/mmdebstrap")
    assert (found.status, found.mend) == (Status.WARN, "goldseam images base --from-debian")
    assert "details" not in found.found


def test_a_base_that_can_neither_be_pulled_nor_built_is_missing():
    found = doctor.judge_base("debian:x", reason="", builder=None)
    assert found.status is Status.MISSING
    assert "mmdebstrap" in found.mend


@pytest.mark.parametrize(("gigabytes", "status"), [(1, Status.MISSING), (5, Status.WARN), (50, Status.OK)])
def test_disk_is_judged_by_what_is_free(gigabytes, status):
    assert doctor.judge_disk(gigabytes * 10**9, where="here").status is status


def test_a_missing_builder_is_only_a_warning():
    assert doctor.judge_builder(None).status is Status.WARN


def test_an_index_that_fails_shows_the_last_line():
    found = doctor.judge_index("error: failed\n  caused by: tcp connect error\n")
    assert found.status is Status.WARN
    assert found.found.endswith("tcp connect error")


def test_an_index_that_says_nothing_is_still_explained():
    assert "no answer" in doctor.judge_index("").found


def test_a_machine_without_an_engine_cannot_mine(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")  # not a socket file: docker-py leaks those it can't open
    monkeypatch.setattr(doctor.engine, "_local", type("Fresh", (), {})())
    monkeypatch.setattr(doctor, "_index", lambda: doctor.judge_index(None))
    monkeypatch.setattr(doctor, "_disk", lambda _info: doctor.judge_disk(100 * 10**9, where="here"))
    diagnosis = doctor.examine(Settings())
    assert not diagnosis.can_mine
    assert [found.name for found in diagnosis.checks if found.status is Status.MISSING] == ["engine"]
    assert "base image" not in [found.name for found in diagnosis.checks]


@pytest.mark.parametrize(
    ("mutants", "installed", "status"),
    [(20, True, Status.OK), (20, False, Status.WARN), (0, False, Status.OK)],
    ids=["installed", "missing", "not asked for"],
)
def test_the_extra_that_measures_the_strength_of_tests_is_named_where_it_is_missing(mutants, installed, status):
    check = doctor.judge_strength(mutants, installed=installed)
    assert check.status is status
    assert ("[strength]" in check.mend) == (status is Status.WARN)


def of_toolchain(name, own, others, **told):
    toolchain = Toolchain(name=name, origin="a registry", versions=lambda: others, remedy="name it")
    check = doctor.judge_toolchain(toolchain, own, others, told)
    assert bool(check.mend) == (check.status is not Status.OK)
    return check.status, check.found


def test_the_versions_of_a_toolchain_that_can_be_had_are_told():
    assert of_toolchain("node", {}, ("4", "6", "22", "24")) == (Status.OK, "4 to 24 of a registry")
    expected = "9, 18 of [images.nodes] and 4, 24 of a registry"
    assert of_toolchain("node", ["18", "9"], ("4", "24")) == (Status.OK, expected)
    assert of_toolchain("rust", {}, ("",)) == (Status.OK, "that of a registry")
    expected = "1.85, 1.100 of [images.rusts] and 1.90 of a registry"
    assert of_toolchain("rust", ["1.100", "1.85"], ("1.90",)) == (Status.OK, expected)


def test_where_nobody_answers_a_toolchain_of_this_machine_is_all_there_is():
    assert of_toolchain("go", [], None) == (Status.WARN, "a registry does not answer; none can be had")
    assert of_toolchain("go", ["1.24"], None) == (Status.WARN, "a registry does not answer; only 1.24 of [images.gos]")


def test_a_folder_with_another_version_than_the_settings_say_is_told():
    own = {"8": "javac 1.8.0_402", "17": "javac 17.0.21", "21": 'openjdk version "21"'}
    assert of_toolchain("jdk", own, (), **own)[0] is Status.OK
    status, found = of_toolchain("rust", ["1.85", "1.9"], (), **{"1.85": "rustc 1.80.1 (3f5f)", "1.9": "rustc 1.90.0"})
    assert (status, found) == (
        Status.WARN,
        "of 1.9, 1.85 of [images.rusts], 1.85 says rustc 1.80.1 (3f5f); 1.9 says rustc 1.90.0",
    )
    assert of_toolchain("go", ["1.24"], (), **{"1.24": None})[1] == "of 1.24 of [images.gos], 1.24 says nothing"


def test_the_doctor_asks_the_programs_of_folders_which_version_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setattr(doctor.engine, "_local", type("Fresh", (), {})())
    monkeypatch.setattr(doctor, "_index", lambda: doctor.judge_index(None))
    for version in ("1.23.4", "1.24.1"):
        program = tmp_path / version / "bin/go"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n[ $GOTOOLCHAIN = local ] && echo go version go{version} linux/amd64\n")
        program.chmod(0o755)
    settings = ImageSettings(gos={"1.23": tmp_path / "1.23.4", "1.25": tmp_path / "1.24.1"})
    go = Toolchain(name="go", origin="a proxy", versions=lambda: ("1.22",))
    found = {check.name: check for check in doctor.examine(Settings(images=settings), toolchains=[go]).checks}["go"]
    assert found.found == "of 1.23, 1.25 of [images.gos], 1.25 says go version go1.24.1 linux/amd64"

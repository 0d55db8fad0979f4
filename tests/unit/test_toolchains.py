"""Which version of a toolchain is prepared on the base."""

from __future__ import annotations

import pytest

from harness.config.settings import ImageSettings
from harness.core.errors import InputError
from miner.images import toolchains
from miner.languages.toolchain import Toolchain

JDK = Toolchain(name="jdk", origin="Debian", versions=lambda: ("17", "21"), usual="17")


def test_a_version_is_the_usual_one_unless_another_is_asked_for():
    assert [JDK.version(wanted, ["11"]) for wanted in ("", "21", "11")] == ["17", "21", "11"]


def test_without_a_usual_version_it_is_the_newest_and_one_of_this_machine_where_nobody_answers():
    newest = Toolchain(name="jdk", origin="", versions=lambda: ("9", "17"))
    assert newest.version("", ["11"]) == "17"
    assert Toolchain(name="jdk", origin="", versions=lambda: None).version("", ["11"]) == "11"


def test_of_a_version_that_nobody_knows_yet_only_another_is_refused():
    rust = Toolchain(name="rust", origin="the base's Debian", versions=lambda: ("",))
    assert [rust.version(wanted, ["1.95"]) for wanted in ("", "1.95")] == ["", "1.95"]
    with pytest.raises(InputError, match=r"rust 1\.96 can't be had, only that of the base's Debian"):
        rust.version("1.96", [])


def test_a_folder_of_this_machine_counts_for_its_own_platform_alone(tmp_path):
    program = tmp_path / "bin/javac"
    program.parent.mkdir()
    program.touch()
    settings = ImageSettings(jdks={"11": tmp_path}, platform="linux/s390x", cache_dir=tmp_path)
    with pytest.raises(InputError, match="jdk 11 can't be had, only 17, 21"):
        toolchains.ensure(["jdk=11"], settings, print)


def test_an_unknown_toolchain_is_refused_with_those_that_can_be_prepared(tmp_path):
    with pytest.raises(InputError, match="no toolchain 'gradle'") as error:
        toolchains.ensure(["go", "gradle"], ImageSettings(cache_dir=tmp_path), print)
    assert error.value.hint == "name one of go, jdk, rust"

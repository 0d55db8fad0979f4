"""Platforms by their names."""

from __future__ import annotations

import platform

import pytest
from pydantic import ValidationError

from harness.config.settings import ImageSettings
from harness.core.errors import InputError
from harness.sandbox import engine
from harness.sandbox.images import platforms
from miner.languages.python.images.pythons import Origin, available_pythons
from miner.layers import debian


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("linux/arm64", "linux/arm64/v8", True),
        ("linux/aarch64", "Linux/arm64", True),
        ("linux/x86_64", "linux/amd64", True),
        ("linux/arm/v7", "linux/arm64", False),
        ("linux/amd64", "linux/arm64", False),
    ],
)
def test_a_platform_is_known_by_its_usual_names(one: str, other: str, *, found: bool) -> None:
    assert platforms.equal(one, other) is found


@pytest.mark.parametrize("name", ["arm64", "windows/amd64", "linux/", "linux/arm64/v8/x", ""])
def test_what_is_no_platform_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="os/architecture"):
        ImageSettings(platform=name)


def test_interpreters_of_this_machine_are_not_offered_for_another_architecture(tmp_path: object) -> None:
    settings = ImageSettings.model_construct(pythons={"3.9": tmp_path}, python_downloads=False)
    here, there = f"linux/{platform.machine()}", "linux/s390x"
    assert available_pythons(settings.model_copy(update={"platform": here}), "")["3.9"] is Origin.CONFIGURED
    assert "3.9" not in available_pythons(settings.model_copy(update={"platform": there}), "")


@pytest.mark.parametrize(
    ("asked", "own", "name"),
    [
        (None, "linux/amd64", "goldseam/debian:bookworm"),
        ("linux/x86_64", "linux/amd64", "goldseam/debian:bookworm"),
        ("linux/aarch64", "linux/amd64", "goldseam/debian:bookworm-arm64"),
        ("linux/arm/v7", "linux/amd64", "goldseam/debian:bookworm-arm-v7"),
        ("linux/amd64", "linux/arm64", "goldseam/debian:bookworm-amd64"),
    ],
)
def test_debian_for_another_platform_has_that_in_its_name(
    asked: str | None, own: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "platform", lambda: own)
    assert debian.name(platform=asked) == name


@pytest.mark.parametrize("platform", ["linux/foo", "windows/amd64"])
def test_a_platform_that_debian_has_not_is_refused_before_anything_is_made(platform: str) -> None:
    with pytest.raises(InputError, match=f"no Debian for {platform}"):
        debian.make((), platform=platform)

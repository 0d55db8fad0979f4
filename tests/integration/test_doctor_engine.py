"""The doctor on this machine's real engine."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest

from harness.config import doctor
from harness.config.doctor import Status
from harness.config.settings import ImageSettings, Settings
from harness.sandbox import engine

pytestmark = pytest.mark.engine


def test_an_engine_that_runs_is_described():
    found = {check.name: check for check in doctor.examine(Settings()).checks}
    assert found["engine"].status is not Status.MISSING
    assert found["engine"].found.startswith("version ")


def test_every_check_that_is_not_well_says_how_to_mend_it():
    for check in doctor.examine(Settings(), base="goldseam.invalid/no/such:image").checks:
        assert check.found
        assert bool(check.mend) == (check.status is not Status.OK), check


@pytest.fixture
def image() -> Iterator[str]:
    """An image of our own, with one empty file."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("empty"))
    client: Any = engine.connect()
    client.import_image_from_data(archive.getvalue(), repository="goldseam-test/doctor", tag="one")
    yield "goldseam-test/doctor:one"
    client.remove_image("goldseam-test/doctor:one", force=True)


def test_a_base_image_that_is_here_needs_no_registry(image):
    settings = Settings(images=ImageSettings(base=image))
    found = {check.name: check for check in doctor.examine(settings).checks}["base image"]
    assert found.status is Status.OK
    assert found.found.startswith("sha256:")


def test_a_chosen_base_that_is_not_to_be_had_is_not_excused_by_another(image):
    settings = Settings(images=ImageSettings(base="goldseam.invalid/no/such:image"))
    found = {check.name: check for check in doctor.examine(settings, base=image).checks}["base image"]
    assert found.status is not Status.OK
    assert "goldseam.invalid/no/such:image" in found.found

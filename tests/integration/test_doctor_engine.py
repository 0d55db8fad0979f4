"""The doctor on this machine's real engine."""

from __future__ import annotations

import pytest

from harness import doctor
from harness.doctor import Status
from harness.settings import Settings

pytestmark = pytest.mark.engine


def test_an_engine_that_runs_is_described():
    found = {check.name: check for check in doctor.examine(Settings()).checks}
    assert found["engine"].status is not Status.MISSING
    assert found["engine"].found.startswith("version ")


def test_every_check_that_is_not_well_says_how_to_mend_it():
    for check in doctor.examine(Settings(), base="goldseam.invalid/no/such:image").checks:
        assert check.found
        assert bool(check.mend) == (check.status is not Status.OK), check

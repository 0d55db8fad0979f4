"""Labelled patches through the real `evaluate`: the table finds what a person read, and the run can be regraded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.core.instance import Outcome
from harness.grading.failures import CLASSES_VERSION, FailureClass
from harness.runs import regrade
from harness.runs.regrade import State
from harness.sandbox.docker import DockerSandbox
from tests.labelled import campaign
from tests.labelled.labels import labels

if TYPE_CHECKING:
    from harness.dataset.folder import Dataset

pytestmark = pytest.mark.engine

OUTCOMES = {
    FailureClass.INFRA_ERROR: {Outcome.INFRA_ERROR},
    FailureClass.TAMPERED: {Outcome.TAMPERED},
    FailureClass.NEEDS_REVIEW: {Outcome.NEEDS_REVIEW},
    FailureClass.NO_PATCH: {Outcome.EMPTY_PATCH, Outcome.APPLY_FAILED},
    FailureClass.EMPTY_PATCH: {Outcome.EMPTY_PATCH, Outcome.UNRESOLVED},
    FailureClass.APPLY_FAILED: {Outcome.APPLY_FAILED},
    FailureClass.UNSAFE_OPERATION: {Outcome.APPLY_FAILED, Outcome.UNRESOLVED},
}
"""What a class may stand beside; every other one stands beside `unresolved` alone."""


@dataclass(frozen=True, kw_only=True)
class Done:
    dataset: Dataset
    run: Path
    found: list[campaign.Labelled]


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Done:
    folder = tmp_path_factory.mktemp("labelled")
    with DockerSandbox() as sandbox:
        opened = campaign.dataset(sandbox, folder)
        found = campaign.run(opened, folder / "run", sandbox, labels())
    return Done(dataset=opened, run=folder / "run", found=found)


def test_at_least_95_percent_have_the_class_that_a_person_gave_them(done):
    differs = [one.row for one in done.found if not one.agrees]
    assert len(done.found) == len(labels())
    assert len(differs) <= 0.05 * len(done.found), differs


def test_no_labelled_patch_resolves_its_task(done):
    assert [one.row for one in done.found if one.report.resolved or one.report.failure_class is None] == []


def test_a_class_stands_only_beside_an_outcome_that_it_fits(done):
    odd = [
        one.row
        for one in done.found
        if one.report.outcome not in OUTCOMES.get(FailureClass(one.report.failure_class), {Outcome.UNRESOLVED})
    ]
    assert odd == []


def test_every_report_says_what_decided_it_and_by_which_rules(done):
    assert all(one.report.cause and one.report.classes_version == CLASSES_VERSION for one in done.found)


def test_regrading_by_the_same_rules_changes_no_byte_of_a_report(done):
    reports = sorted(done.run.glob("results/*/*/*/report.json"))
    before = {path: path.read_bytes() for path in reports}
    summary = regrade.regrade(done.dataset, done.run)
    assert summary.count(State.UNCHANGED) == len(done.found) == len(before)
    assert {path: path.read_bytes() for path in reports} == before

"""The labelled patches are many, of every class, and those that the page counts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from harness.grading.failures import FailureClass
from tests.labelled.labels import PROJECTS, labels

PAGE = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
LABELS = labels()


def test_there_are_at_least_sixty_in_three_projects():
    assert len(LABELS) >= 60
    assert {label.project for label in LABELS} == set(PROJECTS)
    assert len(PROJECTS) >= 3


def test_no_patch_is_there_twice():
    given = Counter(
        (label.project, prediction.instance_id, prediction.model_patch)
        for label in LABELS
        if (prediction := label.prediction(PROJECTS[label.project])).model_patch is not None
    )
    assert [key for key, count in given.items() if count > 1] == []


@pytest.mark.parametrize("name", [name for name in FailureClass if name is not FailureClass.COMPILE_ERROR])
def test_every_class_is_there_several_times(name):
    assert sum(label.label == name for label in LABELS) >= 3


def test_every_label_has_a_reason():
    assert all(re.fullmatch(r"[A-Z].{15,150}\.", label.why) for label in LABELS)


def test_the_pages_matrix_counts_these_labels():
    rows = re.findall(r"^\| \d+ `(\w+)` \|.* (\d+) \|$", PAGE, flags=re.MULTILINE)
    assert {name: int(count) for name, count in rows} == Counter(label.label.value for label in LABELS)


def test_the_page_says_that_enough_of_them_agree():
    agreed, total = map(int, re.findall(r"^(\d+) of (\d+) labelled patches", PAGE, flags=re.MULTILINE)[0])
    assert total == len(LABELS)
    assert agreed >= 0.95 * total

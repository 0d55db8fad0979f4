"""Two runs on two versions of a dataset: what is the same in both is compared, and the answer says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.compare import Reason, compare
from tests.sheets import LOST, WON, sheet, task


def version(number: int, content: str, *tasks):
    return replace(sheet(*tasks), dataset_version=number, dataset_content=content)


OLD = version(1, "sha256:a", task(1), task(2), task(3, digest="old"), task(4))
NEW = version(2, "sha256:b", task(1, [LOST]), task(2), task(3, digest="new"), task(5))


def test_only_tasks_that_are_the_same_in_both_are_compared():
    found = compare(OLD, NEW)

    assert found.common == ("acme__widgets-1", "acme__widgets-2")
    assert found.left_out == {
        "acme__widgets-3": Reason.TASK_CHANGED,
        "acme__widgets-4": Reason.ONLY_IN_BASE,
        "acme__widgets-5": Reason.ONLY_IN_CANDIDATE,
    }


def test_the_answer_says_on_how_many_it_stands():
    [warning] = compare(OLD, NEW).warnings

    assert "versions 1 and 2" in warning
    assert "2 task(s) that are the same in both" in warning
    assert "3 other(s) are left out" in warning


def test_a_content_that_changed_under_one_version_is_told():
    [warning] = compare(version(1, "sha256:a", task(1)), version(1, "sha256:b", task(1))).warnings

    assert "its tasks were changed between them" in warning


@pytest.mark.parametrize("content", ["sha256:a", None])
def test_the_same_content_or_an_unknown_one_is_no_matter(content):
    assert compare(version(1, "sha256:a", task(1, [WON])), version(1, content, task(1))).warnings == ()

"""Patches that change the manifest of a JavaScript package where the fix does: right ones are taken, others are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import pytest

from harness.core.instance import Outcome
from harness.grading import scoring
from harness.judging.places import Place, place_of_test
from harness.languages.screening import screen_task
from tests.attacks import javascript_packages as packages
from tests.proved_task import mined
from tests.repos import Repository

if TYPE_CHECKING:
    from harness.core.instance import Task
    from harness.grading.grade import Grade
    from harness.patches.patch import Dropped

pytestmark = pytest.mark.engine


class Mined(NamedTuple):
    task: Task
    repo: Repository
    base: str


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Mined:
    folder = tmp_path_factory.mktemp("package")
    repo = Repository(folder / "repo")
    repo.clock = datetime.now(tz=UTC) - timedelta(hours=9)  # a mirror may have other days than the registry
    base = repo.commit("Start", dict(packages.BASE))
    fix = repo.commit("Fix spans with units", dict(packages.FIX))
    return Mined(mined(folder, repo, fix), repo, base)


def graded(package: Mined, sandbox, patch: bytes) -> tuple[Grade, tuple[Dropped, ...]]:
    screened = screen_task(package.task, patch)
    return scoring.score(package.task, screened.kept, sandbox, scoring.Demands()).grade, screened.dropped


def test_a_dependency_that_only_the_fix_asks_for_is_there_and_its_manifest_may_be_changed(package):
    assert package.task.instance.test.allowed_paths == ("package-lock.json", "package.json")
    names = (f"{packages.TEST}::of {what}" for what in ("many", "nothing", "units"))
    assert package.task.hidden.fail_to_pass == tuple(names)
    assert {place_of_test(package.task, name) for name in package.task.hidden.fail_to_pass} == {Place.HOST}


@pytest.mark.parametrize("name", packages.HONEST)
def test_right_patches_of_a_manifest_are_resolved(package, sandbox, name):
    executable = packages.EXECUTABLE if name == "a-program-beside" else frozenset()
    patch = packages.patch(package.repo, package.base, packages.HONEST[name], executable=executable)
    grade, dropped = graded(package, sandbox, patch)
    assert (grade.outcome, grade.reason) == (Outcome.RESOLVED, grade.reason)
    assert [part.path for part in dropped] == (["yarn.lock"] if name == "a-lock-of-another-manager" else [])


@pytest.mark.parametrize("name", packages.ATTACKS)
def test_no_manifest_resolves_a_wrong_product(package, sandbox, name):
    patch = packages.patch(package.repo, package.base, packages.ATTACKS[name])
    assert graded(package, sandbox, patch)[0].outcome is Outcome.UNRESOLVED

"""A spread of the attacks and of the honest patches; `make attacks` tries all of them."""

from __future__ import annotations

import pytest

from harness.judging.places import Place, place_of, place_of_test
from tests.attacks import campaign
from tests.attacks.attacks import attacks
from tests.attacks.projects import PROJECTS

pytestmark = pytest.mark.engine

EVERY_ATTACK = 6
EVERY_HONEST_PATCH = 24


@pytest.fixture(scope="module")
def tasks(sandbox, tmp_path_factory):
    return campaign.tasks(sandbox, tmp_path_factory.mktemp("attacks"))


@pytest.fixture(scope="module")
def honest():
    return campaign.honest_tries()


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_the_tasks_are_judged_on_the_host(tasks, project):
    task = tasks[project.name]
    assert place_of(task) is Place.HOST
    assert Place.INSIDE not in {place_of_test(task, test_id) for test_id in task.hidden.fail_to_pass}


def test_no_attack_of_a_spread_gets_through(tasks, sandbox):
    slow = {attack.id for attack in attacks() if attack.slow}
    quick = [one for one in campaign.attack_tries(tasks) if one.name not in slow and not one.gets_through]
    found = campaign.every(tasks, quick[::EVERY_ATTACK], sandbox)
    assert len(found) > 100
    assert [one.row for one in found if one.resolved or one.report.outcome == "infra_error"] == []


def test_no_honest_patch_of_a_spread_is_refused(tasks, sandbox, honest):
    chosen = [one for number, one in enumerate(honest) if number % EVERY_HONEST_PATCH == 0 or one.kind == "stray-link"]
    found = campaign.every(tasks, chosen, sandbox)
    assert len(found) > 15
    assert [one.row for one in found if not one.resolved] == []


def test_the_suite_has_at_least_a_hundred_attacks_and_three_hundred_honest_patches(honest):
    assert len(attacks()) >= 100
    assert len({one.patch for one in honest}) >= 300

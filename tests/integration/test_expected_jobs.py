"""Containers that are started before their jobs come."""

from __future__ import annotations

import select

import pytest

from harness.core.instance import Budgets
from harness.sandbox import engine, owners
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.job import Job
from tests import waiting

pytestmark = pytest.mark.engine

BUDGETS = Budgets(seconds=60, memory_mb=64, cpus=0.5, pids=16, disk_mb=16)


def names() -> set[str]:
    label = f"{engine.LABEL_OWNER}={owners.owner()}"
    return {container["Id"] for container in engine.connect().containers(all=True, filters={"label": [label]})}


def job(image: str, stdin: bytes = b"") -> Job:
    return Job(image=image, argv=("head", "-n", "1"), stdin=stdin, budgets=BUDGETS)


def started(before: set[str], count: int) -> set[str]:
    """The containers that are new, as soon as there are so many."""

    def new() -> set[str]:
        found = names() - before
        return found if len(found) >= count else set()

    return waiting.until(new)


def test_a_job_that_was_expected_runs_in_the_container_that_waits(tiny_image):
    before = names()
    with DockerSandbox(sweep=False) as sandbox:
        sandbox.expect(job(tiny_image))
        [early] = started(before, 1)
        done = sandbox.run(job(tiny_image, b"what it is told\n"))
        assert names() - before <= {early}
    assert (done.stdout, done.exit_code, done.timed_out) == (b"what it is told\n", 0, False)
    assert set(done.timings) == {"create", "attach", "start", "run", "wait"}


def test_of_what_was_expected_in_vain_nothing_stays(tiny_image):
    before = names()
    with DockerSandbox(sweep=False) as sandbox:
        for _ in range(2):
            sandbox.expect(job(tiny_image))
        other = Job(image=tiny_image, argv=("head", "-c", "4"), stdin=b"told\n", budgets=BUDGETS)
        assert sandbox.run(other).stdout == b"told"
        started(before, 2)
    assert names() <= before


def test_one_that_was_ended_meanwhile_is_not_taken(tiny_image):
    before = names()
    with DockerSandbox(sweep=False) as sandbox:
        sandbox.expect(job(tiny_image))
        [(_, coming)] = sandbox._ahead._coming
        wire = coming.result().wire  # it runs; the engine lists containers a moment before it knows them otherwise
        [early] = names() - before
        engine.connect().kill(early)
        assert select.select([wire], [], [], waiting.SECONDS)[0]  # the engine closes it a moment later
        assert sandbox.run(job(tiny_image, b"told\n")).stdout == b"told\n"
    assert names() <= before

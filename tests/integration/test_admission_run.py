"""Real containers whose budgets together are more than this machine has."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.core.instance import Budgets
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.executors import machine
from harness.sandbox.executors.machine import AdmittedSandbox
from harness.sandbox.job import Job

pytestmark = pytest.mark.engine


class Counting(DockerSandbox):
    """Counts the containers that it has at the same time."""

    def __init__(self):
        super().__init__(sweep=False)
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def run(self, job):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            return super().run(job)
        finally:
            with self.lock:
                self.now -= 1


def test_containers_whose_budgets_do_not_fit_together_run_one_after_the_other(tiny_image):
    room = machine.room(machine.engine_info())
    budgets = Budgets(memory_mb=int(room.memory_mb * 0.6), cpus=0.01, seconds=60, pids=64, disk_mb=16)
    job = Job(image=tiny_image, argv=("true",), stdin=b"", budgets=budgets)
    counting = Counting()
    with AdmittedSandbox(counting) as sandbox, ThreadPoolExecutor(4) as pool:
        done = list(pool.map(sandbox.run, [job] * 4))
    assert [one.exit_code for one in done] == [0] * 4
    assert counting.most == 1

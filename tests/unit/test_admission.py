"""Room on a machine: what fits starts, what does not waits, nobody waits for ever."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.core.errors import InterruptedRunError
from harness.core.instance import Budgets
from harness.sandbox.executors import machine
from harness.sandbox.executors.admission import OVERTAKEN, Admission, Needs, Queue
from harness.sandbox.executors.machine import AdmittedSandbox
from harness.sandbox.job import Job

MACHINE = Needs(cpus=8.0, memory_mb=16_000)
SMALL = Needs(cpus=1.0, memory_mb=1000)
LARGE = Needs(cpus=1.0, memory_mb=12_000)
GIB = 1 << 30


def started(queue: Queue, *waiting):
    """Of some that wait, those that are let in, in their order."""
    return [queue.start(one) for one in waiting if queue.may_start(one)]


def test_thirty_two_tasks_of_4_gib_do_not_start_at_once_on_16_gib():
    queue = Queue(MACHINE)
    needs = Needs(cpus=0.1, memory_mb=4096)
    assert len(started(queue, *[queue.enqueue(needs) for _ in range(32)])) == 3


def test_no_more_start_than_there_are_processors_for():
    queue = Queue(MACHINE)
    assert len(started(queue, *[queue.enqueue(Needs(cpus=2.0, memory_mb=1)) for _ in range(10)])) == 4


def test_room_given_back_lets_the_next_one_in():
    queue = Queue(MACHINE)
    first, second = queue.enqueue(LARGE), queue.enqueue(LARGE)
    taken = queue.start(first)
    assert not queue.may_start(second)
    queue.end(taken)
    assert queue.may_start(second)


def test_one_that_fits_goes_before_one_that_does_not():
    queue = Queue(MACHINE)
    queue.start(queue.enqueue(LARGE))
    large, small = queue.enqueue(LARGE), queue.enqueue(SMALL)
    assert not queue.may_start(large)
    assert queue.may_start(small)


def test_of_two_that_fit_the_first_goes_first():
    queue = Queue(MACHINE)
    first, second = queue.enqueue(SMALL), queue.enqueue(SMALL)
    assert not queue.may_start(second)
    assert queue.may_start(first)


def test_a_large_one_is_not_overtaken_for_ever():
    queue = Queue(MACHINE)
    held = queue.start(queue.enqueue(LARGE))
    large = queue.enqueue(LARGE)
    for _ in range(OVERTAKEN):
        (taken,) = started(queue, queue.enqueue(SMALL))
        queue.end(taken)
    late = queue.enqueue(SMALL)
    assert not queue.may_start(late)
    queue.end(held)
    assert queue.may_start(large)


def test_what_is_larger_than_the_machine_runs_alone():
    queue = Queue(MACHINE)
    giant = queue.enqueue(Needs(cpus=64.0, memory_mb=64_000))
    queue.start(giant)
    assert not queue.may_start(queue.enqueue(SMALL))


def test_memory_that_other_programs_took_keeps_the_next_one_out_while_something_of_ours_runs():
    queue = Queue(MACHINE)
    first = queue.enqueue(SMALL)
    assert queue.may_start(first, free_mb=10)
    queue.start(first)
    assert not queue.may_start(queue.enqueue(SMALL), free_mb=10)


def test_a_giant_is_warned_of_once():
    said = []
    admission = Admission(MACHINE, note=said.append)
    for _ in range(2):
        with admission.of(Needs(cpus=1.0, memory_mb=64_000)):
            pass
    assert len(said) == 1
    assert "64000 MiB" in said[0]


def test_who_waits_is_told_when_the_run_is_interrupted():
    admission = Admission(MACHINE)
    with ThreadPoolExecutor(1) as pool, admission.of(LARGE):
        waiting = pool.submit(lambda: admission.of(LARGE).__enter__())
        admission.cancel()
        with pytest.raises(InterruptedRunError):
            waiting.result(10)


class Busy:
    """A sandbox that counts what runs at the same time."""

    def __init__(self):
        self.lock, self.now, self.most, self.meet = threading.Lock(), 0, 0, threading.Barrier(2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def run(self, job):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.meet.wait(120)  # so that two are always there together
        with self.lock:
            self.now -= 1
        return job


def test_a_sandbox_runs_as_many_jobs_at_once_as_their_budgets_allow():
    busy = Busy()
    job = Job(image="x", argv=(), stdin=b"", budgets=Budgets(memory_mb=6000, cpus=1.0))
    with AdmittedSandbox(busy, room=MACHINE) as sandbox, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(sandbox.run, [job] * 8)) == [job] * 8
    assert busy.most == 2


def lay(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1024} kB\n"}


def test_available_memory_is_what_the_system_says(tmp_path):
    assert machine.available_mb(lay(tmp_path, MEMINFO)) == 8192


def test_a_control_group_of_version_2_bounds_memory_and_its_file_cache_counts_as_free(tmp_path):
    group = "sys/fs/cgroup/a/b"
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        f"{group}/memory.max": str(4 * GIB),
        f"{group}/memory.current": str(3 * GIB),
        f"{group}/memory.stat": f"anon 1\ninactive_file {GIB}\n",
    }
    assert machine.available_mb(lay(tmp_path, MEMINFO | files)) == 2048


def test_a_limit_of_a_group_further_up_counts(tmp_path):
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/b/memory.max": "max",
        "sys/fs/cgroup/a/memory.max": str(GIB),
        "sys/fs/cgroup/a/memory.current": "0",
    }
    assert machine.available_mb(lay(tmp_path, MEMINFO | files)) == 1024


def test_a_control_group_of_version_1_bounds_memory(tmp_path):
    files = {
        "proc/self/cgroup": "5:memory:/x\n",
        "sys/fs/cgroup/memory/x/memory.limit_in_bytes": str(GIB),
        "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "0",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
    }
    assert machine.available_mb(lay(tmp_path, MEMINFO | files)) == 1024


def test_nothing_is_known_where_nothing_can_be_read(tmp_path):
    assert machine.available_mb(tmp_path) is None


def test_a_quota_of_processors_counts(tmp_path):
    files = {"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}
    assert machine.usable_cpus(lay(tmp_path, files)) == 0.5


def test_an_engine_elsewhere_has_the_room_that_it_tells(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://far.example:2376")
    assert machine.room({"NCPU": 64, "MemTotal": 100 * GIB}) == Needs(cpus=64.0, memory_mb=92_160)
    assert machine.free_mb() is None

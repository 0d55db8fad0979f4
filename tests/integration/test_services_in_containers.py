"""Services beside a job: reached as on a CI host, without a way out, fresh for each job, and gone after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess  # noqa: TID251 - a run that is killed
import sys
from dataclasses import replace
from typing import Any

import pytest

from harness.core.instance import Budgets, Service, TestSpec
from harness.runs import evaluate
from harness.sandbox import engine, owners
from harness.sandbox.docker import DockerSandbox
from harness.sandbox.images import service_image
from harness.sandbox.images.service_image import ServiceImage
from harness.sandbox.job import Job, ServiceError
from tests import service_images, tiny, waiting

pytestmark = pytest.mark.engine

PYTHON = "/opt/goldseam/venv/bin/python"
BUDGETS = Budgets(seconds=120, memory_mb=256, pids=64, disk_mb=64)
ASK = """\
import json, os, socket, sys
def ask(host, port, said):
    try:
        with socket.create_connection((host, port), timeout=60) as wire:
            wire.sendall(said.encode("latin-1"))
            return wire.recv(200).decode("latin-1").strip()
    except OSError as error:
        return type(error).__name__
print(json.dumps([ask(*one) for one in json.loads(sys.argv[1])]))
"""


def held(tag: str) -> ServiceImage:
    """An image by the engine's own id, since other tests push the same one and take its name away again."""
    return replace(service_image.look(tag), name=str(engine.image_id(tag)))


@pytest.fixture(scope="module")
def redis() -> Service:
    image = held(service_images.redis())
    return Service(name="redis", image=image.name, ports=("6379:6379",), health="redis-cli ping", folders=image.folders)


def asked(sandbox, image, services, *questions):
    """What a job hears on its way to each address."""
    argv = (PYTHON, "-c", ASK, json.dumps(questions))
    done = sandbox.run(Job(image=image, argv=argv, stdin=b"", budgets=BUDGETS, services=services))
    return json.loads(done.stdout)


def of(pid: int, *, running: bool = False) -> dict[str, str]:
    """The containers of a process of this machine, or those that run: kind by name."""
    client: Any = engine.connect()
    mine = f"{owners.owner().split(':')[0]}:{pid}:"
    found = client.containers(all=not running, filters={"label": [engine.LABEL_OWNER]})
    labels = {one["Names"][0]: one["Labels"] for one in found}
    return {name: told[engine.LABEL_KIND] for name, told in labels.items() if told[engine.LABEL_OWNER].startswith(mine)}


def test_a_service_is_reached_on_localhost_and_by_its_names(sandbox, tiny_image, redis):
    named = replace(redis, hosts=("cache", "store.local"))
    places = ["localhost", "127.0.0.1", "redis", "cache", "store.local"]

    assert asked(sandbox, tiny_image, (named,), *([place, 6379, "PING\r\n"] for place in places)) == ["+PONG"] * 5


def test_a_port_that_ci_moves_is_moved(sandbox, tiny_image, redis):
    moved = replace(redis, ports=("7000:6379",))

    assert asked(sandbox, tiny_image, (moved,), ["localhost", 7000, "PING\r\n"]) == ["+PONG"]


def test_two_services_with_the_same_port_are_reached_each_by_its_own_name_and_port(sandbox, tiny_image, redis):
    other = replace(redis, name="other", ports=("6380:6379",))
    questions = (
        ["localhost", 6380, "SET who other\r\n"],
        ["localhost", 6379, "GET who\r\n"],
        ["redis", 6379, "GET who\r\n"],
        ["other", 6379, "GET who\r\n"],
    )

    assert asked(sandbox, tiny_image, (redis, other), *questions) == ["+OK", "$-1", "$-1", "$5\r\nother"]


def test_each_job_has_services_of_its_own(sandbox, tiny_image, redis):
    questions = (["redis", 6379, "GETSET left one\r\n"],)

    assert [asked(sandbox, tiny_image, (redis,), *questions) for _ in range(2)] == [["$-1"], ["$-1"]]


def test_neither_tests_nor_service_have_a_way_out(sandbox, tiny_image, redis):
    """The service is asked by its own means: it is to become the copy of another server, and is not."""
    questions = (
        ["192.0.2.1", 53, "x"],
        ["redis", 6379, "REPLICAOF 192.0.2.1 6379\r\n"],
        ["redis", 6379, "INFO replication\r\n"],
    )
    out, accepted, _ = asked(sandbox, tiny_image, (redis,), *questions)
    assert (out, accepted) == ("OSError", "+OK")

    probe = "cat /proc/net/dev /proc/net/route | grep -vcE 'lo:|Inter-|face|Iface'; grep Cap /proc/self/status"
    looks = replace(redis, command=("sh", "-c", f"exec >&2; {probe}; exit 3"), health="")
    with pytest.raises(ServiceError, match="ended with 3") as failed:
        asked(sandbox, tiny_image, (looks,))
    assert "0\nCapInh" in str(failed.value)


def test_a_service_that_is_never_ready_says_what_it_lacks(sandbox, tiny_image, redis):
    up = "until redis-cli ping | grep -q PONG; do sleep 0.1; done"
    ill = replace(redis, health=f"{up}; exit 1", start_seconds=0.4)

    with pytest.raises(ServiceError, match=r"redis is not ready after 0 s, its health command(.|\n)*Ready to accept"):
        asked(sandbox, tiny_image, (ill,))


def test_a_service_that_can_not_write_where_it_wants_to_says_so(sandbox, tiny_image, redis):
    tied = replace(redis, command=("redis-server", "--dir", "/var/lib/redis", "--appendonly", "yes"))

    with pytest.raises(ServiceError, match=r"redis ended with 1 as it started:(.|\n)*Read-only file system"):
        asked(sandbox, tiny_image, (tied,))


def test_a_service_writes_where_its_image_says_as_the_user_that_it_runs_as(sandbox, tiny_image, redis):
    words = ("redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data", "--appendonly", "yes")
    saves = replace(redis, command=words)

    assert asked(sandbox, tiny_image, (saves,), ["localhost", 6379, "SAVE\r\n"]) == ["+OK"]


def test_a_database_whose_entrypoint_becomes_another_user_is_ready_when_it_lets_tests_in(sandbox, tiny_image):
    image = held(service_images.postgres())
    database = Service(
        name="db",
        image=image.name,
        env={"POSTGRES_USER": "app", "POSTGRES_PASSWORD": "a-word", "POSTGRES_DB": "shop"},
        ports=("5433:5432",),
        health="PGPASSWORD=a-word /usr/lib/postgresql/*/bin/psql -h 127.0.0.1 -U app -c 'select 1' shop",
        folders=image.folders,
    )
    wants_ssl = "\0\0\0\x08\x04\xd2\x16\x2f"

    assert asked(sandbox, tiny_image, (database,), ["localhost", 5433, wants_ssl], ["db", 5432, wants_ssl]) == [
        "N",
        "N",
    ]


def test_waiting_for_services_is_not_a_job_s_time(sandbox, tiny_image, redis):
    slow = replace(redis, health="[ -e /tmp/seen ] || { sleep 6; touch /tmp/seen; exit 1; }")
    budgets = replace(BUDGETS, seconds=4)
    job = Job(image=tiny_image, argv=("true",), stdin=b"", budgets=budgets, services=(slow,), grace_seconds=0.5)

    done = sandbox.run(job)

    assert not done.timed_out
    assert done.timings["services"] > 6  # more than it and its grace


def test_nothing_is_left_of_a_job_nor_of_one_whose_service_failed(tiny_image, redis):
    before = of(os.getpid())
    with DockerSandbox() as sandbox:
        asked(sandbox, tiny_image, (redis,))
        with pytest.raises(ServiceError):
            asked(sandbox, tiny_image, (replace(redis, command=("false",)),))

    assert waiting.left(lambda: of(os.getpid()).keys() - before.keys()) == set()


def test_an_agent_s_workspace_has_the_services_of_its_task(workspaces, tiny_image, redis):
    instance = tiny.task(tiny_image, spec=TestSpec(services=(redis,))).instance
    with workspaces.open(instance) as opened:
        words = (PYTHON, "-c", ASK, json.dumps([["redis", 6379, "PING\r\n"]]))
        done = opened.run(words, seconds=240)

    assert done.output.strip() == '["+PONG"]'


def test_a_job_without_services_asks_the_engine_for_nothing_more(sandbox, tiny_image):
    done = sandbox.run(Job(image=tiny_image, argv=("true",), stdin=b"", budgets=BUDGETS))

    assert set(done.timings) == {"create", "attach", "start", "run", "wait"}


KILLED = """\
import sys
from harness.core.instance import Budgets, Service
from harness.sandbox.job import Job
from harness.sandbox.docker import DockerSandbox
redis = Service(name="redis", image=sys.argv[2], ports=("6379:6379",), folders=("/tmp", "/run", "/data"))
with DockerSandbox() as sandbox:
    argv = ("sh", "-c", "sleep 600")
    budgets = Budgets(seconds=600, memory_mb=128, disk_mb=16)
    print("begun", flush=True)
    sandbox.run(Job(image=sys.argv[1], argv=argv, stdin=b"", budgets=budgets, services=(redis,)))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_for_long(tiny_image, redis, how):
    argv = [sys.executable, "-c", KILLED, tiny_image, redis.image]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        waiting.until(lambda: sorted(of(running.pid, running=True).values()) == ["holder", "run", "service"], running)
        os.kill(running.pid, how)
        running.wait()
    owners.sweep()

    assert waiting.left(lambda: of(running.pid)) == {}  # another program may be sweeping them up


def judged(image, services, patch, **settings):
    """What grading makes of a patch whose hidden test counts in a service."""
    hidden = tiny.BASE_TESTS + (
        "\n\ndef ask(said):\n    import socket\n\n    with socket.create_connection(('redis', 6379), 5) as wire:\n"
        "        wire.sendall(said)\n        return wire.recv(100)\n"
        "\n\ndef test_two():\n    assert ask(b'INCRBY sum %d\\r\\n' % calc.add(1, 1)) == b':2\\r\\n'\n"
    )
    spec = TestSpec(services=services)
    task = tiny.task(image, tests={tiny.TESTS: (tiny.BASE_TESTS, hidden)}, spec=spec)
    with DockerSandbox() as sandbox:
        chosen = evaluate.Settings(**settings)
        return evaluate.evaluate_one(task, tiny.prediction(patch), sandbox, settings=chosen).report


def test_the_right_patch_resolves_a_task_with_a_service_and_the_wrong_one_does_not(tiny_image, redis):
    assert judged(tiny_image, (redis,), tiny.GOLD).resolved
    assert judged(tiny_image, (redis,), tiny.fix("return 3")).outcome == "unresolved"


REACHES = """\
import socket
for said in (b"SET sum 0", b"CONFIG SET dir /run", b"CONFIG SET dbfilename calc", b"SAVE", b"SHUTDOWN NOSAVE"):
    with socket.create_connection(("redis", 6379), 5) as wire:
        wire.sendall(said + b"\\r\\n")
        wire.recv(100)
"""


def test_a_patch_that_has_its_way_with_the_service_gains_nothing(tiny_image, redis):
    patch = tiny.fix("return a - b", top=REACHES.splitlines())

    assert judged(tiny_image, (redis,), patch).outcome == "unresolved"


def test_a_service_that_does_not_start_is_never_the_model_s_fault(tiny_image, redis):
    ill = replace(redis, health="exit 1", start_seconds=0.2)
    report = judged(tiny_image, (ill,), tiny.GOLD)

    assert report.outcome == "infra_error"
    assert "the service redis is not ready" in report.reason

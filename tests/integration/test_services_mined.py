"""A fix whose test talks to a service that its CI declares: mined, proved and scored beside a fresh one each time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from harness.checks.dataset import check
from harness.core.instance import TaskState
from harness.dataset.folder import open_dataset
from harness.sandbox import engine
from tests import own_registry, service_images, tiny
from tests.repos import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

LACKING = own_registry.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]

STORE = '''\
"""A counter that outlives its program."""

import os
import socket


def ask(*words):
    host, _, port = os.environ["STORE"].partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as wire:
        said = "".join(f"${len(word)}\\r\\n{word}\\r\\n" for word in words)
        wire.sendall(f"*{len(words)}\\r\\n{said}".encode())
        return wire.recv(4096).decode().strip()


def count(name, by=1):
    ask("INCRBY", name, "1")
    return int(ask("GET", name).splitlines()[-1])
'''
FIXED = STORE.replace('"INCRBY", name, "1"', '"INCRBY", name, str(by)')
TESTS = """\
from store import ask, count


def test_the_store_is_fresh_each_time():
    assert ask("GETSET", "left behind", "by an earlier run") == "$-1"
    assert count("first") == 1


def test_plain():
    assert 1 + 1 == 2
"""
NEW_TEST = """

def test_counting_by_more():
    assert count("second", by=3) == 3
"""
WORKFLOW = """\
name: tests
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    env:
      STORE: localhost:${{ job.services.store.ports[6379] }}
    services:
      store:
        image: IMAGE
        ports: ["6380:6379"]
        options: --health-cmd "redis-cli ping" --health-interval 1s
      gone:
        image: REGISTRY/acme/gone:1
    steps:
      - run: pip install pytest
      - run: pytest
"""
PROJECT = '[project]\nname = "store"\nversion = "1"\n\n[tool.setuptools]\npy-modules = ["store"]\n'
ONE = "acme__store-1"
BY_MORE, FRESH, PLAIN = (
    f"tests/test_store.py::test_{name}" for name in ("counting_by_more", "the_store_is_fresh_each_time", "plain")
)


@pytest.fixture(scope="module")
def registry(tmp_path_factory) -> Iterator[str]:
    with own_registry.serving_here(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(scope="module")
def image(registry) -> Iterator[str]:
    """A redis that the registry has under a tag, and the engine no more."""
    client: Any = engine.connect()
    repository = f"{registry}/acme/redis"
    client.tag(service_images.redis(), repository, "7")
    said = list(client.push(repository, tag="7", stream=True, decode=True))
    assert not [one for one in said if "error" in one], said
    client.remove_image(f"{repository}:7")
    yield f"{repository}:7"
    for tag in client.inspect_image(service_images.redis())["RepoTags"]:
        if tag.startswith(repository):
            client.remove_image(tag)


@pytest.fixture(scope="module")
def repo(tmp_path_factory, image, registry) -> Repository:
    made = Repository(tmp_path_factory.mktemp("store") / "repo")
    workflow = WORKFLOW.replace("IMAGE", image).replace("REGISTRY", registry)
    before = {"pyproject.toml": PROJECT, "store.py": STORE, "tests/test_store.py": TESTS}
    made.commit("Count in a store", {**before, ".github/workflows/tests.yml": workflow})
    made.commit("Fix counting by more than one (#1)", {"store.py": FIXED, "tests/test_store.py": TESTS + NEW_TEST})
    return made


@pytest.fixture(scope="module")
def mined(repo, tmp_path_factory):
    into = tmp_path_factory.mktemp("mined") / "dataset"
    words = ("mine", repo.path, "-o", into, "--name", "acme/store", "--pr", "1", "--runs", "1")
    done = tiny.goldseam(*words)
    assert done.returncode == 0, done.error_text
    return into


def test_the_task_is_proved_beside_the_service_of_its_ci(mined, image):
    task = open_dataset(mined).task(ONE)

    assert task.instance.state is TaskState.PROVED
    assert (task.hidden.fail_to_pass, task.hidden.pass_to_pass) == ((BY_MORE,), (PLAIN, FRESH))
    (service,) = task.instance.test.services
    assert (service.name, service.ports, service.health) == ("store", ("6380:6379",), "redis-cli ping")
    assert service.image.startswith(f"{image.rpartition(':')[0]}@sha256:")
    assert task.instance.test.env["STORE"] == "localhost:6380"
    assert check(mined) == ()


def test_the_evidence_says_which_tests_need_it(mined):
    told = open_dataset(mined).task(ONE).hidden.evidence["beside"]

    assert told == {"without": "no_fail_to_pass", "needed_by": sorted([BY_MORE, FRESH])}


def test_a_service_that_can_not_be_had_is_recorded_and_the_mine_goes_on(mined):
    (note,) = open_dataset(mined).task(ONE).instance.extra["environment"]["notes"]

    assert note.startswith("the service gone was not run: ")


def test_gold_resolves_it_and_nothing_else_does_on_an_engine_that_has_to_pull_the_service(mined, image, tmp_path):
    client: Any = engine.connect()
    name = open_dataset(mined).task(ONE).instance.test.services[0].image
    client.remove_image(name)  # its layers stay, under another name

    done = tiny.goldseam("evaluate", mined, "--gold", "--null", "-o", tmp_path / "run", "--json", "--force")

    assert {model["model"]: model["resolved"] for model in json.loads(done.stdout)["goldseam"]["models"]} == {
        "gold": 1,
        "null": 0,
    }
    assert name in client.inspect_image(service_images.redis())["RepoDigests"]

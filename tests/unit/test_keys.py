"""The digests by which kept work is found again, held to fixed values: verdicts, proofs, layers, answers of models.

A digest that changes orphans whatever was kept under it, on every machine. One that has to change is changed here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from harness.core.expectations import Expectations, Site
from harness.core.instance import Service, TestSpec
from harness.dataset import content
from harness.grading.scoring import Demands
from harness.runs import verdict
from harness.solve.base import Message, Request, Sampling, Tool
from harness.solve.models.response_cache import Asker
from harness.solve.plan import digest_of
from miner.layers.layer import Folder, Input, Layer
from miner.proof import Subject
from tests import tiny

SERVICE = Service(
    name="db",
    image="repo@sha256:" + "1" * 64,
    hosts=("postgres",),
    env={"POSTGRES_PASSWORD": "x", "A": "b"},
    command=("postgres", "-c", "fsync=off"),
    ports=("5433:5432",),
)
SPEC = TestSpec(
    framework="suites",
    options=("--strict",),
    plugins=("anyio",),
    pythonpath=("src",),
    allowed_paths=("setup.cfg",),
    modules=("attr", "yaml"),
    env={"TZ": "UTC", "B": "1"},
    clock="2021-05-03T12:00:00Z",
    services=(SERVICE,),
    extra={"unknown": 1},
)
EXPECTATIONS = Expectations(
    files={tiny.TESTS: "stripped"},
    ids={"tests/test_calc.py::test_two[p0]": "tests/test_calc.py::test_two[one]"},
    sites={0: Site(op="==", sides=("out", "kept")), 8: Site(op="in", sides=("out", "out"), decides="result")},
    tests={},
)
TASK = tiny.task()
FULL = tiny.task(spec=SPEC)
LAYER = Layer(
    kind="dependencies",
    parent=tiny.NO_IMAGE,
    commands=("uv sync", "true"),
    inputs=(Input(name="lock", path=Path("/tmp/lock"), sha256="2" * 64),),
    folders=(Folder(path=Path("/tmp/pythons"), target="/run/goldseam/py", key="3.12", context="py"),),
    env={"PATH": "/opt/venv/bin", "LANG": "C"},
    workdir="/testbed",
    labels={"goldseam.kind": "dependencies"},
)


def tripping(task):
    return replace(task, hidden=replace(task.hidden, evidence={"tripwires": {"inspect": ["frames"]}}))


@pytest.mark.parametrize(
    ("task", "digest"),
    [
        (TASK, "d762a2d8128986880d1eb8742a2205f457f2bcd494c79a523256a9b7736e4793"),
        (FULL, "a8b1990b1826720961219eac9e486fdd6be1f14a1550f968adbb0639c06ba996"),
        (tripping(TASK), "8bb61e9f44ab0546d4c3d99c6533eeb0b325baba9366dafce367f1f1bc0a806c"),
    ],
    ids=["plain", "every option", "tripwires"],
)
def test_a_task_keeps_its_digest(task, digest):
    assert task.digest() == digest


def test_expectations_keep_their_digest():
    assert EXPECTATIONS.digest == "c588386089bb87d1012fb08fc4a73b024490c0f3fc41dec6520336f88d3aa5f3"


@pytest.mark.parametrize(
    ("demands", "grading", "digest"),
    [
        (Demands(), 12, "f7227704107de005b940e9ce95aa0e066227631477383b157f22086b2403e0c0"),
        (Demands(timeout=2.5), 12, "2b1673e0faa15eb06b4619210ac4ee654b8892cda0cfcab581514d2bd0b60ed2"),
        (Demands(timeout=2.5), 13, "fd9b47268fa066a9acd9480cb6bfc09faf371f56557bc1005eb301635f4075a7"),
    ],
)
def test_a_verdict_keeps_its_key(demands, grading, digest):
    assert verdict.key_of("3" * 64, tiny.prediction(), demands, grading=grading) == digest


@pytest.mark.parametrize(
    ("spec", "digest"),
    [
        (TestSpec(), "7abd5936559d804962e08635af7d9b9e48aceef55fa751bd9158ba916f8ede7c"),
        (SPEC, "d3eb7a12e72bc56b20d61aa07f4db25827c79a9f6a275ee3e18e6ffac03a7628"),
    ],
    ids=["plain", "every option"],
)
def test_a_proof_keeps_its_key(spec, digest):
    subject = Subject(
        instance_id="tiny__calc-1",
        image=tiny.NO_IMAGE,
        test=spec,
        test_files=(tiny.TESTS,),
        gold_patch=tiny.GOLD.encode(),
        test_patch=b"the tests",
        brings=frozenset({"calc.more"}),
    )
    assert subject.key() == digest


def test_a_layer_keeps_its_key():
    assert LAYER.key == "d35dd0679809ffc3ffcb3de407cc7795f741a2597e1b79cde108d89b2402c94f"


def test_a_dataset_keeps_its_content(tmp_path):
    dataset = tiny.dataset(tmp_path / "data", TASK, tiny.task(instance_id="tiny__calc-2", spec=SPEC))
    assert content.content_of(dataset) == "sha256:37bcd15d461ed72ebb529fd80f3e2c6324d0da7af7da0ec505394abe06182c68"


def test_what_a_model_may_see_keeps_its_digest():
    assert digest_of(FULL.instance) == "9048c57d36f1d36a61039bcea691f242c998804e4ef705c80870904ff3c81105"


def test_an_answer_keeps_its_key():
    asker = Asker(endpoint="https://api.example/v1/", api="chat", model="m", day=date(2026, 6, 1))
    request = Request(
        messages=(Message(role="user", content="Fix it."),),
        tools=(Tool(name="run", description="Run it.", parameters={"type": "object"}),),
        sampling=Sampling(),
        sample=2,
    )
    assert asker.key(request).hex() == "c7b2f8a22f8623639a8c831ea3440ba9ca408849a64e3c73127433586f9ce649"

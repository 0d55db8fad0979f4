"""What the Ray executor is made of, without Ray: where jobs go, what travels, and how errors do."""

from __future__ import annotations

import importlib
import json
import pickle
import pkgutil
import sys
from importlib import metadata
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from cryptography.exceptions import InvalidTag

from harness import sandbox
from harness.core.errors import GoldseamError, InfrastructureError, InputError
from harness.core.instance import Budgets
from harness.sandbox.executors import ray_node
from harness.sandbox.executors.choose import Kind, choose
from harness.sandbox.executors.placement import Placement
from harness.sandbox.job import Job, MissingImageError, SandboxError

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "registry.example/tasks@sha256:1"
LOCAL = "sha256:2"


@pytest.fixture
def three():
    placement = Placement()
    placement.see("a", slots=2)
    placement.see("b", slots=2, images=[IMAGE, LOCAL])
    placement.see("c", slots=4, images=[IMAGE])
    return placement


def test_a_job_goes_to_the_emptiest_node_that_holds_its_image(three):
    assert three.choose(IMAGE) == "c"
    three.nodes["c"].running = 3
    assert three.choose(IMAGE) == "b"


def test_the_cluster_decides_where_no_node_that_holds_the_image_is_free(three):
    three.nodes["b"].running, three.nodes["c"].running = 2, 4
    assert three.choose(IMAGE) is None


def test_an_image_that_nobody_holds_may_go_anywhere(three):
    assert three.choose("registry.example/tasks@sha256:9") is None


def test_an_image_that_is_in_no_registry_waits_for_the_node_that_has_it(three):
    three.nodes["b"].running = 2
    assert three.choose(LOCAL) == "b"


def test_a_sick_node_gets_nothing_until_it_may_be_well_again(three):
    three.nodes["c"].sick_until = 30.0
    assert three.choose(IMAGE, now=10.0) == "b"
    assert three.choose(IMAGE, now=30.0) == "c"


def test_a_job_that_failed_for_a_node_goes_to_another_even_without_the_image(three):
    assert three.choose(IMAGE, avoid={"b", "c"}) == "a"


def test_nodes_that_are_gone_are_forgotten_and_those_that_stay_keep_what_is_known(three):
    three.keep_only({"a", "b"})
    three.see("b", slots=2)
    assert three.choose(IMAGE) == "b"


def test_a_letter_holds_nothing_that_can_be_read():
    key = ray_node.new_key()
    job = Job(image=IMAGE, argv=("a",), stdin=b"def test_hidden(): assert 1" * 100, budgets=Budgets())
    letter = ray_node.seal(job, key)
    assert b"test_hidden" not in letter
    assert ray_node.open_letter(letter, key) == job


def test_a_letter_of_another_run_is_refused():
    with pytest.raises(InvalidTag):
        ray_node.open_letter(ray_node.seal(1, ray_node.new_key()), ray_node.new_key())


def every_error():
    """The errors that a sandbox may raise: those of everybody, and its own."""
    for found in pkgutil.iter_modules(sandbox.__path__, "harness.sandbox."):
        importlib.import_module(found.name)
    left = [GoldseamError]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        if kind.__module__ == "harness.core.errors" or kind.__module__.startswith("harness.sandbox."):
            yield kind


def test_every_error_of_a_sandbox_keeps_its_class_its_words_and_its_hint_on_the_way():
    kinds = list(every_error())
    assert {SandboxError, MissingImageError} <= set(kinds)
    for kind in kinds:
        came = pickle.loads(pickle.dumps(kind("what", hint="do")))
        assert (type(came), came.message, came.hint, str(came)) == (kind, "what", "do", "what")


def test_an_error_that_cannot_travel_is_told_in_words():
    class HereError(Exception):
        pass

    def fail():
        raise HereError("why")

    _, error = ray_node.outcome_of(fail)
    assert str(pickle.loads(pickle.dumps(error))) == "HereError: why"


def test_an_address_without_ray_is_refused():
    with pytest.raises(InputError, match="--address"):
        choose(Kind.LOCAL, address="auto")


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError) as caught:
        choose(Kind.RAY)
    assert "[ray]" in caught.value.hint


def test_a_client_address_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", object())
    with pytest.raises(InputError, match="host:port"):
        choose(Kind.RAY, address="ray://head:10001")


def test_a_cluster_that_is_not_there_is_an_infrastructure_error_at_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", object())
    executor = choose(Kind.RAY, address="127.0.0.2:1")
    with pytest.raises(InfrastructureError, match="no Ray cluster answers"), executor.sandbox():
        pass


@pytest.fixture
def manifest():
    return yaml.safe_load((ROOT / "docs/kuberay.yaml").read_text(encoding="utf-8"))


def test_the_pods_of_the_manifest_are_what_kubernetes_takes(manifest):
    spec = manifest["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, **group["template"]}
        kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)
        volumes = {one["name"] for one in pod["spec"]["volumes"]}
        mounts = [one["name"] for container in pod["spec"]["containers"] for one in container["volumeMounts"]]
        assert set(mounts) == volumes


def test_rays_autoscaler_reads_from_the_manifest_what_nodes_have_and_how_many_there_may_be(manifest):
    manifest["metadata"]["namespace"] = "default"  # as Kubernetes gives it back
    from ray.autoscaler._private.kuberay import autoscaling_config  # noqa: PLC0415 - takes half a second, of every worker

    read = autoscaling_config._derive_autoscaling_config_from_ray_cr(manifest)
    workers = read["available_node_types"]["engines"]
    assert workers["resources"] == {"CPU": 8, "memory": 28 * 1024**3, "docker": 8}
    assert (workers["min_workers"], workers["max_workers"]) == (0, 20)
    assert read["available_node_types"]["headgroup"]["resources"]["CPU"] == 0
    assert manifest["spec"]["enableInTreeAutoscaling"] is True


def test_the_manifest_for_kubernetes_names_the_ray_that_is_tested_and_one_docker_a_processor(manifest):
    (workers,) = manifest["spec"]["workerGroupSpecs"]
    started = workers["rayStartParams"]
    assert manifest["spec"]["rayVersion"] == metadata.version("ray")
    assert json.loads(json.loads(started["resources"].strip("'"))) == {"docker": int(started["num-cpus"])}
    (memory,) = (one["resources"]["limits"]["memory"] for one in workers["template"]["spec"]["containers"][1:])
    assert int(started["memory"]) < int(memory.removesuffix("Gi")) << 30

"""`goldseam mine` on a cluster whose nodes have engines of their own, with a registry between them."""

from __future__ import annotations

import json
import re
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from harness.checks.dataset import check
from harness.core.instance import Budgets, TaskState
from harness.dataset.folder import open_dataset
from harness.sandbox import engine
from harness.sandbox.executors.choose import Kind, choose
from harness.sandbox.images import pulls
from harness.sandbox.job import Job
from tests import forked, tiny, two_engines, waiting
from tests.ray_cluster import RayCluster
from tests.repos import Repository

LACKING = two_engines.lacking()
pytestmark = [pytest.mark.engine, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]

MARK = 299_999
UNSTEADY = {
    "canary",
    "decided_at",
    "gold_max_rss_kb",
    "gold_seconds",
    "image",
    "layer_bytes",
    "price",
    "seconds",
    "timings",
}


@pytest.fixture(scope="module")
def two():
    with two_engines.TwoEngines() as started:
        yield started


@pytest.fixture(scope="module")
def settings(two, tmp_path_factory):
    """The environment of everything here: a small base, the index and the registry that both engines reach."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patched.setenv("GOLDSEAM_IMAGES_BASE", two.slim_base())
        patched.setenv("GOLDSEAM_IMAGES_NETWORK", "host")
        patched.setenv("GOLDSEAM_IMAGES_REGISTRY", two.repository)
        patched.setenv("UV_DEFAULT_INDEX", two.index)
        yield patched


@pytest.fixture(scope="module")
def cluster(settings):
    with RayCluster(nodes=0) as running:
        yield running


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Two fixes with tests."""
    repo = Repository(tmp_path_factory.mktemp("history") / "repo")
    base = "def test_zero():\n    assert calc.add(0, 0) == 0\n"
    tests = {
        "add": f"import calc\n\n\n{base}",
        "times": "import calc\n\n\ndef test_one():\n    assert calc.times(1, 1) == 1\n",
    }
    code = "def add(a, b):\n    return a - b\n\n\ndef times(a, b):\n    return a ** b\n"
    repo.commit("Begin", {"calc.py": code, **{f"tests/test_{name}.py": text for name, text in tests.items()}})
    code = code.replace("a - b", "a + b")
    tests["add"] += "\n\ndef test_two():\n    assert calc.add(1, 1) == 2\n"
    repo.commit("Fix wrong sums of two numbers", {"calc.py": code, "tests/test_add.py": tests["add"]})
    code = code.replace("a ** b", "a * b")
    tests["times"] += "\n\ndef test_six():\n    assert calc.times(2, 3) == 6\n"
    repo.commit("Fix wrong products of two numbers", {"calc.py": code, "tests/test_times.py": tests["times"]})
    return repo


@dataclass(frozen=True, kw_only=True)
class Mined:
    """What came of a mine that was killed on one node and gone on with on another."""

    dataset: Path
    steps: tuple[list[str], list[str]]
    """What was built, before and after."""
    tags: list[str]
    """What the registry had in the end."""

    @property
    def task(self):
        (found,) = open_dataset(self.dataset).instances()
        return open_dataset(self.dataset).task(found.instance_id)


@pytest.fixture(scope="module")
def mined(two, cluster, history, tmp_path_factory):
    out = tmp_path_factory.mktemp("mined") / "dataset"
    cluster.add_node()
    alone = {"DOCKER_HOST": "unix:///nowhere"}  # the command needs no engine where it runs
    with forked.started(*mine(history, out, *on(cluster)), env=alone) as child:
        proofs = ".goldseam/proofs/*"
        notes = waiting.until(lambda: [path for path in out.glob(proofs) if b"\n" in path.read_bytes()])[0]
        child.kill()
    before = built(out)
    mark(notes)
    cluster.remove_node()
    cluster.add_node(engine=two.second.host)
    done = tiny.goldseam(*mine(history, out, *on(cluster)))
    assert done.returncode == 0, done.error_text
    return Mined(dataset=out, steps=(before, built(out)), tags=two.tags())


def mine(history, out, *more):
    return ["mine", history.path, "--name", "team/calc", "-o", out, "--limit", "1", "--runs", "1", *more]


def on(cluster):
    return ["--executor", "ray", "--address", cluster.address]


def built(out):
    (log,) = out.glob(".goldseam/logs/*")
    return re.findall(r"^--- (\w+) on", log.read_text(), re.MULTILINE)


def mark(notes):
    """Make the first run that was noted one that no later run can pass for."""
    first, *rest = notes.read_text().splitlines()
    notes.write_text("\n".join([json.dumps({**json.loads(first), "max_rss_kb": MARK}), *rest]) + "\n")


def builds(two):
    """Containers of builds on the second engine, which is the only node's."""
    with two.use(two.second.host):
        found = engine.connect().containers(all=True, filters={"label": [engine.LABEL_OWNER]})
    return {one["Id"] for one in found if one["Labels"][engine.LABEL_KIND].startswith("build-")}


def test_a_killed_mine_goes_on_on_another_node_and_builds_nothing_again(mined):
    before, after = mined.steps
    assert {"deps", "task"} <= set(before)
    assert not {"deps", "task"} & set(after)
    assert [tag.partition("-")[0] for tag in mined.tags] == ["base", "deps", "task"]


def test_runs_that_were_done_before_the_kill_are_not_done_again(mined):
    assert mined.task.hidden.evidence["gold_max_rss_kb"] == MARK


def test_a_task_names_its_image_by_the_registrys_digest_and_another_engine_holds_it(mined, two):
    image = mined.task.instance.image
    assert mined.task.instance.state is TaskState.PROVED
    assert image.startswith(f"{two.repository}@sha256:")
    assert check(mined.dataset) == ()
    with two.use(two.second.host):
        assert image in engine.inspect_image(image).digests


@pytest.fixture(scope="module")
def local(mined, history, tmp_path_factory):
    """The same mine on this machine."""
    out = tmp_path_factory.mktemp("local") / "dataset"
    done = tiny.goldseam(*mine(history, out))
    assert done.returncode == 0, done.error_text
    return out


def test_a_mine_on_a_cluster_makes_what_one_on_this_machine_makes(mined, local):
    here, there = whole(local), whole(mined.dataset)
    assert here["funnel.jsonl"] == there["funnel.jsonl"]
    assert here == there


def test_images_of_a_local_mine_are_pushed_pulled_elsewhere_and_proved_there(local, two, tmp_path):
    copy = tmp_path / "dataset"
    shutil.copytree(local, copy)
    version = open_dataset(copy).version
    told = json.loads(images("push", copy).stdout)
    (instance,) = open_dataset(copy).instances()
    assert told == {"pushed": {instance.instance_id: instance.image}, "already": [], "failed": {}}
    assert instance.image.startswith(f"{two.repository}@sha256:")
    assert (check(copy), open_dataset(copy).version) == ((), version + 1)
    assert json.loads(images("push", copy).stdout)["already"] == [instance.instance_id]
    with two.use(two.second.host):
        if engine.image_id(instance.image):
            engine.connect().remove_image(instance.image, force=True)
        assert json.loads(images("pull", copy).stdout)["pulled"] == {instance.instance_id: instance.image}
        held = engine.image_id(instance.image)
        assert [one["kind"] for one in json.loads(images("ls").stdout)["images"] if one["id"] == held] == ["task"]
        assert json.loads(images("du").stdout)["bytes"] > 0
        for how, outcome in (("--gold", "resolved"), ("--null", "unresolved")):
            run = tmp_path / how.strip("-")
            tiny.goldseam("evaluate", copy, how, "-o", run, "--force")
            (report,) = run.glob("results/*/*/*/report.json")
            assert json.loads(report.read_text())["outcome"] == outcome
        told = json.loads(images("gc", copy, "--downloads", "1").stdout)
        assert held not in [one["id"] for one in told["removed"]]
        assert told["downloads"] == {}
        assert engine.image_id(instance.image) == held


def images(word, *datasets):
    done = tiny.goldseam("images", word, *datasets, "--json")
    assert done.returncode == 0, done.error_text
    return done


def test_images_that_an_engine_lacks_are_named_and_the_task_stays_as_it_is(settings, two, tmp_path):
    dataset = tiny.dataset(tmp_path / "dataset", tiny.task())
    done = tiny.goldseam("images", "push", dataset.path)
    assert done.returncode == 4
    assert f"the engine has no image {tiny.NO_IMAGE}" in done.error_text
    assert [one.image for one in dataset.instances()] == [tiny.NO_IMAGE]


def whole(dataset):
    """All files of a dataset, less what two mines never share."""
    found, canary = {}, open_dataset(dataset).canary
    for path in dataset.rglob("*"):
        name = str(path.relative_to(dataset))
        if path.is_dir() or name.startswith((".goldseam", "dataset.yaml", "ledger")):
            continue
        text = path.read_text().replace(canary, "")
        if path.suffix == ".yaml":
            found[name] = steady(yaml.safe_load(text))
        elif path.suffix in (".json", ".jsonl"):
            parts = text.splitlines() if path.suffix == ".jsonl" else [text]
            found[name] = [steady(json.loads(one)) for one in parts]
        else:
            found[name] = text
    return found


def steady(value):
    if isinstance(value, dict):
        return {name: steady(one) for name, one in value.items() if name not in UNSTEADY}
    return [steady(one) for one in value] if isinstance(value, list) else value


def test_an_image_that_a_node_lacks_is_pulled_by_its_digest(mined, cluster, two, tmp_path):
    image = mined.task.instance.image
    with two.use(two.second.host):
        engine.connect().remove_image(image, force=True)
        assert engine.image_id(image) is None
    argv = ["evaluate", mined.dataset, "--gold", "-o", tmp_path / "run", "--no-signals", "--force", *on(cluster)]
    done = tiny.goldseam(*argv)
    assert done.returncode == 0, done.error_text
    assert json.loads((tmp_path / "run/report.json").read_bytes())["resolved_instances"] == 1
    with two.use(two.second.host):
        assert engine.image_id(image)


def test_a_dataset_is_refreshed_on_a_cluster(mined, cluster, tmp_path):
    copy = tmp_path / "dataset"
    shutil.copytree(mined.dataset, copy)
    done = tiny.goldseam("holdout", "refresh", copy, "--runs", "1", "--json", *on(cluster))
    assert done.returncode == 0, done.error_text
    (told,) = json.loads(done.stdout)["tasks"]
    assert told["result"] == "holds"


def test_rows_are_imported_on_a_cluster(mined, cluster, two, history, tmp_path):
    instance, hidden = mined.task.instance, mined.task.hidden
    row = {
        **{name: getattr(instance, name) for name in ("instance_id", "repo", "base_commit", "created_at", "version")},
        "problem_statement": instance.problem_statement,
        "hints_text": "",
        "patch": hidden.gold_patch.decode(),
        "test_patch": hidden.test_patch.decode(),
        "FAIL_TO_PASS": json.dumps(hidden.fail_to_pass),
        "PASS_TO_PASS": json.dumps(hidden.pass_to_pass),
    }
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(row) + "\n")
    words = ["--source", f"{instance.repo}={history.path}", "-o", tmp_path / "dataset", "--runs", "1", *on(cluster)]
    done = tiny.goldseam("holdout", "import", rows, *words)
    assert done.returncode == 0, done.error_text
    (imported,) = open_dataset(tmp_path / "dataset").instances()
    assert (imported.state, imported.image) == (TaskState.PROVED, instance.image)


def test_a_mine_that_is_interrupted_while_an_image_is_built_leaves_no_container(mined, cluster, two, history, tmp_path):
    argv = mine(history, tmp_path / "dataset", "--limit", "2", *on(cluster))
    with two.silent_index():
        with forked.started(*argv) as child:
            waiting.until(lambda: builds(two), child)
            child.send_signal(signal.SIGINT)
            code = child.wait(timeout=40)  # less than it waits for a node that does not end its build
            assert code == 130, child.stderr.read()
        assert waiting.left(lambda: builds(two)) == set()


@dataclass(frozen=True, kw_only=True)
class Held:
    """Images that one of two nodes holds, by what `two.use` takes for its engine; both are in the registry."""

    images: dict[str | None, str]


@pytest.fixture(scope="module")
def held(mined, cluster, two):
    """Both nodes are there from now on."""
    found = {}
    for number, host in enumerate((None, two.second.host)):
        with two.use(host):
            client = engine.connect()
            made = client.create_container(mined.task.instance.image, ["true"], network_disabled=True)["Id"]
            client.put_archive(made, "/", tiny.MemoryTree({"number": str(number)}).tar())
            client.commit(made, f"{two.registry}/team/other", str(number))
            engine.remove_container(made)
            digest = pulls.push(f"{two.registry}/team/other:{number}", stall_seconds=60)
            found[host] = f"{two.registry}/team/other@{digest}"
    cluster.add_node()
    return Held(images=found)


@pytest.fixture(scope="module")
def opened(held, cluster):
    """The cluster, as a command has it."""
    executor = choose(Kind.RAY, address=cluster.address)
    with executor.sandbox() as sandbox:
        assert executor.engines() == 2
        yield sandbox


def job(image, script="true", **budgets):
    room = {"seconds": 300, "memory_mb": 128, "pids": 16, "disk_mb": 16, **budgets}
    return Job(image=image, argv=("sh", "-c", script), stdin=b"", budgets=Budgets(**room))


WAITS = "until [ -e /tmp/enough ]; do sleep 0.1; done"


def enough(two, host, image):
    """Let jobs of an image that wait come to their end."""
    with two.use(host):
        client = engine.connect()
        for one in client.containers(filters={"ancestor": image}):
            client.exec_start(client.exec_create(one["Id"], ["touch", "/tmp/enough"])["Id"])


def holds(two, host, image):
    with two.use(host):
        return engine.image_id(image) is not None


def taken():
    """What of the cluster's resources runs."""
    import ray  # noqa: PLC0415 - takes a second, of every worker

    free, whole = ray.available_resources(), ray.cluster_resources()
    return {name: whole[name] - free.get(name, 0.0) for name in ("CPU", "memory", "docker")}


def running(two, host, image):
    with two.use(host):
        return len(engine.connect().containers(filters={"ancestor": image}))


def test_a_job_asks_for_its_processors_its_memory_and_one_docker(opened, held, two):
    asked = {"CPU": 1.5, "memory": 200 * 1024**2, "docker": 1.0}
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(opened.run, job(held.images[None], WAITS, cpus=1.5, memory_mb=200))
        waiting.until(lambda: taken() == asked and running(two, None, held.images[None]))
        enough(two, None, held.images[None])
        assert waits.result().exit_code == 0


def test_a_job_goes_to_the_node_that_holds_its_image(opened, held, two):
    here, there = held.images.values()
    for image in (here, there, there, here):
        assert opened.run(job(image)).exit_code == 0
    assert not holds(two, None, there)
    assert not holds(two, two.second.host, here)


def test_a_job_for_which_that_node_has_no_room_goes_to_another_which_pulls(opened, held, two):
    there = held.images[two.second.host]
    with ThreadPoolExecutor(2) as pool:
        full = [pool.submit(opened.run, job(there, WAITS)) for _ in range(2)]
        waiting.until(lambda: running(two, two.second.host, there) == len(full))
        waiting.until(lambda: taken()["docker"] == len(full))  # before that the cluster may take the node for free, too
        assert opened.run(job(there)).exit_code == 0
        enough(two, two.second.host, there)
        assert [one.result().exit_code for one in full] == [0, 0]
    assert holds(two, None, there)

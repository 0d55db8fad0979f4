"""Where images are built, without a cluster: what is refused, what travels, what a node makes of it."""

from __future__ import annotations

import io
import pickle
import zlib
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from harness.config.settings import ImageSettings, load_settings
from harness.core.errors import InputError
from harness.sandbox.executors.base import Errand
from harness.sandbox.executors.placement import Placement
from miner.candidates.split import CommitTree
from miner.images import image_builders, task_image
from miner.images.layer_registry import LayerRegistry
from miner.sources.change import Rejection, Stage
from miner.sources.git import open_source
from tests.repos import Repository

REFUSED = Rejection(stage=Stage.IMAGE, reason="install_failed")
IMAGE = "registry.example/tasks@sha256:1"


def cluster(engines):
    return SimpleNamespace(is_here=False, engines=lambda: engines)


@pytest.mark.parametrize("engines", [0, 2])
def test_several_engines_or_none_yet_need_a_registry_and_the_hint_says_how_to_name_one(engines):
    with pytest.raises(InputError) as caught:
        image_builders.images_of(cluster(engines), ImageSettings())
    assert "GOLDSEAM_IMAGES_REGISTRY=" in caught.value.hint
    assert "[images] registry" in caught.value.hint


def test_one_engine_needs_no_registry_and_several_do_with_one():
    assert isinstance(image_builders.images_of(cluster(1), ImageSettings()), image_builders.ClusterImages)
    named = ImageSettings(registry="registry.example/team/tasks")
    assert isinstance(image_builders.images_of(cluster(2), named), image_builders.ClusterImages)


def test_nodes_that_share_an_engine_count_as_one_and_hold_the_same_images():
    placement = Placement()
    for node_id, engine in (("a", "one"), ("b", "one"), ("c", "two")):
        placement.see(node_id, slots=1)
        placement.nodes[node_id].engine = engine
    placement.holds("a", IMAGE)
    assert placement.engines() == 2
    assert [IMAGE in node.images for node in placement.nodes.values()] == [True, True, False]


@pytest.mark.parametrize(
    "name",
    ["https://registry.example/x", "registry.example/x:tag", "registry.example/x@sha256:1", "x", "", "a/B", "a/b/"],
)
def test_a_registry_that_names_no_repository_is_refused(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="expected host/name"):
        load_settings(images={"registry": name}, env={})


@pytest.mark.parametrize("name", ["127.0.0.1:5000/tasks", "registry.example/team/gold-seam_1"])
def test_a_repository_with_its_host_is_taken(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert load_settings(env={"GOLDSEAM_IMAGES_REGISTRY": name}).images.registry == name


def test_a_layer_is_a_tag_of_the_repository_by_kind_and_key():
    shelf = LayerRegistry(repository="registry.example/tasks", note=print)
    assert shelf.name("goldseam/deps:0123456789abcdef") == "registry.example/tasks:deps-0123456789abcdef"


def test_a_tar_says_of_a_commit_what_git_says(tmp_path):
    repo = Repository(tmp_path / "repo")
    repo.write("bin/run", "#!/bin/sh\n", executable=True)
    repo.link("a/link", "../b.txt")
    sha = repo.commit(
        "All kinds", {"b.txt": b"\xff\x00", b"\xe9t\xe9.py": "x\n", "a-b/c": "", "a/ä": "1", "a.txt": "2"}
    )
    with open_source(str(repo.path), cache=tmp_path / "cache", name="team/kinds") as bare:
        git, tar = CommitTree(bare, sha), image_builders.TarTree(bare.archive_bytes(sha))
        assert tar.files() == git.files()
        assert {path: tar.read(path) for path in tar.files()} == {path: git.read(path) for path in git.files()}
        assert tar.read("nowhere") is None
        assert tar.read("a") is None


def test_an_errand_can_travel():
    errand = Errand(
        work=image_builders._inspect_there,
        item=(IMAGE, None),
        needs=image_builders.Needs(cpus=1, memory_mb=1),
        image=IMAGE,
    )
    assert pickle.loads(pickle.dumps(errand)) == errand


class Recording:
    """An executor that notes what it is asked to do, and comes to nothing."""

    is_here = False

    def __init__(self):
        self.errands = []

    def engines(self):
        return 2

    def do(self, errand, *, note, holds=None):
        self.errands.append(pickle.loads(pickle.dumps(errand)))
        return (
            image_builders._BuildResult(built=REFUSED, log=b"said")
            if errand.work is image_builders._build_there
            else "laid"
        )


def test_a_build_asks_for_a_processor_and_its_memory_and_the_base_is_laid_once_before(tmp_path):
    executor = Recording()
    images = image_builders.images_of(
        executor, ImageSettings(registry="registry.example/team/tasks", build_memory_mb=3000)
    )
    order = task_image.Order(
        repo="team/calc", base_commit="0" * 40, when=datetime(2026, 1, 1, tzinfo=UTC), version_hint=None
    )
    for name in ("one", "two"):
        log = tmp_path / name / "log"
        built = images.build(order, None, lambda: io.BytesIO(b"tar"), sandbox=None, log=log, progress=str)
        assert (built, log.read_bytes()) == (REFUSED, b"said")
    assert [one.work for one in executor.errands] == [
        image_builders._lay_there,
        image_builders._build_there,
        image_builders._build_there,
    ]
    assert {one.needs for one in executor.errands} == {image_builders.Needs(cpus=1.0, memory_mb=3000)}
    assert zlib.decompress(executor.errands[1].item.source) == b"tar"


def bench(settings, **variables):
    return image_builders._Bench(settings=settings.model_dump(mode="json"), variables=variables)


def test_a_node_keeps_its_own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("GOLDSEAM_CACHE_DIR", str(tmp_path / "node"))
    assert bench(ImageSettings(cache_dir=tmp_path / "driver")).local_settings().cache_dir == tmp_path / "node"


def test_a_node_without_an_interpreter_that_is_named_says_so(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.9").touch()
    there = bench(ImageSettings(pythons={"3.9": tmp_path}))
    (tmp_path / "bin/python3.9").unlink()
    with pytest.raises(InputError, match=r"Python 3\.9"):
        there.local_settings()


def test_a_nodes_own_variables_go_before_the_drivers_and_nothing_stays(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "node")
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    with bench(ImageSettings(), HTTPS_PROXY="driver", UV_DEFAULT_INDEX="driver").variables_set():
        assert (image_builders.os.environ["HTTPS_PROXY"], image_builders.os.environ["UV_DEFAULT_INDEX"]) == (
            "node",
            "driver",
        )
    assert "UV_DEFAULT_INDEX" not in image_builders.os.environ

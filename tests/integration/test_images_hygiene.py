"""The hygiene gate on real images."""

from __future__ import annotations

import pytest

from harness.checks import dataset, hygiene, image_search
from harness.sandbox import engine
from harness.sandbox.images import layers
from tests import second_engine, tiny

pytestmark = pytest.mark.engine

SCRIPT = (
    f"mkdir /keep; printf '%s' '{tiny.HIDDEN_TESTS}' > /keep/x.py; printf '%s' '{tiny.FIXED}' > /keep/__init__.py;"
    " echo stays > /stays"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("layers")


@pytest.fixture(scope="module")
def small_image(slim_image):
    """A tenth of the task image, in one layer."""
    yield second_engine.load(slim_image, "tiny/hygiene")
    engine.connect().remove_image("tiny/hygiene:slim")


def with_layers(image: str, *scripts: str) -> str:
    """An image with a layer more for each of these."""
    client = engine.connect()
    for words in scripts:
        container = client.create_container(image, entrypoint=[], command=["sh", "-c", words], user="0:0")["Id"]
        client.start(container)
        client.wait(container)
        image = client.commit(container)["Id"]
        client.remove_container(container)
    return image


@pytest.fixture
def leaking_image(small_image):
    """The small image with the fix and the hidden tests in a layer, and a layer over it that deletes them."""
    image = with_layers(small_image, SCRIPT, "rm -r /keep")
    yield image
    engine.connect().remove_image(image)  # and with it the one below, which has no other name


def secrets(task):
    return hygiene.secrets(task.hidden.gold_patch, task.hidden.test_patch)


def test_the_image_of_a_task_is_clean(tiny_image, cache):
    assert image_search.inspect_image(tiny_image, secrets(tiny.task(tiny_image)), cache=cache) == ()


def test_the_newest_layer_is_the_tree_and_its_repository(tiny_image):
    paths = {path for path, _ in layers.newest_layer(tiny_image)}
    assert {"testbed/.git/HEAD", "testbed/.git/config"} <= paths
    assert any(path.endswith(tiny.CALC) for path in paths)
    assert not any(path.startswith("usr/bin/") for path in paths)


def test_the_newest_layer_has_nothing_of_a_layer_that_was_made_just_before(leaking_image):
    below = next(image_search.parents(leaking_image))
    assert "stays" in {path for path, _ in layers.newest_layer(below)}
    assert "stays" not in {path for path, _ in layers.newest_layer(leaking_image)}


def test_what_a_later_layer_deletes_is_found(leaking_image, cache):
    found = image_search.inspect_image(leaking_image, secrets(tiny.task(leaking_image)), cache=cache)
    assert any(leak.where.startswith("keep/") for leak in found), found


def test_a_library_that_is_taken_out_is_not_found_and_one_that_stays_is(small_image, cache):
    packed = f"{SCRIPT}; cd /keep; python3 -m zipfile -c /a.whl *; python3 -m zipfile -c /b.jar *; cd /; rm -r /keep"
    image = with_layers(small_image, packed, "rm /a.whl")
    leaks = image_search.inspect_image(image, secrets(tiny.task(image)), cache=cache)
    engine.connect().remove_image(image)
    assert {leak.where.partition("!")[0] for leak in leaks} == {"b.jar"}


def test_what_is_remembered_of_a_layer_serves_another_fix_and_is_made_anew_where_it_is_broken(leaking_image, tmp_path):
    other = tiny.diff("other.py", None, "nothing_of_this = is_there()\n").encode()
    image_search.inspect_image(leaking_image, hygiene.secrets(other, other), cache=tmp_path)
    broken = {path: path.read_bytes()[:-3] for path in tmp_path.iterdir()}
    for path, data in broken.items():
        path.write_bytes(data)

    leaks = image_search.inspect_image(leaking_image, secrets(tiny.task(leaking_image)), cache=tmp_path)

    assert any(leak.where.startswith("keep/") for leak in leaks), leaks
    assert broken
    assert not [path for path, data in broken.items() if path.read_bytes() == data]
    search = hygiene.Search(secrets=secrets(tiny.task(leaking_image)), unpack=image_search.unpack)
    for layer in image_search.parents(leaking_image):
        image_search.of(layer, tmp_path, image_search.unpack).feed(search)
    assert any(leak.where.startswith("keep/") for leak in search.leaks())


def test_what_another_layer_has_too_is_read_once_and_found_in_both(leaking_image, tmp_path):
    below = next(image_search.parents(leaking_image))
    client = engine.connect()
    container = client.create_container(
        next(image_search.parents(below)),
        entrypoint=[],
        command=["sh", "-c", f"{SCRIPT}; echo more > /more"],
        user="0:0",
    )["Id"]
    client.start(container)
    client.wait(container)
    twin = client.commit(container)["Id"]
    client.remove_container(container)
    try:
        first = image_search.of(below, tmp_path, image_search.unpack)
        [kept] = tmp_path.iterdir()
        for _ in range(2):  # as it is made, and as it is read
            index = image_search.of(twin, tmp_path, image_search.unpack)
            assert [other.places for other, _ in index.shared] == [first.places]
            assert "more" in index.places
            assert "keep/x.py" not in index.places
            search = hygiene.Search(secrets=secrets(tiny.task(twin)), unpack=image_search.unpack)
            index.feed(search)
            assert any(leak.where.startswith("keep/") for leak in search.leaks())
        kept.unlink()
        for _ in range(2):
            index = image_search.of(twin, tmp_path, image_search.unpack)
            assert {"keep/x.py", "more"} <= set(index.places)
            assert index.shared == ()
    finally:
        client.remove_image(twin)


def test_every_layer_of_a_saved_image_is_read(leaking_image):
    paths = {path for path, _ in layers.every_layer(leaking_image)}
    assert {"keep/x.py", "testbed/.git/HEAD"} <= paths


def test_check_reports_a_leak(leaking_image, cache, tmp_path):
    made = tiny.dataset(tmp_path / "dataset", tiny.task(leaking_image))
    problems = dataset.check(made.path, dataset.CheckScope(images=image_search.engine_check(cache)))
    assert any("gives the fix away" in problem.what for problem in problems), problems

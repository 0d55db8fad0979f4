"""`holdout quality`: tasks measured again from their files and their repository."""

from __future__ import annotations

import json
from dataclasses import replace

import pyrage
import pytest

from harness.core.errors import InputError
from harness.dataset.folder import open_dataset, write_task
from harness.dataset.seal import sealing
from harness.dataset.seal.identity import load_keys
from harness.quality.measuring import rate
from miner.cli.quality import _sources
from miner.languages.python.language import PYTHON
from miner.layers.package_index import Index
from miner.quality.assessment import appraise, base_tree
from miner.sources.git import open_source
from tests import repos, tiny
from tests.quality_parts import CODE, OLD, OLD_TESTS, TESTS

FIXED = OLD + "\n\ndef cheapest_item():\n    return None\n"
ASKING = OLD_TESTS.replace("import Cart", "import Cart, cheapest_item")
LICENCE = "Permission is hereby granted, free of charge, to deal in the Software without restriction."


@pytest.fixture
def history(tmp_path):
    repo = repos.Repository(tmp_path / "shop")
    start = repo.commit("Start", {CODE: OLD, TESTS: OLD_TESTS, "src/shop/__init__.py": "", "LICENSE": LICENCE,
                                  "data.bin": b"\0\1", "pyproject.toml": '[project]\nname = "shop"\n'})  # fmt: skip
    later = repo.commit("Fix", {CODE: FIXED})
    return repo, start, later


@pytest.fixture
def bench(tmp_path, history):
    _, start, later = history
    task = tiny.task(gold=tiny.diff(CODE, OLD, FIXED), tests={TESTS: (OLD_TESTS, ASKING)})
    told = f"Broken since {start[:9]}, works at {later[:9]}. Ask jane@corp.io."
    instance = replace(task.instance, base_commit=start, problem_statement=told, extra={"origin": {"number": 12}})
    return tiny.dataset(tmp_path / "bench", replace(task, instance=instance))


def measure(bench, history, tmp_path, **fields):
    given = {"ids": (), "index": Index(url=None), "cache": tmp_path / "cache", "write": True, "note": lambda _: None}
    return appraise(open_dataset(bench.path), {"": str(history[0].path)}, **{**given, **fields})


def test_everything_is_written_public_counts_here_and_hidden_names_there(bench, history, tmp_path):
    (found,) = measure(bench, history, tmp_path)
    task = open_dataset(bench.path).task("tiny__calc-1")
    quality = task.instance.quality

    assert found.changed
    assert quality["leaks"]["unshown_names"] == 1
    assert quality["leaks"]["shas"] == 1
    assert (quality["leaks"]["released"], quality["leaks"]["releases_since"]) == (None, None)
    assert quality["difficulty"]["tier"] == "easy"
    assert quality["licence"]["spdx"] == "MIT"
    assert quality["hygiene"] == {"policy": "keep", "statement": {"email": 1}, "patches": {}}
    assert task.hidden.evidence["leaks"]["unshown_names"] == ["cheapest_item"]
    assert "cheapest_item" not in (bench.task_folder("tiny__calc-1") / "task.yaml").read_text(encoding="utf-8")


def test_of_new_names_that_the_proof_saw_the_count_is_public_and_the_unshown_ones_are_hidden(bench, history, tmp_path):
    task = bench.task("tiny__calc-1")
    seen = {"new_api": True, "new_names": ["Cart", "cheapest_item", "shop.later"]}
    statement = f"{task.instance.problem_statement} There is no `shop`."
    told = replace(task.instance, problem_statement=statement)
    write_task(bench, replace(task, instance=told, hidden=replace(task.hidden, evidence=seen)), public_files={})
    measure(bench, history, tmp_path)
    task = open_dataset(bench.path).task("tiny__calc-1")

    assert task.instance.quality["new_api"] == {"names": 3, "unshown": 2}
    assert task.hidden.evidence["new_names_unshown"] == ["cheapest_item", "shop.later"]


def test_a_task_whose_tests_could_be_collected_has_no_new_names_to_count(bench, history, tmp_path):
    measure(bench, history, tmp_path)

    assert "new_api" not in open_dataset(bench.path).task("tiny__calc-1").instance.quality


def test_the_same_task_gives_the_same_fields(bench, history, tmp_path):
    measure(bench, history, tmp_path)
    (again,) = measure(bench, history, tmp_path)

    assert not again.changed


def test_the_rest_of_the_hidden_side_stays_as_it_was(bench, history, tmp_path):
    before = bench.task("tiny__calc-1")
    measure(bench, history, tmp_path)
    after = open_dataset(bench.path).task("tiny__calc-1")

    assert after.digest() == before.digest()
    assert after.hidden.fail_to_pass == before.hidden.fail_to_pass


def test_a_dry_run_writes_nothing(bench, history, tmp_path):
    folder = bench.task_folder("tiny__calc-1")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    (found,) = measure(bench, history, tmp_path, write=False)

    assert found.changed
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_what_runs_measured_stays(bench, history, tmp_path):
    from tests.unit.test_quality_solved import LOST, run  # noqa: PLC0415

    measure(bench, history, tmp_path)
    rate(bench, [run(tmp_path / "run", bench, {"m": [LOST] * 6})])
    measure(bench, history, tmp_path)
    difficulty = open_dataset(bench.path).instance("tiny__calc-1").quality["difficulty"]

    assert (difficulty["tier"], difficulty["by"], difficulty["rule_tier"]) == ("brutal", "runs", "easy")
    assert difficulty["measured"]["verdicts"] == 6


def test_a_rule_comes_to_a_task_with_too_few_verdicts(bench, history, tmp_path):
    from tests.unit.test_quality_solved import LOST, run  # noqa: PLC0415

    rate(bench, [run(tmp_path / "run", bench, {"m": [LOST]})])
    measure(bench, history, tmp_path)
    difficulty = open_dataset(bench.path).instance("tiny__calc-1").quality["difficulty"]

    assert (difficulty["tier"], difficulty["by"], difficulty["measured"]["verdicts"]) == ("easy", "rule", 1)


def test_what_was_found_before_masking_is_remembered(bench, history, tmp_path):
    instance = bench.instance("tiny__calc-1")
    known = {"policy": "mask", "statement": {"github_token": 2}, "patches": {}}
    task = replace(bench.task("tiny__calc-1"), instance=replace(instance, quality={"hygiene": known}))
    tiny.dataset(bench.path, task)
    measure(bench, history, tmp_path)

    assert open_dataset(bench.path).instance("tiny__calc-1").quality["hygiene"] == known


def test_of_a_sealed_task_the_public_fields_are_written_and_nothing_else(bench, history, tmp_path):
    key = pyrage.x25519.Identity.generate()
    (tmp_path / "key").write_text(str(key), encoding="utf-8")
    sealing.seal(bench, [str(key.to_public())])
    folder = bench.task_folder("tiny__calc-1")
    before = (folder / "sealed.age").read_bytes()

    def again():
        sealed = open_dataset(bench.path)
        opened = sealed.with_keys(load_keys(str(tmp_path / "key"), bench.path))
        return appraise(
            opened, {"": str(history[0].path)}, ids=(), index=Index(url=None), cache=tmp_path / "cache", write=True,
            note=lambda _: None,
        )  # fmt: skip

    assert again()[0].changed
    assert not again()[0].changed
    assert (folder / "sealed.age").read_bytes() == before
    assert not (folder / "tests.json").exists()
    assert open_dataset(bench.path).instance("tiny__calc-1").quality["leaks"]["unshown_names"] == 1


def test_a_sealed_task_without_its_key_is_an_error(bench, history, tmp_path):
    sealing.seal(bench, [str(pyrage.x25519.Identity.generate().to_public())])

    with pytest.raises(InputError, match="sealed"):
        measure(bench, history, tmp_path)


def test_a_repository_without_the_commit_leaves_the_task_as_it_is(bench, tmp_path):
    other = repos.project(tmp_path / "other")
    (found,) = measure(bench, (other,), tmp_path)

    assert not found.changed
    assert "has no commit" in found.unknown


def test_a_repository_without_a_source_is_an_error(bench, tmp_path):
    with pytest.raises(InputError, match="no source for tiny/calc"):
        appraise(bench, {"acme/api": "x"}, ids=(), index=Index(url=None), cache=tmp_path, write=True, note=print)


def test_a_tree_is_read_without_binary_files(history, tmp_path):
    with open_source(str(history[0].path), cache=tmp_path / "cache") as repo:
        tree = base_tree(repo, history[1], PYTHON.code)

    assert set(tree.files) == {CODE, TESTS, "src/shop/__init__.py", "LICENSE", "pyproject.toml"}
    assert tree.files[CODE] == OLD.encode()


def test_sources_may_be_named_or_not():
    assert _sources(["a/b=../b", "c/d=https://git.example/c/d?x=1"]) == {
        "a/b": "../b",
        "c/d": "https://git.example/c/d?x=1",
    }
    assert _sources(["../x=1/y"]) == {"": "../x=1/y"}
    assert _sources(["https://git.example/c/d?x=1"]) == {"": "https://git.example/c/d?x=1"}
    with pytest.raises(InputError, match="twice"):
        _sources(["a/b=x", "a/b=y"])


def test_the_command_prints_json(bench, history, tmp_path):
    done = tiny.goldseam(
        "holdout", "quality", bench.path, "--source", history[0].path, "--json",
        env={"GOLDSEAM_CACHE_DIR": str(tmp_path / "cache"), "PIP_INDEX_URL": "", "UV_DEFAULT_INDEX": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.error_text
    assert json.loads(done.stdout)["tasks"][0]["quality"]["leaks"]["unshown_names"] == 1

"""Which recipe of a ladder wins, and when it is given up; nothing is built here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.config.settings import ImageSettings
from miner.evidence.tree import Detection, Evidence, Recipe
from miner.languages.built import BuiltImage, Collected
from miner.languages.python.images import build_recipe as rung
from miner.languages.python.images import ladder
from miner.layers.build import StepFailedError
from miner.layers.runner import Ran
from miner.pipeline.stages import _worth
from miner.sources.change import Rejection, Stage
from tests.trees import Files

LOST = Collected(ok=False, lost=2, failure="2 files or folders could not be collected")
FEWER = Collected(ok=False, lost=1, failure="1 files or folders could not be collected")
WELL = Collected(ok=True, tests=3)


def image(rung):
    return BuiltImage(
        image_id=f"sha256:{rung}",
        python="3.11.2",
        pytest="8",
        pytest_plugins=(),
        modules=(),
        pythonpath=(),
        dockerfile="",
        locks={},
        rung=rung,
        attempts=(),
        layers=(),
        seconds={},
        layer_bytes={},
    )


def refusal(reason="install_failed", said="", step=""):
    return rung.RefusedError(Rejection(stage=Stage.ENVIRONMENT, reason=reason, detail=reason), said=said, step=step)


@pytest.fixture
def climbed(monkeypatch):
    """A climb over rungs whose ends are given: what can be collected, or why there is no image."""

    def climb(ends, *, unbuilt=None, files=None, interpreters=1, fixed=None, of_change=()):
        tried = []

        def build(made, _ground):
            tried.append(made.recipe.rung)
            end = ends[made.recipe.rung]
            if isinstance(end, rung.RefusedError):
                raise end
            return replace(image(made.recipe.rung), python=made.interpreter.minor)

        recipes = [Recipe(project="setup.py", evidence=Evidence(rung=rung)) for rung in ends if "+" not in rung]
        last = Recipe(project=None, evidence=Evidence(rung=unbuilt)) if unbuilt else None
        recipes = [recipe for recipe in recipes if recipe.rung != unbuilt]
        job = rung.BuildJob(
            request=SimpleNamespace(
                workshop=SimpleNamespace(progress=lambda _: None),
                tree=Files(files or {}),
                when=datetime(2024, 6, 1, tzinfo=UTC),
                collect=lambda built: ends[built.rung](built) if callable(ends[built.rung]) else ends[built.rung],
                repairing=None,
                fixed=fixed or {},
            ),
            tar=None,
            detection=Detection(
                recipes=tuple(recipes),
                name=None,
                requires_python=None,
                classifiers=(),
                unbuilt=last,
                of_change=of_change,
            ),
        )
        monkeypatch.setattr(ladder.RecipeBuild, "image", build)
        monkeypatch.setattr(ladder.base, "ensure", lambda _workshop: None)
        pythons = [SimpleNamespace(minor=f"3.{9 + place}") for place in range(interpreters)]
        monkeypatch.setattr(ladder, "_interpreters", lambda _job, _ground: iter(pythons))
        return ladder.climb(job, 0.0), tried, job

    return climb


def test_the_first_rung_whose_tests_are_all_collected_wins(climbed):
    found, tried, _ = climbed({"a": refusal(), "b": LOST, "c": WELL, "d": WELL})
    assert (found.rung, tried) == ("c", ["a", "b", "c"])


def test_a_project_that_can_not_be_built_is_tried_once_on_each_interpreter(climbed):
    broken = refusal(step="source")
    found, tried, _ = climbed({"a": broken, "b": broken, "needs": WELL}, unbuilt="needs", interpreters=2)
    assert (found.rung, tried) == ("needs", ["a", "a", "needs"])


def test_where_none_is_whole_the_one_that_loses_least_is_kept_and_soon(climbed):
    found, tried, _ = climbed({"a": LOST, "b": FEWER, "c": WELL})
    assert (found.rung, tried) == ("b", ["a", "b"])


def test_a_python_that_only_words_name_gives_way_to_the_next_where_tests_are_lost(climbed):
    ends = {"a": lambda built: LOST if built.python == "3.9" else WELL, "b": LOST}
    found, tried, _ = climbed(ends, interpreters=2, of_change=("3.9",))
    assert (found.rung, found.python, tried) == ("a", "3.10", ["a", "a"])


def test_every_attempt_to_collect_is_on_record(climbed):
    found, _, _ = climbed({"a": LOST, "b": WELL})
    assert [(one.rung, one.step, one.ok, one.failure) for one in found.attempts] == [
        ("a", "collect", False, LOST.failure),
        ("b", "collect", True, ""),
    ]


def test_a_rung_is_mended_with_what_its_failure_names(climbed):
    said = "fatal error: ffi.h: No such file or directory"
    found, tried, _ = climbed({"a": refusal(said=said), "a+apt:libffi-dev": WELL})
    assert (found.rung, tried) == ("a+apt:libffi-dev", ["a", "a+apt:libffi-dev"])


def test_what_one_rung_was_mended_with_the_next_has_from_the_start(climbed):
    lacking = Collected(ok=False, lost=1, missing=("yaml",), failure="x")
    ends = {"a": lacking, "a+missing:PyYAML": FEWER, "b+missing:PyYAML": WELL}
    found, tried, _ = climbed({**ends, "b": LOST})
    assert (found.rung, tried) == ("b+missing:PyYAML", ["a", "a+missing:PyYAML", "b+missing:PyYAML"])


def test_what_tests_try_to_import_is_there_and_else_the_image_without_it_is_kept(climbed):
    tests = {"tests/test_a.py": b"try:\n    import yaml\nexcept ImportError:\n    yaml = None\n"}
    found, tried, _ = climbed({"a": WELL, "a+missing:PyYAML": WELL}, fixed=tests)
    assert (found.rung, tried) == ("a+missing:PyYAML", ["a", "a+missing:PyYAML"])
    for worse in (FEWER, refusal()):
        assert climbed({"a": WELL, "a+missing:PyYAML": worse}, fixed=tests)[0].rung == "a"


def test_a_folder_of_the_tree_is_put_on_the_path_without_building_again(climbed):
    def collect(built):
        return WELL if "ci" in built.pythonpath else Collected(ok=False, lost=1, missing=("helpers",), failure="x")

    found, tried, _ = climbed({"a": collect}, files={"ci/helpers.py": ""})
    assert (found.pythonpath, tried) == (("ci",), ["a"])


def test_a_folder_that_does_not_help_is_not_kept(climbed):
    lacking = Collected(ok=False, lost=1, missing=("helpers",), failure="x")
    found, _, _ = climbed({"a": lacking}, files={"ci/helpers.py": ""})
    assert found.pythonpath == ()


def test_builds_that_hang_are_tried_twice_and_no_more(climbed):
    with pytest.raises(rung.RefusedError) as caught:
        climbed({"a": refusal("build_timeout"), "b": refusal("build_oom"), "c": refusal("never tried")})
    assert caught.value.rejection.reason == "build_oom"


def test_a_project_that_cannot_be_built_is_tried_unbuilt_last(climbed):
    found, tried, _ = climbed({"a": refusal(), "x": WELL}, unbuilt="x", interpreters=2)
    assert (found.rung, tried) == ("x", ["a", "a", "x"])


def test_an_unbuilt_project_whose_tests_are_not_all_collected_is_none(climbed):
    with pytest.raises(rung.RefusedError) as caught:
        climbed({"a": refusal(), "x": FEWER}, unbuilt="x")
    assert caught.value.rejection.reason == "install_failed"


def test_packages_that_cannot_be_had_are_done_without_and_asked_for_once(monkeypatch):
    asked = []

    def ensure(_workshop, layer):
        asked.append(layer.kind)
        ran = Ran(
            container="",
            out=Path(),
            exit_code=100,
            seconds=3,
            tail="no Debian here",
            timed_out=False,
            out_of_memory=False,
        )
        raise StepFailedError("system", ran, ImageSettings())

    monkeypatch.setattr(rung.build, "ensure", ensure)
    monkeypatch.setattr(rung, "_not_to_be_had", set())
    python = SimpleNamespace(minor="3.11", path="/usr/bin/python3.11", layer=SimpleNamespace(image_id="sha256:1"))
    recipe = Recipe(project=None, evidence=Evidence(rung="a"), apt=("libxml2-dev",))
    job = SimpleNamespace(request=SimpleNamespace(workshop=None), attempts=[])
    build = rung.RecipeBuild(job=job, interpreter=python, recipe=recipe)
    assert [build.with_packages() for _ in range(2)] == [(build, ())] * 2
    assert asked == ["system"]
    assert [(one.step, one.ok, one.failure) for one in job.attempts] == [("system", False, "no Debian here")]


def test_a_way_to_call_tests_that_finds_none_is_worth_less_than_one_that_loses_some():
    finds_none, loses_some, finds_all = Collected(ok=True), Collected(ok=False, tests=158, lost=1), WELL
    assert sorted([finds_all, loses_some, finds_none], key=_worth) == [finds_none, loses_some, finds_all]

"""`holdout check --max-leak`: limits as they are written, and what is over them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.checks.dataset import CheckScope, check
from harness.core.errors import InputError
from harness.quality.limits import exceeded, parse_limits, too_sensitive, too_weak
from tests import tiny

LEAKS = {"overlap": 0.5, "lines": 0.5, "ngrams": 0.1, "names": None, "shas": 1, "links": 2, "unshown_names": 0}


def test_a_number_alone_is_the_overlap():
    assert parse_limits(["0.3", "pointers=0", "unshown_names=2"]) == {"overlap": 0.3, "pointers": 0, "unshown_names": 2}


@pytest.mark.parametrize(
    "word", ["", "overlap=", "lines=2", "-1", "nan", "shas=-1", "secrets=1", "released=1", "a=b=1"]
)
def test_what_is_no_limit_is_refused(word):
    with pytest.raises(InputError, match="--max-leak"):
        parse_limits([word])


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"overlap": 0.4}, ["leaks: overlap is 50%, more than 40%"]),
        ({"overlap": 0.5}, []),
        ({"pointers": 2}, ["leaks: pointers is 3, more than 2"]),
        ({"pointers": 3}, []),
        ({"names": 0.0, "releases_since": 0}, []),
        ({"lines": 0.1, "shas": 0}, ["leaks: lines is 50%, more than 10%", "leaks: shas is 1, more than 0"]),
        ({}, []),
    ],
)
def test_what_is_over_a_limit_is_said_and_the_unknown_is_not(limits, said):
    assert list(exceeded({"leaks": LEAKS}, limits)) == said


def test_a_task_that_was_never_measured_is_a_problem_only_where_that_is_asked():
    assert len(list(exceeded({}, {"overlap": 1.0}))) == 1
    assert list(exceeded({}, {})) == []


def test_check_tells_of_a_task_over_the_limit(tmp_path):
    task = tiny.task()
    leaking = replace(task, instance=replace(task.instance, quality={"leaks": LEAKS}))
    tiny.dataset(tmp_path / "bench", leaking)

    assert check(tmp_path / "bench") == ()
    found = check(tmp_path / "bench", CheckScope(max_leak={"overlap": 0.1}))

    assert [(one.where, one.what) for one in found] == [("tasks/tiny__calc-1", "leaks: overlap is 50%, more than 10%")]


@pytest.mark.parametrize(
    ("strength", "said"),
    [
        ({"share": 0.5, "empty": "killed"}, ["strength: 50% of wrong patches are killed, fewer than 60%"]),
        ({"share": 0.6, "empty": "killed"}, []),
        ({"share": None, "empty": "killed"}, []),
        ({"share": None, "empty": "survived"}, ["strength: a patch that changes nothing resolves it"]),
        (None, ["its strength was never measured: run `goldseam holdout strength`"]),
    ],
)
def test_what_is_too_weak_is_said(strength, said):
    assert list(too_weak({"strength": strength}, 0.6)) == said
    assert list(too_weak({"strength": strength}, None)) == []


SENSITIVE = {"share": 0.5, "fail_to_pass": 1, "pass_to_pass": 0, "by": {"hash_seed": 1}}


@pytest.mark.parametrize(
    ("sensitive", "problems"),
    [
        (SENSITIVE, ["sensitive: 50% of FAIL_TO_PASS depend on what evaluation pins (hash_seed), more than 40%"]),
        (SENSITIVE | {"share": 0.4}, []),
        (SENSITIVE | {"share": None}, []),
        (None, ["its sensitivity was never measured: mine it again, with two runs of each state at least"]),
    ],
)
def test_what_is_too_sensitive_is_named(sensitive, problems):
    assert list(too_sensitive({"sensitive": sensitive}, 0.4)) == problems
    assert list(too_sensitive({"sensitive": sensitive}, None)) == []


def test_check_finds_a_task_that_is_too_sensitive(tmp_path):
    task = tiny.task()
    task = replace(task, instance=replace(task.instance, quality={"sensitive": SENSITIVE}))
    tiny.dataset(tmp_path / "bench", task)

    assert check(tmp_path / "bench", CheckScope(max_sensitive=0.5)) == ()
    assert [one.where for one in check(tmp_path / "bench", CheckScope(max_sensitive=0.4))] == ["tasks/tiny__calc-1"]


def test_check_tells_of_a_task_that_is_too_weak(tmp_path):
    task = tiny.task()
    weak = replace(task, instance=replace(task.instance, quality={"strength": {"share": 0.1}}))
    tiny.dataset(tmp_path / "bench", weak)

    assert check(tmp_path / "bench") == ()
    assert [one.where for one in check(tmp_path / "bench", CheckScope(min_strength=0.5))] == ["tasks/tiny__calc-1"]

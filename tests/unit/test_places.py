"""Where tests are judged: what the hidden and the public side of a task tell of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.expectations import Expectations, ExpectedTest
from harness.dataset.hidden_files import TESTS_FILE, hidden_digest, hidden_files, hidden_of
from harness.judging.places import Card, Place, carded, read_card, weakest
from tests import report_runs

F2P, FURTHER = report_runs.SECRET_TEST, "tests/test_a.py::test_b"
P2P = "tests/test_a.py::test_0"


def make_task(places, **evidence):
    """A task with two FAIL_TO_PASS and 30 PASS_TO_PASS tests, each judged where `places` says, else inside."""
    task = report_runs.make_task(0)
    tests = {test_id: ExpectedTest(place=place, events=()) for test_id, place in places.items()}
    hidden = replace(task.hidden, expectations=Expectations(tests=tests), evidence=evidence)
    return replace(task, hidden=hidden)


def card(task):
    return carded(task).instance.quality["judged"]


def written(task):
    return json.loads(hidden_files(task.hidden)[TESTS_FILE])


def test_the_card_counts_the_tests_of_each_list_by_place():
    found = card(make_task({F2P: "host", P2P: "mixed"}))

    assert found["FAIL_TO_PASS"] == {"host": 1, "mixed": 0, "inside": 1}
    assert found["PASS_TO_PASS"] == {"host": 0, "mixed": 1, "inside": 29}


def test_the_card_names_no_test():
    assert "test_" not in json.dumps(card(make_task({F2P: "host", P2P: "mixed"})))


def test_a_task_is_judged_where_the_strongest_of_its_fail_to_pass_tests_is():
    assert card(make_task({F2P: "mixed", FURTHER: "host"}))["place"] == "host"


def test_pass_to_pass_tests_make_no_task_stronger():
    assert card(make_task({P2P: "host"}))["place"] == "inside"


def test_a_task_without_lists_has_no_card():
    task = make_task({})
    bare = replace(task, hidden=replace(task.hidden, fail_to_pass=()))

    assert carded(bare) is bare


@pytest.mark.parametrize(("bits", "guessable"), [(7.9, True), (8, False), (20.0, False)])
def test_a_task_of_fewer_than_eight_bits_is_guessable(bits, guessable):
    found = card(make_task({F2P: "host"}, guess_bits=bits))

    assert (found["bits"], found["guessable"]) == (bits, guessable)


def test_a_task_that_nobody_guessed_at_is_not_called_either():
    found = card(make_task({F2P: "host"}))

    assert (found["bits"], found["guessable"]) == (None, None)


def test_a_card_is_read_as_it_was_written():
    task = carded(make_task({F2P: "mixed"}, guess_bits=3.0))

    assert read_card(task.instance.quality) == Card(place=Place.MIXED, guessable=True)


@pytest.mark.parametrize("strange", [None, 3, "host", ["host"], {"place": "outside", "guessable": 1}, {"place": []}])
def test_a_strange_card_says_nothing(strange):
    assert read_card({"judged": strange}) == Card()


def test_the_weakest_place_is_inside():
    assert weakest([Place.MIXED, Place.INSIDE, Place.HOST]) is Place.INSIDE


def test_of_no_place_none_is_weakest():
    assert weakest([]) is None


@pytest.mark.parametrize(
    ("place", "required", "reaches"),
    [
        (Place.HOST, Place.HOST, True),
        (Place.HOST, Place.INSIDE, True),
        (Place.MIXED, Place.MIXED, True),
        (Place.MIXED, Place.HOST, False),
        (Place.INSIDE, Place.MIXED, False),
    ],
)
def test_a_place_reaches_what_is_no_stronger(place, required, reaches):
    assert place.reaches(required) is reaches


def test_tests_json_names_the_tests_of_each_place():
    judged = written(make_task({F2P: "host", P2P: "mixed"}))["judged"]

    assert (judged["host"], judged["mixed"]) == ([F2P], [P2P])
    assert len(judged["inside"]) == 30


def test_tests_json_of_a_task_without_expectations_names_none():
    assert "judged" not in written(make_task({}))


def test_what_tests_json_says_of_places_is_not_believed():
    files = hidden_files(make_task({F2P: "host"}).hidden)
    told = json.loads(files[TESTS_FILE]) | {"judged": {"host": [P2P], "mixed": [], "inside": []}}

    read = hidden_of({**files, TESTS_FILE: json.dumps(told).encode()}, Path("task"))

    assert json.loads(hidden_files(read)[TESTS_FILE])["judged"]["host"] == [F2P]


def test_what_tests_json_says_of_places_is_no_content():
    files = hidden_files(make_task({F2P: "host"}).hidden)
    bare = {name: value for name, value in json.loads(files[TESTS_FILE]).items() if name != "judged"}

    assert hidden_digest(files) == hidden_digest({**files, TESTS_FILE: json.dumps(bare).encode()})


def test_a_task_of_the_runners_own_repository_is_judged_below_all_others():
    task = make_task({F2P: "host", P2P: "host"})
    instance = replace(task.instance, test=replace(task.instance.test, own_runner=True))

    found = card(replace(task, instance=instance))

    assert found["place"] == "own_runner"
    assert found["FAIL_TO_PASS"] == {"host": 0, "mixed": 0, "inside": 0, "own_runner": 2}
    assert not Place.OWN_RUNNER.reaches(Place.INSIDE)

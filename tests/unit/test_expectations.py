"""expectations.json: what is written is read again, and what is broken is refused in words."""

from __future__ import annotations

import copy
import json

import pytest

from harness.core.errors import InputError
from harness.core.expectations import OPERATORS, Expectations, Expected, ExpectedTest, Site
from harness.judging.go import operators as go
from harness.judging.java import operators as java
from harness.judging.javascript import operators as javascript
from harness.judging.rust import operators as rust

TOLD = Expectations(
    files={"tests/test_a.py": "stripped"},
    ids={"tests/test_a.py::test_a[p0]": "tests/test_a.py::test_a[one]"},
    sites={
        0: Site(op="==", sides=("out", "kept")),
        7: Site(op="raises", sides=("kept",), options={"match": None}),
        8: Site(op="in", sides=("out", "out"), decides="result"),
    },
    tests={
        "tests/test_a.py::test_a[one]": ExpectedTest(
            place="host",
            events=(
                Expected(slot=0, n=2, kept=(["s", "one"],), size=4),
                Expected(slot=7, kept=(["n", "type", "builtins.ValueError"],), raises=True, plain=False),
            ),
        )
    },
)


def test_of_two_operands_that_come_out_one_tells_the_other_beside_a_third_as_well():
    outside = [
        Site(op="java.near", sides=("kept", "out", "kept")),
        Site(op="truth", sides=("out",), decides="operands"),
        Site(op="chain", sides=("out", "kept", "out"), options={"ops": ["==", "=="]}),
    ]
    inside = [Site(op="java.near", sides=sides) for sides in (("out", "out", "kept"), ("kept", "out", "out"))]
    inside += [
        Site(op="chain", sides=("out", "kept", "out"), options={"ops": ["<=", "<"]}),
        Site(op="chain", sides=("out", "out", "kept"), options={"ops": ["==", "=="]}),
        Site(op="chain", sides=("out", "kept", "out"), options={"ops": ["==", "=="]}, decides="result"),
    ]
    assert [site.is_decided_outside for site in outside] == [True] * len(outside)
    assert [site.is_decided_outside for site in inside] == [False] * len(inside)


def as_file() -> dict:
    return json.loads(json.dumps(TOLD.as_json()))


def test_what_is_written_is_read_again():
    assert Expectations.from_json(as_file()) == TOLD


def test_a_field_of_a_later_version_is_left_out():
    assert Expectations.from_json({**as_file(), "canary": "x"}) == TOLD


def test_the_digest_is_that_of_what_is_read_again():
    assert Expectations.from_json(as_file()).digest == TOLD.digest


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("files", "tests/test_a.py"), "other"),
        (("ids", "a"), "b"),
        (("sites", "0", "op"), "!="),
        (("tests", "tests/test_a.py::test_a[one]", "place"), "mixed"),
        (("tests", "tests/test_a.py::test_a[one]", "events", 0, "kept"), [["s", "two"]]),
    ],
)
def test_whatever_can_change_a_verdict_changes_the_digest(place, value):
    assert Expectations.from_json(changed(place, value)).digest != TOLD.digest


def changed(place, value) -> dict:
    told = as_file()
    inner = told
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = copy.deepcopy(value)
    return told


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (("schema_version",), 2, "schema version 1"),
        (("sites", "0", "op"), "equals", "unknown operator: equals"),
        (("sites", "0", "sides"), ["in"], "sites.0.sides"),
        (("sites", "-1"), {"op": "=="}, "below 0"),
        (("sites", "first"), {"op": "=="}, "sites.first"),
        (("tests", "tests/test_a.py::test_a[one]", "place"), "outside", "place"),
        (("tests", "tests/test_a.py::test_a[one]", "events", 0, "slot"), -1, "below 0"),
        (("tests", "tests/test_a.py::test_a[one]", "events", 0, "n"), "two", "n"),
        (("files",), [], "files"),
    ],
)
def test_a_broken_file_is_refused_and_says_where(place, value, why):
    with pytest.raises(InputError, match=why) as caught:
        Expectations.from_json(changed(place, value), where="task/expectations.json")
    assert "task/expectations.json" in str(caught.value)


@pytest.mark.parametrize("told", [None, [], "text", {}])
def test_what_is_no_file_of_expectations_is_refused(told):
    with pytest.raises(InputError):
        Expectations.from_json(told)


def test_every_operator_that_a_judge_has_is_read_again():
    names = {*javascript.OPERATORS, *go.OPERATORS, *java.OPERATORS, *rust.OPERATORS}
    assert names <= OPERATORS

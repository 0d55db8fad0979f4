"""JUnit XML of a decision: readable by those who read JUnit, whatever stands in a name."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from harness.analysis.gate import ci
from harness.core.instance import TaskState
from harness.judging.places import Place
from tests.sheets import GAP, LOST, decide, run_of, sheet, task

HOSTILE = "a]]>b\x00\x07\x1b[31mred\x1b[0m\u202egpj.\ud800<&\"'>\n\r\ufffe"


@functools.cache
def schema():
    from xmlschema import XMLSchema  # noqa: PLC0415 - takes half a second, of every worker

    return XMLSchema(str(Path(__file__).parent / "junit.xsd"))


def parsed(text: str, folder: Path) -> JUnitXml:
    path = folder / "junit.xml"
    path.write_text(text, encoding="utf-8")
    schema().validate(str(path))
    return JUnitXml.fromfile(str(path))


def test_a_task_that_is_not_judged_where_it_is_required_is_skipped_and_says_how_to_count_it(tmp_path):
    decision = decide(sheet(*(task(number) for number in range(9)), task(9, place=Place.INSIDE)))

    [result] = cases(ci.junit_xml(decision), tmp_path)["acme__widgets-9"].result

    assert isinstance(result, Skipped)
    assert result.message == "judged inside: counts with --require inside"


def cases(text: str, folder: Path):
    return {case.name: case for suite in parsed(text, folder) for case in suite}


def mixed():
    before = sheet(*(task(number) for number in range(1, 30)))
    after = sheet(
        task(1, [LOST]),
        task(2, [GAP]),
        task(3, state=TaskState.QUARANTINED),
        *(task(number) for number in range(4, 30)),
    )
    return decide(after, before, must_pass=["acme__widgets-1"])


def test_a_task_is_named_by_repository_and_id(tmp_path):
    assert cases(ci.junit_xml(mixed()), tmp_path)["acme__widgets-4"].classname == "acme/widgets"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("acme__widgets-1", Failure), ("acme__widgets-2", Error), ("acme__widgets-3", Skipped), ("acme__widgets-4", None)],
    ids=["lost", "not scored", "quarantined", "same"],
)
def test_a_task_fails_only_where_it_was_lost(tmp_path, name, kind):
    results = [type(result) for result in cases(ci.junit_xml(mixed()), tmp_path)[name].result]

    assert results == ([kind] if kind else [])


def test_a_task_without_a_prediction_is_an_error_and_a_new_one_is_not(tmp_path):
    before = sheet(*(task(number) for number in range(9)))
    after = sheet(*(task(number, [LOST]) for number in range(1, 10)), knows_dataset=False)

    found = cases(ci.junit_xml(decide(after, before)), tmp_path)

    assert [type(one) for one in found["acme__widgets-0"].result] == [Error]
    assert found["acme__widgets-9"].result == []


def test_a_broken_rule_is_a_failure_and_a_kept_one_is_not(tmp_path):
    found = cases(ci.junit_xml(mixed()), tmp_path)

    assert [type(one) for one in found["must_pass"].result] == [Failure]
    assert found["min_tasks"].result == []


def test_a_rule_that_nobody_can_tell_is_an_error(tmp_path):
    found = cases(ci.junit_xml(decide(run_of(3), run_of(3))), tmp_path)

    assert [type(one) for one in found["min_tasks"].result] == [Error]


def test_a_rule_that_nobody_can_tell_is_skipped_where_that_passes(tmp_path):
    found = cases(ci.junit_xml(decide(run_of(3), run_of(3), inconclusive="pass")), tmp_path)

    assert [type(one) for one in found["min_tasks"].result] == [Skipped]


def test_the_counts_of_a_suite_are_those_of_its_cases(tmp_path):
    for suite in parsed(ci.junit_xml(mixed()), tmp_path):
        results = [result for case in suite for result in case.result]
        assert suite.tests == len(list(suite))
        assert suite.failures == sum(isinstance(result, Failure) for result in results)
        assert suite.errors == sum(isinstance(result, Error) for result in results)
        assert suite.skipped == sum(isinstance(result, Skipped) for result in results)


def test_hostile_text_is_shown_and_harmless(tmp_path):
    decision = mixed()
    lines = tuple(replace(line, repo=HOSTILE, note=HOSTILE) for line in decision.tasks)
    rules = tuple(replace(line, sentence=HOSTILE, found=HOSTILE) for line in decision.rules)
    side = replace(decision.candidate, model=HOSTILE, run=HOSTILE, started_at=HOSTILE)
    hostile = replace(decision, tasks=lines, rules=rules, candidate=side, sentence=HOSTILE)

    text = ci.junit_xml(hostile)

    parsed(text, tmp_path)
    root = ET.fromstring(text.encode())
    assert not {"\x00", "\x07", "\x1b", "\u202e"} & set(text)
    assert root.find(".//testcase[@name='acme__widgets-4']").get("classname").startswith("a]]>b<U+0000>")


def test_a_decision_without_a_baseline_is_valid_too(tmp_path):
    assert "goldseam.tasks" in [suite.name for suite in parsed(ci.junit_xml(decide(run_of(3))), tmp_path)]

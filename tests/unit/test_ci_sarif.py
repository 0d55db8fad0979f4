"""Security findings as SARIF: valid by the official schema, stable from run to run, silent about what is hidden."""

from __future__ import annotations

import functools
import json
from dataclasses import replace

import jsonschema
import pytest

from harness.analysis.gate import ci
from harness.analysis.gate.decision import Finding
from tests.github_server import schemas

FINDING = Finding(
    instance_id="acme__widgets-1",
    repo="acme/widgets",
    model="vendor/model",
    sample=2,
    tool="bandit",
    rule="B602",
    message="subprocess call with shell=True",
    path="src/a b/run.py",
    line=12,
    cwe=78,
    severity="high",
)
HOSTILE = "a\x00\x1b[31m\u202e\ud800]]>\n../..//etc%00"


@functools.cache
def validator():
    schema = json.loads(schemas.fetch("sarif").read_bytes())
    return jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())


def run_of(*findings):
    document = json.loads(ci.sarif_json(findings, version="1.2.3"))
    assert [error.message for error in validator().iter_errors(document)] == []
    [run] = document["runs"]
    return run


def test_no_finding_is_a_valid_empty_run():
    assert run_of()["results"] == []


def test_a_finding_says_where_what_and_by_whom():
    [result] = run_of(FINDING)["results"]

    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "acme/widgets/src/a%20b/run.py"
    assert place["region"]["startLine"] == 12
    assert "vendor/model introduced this in acme__widgets-1 (sample 2)" in result["message"]["text"]


@pytest.mark.parametrize(
    ("severity", "level"), [("high", "error"), ("medium", "warning"), ("low", "note"), ("", "warning")]
)
def test_severity_becomes_the_level(severity, level):
    assert run_of(replace(FINDING, severity=severity))["results"][0]["level"] == level


def test_equal_rules_are_told_once_and_pointed_at():
    run = run_of(FINDING, replace(FINDING, line=40), replace(FINDING, rule="B101", cwe=None))

    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert names == ["bandit/B101", "bandit/B602"]
    assert [names[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]


def test_a_rule_names_its_weakness_as_github_reads_it():
    [rule] = run_of(FINDING)["tool"]["driver"]["rules"]

    assert rule["properties"]["tags"] == ["security", "external/cwe/cwe-078"]
    assert float(rule["properties"]["security-severity"]) >= 7


def test_the_same_finding_has_the_same_fingerprint_wherever_it_moves():
    first, moved, other = (
        run_of(one)["results"][0]["partialFingerprints"]
        for one in (FINDING, replace(FINDING, line=99, sample=0), replace(FINDING, path="other.py"))
    )

    assert first == moved
    assert first != other


def test_a_finding_without_a_path_has_no_place():
    assert "locations" not in run_of(replace(FINDING, path="", line=None))["results"][0]


def test_hostile_text_is_shown_and_harmless():
    hostile = replace(FINDING, path=HOSTILE, message=HOSTILE, model=HOSTILE, rule=HOSTILE, tool=HOSTILE)

    text = ci.sarif_json([hostile], version="1.2.3")
    [result] = run_of(hostile)["results"]

    assert text.isprintable() or not {"\x00", "\x1b", "\u202e", "\ud800"} & set(text)
    assert ".." not in result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].split("/")

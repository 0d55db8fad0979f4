"""docs/gate.md and docs/formats.md say what the gate and the history take and give."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from harness.analysis import history
from harness.analysis.gate import baseline, decision
from harness.analysis.gate.config import GateRules, parse

DOCS = Path(__file__).parents[2] / "docs"
GATE = (DOCS / "gate.md").read_text(encoding="utf-8")
FORMATS = (DOCS / "formats.md").read_text(encoding="utf-8")
SHOWN = (
    decision.Decision,
    decision.RuleLine,
    decision.TaskLine,
    decision.Counts,
    decision.Side,
    decision.Finding,
    history.History,
    history.Trend,
    history.Point,
    history.Step,
)


def _fields():
    for kind in SHOWN:
        yield from ((kind.__name__, field.name) for field in dataclasses.fields(kind))
    for model in (baseline.AcceptedFile, baseline.AcceptedTask, baseline.AcceptedSample):
        yield from ((model.__name__, name) for name in model.model_fields)


def test_every_field_is_described():
    assert {pair for pair in _fields() if f"`{pair[1]}`" not in FORMATS} == set(), "docs/formats.md misses these"


@pytest.mark.parametrize("word", [*decision.GateVerdict, *decision.Ruling, *decision.Change])
def test_every_word_of_a_closed_list_is_described(word):
    assert f"`{word.value}`" in FORMATS


@pytest.mark.parametrize("name", GateRules.model_fields)
def test_every_rule_stands_in_the_table(name):
    assert re.search(rf"^\| `{name}` \|", GATE, re.MULTILINE)


@pytest.mark.parametrize("name", ["max_drop", "mode", "confidence", "min_tasks", "min_coverage", "inconclusive"])
def test_the_table_has_the_default(name):
    default = GateRules.model_fields[name].default
    told = f'`"{default}"`' if isinstance(default, str) else str(default)

    assert re.search(rf"^\| `{name}` \| {re.escape(told)} \|", GATE, re.MULTILINE)


def test_the_example_is_valid():
    block = "\n".join(re.findall(r"^    ((?:\[gate|\w+ =|\").*)$", GATE, re.MULTILINE))

    rules = parse(tomllib.loads(block)["gate"], where="docs/gate.md")

    assert rules.floors == {"repo:acme/billing": 0.5, "difficulty:easy": 0.8}

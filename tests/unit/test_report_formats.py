"""docs/formats.md names every field that a file of ours has."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.core.instance import Outcome, Prediction, TaskState, TestStatus
from harness.dataset import folder
from harness.dataset.schema import BudgetsModel, DatasetModel, TaskModel, TestModel, TestsModel
from harness.runs.run_folder import InstanceReport, RunRecord, Score, run_report
from harness.runs.task_metadata import TaskFacts
from harness.signals import model as signals
from harness.solve.judge.file import JudgeIdentity, Judgement
from harness.solve.models.prices import Price, Rates, Tier
from miner.candidates.funnel import FunnelLine
from miner.sources.change import Stage

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
MODELS = (
    BudgetsModel,
    DatasetModel,
    FunnelLine,
    InstanceReport,
    JudgeIdentity,
    Judgement,
    Price,
    Rates,
    RunRecord,
    TaskFacts,
    TaskModel,
    TestModel,
    TestsModel,
    Tier,
    *(part for part in vars(signals).values() if isinstance(part, type) and issubclass(part, signals.Measure)),
    signals.CompiledFile,
    signals.FunctionComplexity,
    signals.ImportedFile,
    signals.LintFinding,
    signals.PatchSize,
    signals.SecurityFinding,
    signals.Signals,
    signals.Skipped,
)


def _names():
    for model in MODELS:
        for name, field in model.model_fields.items():
            yield model.__name__, field.alias or name
    for kind in (Prediction, Score):
        for field in dataclasses.fields(kind):
            if field.name != "extra":
                yield kind.__name__, field.name
    for name in run_report([], [], []):
        yield "run report", name


def test_every_field_is_described():
    names = set(_names())
    assert len(names) > 200
    assert {pair for pair in names if f"`{pair[1]}`" not in PAGE} == set(), "docs/formats.md does not mention these"


@pytest.mark.parametrize("word", [*Outcome, *TaskState, *TestStatus, *Stage])
def test_every_word_of_a_closed_list_is_described(word):
    assert f"`{word.value}`" in PAGE


@pytest.mark.parametrize("name", [value for key, value in vars(folder).items() if key.endswith("_FILE")])
def test_every_file_of_a_dataset_is_described(name):
    assert name in PAGE

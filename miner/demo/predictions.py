"""The two sample prediction files: a careful model and a reckless one, in SWE-bench's fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.core.errors import InputError
from harness.core.instance import Outcome, Prediction
from harness.core.records import StrictRecord
from miner.demo.history import DemoRepository

_FIELDS = ("instance_id", "model_name_or_path", "model_patch")
"""Of a prediction, in SWE-bench's own order."""


class _Answer(StrictRecord):
    patch: str | None = None
    expect: Outcome
    why: str = ""


class _ModelAnswers(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    name: str
    model_name_or_path: str
    about: str
    answers: dict[str, _Answer]


class _Answers(StrictRecord):
    schema_version: Literal[1]
    models: list[_ModelAnswers]


@dataclass(frozen=True, kw_only=True)
class DemoModel:
    """An invented model: its predictions and what evaluation should make of each."""

    name: str
    predictions: tuple[Prediction, ...]
    expected: tuple[tuple[str, Outcome], ...]
    """Instance id and outcome, in the order of the predictions."""


def demo_models(repository: DemoRepository, data: Path) -> tuple[DemoModel, ...]:
    """The demo's models with their answers for the tasks of a built history.

    Raises:
        InputError: the data can't be read or names a step that the history doesn't have.

    """
    source = data / "predictions.yaml"
    try:
        answers = _Answers.model_validate(yaml.safe_load(source.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"the demo's predictions can't be read: {error}") from error
    except (yaml.YAMLError, ValidationError) as error:
        raise InputError(f"{source} is not a list of models with answers: {error}") from error
    return tuple(_model(model, repository, data / "predictions" / model.name) for model in answers.models)


def _model(model: _ModelAnswers, repository: DemoRepository, patches: Path) -> DemoModel:
    predictions = []
    expected = []
    for key, answer in model.answers.items():
        instance_id = repository.change(key).instance_id
        patch = (patches / answer.patch).read_bytes().decode("utf-8", "surrogateescape") if answer.patch else ""
        predictions.append(
            Prediction(instance_id=instance_id, model_name_or_path=model.model_name_or_path, model_patch=patch)
        )
        expected.append((instance_id, answer.expect))
    return DemoModel(name=model.name, predictions=tuple(predictions), expected=tuple(expected))


def write_predictions(repository: DemoRepository, data: Path, into: Path) -> tuple[Path, ...]:
    """Write `<into>/<model>.jsonl` for each model of the demo and return the files, in the order of the data.

    Raises:
        InputError: as `demo_models`.

    """
    into.mkdir(parents=True, exist_ok=True)
    paths = []
    for model in demo_models(repository, data):
        paths.append(into / f"{model.name}.jsonl")
        lines = (json.dumps({name: getattr(told, name) for name in _FIELDS}) for told in model.predictions)
        paths[-1].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tuple(paths)

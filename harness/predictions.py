"""Predictions from a file or an agent's output folder: JSON Lines, a JSON list, or a JSON object by instance id.

SWE-bench's field names. What SWE-agent, mini-swe-agent and OpenHands write is read as it is, see
harness/interop/predictions.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.dataset.model_files import read_text
from harness.errors import InputError
from harness.instance import Prediction
from harness.interop import predictions as agents

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

GOLD = "gold"
"""The model whose patches are the fixes themselves."""
NULL = "null"
"""A model that changes nothing, and whose tests are run all the same."""
WITHHELD = "withheld"
"""Field of a prediction whose patch is the task's own fix and is written nowhere: `gold` of a sealed dataset."""
_KNOWN = ("instance_id", "model_name_or_path", "model_patch", "sample")
_SHOWN = 10
_SHOWN_CHARACTERS = 200
_MAX_SAMPLE = 10**9


@dataclass(frozen=True, kw_only=True)
class _Record:
    where: str
    value: Any


def read_predictions(path: Path, *, model_name: str | None = None, reserved: bool = False) -> tuple[Prediction, ...]:
    """Every prediction of a file, or of an agent's output folder, in its order.

    `model_name` is for predictions that do not name their model; `reserved` lets the names through that goldseam keeps
    for its own controls, for a run folder's own file.

    Raises:
        InputError: unreadable, no JSON (the line is named), a missing field or a wrong type, a prediction given twice,
            or one that calls itself `gold` or `null`.

    """
    paths = agents.files_of(path) if path.is_dir() else (path,)
    predictions = tuple(_prediction(record, model_name) for file in paths for record in _of_file(file))
    if not reserved:
        _refuse_reserved(path, predictions)
    if not predictions:
        raise InputError(f"{path} holds no prediction")
    _refuse_duplicates(path, predictions)
    return predictions


def _of_file(path: Path) -> Iterator[_Record]:
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: expected predictions, one JSON object a line")
    for record in _records(path, text):
        known = agents.normal(record.value, path=path) if isinstance(record.value, dict) else record.value
        yield _Record(where=record.where, value=known)


def _records(path: Path, text: str) -> Iterator[_Record]:
    first = text.lstrip()[:1]
    if path.suffix == ".jsonl" or (first == "{" and "\n{" in text.strip()):
        yield from _lines(path, text)
        return
    try:
        whole = json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        if first == "{":
            yield from _lines(path, text)
            return
        raise InputError(f"{path} is not JSON: {error}") from error
    if isinstance(whole, list):
        for number, value in enumerate(whole, start=1):
            yield _Record(where=f"{path}, entry {number}", value=value)
    elif isinstance(whole, dict) and ("instance_id" in whole or agents.is_trajectory(path)):
        yield _Record(where=f"{path}", value=whole)
    elif isinstance(whole, dict):
        yield from _by_id(path, whole)
    else:
        raise InputError(f"{path}: expected a list or an object of predictions, found {type(whole).__name__}")


def _by_id(path: Path, whole: dict[str, Any]) -> Iterator[_Record]:
    for instance_id, value in whole.items():
        where = f"{path}, entry {instance_id!r}"
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {type(value).__name__}")
        if value.get("instance_id", instance_id) != instance_id:
            raise InputError(f"{where} says that it is for {value['instance_id']!r}")
        yield _Record(where=where, value={**value, "instance_id": instance_id})


def _lines(path: Path, text: str) -> Iterator[_Record]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number} is not JSON: {error}", hint="mend or remove that line; nothing was run"
            ) from error
        yield _Record(where=f"{path}, line {number}", value=value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a name given twice is an error, since one of the two values would be lost without a word."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is given twice in one object")
    return found


def _prediction(record: _Record, model_name: str | None) -> Prediction:
    value, where = record.value, record.where
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object, found {type(value).__name__}")
    if value.get("model_name_or_path") is None:
        if model_name is None:
            raise InputError(f"{where} names no model (model_name_or_path)", hint="name it with --model-name")
        value = {**value, "model_name_or_path": model_name}
    for name in ("instance_id", "model_name_or_path"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            raise InputError(f"{where}: {name} must be a non-empty string, found {_shown(value.get(name))}")
        if not value[name].isprintable():
            raise InputError(f"{where}: {name} has a character that cannot be shown: {_shown(value[name])}")
    patch = value.get("model_patch")
    if "model_patch" not in value or not isinstance(patch, str | None):
        raise InputError(f"{where}: model_patch must be a string or null, found {_kind(value, 'model_patch')}")
    sample = value.get("sample", 0)
    if not isinstance(sample, int) or isinstance(sample, bool) or not 0 <= sample < _MAX_SAMPLE:
        raise InputError(f"{where}: sample must be a whole number from 0, found {_shown(sample)}")
    return Prediction(
        instance_id=value["instance_id"],
        model_name_or_path=value["model_name_or_path"],
        model_patch=patch,
        sample=sample,
        extra={name: field for name, field in value.items() if name not in _KNOWN},
    )


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _kind(value: dict[str, Any], name: str) -> str:
    return type(value[name]).__name__ if name in value else "nothing"


def _refuse_reserved(path: Path, predictions: Iterable[Prediction]) -> None:
    """Reports and scores treat goldseam's own controls apart, so nobody else may have their names."""
    for prediction in predictions:
        name = prediction.model_name_or_path
        if name.strip().casefold() in (GOLD, NULL):
            raise InputError(
                f"{path}: the prediction for {prediction.instance_id} calls its model {name!r}, a name that goldseam "
                "keeps for its own controls",
                hint="give the model another name; --gold and --null score the controls",
            )


def _refuse_duplicates(path: Path, predictions: Iterable[Prediction]) -> None:
    seen: set[tuple[str, str, int]] = set()
    for prediction in predictions:
        key = (prediction.model_name_or_path, prediction.instance_id, prediction.sample)
        if key in seen:
            raise InputError(
                f"{path}: {prediction.instance_id} is predicted twice by {prediction.model_name_or_path!r} "
                f"(sample {prediction.sample})",
                hint="give further samples a `sample` number of their own",
            )
        seen.add(key)


def is_withheld(prediction: Prediction) -> bool:
    """True where the patch is the task's own fix, to be taken from there."""
    return (
        prediction.model_name_or_path == GOLD
        and prediction.model_patch is None
        and prediction.extra.get(WITHHELD) is True
    )


def refuse_unknown(predictions: Iterable[Prediction], known: Collection[str]) -> None:
    """See that every prediction is for a task of the dataset.

    Raises:
        InputError: some are not; the message names them.

    """
    unknown = sorted({prediction.instance_id for prediction in predictions} - set(known))
    if unknown:
        shown = ", ".join(unknown[:_SHOWN]) + (f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else "")
        raise InputError(
            f"{len(unknown)} predicted instance id(s) are not in the dataset: {shown}",
            hint="evaluate them on the dataset they were made for, or choose with `-i ID`",
        )


def as_json(prediction: Prediction) -> dict[str, Any]:
    """A prediction as the object a file holds."""
    return {
        "instance_id": prediction.instance_id,
        "model_name_or_path": prediction.model_name_or_path,
        "model_patch": prediction.model_patch,
        "sample": prediction.sample,
        **prediction.extra,
    }

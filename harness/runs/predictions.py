"""Predictions from a file or an agent's output folder: JSON Lines, a JSON list, or a JSON object by instance id.

SWE-bench's field names. What SWE-agent, mini-swe-agent and OpenHands write is read as it is, see
harness/runs/agent_predictions.py.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from harness.core import files, json_text
from harness.core.errors import InputError
from harness.core.instance import NOT_READ, Identity, Prediction, Task
from harness.core.wording import counted, did_you_mean, first_of, kind_of
from harness.runs import agent_predictions as agents
from harness.runs.json_stream import Pieces, TooMuchError, loads

GOLD = "gold"
"""The model whose patches are the fixes themselves."""
NULL = "null"
"""A model that changes nothing, and whose tests are run all the same."""
CONTROLS = (GOLD, NULL)
"""Models of our own: they check the tasks and compete with nobody."""
WITHHELD = "withheld"
"""Field of a prediction whose patch is the task's own fix and is written nowhere: `gold` of a sealed dataset."""
_KNOWN = ("instance_id", "model_name_or_path", "model_patch", "sample")
_PATCHES: Mapping[str, Any] = {
    "model_patch": None,
    "git_patch": None,
    "test_result": {"git_patch": None},
    "info": {"submission": None},
}
"""Fields that a patch may be in, as they are without one."""
_WHO = ("instance_id", "model_name_or_path", "sample")
_LEFT_OUT = "fields_left_out"
"""Field of a prediction that names the fields that were too much to be read."""
_WHOLE = 4 * 1024 * 1024
"""Bytes of a prediction that is read as it is; of a longer one, its fields are looked at one by one."""
_LARGEST_TRAJECTORY = 32 * 1024 * 1024
_LARGEST_PATCH = 8 * 1024 * 1024
_LARGEST_NAME = 4096
_LARGEST_FIELD = 1024 * 1024
_MOST_FIELDS = 100
_SHOWN = 10
_SHOWN_CHARACTERS = 200
LARGEST_TRANSCRIPT = 32 * 1024 * 1024
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
    path = _label(path)
    if not reserved:
        _refuse_reserved(path, predictions)
    if not predictions:
        raise InputError(f"{path} holds no prediction")
    _refuse_duplicates(path, predictions)
    return predictions


def transcript_path(prediction: Prediction, folder: Path) -> Path | None:
    """Where the transcript lies that a prediction names, from its predictions file's folder; None outside of that.

    The name comes from whoever made the predictions.
    """
    name = prediction.extra.get("transcript")
    if not isinstance(name, str) or not name or "\x00" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    path = folder / name
    return path if path.resolve().is_relative_to(folder.resolve()) else None


def read_transcript(path: Path, prediction: Prediction) -> dict[str, Any]:
    """A file's conversation, as `goldseam solve` wrote it; empty where there is none that is this prediction's own."""
    try:
        is_small = path.is_file() and path.stat().st_size <= LARGEST_TRANSCRIPT
        value = json_text.read_object(path.read_bytes()) if is_small else None
    except OSError:
        return {}
    return value if value is not None and {name: value.get(name) for name in _WHO} == own_fields(prediction) else {}


def own_fields(prediction: Prediction) -> dict[str, Any]:
    """Whose prediction it is, for which task, and which of several, as the fields of files have it."""
    return {name: getattr(prediction, name) for name in _WHO}


def of_gold(task: Task) -> Prediction:
    """A task's fix as a prediction; it must resolve."""
    patch = task.hidden.gold_patch.decode("utf-8", "surrogateescape")
    return Prediction(instance_id=task.instance_id, model_name_or_path=GOLD, model_patch=patch)


def of_null(instance_id: str) -> Prediction:
    """A prediction that changes nothing; its tests are really run, and it may not resolve."""
    return Prediction(instance_id=instance_id, model_name_or_path=NULL, model_patch="")


def _label(path: Path) -> Path:
    """The name of a file in messages."""
    return Path("standard input") if path == files.STANDARD_INPUT else path


def _of_file(path: Path) -> Iterator[_Record]:
    try:
        with _opened(path) as file:
            path = _label(path)
            begin = len(codecs.BOM_UTF8) if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
            file.seek(begin)
            if not Pieces(file).peek():
                raise InputError(f"{path} is empty: expected predictions, one JSON object a line")
            file.seek(begin)
            for record in _records(path, file):
                normal_value = (
                    agents.normal(record.value, path=path) if isinstance(record.value, dict) else record.value
                )
                yield _Record(where=record.where, value=normal_value)
    except FileNotFoundError:
        raise InputError(f"no such file: {path}", hint="`goldseam solve` writes one, or an agent of yours") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file that can be read from any place; what comes through a pipe is put on the disk first."""
    with contextlib.nullcontext(sys.stdin.buffer) if path == files.STANDARD_INPUT else path.open("rb") as file:
        if file.seekable() and path != files.STANDARD_INPUT:
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            yield copy


def _records(path: Path, file: BinaryIO) -> Iterator[_Record]:
    pieces = Pieces(file)
    begin, first = pieces.tell(), pieces.peek()
    pieces.seek(begin)
    if path.suffix == ".jsonl" or (first == b"{" and _goes_on(pieces)):
        yield from _lines(path, file)
        return
    try:
        if first == b"[":
            for number in pieces.items():
                yield _Record(where=f"{path}, entry {number}", value=_value(pieces, f"{path}, entry {number}"))
        elif first != b"{":
            kind = kind_of(loads(_text(file.read(_WHOLE), str(path), 0)))
            raise InputError(f"{path}: expected a list or an object of predictions, found {kind}")
        elif agents.is_trajectory(path):
            yield _Record(where=f"{path}", value=_value(pieces, str(path), whole=_LARGEST_TRAJECTORY))
        elif "instance_id" in _names(pieces):
            yield _Record(where=f"{path}", value=_value(pieces, str(path)))
        else:
            yield from _by_id(path, pieces)
        pieces.end()
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error


def _goes_on(pieces: Pieces) -> bool:
    """Whether something follows the next value; the place stays what it was."""
    begin = pieces.tell()
    try:
        pieces.value(0)
        return bool(pieces.peek())
    except ValueError:
        return True  # whose lines tell more about what is wrong
    finally:
        pieces.seek(begin)


def _names(pieces: Pieces) -> set[str]:
    """The first names of an object; the place stays what it was."""
    begin = pieces.tell()
    names: set[str] = set()
    for name in pieces.members():
        pieces.value(0)
        if len(names) < _MOST_FIELDS:
            names.add(name)
    pieces.seek(begin)
    return names


def _by_id(path: Path, pieces: Pieces) -> Iterator[_Record]:
    ids_seen: set[str] = set()
    for instance_id in pieces.members():
        where = f"{path}, entry {instance_id!r}"
        if instance_id in ids_seen:
            raise ValueError(f"{instance_id!r} is given twice in one object")
        ids_seen.add(instance_id)
        value = _value(pieces, where)
        if not isinstance(value, dict):
            raise InputError(f"{where}: expected an object, found {kind_of(value)}")
        if value.get("instance_id", instance_id) != instance_id:
            raise InputError(f"{where} says that it is for {value['instance_id']!r}")
        yield _Record(where=where, value={**value, "instance_id": instance_id})


def _value(pieces: Pieces, where: str, *, whole: int = _WHOLE) -> Any:
    """The next value; of an object that is too much to be read, what `_fields` tells.

    Raises:
        ValueError: it is no JSON.
        InputError: it is not UTF-8, or what it is about is too much to be read.

    """
    pieces.peek()
    start = pieces.tell()
    raw = pieces.value(whole)
    try:
        if raw is not None:
            return loads(_text(raw, where, start))
    except TooMuchError:
        pass
    end = pieces.tell()
    pieces.seek(start)
    fields = _fields(pieces, where)
    pieces.seek(end)
    return fields


def _lines(path: Path, file: BinaryIO) -> Iterator[_Record]:
    number, start = 0, file.tell()
    while line := file.readline(_WHOLE):
        number += 1
        where, place = f"{path}, line {number}", start
        try:
            if len(line) == _WHOLE and not line.endswith(b"\n"):
                value = _long_line(file, place, where)
            elif line.strip():
                value = _whole_line(line, where, place)
            else:
                start += len(line)
                continue
        except ValueError as error:
            problem = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else error
            raise InputError(
                f"{where} is not JSON: {problem}", hint="fix or remove that line; nothing was run"
            ) from error
        start = file.tell()
        yield _Record(where=where, value=value)


def _whole_line(line: bytes, where: str, place: int) -> Any:
    text = _text(line, where, place)
    try:
        return loads(text)
    except TooMuchError:
        if not line.lstrip().startswith(b"{"):
            raise
        pieces = Pieces(io.BytesIO(line.rstrip(b"\r\n")), by_line=True)
        fields = _fields(pieces, where)
        pieces.end()
        return fields


def _long_line(file: BinaryIO, place: int, where: str) -> Any:
    pieces = Pieces(file, by_line=True)
    pieces.seek(place)
    fields = _fields(pieces, where)
    pieces.end()
    file.seek(pieces.tell() + 1)
    return fields


def _fields(pieces: Pieces, where: str) -> dict[str, Any]:
    """An object by its fields, less those that are too much: long, deep, numbers without end.

    Where one of them is a patch's, the prediction says in `NOT_READ` why it has none.

    Raises:
        ValueError: it is no JSON object.
        InputError: what it is about is too much.

    """
    fields: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    room = _WHOLE
    for name in pieces.members():
        if name in fields or name in left_out:
            raise ValueError(f"{name!r} is given twice in one object")
        other = min(_LARGEST_FIELD, room) if len(fields) < _MOST_FIELDS else 0
        limit = _LARGEST_PATCH if name in _PATCHES else _LARGEST_NAME if name in _WHO else other
        try:
            fields[name], size = _field(pieces, limit, where)
            room -= size if limit == other else 0
        except TooMuchError as error:
            if len(left_out) < _MOST_FIELDS or name in (*_PATCHES, *_WHO):
                left_out[name] = str(error)
    for name in _WHO:
        if name in left_out:
            raise InputError(f"{where}: {name} has {left_out[name]}")
    for name in _PATCHES:
        if name in left_out and not isinstance(fields.get("model_patch"), str):
            fields |= {name: _PATCHES[name], NOT_READ: f"its {name} has {left_out[name]}, more than is read"}
    return {**fields, **({_LEFT_OUT: sorted(left_out)} if left_out else {})}


def _field(pieces: Pieces, limit: int, where: str) -> tuple[Any, int]:
    """The next value, and its bytes.

    Raises:
        TooMuchError: it is more than is read.

    """
    pieces.peek()
    start = pieces.tell()
    raw = pieces.value(limit)
    if raw is None:
        raise TooMuchError(f"{pieces.tell() - start} bytes")
    return loads(_text(raw, where, start)), len(raw)


def _text(data: bytes, where: str, start: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 (byte {start + error.start} of the file)") from error


def _prediction(record: _Record, model_name: str | None) -> Prediction:
    value, where = record.value, record.where
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object, found {kind_of(value)}")
    if value.get("model_name_or_path") is None:
        if model_name is None:
            raise InputError(f"{where} names no model (model_name_or_path)", hint="name it with --model-name")
        value = {**value, "model_name_or_path": model_name}
    for name in ("instance_id", "model_name_or_path"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            raise InputError(f"{where}: {name} must be a non-empty string, found {_excerpt(value.get(name))}")
        if not value[name].isprintable():
            raise InputError(f"{where}: {name} has a character that cannot be shown: {_excerpt(value[name])}")
    patch = value.get("model_patch")
    if "model_patch" not in value or not isinstance(patch, str | None):
        raise InputError(f"{where}: model_patch must be a string or null, found {kind_of(patch)}")
    sample = value.get("sample", 0)
    if not isinstance(sample, int) or isinstance(sample, bool) or not 0 <= sample < _MAX_SAMPLE:
        raise InputError(f"{where}: sample must be a whole number from 0, found {_excerpt(sample)}")
    return Prediction(
        instance_id=value["instance_id"],
        model_name_or_path=value["model_name_or_path"],
        model_patch=patch,
        sample=sample,
        extra={name: field for name, field in value.items() if name not in _KNOWN},
    )


def _excerpt(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


def _refuse_reserved(path: Path, predictions: Iterable[Prediction]) -> None:
    """Reports and scores treat goldseam's own controls apart, so nobody else may have their names."""
    for prediction in predictions:
        name = prediction.model_name_or_path
        if name.strip().casefold() in CONTROLS:
            raise InputError(
                f"{path}: the prediction for {prediction.instance_id} calls its model {name!r}, a name that goldseam "
                "keeps for its own controls",
                hint="give the model another name; --gold and --null score the controls",
            )


def _refuse_duplicates(path: Path, predictions: Iterable[Prediction]) -> None:
    identities: set[Identity] = set()
    for prediction in predictions:
        if prediction.identity in identities:
            raise InputError(
                f"{path}: {prediction.instance_id} is predicted twice by {prediction.model_name_or_path!r} "
                f"(sample {prediction.sample})",
                hint="give further samples a `sample` number of their own",
            )
        identities.add(prediction.identity)


def is_withheld(prediction: Prediction) -> bool:
    """True where the patch is the task's own fix, to be taken from there."""
    return (
        prediction.model_name_or_path == GOLD
        and prediction.model_patch is None
        and prediction.extra.get(WITHHELD) is True
    )


def refuse_unknown(predictions: Iterable[Prediction], task_ids: Collection[str]) -> None:
    """See that every prediction is for a task of the dataset.

    Raises:
        InputError: some are not; the message names them.

    """
    unknown = sorted({prediction.instance_id for prediction in predictions} - set(task_ids))
    if unknown:
        otherwise = "evaluate them on the dataset they were made for, or choose with `-i ID`"
        count = counted(len(unknown), "predicted id is", "predicted ids are")
        raise InputError(
            f"{count} not in the dataset: {first_of(unknown, _SHOWN)}",
            hint=did_you_mean(unknown[0], task_ids, otherwise=otherwise),
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

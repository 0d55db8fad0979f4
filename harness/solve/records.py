"""What a campaign leaves on disk: predictions that are readable at any time, transcripts, trouble, and its settings.

    predictions.jsonl               one line a sample, synced as it comes; SWE-bench's fields and ours
    predictions.solve.json          the settings that all lines share, and what was spent so far
    predictions.errors.jsonl        what infrastructure failed at: no predictions, asked again by the next call
    predictions.transcripts/ID/N.json   the whole conversation of sample N, secrets masked

A line is written after its transcript, and whole or not at all: a last line that a crash cut short is taken away.
Where the file is standard output, lines go there as they come, and the rest is kept in a folder that goes at the end.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from harness.core import files, json_text, origin
from harness.core.errors import InputError
from harness.core.instance import Prediction
from harness.dataset.model_files import read_text
from harness.runs.predictions import as_json, read_predictions
from harness.solve.base import Attempt
from harness.solve.models.masking import Masker
from harness.solve.models.meter import Spending

SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class State:
    """The contents of `.solve.json`."""

    settings: Mapping[str, Any]
    spent: Spending


class Records:
    """The files of one campaign, held by one process at a time. A context manager."""

    def __init__(self, path: Path, *, masker: Masker) -> None:
        """`path` is the predictions file, or `files.STANDARD_OUTPUT`."""
        self.path = path
        self._is_stream = path == files.STANDARD_OUTPUT
        self._masker = masker
        self._held = contextlib.ExitStack()

    def _beside(self, ending: str) -> Path:
        stem = self.path.with_suffix("") if self.path.suffix in (".jsonl", ".json") else self.path
        return stem.with_name(f"{stem.name}.{ending}")

    @property
    def errors_path(self) -> Path:
        return self._beside("errors.jsonl")

    @property
    def state_path(self) -> Path:
        return self._beside("solve.json")

    def transcript_path(self, instance_id: str, sample: int) -> Path:
        return self._beside("transcripts") / instance_id / f"{sample}.json"

    def transcript_name(self, instance_id: str, sample: int) -> str | None:
        """Where a transcript lies, from the predictions file's folder; None where it does not outlive the call."""
        if self._is_stream:
            return None
        return str(self.transcript_path(instance_id, sample).relative_to(self.path.parent))

    def __enter__(self) -> Self:
        """Hold the files and mend what a crash left.

        Raises:
            InputError: another process holds them, they cannot be written, or no file can be there.

        """
        if self._is_stream:
            self.path = Path(self._held.enter_context(tempfile.TemporaryDirectory())) / "predictions.jsonl"
        files.refuse_special(self.path)
        lock = self.path.with_name(f".{self.path.name}.lock")
        self._held.enter_context(files.locked(lock, busy=f"another `goldseam solve` is writing {self.path}"))
        self._held.callback(lock.unlink, missing_ok=True)
        if self.state_path.exists():  # else the file is nobody's that we know, and not ours to mend
            for path in (self.path, self.errors_path):
                _mend(path)
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def predictions(self) -> tuple[Prediction, ...]:
        """What already exists.

        Raises:
            InputError: the file is none of predictions.

        """
        if not self.path.exists() or not self.path.stat().st_size:
            return ()
        return read_predictions(self.path)

    def state(self) -> State | None:
        """Settings and spending so far; None where nothing was written yet.

        Raises:
            InputError: the file is broken, or of a newer goldseam.

        """
        if not self.state_path.exists():
            return None
        try:
            state = json_text.loads(read_text(self.state_path))
            version, settings, spent = state["schema_version"], dict(state["settings"]), Spending(**state["spent"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self.state_path} is broken: {error}", hint="delete it together with its predictions"
            ) from error
        if version > SCHEMA_VERSION:
            raise InputError(f"{self.state_path} is of a newer goldseam (version {version})", hint="upgrade goldseam")
        return State(settings=settings, spent=spent)

    def keep(self, state: State) -> None:
        """Write settings and spending."""
        value = {"schema_version": SCHEMA_VERSION, "settings": dict(state.settings), "spent": asdict(state.spent)}
        files.write_json(self.state_path, value)

    def add(self, prediction: Prediction, transcript: Mapping[str, Any]) -> None:
        """Write a transcript and then its prediction."""
        path = self.transcript_path(prediction.instance_id, prediction.sample)
        masked = self._masker.value(transcript)
        # Surrogates stand for bytes that are no text; JSON writes them as escapes.
        files.write_bytes(path, (json.dumps(masked, indent=1) + "\n").encode())
        line = json.dumps(as_json(prediction))
        files.append_line(self.path, line)
        if self._is_stream:
            files.write_result(files.STANDARD_OUTPUT, f"{line}\n".encode())

    def add_error(self, fields: Mapping[str, Any]) -> None:
        """Write down what infrastructure failed at."""
        files.append_line(self.errors_path, json.dumps(self._masker.value({"at": origin.now(), **fields})))


def transcript_of(attempt: Attempt, **about: Any) -> dict[str, Any]:
    """A conversation as its file holds it."""
    return {
        "schema_version": SCHEMA_VERSION,
        **about,
        "messages": [asdict(message) for message in attempt.messages],
        "replies": [asdict(reply) for reply in attempt.replies],
    }


def _mend(path: Path) -> None:
    """Take away a last line that has no end."""
    if not path.exists() or not path.stat().st_size:
        return
    with files.explained(path), path.open("r+b") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            end = content.rfind(b"\n") + 1
            rest = content[end:]
        if not rest:
            return
        if json_text.read_object(rest) is not None:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")  # only its end was lost
        else:
            file.truncate(end)
        file.flush()
        os.fsync(file.fileno())

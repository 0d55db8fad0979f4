"""`calls.json` of a task: calls that its tests make, inputs near them, and what the fix answers. Hidden.

A call is a list of steps as `inside/calls.py` makes them: the last one is the call, those before it make what it
works on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ValidationError

from harness.core import json_text
from harness.core.records import PartialRecord

SCHEMA_VERSION = 1

Steps = list[list[Any]]
Answer = dict[str, Any]
"""`value`, or `raised`: names of standard exception classes, nearest first; `opaque` where it can't be told, `lost`
where the call hangs or ends its process."""


class Call(PartialRecord):
    """One call and the fix's answer."""

    steps: Steps
    answer: Answer
    nearby: bool = False
    """Made of a recorded call by changing an argument."""
    telling: bool = False
    """The base answers something else."""


class _CallsModel(PartialRecord):
    schema_version: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The calls of one task."""

    calls: tuple[Call, ...] = ()

    @classmethod
    def read(cls, data: bytes) -> Self:
        """From the bytes of calls.json.

        Raises:
            ValueError: they are not of this form, or of a newer one.

        """
        try:
            calls_model = _CallsModel.model_validate(json_text.loads(data))  # pydantic's own takes no lone surrogate
        except ValidationError as error:
            raise ValueError(f"calls.json is broken: {error.errors()[0]['msg']}") from None
        except ValueError as error:
            raise ValueError(f"calls.json is broken: {error}") from None
        if calls_model.schema_version != SCHEMA_VERSION:
            raise ValueError(f"calls.json has schema version {calls_model.schema_version}, not {SCHEMA_VERSION}")
        return cls(calls=calls_model.calls)

    def written(self) -> bytes:
        """As calls.json has them."""
        calls = [call.model_dump() for call in self.calls]
        return json.dumps({"schema_version": SCHEMA_VERSION, "calls": calls}).encode() + b"\n"

    def steps(self) -> Sequence[Steps]:
        return [call.steps for call in self.calls]

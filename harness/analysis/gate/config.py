"""The rules of a gate: `[gate]` of goldseam.toml. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.core.errors import InputError
from harness.core.wording import listed, nearest
from harness.judging.places import Place

COHORTS = ("repo", "language", "difficulty", "split", "judged", "task-type", "prompt", "temperature")
"""What a floor can be set for, as `harness.analysis.cohorts` names it."""
_SHARE = "a share from 0 to 1 (0.05 is five points)"
_AMOUNT = "a number from 0, in US dollars"


class Mode(StrEnum):
    """What it takes for a candidate to pass against its baseline."""

    NO_WORSE_THAN = "no-worse-than"
    """It is shown that the drop is smaller than allowed."""
    NO_REGRESSION = "no-regression"
    """No larger drop was seen; one that is too small for this dataset to see may pass."""


class GateRules(BaseModel):
    """`[gate]`: what a candidate must keep. docs/gate.md explains each."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    mode: Mode = Field(default=Mode.NO_REGRESSION, strict=False, description=" or ".join(f'"{mode}"' for mode in Mode))
    """`no-regression` passes where no larger drop was seen; `no-worse-than` where one is ruled out."""
    require: Place = Field(default=Place.HOST, strict=False, description=listed([f'"{place}"' for place in Place]))
    """Where a task has to be judged to count, at the least; with `host` one that is guessable does not count either."""
    max_drop: float = Field(default=0.05, ge=0, le=1, description=_SHARE)
    """How much of the baseline's resolved share a candidate may lose."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="a share above 0.5 and below 1, such as 0.95")
    """One-sided: how sure a drop, or its absence, has to be."""
    inconclusive: Literal["inconclusive", "pass", "fail"] = Field(
        default="inconclusive", description='"inconclusive" (exit code 3), "pass" (0) or "fail" (1)'
    )
    """Exit code where the gate can't tell: 3, 0 or 1."""
    min_tasks: int = Field(default=5, ge=1, description="a whole number from 1")
    """Tasks that both have a verdict on; with fewer nothing is concluded."""
    min_coverage: float = Field(default=0.9, ge=0, le=1, description=_SHARE)
    """How much of what the candidate should have been scored on has a verdict."""
    floors: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description='a table of shares by cohort, such as "repo:owner/name" = 0.5'
    )
    """The share that each of these cohorts has to resolve."""
    must_pass: tuple[str, ...] = Field(default=(), strict=False, description="a list of instance ids")
    """Tasks of which every sample has to be resolved."""
    no_new_security: bool = Field(default=False, description="true or false")
    """No patch may bring in a security finding."""
    max_cost: float | None = Field(default=None, ge=0, description=_AMOUNT)
    """Of all predictions together."""
    max_cost_per_resolved: float | None = Field(default=None, ge=0, description=_AMOUNT)
    """Of all predictions together, divided by those that resolve their task."""

    @field_validator("floors")
    @classmethod
    def _cohorts(cls, floors: dict[str, float]) -> dict[str, float]:
        for key in floors:
            name, sign, value = key.partition(":")
            if name not in COHORTS or not sign or not value:
                hint = nearest(name, COHORTS)
                raise ValueError(
                    f'expected a cohort such as "repo:owner/name", one of {", ".join(f"{key}:" for key in COHORTS)};'
                    f" found {key!r}{f'; did you mean {hint}:?' if hint and hint != name else ''}"
                )
        return floors


def parse(
    section: Any, *, where: str, over: Mapping[str, Any] | None = None, sources: Mapping[str, str] | None = None
) -> GateRules:
    """The rules of a `[gate]` section; what is set `over` it wins, and `sources` says by whom.

    Raises:
        InputError: an unknown key or a wrong value; all of them are named, each with who set it (`where`, if `sources`
            has nobody), what was expected and found.

    """
    if not isinstance(section, dict):
        raise InputError(f"{where}: expected [gate] to be a table, found {section!r}")
    try:
        return GateRules.model_validate({**section, **(over or {})})
    except ValidationError as error:
        raise InputError(
            "\n  ".join(
                f"{(sources or {}).get(str(problem['loc'][0]), where)}: "
                + _problem(problem["loc"], problem["type"], problem["msg"], problem["input"])
                for problem in error.errors()
            )
        ) from error


def _problem(place: tuple[int | str, ...], kind: str, message: str, value: Any) -> str:
    key = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        likely = nearest(str(place[-1]), GateRules.model_fields)
        text = ", ".join(GateRules.model_fields)
        return f"gate.{key}: unknown key; " + (f"did you mean {likely}?" if likely else f"known are {text}")
    if kind == "value_error":
        return f"gate.{key}: {message.removeprefix('Value error, ')}"
    field = GateRules.model_fields.get(str(place[0])) if place else None
    expected = _SHARE if place and place[0] == "floors" and len(place) > 1 else (field and field.description) or message
    likely = nearest(value, re.findall(r'"([^"]*)"', expected)) if isinstance(value, str) else None
    return f"gate.{key}: expected {expected}, found {value!r}" + (f"; did you mean {likely}?" if likely else "")

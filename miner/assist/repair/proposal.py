"""What a model may change of a recipe, and what of its answer is taken. Pure; docs/images.md states the rules."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from packaging.requirements import InvalidRequirement, Requirement
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from miner.languages.python.recipes import missing

if TYPE_CHECKING:
    from miner.evidence.tree import Recipe

_JSON = re.compile(r"\{.*\}", re.DOTALL)
_RESERVED = re.compile(
    r"(?:PATH|HOME|USER|LOGNAME|TZ|LANG|LANGUAGE|CI|PYTHON.*|PYTEST.*|LD_.*|LC_.*|GIT_.*|UV_.*|PIP_.*)"
)
"""Variables by which the proof and the grading stand."""
_LINE = r"[^\x00-\x1f\x7f]+"

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]{1,99}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]{0,99}$")]
Line = Annotated[str, StringConstraints(pattern=f"^{_LINE}$", max_length=500)]


class Proposal(BaseModel):
    """A changed recipe, in a model's words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requirements: Annotated[tuple[Word, ...], Field(max_length=40)] = ()
    """PEP 508 requirements to add; one that already exists gets this version."""
    without: Annotated[tuple[Word, ...], Field(max_length=40)] = ()
    """Distributions that are no longer asked for, and lose their pins."""
    apt: Annotated[tuple[Package, ...], Field(max_length=30)] = ()
    """Debian packages to add."""
    env: Annotated[dict[Variable, Line], Field(max_length=20)] = {}
    """Environment variables of the tests."""
    commands: Annotated[tuple[Line, ...], Field(max_length=10)] = ()
    """Shell commands at the repository's root, once the project is installed."""
    why: Annotated[str, StringConstraints(max_length=2000)] = ""

    @field_validator("requirements")
    @classmethod
    def _from_the_index(cls, requirements: tuple[str, ...]) -> tuple[str, ...]:
        for text in requirements:
            try:
                requirement = Requirement(text)
            except InvalidRequirement as error:
                raise ValueError(f"{text!r} is no PEP 508 requirement") from error
            if requirement.url:
                raise ValueError(f"{text!r} names an address; only what the package index has can be locked")
        return requirements

    @field_validator("env")
    @classmethod
    def _not_ours(cls, variables: dict[str, str]) -> dict[str, str]:
        if ours := sorted(name for name in variables if _RESERVED.fullmatch(name)):
            raise ValueError(f"{', '.join(ours)} can't be set: tests are proved and graded with our own value")
        return variables


class NoProposalError(Exception):
    """An answer that holds no recipe; it says why, in words for the model."""


def read(answer: str) -> Proposal:
    """The recipe in a model's answer.

    Raises:
        NoProposalError: there is none that could be tried.

    """
    match = _JSON.search(answer)
    if match is None:
        raise NoProposalError("the answer has no JSON object")
    try:
        raw = json.loads(match.group())
        proposal = Proposal.model_validate(raw)
    except RecursionError as error:
        raise NoProposalError("the answer is no JSON object of this form: it is nested too deeply") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:5])
        raise NoProposalError(f"the answer is no JSON object of this form: {faults}") from error
    except ValueError as error:
        raise NoProposalError(f"the answer is no JSON: {error}") from error
    if not (proposal.requirements or proposal.without or proposal.apt or proposal.env or proposal.commands):
        raise NoProposalError("the answer changes nothing")
    return proposal


def _bounds(requirement: str) -> bool:
    """Whether it says which version."""
    return bool(Requirement(requirement).specifier)


def applied(recipe: Recipe, proposal: Proposal, *, number: int) -> Recipe:
    """A recipe as a proposal changes it: commands take the place of earlier ones, all else is added."""
    evidence = recipe.evidence
    names = {missing.distribution(requirement) for requirement in (*proposal.requirements, *proposal.without)}
    base = evidence.rung.partition("+repair:")[0]
    return replace(
        recipe,
        evidence=replace(
            evidence,
            rung=f"{base}+repair:{number}",
            requirements=(*missing.without(evidence.requirements, names), *proposal.requirements),
            pins=missing.without(evidence.pins, names),
        ),
        apt=tuple(dict.fromkeys((*recipe.apt, *proposal.apt))),
        overrides=(
            *missing.without(recipe.overrides, names),
            *(requirement for requirement in proposal.requirements if _bounds(requirement)),
        ),
        env={**recipe.env, **proposal.env},
        commands=proposal.commands or recipe.commands,
    )

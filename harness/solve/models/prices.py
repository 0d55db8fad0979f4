"""What tokens cost: a table of published prices with dates, and a user's own before it. An unknown price is None."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from harness.core import wording
from harness.core.errors import InputError
from harness.core.files import refuse_newer
from harness.core.records import StrictRecord
from harness.solve.base import Usage

SCHEMA_VERSION = 1
MILLION = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Rates(StrictRecord):
    """US dollars for a million tokens."""

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None
    """For what the endpoint had read before; None counts it as any other input."""


class Tier(Rates):
    """Rates that hold for all tokens of a question whose prompt is long."""

    above_input_tokens: int = Field(gt=0)


class Price(Rates):
    """One entry of a table: whose price it is, since when, and who says so."""

    model: str = Field(min_length=1)
    """A name, or a pattern with `*`, as `--model` or the endpoint's snapshot has it."""
    endpoint: str = "*"
    """The base URL, or a pattern: one name can be sold at several prices."""
    from_: date | None = Field(default=None, alias="from")
    """First day it holds."""
    until: date | None = None
    """Last day it holds."""
    tiers: tuple[Tier, ...] = ()
    batch: Rates | None = None
    """By an endpoint's batch interface; told by `--dry-run` only, since goldseam asks one by one."""
    source: str = Field(min_length=1)
    """Where it is published, for people."""
    seen: date
    """When somebody last saw it there."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.from_ and self.until and self.until < self.from_:
            raise ValueError("`until` is before `from`")
        return self

    def applies(self, model: str, endpoint: str, day: date) -> bool:
        """Whether it is this model's price at this endpoint on this day."""
        return (
            fnmatchcase(model, self.model)
            and fnmatchcase(endpoint.rstrip("/"), self.endpoint.rstrip("/"))
            and (self.from_ is None or self.from_ <= day)
            and (self.until is None or day <= self.until)
        )

    def rates(self, input_tokens: int) -> Rates:
        """What holds for a prompt of this length: the tier with the highest bound that it is above."""
        above = [tier for tier in self.tiers if input_tokens > tier.above_input_tokens]
        return max(above, key=lambda tier: tier.above_input_tokens) if above else self

    def cost(self, usage: Usage) -> float | None:
        """US dollars; None where the endpoint did not say how many tokens."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        rates = self.rates(usage.input_tokens)
        cached = usage.cached_input_tokens or 0
        cheaper = rates.input if rates.cached_input is None else rates.cached_input
        fresh = usage.input_tokens - cached
        return math.fsum((fresh * rates.input, cached * cheaper, usage.output_tokens * rates.output)) / MILLION

    def highest(self, input_tokens: int, output_tokens: int) -> float:
        """US dollars at the dearest rates that a prompt of at most so many tokens can have."""
        every = [self, *(tier for tier in self.tiers if input_tokens > tier.above_input_tokens)]
        dearest_input = max(max(rates.input, rates.cached_input or 0.0) for rates in every)
        return (input_tokens * dearest_input + output_tokens * max(rates.output for rates in every)) / MILLION


class _Table(StrictRecord):
    schema_version: Literal[1] = 1
    prices: tuple[Price, ...]


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Entries in order: the first that fits is the price."""

    entries: tuple[Price, ...] = ()
    assumed: Price | None = None
    """Holds where no entry fits, because the user says so."""

    def find(self, models: Iterable[str], endpoint: str, day: date) -> Price | None:
        """The price of the first of these names that has one; None where none has."""
        for model in models:
            for entry in self.entries:
                if entry.applies(model, endpoint, day):
                    return entry
        return self.assumed

    def assuming(self, text: str | None, *, day: date) -> Prices:
        """With the user's own word for what has no entry: `IN/OUT` or `IN/CACHED/OUT`, dollars for a million tokens.

        Raises:
            InputError: it does not look like that.

        """
        if text is None:
            return self
        numbers = _numbers(text)
        if len(numbers) not in {2, 3}:
            raise InputError(
                f"--assume-price: expected IN/OUT, dollars for a million tokens, found {text!r}",
                hint="such as --assume-price 0.5/1.5; with a price for cached input it is IN/CACHED/OUT",
            )
        cached = numbers[1] if len(numbers) == 3 else None  # noqa: PLR2004
        rates = {"input": numbers[0], "cached_input": cached, "output": numbers[-1]}
        assumed = Price.model_validate({"model": "*", "source": "--assume-price", "seen": day, **rates})
        return replace(self, assumed=assumed)


def _numbers(text: str) -> list[float]:
    """Prices between slashes; none where one of them can't be a price."""
    try:
        numbers = [float(part) for part in text.split("/")]
    except ValueError:
        return []
    return numbers if all(0 <= number < math.inf for number in numbers) else []


def shipped() -> Prices:
    """The table that comes with goldseam."""
    text = resources.files("harness.solve.models").joinpath("prices.yaml").read_text(encoding="utf-8")
    return Prices(entries=_parse(text, where="prices.yaml"))


def load(path: Path | None = None) -> Prices:
    """A user's file before the shipped table; the shipped table alone without one.

    Raises:
        InputError: the file can't be read, or an entry is not as docs/solve.md says; it is named.

    """
    if path is None:
        return shipped()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"no such file: {path}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    return Prices(entries=(*_parse(text, where=str(path)), *shipped().entries))


def _parse(text: str, *, where: str) -> tuple[Price, ...]:
    try:
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{where} is {wording.not_readable('valid YAML', error)}") from error
    if not isinstance(data, dict):
        raise InputError(f"{where}: expected a mapping with `prices`, found {wording.kind_of(data)}")
    refuse_newer(where, data.get("schema_version", SCHEMA_VERSION), SCHEMA_VERSION)
    try:
        return _Table.model_validate(data).prices
    except ValidationError as error:
        raise InputError(
            f"{where}: {_problems(error, data)}", hint="docs/solve.md says what an entry looks like"
        ) from error


def _problems(error: ValidationError, data: dict[str, Any]) -> str:
    problems = []
    for problem in sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")[:5]:
        place = [str(part) for part in problem["loc"]]
        if place[:1] == ["prices"] and len(place) > 1:
            entry = data["prices"][int(place[1])]
            name = entry.get("model") if isinstance(entry, dict) else None
            place = [f"entry {int(place[1]) + 1}" + (f" ({name})" if name else ""), *place[2:]]
        problems.append(wording.field_problem(", ".join(place), problem, keys=Price.model_fields))
    return "; ".join(problems)

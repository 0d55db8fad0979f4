"""What a task's stripped tests expect: kept on the host, recorded from the fix. Pure; docs/formats.md has the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from harness.core import wording
from harness.core.errors import InputError
from harness.core.wording import words

SCHEMA_VERSION = 1
OPERATORS = words(
    "== != < <= > >= in not_in is is_not chain truth not almost not_almost count_equal regex not_regex startswith"
    " endswith isinstance not_isinstance raises no_raise warns calls doctest np.equal np.arrays np.near pd.equal"
    " js.is js.=== js.== js.deep js.truth js.defined js.match js.contain js.contain_equal js.length js.property"
    " js.object js.snapshot js.called js.close js.< js.<= js.> js.>= js.instance js.raises js.kind js.lint js.members"
    " go.== go.< go.> go.deep go.same go.cmp go.contains go.prefix go.suffix go.truth go.nil go.empty go.len go.in"
    " go.elements go.values go.near go.json go.output go.is go.type go.zero go.panics go.of go.matches"
    " java.equals java.same java.near java.arrays java.items java.truth java.null java.size java.contains java.starts"
    " java.ends java.empty java.< java.<= java.> java.>= java.kind java.message java.chain java.raises java.entry"
    " java.among java.number java.matches"
    " rust.== rust.< rust.<= rust.> rust.>= rust.truth rust.contains rust.starts rust.ends rust.panics rust.matches"
)
"""What an assertion can be decided by; harness/judging has them, those of other languages in folders of their own."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """One assertion of a stripped test file: how what it hands out is decided."""

    op: str
    """One of `OPERATORS`."""
    sides: tuple[Literal["out", "kept"], ...] = ()
    """Per operand, in order: whether it comes out or was kept."""
    decides: Literal["expected", "operands", "result"] = "expected"
    """What it stands on: an operand that was kept, the operands that come out alone, or the boolean of a comparison
    that the product's code made, which comes last."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_decided_outside(self) -> bool:
        """Whether what is right is in no byte that enters: of two operands that both come out, one tells the other.

        So it does beside a third that is kept: of a tolerance, of what else a chain asks for. But if each of a chain is
        to equal one that is kept, neither tells more than was kept.
        """
        count = self.sides.count("out") + (self.op == "js.raises")
        return self.decides != "result" and (count <= 1 or self._is_each_held)

    @property
    def _is_each_held(self) -> bool:
        """Whether it is `out == kept == out`."""
        return self.op == "chain" and self.sides == ("out", "kept", "out") and self.options.get("ops") == ["==", "=="]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """One event of a test, as the fix gave it."""

    slot: int
    n: int = 0
    kept: tuple[Any, ...] = ()
    """The operands that stay on the host, encoded."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What of the site's options is another one each time: a pattern, a tolerance."""
    size: int = 0
    """Of what came out of the fix; see `values.Loaded.size`."""
    raises: bool = False
    """An exception came in place of further values."""
    plain: bool = True
    """All that came out was plain."""


@dataclass(frozen=True, kw_only=True)
class ExpectedTest:
    """The events of one test whose assertions are decided outside."""

    place: Literal["host", "mixed"]
    """`host`: what tells the fix from the base is decided outside; `mixed`: some of it is not."""
    events: tuple[Expected, ...]


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """The hidden side of a task's stripped tests."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Stripped sources by path."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Listed id by the id that the stripped files give a test, where they differ."""
    sites: Mapping[int, Site] = field(default_factory=dict)
    """By slot."""
    tests: Mapping[str, ExpectedTest] = field(default_factory=dict)
    """By listed id; a test that is not here is judged inside."""

    @classmethod
    def from_json(cls, document: Any, *, where: str = "expectations.json") -> Expectations:
        """From a parsed file.

        Raises:
            InputError: a field is missing or of a wrong type, an operator is unknown, or a newer goldseam wrote it.

        """
        if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
            raise InputError(f"{where} is not a file of expectations of schema version {SCHEMA_VERSION}")
        try:
            read_back = _reader().validate_python({name: document[name] for name in document if name in _FIELDS})
        except ValidationError as error:
            raise InputError(f"{where}: {wording.problems(error.errors())}") from error
        unknown = sorted({site.op for site in read_back.sites.values()} - OPERATORS)
        if unknown:
            raise InputError(f"{where} has an unknown operator: {unknown[0]}")
        events = (event for test in read_back.tests.values() for event in test.events)
        counts = (number for event in events for number in (event.slot, event.n, event.size))
        if any(number < 0 for number in (*read_back.sites, *counts)):
            raise InputError(f"{where} counts below 0")
        return read_back

    def as_json(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "files": dict(self.files),
            "ids": dict(self.ids),
            "sites": {str(slot): dict(vars(site)) for slot, site in self.sites.items()},
            "tests": {
                name: {**vars(test), "events": [dict(vars(event)) for event in test.events]}
                for name, test in self.tests.items()
            },
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) over everything that can change a verdict."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


_FIELDS = ("files", "ids", "sites", "tests")


@cache
def _reader() -> TypeAdapter[Expectations]:
    return TypeAdapter(Expectations)  # takes as long as reading a small task's

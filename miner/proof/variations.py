"""What differs between the runs of a proof, and which run has what. Pure.

Run 0 of each state is plain: as evaluation runs. Of every three runs after it, one is plain and two differ from it in
everything at once: a test whose result differs there depends on something that no task should hang on, and
`miner.proof.flakiness_causes` finds out on what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class Cause(StrEnum):
    """What a test's result depends on."""

    ORDER = "order"
    """The tests that ran before it."""
    HASH_SEED = "hash_seed"
    """PYTHONHASHSEED: the order of sets, for the most part."""
    TIMEZONE = "timezone"
    CLOCK = "clock"
    """What day it is."""
    LOCALE = "locale"
    HOME = "home"
    """Where the home folder is."""
    USER = "user"
    """The user's name."""
    PROCESSORS = "processors"
    """How many processors the tests see."""
    CPUS = "cpus"
    """How fast the processors are: real time."""
    NETWORK = "network"
    """A network, of which there is none."""
    SERVICE = "service"
    """A service that does not run beside it."""
    RANDOM = "random"
    """Nothing that a run can be given: it differs between equal runs."""
    UNKNOWN = "unknown"
    """Not found out: no one thing alone makes the difference, or the search was given up."""


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How a run differs from a plain one; None is as plain."""

    order: int | None = None
    """0: the tests in reverse; another number: shuffled, by it."""
    hash_seed: int | None = None
    """Plain: 0."""
    timezone: str | None = None
    """Plain: UTC."""
    clock_days: int | None = None
    """How many days later than now it is for the tests."""
    locale: str | None = None
    """The language asked for, such as `de`. Plain: none, and C.UTF-8 for everything."""
    home: str | None = None
    """Plain: /tmp."""
    user: str | None = None
    """Plain: none; the user has a number only."""
    cpus: float | None = None
    """The share of one processor. Plain: 1."""
    cpu_count: int | None = None
    """How many processors the tests see. Plain: what the machine has."""

    @property
    def is_plain(self) -> bool:
        return self == PLAIN

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What is varied, the likeliest to matter first."""
        return tuple(cause for cause, name in _FIELDS.items() if name in self.varied())

    def only(self, *causes: Cause) -> Variation:
        """A variation in these alone."""
        return Variation(**{_FIELDS[cause]: getattr(self, _FIELDS[cause]) for cause in causes})

    def varied(self) -> dict[str, Any]:
        """What is varied, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in values if value is not None}

    def env(self) -> dict[str, str]:
        """The environment of the tests, as far as it is another one."""
        variables: dict[str, str] = {}
        if self.hash_seed is not None:
            variables["PYTHONHASHSEED"] = str(self.hash_seed)
        if self.timezone is not None:
            variables["TZ"] = self.timezone
        if self.home is not None:
            variables["HOME"] = self.home
        if self.user is not None:
            variables |= {"USER": self.user, "LOGNAME": self.user}
        if self.locale is not None:
            # Text stays UTF-8: images have no other encoding, so no run of theirs ever meets one.
            variables |= {"LANGUAGE": self.locale, "LANG": "C", "LC_ALL": "", "LC_CTYPE": "C.UTF-8"}
        return variables


PLAIN = Variation()
_FIELDS: Mapping[Cause, str] = {
    Cause.ORDER: "order",
    Cause.HASH_SEED: "hash_seed",
    Cause.TIMEZONE: "timezone",
    Cause.CLOCK: "clock_days",
    Cause.LOCALE: "locale",
    Cause.HOME: "home",
    Cause.USER: "user",
    Cause.PROCESSORS: "cpu_count",
    Cause.CPUS: "cpus",
}
PINNED = frozenset({Cause.HASH_SEED, Cause.TIMEZONE, Cause.LOCALE, Cause.HOME, Cause.USER})
"""What every run of evaluation has alike (`harness.sandbox.hardening.BASE_ENV`): a test that hangs on one of these is
sensitive, not unstable."""
_ZONES = ("Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "Asia/Kolkata", "Europe/Berlin")
"""UTC+14 and UTC-11 come first: at any moment, it is another day than in UTC in at least one of the two."""
_LANGUAGES = ("de", "ja", "tr")
_SLOW, _FEW, _MANY = 0.5, 1, 7
_CYCLE = 3
_YEAR = 366
_HOMES = "/tmp/home"  # noqa: S108 - inside the container


def variation(number: int, *, clock: bool = False) -> Variation:
    """How run `number` of every state differs from a plain one.

    0 is plain, 1 and 2 are varied in everything, and so on by threes, each time with other values. Run 1 turns the
    order of the tests round, so that no test stands where it stood to any other. `clock` is whether the tests can be
    told another time.
    """
    if number % _CYCLE == 0:
        return PLAIN
    turn = number - number // _CYCLE - 1  # 0, 1, 2… over the varied runs
    slow = number % _CYCLE == 1
    return Variation(
        order=turn,
        hash_seed=number,
        timezone=_ZONES[turn % len(_ZONES)],
        clock_days=_YEAR + turn if clock else None,
        locale=_LANGUAGES[turn % len(_LANGUAGES)],
        home=f"{_HOMES}-{number}",
        user=f"user{number}",
        cpus=_SLOW if slow else None,
        cpu_count=_FEW if slow else _MANY,
    )


def schedule(runs: int, *, clock: bool = False) -> tuple[Variation, ...]:
    """The variation of each of so many runs, by number."""
    return tuple(variation(number, clock=clock) for number in range(runs))

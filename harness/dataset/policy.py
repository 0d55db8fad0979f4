"""When a task leaves the holdout: how often it was shown to outside providers, and how old its fix is. Pure."""

from __future__ import annotations

import fnmatch
import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from harness.core import wording
from harness.core.errors import InputError
from harness.core.instance import Instance
from harness.core.records import StrictRecord
from harness.core.wording import counted, place_of
from harness.dataset.ledger.entry import Entry, Event

UNKNOWN_ENDPOINT = "unknown"


class Policy(StrictRecord):
    """`policy` of dataset.yaml, and `[holdout]` of goldseam.toml. None where a rule is not asked for."""

    max_exposures: Annotated[int, Field(ge=1)] | None = None
    """How often a task may be shown to one outside provider: each day and model counts once."""
    max_endpoints: Annotated[int, Field(ge=1)] | None = None
    """To how many outside providers a task may be shown."""
    max_age: Annotated[int, Field(ge=1)] | None = None
    """Days since the fix was merged."""
    after_cutoffs: bool = False
    """Whether a task has to be merged on the day of the last of `cutoffs`, or after."""
    cutoffs: dict[str, date] = Field(default_factory=dict)
    """By model, or a pattern such as `gpt-5*`: the day that its training data ends."""
    own_endpoints: tuple[str, ...] = ()
    """Hosts, or patterns such as `*.example.com`, that are no outside provider; nor is this machine itself."""
    min_tasks: Annotated[int, Field(ge=1)] | None = None
    """How many tasks the holdout should have."""

    def over(self, other: Policy) -> Policy:
        """These rules, and the other's where nothing is set here."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return other.model_copy(update={**fields, "cutoffs": {**other.cutoffs, **self.cutoffs}})

    def __bool__(self) -> bool:
        """Whether any rule is asked for."""
        return any((self.max_exposures, self.max_endpoints, self.max_age, self.after_cutoffs))


def parse_policy(raw: Mapping[str, Any], *, where: str) -> Policy:
    """A policy as it is written.

    Raises:
        InputError: a rule is unknown, or a value does not fit; all of them are named.

    """
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        text = "; ".join(f"{place_of(problem)}: {_reason(problem['msg'])}" for problem in error.errors())
        raise InputError(f"{where}: {text}", hint=f"known are {', '.join(Policy.model_fields)}") from error


def _reason(message: str) -> str:
    return "unknown rule" if message.startswith("Extra inputs") else wording.problem(message, is_known=False)


def cutoff_of(model: str, cutoffs: Mapping[str, date]) -> date | None:
    """A model's cut-off: of its own name, else of the longest pattern that it fits; None where none does."""
    if model in cutoffs:
        return cutoffs[model]
    patterns = [pattern for pattern in cutoffs if fnmatch.fnmatchcase(model.lower(), pattern.lower())]
    return cutoffs[max(patterns, key=len)] if patterns else None


Exposure = Mapping[str, int]
"""By host: how many times one task has been shown to it, each day and model counting once."""


def exposures(entries: Iterable[Entry], *, own: Iterable[str] = ()) -> Mapping[str, Exposure]:
    """The exposure of each task that was shown to an outside provider, by id."""
    patterns = tuple(own)
    times: dict[str, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
    for entry in entries:
        if entry.event != Event.EXPOSED:
            continue
        host = host_of(str(entry.facts.get("endpoint") or ""))
        if is_own(host, patterns):
            continue
        day_and_model = str(entry.facts.get("originally_at") or entry.at)[:10], str(entry.facts.get("model") or "")
        for task in entry.tasks:
            times[task][host].add(day_and_model)
    return {task: {host: len(pairs) for host, pairs in sorted(hosts.items())} for task, hosts in times.items()}


def host_of(endpoint: str) -> str:
    """The host of an address, or the text itself where it is none."""
    try:
        host = urlsplit(endpoint).hostname
    except ValueError:
        host = None
    return host or endpoint.strip().lower() or UNKNOWN_ENDPOINT


def is_own(host: str, patterns: Iterable[str]) -> bool:
    """Whether a host is this machine, or one of those that are said to be one's own."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        if ipaddress.ip_address(host).is_loopback:
            return True
    except ValueError:
        pass
    return any(fnmatch.fnmatchcase(host, pattern.lower()) for pattern in patterns)


def reasons(instance: Instance, exposure: Exposure, policy: Policy, *, today: date) -> tuple[str, ...]:
    """Why a task has to leave the holdout; none where it may stay.

    Raises:
        InputError: its date cannot be read, though a rule needs it.

    """
    reasons_found: list[str] = []
    most = policy.max_exposures
    for host, times in exposure.items():
        if most is not None and times >= most:
            reasons_found.append(f"shown {counted(times, 'time')} to {host} (max_exposures {most})")
    if policy.max_endpoints is not None and len(exposure) > policy.max_endpoints:
        reasons_found.append(f"shown to {len(exposure)} providers (max_endpoints {policy.max_endpoints})")
    if policy.max_age is not None:
        merged = merged_on(instance)
        if merged < today - timedelta(days=policy.max_age):
            reasons_found.append(f"merged {(today - merged).days} days ago (max_age {policy.max_age})")
    if policy.after_cutoffs and policy.cutoffs:
        last = max(policy.cutoffs.values())
        if merged_on(instance) < last:
            models = ", ".join(sorted(model for model, day in policy.cutoffs.items() if day == last))
            reasons_found.append(f"merged before {last}, the training cut-off of {models}")
    return tuple(reasons_found)


def merged_on(instance: Instance) -> date:
    """The day of the fix.

    Raises:
        InputError: it is no date.

    """
    try:
        return date.fromisoformat(instance.created_at[:10])
    except ValueError as error:
        raise InputError(f"{instance.instance_id}: created_at {instance.created_at!r} is not a date") from error

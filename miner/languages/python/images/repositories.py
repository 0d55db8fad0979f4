"""Requirements on git repositories: at the commit that a branch had on the day, and without passwords."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from harness.core.errors import InfrastructureError
from miner.layers.layer import INPUT_DIR, OUT_DIR, tool, write_tool
from miner.layers.runner import Workshop, read_result

_PINNED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(?P<extras>\[[^]]*\])? @ git\+(?P<address>[^\s@]+?://(?:[^/@\s]+@)?[^\s@#]+)"
    r"@(?P<commit>[0-9a-f]{40})(?P<rest>#[^\s;]*)?",
    re.MULTILINE,
)
_USERINFO = re.compile(r"(?<=git\+)(?P<scheme>https?://)(?P<user>[^/@\s]+)@(?P<host>[^/\s]+)")
_TOOL = "/tmp/git_day.py"  # noqa: S108 - a tmpfs of the build container
_ANSWER = "git_day.json"
_ASKED = "repositories.json"
_SHORT = 12


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """A requirement of a lock that comes from a git repository."""

    name: str
    address: str
    commit: str
    rest: str
    """`#subdirectory=…`, or nothing."""

    def at(self, commit: str) -> str:
        """The requirement at another commit."""
        return f"{self.name} @ git+{self.address}@{commit}{self.rest}"


def pinned(lock: str) -> tuple[Pinned, ...]:
    """What a lock takes from git repositories."""
    return tuple(
        Pinned(name=match["name"], address=match["address"], commit=match["commit"], rest=match["rest"] or "")
        for match in _PINNED.finditer(lock)
    )


def of_the_day(workshop: Workshop, image: str, pins: Iterable[Pinned], when: datetime) -> dict[str, str | None]:
    """The commits that repositories had on a day, by address; None where git can't tell.

    Raises:
        InfrastructureError: the engine failed.

    """
    question = workshop.input(_ASKED, json.dumps([[pin.address, pin.commit] for pin in pins]).encode())
    answer = f"{OUT_DIR}/{_ANSWER}"
    command = f"python3 {_TOOL} {INPUT_DIR}/{_ASKED} {int(when.timestamp())} {answer}"
    script = "\n".join(["set -eu", write_tool(_TOOL, tool("miner.languages.python.images", "git_day.py")), command, ""])
    with workshop.run(image, script, kind="git-day", inputs=(question,), foreign=True) as ran:
        if not ran.ok:
            return {}
        try:
            answers = json.loads(read_result(ran.out / _ANSWER))
        except (ValueError, InfrastructureError):
            return {}
    return {address: commit if isinstance(commit, str) else None for address, commit in dict(answers).items()}


def moved(pins: Iterable[Pinned], commits: Mapping[str, str | None], when: datetime) -> tuple[list[str], list[str]]:
    """Requirements that replace those at younger commits, and what there is to say of each repository."""
    overrides: list[str] = []
    notes: list[str] = []
    for pin in pins:
        then = commits.get(pin.address)
        where = without_passwords(f"git+{pin.address}")
        if then is None:
            notes.append(stays(pin, when))
        elif then != pin.commit:
            overrides.append(pin.at(then))
            notes.append(f"{pin.name} is from {where} at {then[:_SHORT]}, its commit on {when:%Y-%m-%d}")
    return overrides, notes


def stays(pin: Pinned, when: datetime) -> str:
    """What there is to say of a repository that can't be taken as of the day."""
    where = without_passwords(f"git+{pin.address}")
    commit = f"{pin.name} is from {where} at {pin.commit[:_SHORT]}, its commit when this was mined"
    return f"{commit}: the one that it had on {when:%Y-%m-%d} can't be determined, or not be used"


def without_passwords(text: str) -> str:
    """A text without the users and passwords of git addresses."""
    return _USERINFO.sub(r"\g<scheme>\g<host>", text)


def passwords(lock: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which git knows the users and passwords of a lock's addresses, which the lock is kept without.

    `environment` has the variables of the build, in which the user may have told git something already.
    """
    places = dict.fromkeys((match["scheme"], match["user"], match["host"]) for match in _USERINFO.finditer(lock))
    first = int(environment.get("GIT_CONFIG_COUNT") or 0)
    variables: dict[str, str] = {}
    for number, (scheme, user, host) in enumerate(places, start=first):
        variables[f"GIT_CONFIG_KEY_{number}"] = f"url.{scheme}{user}@{host}/.insteadOf"
        variables[f"GIT_CONFIG_VALUE_{number}"] = f"{scheme}{host}/"
    return variables | {"GIT_CONFIG_COUNT": str(first + len(places))} if places else {}

"""tox's factors: which of a matrix's environments tests are run in, and what it installs beside all the others. Pure.

Source: https://tox.wiki/en/latest/config.html#generative-environments
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

CONDITION = re.compile(r"([A-Za-z0-9_.,!{}-]+)\s*:\s+(?!//)(.*)$")
"""A line that holds for some factors only."""
_PYTHON = re.compile(r"(?:py|pypy|python|cpython|jython)[-.\d]*$")
_UNSTABLE = re.compile(
    r"(?:main|master|dev|devel|develop|trunk|head|nightly|pre|alpha|beta|rc|next|edge|tip|git|upstream"
    r"|min|minimal|minimum|lowest|oldest|no\w+)$"
)
"""Ends of factors that mean what is not released yet, or the least that could do."""
_SERVICE = re.compile(
    r"(?:postgres|postgis|psycopg|pg$|mysql|maria|oracle|mssql|redis|mongo|rabbit|memcache|elastic|kafka)"
)
_OTHER_WORK = re.compile(
    r"(?:lint|flake8|pre-?commit|docs?|mypy|typing|types|black|isort|ruff|pylint|bandit|coverage|report|clean|build|release"
    r"|check|package|packaging|manifest|benchmark|bench|style|format|codeqa|integration|minimal)$"
)
_MOST = 500


def expanded(text: str) -> tuple[str, ...]:
    """The environments that a list names, its braces multiplied out; at most 500."""
    choices_made: list[str] = []
    for line in text.splitlines():
        for item in re.split(r",(?![^{]*\})", re.split(r"[#;]", line)[0]):
            parts = re.split(r"(\{[^{}]*\})", item)
            choices = [part[1:-1].split(",") if part.startswith("{") else [part] for part in parts]
            texts = ("".join(choice).strip() for choice in itertools.product(*choices))
            choices_made += [name for name in itertools.islice(texts, _MOST) if name]
    return tuple(dict.fromkeys(choices_made))[:_MOST]


def chosen(text: str, deps: Iterable[str]) -> frozenset[str]:
    """The factors, less Pythons, of the environment of a list whose tests say most; none where it has none.

    Those that name a Python go before others, released versions before others, the newest of them first, what needs no
    service before what does, and what installs more before what installs less.
    """
    lines = tuple(deps)
    best: tuple[tuple[object, ...], frozenset[str]] | None = None
    for place, name in enumerate(expanded(text)):
        words = name.split("-")
        factors = frozenset(word for word in words if not _PYTHON.fullmatch(word))
        if any(_OTHER_WORK.fullmatch(word) for word in words):
            continue
        lines_active = active(lines, factors)
        rank = (
            len(factors) < len(set(words)),
            -sum(bool(_UNSTABLE.search(word)) for word in factors),
            -sum(bool(_SERVICE.match(word)) for word in factors),
            _newest(lines_active),
            len(lines_active),
            place,
        )
        if best is None or rank > best[0]:
            best = rank, factors
    return best[1] if best else frozenset()


def released(text: str) -> frozenset[str]:
    """All factors of a list whose tests run on released versions, less Pythons."""
    words = frozenset(word for name in expanded(text) for word in name.split("-"))
    return frozenset(
        word
        for word in words
        if not (_PYTHON.fullmatch(word) or _OTHER_WORK.fullmatch(word))
        and not (_UNSTABLE.search(word) or _SERVICE.match(word))
    )


def active(deps: Iterable[str], factors: frozenset[str]) -> tuple[str, ...]:
    """What lines that are bound to factors say, where their condition holds; a Python's own lines hold for none."""
    lines_held: list[str] = []
    for line in deps:
        match = CONDITION.match(line)
        if match and any(_holds(option, factors) for option in expanded(match[1])):
            lines_held.append(match[2].strip())
    return tuple(lines_held)


def _holds(option: str, factors: frozenset[str]) -> bool:
    words = [word for word in option.split("-") if word]
    return bool(words) and all((word[1:] not in factors) if word.startswith("!") else word in factors for word in words)


def _newest(lines: Iterable[str]) -> tuple[Version, ...]:
    """The largest version that each requirement names, largest first."""
    largest: list[Version] = []
    for line in lines:
        try:
            specifiers = Requirement(line).specifier
        except InvalidRequirement:
            continue
        versions = [
            version
            for specifier in specifiers
            if specifier.operator != "!=" and (version := _version(specifier.version))
        ]
        largest += [max(versions)] if versions else []
    return tuple(sorted(largest, reverse=True))


def _version(text: str) -> Version | None:
    match = re.match(r"\d+(?:\.\d+)*", text)
    return Version(match[0]) if match else None

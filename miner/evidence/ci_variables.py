"""The variables that CI files set: which may stand in a record, and which tests may be given. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.quality import sensitive

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from miner.evidence.ci_services import DeclaredService

_EXPRESSION = re.compile(r"\$|\{\{")
_SECRET = re.compile(r"secret|token|password|passwd|api_?key|credential|_pwd$|_pass$", re.IGNORECASE)
_NO_VALUE = re.compile(r"\$|\{\{|secret|token|password|api_?key", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,60}$")
_OF_TOOLS = re.compile(
    r"(?:PIP|UV|TOX|COVERAGE|CODECOV|COVERALLS|TWINE|CI|GITHUB|TRAVIS|CACHE|POETRY|PYTHON)_?|PATH$|LD_"
)
_OF_RUNS = re.compile(
    r"(?:COV|PYTEST|PY|VIRTUAL|GOLDSEAM|SETUPTOOLS|PRE_COMMIT|NOX|CONDA|MAMBA|ACTIONS|RUNNER|AZURE|CIRCLE|APPVEYOR)(?:_|$)"
    r"|(?:HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|DISPLAY|TERM|COLUMNS)$"
    r"|(?:FORCE_COLOR|NO_COLOR|PY_COLORS|CLICOLOR[A-Z_]*|SKIP|BROWSER|DOCKER_[A-Z_]+|CIBW_[A-Z_]+)$"
)
"""What a run of a task sets itself, or what is about installing, measuring and reporting."""
_LONGEST_VALUE = 200
_WORD = re.compile(r"[A-Za-z_-]{0,32}\d{0,4}$")
"""A word that somebody thought of, and no key."""
_ADDRESS = re.compile(r"[\w+.-]+://[^/\s]*@(?P<host>[^/\s:@?]*)")
_HERE = re.compile(r"localhost$|127\.|0\.0\.0\.0$|\[?::1\]?$|$")


@dataclass(kw_only=True)
class Variables:
    """Variables of a file in which one name may have several values, as for the jobs of a matrix."""

    last: dict[str, Any] = field(default_factory=dict)
    _values: dict[str, set[str]] = field(default_factory=dict)

    def add(self, more: Mapping[str, Any]) -> None:
        """What one place of the file sets."""
        self.last |= more
        for name, value in more.items():
            self._values.setdefault(name, set()).add(str(value))

    @property
    def certain(self) -> dict[str, Any]:
        """Those with one value."""
        return {name: value for name, value in self.last.items() if len(self._values[name]) == 1}


def for_record(variables: Mapping[str, Any]) -> dict[str, str]:
    """Literal variables; none that is a secret, an expression, or a setting of a tool."""
    return {name: text for name, text in _usual(variables).items() if not _NO_VALUE.search(f"{name} {text}")}


def literal(
    variables: Mapping[str, Any], services: Iterable[DeclaredService] = (), *, secrets: bool = False
) -> dict[str, str]:
    """What tests may be given: literal variables that are about what is tested.

    A password passes where it is a word, or one that a service of the same file has: such a service is reached by
    nobody else. What looks like a real key, or opens something elsewhere, never does. With `secrets`, that is left to
    whoever asks again.
    """
    beside = tuple(services)
    theirs = {value for service in beside for value in service.env.values()}
    hosts = {host for service in beside for host in (service.name, *service.hosts)}
    return {
        name: text
        for name, text in _usual(variables).items()
        if not _OF_RUNS.match(name)
        and not _EXPRESSION.search(text)
        and (secrets or _is_open(name, text, theirs, hosts))
    }


def _is_open(name: str, text: str, theirs: set[str], hosts: set[str]) -> bool:
    """Whether a value may be known to whoever knows the repository."""
    elsewhere = any(not _HERE.match(match["host"]) and match["host"] not in hosts for match in _ADDRESS.finditer(text))
    if elsewhere or any(find.kind not in {"basic_auth_credentials", sensitive.EMAIL} for find in sensitive.find(text)):
        return False
    return not _SECRET.search(name) or text in theirs or bool(_WORD.match(text) or _ADDRESS.match(text))


def _usual(variables: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: text
        for name, text in variables.items()
        if isinstance(text, str)
        and isinstance(name, str)
        and _NAME.match(name)
        and not _OF_TOOLS.match(name)
        and len(text) <= _LONGEST_VALUE
        and "\n" not in text
    }
